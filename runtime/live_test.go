package runtime

import (
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"gotest.tools/v3/assert"
)

// liveRequest is a request with bytes that go-openai would not keep.
func liveRequest(stream bool) *Request {
	var h History
	h.Append(SystemMessage("s"), UserMessage("<a> & é"), Message{Role: RoleAssistant, Raw: []byte(`{"role":"assistant","content":null,"zz":0.0}`)}, ToolMessage("c", ""))
	return &Request{
		Place: Place{Agent: "root/1.1", Turn: 2, Try: 1}, Model: "m", Messages: h.View(),
		Params: []Param{{Name: "temperature", Value: []byte("0")}}, Stream: stream,
	}
}

// upstream serves one handler and gives a Live for it.
func upstream(t *testing.T, handle http.HandlerFunc) *Live {
	t.Helper()
	server := httptest.NewServer(handle)
	t.Cleanup(server.Close)
	return &Live{BaseURL: server.URL + "/v1/", Key: "key-of-the-test", HTTP: server.Client().Transport}
}

// events answers with an event stream, flushed after each piece.
func events(w http.ResponseWriter, pieces ...string) {
	w.Header().Set("Content-Type", "text/event-stream; charset=utf-8")
	for _, p := range pieces {
		_, _ = io.WriteString(w, p)
		w.(http.Flusher).Flush()
	}
}

func liveError(t *testing.T, l *Live, stream bool) UpstreamError {
	t.Helper()
	a, err := l.Complete(t.Context(), liveRequest(stream))
	assert.Assert(t, a == nil)
	up, ok := asUpstream(err)
	assert.Assert(t, ok, "%v", err)
	return *up
}

type transportFunc func(*http.Request) (*http.Response, error)

func (f transportFunc) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

func TestLiveSendsTheBytesOfTheRequest(t *testing.T) {
	for _, stream := range []bool{false, true} {
		var got, path, authorization, org, kind, agent string
		l := upstream(t, func(w http.ResponseWriter, r *http.Request) {
			body, _ := io.ReadAll(r.Body)
			got, path = string(body), r.Method+" "+r.URL.Path
			authorization, org, kind = r.Header.Get("Authorization"), r.Header.Get("OpenAI-Organization"), r.Header.Get("Content-Type")
			_, _ = io.WriteString(w, responseWith(`{"content":"hi"}`))
		})
		inner := l.HTTP
		l.Org = "o"
		l.HTTP = transportFunc(func(r *http.Request) (*http.Response, error) {
			place, _ := PlaceOf(r.Context())
			agent = fmt.Sprint(place)
			return inner.RoundTrip(r)
		})
		req := liveRequest(stream)
		a, err := l.Complete(t.Context(), req)
		assert.NilError(t, err)
		assert.Equal(t, a.Message.Content, "hi")
		assert.DeepEqual(t, []string{got, path, authorization, org, kind, agent},
			[]string{string(req.Body()), "POST /v1/chat/completions", "Bearer key-of-the-test", "o", "application/json", "{root/1.1 2 1}"})
	}
}

func TestLiveKeepsTheQueryOfTheBaseURLBehindThePath(t *testing.T) {
	var got string
	l := upstream(t, func(w http.ResponseWriter, r *http.Request) {
		got = r.URL.String()
		_, _ = io.WriteString(w, responseWith(`{"content":"hi"}`))
	})
	l.BaseURL += "?key=a%2Fb&v=1#part"
	_, err := l.Complete(t.Context(), liveRequest(false))
	assert.NilError(t, err)
	assert.Equal(t, got, "/v1/chat/completions?key=a%2Fb&v=1")
}

func TestLiveSendsNoAuthorizationWithoutKey(t *testing.T) {
	l := upstream(t, func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.WriteString(w, responseWith(fmt.Sprintf(`{"content":"%d"}`, len(r.Header.Values("Authorization")))))
	})
	l.Key = ""
	a, err := l.Complete(t.Context(), liveRequest(false))
	assert.NilError(t, err)
	assert.Equal(t, a.Message.Content, "0")
}

func TestLiveReadsStreams(t *testing.T) {
	body := sse(delta(`{"content":"字😀"}`), toolDelta(`{"id":"a","function":{"name":"t","arguments":"{}"}}`), finish("tool_calls"), "[DONE]")
	want := decodeStream(t, body)
	serve := map[string]http.HandlerFunc{
		"byte by byte (case 1.17)": func(w http.ResponseWriter, r *http.Request) { events(w, strings.Split(body, "")...) },
		"in one piece":             func(w http.ResponseWriter, r *http.Request) { events(w, body) },
		"CRLF":                     func(w http.ResponseWriter, r *http.Request) { events(w, strings.ReplaceAll(body, "\n", "\r\n")) },
		"after many comments":      func(w http.ResponseWriter, r *http.Request) { events(w, strings.Repeat(": x\n\n", 1000), body) },
		"open after [DONE]": func(w http.ResponseWriter, r *http.Request) {
			events(w, body)
			<-r.Context().Done()
		},
		"without a content type": func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Type", "text/plain")
			_, _ = io.WriteString(w, body)
		},
		"gzip": func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Type", "text/event-stream")
			w.Header().Set("Content-Encoding", "gzip")
			z := gzip.NewWriter(w)
			_, _ = io.WriteString(z, body)
			_ = z.Close()
		},
	}
	for name, handle := range serve {
		t.Run(name, func(t *testing.T) {
			got, err := upstream(t, handle).Complete(t.Context(), liveRequest(true))
			assert.NilError(t, err)
			assert.DeepEqual(t, got, want)
		})
	}
}

func TestLiveUsesAConnectionAgainAfterDone(t *testing.T) {
	var connections atomic.Int32
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		events(w, sse(delta(`{"content":"hi"}`), "[DONE]"))
	}))
	server.Config.ConnState = func(_ net.Conn, state http.ConnState) {
		if state == http.StateNew {
			connections.Add(1)
		}
	}
	server.Start()
	defer server.Close()
	l := &Live{BaseURL: server.URL, HTTP: server.Client().Transport}
	for range 3 {
		_, err := l.Complete(t.Context(), liveRequest(true))
		assert.NilError(t, err)
	}
	assert.Equal(t, connections.Load(), int32(1))
}

func TestLiveReportsBrokenAnswers(t *testing.T) {
	half := sse(delta(`{"content":"half"}`))
	hijack := func(w http.ResponseWriter) {
		conn, _, err := w.(http.Hijacker).Hijack()
		if err == nil {
			_ = conn.Close()
		}
	}
	cases := []struct {
		name   string
		stream bool
		handle http.HandlerFunc
		want   UpstreamError
	}{
		{"case 1.19: stream that ends without an end", true, func(w http.ResponseWriter, r *http.Request) { events(w, half) },
			UpstreamError{Status: 200, Kind: KindCut, Text: "the stream ended without finish_reason and [DONE]", Partial: "half", Retry: true}},
		{"stream that is reset", true, func(w http.ResponseWriter, r *http.Request) { events(w, half); hijack(w) },
			UpstreamError{Status: 200, Kind: KindCut, Text: "the stream ended without finish_reason and [DONE]", Partial: "half", Retry: true}},
		{"JSON that is reset", false, func(w http.ResponseWriter, r *http.Request) {
			_, _ = io.WriteString(w, `{"choices":`)
			w.(http.Flusher).Flush()
			hijack(w)
		}, UpstreamError{Status: 200, Kind: KindCut, Text: "the response broke off: unexpected EOF", Retry: true}},
		{"case 2.07: status, text and Retry-After", true, func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Retry-After", "3")
			http.Error(w, "slow down, key-of-the-test", http.StatusTooManyRequests)
		}, UpstreamError{Status: 429, Kind: KindStatus, Text: "slow down, [key]", Retry: true, RetryAfter: 3 * time.Second}},
		{"redirect", false, func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Path == "/v2" {
				_, _ = io.WriteString(w, responseWith(`{"content":"followed"}`))
				return
			}
			w.Header().Set("Location", "/v2")
			w.WriteHeader(http.StatusPermanentRedirect)
		}, UpstreamError{Status: 308, Kind: KindStatus, Text: "redirected to /v2"}},
		{"case 1.18: error event, connection left open", true, func(w http.ResponseWriter, r *http.Request) {
			events(w, half, "event: error\n"+sse(`{"message":"quota"}`))
			<-r.Context().Done()
		}, UpstreamError{Status: 200, Kind: KindStream, Text: "quota", Partial: "half"}},
		{"JSON error for a stream", true, func(w http.ResponseWriter, r *http.Request) { events(w, `{"error":"quota"}`) },
			UpstreamError{Status: 200, Kind: KindStream, Text: "quota"}},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) { assert.DeepEqual(t, liveError(t, upstream(t, c.handle), c.stream), c.want) })
	}
}

func TestLiveEndsASilentTry(t *testing.T) {
	t.Run("before the response", func(t *testing.T) {
		l := upstream(t, func(w http.ResponseWriter, r *http.Request) { _, _ = io.Copy(io.Discard, r.Body); <-r.Context().Done() })
		l.Idle = 20 * time.Millisecond
		up := liveError(t, l, true)
		up.Text = ""
		assert.DeepEqual(t, up, UpstreamError{Kind: KindTimeout, Retry: true})
	})
	t.Run("inside a stream", func(t *testing.T) {
		l := upstream(t, func(w http.ResponseWriter, r *http.Request) {
			events(w, sse(delta(`{"content":"half"}`)))
			<-r.Context().Done()
		})
		l.Idle = 200 * time.Millisecond
		assert.DeepEqual(t, liveError(t, l, true), UpstreamError{
			Status: 200, Kind: KindTimeout, Text: "the stream went silent without finish_reason and [DONE]", Partial: "half", Retry: true,
		})
	})
	t.Run("inside JSON", func(t *testing.T) {
		l := upstream(t, func(w http.ResponseWriter, r *http.Request) {
			_, _ = io.WriteString(w, `{"choices":`)
			w.(http.Flusher).Flush()
			<-r.Context().Done()
		})
		l.Idle = 200 * time.Millisecond
		assert.DeepEqual(t, liveError(t, l, false), UpstreamError{Status: 200, Kind: KindTimeout, Text: "the upstream sent nothing for 200ms", Retry: true})
	})
	t.Run("after finish_reason the answer is whole", func(t *testing.T) {
		l := upstream(t, func(w http.ResponseWriter, r *http.Request) {
			events(w, sse(delta(`{"content":"hi"}`), finish("stop")))
			<-r.Context().Done()
		})
		l.Idle = 200 * time.Millisecond
		a, err := l.Complete(t.Context(), liveRequest(true))
		assert.NilError(t, err)
		assert.Equal(t, a.Message.Content, "hi")
	})
}

func TestLiveCancelled(t *testing.T) {
	for _, stream := range []bool{true, false} {
		ctx, cancel := context.WithCancel(t.Context())
		l := upstream(t, func(w http.ResponseWriter, r *http.Request) {
			_, _ = io.Copy(io.Discard, r.Body)
			cancel()
			<-r.Context().Done()
		})
		_, err := l.Complete(ctx, liveRequest(stream))
		assert.Equal(t, err, context.Canceled)
	}
}

// hangUp cancels when the first bytes of a response body have been read.
type hangUp struct{ cancel context.CancelFunc }

func (h hangUp) RoundTrip(req *http.Request) (*http.Response, error) {
	resp, err := http.DefaultTransport.RoundTrip(req)
	if err == nil {
		resp.Body = &hangUpBody{resp.Body, h.cancel}
	}
	return resp, err
}

type hangUpBody struct {
	io.ReadCloser
	cancel context.CancelFunc
}

func (b *hangUpBody) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	if n > 0 {
		b.cancel()
	}
	return n, err
}

// What a cancelled answer had said is in the report of a child, and in its
// transcript: the two must be one.
func TestLiveCancelledKeepsWhatWasWritten(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	l := upstream(t, func(w http.ResponseWriter, r *http.Request) {
		events(w, sse(delta(`{"content":"half"}`)))
		<-r.Context().Done()
	})
	l.HTTP = hangUp{cancel}
	_, err := l.Complete(ctx, liveRequest(true))
	assert.ErrorIs(t, err, context.Canceled)
	up, ok := errors.AsType[*UpstreamError](err)
	assert.Assert(t, ok)
	assert.Equal(t, up.Partial, "half")
}

func TestLiveNamesFailedConnects(t *testing.T) {
	closed := httptest.NewServer(nil)
	closed.Close()
	secure := httptest.NewTLSServer(nil)
	defer secure.Close()
	secure.Config.ErrorLog = nil
	open := httptest.NewServer(nil)
	defer open.Close()
	drop := upstream(t, func(w http.ResponseWriter, r *http.Request) { panic(http.ErrAbortHandler) })
	for _, c := range []struct{ name, url, want string }{
		{"refused", closed.URL, KindDial},
		{"no such host", "http://host.invalid/v1", KindDial},
		{"unknown certificate", secure.URL, KindTLS},
		{"no TLS", strings.Replace(open.URL, "http:", "https:", 1), KindTLS},
		{"dropped before a response", drop.BaseURL, KindDial},
	} {
		t.Run(c.name, func(t *testing.T) {
			transport := &http.Transport{}
			defer transport.CloseIdleConnections()
			up := liveError(t, &Live{BaseURL: c.url, HTTP: transport}, true)
			assert.Assert(t, up.Text != "")
			up.Text = ""
			assert.DeepEqual(t, up, UpstreamError{Kind: c.want, Retry: true})
		})
	}
}

func TestLiveBoundsTheSizeOfAResponse(t *testing.T) {
	long := strings.Repeat("x", 1000)
	want := UpstreamError{Status: 200, Kind: KindMalformed, Text: "the response is larger than the limit of 999 bytes, and is not kept"}
	for _, stream := range []bool{true, false} {
		l := upstream(t, func(w http.ResponseWriter, r *http.Request) {
			if stream {
				events(w, ": first\n\n", "data: "+long)
				return
			}
			_, _ = io.WriteString(w, `{"choices":"`+long)
		})
		l.MaxBytes = 999
		assert.DeepEqual(t, liveError(t, l, stream), want)
	}
}

func TestLivePassesOurErrorsOn(t *testing.T) {
	full := &OwnError{Err: errors.New("write transcript: disk full")}
	file := &fs.PathError{Op: "write", Path: "x", Err: fs.ErrPermission}
	respond := func(kind, start string, end error) transportFunc {
		return func(r *http.Request) (*http.Response, error) {
			body := io.NopCloser(io.MultiReader(strings.NewReader(start), errorReader{end}))
			return &http.Response{StatusCode: 200, Header: http.Header{"Content-Type": {kind}}, Body: body, Request: r}, nil
		}
	}
	for _, c := range []struct {
		name      string
		transport transportFunc
		want      error
	}{
		{"instead of a response", func(*http.Request) (*http.Response, error) { return nil, full }, full},
		{"a file's error", func(*http.Request) (*http.Response, error) { return nil, file }, file},
		{"inside a stream", respond("text/event-stream", "data: {}\n\n", full), full},
		{"inside JSON", respond("application/json", "{", file), file},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := (&Live{BaseURL: "http://host.invalid", HTTP: c.transport}).Complete(t.Context(), liveRequest(true))
			assert.Equal(t, err, c.want)
			_, upstream := asUpstream(err)
			assert.Assert(t, !upstream)
		})
	}
}

type errorReader struct{ err error }

func (r errorReader) Read([]byte) (int, error) { return 0, r.err }

func TestLiveRefusesABaseURLThatIsNone(t *testing.T) {
	for _, base := range []string{"localhost:8080/v1", "host/v1", "ftp://host/v1", "http://", "http://[bad"} {
		_, err := (&Live{BaseURL: base}).Complete(t.Context(), liveRequest(true))
		assert.Error(t, err, fmt.Sprintf("base URL %q: must look like https://host/v1", base))
	}
}

func TestEndOf(t *testing.T) {
	for _, c := range []struct {
		err  error
		want End
	}{
		{nil, EndEOF},
		{io.EOF, EndEOF},
		{io.ErrUnexpectedEOF, EndReset},
		{context.Canceled, EndClientClosed},
		{context.DeadlineExceeded, EndTimeout},
		{&silenceError{time.Second}, EndTimeout},
		{errors.New("connection reset"), EndReset},
	} {
		assert.Equal(t, EndOf(c.err), c.want, "%v", c.err)
	}
}
