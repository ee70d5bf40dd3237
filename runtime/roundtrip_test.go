package runtime

import (
	"testing"

	"gotest.tools/v3/assert"
)

// message is a whole JSON response with the given message.
func responseWith(message string) string {
	return `{"choices":[{"index":0,"message":` + message + `,"finish_reason":"stop"}]}`
}

func TestCanonicalMessageOfJSON(t *testing.T) {
	call := `{"id":"a","type":"function","function":{"name":"t","arguments":"{}"}}`
	cases := []struct{ name, message, want string }{
		{"text", `{"role":"assistant","content":"hi <b>"}`, `{"role":"assistant","content":"hi <b>"}`},
		{"case 2.05: calls and null", `{"content":null,"tool_calls":[` + call + `]}`, `{"role":"assistant","content":null,"tool_calls":[` + call + `]}`},
		{"case 2.05: calls and \"\"", `{"content":"","tool_calls":[` + call + `]}`, `{"role":"assistant","content":null,"tool_calls":[` + call + `]}`},
		{"case 2.05: calls and no content", `{"tool_calls":[` + call + `]}`, `{"role":"assistant","content":null,"tool_calls":[` + call + `]}`},
		{"calls and text", `{"content":"so","tool_calls":[` + call + `]}`, `{"role":"assistant","content":"so","tool_calls":[` + call + `]}`},
		{"empty text", `{"content":""}`, `{"role":"assistant","content":""}`},
		{"no content", `{}`, `{"role":"assistant","content":null}`},
		{"no calls written as a list, null or an empty function_call", `{"content":"a","tool_calls":[],"function_call":null}`, `{"role":"assistant","content":"a"}`},
		{"a filled-in function_call", `{"content":"a","tool_calls":null,"function_call":{"name":"","arguments":""}}`, `{"role":"assistant","content":"a"}`},
		{"one call without a list", `{"tool_calls":` + call + `}`, `{"role":"assistant","content":null,"tool_calls":[` + call + `]}`},
		{"case 2.01: reasoning", `{"content":"a","reasoning_content":"r"}`, `{"role":"assistant","content":"a","reasoning_content":"r"}`},
		{"case 2.03: unknown members of the message, in order", `{"z":1.0,"refusal":null,"content":"a","extra_content":{ "google" : {"thought_signature":"S\/=="} },"annotations":[],"a":1e3}`,
			`{"role":"assistant","content":"a","z":1.0,"refusal":null,"extra_content":{"google":{"thought_signature":"S\/=="}},"annotations":[],"a":1e3}`},
		{"case 2.03: unknown members of the call and its function", `{"tool_calls":[{"index":0,"function":{"name":"t","strict":true,"arguments":"{}"},"extra_content":{"vertex":{"thought_signature":"S"}},"id":"a"}]}`,
			`{"role":"assistant","content":null,"tool_calls":[{"id":"a","type":"function","function":{"name":"t","arguments":"{}","strict":true},"index":0,"extra_content":{"vertex":{"thought_signature":"S"}}}]}`},
		{"case 1.22: blank arguments", `{"tool_calls":[{"id":"a","function":{"name":"t"}}]}`, `{"role":"assistant","content":null,"tool_calls":[` + call + `]}`},
		{"case 1.23: arguments as an object", `{"tool_calls":[{"id":"a","function":{"name":"t","arguments":{"p": "a"}}}]}`,
			`{"role":"assistant","content":null,"tool_calls":[{"id":"a","type":"function","function":{"name":"t","arguments":"{\"p\":\"a\"}"}}]}`},
		{"function_call", `{"content":null,"function_call":{"name":"t","arguments":"{}"}}`,
			`{"role":"assistant","content":null,"tool_calls":[{"id":"","type":"function","function":{"name":"t","arguments":"{}"}}]}`},
		{"content in parts", `{"content":[{"type":"thinking","thinking":[{"type":"text","text":"hm"}]},{"type":"text","text":"a"},{"type":"text","text":"b"}]}`,
			`{"role":"assistant","content":[{"type":"thinking","thinking":[{"type":"text","text":"hm"}]},{"type":"text","text":"a"},{"type":"text","text":"b"}]}`},
		{"a name twice: the last counts", `{"content":"no","reasoning":"no","content":"yes","reasoning":"yes"}`, `{"role":"assistant","content":"yes","reasoning":"yes"}`},
		{"a name twice, deep down", `{"content":"a","x":[{"k":1,"k":{"a":"\ud83d"}}]}`, `{"role":"assistant","content":"a","x":[{"k":{"a":"` + "\ufffd" + `"}}]}`},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			assert.Equal(t, string(decodeJSON(t, responseWith(c.message)).Message.Raw), c.want)
		})
	}
}

func TestCanonicalMessageOfStream(t *testing.T) {
	cases := []struct {
		name   string
		deltas []string
		want   string
	}{
		{"case 2.01: reasoning is joined and goes back with the call", []string{
			`{"role":"assistant","content":null,"reasoning_content":""}`, `{"reasoning_content":"r1 "}`, `{"reasoning_content":"r2"}`,
			`{"content":"so","reasoning_content":null}`, `{"tool_calls":[{"index":0,"id":"a","type":"function","function":{"name":"t","arguments":"{}"}}]}`,
		}, `{"role":"assistant","content":"so","tool_calls":[{"id":"a","type":"function","function":{"name":"t","arguments":"{}"}}],"reasoning_content":"r1 r2"}`},
		{"case 2.03: signatures of the call and of the delta", []string{
			`{"tool_calls":[{"index":0,"id":"a","function":{"name":"t","arguments":""},"extra_content":{"google":{"thought_signature":"S"}}}]}`,
			`{"tool_calls":[{"index":0,"function":{"arguments":"{}"}}],"extra_content":{"vertex":{"thought_signature":"T"}}}`,
		}, `{"role":"assistant","content":null,"tool_calls":[{"id":"a","type":"function","function":{"name":"t","arguments":"{}"},"extra_content":{"google":{"thought_signature":"S"}}}],"extra_content":{"vertex":{"thought_signature":"T"}}}`},
		{"case 2.03: a signature that comes after its call, and one in pieces", []string{
			`{"tool_calls":[{"index":0,"id":"a","function":{"name":"t","arguments":"{}"}}],"extra_content":{"google":{"thought_signature":"S\/\u003d"}}}`,
			`{"tool_calls":[{"index":0,"extra_content":{"vertex":{"thought":true}}}],"extra_content":{}}`,
			`{"tool_calls":[{"index":0,"extra_content":{"vertex":{"thought_signature":"T","thought":null}}}],"extra_content":{"google":{"x":1}}}`,
		}, `{"role":"assistant","content":null,"tool_calls":[{"id":"a","type":"function","function":{"name":"t","arguments":"{}"},"extra_content":{"vertex":{"thought":true,"thought_signature":"T"}}}],"extra_content":{"google":{"thought_signature":"S\/\u003d","x":1}}}`},
		{"case 2.01: thinking is joined, a signature beside reasoning is not", []string{
			`{"thinking":"a","reasoning_signature":"S"}`, `{"thinking":"b","reasoning_signature":"S"}`,
		}, `{"role":"assistant","content":null,"thinking":"ab","reasoning_signature":"S"}`},
		{"lists are appended, of all else the last value counts", []string{
			`{"reasoning_details":[{"text":"a"}],"x":1,"y":{"a":1},"z":"p"}`, `{"reasoning_details":[{"text":"b"}],"x":2,"y":null,"z":"q"}`,
		}, `{"role":"assistant","content":null,"reasoning_details":[{"text":"a"},{"text":"b"}],"x":2,"y":{"a":1},"z":"q"}`},
		{"refusal", []string{`{"refusal":null}`, `{"refusal":"I "}`, `{"refusal":"can't"}`}, `{"role":"assistant","content":null,"refusal":"I can't"}`},
		{"content by turns in parts and text", []string{
			`{"content":[{"type":"thinking","thinking":[{"type":"text","text":"h"}]}]}`, `{"content":[{"type":"thinking","thinking":[{"type":"text","text":"m"}]}]}`,
			`{"content":"a"}`, `{"content":"b"}`, `{"content":[{"type":"text","text":"c"}]}`, `{"content":[{"type":"image","url":"u"}]}`,
		}, `{"role":"assistant","content":[{"type":"thinking","thinking":[{"type":"text","text":"hm"}]},{"type":"text","text":"abc"},{"type":"image","url":"u"}]}`},
		{"function_call", []string{`{"function_call":{"name":"t","arguments":""}}`, `{"function_call":{"arguments":"{\"a\""}}`, `{"function_call":{"arguments":":1}"}}`},
			`{"role":"assistant","content":null,"tool_calls":[{"id":"","type":"function","function":{"name":"t","arguments":"{\"a\":1}"}}]}`},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			var chunks []string
			for _, d := range c.deltas {
				chunks = append(chunks, delta(d))
			}
			assert.Equal(t, string(decodeStream(t, sse(append(chunks, "[DONE]")...)).Message.Raw), c.want)
		})
	}
}

func TestJSONAndStreamGiveOneMessage(t *testing.T) {
	whole := decodeJSON(t, responseWith(`{"role":"assistant","content":"so","tool_calls":[{"id":"a","type":"function","function":{"name":"t","arguments":"{\"x\":\"é\"}"}}],"reasoning_content":"r"}`))
	streamed := decodeStream(t, sse(delta(`{"reasoning_content":"r"}`), delta(`{"content":"s"}`), delta(`{"content":"o"}`),
		toolDelta(`{"index":0,"id":"a","type":"function","function":{"name":"t","arguments":""}}`), toolDelta(`{"index":0,"function":{"arguments":"{\"x\":\"\u00e9\"}"}}`), finish("stop"), "[DONE]"))
	assert.DeepEqual(t, whole, streamed)
}

func TestDialects(t *testing.T) { // case 2.02 and case 2.05
	body := responseWith(`{"content":"","reasoning_content":"r","reasoning":"r","x":1,"tool_calls":[{"id":"a","function":{"name":"t","arguments":"{}"}}]}`)
	calls := `"tool_calls":[{"id":"a","type":"function","function":{"name":"t","arguments":"{}"}}]`
	cases := []struct{ url, want string }{
		{"https://api.openai.com/v1", `{"role":"assistant","content":null,` + calls + `,"reasoning_content":"r","reasoning":"r","x":1}`},
		{"https://api.groq.com/openai/v1", `{"role":"assistant","content":null,` + calls + `,"x":1}`},
		{"https://ollama.com/v1", `{"role":"assistant",` + calls + `,"reasoning_content":"r","reasoning":"r","x":1}`},
		{"http://127.0.0.1:11434/v1", `{"role":"assistant",` + calls + `,"reasoning_content":"r","reasoning":"r","x":1}`},
		{"https://notgroq.com/v1", `{"role":"assistant","content":null,` + calls + `,"reasoning_content":"r","reasoning":"r","x":1}`},
		{"http://[bad", `{"role":"assistant","content":null,` + calls + `,"reasoning_content":"r","reasoning":"r","x":1}`},
	}
	for _, c := range cases {
		a, err := Decode(&Response{Status: 200, Body: []byte(body)}, DialectFor(c.url))
		assert.NilError(t, err)
		assert.Equal(t, string(a.Message.Raw), c.want, c.url)
	}
	a, err := Decode(&Response{Status: 200, Body: []byte(body)}, Dialect{Content: ContentEmpty})
	assert.NilError(t, err)
	assert.Equal(t, string(a.Message.Raw), `{"role":"assistant","content":"",`+calls+`,"reasoning_content":"r","reasoning":"r","x":1}`)
}

func TestDialectLeavesAnswersWithoutCallsAlone(t *testing.T) {
	a, err := Decode(&Response{Status: 200, Body: []byte(responseWith(`{"content":""}`))}, Dialect{Content: ContentAbsent})
	assert.NilError(t, err)
	assert.Equal(t, string(a.Message.Raw), `{"role":"assistant","content":""}`)
}

func TestToolResultAlwaysHasContent(t *testing.T) { // case 2.05
	assert.Equal(t, string(ToolMessage("a", "").Raw), `{"role":"tool","tool_call_id":"a","content":""}`)
}

func TestUsageIsRead(t *testing.T) { // case 1.24
	usage := func(json string) string { return `{"choices":[],"usage":` + json + `}` }
	text := delta(`{"content":"a"}`)
	cases := []struct {
		name, body string
		want       Usage
	}{
		{"choices [] first and last", sse(`{"choices":[],"prompt_filter_results":[]}`, text, finish("stop"), usage(`{"prompt_tokens":3,"completion_tokens":2}`), "[DONE]"), Usage{Input: 3, Output: 2}},
		{"in many chunks: the last counts", sse(usage(`{"prompt_tokens":3,"completion_tokens":1}`), text, usage(`{"prompt_tokens":3,"completion_tokens":9}`), finish("stop")), Usage{Input: 3, Output: 9}},
		{"null and {} tell nothing", sse(usage(`{"prompt_tokens":3}`), usage("null"), usage("{}"), finish("stop")), Usage{Input: 3}},
		{"details", sse(finish("stop"), usage(`{"prompt_tokens":10,"completion_tokens":5,"total_tokens":15,"prompt_tokens_details":{"cached_tokens":4},"completion_tokens_details":{"reasoning_tokens":3}}`)), Usage{10, 5, 4, 3}},
		{"details null", sse(finish("stop"), usage(`{"prompt_tokens":10,"completion_tokens":5,"prompt_tokens_details":null}`)), Usage{Input: 10, Output: 5}},
		{"reasoning beside the output", sse(finish("stop"), usage(`{"prompt_tokens":10,"completion_tokens":5,"total_tokens":18,"completion_tokens_details":{"reasoning_tokens":3}}`)), Usage{10, 8, 0, 3}},
		{"DeepSeek's cache", sse(finish("stop"), usage(`{"prompt_tokens":10,"prompt_cache_hit_tokens":6}`)), Usage{Input: 10, Cached: 6}},
		{"Groq's place", sse(`{"choices":[{"delta":{},"finish_reason":"stop"}],"x_groq":{"usage":{"prompt_tokens":7}}}`), Usage{Input: 7}},
		{"Moonshot's place", sse(`{"choices":[{"delta":{},"finish_reason":"stop","usage":{"prompt_tokens":8}}]}`), Usage{Input: 8}},
		{"no counts", sse(finish("stop"), usage(`{"prompt_tokens":"x","completion_tokens":-1}`)), Usage{}},
		{"huge", sse(finish("stop"), usage(`{"prompt_tokens":1e300}`)), Usage{Input: 1<<31 - 1}},
		{"fraction", sse(finish("stop"), usage(`{"prompt_tokens":3.0}`)), Usage{Input: 3}},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) { assert.DeepEqual(t, decodeStream(t, c.body).Usage, c.want) })
	}
}

func TestChoices(t *testing.T) { // case 1.24
	cases := []struct {
		name, choices, want string
	}{
		{"none", `[]`, ""},
		{"index 0 wherever it stands", `[{"index":1,"message":{"content":"b"}},{"index":0,"message":{"content":"a"}}]`, "a"},
		{"no index", `[{"message":{"content":"a"}},{"message":{"content":"b"}}]`, "a"},
		{"no message", `[{"index":0}]`, ""},
		{"message null", `[{"index":0,"message":null}]`, ""},
		{"null", `[null]`, ""},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			assert.Equal(t, decodeJSON(t, `{"choices":`+c.choices+`}`).Message.Content, c.want)
		})
	}
}

func TestBytesThatAreNoTextAreMended(t *testing.T) {
	assert.Equal(t, decodeJSON(t, "\ufeff"+responseWith("{\"content\":\"a\xe5\xadb\",\"x\":\"\xff\"}")).Message.Content, "a\ufffdb")
	assert.Equal(t, decodeStream(t, sse(delta("{\"content\":\"a\xe5\xadb\"}"), finish("stop"))).Message.Content, "a\ufffdb")
}

func TestFunctionThatIsNoObject(t *testing.T) {
	r := &Response{Status: 200, Body: []byte(responseWith(`{"tool_calls":[{"id":"a","function":"t"}]}`))}
	assert.DeepEqual(t, upstreamError(t, r), UpstreamError{Status: 200, Kind: KindMalformed, Text: "tool call 1 has no name"})
}

func TestModelThatAnswered(t *testing.T) {
	a := decodeStream(t, sse(`{"model":"","choices":[]}`, `{"model":"router","choices":[]}`, `{"model":"m-1","choices":[{"delta":{},"finish_reason":"stop"}]}`, `{"model":"","choices":[]}`))
	assert.Equal(t, a.Model, "m-1")
}
