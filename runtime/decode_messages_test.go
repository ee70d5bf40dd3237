package runtime

import (
	"fmt"
	"strings"
	"testing"

	"gotest.tools/v3/assert"
)

const (
	messageStart = `{"type":"message_start","message":{"id":"msg","role":"assistant","model":"m","content":[],"stop_reason":null,"usage":{"input_tokens":3,"cache_creation_input_tokens":2,"cache_read_input_tokens":4,"output_tokens":1}}}`
	messageStop  = `{"type":"message_stop"}`
	ping         = `{"type":"ping"}`
)

// blockStart, blockDelta, blockStop and stopReason are events of a Messages
// stream.
func blockStart(index int, block string) string {
	return fmt.Sprintf(`{"type":"content_block_start","index":%d,"content_block":%s}`, index, block)
}

func blockDelta(index int, delta string) string {
	return fmt.Sprintf(`{"type":"content_block_delta","index":%d,"delta":%s}`, index, delta)
}

func blockStop(index int) string {
	return fmt.Sprintf(`{"type":"content_block_stop","index":%d}`, index)
}

func stopReason(reason string) string {
	return `{"type":"message_delta","delta":{"stop_reason":"` + reason + `"},"usage":{"output_tokens":5}}`
}

func textPiece(text string) string { return fmt.Sprintf(`{"type":"text_delta","text":%q}`, text) }

func jsonPiece(text string) string {
	return fmt.Sprintf(`{"type":"input_json_delta","partial_json":%q}`, text)
}

func toolBlock(id, name, input string) string {
	return fmt.Sprintf(`{"type":"tool_use","id":%q,"name":%q,"input":%s}`, id, name, input)
}

const textBlock = `{"type":"text","text":""}`

func TestMessagesStreams(t *testing.T) {
	usage := Usage{Input: 9, Output: 5, Cached: 4}
	answer := func(finish, raw string) *Answer {
		m, err := ParseMessage([]byte(raw))
		assert.NilError(t, err)
		return &Answer{Model: "m", Finish: finish, Usage: usage, Message: m}
	}
	text := answer("end_turn", `{"role":"assistant","content":"hi 😀"}`)
	calls := answer("tool_use", `{"role":"assistant","content":"go","tool_calls":[{"id":"a","type":"function","function":{"name":"t","arguments":"{\"x\": 1}"}},{"id":"b","type":"function","function":{"name":"u","arguments":"{}"}}]}`)
	thinking := []string{blockStart(0, `{"type":"thinking","thinking":"","signature":""}`), blockDelta(0, `{"type":"thinking_delta","thinking":"hm"}`),
		blockDelta(0, `{"type":"signature_delta","signature":"s"}`), blockStop(0)}
	afterThinking := func(events ...string) string {
		return named(append(append([]string{messageStart}, thinking...), events...)...)
	}
	cases := []struct {
		name string
		body string
		want *Answer
	}{
		{"text", named(messageStart, ping, blockStart(0, textBlock), blockDelta(0, textPiece("hi ")), blockDelta(0, textPiece("😀")), blockStop(0), stopReason("end_turn"), messageStop), text},
		{"text after thinking", afterThinking(blockStart(1, textBlock), blockDelta(1, textPiece("hi 😀")), blockStop(1), stopReason("end_turn"), messageStop), text},
		{"text in two blocks", named(messageStart, blockStart(0, `{"type":"text","text":"hi"}`), blockDelta(0, textPiece(" ")), blockStop(0), blockStart(1, textBlock), blockDelta(1, textPiece("😀")), stopReason("end_turn"), messageStop), text},
		{"no message_stop", named(messageStart, blockStart(0, textBlock), blockDelta(0, textPiece("hi 😀")), stopReason("end_turn")), text},
		{"types only in the data", sse(messageStart, blockDelta(0, textPiece("hi 😀")), stopReason("end_turn"), messageStop), text},
		{"nothing counts after the end", named(messageStart, blockDelta(0, textPiece("hi 😀")), stopReason("end_turn"), messageStop, blockDelta(0, textPiece("more"))), text},
		{"all in one event", sse(`{"type":"message","role":"assistant","model":"m","content":[{"type":"text","text":"hi 😀"}],"stop_reason":"end_turn","usage":{"input_tokens":5,"cache_read_input_tokens":4,"output_tokens":5}}`), text},
		{"calls", named(messageStart, blockStart(0, textBlock), blockDelta(0, textPiece("go")), blockStop(0),
			blockStart(1, toolBlock("a", "t", "{}")), blockDelta(1, jsonPiece("")), blockDelta(1, jsonPiece(`{"x"`)), blockDelta(1, jsonPiece(`: 1}`)), blockStop(1),
			blockStart(2, toolBlock("b", "u", "{}")), blockStop(2), stopReason("tool_use"), messageStop), calls},
		{"one index for all", named(messageStart, blockStart(0, textBlock), blockDelta(0, textPiece("go")), blockStop(0),
			blockStart(0, toolBlock("a", "t", "{}")), blockDelta(0, jsonPiece(`{"x": 1}`)), blockStop(0),
			blockStart(0, toolBlock("b", "u", "{}")), blockStop(0), stopReason("tool_use"), messageStop), calls},
		{"what the server ran", named(messageStart, blockStart(0, `{"type":"server_tool_use","id":"s","name":"web_search","input":{}}`), blockDelta(0, jsonPiece(`{"query":"x"}`)), blockStop(0),
			blockStart(1, `{"type":"web_search_tool_result","tool_use_id":"s","content":[]}`), blockStop(1),
			blockStart(2, textBlock), blockDelta(2, `{"type":"citations_delta","citation":{}}`), blockDelta(2, textPiece("hi 😀")), stopReason("end_turn"), messageStop), text},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) { assert.DeepEqual(t, decodeWire(t, WireMessages, c.body, true), c.want) })
	}
}

func TestMessagesBodies(t *testing.T) {
	body := func(reason, content string) string {
		return `{"type":"message","role":"assistant","model":"m","content":` + content + `,"stop_reason":"` + reason + `","usage":{"input_tokens":1,"output_tokens":2}}`
	}
	a := decodeWire(t, WireMessages, body("tool_use", `[{"type":"thinking","thinking":"x"},{"type":"text","text":"go"},`+toolBlock("a", "t", `{"x": 1}`)+`]`), false)
	assert.Equal(t, string(a.Message.Raw), `{"role":"assistant","content":"go","tool_calls":[{"id":"a","type":"function","function":{"name":"t","arguments":"{\"x\":1}"}}]}`)
	assert.DeepEqual(t, a.Usage, Usage{Input: 1, Output: 2})
	a = decodeWire(t, WireMessages, body("max_tokens", `[{"type":"text","text":"half"}]`), false)
	assert.Assert(t, a.Cut())
	a = decodeWire(t, WireMessages, body("refusal", `[]`), false)
	assert.Assert(t, a.Refused())
	a = decodeWire(t, WireMessages, body("pause_turn", `"text alone"`), false)
	assert.Equal(t, a.Message.Content, "text alone")
	assert.Equal(t, a.Finish, "pause_turn")
}

func TestMessagesThatAreNoAnswer(t *testing.T) {
	hi := blockDelta(0, textPiece("hi"))
	const noEnd = "the stream ended without stop_reason and message_stop"
	cases := []struct {
		name   string
		body   string
		stream bool
		want   UpstreamError
	}{
		{"cut", named(messageStart, hi), true, UpstreamError{Kind: KindCut, Text: noEnd, Partial: "hi", Retry: true, Usage: Usage{Input: 9, Output: 1, Cached: 4}}},
		{"cut inside arguments", named(blockStart(0, toolBlock("a", "t", "{}")), blockDelta(0, jsonPiece(`{"x`))), true, UpstreamError{Kind: KindCut, Text: noEnd, Retry: true}},
		{"error in mid-stream", named(hi, `{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}`), true, UpstreamError{Kind: KindStream, Text: "Overloaded", Partial: "hi", Retry: true}},
		{"error without name", sse(hi, `{"type":"error","error":{"type":"invalid_request_error","message":"no"}}`), true, UpstreamError{Kind: KindStream, Text: "no", Partial: "hi"}},
		{"error body", `{"type":"error","error":{"type":"api_error","message":"broken"}}`, false, UpstreamError{Kind: KindStream, Text: "broken", Retry: true}},
		{"another wire", `{"choices":[]}`, false, UpstreamError{Kind: KindMalformed, Text: `no content in the response: {"choices":[]}`}},
		{"no JSON object in an event", sse(`[1]`), true, UpstreamError{Kind: KindMalformed, Text: "an event that is no JSON object: [1]"}},
		{"a call without name", named(blockStart(0, `{"type":"tool_use","id":"a","input":{}}`), stopReason("tool_use")), true, UpstreamError{Kind: KindMalformed, Text: "tool call 1 has no name", Usage: Usage{Output: 5}}},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			c.want.Status = 200
			got := upstreamError(t, &Response{Wire: WireMessages, Status: 200, Body: []byte(c.body), Stream: c.stream, End: EndEOF})
			assert.DeepEqual(t, got, c.want)
		})
	}
}

func TestMessagesOfTheWireMessages(t *testing.T) {
	result := func(id, content string) string {
		return fmt.Sprintf(`{"type":"tool_result","tool_use_id":%q,"content":%s}`, id, content)
	}
	user := func(blocks ...string) string {
		return `{"role":"user","content":[` + strings.Join(blocks, ",") + `]}`
	}
	text := func(s string) string { return fmt.Sprintf(`{"type":"text","text":%q}`, s) }
	tool := toolBlock("a", "t", `{"x": 1}`)
	cases := []struct {
		raw  string
		want Message // without Raw
		chat []Message
	}{
		{`{"role":"user","content":"hi"}`, Message{Role: RoleUser, Content: "hi"}, rawMessages(`{"role":"user","content":"hi"}`)},
		{user(text("a"), `{"type":"image","source":{}}`, text("b")), Message{Role: RoleUser, Content: "ab"}, rawMessages(`{"role":"user","content":"ab"}`)},
		{user(result("a", `"one"`), result("b", "["+text("tw")+","+text("o")+"]"), text("and"), text(" more"), result("c", "[]")), Message{Role: RoleUser, Content: "and more", CallID: "a"},
			rawMessages(`{"role":"tool","tool_call_id":"a","content":"one"}`, `{"role":"tool","tool_call_id":"b","content":"two"}`,
				`{"role":"user","content":"and more"}`, `{"role":"tool","tool_call_id":"c","content":""}`)},
		{user(`{"type":"tool_result","tool_use_id":"a","is_error":true}`), Message{Role: RoleUser, CallID: "a"}, rawMessages(`{"role":"tool","tool_call_id":"a","content":""}`)},
		{user(), Message{Role: RoleUser}, rawMessages(`{"role":"user","content":""}`)},
		{`{"role":"assistant","content":"said"}`, Message{Role: RoleAssistant, Content: "said"}, rawMessages(`{"role":"assistant","content":"said"}`)},
		{`{"role":"assistant","content":[{"type":"thinking","thinking":"x"},` + text("go") + `,` + tool + `]}`,
			Message{Role: RoleAssistant, Content: "go", Calls: []Call{{ID: "a", Name: "t", Arguments: `{"x":1}`, Raw: []byte(tool)}}},
			rawMessages(`{"role":"assistant","content":"go","tool_calls":[{"id":"a","type":"function","function":{"name":"t","arguments":"{\"x\":1}"}}]}`)},
		{`{"role":"assistant","content":[{"type":"redacted_thinking","data":"x"}]}`, Message{Role: RoleAssistant}, rawMessages(`{"role":"assistant","content":""}`)},
	}
	for _, c := range cases {
		t.Run(c.raw, func(t *testing.T) {
			m, err := WireMessages.ParseItem([]byte(c.raw))
			assert.NilError(t, err)
			chat := WireMessages.ChatForm(m)
			checkChatForm(t, chat)
			assert.DeepEqual(t, rawMessages(onlyRaw(chat)...), c.chat)
			c.want.Raw = []byte(c.raw)
			assert.DeepEqual(t, m, c.want)
		})
	}
	_, err := WireMessages.ParseItem([]byte(`{"content":"x"}`))
	assert.Error(t, err, "read message: it has no role")
}

func TestSystemTextsBesideTheList(t *testing.T) {
	assert.DeepEqual(t, SystemItem([]byte(`"be brief"`)), SystemMessage("be brief"))
	blocks := SystemItem([]byte(`[{"type":"text","text":"a"},{"type":"text","text":"b","cache_control":{}}]`))
	assert.DeepEqual(t, blocks, Message{Role: RoleSystem, Content: "ab", Raw: []byte(`{"role":"system","content":[{"type":"text","text":"a"},{"type":"text","text":"b","cache_control":{}}]}`)})
	checkChatForm(t, WireMessages.ChatForm(blocks))
	assert.DeepEqual(t, onlyRaw(WireMessages.ChatForm(blocks)), []string{`{"role":"system","content":"ab"}`})
}

func TestWireOfPaths(t *testing.T) {
	for path, want := range map[string]Wire{
		"/v1/chat/completions": WireChat, "/openai/deployments/x/chat/completions": WireChat, "/v1/responses": WireResponses, "/responses/": WireResponses,
		"/v1/messages": WireMessages, "/messages": WireMessages, "/v1/messages/count_tokens": "", "/v1/models": "", "/v1/responses/r1": "", "/v1/threads/t/messages": "",
	} {
		got, ok := WireOf(path)
		assert.Equal(t, got, want, path)
		assert.Equal(t, ok, want != "", path)
	}
}
