package record

import (
	"bytes"
	"compress/gzip"
	"context"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/tapetree/tapetree/record/attribution"
	"github.com/tapetree/tapetree/runtime"
	"github.com/tapetree/tapetree/transcripts"
	"gotest.tools/v3/assert"
)

// tapping is a recording of a client that says nothing of agents.
type tapping struct {
	*recording
	client *http.Client
	base   string
}

func newTapping(t *testing.T, answer script) *tapping {
	u := newUpstream(t, answer)
	path := filepath.Join(t.TempDir(), "session.jsonl")
	w, err := transcripts.Create(path, transcripts.Header{Name: "session", Recorded: "2026-01-02T03:04:05Z", By: "tapetree test"})
	assert.NilError(t, err)
	clock := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	rec := NewRecorder(w, RecorderOptions{Attribute: &attribution.Options{}, Now: func() time.Time { return clock }})
	transport := &http.Transport{DisableCompression: true}
	t.Cleanup(transport.CloseIdleConnections)
	return &tapping{&recording{rec, path}, &http.Client{Transport: rec.Transport(transport)}, u.URL}
}

// open sends a request and returns the response before its end.
func (c *tapping) open(t *testing.T, path, body string, header ...string) *http.Response {
	t.Helper()
	return c.openIn(t, t.Context(), path, body, header...)
}

func (c *tapping) openIn(t *testing.T, ctx context.Context, path, body string, header ...string) *http.Response {
	t.Helper()
	req, err := http.NewRequestWithContext(ctx, "POST", c.base+path, strings.NewReader(body))
	assert.NilError(t, err)
	for _, line := range header {
		name, value, _ := strings.Cut(line, ": ")
		req.Header.Set(name, value)
	}
	resp, err := c.client.Do(req)
	assert.NilError(t, err)
	t.Cleanup(func() { _ = resp.Body.Close() })
	return resp
}

func (c *tapping) post(t *testing.T, path, body string, header ...string) string {
	t.Helper()
	got, err := io.ReadAll(c.open(t, path, body, header...).Body)
	assert.NilError(t, err)
	return string(got)
}

// chat is a body of chat completions; messages are JSON.
func chat(messages ...string) string {
	return `{"model":"m","messages":[` + strings.Join(messages, ",") + `]}`
}

const chatPath = "/v1/chat/completions"

func at(f *transcripts.File) []string {
	var list []string
	for _, e := range f.Exchanges {
		list = append(list, strings.TrimSpace(fmt.Sprintf("%s %s %d %s", exchangeName(e), e.Wire, e.Status, e.Err)))
	}
	return list
}

const (
	allApples = "count all the apples in the garden"
	allPears  = "count all the pears in the cellar"
	hello     = `{"role":"user","content":"hello"}`
)

// A client that has a whole JSON answer goes on before its connection says that
// the answer has ended.
func TestNextRequestBeforeTheEndOfTheAnswer(t *testing.T) {
	c := newTapping(t, func(w http.ResponseWriter, body string) {
		switch {
		case strings.Contains(body, `"tool_call_id"`):
			saying(w, "done")
		case strings.Contains(body, allApples):
			saying(w, "there are seven of them")
		default:
			saying(w, "", `c1 task {"prompt":"`+allApples+`"}`)
		}
	})
	resp := c.open(t, chatPath, chat(hello))
	first := make([]byte, resp.ContentLength)
	_, err := io.ReadFull(resp.Body, first) // and no further
	assert.NilError(t, err)
	child := c.post(t, chatPath, chat(`{"role":"user","content":"`+allApples+`"}`))
	assert.Equal(t, child, completion("there are seven of them"))
	c.post(t, chatPath, chat(hello,
		`{"role":"assistant","content":"","tool_calls":[{"id":"c1","type":"function","function":{"name":"task","arguments":"{\"prompt\":\"`+allApples+`\"}"}}]}`,
		`{"role":"tool","tool_call_id":"c1","content":"there are seven of them"}`))
	assert.NilError(t, resp.Body.Close())
	f, _ := c.finish(t)
	assert.DeepEqual(t, at(f), []string{"root#1 chat 200", "root/1.1#1 chat 200", "root#2 chat 200"})
	assert.DeepEqual(t, c.EchoNotes(), []string{`the client sends answers back changed: content null → "" (root, 1 time)`})
}

// A child appears while its parent's zipped stream is under way, and another
// one.
func TestChildOfAStreamUnderWay(t *testing.T) {
	for _, zipped := range []bool{false, true} {
		more := make(chan bool)
		c := newTapping(t, func(w http.ResponseWriter, body string) {
			if strings.Contains(body, "count all") {
				saying(w, "several")
				return
			}
			w.Header().Set("Content-Type", "text/event-stream")
			var out io.Writer = w
			flush := func() { w.(http.Flusher).Flush() }
			if zipped {
				w.Header().Set("Content-Encoding", "gzip")
				zip := gzip.NewWriter(w)
				defer zip.Close()
				out, flush = zip, func() { _ = zip.Flush(); w.(http.Flusher).Flush() }
			}
			for i, what := range []string{allApples, allPears} {
				fmt.Fprintf(out, "data: {\"choices\":[{\"index\":0,\"delta\":{\"tool_calls\":[{\"index\":%d,\"id\":\"c%d\",\"type\":\"function\",\"function\":{\"name\":\"task\",\"arguments\":%s}}]}}]}\n\n",
					i, i, quoted(`{"prompt":"`+what+`"}`))
				flush()
				<-more
			}
			fmt.Fprint(out, "data: {\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"tool_calls\"}]}\n\ndata: [DONE]\n\n")
		})
		resp := c.open(t, chatPath, chat(hello))
		for _, what := range []string{allApples, allPears} {
			_, err := resp.Body.Read(make([]byte, 1<<10))
			assert.NilError(t, err)
			c.post(t, chatPath, chat(`{"role":"user","content":"`+what+`"}`))
			more <- true
		}
		_, err := io.ReadAll(resp.Body)
		assert.NilError(t, err)
		f, _ := c.finish(t)
		assert.DeepEqual(t, at(f), []string{"root#1 chat 200", "root/1.1#1 chat 200", "root/1.2#1 chat 200"})
	}
}

// The other wires: system texts, items and blocks are kept in their own form.
func TestOtherWires(t *testing.T) {
	c := newTapping(t, func(w http.ResponseWriter, body string) {
		w.Header().Set("Content-Type", "application/json")
		switch {
		case strings.Contains(body, "max_tokens") && strings.Contains(body, "tool_result"):
			fmt.Fprint(w, `{"id":"m2","type":"message","role":"assistant","model":"c","content":[{"type":"text","text":"well"}],"stop_reason":"end_turn","usage":{"input_tokens":1,"output_tokens":1}}`)
		case strings.Contains(body, "max_tokens"):
			fmt.Fprint(w, `{"id":"m1","type":"message","role":"assistant","model":"c","content":[{"type":"tool_use","id":"tu1","name":"look","input":{"at":"it"}}],"stop_reason":"tool_use","usage":{"input_tokens":1,"output_tokens":1}}`)
		case strings.Contains(body, "previous_response_id"):
			fmt.Fprint(w, `{"id":"resp_2","object":"response","status":"completed","model":"o","output":[{"type":"message","role":"assistant","content":[{"type":"output_text","text":"fine"}]}]}`)
		default:
			fmt.Fprint(w, `{"id":"resp_1","object":"response","status":"completed","model":"o","output":[{"type":"function_call","call_id":"f1","name":"look","arguments":"{}"}]}`)
		}
	})
	const user = `{"role":"user","content":"look at it, please"}`
	messages := []string{
		`{"model":"c","max_tokens":9,"system":"be brief","messages":[` + user + `]}`,
		`{"model":"c","max_tokens":9,"system":"be brief","messages":[` + user + `,{"role":"assistant","content":[{"type":"tool_use","id":"tu1","name":"look","input":{"at":"it"}}]},{"role":"user","content":[{"type":"tool_result","tool_use_id":"tu1","content":"seen"}]}]}`,
	}
	for _, body := range messages {
		c.post(t, "/v1/messages", body, "User-Agent: client/1")
	}
	responses := []string{
		`{"model":"o","instructions":"be quick","input":"look at another thing"}`,
		`{"model":"o","instructions":"be quick","input":[{"type":"function_call_output","call_id":"f1","output":"seen"}],"previous_response_id":"resp_1"}`,
	}
	for _, body := range responses {
		c.post(t, "/v1/responses", body, "User-Agent: other/2")
	}
	f, _ := c.finish(t)
	assert.DeepEqual(t, at(f), []string{"root#1 messages 200", "root#2 messages 200", "root2#1 responses 200", "root2#2 responses 200"})
	assert.DeepEqual(t, f.Header.Models, []string{"c", "o"})
	assert.Equal(t, f.Header.Client, "client/1")
	assert.Equal(t, f.Header.Upstream, c.base+"/v1")
	for i, body := range append(messages, responses...) {
		equalJSON(t, string(f.Exchanges[i].Body()), body)
	}
	assert.Equal(t, len(c.EchoNotes()), 0)
}

// equalJSON compares two bodies whatever the order of their members.
func equalJSON(t *testing.T, got, want string) {
	t.Helper()
	a, err := parseNode([]byte(got))
	assert.NilError(t, err)
	b, err := parseNode([]byte(want))
	assert.NilError(t, err)
	assert.Assert(t, sameValue(a, b), "%s\n%s", got, want)
}

// The partial file has every finished exchange under the place that it was given
// first; the transcript has what came out in the end, clocks included.
func TestPartialHasFirstPlaces(t *testing.T) {
	c := newTapping(t, func(w http.ResponseWriter, _ string) { saying(w, "well, that is an answer") })
	c.post(t, chatPath, chat(hello), AgentHeader+": root/2.1")
	partial, err := os.ReadFile(c.path + ".partial")
	assert.NilError(t, err)
	p, err := transcripts.Parse("p", partial)
	assert.NilError(t, err)
	assert.DeepEqual(t, at(p), []string{"root/2.1#1 chat 200"})
	assert.Equal(t, p.Header.Client, "")
	c.post(t, chatPath, chat(hello), AgentHeader+": root/2.1")
	c.Exited(3)
	f, _ := c.finish(t)
	assert.Equal(t, *f.End.Code, 3)
	var clocks []string
	for _, x := range f.Timing.Exchanges {
		clocks = append(clocks, fmt.Sprintf("%s#%d", x.Agent, x.Turn))
	}
	assert.DeepEqual(t, clocks, []string{"root/2.1#1", "root/2.1#2"})
}

// Requests that came before an answer ended are told apart from tries after it:
// twins of which one fails are no retries.
func TestFailedTwinIsNoRetry(t *testing.T) {
	both, fail := make(chan bool), make(chan bool)
	c := newTapping(t, func(w http.ResponseWriter, body string) {
		both <- true
		<-fail
		if strings.Contains(body, "temperature") {
			w.WriteHeader(500)
			return
		}
		saying(w, "fine")
	})
	ended := make(chan error, 2)
	for _, body := range []string{`{"temperature":1,` + chat(hello)[1:], chat(hello)} {
		go func() {
			resp, err := c.client.Post(c.base+chatPath, "application/json", strings.NewReader(body))
			if err == nil {
				_, err = io.Copy(io.Discard, resp.Body)
			}
			ended <- err
		}()
		<-both
	}
	fail <- true
	fail <- true
	for range 2 {
		assert.NilError(t, <-ended)
	}
	f, _ := c.finish(t)
	assert.Equal(t, len(f.Exchanges), 2)
	assert.Equal(t, f.Exchanges[0].Turn+f.Exchanges[1].Turn, 2)
	assert.Assert(t, f.Exchanges[0].Agent != f.Exchanges[1].Agent)
}

// An upstream that hangs up before it answers, and a client that gives up, both
// leave the turn open.
// A client that gives an answer up asks again before its connection says so: that
// is the next try, and no twin.
func TestRetryBeforeTheClientIsSeenToGo(t *testing.T) {
	for _, how := range []string{"cancel", "close"} {
		t.Run(how, func(t *testing.T) {
			var asked atomic.Int32
			second, release := make(chan bool), make(chan bool)
			c := newTapping(t, func(w http.ResponseWriter, body string) {
				switch asked.Add(1) {
				case 1:
					_, _ = io.WriteString(w, "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"a\"}}]}\n\n")
					w.(http.Flusher).Flush()
					<-release
				case 2:
					close(second)
					<-release
					saying(w, "done")
				}
			})
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			first := c.openIn(t, ctx, chatPath, chat(hello))
			_, err := first.Body.Read(make([]byte, 9))
			assert.NilError(t, err)
			answer := make(chan string)
			go func() { answer <- c.post(t, chatPath, chat(hello)) }()
			<-second
			if how == "cancel" {
				cancel()
			}
			assert.NilError(t, first.Body.Close())
			close(release)
			assert.Equal(t, <-answer, completion("done"))
			f, _ := c.finish(t)
			assert.DeepEqual(t, at(f), []string{"root#1 chat 200", "root#1 try 2 chat 200"})
			assert.Equal(t, f.Exchanges[0].StreamEnd, runtime.EndClientClosed)
		})
	}
}

func TestTriesWithoutAnAnswer(t *testing.T) {
	var up atomic.Bool
	c := newTapping(t, func(w http.ResponseWriter, _ string) {
		if !up.Load() {
			abort(w)
			return
		}
		saying(w, "fine")
	})
	c.client.Transport = c.Transport(once{})
	_, err := c.client.Post(c.base+chatPath, "application/json", strings.NewReader(chat(hello)))
	assert.Assert(t, err != nil)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	req, err := http.NewRequestWithContext(ctx, "POST", c.base+chatPath, strings.NewReader(chat(hello)))
	assert.NilError(t, err)
	_, err = c.client.Transport.RoundTrip(req)
	assert.ErrorIs(t, err, context.Canceled)
	up.Store(true)
	c.post(t, chatPath, chat(hello))
	f, _ := c.finish(t)
	assert.DeepEqual(t, at(f), []string{"root#1 chat 0 dial", "root#1 try 2 chat 200"})
}

// once sends a request over a connection of its own.
type once struct{}

func (once) RoundTrip(req *http.Request) (*http.Response, error) {
	t := &http.Transport{DisableKeepAlives: true}
	return t.RoundTrip(req)
}

func TestAgentHeaderIsChecked(t *testing.T) {
	c := newTapping(t, func(w http.ResponseWriter, _ string) { saying(w, "x") })
	req, err := http.NewRequestWithContext(t.Context(), "POST", c.base+chatPath, strings.NewReader(chat(hello)))
	assert.NilError(t, err)
	req.Header.Set(AgentHeader, "root/1")
	_, err = c.client.Transport.RoundTrip(req)
	assert.Error(t, err, `header X-Tapetree-Agent: "root/1" is no agent path, as in root/2.1`)
	req.Header[AgentHeader] = []string{"root", "root/1.1"}
	_, err = c.client.Transport.RoundTrip(req)
	assert.Error(t, err, `header X-Tapetree-Agent: says "root" and "root/1.1"; a request is of one agent`)
	_, err = c.Close()
	assert.ErrorIs(t, err, transcripts.ErrEmpty)
}

// Two upstreams: the first agent's, and where others asked.
func TestUpstreamsOfTheHeader(t *testing.T) {
	c := newTapping(t, func(w http.ResponseWriter, body string) { saying(w, "x") })
	other := newUpstream(t, func(w http.ResponseWriter, body string) { saying(w, "y") })
	c.post(t, chatPath, chat(hello), AgentHeader+": root")
	base := c.base
	c.base = strings.Replace(other.URL, "http://", "http://me:pass-word-123456@", 1)
	c.post(t, "/api"+chatPath, chat(`{"role":"user","content":"another"}`), AgentHeader+": root/1.1")
	f, text := c.finish(t)
	assert.Equal(t, f.Header.Upstream, base+"/v1")
	assert.Equal(t, f.Header.SubUpstream, other.URL+"/api/v1")
	assert.Assert(t, !strings.Contains(text, "pass-word"))
}

func TestListText(t *testing.T) {
	for _, c := range []struct {
		wire       runtime.Wire
		body, want string
	}{
		{runtime.WireChat, `{"model":"m","messages": [1,2] ,"n":1}`, `1,2] ,"n":1}`},
		{runtime.WireResponses, `{"input":["a"]}`, `"a"]}`},
		{runtime.WireResponses, `{"input":"a"}`, ""},
		{runtime.WireChat, `{"input":[]}`, ""},
		{runtime.WireChat, `[]`, ""},
		{runtime.WireChat, `{"a":`, ""},
		{runtime.WireChat, `{"a`, ""},
	} {
		assert.Equal(t, string(listText(c.wire, []byte(c.body))), c.want, c.body)
	}
}

func TestSameBytes(t *testing.T) {
	long := bytes.Repeat([]byte("0123456789"), 1000)
	for n := range len(long) + 1 {
		if n%97 != 0 && n != len(long) {
			continue
		}
		other := bytes.Clone(long)
		if n < len(long) {
			other[n] = 'x'
		}
		assert.Equal(t, sameBytes(long, other), n)
		assert.Equal(t, sameBytes(long[:n], other), n)
	}
}

// FuzzTap sends any two bodies over any wire: what comes is recorded and read
// again, or a line of its own.
func FuzzTap(f *testing.F) {
	f.Add("/v1/chat/completions", chat(hello), chat(hello, hello))
	f.Add("/v1/messages", `{"model":"c","system":[{"type":"text","text":"s"}],"messages":[]}`, `{"model":"c","messages":[{"role":"user","content":"x"}]}`)
	f.Add("/v1/responses", `{"model":"o","input":"x"}`, `{"model":"o","input":[{"type":"item_reference","id":"x"}],"previous_response_id":3}`)
	f.Add("/v1/responses", `{"model":"o","tools":[],"input":[]}`, "\xff")
	f.Fuzz(func(t *testing.T, path, first, second string) {
		if _, known := runtime.WireOf(path); !known || strings.ContainsAny(path, "?#%") || !strings.HasPrefix(path, "/") {
			return
		}
		file := filepath.Join(t.TempDir(), "s.jsonl")
		w, err := transcripts.Create(file, transcripts.Header{Name: "s", By: "tapetree test"})
		assert.NilError(t, err)
		rec := NewRecorder(w, RecorderOptions{Attribute: &attribution.Options{}})
		transport := rec.Transport(fixed(completion("x", "c1 note {}")))
		sent := 0
		for _, body := range []string{first, second} {
			req, err := http.NewRequest("POST", "http://h.example", strings.NewReader(body))
			assert.NilError(t, err)
			req.URL.Path = path
			resp, err := transport.RoundTrip(req)
			assert.NilError(t, err)
			_, err = io.ReadAll(resp.Body)
			assert.NilError(t, err)
			sent++
		}
		got, err := rec.Close()
		if err != nil {
			assert.ErrorIs(t, err, transcripts.ErrEmpty)
			return
		}
		assert.Equal(t, len(got.Exchanges)+len(got.HTTP), sent)
	})
}

// fixed answers every request with one body.
type fixed string

func (f fixed) RoundTrip(*http.Request) (*http.Response, error) {
	return &http.Response{StatusCode: 200, Header: http.Header{}, ContentLength: -1, Body: io.NopCloser(strings.NewReader(string(f)))}, nil
}
