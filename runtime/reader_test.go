package runtime

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"gotest.tools/v3/assert"
)

// readCalls reads a stream block by block and returns the calls with the block
// that completed each.
func readCalls(w Wire, body []byte) (calls []Call, at []int) {
	r := NewAnswerReader(w)
	for n, block := range SplitEvents(body) {
		for _, call := range r.Block(block) {
			calls, at = append(calls, call), append(at, n)
		}
	}
	return calls, at
}

func short(calls []Call) []shortCall {
	return shortCalls(&Answer{Message: Message{Calls: calls}})
}

func TestCallsAreKnownWhenTheyAreComplete(t *testing.T) {
	open := func(index int, id, args string) string {
		return toolDelta(fmt.Sprintf(`{"index":%d,"id":%q,"function":{"name":"t","arguments":%q}}`, index, id, args))
	}
	args := func(index int, args string) string {
		return toolDelta(fmt.Sprintf(`{"index":%d,"function":{"arguments":%q}}`, index, args))
	}
	cases := []struct {
		name string
		wire Wire
		body string
		want []string // ID ARGUMENTS @BLOCK
	}{
		{"whole arguments", WireChat, sse(open(0, "a", ""), args(0, `{"x"`), args(0, `:"}\""}`), open(1, "b", `{}`), finish("tool_calls"), "[DONE]"), []string{`a {"x":"}\""} @2`, `b {} @3`}},
		{"the next call follows", WireChat, sse(open(0, "a", "no JSON"), open(1, "b", `{"x":1}`), finish("tool_calls")), []string{`a no JSON @1`, `b {"x":1} @1`}},
		{"no arguments, then the next call", WireChat, sse(open(0, "a", ""), open(1, "b", ""), args(1, `{"x":1}`), finish("stop")), []string{`a {} @2`, `b {"x":1} @2`}},
		{"all announced at first", WireChat, sse(open(0, "a", ""), open(1, "b", ""), args(0, `{"x":`), args(0, `1}`), args(1, `{"y":1}`), finish("stop")), []string{`a {"x":1} @3`, `b {"y":1} @4`}},
		{"in turns", WireChat, sse(open(0, "a", `{"x":`), open(1, "b", `{"y":`), args(0, `1}`), args(1, `2}`), finish("stop")), []string{`a {"x":1} @2`, `b {"y":2} @3`}},
		{"the second before the first", WireChat, sse(open(1, "b", `{"y":1}`), open(0, "a", `{"x":1}`), finish("stop")), []string{`a {"x":1} @1`, `b {"y":1} @1`}},
		{"brackets without sense", WireChat, sse(open(0, "a", `{x}`), finish("stop")), []string{`a {x} @1`}},
		{"cut off", WireChat, sse(open(0, "a", `{"x":`), finish("length"), "[DONE]"), []string{`a {"x": @1`}},
		{"no end", WireChat, sse(open(0, "a", `{"x":1}`), open(1, "b", `{"x":`)), []string{`a {"x":1} @0`}},
		{"an error", WireChat, sse(open(0, "a", `{"x":1}`), `{"error":{"message":"no"}}`, open(1, "b", `{}`)), []string{`a {"x":1} @0`}},
		{"[DONE] alone", WireChat, sse(open(0, "a", ``), "[DONE]"), []string{`a {} @1`}},
		{"a function_call", WireChat, sse(delta(`{"function_call":{"name":"t","arguments":"{\"a\""}}`), delta(`{"function_call":{"arguments":":1}"}}`), finish("function_call")), []string{` {"a":1} @1`}},
		{"Responses", WireResponses, named(itemAdded(0, messageItem("")), itemAdded(1, functionItem("a", "t", "")), argsDelta(1, `{"x":`), argsDelta(1, `1}`), itemAdded(2, functionItem("b", "t", "")),
			itemDone(2, functionItem("b", "t", "")), wasCompleted), []string{`a {"x":1} @3`, `b {} @5`}},
		{"Responses, announced late", WireResponses, named(itemAdded(1, functionItem("a", "t", "")), `{"type":"response.function_call_arguments.done","output_index":1,"arguments":"{\"x\":1}"}`, itemAdded(0, messageItem("x")), wasCompleted), []string{`a {"x":1} @2`}},
		{"Responses, free input", WireResponses, named(itemAdded(0, `{"type":"custom_tool_call","call_id":"c","name":"t","input":""}`), `{"type":"response.custom_tool_call_input.delta","output_index":0,"delta":"{}"}`, wasCompleted), []string{`c {"input":"{}"} @2`}},
		{"Responses, no end", WireResponses, named(itemAdded(0, functionItem("a", "t", "")), argsDelta(0, `{"x":`)), nil},
		{"Messages", WireMessages, named(messageStart, blockStart(0, textBlock), blockStart(1, toolBlock("a", "t", "{}")), blockDelta(1, jsonPiece(`{"x"`)), blockDelta(1, jsonPiece(`:1}`)), blockStop(1),
			blockStart(2, toolBlock("b", "t", "{}")), blockStop(2), stopReason("tool_use"), messageStop), []string{`a {"x":1} @4`, `b {} @7`}},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			calls, at := readCalls(c.wire, []byte(c.body))
			var got []string
			for i, call := range calls {
				got = append(got, fmt.Sprintf("%s %s @%d", call.ID, call.Arguments, at[i]))
			}
			assert.DeepEqual(t, got, c.want)
			if a, err := Decode(&Response{Wire: c.wire, Status: 200, Body: []byte(c.body), Stream: true, End: EndEOF}, Dialect{}); err == nil {
				assert.DeepEqual(t, a.Message.Calls, calls)
			}
		})
	}
}

func TestCallsOfWholeBodies(t *testing.T) {
	want := []shortCall{{"a", "t", `{"x":1}`}}
	for wire, body := range map[Wire]string{
		WireChat:      `{"choices":[{"message":{"tool_calls":[{"id":"a","function":{"name":"t","arguments":"{\"x\":1}"}}]},"finish_reason":"stop"}]}`,
		WireResponses: `{"status":"completed","output":[` + functionItem("a", "t", `{"x":1}`) + `]}`,
		WireMessages:  `{"content":[` + toolBlock("a", "t", `{"x":1}`) + `],"stop_reason":"tool_use"}`,
	} {
		assert.DeepEqual(t, short(NewAnswerReader(wire).Whole([]byte(body))), want)
		assert.Assert(t, NewAnswerReader(wire).Whole([]byte(`{"error":"no"}`)) == nil)
		assert.Assert(t, NewAnswerReader(wire).Whole([]byte(body[:len(body)-3])) == nil)
	}
}

// sameCalls holds that the calls which were seen while a stream came are those
// of the decoder, and returns how many.
func sameCalls(t *testing.T, r *Response) int {
	t.Helper()
	var seen []Call
	if isStream(r.Stream, r.Body) {
		seen, _ = readCalls(r.Wire, r.Body)
	} else {
		seen = NewAnswerReader(r.Wire).Whole(r.Body)
	}
	a, err := Decode(r, Dialect{})
	if err != nil {
		return 0 // then what was seen is the beginning of an answer that nobody knows
	}
	assert.DeepEqual(t, short(seen), shortCalls(a))
	return len(seen)
}

// streamsOf returns the streams in a file of the suite, each as it came.
func streamsOf(t *testing.T, file string) []*Response {
	data, err := os.ReadFile(file)
	assert.NilError(t, err)
	var found []*Response
	for line := range bytes.Lines(data) {
		var x struct {
			Wire Wire             `json:"wire"`
			SSE  []jsontext.Value `json:"sse"`
			End  End              `json:"end"`
			Kind string           `json:"kind"`
		}
		if json.Unmarshal(line, &x) != nil || x.Kind != "exchange" || x.SSE == nil {
			continue
		}
		var body []byte
		for _, block := range x.SSE {
			text, _ := textOf(block)
			body = append(body, text...)
		}
		found = append(found, &Response{Wire: x.Wire, Status: 200, Body: body, Stream: true, End: x.End})
	}
	return found
}

func TestCallsSeenAreTheCallsDecoded(t *testing.T) {
	files, err := filepath.Glob("../transcripts/*.jsonl")
	assert.NilError(t, err)
	more, err := filepath.Glob("../transcripts/testdata/*.jsonl")
	assert.NilError(t, err)
	streams, calls := 0, 0
	for _, file := range append(files, more...) {
		for _, r := range streamsOf(t, file) {
			streams++
			calls += sameCalls(t, r)
		}
	}
	assert.Assert(t, calls > 0)
	t.Logf("%d streams, %d calls", streams, calls)
}

// TestCallsSeenOfOtherPrograms does the same with recordings that nobody here
// wrote, of all three wires.
func TestCallsSeenOfOtherPrograms(t *testing.T) {
	index, err := os.ReadFile(filepath.Join(corpus, "INDEX.md"))
	if err != nil {
		t.Skipf("no recorded responses at %s", corpus)
	}
	calls := map[Wire]int{}
	for _, file := range listedExchanges(string(index)) {
		for _, r := range recordedResponses(t, filepath.Join(corpus, file)) {
			calls[WireChat] += sameCalls(t, r)
		}
	}
	local, err := filepath.Glob(filepath.Join(corpus, "local-exchanges", "*"))
	assert.NilError(t, err)
	for _, file := range local {
		if strings.HasSuffix(file, ".req.json") || strings.HasSuffix(file, ".meta.json") {
			continue
		}
		body, err := os.ReadFile(file)
		assert.NilError(t, err)
		calls[WireChat] += sameCalls(t, &Response{Status: 200, Body: body, Stream: true, End: EndEOF})
	}
	for wire, file := range map[Wire]string{
		WireResponses: "docker__cagent/e2e/testdata/cassettes/TestA2AServer_MultiAgent.yaml",
		WireMessages:  "docker__cagent/e2e/testdata/cassettes/TestExec_Anthropic_ToolCall.yaml",
	} {
		data, err := os.ReadFile(filepath.Join(corpus, file))
		assert.NilError(t, err)
		for _, r := range responsesTo(t, data, func(address string) bool { return strings.Contains(address, "/v1/") }) {
			r.Wire = wire
			_, err := Decode(r, Dialect{})
			assert.NilError(t, err)
			calls[wire] += sameCalls(t, r)
		}
	}
	t.Logf("calls: %v", calls)
	assert.Assert(t, calls[WireChat] > 100 && calls[WireMessages] > 0)
}

// Every way to cut a stream gives a beginning of the calls.
func TestCallsSeenOfABrokenStreamAreABeginning(t *testing.T) {
	for _, file := range []string{"responses", "messages"} {
		for _, r := range streamsOf(t, "../transcripts/testdata/"+file+".jsonl") {
			whole, _ := readCalls(r.Wire, r.Body)
			for n := range r.Body {
				seen, _ := readCalls(r.Wire, r.Body[:n])
				assert.DeepEqual(t, short(seen), short(whole[:len(seen)]))
			}
		}
	}
}

func FuzzAnswerReader(f *testing.F) {
	f.Add(0, []byte(sse(toolDelta(`{"index":0,"id":"a","function":{"name":"t","arguments":"{\"x\":1}"}}`), finish("stop"), "[DONE]")))
	f.Add(0, []byte(sse(toolDelta(`{"id":"a","function":{"name":"t"}}`), toolDelta(`{"id":"b","function":{"name":"u","arguments":"{}"}}`), finish("stop"))))
	f.Add(1, []byte(named(wasCreated, itemAdded(0, functionItem("a", "t", "")), argsDelta(0, `{}`), itemDone(0, functionItem("a", "t", "{}")), wasCompleted)))
	f.Add(1, []byte(named(itemAdded(0, messageItem("")), textDelta(0, "x"), `{"type":"response.failed","response":{}}`)))
	f.Add(1, []byte(`{"status":"completed","output":[{"type":"custom_tool_call","call_id":"c","name":"t","input":"x"}]}`))
	f.Add(2, []byte(named(messageStart, blockStart(0, toolBlock("a", "t", "{}")), blockDelta(0, jsonPiece(`{}`)), blockStop(0), stopReason("tool_use"), messageStop)))
	f.Add(2, []byte(`{"content":[{"type":"text","text":"x"}],"stop_reason":"end_turn"}`))
	f.Fuzz(func(t *testing.T, wire int, body []byte) {
		w := []Wire{WireChat, WireResponses, WireMessages}[uint(wire)%3]
		r := &Response{Wire: w, Status: 200, Body: body, Stream: true, End: EndEOF}
		seen, _ := readCalls(w, body)
		whole := NewAnswerReader(w).Whole(body)
		a, err := Decode(r, Dialect{})
		if err != nil {
			_, ok := asUpstream(err)
			assert.Assert(t, ok, "%v", err)
			return
		}
		checkMessage(t, a)
		if !isStream(true, body) {
			assert.DeepEqual(t, short(whole), shortCalls(a))
		} else if len(seen) != len(a.Message.Calls) {
			t.Fatalf("%d calls seen, %d decoded", len(seen), len(a.Message.Calls))
		}
	})
}

func FuzzParseItem(f *testing.F) {
	for _, item := range []string{`"hi"`, messageItem("x"), functionItem("a", "t", "{}"), `{"type":"function_call_output","call_id":"a","output":[{"text":"x"}]}`, `{"type":"reasoning"}`} {
		f.Add(1, []byte(item))
	}
	for _, item := range []string{`{"role":"user","content":[{"type":"tool_result","tool_use_id":"a","content":"x"},{"type":"text","text":"y"}]}`, `{"role":"assistant","content":[{"type":"tool_use","id":"a","name":"t","input":{}}]}`} {
		f.Add(2, []byte(item))
	}
	f.Fuzz(func(t *testing.T, wire int, item []byte) {
		w := []Wire{WireChat, WireResponses, WireMessages}[uint(wire)%3]
		m, err := w.ParseItem(item)
		if err != nil {
			return
		}
		assert.Equal(t, string(m.Raw), strings.Trim(string(item), " \t\r\n\v\f\u0085\u00a0"))
		if w != WireChat {
			checkChatForm(t, w.ChatForm(m))
		}
	})
}

// What is watched is what passes: reading a long answer costs its length, not
// its square.
func BenchmarkAnswerReader(b *testing.B) {
	for _, size := range []int{1 << 16, 1 << 20} {
		b.Run(fmt.Sprint(size), func(b *testing.B) {
			var stream strings.Builder
			stream.WriteString(sse(toolDelta(`{"index":0,"id":"a","function":{"name":"t","arguments":"{\"x\":\""}}`)))
			for range size / 16 {
				stream.WriteString(sse(toolDelta(`{"index":0,"function":{"arguments":"sixteen {} bytes"}}`)))
			}
			stream.WriteString(sse(toolDelta(`{"index":0,"function":{"arguments":"\"}"}}`), finish("stop")))
			body := []byte(stream.String())
			blocks := SplitEvents(body)
			b.SetBytes(int64(len(body)))
			for b.Loop() {
				r := NewAnswerReader(WireChat)
				for _, block := range blocks {
					r.Block(block)
				}
			}
		})
	}
}
