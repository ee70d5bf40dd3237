package proxy

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"sync"
	"testing"

	"github.com/tapetree/tapetree/record"
	"github.com/tapetree/tapetree/runtime"
	"github.com/tapetree/tapetree/transcripts"
	"gotest.tools/v3/assert"
)

// replaying serves the transcript that a world has recorded, as it stands on the
// disk.
func replaying(t testing.TB, text string, o record.PlaybackOptions) *orchard {
	t.Helper()
	f, err := transcripts.Parse("session.jsonl", []byte(text))
	assert.NilError(t, err)
	o.Name = "session"
	replay, err := NewReplay(ReplayOptions{
		Tapes:    []Tape{{Name: "session", File: f}},
		Playback: func(string) record.PlaybackOptions { return o },
	})
	assert.NilError(t, err)
	server, err := Listen("127.0.0.1:0", replay, ServerOptions{})
	assert.NilError(t, err)
	t.Cleanup(func() { _ = server.Shutdown(context.Background()) })
	return &orchard{server, replay}
}

// post sends a body to the default session.
func (o *orchard) post(t testing.TB, body string, header ...string) (int, string) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, o.URL()+"/v1/chat/completions", strings.NewReader(body))
	assert.NilError(t, err)
	for _, line := range header {
		name, value, _ := strings.Cut(line, ": ")
		req.Header.Set(name, value)
	}
	resp, err := client.Do(req)
	assert.NilError(t, err)
	defer resp.Body.Close()
	return resp.StatusCode, read(t, resp)
}

// delta is a chunk with one choice, calls one with parts of calls.
func delta(fields string) string {
	return `data: {"choices":[{"index":0,"delta":{` + fields + "}}]}\n\n"
}

func calls(parts ...string) string { return delta(`"tool_calls":[` + strings.Join(parts, ",") + `]`) }

const finished = `data: {"choices":[{"index":0,"delta":{},"finish_reason":"tool_calls"}]}` + "\n\ndata: [DONE]\n\n"

// reading says what an exchange's answer is taken for.
func reading(e *transcripts.Exchange) string {
	answer, err := runtime.Decode(e.Reply(), runtime.Dialect{})
	if failed, ok := errors.AsType[*runtime.UpstreamError](err); ok {
		return strings.TrimSpace(failed.Kind + " " + failed.Text)
	}
	list := []string{}
	if answer.Message.Content != "" {
		list = append(list, answer.Message.Content)
	}
	for _, call := range answer.Message.Calls {
		list = append(list, fmt.Sprintf("%s %s(%s)", call.ID, call.Name, call.Arguments))
	}
	return strings.Join(list, ", ")
}

// shapes are streams as servers have sent them, and what they are taken for. The
// same bytes go to the client, to the transcript, and to the client of a replay.
var shapes = []struct{ name, stream, reads string }{
	{"case 1.01", calls(`{"id":"a","function":{"name":"r","arguments":"{}"}}`, `{"id":"b","function":{"name":"g","arguments":"{}"}}`) + finished, "a r({}), b g({})"},
	{"case 1.02", calls(`{"id":"a","function":{"name":"t1","arguments":"{}"}}`) + calls(`{"id":"b","function":{"name":"t2","arguments":"{}"}}`) + finished, "a t1({}), b t2({})"},
	{"case 1.04", calls(`{"index":0,"id":"c1","function":{"name":"t","arguments":"{\"a\""}}`) + calls(`{"index":0,"id":"c1","function":{"name":"t","arguments":":1}"}}`) + finished, `c1 t({"a":1})`},
	{"case 1.05", strings.Repeat(calls(`{"index":0,"id":"c1","function":{"name":"read_file","arguments":""}}`), 3) + finished, "c1 read_file({})"},
	{"case 1.06", calls(`{"index":0,"id":"x1","function":{"name":"t","arguments":""}}`) + calls(`{"index":0,"id":"y9","function":{"arguments":"{\"a\":1}"}}`) + finished, `y9 t({"a":1})`},
	{"case 1.07", calls(`{"index":0,"id":"a","function":{"name":"t1","arguments":"{}"}}`) + calls(`{"index":0,"id":"b","function":{"name":"t2","arguments":"{\"k\":2}"}}`) + finished, `a t1({}), b t2({"k":2})`},
	{"case 1.08", calls(`{"id":"a","function":{"name":"t","arguments":"{\"x\""}}`) + calls(`{"function":{"arguments":":1}"}}`) +
		calls(`{"id":"b","function":{"name":"t","arguments":"{\"y\""}}`) + calls(`{"function":{"arguments":":2}"}}`) + finished, `a t({"x":1}), b t({"y":2})`},
	{"case 1.10", calls(`{"id":"a","function":{"arguments":"{\"x\""}}`) + calls(`{"id":"a","function":{"arguments":":1}"}}`) + calls(`{"id":"a","function":{"name":"t"}}`) + finished, `a t({"x":1})`},
	{"case 1.11", `data:{"choices":[{"index":0,"delta":{"content":"x"},"finish_reason":"stop"}]}` + "\n\ndata:[DONE]\n\n", "x"},
	{"case 1.12", ": WAITING\n\n" + strings.Join(events("x"), ""), "x"},
	{"case 1.14", strings.Join(events(strings.Repeat("x", 65537)), ""), strings.Repeat("x", 65537)},
	{"case 1.15", strings.ReplaceAll(strings.Join(events("x"), ""), "\n", "\r\n"), "x"},
	{"case 1.17", strings.Join(events("日本語 🙂"), ""), "日本語 🙂"},
	{"case 1.18", delta(`"content":"half"`) + "data: {\"error\":{\"message\":\"quota\"}}\n\ndata: [DONE]\n\n", "stream quota"},
	{"case 1.19: finish, no [DONE]", strings.Join(events("x")[:2], ""), "x"},
	{"case 1.19: nothing at the end", events("x")[0], "cut the stream ended without finish_reason and [DONE]"},
	{"case 1.21", delta(`"role":"assistant","content":""`) + finished, ""},
	{"case 1.22", calls(`{"index":0,"id":"a","function":{"name":"t","arguments":""}}`) + finished, "a t({})"},
	{"case 1.23", calls(`{"index":0,"id":"a","function":{"name":"t","arguments":{"path":"a"}}}`) + finished, `a t({"path":"a"})`},
	{"case 1.24", "data: {\"choices\":[]}\n\n" + strings.Join(events("x"), ""), "x"},
	{"case 1.25", calls(`{"index":0,"id":"a","function":{"name":"t","arguments":"{\"path\":\"r.md\",\"content\":\"# Ti"}}`) + finished, `a t({"path":"r.md","content":"# Ti)`},
	{"case 2.08", `data: {"choices":[{"index":0,"delta":{"content":"","tool_calls":[{"index":0,"id":"a","function":{"name":"t","arguments":"{}"}}]},"logprobs":null}],"usage":null}` + "\n\n" + finished, "a t({})"},
}

func TestCasesOfStreams(t *testing.T) {
	for _, c := range shapes {
		v := newWorld(t, saying(strings.SplitAfter(c.stream, "\n\n")...))
		assert.Equal(t, v.post(t, "user hi"), c.stream, c.name)
		assert.Equal(t, len(v.asked), 1, c.name) // nobody asks twice
		f, text := v.finish(t)
		assert.Equal(t, reading(f.Exchanges[0]), c.reads, c.name)
		o := replaying(t, text, record.PlaybackOptions{})
		_, got := o.post(t, ask("user hi"))
		assert.Equal(t, got, c.stream, c.name)
		assert.DeepEqual(t, reportLines(o.replay.Close()), []string{`"" plays session run 1: exact, 1 of 1`})
	}
}

// What a client sends back to a provider reaches it, and the transcript, as it
// is; and a replay takes it for the same.
func TestCasesOfSecondRequests(t *testing.T) {
	for _, c := range []struct{ name, stream, echo, result string }{
		{"case 2.01", delta(`"reasoning_content":"r"`) + calls(`{"index":0,"id":"a","type":"function","function":{"name":"t","arguments":"{}"}}`) + finished,
			`{"role":"assistant","content":null,"reasoning_content":"r","tool_calls":[{"id":"a","type":"function","function":{"name":"t","arguments":"{}"}}]}`, "1"},
		{"case 2.02", calls(`{"index":0,"id":"a","type":"function","function":{"name":"t","arguments":"{}"}}`) + finished,
			`{"role":"assistant","tool_calls":[{"id":"a","type":"function","function":{"name":"t","arguments":"{}"}}]}`, "1"},
		{"case 2.03", calls(`{"index":0,"id":"a","type":"function","extra_content":{"google":{"thought_signature":"S"}},"function":{"name":"t","arguments":"{}"}}`) + finished,
			`{"role":"assistant","content":null,"tool_calls":[{"id":"a","type":"function","extra_content":{"google":{"thought_signature":"S"}},"function":{"name":"t","arguments":"{}"}}]}`, "1"},
		{"case 2.05", calls(`{"index":0,"id":"a","type":"function","function":{"name":"t","arguments":"{}"}}`) + finished,
			`{"role":"assistant","content":"","tool_calls":[{"id":"a","type":"function","function":{"name":"t","arguments":"{}"}}]}`, ""},
	} {
		heard := make(chan string, 2)
		v := newWorld(t, func(w http.ResponseWriter, _ *http.Request, body string) {
			heard <- body
			if strings.Contains(body, `"tool"`) {
				sse(w, events("done")...)
				return
			}
			sse(w, c.stream)
		})
		bodies := []string{ask("user hi"), ask("user hi", c.echo, fmt.Sprintf(`{"role":"tool","tool_call_id":"a","content":%q}`, c.result))}
		for _, body := range bodies {
			read(t, v.do(t, "POST", "/v1/chat/completions", body))
			assert.Equal(t, <-heard, body, c.name)
		}
		f, text := v.finish(t)
		assert.DeepEqual(t, places(f), []string{"root#1 chat 200 done", "root#2 chat 200 done"})
		o := replaying(t, text, record.PlaybackOptions{})
		for _, body := range bodies {
			o.post(t, body)
		}
		assert.DeepEqual(t, reportLines(o.replay.Close()), []string{`"" plays session run 1: exact, 2 of 2`})
	}
}

// Case 2.07: errors in odd shapes come back with their status and their text.
func TestCasesOfErrors(t *testing.T) {
	for _, body := range []string{`{"error":{"message":["a","b"]}}`, `[{"error":{"message":"m"}}]`, `{"error":"plain"}`, "<html>502</html>"} {
		v := newWorld(t, func(w http.ResponseWriter, _ *http.Request, _ string) {
			w.WriteHeader(502)
			_, _ = io.WriteString(w, body)
		})
		assert.Equal(t, v.post(t, "user hi"), body)
		assert.Equal(t, v.post(t, "user hi"), body) // the next try
		assert.NilError(t, v.Shutdown(context.Background()))
		assert.NilError(t, v.proxy.Close()[0].Err)
		text, err := os.ReadFile(v.dir + "/session.jsonl")
		assert.NilError(t, err)
		o := replaying(t, string(text), record.PlaybackOptions{})
		for range 2 {
			status, got := o.post(t, ask("user hi"))
			assert.Equal(t, status, 502)
			assert.Equal(t, got, body)
		}
	}
}

// Case 6.02: what was recorded with one token replays with another; the token of
// the client comes back where that of the recording was echoed.
func TestCaseOfAnotherKey(t *testing.T) {
	const one, other = "sk-not-a-real-key-0123456789abcdef", "sk-not-a-real-one-fedcba9876543210"
	v := newWorld(t, func(w http.ResponseWriter, r *http.Request, _ string) {
		sse(w, events("you are "+r.Header.Get("Api-Key"))...)
	})
	read(t, v.do(t, "POST", "/v1/chat/completions", ask("user my key is "+one), "Api-Key: "+one))
	_, text := v.finish(t)
	assert.Assert(t, !strings.Contains(text, one))
	o := replaying(t, text, record.PlaybackOptions{ReplayOptions: record.ReplayOptions{Redact: record.NewRedactor(nil)}})
	status, _ := o.post(t, ask("user my key is "+other), "Api-Key: "+other)
	assert.Equal(t, status, 200)
	assert.DeepEqual(t, reportLines(o.replay.Close()), []string{`"" plays session run 1: volatile, 1 of 1`})
}

// Case 6.04: the same request twice gets the first answer, then the second; a
// third one is a miss that says so.
func TestCaseOfTheSameRequestTwice(t *testing.T) {
	n := 0
	v := newWorld(t, func(w http.ResponseWriter, _ *http.Request, _ string) {
		n++
		sse(w, events(fmt.Sprint(n))...)
	})
	for range 2 {
		v.post(t, "user hi")
	}
	_, text := v.finish(t)
	f, err := transcripts.Parse("session.jsonl", []byte(text))
	assert.NilError(t, err)
	playback, err := record.NewPlayback(f, record.PlaybackOptions{ReplayOptions: record.ReplayOptions{Name: "twice"}})
	assert.NilError(t, err)
	server := httptest.NewServer(playback)
	defer server.Close()
	want := []string{strings.Join(events("1"), ""), strings.Join(events("2"), ""), `{"error":{"message":"tapetree replay: no exchange left for root3 turn 1: ` +
		`no exchange of this agent was recorded; the nearest is exchange root#1 (session.jsonl:2); to accept it: tapetree record twice",` +
		`"type":"tapetree_replay_miss","param":null,"code":"tapetree_replay_miss"}}` + "\n"}
	for _, body := range want {
		resp, err := client.Post(server.URL+"/v1/chat/completions", "application/json", strings.NewReader(ask("user hi")))
		assert.NilError(t, err)
		assert.Equal(t, read(t, resp), body)
		assert.NilError(t, resp.Body.Close())
	}
}

// Case 6.05: five children at once, recorded twice in opposite orders, give the
// same file, and a replay in the other order gives each child its own answer.
func TestCaseOfConcurrentChildren(t *testing.T) {
	const children = 5
	parent := make([]string, children)
	for i := range parent {
		parent[i] = fmt.Sprintf(`c%d task {"prompt":"count the apples in garden number %d"}`, i, i)
	}
	asks := make([]string, children)
	results := []string{}
	for i := range asks {
		asks[i] = ask("system you count", fmt.Sprintf("user count the apples in garden number %d", i))
		results = append(results, fmt.Sprintf(`{"role":"tool","tool_call_id":"c%d","content":"garden %d has some apples"}`, i, i))
	}
	echo := []string{}
	for i := range asks {
		echo = append(echo, fmt.Sprintf(`{"id":"c%d","type":"function","function":{"name":"task","arguments":"{\"prompt\":\"count the apples in garden number %d\"}"}}`, i, i))
	}
	begin := []string{"system you delegate", "user count all"}
	last := ask(append(append(begin, `{"role":"assistant","content":"","tool_calls":[`+strings.Join(echo, ",")+`]}`), results...)...)
	recorded := func(backwards bool) string {
		v := newWorld(t, func(w http.ResponseWriter, _ *http.Request, body string) {
			switch words := lastWords(body); {
			case strings.Contains(body, "tool_call_id"):
				sse(w, events("all counted")...)
			case strings.HasPrefix(words, "count the"):
				sse(w, events("garden "+words[len(words)-1:]+" has some apples")...)
			default:
				sse(w, events("", parent...)...)
			}
		})
		var group sync.WaitGroup
		v.post(t, begin...)
		for i := range asks {
			if backwards {
				i = children - 1 - i
			}
			group.Go(func() { read(t, v.do(t, "POST", "/v1/chat/completions", asks[i])) })
		}
		group.Wait()
		read(t, v.do(t, "POST", "/v1/chat/completions", last))
		_, text := v.finish(t)
		return text
	}
	first, second := recorded(false), recorded(true)
	assert.Equal(t, withoutClocks(first), withoutClocks(second))
	o := replaying(t, first, record.PlaybackOptions{})
	o.post(t, ask(begin...))
	for i := children - 1; i >= 0; i-- {
		_, got := o.post(t, asks[i])
		assert.Equal(t, got, strings.Join(events(fmt.Sprintf("garden %d has some apples", i)), ""))
	}
	o.post(t, last)
	assert.DeepEqual(t, reportLines(o.replay.Close()), []string{`"" plays session run 1: exact, 7 of 7`})
}

// withoutClocks is a transcript without its timing line and its upstream's port.
func withoutClocks(text string) string {
	var kept []string
	for line := range strings.Lines(text) {
		switch {
		case strings.HasPrefix(line, `{"kind":"timing"`):
		case strings.HasPrefix(line, `{"kind":"header"`):
			before, rest, _ := strings.Cut(line, `"upstream":"`)
			_, after, _ := strings.Cut(rest, `"`)
			kept = append(kept, before+after)
		default:
			kept = append(kept, line)
		}
	}
	return strings.Join(kept, "")
}

// Case 6.07: dates and random ids hit under the rules, another prompt does not
// pass for the same.
func TestCaseOfVolatileRequests(t *testing.T) {
	v := newWorld(t, saying(events("", `c1 t {"a":1,"b":2}`)...))
	v.post(t, "system today is 2026-01-02, session 0a1b2c3d-0000-4000-8000-000000000001", "user hi")
	_, text := v.finish(t)
	rules, err := record.ParseVolatile([]string{"dates", "uuids"})
	assert.NilError(t, err)
	for prompt, want := range map[string]string{
		"today is 2027-03-04, session ffffffff-0000-4000-8000-000000000002":  "volatile, 1 of 1",
		"another day is 2027-03-04, session ffffffff-0000-4000-8000-0000002": "prompt, 1 of 1; ",
	} {
		o := replaying(t, text, record.PlaybackOptions{ReplayOptions: record.ReplayOptions{Volatile: rules}})
		status, _ := o.post(t, ask("system "+prompt, "user hi"))
		assert.Equal(t, status, 200)
		line := reportLines(o.replay.Close())[0]
		assert.Assert(t, strings.HasPrefix(line, `"" plays session run 1: `+want), line)
	}
}

// Case 6.08: a miss makes no connection to anybody; case 6.10: what was not
// asked is named.
func TestCaseOfAMiss(t *testing.T) {
	v := newWorld(t, saying(events("x")...))
	for _, words := range []string{"one", "two", "three"} {
		v.post(t, "user "+words)
	}
	_, text := v.finish(t)
	heard := 0
	listener := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { heard++ }))
	defer listener.Close()
	text = strings.Replace(text, v.upstream.URL, listener.URL, 1)
	o := replaying(t, text, record.PlaybackOptions{})
	for _, words := range []string{"one", "two"} {
		status, _ := o.post(t, ask("user "+words))
		assert.Equal(t, status, 200)
	}
	resp, err := client.Get(o.URL() + "/v1/models")
	assert.NilError(t, err)
	assert.Equal(t, resp.StatusCode, 404)
	assert.NilError(t, resp.Body.Close())
	status, _ := o.post(t, ask("user one", "assistant x", "user and then?"))
	assert.Equal(t, status, 400)
	assert.Equal(t, heard, 0)
	assert.DeepEqual(t, reportLines(o.replay.Close()), []string{
		`"" plays session run 1: exact, 2 of 3; replay/missing no exchange left: the agent asks once more than was recorded; ` +
			`replay/extra exchange root3#1 was never asked for`,
	})
}
