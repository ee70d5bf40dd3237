package record

import (
	"io"
	"net/http"
	"net/url"
	"strings"

	"github.com/tapetree/tapetree/record/attribution"
	"github.com/tapetree/tapetree/runtime"
	"github.com/tapetree/tapetree/transcripts"
)

// liveCall is a request that is passed on because the transcript has no answer
// for it. What comes back passes as it is; an answer with a status of 2xx is kept
// as a new exchange.
type liveCall struct {
	playback *Playback
	req      *http.Request
	exchange *transcripts.Exchange // nil: no model request
	told     *attribution.Exchange
	shot     *shot
	at       *url.URL // where it went
}

// passOn makes a delivery of a model request that goes to the upstream. The lock
// is held.
func (p *Playback) passOn(req *http.Request, at place, x *attribution.Exchange, a *asking) *delivery {
	label := p.tap.scope.Place(x)
	e := &transcripts.Exchange{
		Agent: at.Agent, Turn: at.Turn, Try: at.Try, Flag: label.Flag, Candidates: label.Candidates,
		Wire: string(a.wire), Model: a.model, Tools: a.tools, Params: a.params, Messages: a.messages,
	}
	return &delivery{live: &liveCall{playback: p, req: req, exchange: e, told: x}}
}

// roundTrip passes the request on.
func (c *liveCall) roundTrip() (*http.Response, error) {
	p := c.playback
	c.shot = &shot{
		recorder: &Recorder{
			fold: p.replay.options.Fold, redact: p.replay.options.Redact, now: p.now, start: p.now(), maxBody: runtime.DefaultMaxBytes,
		},
		req: c.req, start: p.now(), length: -1,
	}
	resp, err := p.options.Live.RoundTrip(c.req)
	if err != nil {
		if c.told != nil {
			c.told.Failed()
		}
		c.lost(unanswered(err))
		return nil, err
	}
	c.shot.answers(resp)
	c.at = c.req.URL
	if resp.Request != nil {
		c.at = resp.Request.URL
	}
	resp.Body = &liveBody{ReadCloser: resp.Body, call: c, reader: runtime.NewAnswerReader(c.shot.wire())}
	return resp, nil
}

// serve passes the request on and writes what comes back.
func (c *liveCall) serve(w http.ResponseWriter, r *http.Request) {
	resp, err := c.roundTrip()
	if err != nil {
		wire, _ := runtime.WireOf(r.URL.Path)
		c.playback.unreachedNow(wire, err).write(r.Context(), w)
		return
	}
	defer resp.Body.Close()
	for name, values := range resp.Header {
		w.Header()[name] = values
	}
	w.WriteHeader(resp.StatusCode)
	flush := http.NewResponseController(w)
	buf := make([]byte, 32<<10)
	for {
		n, err := resp.Body.Read(buf)
		if n > 0 {
			if _, failed := w.Write(buf[:n]); failed != nil {
				return // the client went away, which Close notes
			}
			_ = flush.Flush() // a writer that cannot flush sends it later
		}
		if err == io.EOF {
			return
		}
		if err != nil {
			panic(http.ErrAbortHandler)
		}
	}
}

// liveBody notes what is read of an answer, before its reader has it.
type liveBody struct {
	io.ReadCloser
	call   *liveCall
	split  runtime.Splitter
	reader *runtime.AnswerReader
	calls  int
	ended  bool
}

// Read implements io.Reader.
func (b *liveBody) Read(buf []byte) (int, error) {
	n, err := b.ReadCloser.Read(buf)
	if n > 0 && !b.ended {
		b.call.shot.receive(buf[:n])
		b.watch(buf[:n])
	}
	if err != nil {
		b.end(runtime.EndOf(err))
	}
	return n, err
}

// watch tells the scope of calls as they become complete, and of the end before
// the client can see it.
func (b *liveBody) watch(piece []byte) {
	if b.call.told == nil {
		return
	}
	for _, block := range b.split.Feed(piece) {
		for _, call := range b.reader.Block(block) {
			b.calls++
			b.call.told.Call(b.calls, call)
		}
		if isDone(b.call.shot.wire(), block) {
			b.end(runtime.EndDone)
			return
		}
	}
}

// Close implements io.Closer.
func (b *liveBody) Close() error {
	err := b.ReadCloser.Close()
	b.end(runtime.EndClientClosed)
	return err
}

func (b *liveBody) end(end runtime.End) {
	if !b.ended {
		b.ended = true
		b.call.keep(outcome{end: end})
	}
}

// keep makes the new exchange of what came back, if it is an answer.
func (c *liveCall) keep(o outcome) {
	why := c.unkeptWhy(o)
	if why != "" && o.end != runtime.EndClientClosed {
		c.lost(why)
	}
	if c.exchange == nil {
		return
	}
	if why != "" {
		c.told.Failed()
		return
	}
	e := c.exchange
	c.shot.fill(e, o)
	answer, err := runtime.Decode(e.Reply(), runtime.Dialect{})
	if err != nil {
		c.told.Failed()
	} else {
		c.told.Done(answer.Message, answer.ID)
	}
	p := c.playback
	p.mu.Lock()
	defer p.mu.Unlock()
	p.tries[place{Agent: e.Agent, Turn: e.Turn}]++ // asked again, it is the next try
	p.fresh = append(p.fresh, e)
	p.served = append(p.served, servedExchange{e, p.orderOf(e)})
}

// orderOf is the last recorded exchange that a new one of its agent, or of the
// agents above it, comes after.
func (p *Playback) orderOf(e *transcripts.Exchange) int {
	agent := e.Agent
	for {
		if t := p.replay.agents[agent]; t != nil {
			last := 0
			for _, recorded := range t.exchanges {
				if agent != e.Agent || placeOf(recorded).compare(placeOf(e)) < 0 {
					last = p.order[placeOf(recorded)]
				}
			}
			return last
		}
		cut := strings.LastIndexAny(string(agent), "/~")
		if cut < 0 {
			return len(p.order)
		}
		agent = agent[:cut]
	}
}
