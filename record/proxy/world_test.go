package proxy

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/tapetree/tapetree/record"
	"github.com/tapetree/tapetree/record/attribution"

	"github.com/tapetree/tapetree/runtime"
	"github.com/tapetree/tapetree/transcripts"
	"gotest.tools/v3/assert"
)

// world is an upstream on the loopback interface and a proxy before it.
type world struct {
	*Server
	proxy    *Proxy
	upstream *httptest.Server
	dir      string

	mu     sync.Mutex
	asked  []*http.Request // what the upstream heard, bodies read
	forget bool            // keep none of it
}

// newWorld starts both; answer gets each request with its body.
func newWorld(t testing.TB, answer func(w http.ResponseWriter, r *http.Request, body string), change ...func(*Options)) *world {
	t.Helper()
	v := &world{dir: t.TempDir()}
	v.upstream = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			return
		}
		v.mu.Lock()
		if !v.forget {
			v.asked = append(v.asked, r)
		}
		v.mu.Unlock()
		answer(w, r, string(body))
	}))
	t.Cleanup(v.upstream.Close)
	base, err := url.Parse(v.upstream.URL + "/api/v1")
	assert.NilError(t, err)
	anthropic, err := url.Parse(v.upstream.URL)
	assert.NilError(t, err)
	o := Options{Upstream: base, AnthropicUpstream: anthropic, Open: v.open}
	for _, c := range change {
		c(&o)
	}
	v.proxy, err = New(o)
	assert.NilError(t, err)
	v.Server, err = Listen("127.0.0.1:0", v.proxy, ServerOptions{})
	assert.NilError(t, err)
	t.Cleanup(func() { _ = v.Shutdown(context.Background()) })
	return v
}

// open records a session into a file of its name.
func (v *world) open(name string) (*record.Recorder, error) {
	if name == "" {
		name = "session"
	}
	w, err := transcripts.Create(filepath.Join(v.dir, name+".jsonl"), transcripts.Header{
		Name: name, Recorded: "2026-01-02T03:04:05Z", By: "tapetree test",
	})
	if err != nil {
		return nil, err
	}
	return record.NewRecorder(w, record.RecorderOptions{
		Redact:    record.NewRedactor([]string{"THEIR_API_KEY=" + envKey}),
		Attribute: &attribution.Options{},
	}), nil
}

// finish shuts the server down and returns the default session's transcript and
// its text.
func (v *world) finish(t testing.TB) (*transcripts.File, string) {
	t.Helper()
	assert.NilError(t, v.Shutdown(context.Background()))
	results := v.proxy.Close()
	assert.Equal(t, len(results), 1)
	assert.NilError(t, results[0].Err)
	text, err := os.ReadFile(results[0].File.Path)
	assert.NilError(t, err)
	return results[0].File, string(text)
}

// do sends a request; header holds "Name: value" lines.
func (v *world) do(t testing.TB, method, path, body string, header ...string) *http.Response {
	t.Helper()
	req, err := http.NewRequestWithContext(context.Background(), method, v.URL()+path, strings.NewReader(body))
	assert.NilError(t, err)
	for _, line := range header {
		name, value, _ := strings.Cut(line, ": ")
		req.Header.Add(name, value)
	}
	resp, err := client.Do(req)
	assert.NilError(t, err)
	t.Cleanup(func() { _ = resp.Body.Close() })
	return resp
}

// client asks for no coding of its own.
var client = &http.Client{Transport: &http.Transport{DisableCompression: true, MaxIdleConnsPerHost: 256}}

// read is a response's whole body.
func read(t testing.TB, resp *http.Response) string {
	t.Helper()
	body, err := io.ReadAll(resp.Body)
	assert.NilError(t, err)
	return string(body)
}

// post sends a request for a model answer and returns its body.
func (v *world) post(t testing.TB, messages ...string) string {
	t.Helper()
	return read(t, v.do(t, "POST", "/v1/chat/completions", ask(messages...), "Content-Type: application/json"))
}

// ask is a chat completion request. A message is "role text" or JSON.
func ask(messages ...string) string {
	list := make([]string, len(messages))
	for i, m := range messages {
		list[i] = m
		if !strings.HasPrefix(m, "{") {
			role, text, _ := strings.Cut(m, " ")
			list[i] = fmt.Sprintf(`{"role":%q,"content":%q}`, role, text)
		}
	}
	return `{"model":"m","messages":[` + strings.Join(list, ",") + `],"stream":true}`
}

// events is a stream that says text; calls are "id name arguments", arguments as
// JSON text.
func events(text string, calls ...string) []string {
	list := []string{fmt.Sprintf("data: {\"choices\":[{\"index\":0,\"delta\":{\"role\":\"assistant\",\"content\":%q}}]}\n\n", text)}
	finish := "stop"
	for i, call := range calls {
		finish = "tool_calls"
		parts := strings.SplitN(call, " ", 3)
		list = append(list, fmt.Sprintf("data: {\"choices\":[{\"index\":0,\"delta\":{\"tool_calls\":[{\"index\":%d,\"id\":%q,\"type\":\"function\",\"function\":{\"name\":%q,\"arguments\":%q}}]}}]}\n\n",
			i, parts[0], parts[1], parts[2]))
	}
	return append(list,
		fmt.Sprintf("data: {\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":%q}]}\n\n", finish), "data: [DONE]\n\n")
}

// sse writes blocks one by one.
func sse(w http.ResponseWriter, blocks ...string) {
	w.Header().Set("Content-Type", "text/event-stream")
	for _, block := range blocks {
		_, _ = io.WriteString(w, block)
		w.(http.Flusher).Flush()
	}
}

// saying answers every request with a stream.
func saying(blocks ...string) func(http.ResponseWriter, *http.Request, string) {
	return func(w http.ResponseWriter, _ *http.Request, _ string) { sse(w, blocks...) }
}

// places are where the exchanges of a transcript stand, and how they ended.
func places(f *transcripts.File) []string {
	var list []string
	for _, e := range f.Exchanges {
		line := fmt.Sprintf("%s#%d", e.Agent, e.Turn)
		if e.Try > 1 {
			line += fmt.Sprintf(" try %d", e.Try)
		}
		line += fmt.Sprintf(" %s %d %s", e.Wire, e.Status, e.StreamEnd)
		if e.Flag != "" {
			line += " " + e.Flag
		}
		list = append(list, strings.TrimSpace(line+" "+e.Err))
	}
	return list
}

// others are the lines of what is no model exchange.
func others(f *transcripts.File) []string {
	var list []string
	for _, h := range f.HTTP {
		list = append(list, string(h.Raw))
	}
	return list
}

// cut reports an error that a client sees when its connection breaks.
func cut(err error) bool {
	return err != nil && (errors.Is(err, io.ErrUnexpectedEOF) || strings.Contains(err.Error(), "reset") || strings.Contains(err.Error(), "EOF"))
}

var _ Sessions = (*Proxy)(nil)

// answerOf is the text of an exchange's answer.
func answerOf(e *transcripts.Exchange) string {
	answer, err := runtime.Decode(e.Reply(), runtime.Dialect{})
	if err != nil {
		return err.Error()
	}
	return answer.Message.Content
}

const envKey = "not-a-real-key-of-the-environment-77"

// quoted is text as JSON.
func quoted(text string) string {
	out, err := jsontext.AppendQuote(nil, text)
	if err != nil {
		return err.Error()
	}
	return string(out)
}
