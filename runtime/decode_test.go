package runtime

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"gotest.tools/v3/assert"
)

// sse frames chunks as a stream of events, each with its blank line.
func sse(chunks ...string) string {
	var out string
	for _, c := range chunks {
		out += "data: " + c + "\n\n"
	}
	return out
}

// delta is a chunk whose first choice has the given delta.
func delta(json string) string { return `{"choices":[{"index":0,"delta":` + json + `}]}` }

// finish is a chunk that ends the first choice.
func finish(reason string) string {
	return `{"choices":[{"index":0,"delta":{},"finish_reason":"` + reason + `"}]}`
}

// toolDelta is a chunk with the given elements of tool_calls.
func toolDelta(elements string) string { return delta(`{"tool_calls":[` + elements + `]}`) }

func decodeStream(t *testing.T, body string) *Answer {
	t.Helper()
	a, err := Decode(&Response{Status: 200, Body: []byte(body), Stream: true, End: EndEOF}, Dialect{})
	assert.NilError(t, err)
	checkMessage(t, a)
	return a
}

func decodeJSON(t *testing.T, body string) *Answer {
	t.Helper()
	a, err := Decode(&Response{Status: 200, Body: []byte(body)}, Dialect{})
	assert.NilError(t, err)
	checkMessage(t, a)
	return a
}

// checkMessage holds that what the decoder understood is what its canonical
// message says.
func checkMessage(t *testing.T, a *Answer) {
	t.Helper()
	parsed, err := ParseMessage(a.Message.Raw)
	assert.NilError(t, err)
	assert.DeepEqual(t, parsed, a.Message)
	assert.Assert(t, a.Message.Raw.IsValid(), "%s", a.Message.Raw)
}

func upstreamError(t *testing.T, r *Response) UpstreamError {
	t.Helper()
	a, err := Decode(r, Dialect{})
	assert.Assert(t, a == nil)
	up, ok := asUpstream(err)
	assert.Assert(t, ok, "%v", err)
	return *up
}

func TestStreamFraming(t *testing.T) {
	text := delta(`{"content":"hi"}`)
	cases := []struct{ name, body string }{
		{"case 1.11: no space after the colon", "data:" + text + "\n\ndata:" + finish("stop") + "\n\ndata:[DONE]\n\n"},
		{"case 1.12: comments", ": WAITING\n\n" + sse(text) + ": ping\n\n" + sse(finish("stop"), "[DONE]")},
		{"case 1.12: a comment inside an event", ": x\n" + sse(text, finish("stop"), "[DONE]")},
		{"case 1.12: a comment sent as data", sse(": ping", text, finish("stop"), "[DONE]")},
		{"case 1.15: CRLF", "data: " + text + "\r\n\r\ndata: " + finish("stop") + "\r\n\r\ndata: [DONE]\r\n\r\n"},
		{"case 1.15: CR", "data: " + text + "\r\rdata: " + finish("stop") + "\r\rdata: [DONE]\r\r"},
		{"case 1.15: one event in several data lines", "data: {\"choices\":[{\"delta\":\ndata: {\"content\":\"hi\"},\ndata: \"finish_reason\":\"stop\"}]}\n\n"},
		{"byte order mark", "\ufeff" + sse(text, finish("stop"), "[DONE]")},
		{"ids, retry and named events", "event: completion\nid: 1\nretry: 5\n" + sse(text) + "event: ping\ndata: now\n\n" + sse(finish("stop"))},
		{"no blank line at the end", "data: " + text + "\n\ndata: " + finish("stop")},
		{"nothing counts after [DONE]", sse(text, finish("stop"), "[DONE]", delta(`{"content":"more"}`), `{"error":"late"}`)},
		{"empty data", sse("", text, finish("stop"), "")},
		{"a choice without delta but with the whole message", sse(`{"choices":[{"message":{"content":"hi"},"finish_reason":"stop"}]}`)},
		{"the whole message once more at the end", sse(text, `{"choices":[{"message":{"content":"hi"},"finish_reason":"stop"}]}`)},
		{"delta null", sse(text, `{"choices":[{"delta":null,"finish_reason":"stop"}]}`)},
		{"case 1.12: chunks that say nothing", sse(`{}`, `{"choices":null}`, `{"choices":[{}]}`, `{"type":"ping"}`, text, finish("stop"), "[DONE]")},
		{"other choices", sse(text, `{"choices":[{"index":1,"delta":{"content":"no"},"finish_reason":"length"}]}`, finish("stop"))},
	}
	want := &Answer{Finish: "stop", Message: Message{Role: RoleAssistant, Content: "hi", Raw: []byte(`{"role":"assistant","content":"hi"}`)}}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) { assert.DeepEqual(t, decodeStream(t, c.body), want) })
	}
}

func TestEventOfAnyLength(t *testing.T) { // case 1.14
	for _, size := range []int{65537, 5 << 20} {
		text := make([]byte, size)
		for i := range text {
			text[i] = 'x'
		}
		body := sse(delta(`{"content":"`+string(text)+`"}`), finish("stop"))
		a, err := Decode(&Response{Status: 200, Body: []byte(body), Stream: true}, Dialect{})
		assert.NilError(t, err)
		assert.Equal(t, a.Message.Content, string(text))
	}
}

func TestTextCutAnywhere(t *testing.T) { // case 1.17
	a := decodeStream(t, sse(delta(`{"content":"\ud83d"}`), delta(`{"content":"\ude00 字"}`), finish("stop")))
	assert.Equal(t, a.Message.Content, "😀 字")
	a = decodeStream(t, sse(toolDelta(`{"id":"a","function":{"name":"t","arguments":"{\"x\":\"\ud83d"}}`), toolDelta(`{"function":{"arguments":"\ude00\"}"}}`), finish("stop")))
	assert.DeepEqual(t, shortCalls(a), []shortCall{{"a", "t", `{"x":"😀"}`}})
	a = decodeStream(t, sse(delta(`{"content":"\ud83d"}`), finish("stop")))
	assert.Equal(t, a.Message.Content, "\ufffd")
}

func TestEndOfStream(t *testing.T) { // case 1.19, the truth table
	hi := delta(`{"content":"hi"}`)
	cut := func(kind, text, partial string) *UpstreamError {
		return &UpstreamError{Status: 200, Kind: kind, Text: text, Partial: partial, Retry: true}
	}
	const noEnd = "the stream ended without finish_reason and [DONE]"
	cases := []struct {
		name string
		body string
		end  End
		want *UpstreamError // nil: complete
	}{
		{"1: EOF, neither", sse(hi), EndEOF, cut(KindCut, noEnd, "hi")},
		{"2: [DONE] alone", sse(hi, "[DONE]"), EndEOF, nil},
		{"3: finish_reason null, [DONE]", sse(hi, `{"choices":[{"delta":{},"finish_reason":null}]}`, "[DONE]"), EndEOF, nil},
		{"4: choices [], [DONE]", sse(`{"choices":[]}`, "[DONE]"), EndEOF, nil},
		{"5: finish_reason alone", sse(hi, finish("stop")), EndEOF, nil},
		{"6: reasoning alone, EOF", sse(delta(`{"reasoning_content":"hm"}`)), EndEOF, cut(KindCut, noEnd, "")},
		{"reset after finish_reason", sse(hi, finish("stop")), EndReset, nil},
		{"reset after [DONE]", sse(hi, "[DONE]"), EndReset, nil},
		{"reset", sse(hi), EndReset, cut(KindCut, noEnd, "hi")},
		{"silence", sse(hi), EndTimeout, cut(KindTimeout, "the stream went silent without finish_reason and [DONE]", "hi")},
		{"finish_reason empty", sse(hi, finish("")), EndEOF, cut(KindCut, noEnd, "hi")},
		{"no event at all", "", EndEOF, cut(KindCut, noEnd, "")},
		{"comments alone", ": x\n\n", EndEOF, cut(KindCut, noEnd, "")},
		{"torn event", sse(hi) + `data: {"choices":[{"del`, EndReset, cut(KindCut, `the stream broke off inside an event: {"choices":[{"del`, "hi")},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			_, err := Decode(&Response{Status: 200, Stream: true, Body: []byte(c.body), End: c.end}, Dialect{})
			if c.want == nil {
				assert.NilError(t, err)
				return
			}
			up, _ := asUpstream(err)
			assert.DeepEqual(t, up, c.want)
		})
	}
}

func TestErrorInsideSuccess(t *testing.T) { // case 1.18
	hi := delta(`{"content":"half"}`)
	usage := `{"choices":[],"usage":{"prompt_tokens":3,"completion_tokens":1}}`
	cases := []struct {
		name   string
		body   string
		stream bool
		want   UpstreamError
	}{
		{"object, then [DONE]", sse(`{"error":{"message":"quota"}}`, "[DONE]"), true, UpstreamError{Text: "quota"}},
		{"string", sse(`{"error":"quota"}`, "[DONE]"), true, UpstreamError{Text: "quota"}},
		{"list", sse(`{"error":["quota"]}`), true, UpstreamError{Text: `["quota"]`}},
		{"message a list", sse(`{"error":{"message":["a","b"]}}`), true, UpstreamError{Text: `{"message":["a","b"]}`}},
		{"event: error, object", "event: error\n" + sse(`{"message":"quota"}`), true, UpstreamError{Text: "quota"}},
		{"event: error, nested", "event: error\n" + sse(`{"error":{"message":"tool_use_failed","status_code":400}}`), true, UpstreamError{Text: "tool_use_failed"}},
		{"event: error, text", "event: error\n" + sse(`quota`), true, UpstreamError{Text: "quota"}},
		{"event: error, nothing", "event: error\n\n", true, UpstreamError{}},
		{"after half the text", sse(hi, usage, `{"error":{"message":"quota"}}`, "[DONE]"), true,
			UpstreamError{Text: "quota", Partial: "half", Usage: Usage{Input: 3, Output: 1}}},
		{"beside a choice", sse(hi, `{"error":{"code":502,"message":"down"},"choices":[{"delta":{"content":""},"finish_reason":"error"}]}`), true,
			UpstreamError{Text: "down", Partial: "half", Retry: true}},
		{"inside the choice", sse(hi, `{"choices":[{"delta":{},"error":{"code":"429","message":"slow"}}]}`), true, UpstreamError{Text: "slow", Partial: "half", Retry: true}},
		{"finish_reason error alone", sse(hi, finish("error")), true, UpstreamError{Text: "finish_reason is error", Partial: "half", Retry: true}},
		{"by its type", sse(`{"error":{"type":"overloaded_error","message":"busy"}}`), true, UpstreamError{Text: "busy", Retry: true}},
		{"a code beside a message", sse(`{"error":429,"message":"slow"}`, "[DONE]"), true, UpstreamError{Text: "429: slow", Retry: true}},
		{"a word beside a message", sse(`{"error":"limited","message":"quota"}`, "[DONE]"), true, UpstreamError{Text: "limited: quota"}},
		{"true beside a message", sse(`{"error":true,"message":"quota"}`, "[DONE]"), true, UpstreamError{Text: "quota"}},
		{"object error", sse(hi, `{"object":"error","message":"quota","code":400}`, "[DONE]"), true, UpstreamError{Text: "quota", Partial: "half"}},
		{"type error without a member error", sse(hi, `{"type":"error","reason":"quota"}`, "[DONE]"), true, UpstreamError{Text: `{"type":"error","reason":"quota"}`, Partial: "half"}},
		{"code and message alone", sse(`{"code":"Throttling","message":"quota"}`, "[DONE]"), true, UpstreamError{Text: "quota"}},
		{"detail", sse(`{"detail":"quota"}`, "[DONE]"), true, UpstreamError{Text: "quota"}},
		{"errors", sse(`{"errors":[{"message":"quota"}]}`, "[DONE]"), true, UpstreamError{Text: `{"errors":[{"message":"quota"}]}`}},
		{"a line without data:", sse(hi) + `{"error":{"message":"quota"}}` + "\n\n" + sse("[DONE]"), true, UpstreamError{Text: "quota", Partial: "half"}},
		{"event: Error", sse(hi) + "event:Error\ndata:{\"message\":\"quota\"}\n\n" + sse("[DONE]"), true, UpstreamError{Text: "quota", Partial: "half"}},
		{"event: exception", sse(hi) + "event: exception\n" + sse(`{"message":"quota"}`, "[DONE]"), true, UpstreamError{Text: "quota", Partial: "half"}},
		{"after finish_reason", sse(hi, finish("stop"), `{"error":{"message":"quota"}}`, "[DONE]"), true, UpstreamError{Text: "quota", Partial: "half"}},
		{"quota does not pass", sse(`{"error":{"type":"insufficient_quota","message":"pay"}}`), true, UpstreamError{Text: "pay"}},
		{"JSON, object", `{"error":{"message":"quota"}}`, false, UpstreamError{Text: "quota"}},
		{"JSON, string", `{"error":"quota"}`, false, UpstreamError{Text: "quota"}},
		{"JSON, in a list", `[{"error":{"code":503,"message":"down"}}]`, false, UpstreamError{Text: "down", Retry: true}},
		{"JSON for a stream", `{"error":{"message":"quota"}}`, true, UpstreamError{Text: "quota"}},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			c.want.Status, c.want.Kind = 200, KindStream
			assert.DeepEqual(t, upstreamError(t, &Response{Status: 200, Stream: c.stream, Body: []byte(c.body)}), c.want)
		})
	}
}

func TestErrorMemberThatIsNone(t *testing.T) {
	for _, none := range []string{"null", `""`, "{}", "[]", "false", "0"} {
		a := decodeJSON(t, `{"error":`+none+`,"choices":[{"message":{"content":"hi"},"finish_reason":"stop"}]}`)
		assert.Equal(t, a.Message.Content, "hi")
	}
}

func TestOddBodies(t *testing.T) { // case 2.07
	html := "<html><body>502 Bad Gateway</body></html>"
	cases := []struct {
		name string
		r    Response
		want UpstreamError
	}{
		{"HTML page", Response{Status: 502, Body: []byte(html + "\n")}, UpstreamError{Status: 502, Kind: KindStatus, Text: html, Retry: true}},
		{"message a list", Response{Status: 400, Body: []byte(`{"error":{"message":["a"]}}`)}, UpstreamError{Status: 400, Kind: KindStatus, Text: `{"error":{"message":["a"]}}`}},
		{"list", Response{Status: 400, Body: []byte(`[{"error":{"message":"m"}}]`)}, UpstreamError{Status: 400, Kind: KindStatus, Text: `[{"error":{"message":"m"}}]`}},
		{"text", Response{Status: 401, Body: []byte(`no key`)}, UpstreamError{Status: 401, Kind: KindStatus, Text: `no key`}},
		{"nothing", Response{Status: 404}, UpstreamError{Status: 404, Kind: KindStatus, Text: "Not Found"}},
		{"an event stream", Response{Status: 429, Stream: true, Body: []byte("data: {}\n\n")}, UpstreamError{Status: 429, Kind: KindStatus, Text: "data: {}", Retry: true}},
		{"no UTF-8", Response{Status: 400, Body: []byte("a\xffb")}, UpstreamError{Status: 400, Kind: KindStatus, Text: "a\ufffdb"}},
		{"redirect", Response{Status: 302, Header: http.Header{"Location": {"https://login"}}}, UpstreamError{Status: 302, Kind: KindStatus, Text: "redirected to https://login"}},
		{"success, HTML", Response{Status: 200, Body: []byte(html)}, UpstreamError{Status: 200, Kind: KindMalformed, Text: html}},
		{"success, HTML as a stream", Response{Status: 200, Stream: true, Body: []byte(html)}, UpstreamError{Status: 200, Kind: KindMalformed, Text: html}},
		{"success, no choices", Response{Status: 200, Body: []byte(`{"object":"list"}`)}, UpstreamError{Status: 200, Kind: KindMalformed, Text: `no choices in the response: {"object":"list"}`}},
		{"success, no object", Response{Status: 200, Body: []byte(`"hi"`)}, UpstreamError{Status: 200, Kind: KindMalformed, Text: `"hi"`}},
		{"success, text after the JSON", Response{Status: 200, Body: []byte(`{"choices":[]} x`)}, UpstreamError{Status: 200, Kind: KindMalformed, Text: `{"choices":[]} x`}},
		{"success, broken off", Response{Status: 200, Body: []byte(`{"choices":[{"mess`)}, UpstreamError{Status: 200, Kind: KindCut, Text: `{"choices":[{"mess`, Retry: true}},
		{"success, empty", Response{Status: 200}, UpstreamError{Status: 200, Kind: KindCut, Retry: true}},
		{"success, message no object", Response{Status: 200, Body: []byte(`{"choices":[{"message":"hi"}]}`)}, UpstreamError{Status: 200, Kind: KindMalformed, Text: "read message: not a JSON object"}},
		{"success, call no object", Response{Status: 200, Body: []byte(`{"choices":[{"message":{"tool_calls":["x"]}}]}`)}, UpstreamError{Status: 200, Kind: KindMalformed, Text: "read message: tool_calls: a call that is not a JSON object"}},
		{"stream, an event that is no JSON", Response{Status: 200, Stream: true, Body: []byte(sse(delta(`{"content":"a"}`), "oops!"))}, UpstreamError{Status: 200, Kind: KindMalformed, Text: "an event that is no JSON object: oops!", Partial: "a"}},
		{"no response", Response{Err: "tls"}, UpstreamError{Kind: KindTLS, Text: "tls", Retry: true}},
		{"no response, no reason", Response{}, UpstreamError{Kind: KindDial, Text: "no response", Retry: true}},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) { assert.DeepEqual(t, upstreamError(t, &c.r), c.want) })
	}
}

func TestRetryableStatus(t *testing.T) {
	for status, want := range map[int]bool{400: false, 401: false, 404: false, 408: true, 409: true, 422: false, 429: true, 500: true, 503: true, 529: true, 301: false} {
		assert.Equal(t, upstreamError(t, &Response{Status: status}).Retry, want, "%d", status)
	}
}

func TestRetryAfter(t *testing.T) {
	cases := []struct {
		name string
		h    http.Header
		want time.Duration
	}{
		{"seconds", http.Header{"Retry-After": {"20"}}, 20 * time.Second},
		{"fraction", http.Header{"Retry-After": {"0.5"}}, 500 * time.Millisecond},
		{"lower case", http.Header{"retry-after": {"2"}}, 2 * time.Second},
		{"milliseconds", http.Header{"Retry-After-Ms": {"120"}, "Retry-After": {"1"}}, 120 * time.Millisecond},
		{"date from Date", http.Header{"Retry-After": {"Wed, 21 Oct 2015 07:28:30 GMT"}, "Date": {"Wed, 21 Oct 2015 07:28:00 GMT"}}, 30 * time.Second},
		{"date without Date", http.Header{"Retry-After": {"Wed, 21 Oct 2015 07:28:30 GMT"}}, 0},
		{"date in the past", http.Header{"Retry-After": {"Wed, 21 Oct 2015 07:28:00 GMT"}, "Date": {"Wed, 21 Oct 2015 07:28:30 GMT"}}, 0},
		{"negative", http.Header{"Retry-After": {"-3"}}, 0},
		{"no number", http.Header{"Retry-After": {"soon"}}, 0},
		{"NaN", http.Header{"Retry-After": {"NaN"}}, 0},
		{"years", http.Header{"Retry-After": {"1e12"}}, 24 * time.Hour},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			assert.Equal(t, upstreamError(t, &Response{Status: 429, Header: c.h}).RetryAfter, c.want)
		})
	}
}

func TestUpstreamErrorIsOneLine(t *testing.T) {
	page := UpstreamError{Status: 502, Kind: KindStatus, Text: "<html>\n<b>bad</b>\n\n" + strings.Repeat("é", 600)}
	assert.Equal(t, page.Error(), "upstream answered 502 (status): <html> <b>bad</b> "+strings.Repeat("é", 482)+"…")
	dial := UpstreamError{Kind: KindDial, Text: "refused"}
	assert.Equal(t, dial.Error(), "upstream dial: refused")
}

// BenchmarkDecode reads an answer with a call and 4 KB of text, from JSON and
// from a stream of 200 chunks.
func BenchmarkDecode(b *testing.B) {
	text := strings.Repeat("0123456789abcde ", 256)
	call := `{"index":0,"id":"a","type":"function","function":{"name":"t","arguments":"{\"path\":\"x\"}"}}`
	chunks := []string{toolDelta(call)}
	for i := range 200 {
		chunks = append(chunks, delta(`{"content":"`+text[i*20:i*20+20]+`"}`))
	}
	for name, r := range map[string]*Response{
		"json":   {Status: 200, Body: []byte(responseWith(`{"content":"` + text + `","tool_calls":[` + call + `]}`))},
		"stream": {Status: 200, Stream: true, Body: []byte(sse(append(chunks, "[DONE]")...))},
	} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, err := Decode(r, Dialect{}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func FuzzDecode(f *testing.F) {
	f.Add([]byte(responseWith(`{"content":"a","tool_calls":[{"id":"a","function":{"name":"t","arguments":{"k":1}}}],"x":[1]}`)), false)
	f.Add([]byte(sse(delta(`{"content":"\ud83d","reasoning":"r"}`), toolDelta(`{"id":"a","function":{"name":"t"}},{"index":1,"function":{"arguments":"{"}}`), finish("stop"), "[DONE]")), true)
	f.Add([]byte("event: error\ndata: {\"error\":\"x\"}\r\n\r\n"), true)
	f.Add([]byte(`[{"error":{"message":"m"}}]`), false)
	f.Add([]byte(sse(`{"choices":[{"delta":{"content":[{"type":"text","text":"a"}]}}]}`, `{"choices":[{"delta":{"content":[{"text":"b","type":"text"}],"function_call":{"name":"t"}}}]}`)), true)
	f.Fuzz(func(t *testing.T, body []byte, stream bool) {
		a, err := Decode(&Response{Status: 200, Body: body, Stream: stream, End: EndEOF}, Dialect{})
		if err != nil {
			_, ok := asUpstream(err)
			assert.Assert(t, ok && a == nil, "%v", err)
			return
		}
		checkMessage(t, a)
		whole := append(append([]byte(`{"choices":[{"message":`), a.Message.Raw...), `}]}`...)
		again, err := Decode(&Response{Status: 200, Body: whole}, Dialect{})
		assert.NilError(t, err)
		assert.DeepEqual(t, again.Message, a.Message)
	})
}
