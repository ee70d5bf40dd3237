package record

import (
	"bufio"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/tapetree/tapetree/runtime"
	"github.com/tapetree/tapetree/transcripts"
	"gotest.tools/v3/assert"
)

// ask is one request of an agent, to the point.
func ask(agent runtime.Path, turn, try int, stream bool, words ...string) *runtime.Request {
	var h runtime.History
	h.Append(runtime.SystemMessage("s"))
	for _, w := range words {
		h.Append(runtime.UserMessage(w))
	}
	return &runtime.Request{
		Place: runtime.Place{Agent: agent, Turn: turn, Try: try}, Model: "m", Messages: h.View(), Stream: stream,
	}
}

// kept is what a transcript holds of a response.
type kept struct {
	Status    int
	Response  string
	SSE       []string
	End       runtime.End
	Text, Err string
	Base64    string
	Headers   []string
}

func keptOf(e *transcripts.Exchange) kept {
	k := kept{Status: e.Status, Response: string(e.Response), SSE: e.SSE, End: e.StreamEnd, Err: e.Err, Base64: string(e.Base64)}
	if e.Text != nil {
		k.Text = *e.Text
	}
	for _, h := range e.Headers {
		k.Headers = append(k.Headers, h.Name+"="+string(h.Value))
	}
	return k
}

func chunk(delta, finish string) string {
	return fmt.Sprintf("data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":%q},\"finish_reason\":%s}]}\n\n", delta, finish)
}

var stream = []string{": hello\r\n\r\n", chunk("né", "null"), chunk(" two", `"stop"`), "data: [DONE]\n\n"}

func sse(w http.ResponseWriter, pieces ...string) {
	w.Header().Set("Content-Type", "text/event-stream")
	for _, p := range pieces {
		_, _ = io.WriteString(w, p)
		w.(http.Flusher).Flush()
	}
}

// abort breaks the connection off.
func abort(w http.ResponseWriter) {
	conn, _, err := w.(http.Hijacker).Hijack()
	if err == nil {
		_ = conn.(*net.TCPConn).SetLinger(0)
		_ = conn.Close()
	}
}

// What the upstream sends is kept as it came, however it ended, and replays to
// the same answer or the same error.
func TestResponsesAreKept(t *testing.T) {
	events := []string{"content-type=\"text/event-stream\""}
	whole := completion("hi")
	for _, c := range []struct {
		name   string
		answer script
		stream bool
		want   kept
	}{
		{"json", func(w http.ResponseWriter, _ string) { saying(w, "hi") }, false,
			kept{Status: 200, Response: whole, Headers: []string{`content-type="application/json"`}}},
		{"json with a line end", func(w http.ResponseWriter, _ string) {
			w.Header().Set("Content-Type", "application/json")
			fmt.Fprintln(w, whole)
		}, false, kept{Status: 200, Text: whole + "\n", Headers: []string{`content-type="application/json"`}}},
		{"events", func(w http.ResponseWriter, _ string) { sse(w, stream...) }, true,
			kept{Status: 200, SSE: stream, End: runtime.EndDone, Headers: events}},
		{"case 1.17: events byte by byte", func(w http.ResponseWriter, _ string) { sse(w, strings.Split(strings.Join(stream, ""), "")...) }, true,
			kept{Status: 200, SSE: stream, End: runtime.EndDone, Headers: events}},
		{"case 1.19: events without an end mark", func(w http.ResponseWriter, _ string) { sse(w, stream[:3]...) }, true,
			kept{Status: 200, SSE: stream[:3], End: runtime.EndEOF, Headers: events}},
		{"case 1.18: an error inside a stream", func(w http.ResponseWriter, _ string) {
			sse(w, "data: {\"error\":{\"message\":\"quota\"}}\n\n", stream[3])
		}, true, kept{Status: 200, SSE: []string{"data: {\"error\":{\"message\":\"quota\"}}\n\n", stream[3]}, End: runtime.EndDone, Headers: events}},
		{"case 2.08: events with index 0, empty texts, null and 0.0", func(w http.ResponseWriter, _ string) { sse(w, zeros+"\n\n", stream[3]) }, true,
			kept{Status: 200, SSE: []string{zeros + "\n\n", stream[3]}, End: runtime.EndDone, Headers: events}},
		{"case 2.08: JSON with index 0, empty texts, null and 0.0", func(w http.ResponseWriter, _ string) { fmt.Fprint(w, zeros[6:]) }, false,
			kept{Status: 200, Response: zeros[6:], Headers: []string{`content-type="text/plain; charset=utf-8"`}}},
		{"case 2.08: JSON that someone laid out", func(w http.ResponseWriter, _ string) { fmt.Fprint(w, "{ \"usage\":null,\n\t\"choices\": []}") }, false,
			kept{Status: 200, Text: "{ \"usage\":null,\n\t\"choices\": []}", Headers: []string{`content-type="text/plain; charset=utf-8"`}}},
		{"a torn tail", func(w http.ResponseWriter, _ string) { sse(w, stream[1], `data: {"cho`) }, true,
			kept{Status: 200, SSE: []string{stream[1], `data: {"cho`}, End: runtime.EndEOF, Headers: events}},
		{"a reset in mid-stream", func(w http.ResponseWriter, _ string) { sse(w, stream[1]); abort(w) }, true,
			kept{Status: 200, SSE: stream[1:2], End: runtime.EndReset, Headers: events}},
		{"a reset in mid-JSON", func(w http.ResponseWriter, _ string) {
			w.Header().Set("Content-Length", "500")
			_, _ = io.WriteString(w, whole[:40])
			w.(http.Flusher).Flush()
			abort(w)
		}, false, kept{Status: 200, Text: whole[:40], End: runtime.EndReset, Headers: []string{`content-type="text/plain; charset=utf-8"`}}},
		{"case 2.07: an HTML error", func(w http.ResponseWriter, _ string) {
			w.Header().Set("Content-Type", "text/html")
			w.WriteHeader(502)
			_, _ = io.WriteString(w, "<html>\nBad gateway</html>")
		}, true, kept{Status: 502, Text: "<html>\nBad gateway</html>", Headers: []string{`content-type="text/html"`}}},
		{"an empty error", func(w http.ResponseWriter, _ string) { w.WriteHeader(500) }, false, kept{Status: 500}},
		{"no UTF-8", func(w http.ResponseWriter, _ string) {
			w.Header().Set("Content-Type", "application/octet-stream")
			_, _ = io.WriteString(w, "\xff\xfe")
		}, false, kept{Status: 200, Base64: "\xff\xfe", Headers: []string{`content-type="application/octet-stream"`}}},
		{"a coding that cannot be read, and what secret stands in it", func(w http.ResponseWriter, _ string) {
			w.Header().Set("Content-Encoding", "br")
			sse(w, "\x8b\x02"+testKey)
		}, true, kept{Status: 200, Text: `the body is in the coding "br", which is not read here and not kept`, Headers: events}},
		{"gzip in gzip", func(w http.ResponseWriter, _ string) {
			w.Header().Set("Content-Encoding", "gzip")
			w.WriteHeader(500)
			zip := gzip.NewWriter(w)
			inner := gzip.NewWriter(zip)
			_, _ = io.WriteString(inner, testKey)
			_ = inner.Close()
			_ = zip.Close()
		}, true, kept{Status: 500, Text: `the body is in the coding "gzip", which is not read here and not kept`}},
		{"case 6.01: cookies and keys stay off the disk", func(w http.ResponseWriter, _ string) {
			w.Header()["sEt-CoOkIe"] = []string{"s=abc"}
			w.Header().Set("Retry-After", "3")
			w.Header().Set("Content-Type", "application/json")
			_, _ = io.WriteString(w, `{"error":"bad key `+testKey+`"}`)
		}, false, kept{Status: 200, Response: `{"error":"bad key {{secret:header:1}}"}`, Headers: []string{`content-type="application/json"`, `retry-after="3"`}}},
		{"nothing at all", func(w http.ResponseWriter, _ string) { abort(w) }, true, kept{Err: "dial"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			u := newUpstream(t, c.answer)
			rec := newRecording(t, nil)
			req := ask("root", 1, 1, c.stream, "hi")
			answer, liveErr := rec.live(u).Complete(t.Context(), req)
			if c.want.Status == 0 {
				rec.answered(t)
			}
			f, text := rec.finish(t)
			assert.DeepEqual(t, keptOf(f.Exchanges[0]), c.want)
			assert.Assert(t, !strings.Contains(text, testKey) && !strings.Contains(text, "abc"))

			r, err := NewReplayer(f, ReplayOptions{})
			assert.NilError(t, err)
			again, replayErr := r.Complete(t.Context(), req)
			assert.DeepEqual(t, again, answer)
			assert.DeepEqual(t, tried(replayErr), tried(liveErr))
			if c.want.Status != 0 {
				assert.Equal(t, len(r.Report().Findings), 0)
			}
		})
	}
}

// zeros is a chunk full of what a careless encoder leaves out, its keys in an
// order of its own.
const zeros = `data: {"x":0.0,"choices":[{"finish_reason":null,"index":0,"delta":{"tool_calls":[{"function":{"arguments":"","name":"t"},"index":0,"id":"a"}],` +
	`"content":""},"message":{"content":""},"logprobs":null}],"usage":null,"created":0,"system_fingerprint":""}`

const testKey = "sk-not-a-real-key-0123456789"

// tried is what the loop sees of a failed try.
func tried(err error) string {
	var up *runtime.UpstreamError
	if errors.As(err, &up) {
		return fmt.Sprintf("%d %s %q", up.Status, up.Kind, up.Partial)
	}
	return fmt.Sprint(err)
}

// The caller reads each block before the upstream writes the next one.
func TestBytesPassUnbuffered(t *testing.T) {
	next := make(chan bool)
	u := newUpstream(t, func(w http.ResponseWriter, _ string) {
		for _, block := range stream {
			sse(w, block)
			<-next
		}
	})
	rec := newRecording(t, nil)
	req, err := http.NewRequestWithContext(runtime.At(t.Context(), runtime.Place{Agent: "root", Turn: 1, Try: 1}),
		"POST", u.URL+"/v1/chat/completions", strings.NewReader(string(ask("root", 1, 1, true, "hi").Body())))
	assert.NilError(t, err)
	resp, err := rec.Transport(http.DefaultTransport).RoundTrip(req)
	assert.NilError(t, err)
	in := bufio.NewReader(resp.Body)
	for _, block := range stream {
		got := make([]byte, len(block))
		_, err := io.ReadFull(in, got)
		assert.NilError(t, err)
		assert.Equal(t, string(got), block)
		next <- true
	}
	_, err = in.ReadByte()
	assert.ErrorIs(t, err, io.EOF)
	f, _ := rec.finish(t)
	assert.DeepEqual(t, f.Exchanges[0].SSE, stream)
}

// A client that goes away leaves what it had read; one that stops right after
// the end mark had read everything.
func TestClientCloses(t *testing.T) {
	for _, c := range []struct {
		read int
		want runtime.End
	}{{2, runtime.EndClientClosed}, {4, runtime.EndDone}} {
		hang := make(chan bool)
		u := newUpstream(t, func(w http.ResponseWriter, _ string) {
			sse(w, stream[:c.read]...)
			<-hang
		})
		rec := newRecording(t, nil)
		req, err := http.NewRequestWithContext(runtime.At(t.Context(), runtime.Place{Agent: "root", Turn: 1, Try: 1}),
			"POST", u.URL+"/v1/chat/completions", strings.NewReader(string(ask("root", 1, 1, true, "hi").Body())))
		assert.NilError(t, err)
		resp, err := rec.Transport(http.DefaultTransport).RoundTrip(req)
		assert.NilError(t, err)
		_, err = io.ReadFull(resp.Body, make([]byte, len(strings.Join(stream[:c.read], ""))))
		assert.NilError(t, err)
		assert.NilError(t, resp.Body.Close())
		close(hang)
		f, _ := rec.finish(t)
		assert.DeepEqual(t, f.Exchanges[0].SSE, stream[:c.read])
		assert.Equal(t, f.Exchanges[0].StreamEnd, c.want)
	}
}

// An upstream that goes silent ends as a timeout, before its headers or after
// a part of its stream.
func TestHangingUpstream(t *testing.T) {
	hang := make(chan bool)
	u := newUpstream(t, func(w http.ResponseWriter, body string) {
		if strings.Contains(body, "part") {
			sse(w, stream[1])
		}
		<-hang
	})
	t.Cleanup(func() { close(hang) }) // before the server's own
	rec := newRecording(t, nil)
	live := rec.live(u)
	live.Idle = 50 * time.Millisecond
	for turn, word := range []string{"part", "nothing"} {
		_, err := live.Complete(t.Context(), ask("root", turn+1, 1, true, word))
		assert.ErrorContains(t, err, "timeout")
	}
	f, _ := rec.finish(t)
	assert.DeepEqual(t, keptOf(f.Exchanges[0]), kept{Status: 200, SSE: stream[1:2], End: runtime.EndTimeout, Headers: []string{`content-type="text/event-stream"`}})
	assert.DeepEqual(t, keptOf(f.Exchanges[1]), kept{Err: "timeout"})
}

// A request that the caller gave up before any response is no exchange.
func TestCancelledBeforeResponse(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	hang := make(chan bool)
	u := newUpstream(t, func(http.ResponseWriter, string) { cancel(); <-hang })
	t.Cleanup(func() { close(hang) })
	rec := newRecording(t, nil)
	_, err := rec.live(u).Complete(ctx, ask("root", 1, 1, false, "hi"))
	assert.ErrorIs(t, err, context.Canceled)
	_, err = rec.Close()
	assert.ErrorIs(t, err, transcripts.ErrEmpty)
}

// answered records one more exchange that was answered: a recording in which
// nothing reached an upstream is not kept.
func (r *recording) answered(t *testing.T) {
	t.Helper()
	u := newUpstream(t, func(w http.ResponseWriter, _ string) { saying(w, "hi") })
	_, err := r.live(u).Complete(t.Context(), ask("root", 2, 1, false, "again"))
	assert.NilError(t, err)
}

// A refused connection and a server without TLS are told apart.
func TestFailedDial(t *testing.T) {
	u := newUpstream(t, func(w http.ResponseWriter, _ string) { saying(w, "hi") })
	rec := newRecording(t, nil)
	overTLS := rec.live(u)
	overTLS.BaseURL = strings.Replace(u.URL, "http:", "https:", 1) + "/v1"
	_, err := overTLS.Complete(t.Context(), ask("root", 1, 1, false, "hi"))
	assert.ErrorContains(t, err, "upstream tls")
	u.Close()
	_, err = rec.live(u).Complete(t.Context(), ask("root", 1, 2, false, "hi"))
	assert.ErrorContains(t, err, "upstream dial")
	rec.answered(t)
	f, _ := rec.finish(t)
	assert.DeepEqual(t, keptOf(f.Exchanges[0]), kept{Err: "tls"})
	assert.DeepEqual(t, keptOf(f.Exchanges[1]), kept{Err: "dial"})
}

// A compressed body passes as it is and is kept in plain.
func TestGzip(t *testing.T) {
	u := newUpstream(t, func(w http.ResponseWriter, body string) {
		w.Header().Set("Content-Type", "application/json")
		if strings.Contains(body, "other") {
			w.Header().Set("Content-Encoding", "br")
			_, _ = io.WriteString(w, "\x8b\x02\x80hi\x03")
			return
		}
		w.Header().Set("Content-Encoding", "gzip")
		zip := gzip.NewWriter(w)
		_, _ = io.WriteString(zip, completion("hi"))
		_ = zip.Close()
	})
	rec := newRecording(t, nil)
	for turn, word := range []string{"hi", "other"} {
		req, err := http.NewRequestWithContext(runtime.At(t.Context(), runtime.Place{Agent: "root", Turn: turn + 1, Try: 1}),
			"POST", u.URL+"/v1/chat/completions", strings.NewReader(string(ask("root", turn+1, 1, false, word).Body())))
		assert.NilError(t, err)
		req.Header.Set("Accept-Encoding", "gzip, br") // or net/http would unpack by itself
		resp, err := rec.Transport(http.DefaultTransport).RoundTrip(req)
		assert.NilError(t, err)
		body, err := io.ReadAll(resp.Body)
		assert.NilError(t, err)
		assert.Assert(t, !jsontext.Value(body).IsValid())
	}
	f, _ := rec.finish(t)
	assert.DeepEqual(t, keptOf(f.Exchanges[0]), kept{Status: 200, Response: completion("hi"), Headers: []string{`content-type="application/json"`}})
	assert.DeepEqual(t, keptOf(f.Exchanges[1]), kept{Status: 200, Text: `the body is in the coding "br", which is not read here and not kept`, Headers: []string{`content-type="application/json"`}})
}

// A body that is too large is not kept, and replays to the error that it was.
func TestALargeBodyIsNotKept(t *testing.T) {
	for _, streamed := range []bool{true, false} {
		u := newUpstream(t, func(w http.ResponseWriter, _ string) {
			if streamed {
				sse(w, chunk("né", "null"), chunk(strings.Repeat("x", 2000), "null"))
				return
			}
			saying(w, strings.Repeat("x", 2000))
		})
		rec := newRecording(t, nil)
		rec.maxBody = 1000
		live := rec.live(u)
		live.MaxBytes = 1000
		_, liveErr := live.Complete(t.Context(), ask("root", 1, 1, streamed, "hi"))
		f, text := rec.finish(t)
		assert.Equal(t, *f.Exchanges[0].Text, "the response is larger than the limit of 1000 bytes, and is not kept")
		assert.Assert(t, !strings.Contains(text, "xxx"))
		r, err := NewReplayer(f, ReplayOptions{})
		assert.NilError(t, err)
		_, replayErr := r.Complete(t.Context(), ask("root", 1, 1, streamed, "hi"))
		assert.Equal(t, replayErr.Error(), liveErr.Error())
	}
}

// A secret can stand where an id or a name belongs, and stays off the disk
// there too.
func TestSecretsInIDsAndNamesAreReplaced(t *testing.T) {
	u := newUpstream(t, func(w http.ResponseWriter, body string) {
		if strings.Contains(body, `"role":"tool"`) {
			saying(w, "done")
			return
		}
		saying(w, "", testKey+" "+testKey+` {"text":"x"}`)
	})
	rec := newRecording(t, nil)
	_, err := session{model: rec.live(u), observe: rec.Observe}.run(t)
	assert.NilError(t, err)
	f, text := rec.finish(t)
	assert.Assert(t, !strings.Contains(text, testKey))
	assert.Equal(t, f.Calls[0].ID+" "+f.Calls[0].Name, "{{secret:header:1}} {{secret:header:1}}")
}

// Requests without a place are kept as http lines, in the order they began.
func TestOtherRequests(t *testing.T) {
	u := newUpstream(t, func(w http.ResponseWriter, body string) {
		if body == "" {
			w.Header().Set("Content-Type", "application/json")
			_, _ = io.WriteString(w, `{"data":[{"id":"m"}]}`)
			return
		}
		saying(w, "hi")
	})
	rec := newRecording(t, nil)
	for _, path := range []string{"/v1/models?api_key=abcdefabcdef", "/v1/models"} {
		req, err := http.NewRequestWithContext(t.Context(), "GET", u.URL+path, nil)
		assert.NilError(t, err)
		resp, err := rec.Transport(http.DefaultTransport).RoundTrip(req)
		assert.NilError(t, err)
		_, err = io.Copy(io.Discard, resp.Body)
		assert.NilError(t, err)
	}
	_, err := rec.live(u).Complete(t.Context(), ask("root", 1, 1, false, "hi"))
	assert.NilError(t, err)
	f, _ := rec.finish(t)
	var lines []string
	for _, h := range f.HTTP {
		lines = append(lines, string(h.Raw))
	}
	assert.DeepEqual(t, lines, []string{
		`{"kind":"http","n":1,"method":"GET","path":"/v1/models","status":200,"headers":{"content-type":"application/json"},"response":{"data":[{"id":"m"}]}}`,
		`{"kind":"http","n":2,"method":"GET","path":"/v1/models","status":200,"headers":{"content-type":"application/json"},"response":{"data":[{"id":"m"}]}}`,
	})
}

// TestConcurrentChildrenGiveTheSameBytes is case 6.05: five children at once, recorded twice in opposite orders of
// arrival, give the same bytes, and each gets its own answer back.
func TestConcurrentChildrenGiveTheSameBytes(t *testing.T) {
	const children = 5
	words := func(n int) string { return fmt.Sprintf("child %d", n) }
	recordOnce := func(reverse bool) (*transcripts.File, string) {
		var arrived sync.WaitGroup
		arrived.Add(children)
		turns := make([]chan bool, children+1) // the answers go out one by one
		for i := range turns {
			turns[i] = make(chan bool)
		}
		u := newUpstream(t, func(w http.ResponseWriter, body string) {
			var n int
			if _, err := fmt.Sscanf(body[strings.Index(body, "child "):], "child %d", &n); err != nil {
				return
			}
			arrived.Done()
			arrived.Wait()
			at := n
			if reverse {
				at = children - 1 - n
			}
			if at > 0 {
				<-turns[at]
			}
			sse(w, chunk(words(n), `"stop"`), stream[3])
			close(turns[at+1])
		})
		rec := newRecording(t, nil)
		live := rec.live(u)
		var all sync.WaitGroup
		for n := range children {
			all.Go(func() {
				answer, err := live.Complete(t.Context(), ask(runtime.Root.Child(1, n+1), 1, 1, true, words(n)))
				assert.Check(t, err)
				assert.Check(t, answer.Message.Content == words(n))
			})
		}
		all.Wait()
		return rec.finish(t)
	}
	f, first := recordOnce(false)
	_, second := recordOnce(true)
	assert.Equal(t, second, first)

	r, err := NewReplayer(f, ReplayOptions{})
	assert.NilError(t, err)
	for n := children - 1; n >= 0; n-- {
		answer, err := r.Complete(t.Context(), ask(runtime.Root.Child(1, n+1), 1, 1, true, words(n)))
		assert.NilError(t, err)
		assert.Equal(t, answer.Message.Content, words(n))
	}
	assert.Equal(t, r.Report().Grade, Exact)
}
