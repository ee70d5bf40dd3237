package record

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"time"

	"github.com/tapetree/tapetree/record/attribution"
	"github.com/tapetree/tapetree/runtime"
)

// delivery is what one request is answered with, and how.
type delivery struct {
	playback *Playback
	start    time.Time // when the request came

	none   string // no response at all: dial, tls or timeout
	status int
	header http.Header
	blocks []string
	torn   runtime.End // how the body breaks off; "": it comes to its end

	wait   time.Duration   // before all else
	head   time.Duration   // when the head is due, since start
	due    []time.Duration // when each block is; nil: at once
	end    time.Duration   // when the body ends
	answer *heard          // nil: no model answer
	live   *liveCall       // passed on; nil: from the transcript
}

// heard is an answer as the scope is to hear of it: all its calls before the
// first byte goes out, its end before the block that may let the client go on.
type heard struct {
	exchange *attribution.Exchange
	calls    []runtime.Call
	message  *runtime.Message // nil: it failed
	id       string
	endsWith int // the block
	over     bool
}

func (h *heard) begin() {
	if h == nil {
		return
	}
	for i, call := range h.calls {
		h.exchange.Call(i+1, call)
	}
}

// before is called before block i goes out, and once more after the last one.
func (h *heard) before(i int) {
	if h == nil || h.over || i < h.endsWith {
		return
	}
	h.over = true
	if h.message == nil {
		h.exchange.Failed()
		return
	}
	h.exchange.Done(*h.message, h.id)
}

// gone notes that the client went away.
func (h *heard) gone() {
	if h == nil || h.over {
		return
	}
	h.over = true
	h.exchange.Failed()
}

// play makes a delivery of what was found for a model request. The lock is held.
func (p *Playback) play(g given, x *attribution.Exchange) *delivery {
	e := g.exchange
	d := &delivery{wait: g.wait, answer: &heard{exchange: x}}
	if g.recorded != nil && e != g.recorded {
		x.Unsure()
	}
	answer, err := runtime.Decode(withMarks(e, p.liveMark).Reply(), runtime.Dialect{})
	if err == nil {
		d.answer.message, d.answer.id, d.answer.calls = &answer.Message, answer.ID, answer.Message.Calls
		if c := p.tap.conversation(x.Thread); c.log == x.Log {
			c.answer = &answer.Message
		}
	}
	if e.Status == 0 {
		d.none = e.Err
		return d
	}
	d.status, d.blocks, d.torn = e.Status, bodyOf(p.replay.options.Fold, withMarks(e, p.liveSecret)), tornEnd(e)
	d.header = headOf(e, p.options.Speed > 0 || g.recorded == nil)
	d.answer.endsWith = max(0, len(d.blocks)-1)
	wire := wireOf(e)
	var partial []runtime.Call
	if e.SSE != nil {
		reader := runtime.NewAnswerReader(wire)
		for i, block := range e.SSE {
			partial = append(partial, reader.Block([]byte(block))...)
			if mayEnd(wire, []byte(block)) {
				d.answer.endsWith = min(d.answer.endsWith, i)
			}
		}
	}
	if err != nil {
		d.answer.calls = partial
		if len(partial) == 0 { // at any of its bytes the client may give it up and ask again
			d.answer.endsWith = 0
		}
	}
	d.withLength()
	if p.options.Speed > 0 && g.recorded != nil {
		d.timed(p.times[placeOf(g.recorded)], p.options.Speed)
	}
	return d
}

// timed sets when each part is due, after the clocks of the recording.
func (d *delivery) timed(t recordedTimes, speed float64) {
	since := func(ms float64) time.Duration {
		return max(0, time.Duration((ms-t.Start)/speed*float64(time.Millisecond)))
	}
	d.head, d.end = since(t.First), since(t.End)
	d.due = make([]time.Duration, len(d.blocks))
	for i := range d.due {
		switch {
		case i < len(t.Blocks):
			d.due[i] = since(t.Blocks[i])
		case len(t.Blocks) > 0:
			d.due[i] = d.end
		default:
			d.due[i] = d.head
		}
	}
}

// until waits for a part of the answer to be due. An error is the context's.
func (d *delivery) until(ctx context.Context, due time.Duration) error {
	if due <= 0 {
		return ctx.Err()
	}
	return d.playback.sleep(ctx, d.start.Add(d.wait+due).Sub(d.playback.now()))
}

// ServeHTTP implements http.Handler. An answer that was recorded as broken off
// breaks off, by panicking with http.ErrAbortHandler, which net/http knows. Where
// the upstream was not reached, the client gets status 502, as from the proxy
// that recorded it.
func (p *Playback) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	d, err := p.deliver(r)
	if err != nil {
		d = unreadable(r, err)
	}
	d.playback = p
	if d.live != nil {
		d.live.serve(w, r)
		return
	}
	ctx := r.Context()
	if err := p.sleep(ctx, d.wait); err != nil {
		d.answer.gone()
		return
	}
	d.answer.begin()
	if d.none != "" {
		d.answer.before(0)
		d = unreached(r, d.none)
	}
	if err := d.until(ctx, d.head); err != nil {
		d.answer.gone()
		return
	}
	d.write(ctx, w)
	if d.torn != "" {
		panic(http.ErrAbortHandler)
	}
}

// write sends status, headers and body. When the client goes away it stops.
func (d *delivery) write(ctx context.Context, w http.ResponseWriter) {
	for name, values := range d.header {
		w.Header()[name] = values
	}
	if len(d.blocks) == 0 {
		d.answer.before(0)
	}
	flush := http.NewResponseController(w)
	w.WriteHeader(d.status)
	if d.due != nil {
		_ = flush.Flush() // a writer that cannot flush sends the head with the body
	}
	for i, block := range d.blocks {
		if d.due != nil && d.until(ctx, d.due[i]) != nil {
			d.answer.gone()
			return
		}
		d.answer.before(i)
		if _, err := io.WriteString(w, block); err != nil {
			d.answer.gone()
			return
		}
		if len(d.blocks) > 1 || d.torn != "" {
			_ = flush.Flush()
		}
	}
	_ = d.until(ctx, d.end) // whether the client waits for the end is its own affair
}

// RoundTrip implements http.RoundTripper.
func (p *Playback) RoundTrip(r *http.Request) (*http.Response, error) {
	d, err := p.deliver(r)
	if err != nil {
		return nil, err
	}
	if d.live != nil {
		return d.live.roundTrip()
	}
	ctx := r.Context()
	if err := p.sleep(ctx, d.wait); err != nil {
		d.answer.gone()
		return nil, err
	}
	d.answer.begin()
	if d.none != "" {
		d.answer.before(0)
		return nil, &noResponse{d.none}
	}
	if err := d.until(ctx, d.head); err != nil {
		d.answer.gone()
		return nil, err
	}
	if len(d.blocks) == 0 {
		d.answer.before(0)
	}
	resp := &http.Response{
		Status: fmt.Sprintf("%d %s", d.status, http.StatusText(d.status)), StatusCode: d.status,
		Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		Header: d.header, Body: &deliveredBody{ctx: ctx, delivery: d}, ContentLength: -1, Request: r,
	}
	if d.header.Get("Content-Length") != "" {
		resp.ContentLength = int64(len(d.blocks[0]))
	}
	return resp, nil
}

// deliveredBody reads a delivery, one block at most with each Read.
type deliveredBody struct {
	ctx      context.Context
	delivery *delivery
	next     int // the block
	rest     string
	closed   bool
}

// Read implements io.Reader.
func (b *deliveredBody) Read(buf []byte) (int, error) {
	d := b.delivery
	if b.closed {
		return 0, http.ErrBodyReadAfterClose
	}
	for b.rest == "" {
		if b.next == len(d.blocks) {
			if err := d.until(b.ctx, d.end); err != nil {
				return 0, err
			}
			return 0, brokenBy(d.torn)
		}
		if d.due != nil {
			if err := d.until(b.ctx, d.due[b.next]); err != nil {
				d.answer.gone()
				return 0, err
			}
		}
		d.answer.before(b.next)
		b.rest = d.blocks[b.next]
		b.next++
	}
	n := copy(buf, b.rest)
	b.rest = b.rest[n:]
	return n, nil
}

// Close implements io.Closer.
func (b *deliveredBody) Close() error {
	b.closed = true
	b.delivery.answer.gone()
	return nil
}

// brokenBy is the error with which a body ends that was recorded as ending so.
func brokenBy(end runtime.End) error {
	switch end {
	case "":
		return io.EOF
	case runtime.EndTimeout:
		return &noResponse{string(end)}
	default:
		return io.ErrUnexpectedEOF
	}
}

// noResponse is the recorded failure of a request: dial, tls or timeout. It is
// a net.Error.
type noResponse struct{ kind string }

// Error implements error; a handshake's failure has no type of its own in
// net/http, only its text.
func (e *noResponse) Error() string {
	if e.kind == runtime.KindTLS {
		return "tls: recorded failure"
	}
	return "recorded failure: " + e.kind
}

// Timeout implements net.Error.
func (e *noResponse) Timeout() bool { return e.kind == runtime.KindTimeout }

// Temporary implements net.Error.
func (e *noResponse) Temporary() bool { return false }

// unreached is what a client of a recording proxy gets when the upstream cannot
// be reached.
func unreached(r *http.Request, kind string) *delivery {
	wire, _ := runtime.WireOf(r.URL.Path)
	kind = "tapetree_upstream_" + kind
	d := &delivery{
		status: http.StatusBadGateway, header: http.Header{"Content-Type": {"application/json"}},
		blocks: []string{string(errorBody(wire, kind, kind, "tapetree replay: the upstream was not reached when this was recorded")) + "\n"},
	}
	return d.withLength()
}

// unreadable is the answer to a request that could not be read.
func unreadable(r *http.Request, err error) *delivery {
	wire, _ := runtime.WireOf(r.URL.Path)
	status := http.StatusBadRequest
	if _, ok := errors.AsType[*http.MaxBytesError](err); ok {
		status = http.StatusRequestEntityTooLarge
	}
	return refusal(wire, status, "tapetree replay: "+err.Error())
}
