package record

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"sync"
	"time"

	"github.com/tapetree/tapetree/record/attribution"
	"github.com/tapetree/tapetree/runtime"
	"github.com/tapetree/tapetree/transcripts"
)

// PlaybackOptions sets up a Playback.
type PlaybackOptions struct {
	ReplayOptions
	Attribute attribution.Options
	// Speed is 0 to answer at once, 1 to answer as fast as recorded, 2 twice as
	// fast. At 0 a recorded Retry-After is 0 too.
	Speed float64
	// Live answers what the transcript has no answer for; nil: such a request
	// is refused. It gets the request as the client sent it, without
	// X-Tapetree-Agent.
	Live http.RoundTripper
	// Strict makes a request for a path that was not recorded a finding.
	Strict bool
}

// PlaybackReport is what a playback found.
type PlaybackReport struct {
	*Report
	// Session is what the client asked, under the recorded agents' paths, with
	// the answers it was given, in placeholder form.
	Session *transcripts.File
	// Notes are lines for a person: twins, faults and how the client went on,
	// what it changed in answers that it sent back.
	Notes []string
	// New are the exchanges that Live answered with a status of 2xx, in order of
	// their places. Its errors pass to the client, and are in Notes.
	New []*transcripts.Exchange

	replay *Replayer
}

// Rebased is Replayer.Rebased of the session.
func (r *PlaybackReport) Rebased() (*Rebased, error) { return r.replay.Rebased() }

// Playback answers one session of a client of any kind from a transcript: it is
// the server that the client talks to, and an http.RoundTripper that needs none.
// Which recorded agent a request comes from is told by what it says (see
// attribution) and by what the recorded agents said first; it is then answered
// and judged as by a Replayer. A request with no exchange left gets an error of
// status 400 that says what is missing; others are served all the same. It is
// safe for concurrent use.
type Playback struct {
	replay  *Replayer
	options PlaybackOptions
	times   map[place]transcripts.ExchangeTime
	order   map[place]int // of the recorded exchanges
	others  *httpTape
	now     func() time.Time
	sleep   func(context.Context, time.Duration) error

	mu      sync.Mutex
	tap     *tap
	placing *placing
	tries   map[place]int // by agent and turn: the requests so far
	served  []servedExchange
	fresh   []*transcripts.Exchange
	lost    []string // what Live gave no answer for, and why
	started bool
	left    int // exchanges not yet used
	closed  bool
}

// NewPlayback prepares f for one session. What is wrong with the recording
// becomes a finding.
func NewPlayback(f *transcripts.File, o PlaybackOptions) (*Playback, error) {
	r, err := NewReplayer(f, o.ReplayOptions)
	if err != nil {
		return nil, err
	}
	if o.Speed < 0 {
		return nil, fmt.Errorf("replay %s: speed %g is below 0; 0 answers at once, 1 as recorded", f.Path, o.Speed)
	}
	r.foreign = true
	p := &Playback{
		replay: r, options: o, times: map[place]transcripts.ExchangeTime{}, order: map[place]int{}, others: newHTTPTape(f),
		now: time.Now, sleep: wait,
		tap: newTap(nil, o.Attribute), placing: newPlacing(r), tries: map[place]int{}, left: len(f.Exchanges),
	}
	for i, e := range f.Exchanges {
		p.order[placeOf(e)] = i
	}
	if f.Timing != nil {
		for _, t := range f.Timing.Exchanges {
			p.times[place{Agent: t.Agent, Turn: t.Turn, Try: max(1, t.Try)}] = t
		}
	}
	if t := findTwins(f, p.placing.openings, r.dialect); t != nil {
		for _, tape := range r.agents {
			tape.comparer.twins = t
		}
		p.placing.twins = t
	}
	p.unkept()
	return p, nil
}

// errClosed is the error of a request to a playback that has been closed.
var errClosed = errors.New("the replay has ended")

// maxRequestBody is how large a decoded request body may be.
const maxRequestBody = runtime.DefaultMaxBytes

// deliver decides what a request is answered with. An error is the client's or
// the connection's: a *BodyError or a *RefusedError.
func (p *Playback) deliver(req *http.Request) (*delivery, error) {
	start := p.now()
	p.replay.options.Redact.Learn(req.Header, req.URL.String())
	said, err := namedAgent(req.Header)
	if err != nil {
		closeBody(req)
		return nil, err
	}
	if at, ok := runtime.PlaceOf(req.Context()); ok {
		said = at.Agent
	}
	sent, body, err := copyRequest(req)
	if err != nil {
		return nil, &BodyError{err}
	}
	plain, instead := decode(req.Header, body, maxRequestBody)
	var d *delivery
	if wire, known := runtime.WireOf(req.URL.Path); known && req.Method == http.MethodPost && instead == "" {
		d = p.ask(sent, wire, plain, said)
	}
	if d == nil {
		d = p.other(sent, plain)
	}
	d.playback, d.start = p, start
	return d, nil
}

// ask answers a request for a model answer; nil for a body that is none.
func (p *Playback) ask(req *http.Request, wire runtime.Wire, body []byte, said runtime.Path) *delivery {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		return refusal(wire, http.StatusServiceUnavailable, "tapetree replay: "+errClosed.Error())
	}
	x, a, err := p.read(req, wire, body, said)
	if err != nil {
		return nil
	}
	p.started = true
	agent, turn := p.placing.agentOf(x, p.tap.scope.Place(x), p.tap.scope.Threads(), said, a)
	counter := place{Agent: agent, Turn: turn}
	p.tries[counter]++
	at := place{Agent: agent, Turn: turn, Try: p.tries[counter]}
	given, err := p.answer(at, a)
	if err != nil {
		p.tries[counter]-- // asked again, it is the same place
	}
	if err != nil && p.options.Live != nil {
		return p.passOn(req, at, x, a)
	}
	if err != nil {
		x.Failed()
		return p.missed(wire, err)
	}
	p.left = p.unused()
	p.keep(at, a, given)
	return p.play(given, x)
}

// read takes a request apart, in the form of transcripts, and has it attributed.
func (p *Playback) read(req *http.Request, wire runtime.Wire, body []byte, said runtime.Path) (*attribution.Exchange, *asking, error) {
	changed := false
	normal := func(raw []byte) []byte {
		out := p.replay.normal(raw)
		changed = changed || !bytes.Equal(out, raw)
		return out
	}
	base := p.tap.base(wire, body)
	parsed, err := parseRequest(&base.thread, wire, body, normal)
	if err != nil {
		return nil, nil, err
	}
	chat, known := parsed.chatForm()
	tools := base.toolsDigest(parsed)
	sum := sha256.Sum256(body)
	x := p.tap.scope.Begin(&attribution.Request{
		Messages: chat, Base: base.log, Known: known, Tools: tools, Body: string(sum[:]),
		Header: req.Header, Agent: said, Previous: previousOf(parsed),
	})
	c := p.tap.conversation(x.Thread)
	if x.Opening || x.First.Try > 1 { // asked again, no answer is sent back
		c.answer = nil
	}
	p.tap.echoes.compare(x.Thread, wire, c.answer, len(c.thread.chat), sharedLen(c, base, known, chat), chat)
	c.wire, c.log, c.tools, c.answer = wire, x.Log, tools, nil
	a := &asking{request: parsed.keep(&c.thread), folded: true, changed: changed}
	a.model = p.replay.options.Redact.member("model", a.model)
	return x, a, nil
}

// normal brings live JSON into the form that transcripts hold.
func (r *Replayer) normal(raw []byte) []byte {
	return r.options.Redact.JSON(r.options.Fold.FoldJSON(raw))
}

// answer is Replayer.answer for a client that may ask on another wire than was
// recorded.
func (p *Playback) answer(at place, a *asking) (given, error) {
	if t := p.replay.agents[at.Agent]; t != nil && wireOf(t.exchanges[0]) != a.wire {
		t.mu.Lock()
		defer t.mu.Unlock()
		return given{}, p.replay.miss(at, t, a, fmt.Sprintf("it asks on the wire %s, recorded is %s", a.wire, wireOf(t.exchanges[0])))
	}
	return p.replay.answer(at, a)
}

// unused counts the exchanges that nobody has asked for.
func (p *Playback) unused() int {
	n := 0
	for _, t := range p.replay.agents {
		t.mu.Lock()
		for _, used := range t.used {
			if !used {
				n++
			}
		}
		t.mu.Unlock()
	}
	return n
}

// keep notes what was asked and given, for the session. The lock is held.
func (p *Playback) keep(at place, a *asking, g given) {
	e := *g.exchange
	e.Line, e.Agent, e.Turn, e.Try = 0, at.Agent, at.Turn, at.Try
	e.Model, e.Tools, e.Params, e.Messages = a.model, a.tools, a.params, g.messages
	if g.recorded == nil {
		e.Messages = a.messages
	}
	p.served = append(p.served, servedExchange{&e, p.order[placeOf(g.exchange)]})
}

// servedExchange is an exchange of this session, and after which one of the
// recorded ones it stands in order.
type servedExchange struct {
	*transcripts.Exchange
	order int
}

// Close ends the session and sums it up. Requests that come later are refused;
// those under way go on.
func (p *Playback) Close() (*PlaybackReport, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.closed = true
	report := &PlaybackReport{Report: p.replay.Report(), Session: p.session(), replay: p.replay}
	report.New = slices.Clone(p.fresh)
	slices.SortStableFunc(report.New, func(a, b *transcripts.Exchange) int { return placeOf(a).compare(placeOf(b)) })
	report.Notes = append(report.Notes, p.placing.twins.notes()...)
	report.Notes = append(report.Notes, askedTwice(p.replay.file)...)
	report.Notes = append(report.Notes, p.replay.FaultNotes()...)
	report.Notes = append(report.Notes, p.lostNotes()...)
	if !p.options.Strict { // else they are findings
		report.Notes = append(report.Notes, p.others.notes()...)
	}
	labels := p.tap.scope.Threads()
	for thread := range labels {
		if known, ok := p.placing.threads[attribution.Thread(thread)]; ok {
			labels[thread].Path = known.agent
		}
	}
	report.Notes = append(report.Notes, p.tap.echoes.notes(labels)...)
	return report, nil
}

// session is the transcript of what was asked, in recorded order. The lock is
// held.
func (p *Playback) session() *transcripts.File {
	f := *p.replay.file
	f.Calls, f.Timing = nil, nil
	served := slices.Clone(p.served)
	slices.SortStableFunc(served, func(a, b servedExchange) int { return cmp.Compare(a.order, b.order) })
	f.Exchanges = nil
	for _, e := range served {
		f.Exchanges = append(f.Exchanges, e.Exchange)
	}
	f.End = &transcripts.End{Exchanges: len(f.Exchanges)}
	if p.replay.file.End != nil {
		for _, stop := range p.replay.file.End.Stops {
			if p.asRecorded(stop.Agent) {
				f.End.Stops = append(f.End.Stops, stop)
			}
		}
	}
	return &f
}

// asRecorded reports whether an agent asked all that was recorded and nothing
// went wrong with it on purpose.
func (p *Playback) asRecorded(agent runtime.Path) bool {
	t := p.replay.agents[agent]
	if t == nil {
		return false
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	return len(t.faulted) == 0 && !slices.Contains(t.used, false)
}
