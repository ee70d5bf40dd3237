package runtime

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"testing"

	"gotest.tools/v3/assert"
)

// secondRequest runs a whole session over HTTP: the server, which stands at
// baseURL for the runner, answers first with body and then with a text. It
// returns the messages of the second request behind system and prompt, byte for
// byte.
func secondRequest(t *testing.T, baseURL, body string, tools ...Tool) []string {
	t.Helper()
	var requests []string
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		request, _ := io.ReadAll(r.Body)
		requests = append(requests, string(request))
		if len(requests) == 1 {
			events(w, body)
			return
		}
		events(w, sse(delta(`{"content":"done"}`), finish("stop"), "[DONE]"))
	}))
	defer server.Close()
	at, err := url.Parse(server.URL)
	assert.NilError(t, err)
	r := runnerOf(newScript(t), tools...)
	r.Stream = true
	r.Model = &Live{BaseURL: baseURL, Dialect: DialectFor(baseURL), HTTP: transportFunc(func(r *http.Request) (*http.Response, error) {
		r.URL.Scheme, r.URL.Host = at.Scheme, at.Host
		return server.Client().Transport.RoundTrip(r)
	})}
	run, err := r.Run(t.Context(), "go")
	assert.NilError(t, err)
	assert.Equal(t, run.Final, "done")
	assert.Equal(t, len(requests), 2)
	members, err := membersOf([]byte(requests[1]))
	assert.NilError(t, err)
	messages, err := elementsOf(memberOf(members, "messages"))
	assert.NilError(t, err)
	var texts []string
	for _, m := range messages[2:] {
		texts = append(texts, string(m.value))
	}
	return texts
}

const generic = "https://api.example.com/v1"

// TestWhatGoesBack: what a provider sent in its first answer is in the second
// request, where the endpoint takes it.
func TestWhatGoesBack(t *testing.T) {
	call := `{"index":0,"id":"a","type":"function","function":{"name":"echo","arguments":"{}"}}`
	sent := `"tool_calls":[{"id":"a","type":"function","function":{"name":"echo","arguments":"{}"}}]`
	result := `{"role":"tool","tool_call_id":"a","content":"echo "}`
	reasoned := sse(delta(`{"role":"assistant","content":null,"reasoning_content":"r\u0065ason "}`), delta(`{"reasoning_content":"字"}`), toolDelta(call), finish("tool_calls"), "[DONE]")
	const groq, ollama = "https://api.groq.com/openai/v1", "http://localhost:11434/v1"
	for _, c := range []struct {
		name, url, body string
		want            []string
	}{
		{"case 2.01: reasoning", generic, reasoned,
			[]string{`{"role":"assistant","content":null,` + sent + `,"reasoning_content":"reason 字"}`, result}},
		{"case 2.01: reasoning and text before the call", generic, sse(delta(`{"reasoning_content":"r"}`), delta(`{"content":"so"}`), toolDelta(call), finish("tool_calls")),
			[]string{`{"role":"assistant","content":"so",` + sent + `,"reasoning_content":"r"}`, result}},
		{"case 2.01: empty reasoning is reasoning", generic, sse(delta(`{"reasoning_content":""}`), toolDelta(call), finish("tool_calls")),
			[]string{`{"role":"assistant","content":null,` + sent + `,"reasoning_content":""}`, result}},
		{"case 2.01: reasoning of an answer that was no stream", generic, responseWith(`{"content":null,"reasoning_content":"r","tool_calls":[` + call + `]}`),
			[]string{`{"role":"assistant","content":null,"tool_calls":[{"id":"a","type":"function","function":{"name":"echo","arguments":"{}"},"index":0}],"reasoning_content":"r"}`, result}},
		{"case 2.02: Groq takes no reasoning", groq, reasoned,
			[]string{`{"role":"assistant","content":null,` + sent + `}`, result}},
		{"case 2.02: nor under another name", groq, sse(delta(`{"reasoning":"r","reasoning_details":[{"text":"r"}],"x":1}`), toolDelta(call), finish("tool_calls")),
			[]string{`{"role":"assistant","content":null,` + sent + `,"x":1}`, result}},
		{"case 2.02: an id that is null is made up", groq, sse(toolDelta(`{"index":0,"id":null,"function":{"name":"echo","arguments":"{}"}}`), finish("tool_calls")),
			[]string{`{"role":"assistant","content":null,"tool_calls":[{"id":"call-1.1","type":"function","function":{"name":"echo","arguments":"{}"}}]}`, `{"role":"tool","tool_call_id":"call-1.1","content":"echo "}`}},
		{"case 2.02: an id that is absent, no index", generic, sse(toolDelta(`{"function":{"name":"echo","arguments":"{}"}}`), finish("tool_calls")),
			[]string{`{"role":"assistant","content":null,"tool_calls":[{"id":"call-1.1","type":"function","function":{"name":"echo","arguments":"{}"}}]}`, `{"role":"tool","tool_call_id":"call-1.1","content":"echo "}`}},
		{"case 2.02: an id that is a number", generic, sse(toolDelta(`{"index":0,"id":7,"function":{"name":"echo","arguments":"{}"}}`), finish("tool_calls")),
			[]string{`{"role":"assistant","content":null,"tool_calls":[{"id":"7","type":"function","function":{"name":"echo","arguments":"{}"}}]}`, `{"role":"tool","tool_call_id":"7","content":"echo "}`}},
		{"case 2.03: signatures", generic, sse(toolDelta(`{"index":0,"id":"a","function":{"name":"echo","arguments":""},"extra_content":{"google":{"thought_signature":"S\/=="}}}`),
			toolDelta(`{"index":0,"function":{"arguments":"{}"}}`), delta(`{"extra_content":{"vertex":{"thought_signature":"T"}}}`), finish("tool_calls")),
			[]string{`{"role":"assistant","content":null,"tool_calls":[{"id":"a","type":"function","function":{"name":"echo","arguments":"{}"},"extra_content":{"google":{"thought_signature":"S\/=="}}}],"extra_content":{"vertex":{"thought_signature":"T"}}}`, result}},
		{"case 2.03: a signature survives a mended id", generic, sse(toolDelta(`{"index":0,"id":"","function":{"name":"echo","arguments":"{}"},"extra_content":{"google":{"thought_signature":"S"}}}`), finish("tool_calls")),
			[]string{`{"role":"assistant","content":null,"tool_calls":[{"id":"call-1.1","type":"function","function":{"name":"echo","arguments":"{}"},"extra_content":{"google":{"thought_signature":"S"}}}]}`, `{"role":"tool","tool_call_id":"call-1.1","content":"echo "}`}},
		{"case 2.05: an empty result has a content key", generic, sse(toolDelta(`{"index":0,"id":"a","function":{"name":"nothing","arguments":"{}"}}`), finish("tool_calls")),
			[]string{`{"role":"assistant","content":null,"tool_calls":[{"id":"a","type":"function","function":{"name":"nothing","arguments":"{}"}}]}`, `{"role":"tool","tool_call_id":"a","content":""}`}},
		{"case 2.05: an empty text before calls becomes null", generic, sse(delta(`{"content":""}`), toolDelta(call), delta(`{"content":""}`), finish("tool_calls")),
			[]string{`{"role":"assistant","content":null,` + sent + `}`, result}},
		{"case 2.05: content [] before calls becomes null", generic, sse(delta(`{"content":[]}`), toolDelta(call), finish("tool_calls")),
			[]string{`{"role":"assistant","content":null,` + sent + `}`, result}},
		{"case 2.05: Ollama takes neither null nor \"\"", ollama, reasoned,
			[]string{`{"role":"assistant",` + sent + `,"reasoning_content":"reason 字"}`, result}},
		{"case 2.05: Ollama gets a text as it is, and an empty result too", ollama, sse(delta(`{"content":"so"}`), toolDelta(`{"index":0,"id":"a","function":{"name":"nothing","arguments":"{}"}}`), finish("tool_calls")),
			[]string{`{"role":"assistant","content":"so","tool_calls":[{"id":"a","type":"function","function":{"name":"nothing","arguments":"{}"}}]}`, `{"role":"tool","tool_call_id":"a","content":""}`}},
		{"case 1.06: call and result agree on the last id", generic, sse(toolDelta(`{"index":0,"id":"x1","function":{"name":"echo","arguments":""}}`), toolDelta(`{"index":0,"id":"y9","function":{"arguments":"{}"}}`), finish("tool_calls")),
			[]string{`{"role":"assistant","content":null,"tool_calls":[{"id":"y9","type":"function","function":{"name":"echo","arguments":"{}"}}]}`, `{"role":"tool","tool_call_id":"y9","content":"echo "}`}},
		{"case 1.22: blank arguments go back as {}", generic, sse(toolDelta(`{"index":0,"id":"a","function":{"name":"echo","arguments":" "}}`), finish("stop")),
			[]string{`{"role":"assistant","content":null,` + sent + `}`, result}},
		{"case 1.22: a required field is missing, which is no JSON error", generic, sse(toolDelta(`{"index":0,"id":"a","function":{"name":"strict","arguments":""}}`), finish("tool_calls")),
			[]string{`{"role":"assistant","content":null,"tool_calls":[{"id":"a","type":"function","function":{"name":"strict","arguments":"{}"}}]}`, `{"role":"tool","tool_call_id":"a","content":"Error [invalid_arguments]: path: is required"}`}},
		{"case 1.23: an object in place of its text", generic, sse(toolDelta(`{"index":0,"id":"a","function":{"name":"strict","arguments":{"path": "a"}}}`), finish("tool_calls")),
			[]string{`{"role":"assistant","content":null,"tool_calls":[{"id":"a","type":"function","function":{"name":"strict","arguments":"{\"path\":\"a\"}"}}]}`, `{"role":"tool","tool_call_id":"a","content":"read a"}`}},
		{"case 1.23: a field twice, as an object", generic, sse(toolDelta(`{"index":0,"id":"a","function":{"name":"strict","arguments":{"path":"a","path":"b"}}}`), finish("tool_calls")),
			[]string{`{"role":"assistant","content":null,"tool_calls":[{"id":"a","type":"function","function":{"name":"strict","arguments":"{\"path\":\"a\",\"path\":\"b\"}"}}]}`, `{"role":"tool","tool_call_id":"a","content":"Error [invalid_arguments]: path: is given more than once"}`}},
		{"case 1.23: the text of a text is no object, its sibling runs", generic, sse(toolDelta(`{"index":0,"id":"a","function":{"name":"strict","arguments":"\"{\\\"path\\\":1}\""}},`+`{"index":1,"id":"b","function":{"name":"echo","arguments":null}}`), finish("tool_calls")),
			[]string{`{"role":"assistant","content":null,"tool_calls":[{"id":"a","type":"function","function":{"name":"strict","arguments":"\"{\\\"path\\\":1}\""}},{"id":"b","type":"function","function":{"name":"echo","arguments":"{}"}}]}`,
				`{"role":"tool","tool_call_id":"a","content":"Error [invalid_arguments]: arguments: must be a JSON object, not a string"}`, `{"role":"tool","tool_call_id":"b","content":"echo "}`}},
		{"case 1.25: a number may be cut too, and no sibling runs", generic, sse(toolDelta(`{"index":0,"id":"a","function":{"name":"echo","arguments":"{}"}},{"index":1,"id":"b","function":{"name":"strict","arguments":"{\"path\":12"}}`), finish("stop"), "[DONE]"),
			[]string{`{"role":"assistant","content":null,"tool_calls":[{"id":"a","type":"function","function":{"name":"echo","arguments":"{}"}},{"id":"b","type":"function","function":{"name":"strict","arguments":"{\"path\":12"}}]}`,
				`{"role":"tool","tool_call_id":"a","content":"Error [truncated_call]: The call was cut off and was not run"}`, `{"role":"tool","tool_call_id":"b","content":"Error [truncated_call]: The call was cut off and was not run"}`}},
		{"case 3.05: one id, two calls", generic, sse(toolDelta(`{"id":"d","function":{"name":"strict","arguments":"{\"path\":\"a\"}"}},{"id":"d","function":{"name":"strict","arguments":"{\"path\":\"b\"}"}}`), finish("tool_calls")),
			[]string{`{"role":"assistant","content":null,"tool_calls":[{"id":"d","type":"function","function":{"name":"strict","arguments":"{\"path\":\"a\"}"}},{"id":"d~2","type":"function","function":{"name":"strict","arguments":"{\"path\":\"b\"}"}}]}`,
				`{"role":"tool","tool_call_id":"d","content":"read a"}`, `{"role":"tool","tool_call_id":"d~2","content":"read b"}`}},
	} {
		t.Run(c.name, func(t *testing.T) {
			assert.DeepEqual(t, secondRequest(t, c.url, c.body, strictTool(t), funcTool(t, "nothing", func(context.Context) (string, error) { return "", nil })), c.want)
		})
	}
}

// strictTool is a tool whose path is required.
func strictTool(t *testing.T) Tool {
	type arguments struct {
		Path string `json:"path"`
	}
	tool, err := NewTool("strict", "Reads.", EffectRead, func(_ context.Context, _ Invocation, args arguments) (string, error) { return "read " + args.Path, nil })
	assert.NilError(t, err)
	return tool
}
