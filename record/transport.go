package record

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"sync"
	"time"

	"github.com/tapetree/tapetree/runtime"
)

// Transport returns a RoundTripper that records every exchange that passes
// through it to next. Bytes reach the caller as they come, unbuffered and
// unchanged. An exchange is written when its response has ended, before the
// caller hears of that end; a failed write is the caller's error there and then,
// a *runtime.OwnError.
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
	sent, body, err := copyRequest(req)
	if err != nil {
		return nil, fmt.Errorf("read request body: %w", err)
	}
	shot := t.recorder.shoot(req, body)
	resp, err := t.next.RoundTrip(sent)
	if err != nil {
		if failed := shot.refused(err); failed != nil {
			return nil, failed
		}
		return nil, err
	}
	shot.status, shot.header, shot.length = resp.StatusCode, resp.Header, resp.ContentLength
	resp.Body = &recordedBody{ReadCloser: resp.Body, shot: shot}
	return resp, nil
}

// copyRequest returns a request to send on and the bytes of its body. The
// request is the caller's and stays as it is, but for its body being closed.
func copyRequest(req *http.Request) (*http.Request, []byte, error) {
	if req.Body == nil || req.Body == http.NoBody {
		return req, nil, nil
	}
	defer closeBody(req)
	body, err := io.ReadAll(req.Body)
	if err != nil {
		return nil, nil, err
	}
	sent := req.Clone(req.Context())
	sent.Body = io.NopCloser(bytes.NewReader(body))
	sent.GetBody = func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(body)), nil }
	sent.ContentLength = int64(len(body))
	sent.TransferEncoding = nil
	return sent, body, nil
}

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

	status   int // 0: no response
	header   http.Header
	length   int64 // of the response as announced; -1: not
	received bytes.Buffer
	large    bool // too large to be kept: received is empty
	arrivals []arrival
}

// arrival is when the response had reached a length.
type arrival struct {
	length int
	at     time.Time
}

func (r *Recorder) shoot(req *http.Request, body []byte) *shot {
	r.redact.Learn(req.Header, req.URL.String())
	s := &shot{recorder: r, req: req, body: body, start: r.now(), length: -1}
	if !s.isModelRequest() {
		s.number = r.nextRequest()
	}
	return s
}

// refused writes an exchange that got no response. One that the caller gave up
// is no exchange.
func (s *shot) refused(err error) error {
	if errors.Is(err, context.Canceled) {
		return nil
	}
	return s.write(outcome{err: runtime.ConnectKind(err)})
}

// recordedBody is a response's body that notes what is read from it.
type recordedBody struct {
	io.ReadCloser
	shot *shot

	mu     sync.Mutex
	ended  bool
	failed error // the failed write
}

// Read implements io.Reader. The error of a failed write takes the place of the
// body's end.
func (b *recordedBody) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	b.mu.Lock()
	defer b.mu.Unlock()
	if n > 0 && !b.ended {
		b.shot.receive(p[:n])
	}
	if err == nil {
		return n, nil
	}
	if failed := b.end(runtime.EndOf(err)); failed != nil {
		return n, failed
	}
	return n, err
}

// Close implements io.Closer. A body that is closed before its end was closed
// by the client.
func (b *recordedBody) Close() error {
	err := b.ReadCloser.Close()
	b.mu.Lock()
	defer b.mu.Unlock()
	end := runtime.EndClientClosed
	if b.shot.complete() {
		end = runtime.EndEOF
	}
	if failed := b.end(end); failed != nil {
		return failed
	}
	return err
}

// end writes the exchange, once. The lock is held.
func (b *recordedBody) end(end runtime.End) error {
	if !b.ended {
		b.ended = true
		b.failed = b.shot.write(outcome{end: end})
	}
	return b.failed
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
	s.arrivals = append(s.arrivals, arrival{s.received.Len(), now})
}

// complete reports whether the whole body came although nobody read its end: as
// long as announced, or a stream up to its own end mark.
func (s *shot) complete() bool {
	if s.length >= 0 && !s.large {
		return int64(s.received.Len()) == s.length
	}
	body, instead := s.decoded()
	return instead == "" && s.isStream(body) && hasDone(runtime.SplitEvents(body))
}
