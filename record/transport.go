package record

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/tapetree/tapetree/runtime"
	"github.com/tapetree/tapetree/transcripts"
)

// AgentHeader is the request header with which a client says itself which agent
// asks: a path such as root/2.1. It never reaches the upstream.
const AgentHeader = "X-Tapetree-Agent"

// RefusedError is a request that is not sent on, because of what the client
// wrote in it.
type RefusedError struct{ Text string }

func (e *RefusedError) Error() string { return e.Text }

// BodyError is a request whose body the client did not deliver.
type BodyError struct{ Err error }

func (e *BodyError) Error() string { return "read request body: " + e.Err.Error() }

func (e *BodyError) Unwrap() error { return e.Err }

// Transport returns a RoundTripper that records every exchange that passes
// through it to next. Bytes reach the caller as they come, unbuffered and
// unchanged. An exchange is written when its response has ended, before the
// caller hears of that end; a failed write is the caller's error there and then,
// a *runtime.OwnError. A request whose AgentHeader names no agent is a
// *RefusedError.
func (r *Recorder) Transport(next http.RoundTripper) http.RoundTripper {
	return &transport{recorder: r, next: next}
}

type transport struct {
	recorder *Recorder
	next     http.RoundTripper
}

// RoundTrip implements http.RoundTripper.
func (t *transport) RoundTrip(req *http.Request) (*http.Response, error) {
	if err := t.recorder.failed(); err != nil {
		closeBody(req)
		return nil, err
	}
	agent, err := namedAgent(req.Header)
	if err != nil {
		closeBody(req)
		return nil, err
	}
	sent, body, err := copyRequest(req)
	if err != nil {
		return nil, &BodyError{err}
	}
	shot := t.recorder.shoot(req, body, agent)
	resp, err := t.next.RoundTrip(sent)
	if err != nil {
		if failed := shot.refused(err); failed != nil {
			return nil, failed
		}
		return nil, err
	}
	shot.answers(resp)
	if resp.StatusCode == http.StatusSwitchingProtocols { // what follows is no response any more
		shot.ends()
		shot.give()
		if failed := shot.writeHTTP(outcome{end: runtime.EndEOF}); failed != nil {
			_ = resp.Body.Close() // nobody will read it
			return nil, failed
		}
		return resp, nil
	}
	resp.Body = &recordedBody{ReadCloser: resp.Body, shot: shot}
	return resp, nil
}

// answers notes the head of the response.
func (s *shot) answers(resp *http.Response) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.status, s.header, s.length = resp.StatusCode, resp.Header, resp.ContentLength
	s.progress.Store(0)
	if s.tapped != nil {
		asked := s.req.URL
		if resp.Request != nil { // somebody below may send requests elsewhere
			asked = resp.Request.URL
		}
		s.tapped.upstream = s.recorder.upstreamOf(asked)
	}
}

// namedAgent returns the agent that a request names, "" for none.
func namedAgent(h http.Header) (runtime.Path, error) {
	agent := runtime.Path(h.Get(AgentHeader))
	if said := slices.Compact(slices.Clone(h.Values(AgentHeader))); len(said) > 1 {
		return "", &RefusedError{fmt.Sprintf("header %s: says %.100q and %.100q; a request is of one agent", AgentHeader, said[0], said[1])}
	}
	if agent != "" && !transcripts.IsAgent(agent) {
		return "", &RefusedError{fmt.Sprintf("header %s: %.100q is no agent path, as in root/2.1", AgentHeader, agent)}
	}
	return agent, nil
}

// copyRequest returns a request to send on and the bytes of its body. The
// request is the caller's and stays as it is, but for its body being closed.
func copyRequest(req *http.Request) (*http.Request, []byte, error) {
	sent := req
	if req.Header.Get(AgentHeader) != "" {
		sent = req.Clone(req.Context())
		sent.Header.Del(AgentHeader)
	}
	if req.Body == nil || req.Body == http.NoBody {
		return sent, nil, nil
	}
	defer closeBody(req)
	body, err := readBody(req)
	if err != nil {
		return nil, nil, err
	}
	if sent == req {
		sent = req.Clone(req.Context())
	}
	sent.Body = io.NopCloser(bytes.NewReader(body))
	sent.GetBody = func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(body)), nil }
	sent.ContentLength = int64(len(body))
	sent.TransferEncoding = nil
	return sent, body, nil
}

// readBody reads a request's body into one piece of memory of the right size
// where the size is announced.
func readBody(req *http.Request) ([]byte, error) {
	var body bytes.Buffer
	if 0 < req.ContentLength && req.ContentLength <= maxAnnounced {
		body.Grow(int(req.ContentLength) + bytes.MinRead)
	}
	if _, err := body.ReadFrom(req.Body); err != nil {
		return nil, err
	}
	return body.Bytes(), nil
}

// maxAnnounced is how much memory is taken on the word of a header.
const maxAnnounced = 4 << 20

func closeBody(req *http.Request) {
	if req.Body != nil {
		_ = req.Body.Close() // only a reader's; what it could say concerns nobody here
	}
}

// shot is one exchange while it passes.
type shot struct {
	recorder     *Recorder
	req          *http.Request
	body         []byte // of the request
	number       int    // among the requests that are no model exchanges; 0: is one
	start, first time.Time
	tapped       *tapped      // nil: no request whose agent is inferred
	progress     atomic.Int64 // bytes of the response's body that came; -1: no response yet

	status int // 0: no response
	header http.Header
	length int64 // of the response as announced; -1: not

	mu       sync.Mutex
	received bytes.Buffer
	large    bool // too large to be kept: received is empty
	arrivals []arrival
	ended    bool
	left     bool  // the client closed the body before its end
	failed   error // the failed write
}

// arrival is when the response had reached a length.
type arrival struct {
	length int
	at     time.Time
}

func (r *Recorder) shoot(req *http.Request, body []byte, agent runtime.Path) *shot {
	r.redact.Learn(req.Header, req.URL.String())
	s := &shot{recorder: r, req: req, body: body, start: r.now(), length: -1}
	s.progress.Store(-1)
	if r.tap != nil && r.tap.takes(req) {
		r.tap.enter(s, agent)
	} else if !s.isModelRequest() {
		s.number = r.nextRequest()
	}
	return s
}

// takes reports whether a request asks for a model answer and does not say where
// in the session it stands.
func (t *tap) takes(req *http.Request) bool {
	_, placed := runtime.PlaceOf(req.Context())
	_, known := runtime.WireOf(req.URL.Path)
	return known && !placed && req.Method == http.MethodPost
}

// refused writes an exchange that got no response. One that the caller gave up
// is no exchange.
func (s *shot) refused(err error) error {
	s.ends()
	if errors.Is(err, context.Canceled) || s.leftAlone() {
		s.give()
		return nil
	}
	return s.write(outcome{err: runtime.ConnectKind(err)})
}

// leftAlone reports that the caller gave the request up, whatever error came of
// that first.
func (s *shot) leftAlone() bool {
	return errors.Is(context.Cause(s.req.Context()), context.Canceled)
}

// recordedBody is a response's body that notes what is read from it.
type recordedBody struct {
	io.ReadCloser
	shot  *shot
	begun bool  // bytes were read
	err   error // the end, which came with the last bytes
}

// Read implements io.Reader. Bytes are passed on before the exchange is written:
// an end that comes with them is held back until the next Read. The error of a
// failed write takes the place of the body's end.
func (b *recordedBody) Read(p []byte) (int, error) {
	n, err := 0, b.err
	if err == nil {
		n, err = b.ReadCloser.Read(p)
	}
	if n > 0 && b.begun {
		b.shot.passes()
	}
	if n == 0 && err != nil {
		b.shot.ends()
	}
	b.shot.mu.Lock()
	defer b.shot.mu.Unlock()
	if n > 0 {
		if !b.shot.ended {
			b.shot.receive(p[:n])
		}
		b.begun, b.err = true, err
		return n, nil
	}
	if err == nil {
		return 0, nil
	}
	end := runtime.EndOf(err)
	if end == runtime.EndReset && b.shot.leftAlone() {
		end = runtime.EndClientClosed
	}
	if failed := b.shot.end(end); failed != nil {
		return 0, failed
	}
	return 0, err
}

// Close implements io.Closer. A body that is closed before its end was closed
// by the client.
func (b *recordedBody) Close() error {
	err := b.ReadCloser.Close()
	b.shot.leave(b.err)
	b.shot.ends()
	b.shot.mu.Lock()
	defer b.shot.mu.Unlock()
	end := runtime.EndClientClosed
	switch {
	case b.err != nil:
		end = runtime.EndOf(b.err)
	case !b.shot.ended && b.shot.complete():
		end = runtime.EndEOF
	}
	if failed := b.shot.end(end); failed != nil {
		return failed
	}
	return err
}

// leave notes that the client closed the body, which had come to the end that
// err says, nil for none.
func (s *shot) leave(err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.left = err == nil && !s.ended && !s.complete()
}

// end writes the exchange, once. The lock is held.
func (s *shot) end(end runtime.End) error {
	if !s.ended {
		s.ended = true
		s.failed = s.write(outcome{end: end})
		s.received, s.arrivals, s.body = bytes.Buffer{}, nil, nil
	}
	return s.failed
}

func (s *shot) receive(p []byte) {
	now := s.recorder.now()
	if s.first.IsZero() {
		s.first = now
	}
	if s.large || int64(s.received.Len()+len(p)) > s.recorder.maxBody {
		s.large, s.received, s.arrivals = true, bytes.Buffer{}, nil
		return
	}
	s.received.Write(p)
	s.progress.Store(int64(s.received.Len()))
	s.arrivals = append(s.arrivals, arrival{s.received.Len(), now})
}

// complete reports whether the whole body came although nobody read its end: as
// long as announced, or a stream up to its own end mark.
func (s *shot) complete() bool {
	if s.length >= 0 && !s.large {
		return int64(s.received.Len()) == s.length
	}
	body, instead := s.decoded()
	return instead == "" && s.isStream(body) && hasDone(s.wire(), runtime.SplitEvents(body))
}
