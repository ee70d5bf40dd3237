package runtime

import (
	"fmt"
	"strings"
	"testing"

	"gotest.tools/v3/assert"
)

// named frames events with an event line that says their type.
func named(events ...string) string {
	var b strings.Builder
	for _, e := range events {
		members, _ := membersOf([]byte(e))
		kind, _ := textOf(memberOf(members, "type"))
		fmt.Fprintf(&b, "event: %s\ndata: %s\n\n", kind, e)
	}
	return b.String()
}

func decodeWire(t *testing.T, w Wire, body string, stream bool) *Answer {
	t.Helper()
	a, err := Decode(&Response{Wire: w, Status: 200, Body: []byte(body), Stream: stream, End: EndEOF}, Dialect{})
	assert.NilError(t, err)
	checkMessage(t, a)
	return a
}

const (
	wasCreated   = `{"type":"response.created","response":{"id":"r1","model":"m","status":"in_progress","output":[]}}`
	wasCompleted = `{"type":"response.completed","response":{"id":"r1","model":"m","status":"completed","output":[],"usage":{"input_tokens":9,"output_tokens":5,"input_tokens_details":{"cached_tokens":4},"output_tokens_details":{"reasoning_tokens":2}}}}`
)

// itemAdded, itemDone, textDelta and argsDelta are events of a Responses stream.
func itemAdded(index int, item string) string {
	return fmt.Sprintf(`{"type":"response.output_item.added","output_index":%d,"item":%s}`, index, item)
}

func itemDone(index int, item string) string {
	return fmt.Sprintf(`{"type":"response.output_item.done","output_index":%d,"item":%s}`, index, item)
}

func textDelta(index int, text string) string {
	return fmt.Sprintf(`{"type":"response.output_text.delta","output_index":%d,"content_index":0,"delta":%q}`, index, text)
}

func argsDelta(index int, text string) string {
	return fmt.Sprintf(`{"type":"response.function_call_arguments.delta","output_index":%d,"delta":%q}`, index, text)
}

func functionItem(id, name, arguments string) string {
	return fmt.Sprintf(`{"type":"function_call","id":"fc_%s","call_id":%q,"name":%q,"arguments":%q}`, id, id, name, arguments)
}

func messageItem(text string) string {
	return fmt.Sprintf(`{"type":"message","role":"assistant","content":[{"type":"output_text","text":%q}]}`, text)
}

func TestResponsesStreams(t *testing.T) {
	usage := Usage{Input: 9, Output: 5, Cached: 4, Reasoning: 2}
	text := &Answer{ID: "r1", Model: "m", Finish: "completed", Usage: usage,
		Message: Message{Role: RoleAssistant, Content: "hi 😀", Raw: []byte(`{"role":"assistant","content":"hi 😀"}`)}}
	calls := func(say string) *Answer {
		content := "null"
		if say != "" {
			content = string(quote(say))
		}
		raws := [2]string{
			`{"id":"a","type":"function","function":{"name":"t","arguments":"{\"x\":1}"}}`,
			`{"id":"b","type":"function","function":{"name":"u","arguments":"{}"}}`,
		}
		return &Answer{ID: "r1", Model: "m", Finish: "completed", Usage: usage, Message: Message{
			Role: RoleAssistant, Content: say,
			Calls: []Call{{"a", "t", `{"x":1}`, []byte(raws[0])}, {"b", "u", `{}`, []byte(raws[1])}},
			Raw:   []byte(`{"role":"assistant","content":` + content + `,"tool_calls":[` + raws[0] + "," + raws[1] + `]}`),
		}}
	}
	withOutput := func(items ...string) string {
		return strings.Replace(wasCompleted, `"output":[]`, `"output":[`+strings.Join(items, ",")+`]`, 1)
	}
	reasoning := `{"type":"reasoning","id":"rs","summary":[]}`
	cut := func(half string) string {
		return `{"type":"response.output_text.delta","output_index":0,"delta":"` + half + `"}`
	}
	cases := []struct {
		name string
		body string
		want *Answer
	}{
		{"text", named(wasCreated, itemAdded(0, messageItem("")), textDelta(0, "hi "), textDelta(0, "😀"), itemDone(0, messageItem("hi 😀")), wasCompleted), text},
		{"text cut inside a character", named(wasCreated, itemAdded(0, messageItem("")), cut(`hi \ud83d`), cut(`\ude00`), wasCompleted), text},
		{"text without item events", named(wasCreated, textDelta(0, "hi "), textDelta(0, "😀"), wasCompleted), text},
		{"text given once", named(wasCreated, itemAdded(0, messageItem("")), `{"type":"response.output_text.done","output_index":0,"text":"hi 😀"}`, wasCompleted), text},
		{"only the last event", named(withOutput(reasoning, messageItem("hi 😀"))), text},
		{"all in one event without type", sse(`{"id":"r1","model":"m","status":"completed","output":[` + messageItem("hi 😀") + `],"usage":{"input_tokens":9,"output_tokens":5,"input_tokens_details":{"cached_tokens":4},"output_tokens_details":{"reasoning_tokens":2}}}`), text},
		{"types only in the data", sse(wasCreated, textDelta(0, "hi 😀"), wasCompleted), text},
		{"types only in the event lines", "event: response.output_text.delta\ndata: {\"output_index\":0,\"delta\":\"hi 😀\"}\n\n" + named(wasCompleted), text},
		{"nothing counts after the end", named(textDelta(0, "hi 😀"), wasCompleted, textDelta(0, "more"), `{"type":"error","message":"late"}`), text},
		{"calls", named(wasCreated, itemAdded(0, reasoning), itemDone(0, reasoning),
			itemAdded(1, functionItem("a", "t", "")), argsDelta(1, `{"x"`), argsDelta(1, `:1}`), itemDone(1, functionItem("a", "t", `{"x":1}`)),
			itemAdded(2, functionItem("b", "u", "")), itemDone(2, functionItem("b", "u", "")), wasCompleted), calls("")},
		{"calls in turns with text", named(itemAdded(0, messageItem("")), itemAdded(1, functionItem("a", "t", "")), itemAdded(2, functionItem("b", "u", "")),
			argsDelta(1, `{"x"`), textDelta(0, "go"), argsDelta(2, `{}`), argsDelta(1, `:1}`), wasCompleted), calls("go")},
		{"every item under one index", named(itemAdded(0, functionItem("a", "t", "")), argsDelta(0, `{"x":1}`), itemDone(0, functionItem("a", "t", `{"x":1}`)),
			itemAdded(0, functionItem("b", "u", "")), argsDelta(0, `{}`), itemDone(0, functionItem("b", "u", `{}`)),
			withOutput(functionItem("a", "t", `{"x":1}`), functionItem("b", "u", `{}`))), calls("")},
		{"no index anywhere", named(`{"type":"response.output_item.added","item":`+functionItem("a", "t", "")+`}`, `{"type":"response.function_call_arguments.delta","delta":"{\"x\":1}"}`,
			`{"type":"response.output_item.added","item":`+functionItem("b", "u", "")+`}`, wasCompleted), calls("")},
		{"arguments given once", named(itemAdded(0, functionItem("a", "t", "")), `{"type":"response.function_call_arguments.done","item_id":"fc_a","arguments":"{\"x\":1}"}`,
			itemAdded(1, functionItem("b", "u", "{}")), wasCompleted), calls("")},
		{"other ids in the last event", named(itemAdded(0, functionItem("a", "t", `{"x":1}`)), itemAdded(1, functionItem("b", "u", "{}")),
			strings.ReplaceAll(withOutput(functionItem("a", "t", `{"x":1}`), functionItem("b", "u", `{}`)), "fc_", "other_")), calls("")},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) { assert.DeepEqual(t, decodeWire(t, WireResponses, c.body, true), c.want) })
	}
}

func TestResponsesBodies(t *testing.T) {
	body := func(status, output, more string) string {
		return `{"id":"r1","model":"m","status":"` + status + `","output":[` + output + `]` + more + `}`
	}
	a := decodeWire(t, WireResponses, body("completed", messageItem("a")+","+messageItem("b"), `,"error":null`), false)
	assert.Equal(t, a.Message.Content, "ab")
	a = decodeWire(t, WireResponses, body("incomplete", messageItem("half"), `,"incomplete_details":{"reason":"max_output_tokens"}`), false)
	assert.Assert(t, a.Cut() && !a.Refused())
	a = decodeWire(t, WireResponses, body("incomplete", "", `,"incomplete_details":{"reason":"content_filter"}`), false)
	assert.Assert(t, a.Refused() && !a.Cut())
	a = decodeWire(t, WireResponses, body("completed", `{"type":"message","role":"assistant","content":[{"type":"refusal","refusal":"no"}]}`, ""), false)
	assert.Assert(t, a.Refused())
	assert.Equal(t, string(a.Message.Raw), `{"role":"assistant","content":"","refusal":"no"}`)
	a = decodeWire(t, WireResponses, body("completed", "", ""), false)
	assert.DeepEqual(t, a.Message, Message{Role: RoleAssistant, Raw: []byte(`{"role":"assistant","content":""}`)})
}

func TestCallsOfTheWireResponses(t *testing.T) {
	items := strings.Join([]string{
		`{"type":"custom_tool_call","id":"x","call_id":"1","name":"patch","input":"*** Begin \"x\""}`,
		`{"type":"local_shell_call","call_id":"2","action":{"type":"exec","command":["ls"]}}`,
		`{"type":"apply_patch_call","call_id":"3","operation":{"type":"delete_file","path":"a"}}`,
		`{"type":"tool_search_call","call_id":"4","arguments":{"q":"x"}}`,
		`{"type":"web_search_call","id":"ws","status":"completed","action":{"type":"search"}}`,
		`{"type":"mcp_call","id":"mcp","name":"run_there","arguments":"{}","output":"done"}`,
		`{"type":"function_call","id":"5","name":"no_call_id","arguments":{"a": 1}}`,
		`{"type":"something_new","id":"n"}`,
	}, ",")
	want := []shortCall{
		{"1", "patch", `{"input":"*** Begin \"x\""}`},
		{"2", "local_shell", `{"type":"exec","command":["ls"]}`},
		{"3", "apply_patch", `{"type":"delete_file","path":"a"}`},
		{"4", "tool_search", `{"q":"x"}`},
		{"5", "no_call_id", `{"a":1}`},
	}
	a := decodeWire(t, WireResponses, `{"output":[`+items+`],"status":"completed"}`, false)
	assert.DeepEqual(t, shortCalls(a), want)
	a = decodeWire(t, WireResponses, named(itemAdded(0, `{"type":"custom_tool_call","call_id":"1","name":"patch","input":""}`),
		`{"type":"response.custom_tool_call_input.delta","output_index":0,"delta":"*** Begin "}`,
		`{"type":"response.custom_tool_call_input.delta","output_index":0,"delta":"\"x\""}`, wasCompleted), true)
	assert.DeepEqual(t, shortCalls(a), want[:1])
	a = decodeWire(t, WireResponses, named(itemAdded(0, `{"type":"custom_tool_call","call_id":"1","name":"patch"}`),
		`{"type":"response.custom_tool_call_input.done","output_index":0,"input":"*** Begin \"x\""}`, wasCompleted), true)
	assert.DeepEqual(t, shortCalls(a), want[:1])
}

func TestResponsesThatAreNoAnswer(t *testing.T) {
	failed := `{"type":"response.failed","response":{"id":"r1","status":"failed","error":{"code":"server_error","message":"broken"},"output":[],"usage":{"input_tokens":3,"output_tokens":1}}}`
	hi := textDelta(0, "hi")
	cases := []struct {
		name   string
		body   string
		stream bool
		end    End
		want   UpstreamError
	}{
		{"cut", named(wasCreated, hi), true, EndEOF, UpstreamError{Kind: KindCut, Text: "the stream ended without response.completed", Partial: "hi", Retry: true}},
		{"silent", named(wasCreated, hi), true, EndTimeout, UpstreamError{Kind: KindTimeout, Text: "the stream went silent without response.completed", Partial: "hi", Retry: true}},
		{"cut inside an event", named(hi) + "event: x\ndata: {\"type\":\"resp", true, EndReset, UpstreamError{Kind: KindCut, Text: "the stream ended without response.completed", Partial: "hi", Retry: true}},
		{"cut inside an event without name", named(hi) + "data: {\"type\":\"resp", true, EndReset, UpstreamError{Kind: KindCut, Text: `the stream broke off inside an event: {"type":"resp`, Partial: "hi", Retry: true}},
		{"failed", named(wasCreated, hi, failed), true, EndEOF, UpstreamError{Kind: KindStream, Text: "broken", Partial: "hi", Retry: true, Usage: Usage{Input: 3, Output: 1}}},
		{"failed, no word", named(`{"type":"response.failed","response":{"status":"failed","output":[]}}`), true, EndEOF, UpstreamError{Kind: KindStream, Text: "the response has the status failed", Retry: true}},
		{"error event", named(hi, `{"type":"error","code":"rate_limit_exceeded","message":"slow down","param":null}`), true, EndEOF, UpstreamError{Kind: KindStream, Text: "slow down", Partial: "hi", Retry: true}},
		{"error event without name", sse(`{"type":"error","error":{"type":"invalid_request_error","message":"no"}}`), true, EndEOF, UpstreamError{Kind: KindStream, Text: "no"}},
		{"a call without name", named(itemAdded(0, `{"type":"function_call","call_id":"a","arguments":"{}"}`), wasCompleted), true, EndEOF, UpstreamError{Kind: KindMalformed, Text: "tool call 1 has no name", Usage: Usage{Input: 9, Output: 5, Cached: 4, Reasoning: 2}}},
		{"last event without response", named(`{"type":"response.completed"}`), true, EndEOF, UpstreamError{}},
		{"error body", `{"id":"r","status":"failed","error":{"code":"server_error","message":"broken"},"output":[]}`, false, "", UpstreamError{Kind: KindStream, Text: "broken", Retry: true}},
		{"another wire", `{"choices":[]}`, false, "", UpstreamError{Kind: KindMalformed, Text: `no output in the response: {"choices":[]}`}},
		{"in the background", `{"id":"r","status":"queued","output":[]}`, false, "", UpstreamError{Kind: KindMalformed, Text: "the response is not finished: queued"}},
		{"cut body", `{"id":"r","out`, false, "", UpstreamError{Kind: KindCut, Text: `{"id":"r","out`, Retry: true}},
		{"no JSON", `<html>`, false, "", UpstreamError{Kind: KindMalformed, Text: `<html>`}},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			r := &Response{Wire: WireResponses, Status: 200, Body: []byte(c.body), Stream: c.stream, End: c.end}
			if c.want.Kind == "" {
				a, err := Decode(r, Dialect{})
				assert.NilError(t, err)
				assert.DeepEqual(t, a.Message, Message{Role: RoleAssistant, Raw: []byte(`{"role":"assistant","content":""}`)})
				return
			}
			c.want.Status = 200
			assert.DeepEqual(t, upstreamError(t, r), c.want)
		})
	}
}

func TestItemsOfTheWireResponses(t *testing.T) {
	cases := []struct {
		item string
		want Message   // without Raw
		chat []Message // with Raw alone
	}{
		{`"hi"`, Message{Role: RoleUser, Content: "hi"}, rawMessages(`{"role":"user","content":"hi"}`)},
		{`{"role":"developer","content":"be brief"}`, Message{Role: "developer", Content: "be brief"}, rawMessages(`{"role":"developer","content":"be brief"}`)},
		{`{"type":"message","role":"user","content":[{"type":"input_text","text":"a"},{"type":"input_image","image_url":"x"},{"type":"input_text","text":"b"}]}`,
			Message{Role: RoleUser, Content: "ab"}, rawMessages(`{"role":"user","content":"ab"}`)},
		{messageItem("said"), Message{Role: RoleAssistant, Content: "said"}, rawMessages(`{"role":"assistant","content":"said"}`)},
		{`{"type":"message","role":"assistant","content":[{"type":"refusal","refusal":"no"}]}`, Message{Role: RoleAssistant}, rawMessages(`{"role":"assistant","content":"","refusal":"no"}`)},
		{functionItem("a", "t", `{"x": 1}`), Message{Role: RoleAssistant, Calls: []Call{{ID: "a", Name: "t", Arguments: `{"x": 1}`, Raw: []byte(functionItem("a", "t", `{"x": 1}`))}}},
			rawMessages(`{"role":"assistant","content":null,"tool_calls":[{"id":"a","type":"function","function":{"name":"t","arguments":"{\"x\": 1}"}}]}`)},
		{`{"type":"function_call","id":"fc","call_id":"","name":"t","arguments":"{}"}`, Message{Role: RoleAssistant, Calls: []Call{{Name: "t", Arguments: "{}", Raw: []byte(`{"type":"function_call","id":"fc","call_id":"","name":"t","arguments":"{}"}`)}}},
			rawMessages(`{"role":"assistant","content":null,"tool_calls":[{"id":"","type":"function","function":{"name":"t","arguments":"{}"}}]}`)},
		{`{"type":"function_call_output","call_id":"a","output":"done"}`, Message{Role: RoleTool, CallID: "a", Content: "done"}, rawMessages(`{"role":"tool","tool_call_id":"a","content":"done"}`)},
		{`{"type":"custom_tool_call_output","call_id":"a","output":[{"type":"input_text","text":"do"},{"type":"input_text","text":"ne"}]}`, Message{Role: RoleTool, CallID: "a", Content: "done"},
			rawMessages(`{"role":"tool","tool_call_id":"a","content":"done"}`)},
		{`{"type":"computer_call_output","call_id":"a","output":{"type":"computer_screenshot"}}`, Message{Role: RoleTool, CallID: "a"}, rawMessages(`{"role":"tool","tool_call_id":"a","content":""}`)},
		{`{"type":"reasoning","id":"rs","summary":[]}`, Message{}, nil},
		{`{"type":"web_search_call","id":"ws"}`, Message{}, nil},
		{`{"type":"item_reference","id":"m"}`, Message{}, nil},
	}
	for _, c := range cases {
		t.Run(c.item, func(t *testing.T) {
			m, err := WireResponses.ParseItem([]byte(" " + c.item + "\n"))
			assert.NilError(t, err)
			assert.DeepEqual(t, rawMessages(onlyRaw(WireResponses.ChatForm(m))...), c.chat)
			checkChatForm(t, WireResponses.ChatForm(m))
			c.want.Raw = []byte(c.item)
			assert.DeepEqual(t, m, c.want)
		})
	}
	for item, want := range map[string]string{
		`{"id":"x"}`: "read item: it has neither type nor role",
		`[]`:         "read item: not a JSON object",
		`"x`:         "read item: not valid JSON",
	} {
		_, err := WireResponses.ParseItem([]byte(item))
		assert.Error(t, err, want)
	}
}

func rawMessages(raws ...string) []Message {
	var list []Message
	for _, raw := range raws {
		list = append(list, Message{Raw: []byte(raw)})
	}
	return list
}

func onlyRaw(messages []Message) []string {
	var raws []string
	for _, m := range messages {
		raws = append(raws, string(m.Raw))
	}
	return raws
}

// checkChatForm holds that messages in chat form say what their JSON says.
func checkChatForm(t *testing.T, messages []Message) {
	t.Helper()
	for _, m := range messages {
		parsed, err := ParseMessage(m.Raw)
		assert.NilError(t, err)
		assert.DeepEqual(t, parsed, m)
	}
}

func TestMergedElementsAreOneMessage(t *testing.T) {
	var parts []Message
	for _, item := range []string{messageItem("a"), functionItem("1", "t", "{}"), messageItem("b"), functionItem("2", "u", "{}"),
		`{"role":"assistant","content":[{"type":"refusal","refusal":"no"}]}`} {
		m, err := WireResponses.ParseItem([]byte(item))
		assert.NilError(t, err)
		parts = append(parts, WireResponses.ChatForm(m)...)
	}
	merged := MergeAssistant(parts)
	checkChatForm(t, []Message{merged})
	assert.Equal(t, string(merged.Raw), `{"role":"assistant","content":"ab","tool_calls":[{"id":"1","type":"function","function":{"name":"t","arguments":"{}"}},`+
		`{"id":"2","type":"function","function":{"name":"u","arguments":"{}"}}],"refusal":"no"}`)
}
