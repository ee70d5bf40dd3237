package record

import (
	"bytes"
	"crypto/sha256"
	"slices"
	"sync"

	"github.com/tapetree/tapetree/record/attribution"
	"github.com/tapetree/tapetree/runtime"
)

// tap finds out which agents the requests of a client belong to that does not
// say so. It reads each request beside its way to the upstream, one after
// another in the order in which they came, and looks at the answers that are
// under way whenever a new request comes: what the client has seen of them is
// then part of what decides.
type tap struct {
	recorder *Recorder
	scope    *attribution.Scope
	echoes   *echoes

	mu            sync.Mutex
	last          chan struct{} // closed when every request so far has been placed
	waiting       []*tapped     // requests that nobody has begun to read
	conversations []*conversation
	flying        []*shot                    // model requests whose answer is not known yet, in order
	recorded      map[runtime.Place]recorded // by their first places
	begun         bool                       // a model request came
	client        string                     // its User-Agent
}

// recorded is an exchange that stands in the transcript.
type recorded struct {
	exchange *attribution.Exchange
	upstream string // "": none was reached
}

// conversation is what is remembered of one thread of the scope.
type conversation struct {
	wire   runtime.Wire
	thread thread           // its last request
	log    *attribution.Log // of that request
	tools  string           // digest of its tool list
	answer *runtime.Message // of that request, in placeholder form; nil: none that is whole
}

// sight is what had come of an answer when a later request came.
type sight struct {
	of    *shot
	bytes int64 // of the body; -1: not even its head
	gone  bool  // the client had gone away
}

// tapped is what the tap knows of one request.
type tapped struct {
	start    chan struct{} // closed when it is to be read
	started  bool          // this answer has seen to that
	placed   chan struct{} // closed when it is known whether this is a model request, and whose
	agent    runtime.Path  // as the client says
	sights   []sight       // the answers under way when it came
	exchange *attribution.Exchange
	asked    *request // nil: no request of its wire
	told     *conversation
	upstream string

	split   runtime.Splitter
	reader  *runtime.AnswerReader
	fed     int  // bytes of the body that split has
	calls   int  // that the scope knows of
	over    bool // the answer may be whole
	settled bool // the scope knows how it ended
}

func newTap(r *Recorder, o attribution.Options) *tap {
	placed := make(chan struct{})
	close(placed)
	return &tap{
		recorder: r, scope: attribution.New(o), echoes: newEchoes(), last: placed,
		recorded: map[runtime.Place]recorded{},
	}
}

// enter takes a request. It is read only when the first bytes of its answer have
// passed, which so never wait for it, or when an exchange ends that was under
// way when it came: what that says must not bear on what came before.
func (t *tap) enter(s *shot, agent runtime.Path) {
	s.tapped = &tapped{start: make(chan struct{}), placed: make(chan struct{}), agent: agent}
	t.mu.Lock()
	defer t.mu.Unlock()
	before := t.last
	t.last = s.tapped.placed
	t.waiting = append(t.waiting, s.tapped)
	for _, flying := range t.flying {
		s.tapped.sights = append(s.tapped.sights, sight{flying, flying.progress.Load(), flying.req.Context().Err() != nil})
	}
	t.flying = append(t.flying, s)
	go func() {
		defer close(s.tapped.placed)
		<-before
		<-s.tapped.start
		t.place(s)
	}()
}

// start has every request read that has come so far, and returns a channel that
// is closed when that is done.
func (t *tap) start() <-chan struct{} {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, w := range t.waiting {
		close(w.start)
	}
	t.waiting = nil
	return t.last
}

// passes has the request of an answer read of which the first bytes have passed.
func (s *shot) passes() {
	if s.tapped != nil && !s.tapped.started {
		s.tapped.started = true
		s.recorder.tap.start()
	}
}

// ends returns when every request has been placed that came before the end of
// this exchange. The lock must not be held: placing looks at this answer too.
func (s *shot) ends() {
	if s.tapped != nil {
		<-s.recorder.tap.start()
	}
}

// place reads a request and has it attributed. Only one runs at a time.
func (t *tap) place(s *shot) {
	sights := s.tapped.sights
	s.tapped.sights = nil
	wire := s.wire()
	body, instead := decode(s.req.Header, s.body, t.recorder.maxBody)
	if instead != "" {
		t.land(s)
		return
	}
	base := t.base(wire, body)
	p, err := parseRequest(&base.thread, wire, body, t.recorder.normal)
	if err != nil {
		t.land(s)
		return
	}
	for _, flying := range sights {
		// A client that gives a request up asks it again at once, often before its
		// connection has told us.
		flying.gone = flying.gone || flying.of.givenUp(s.body)
		flying.of.catchUp(flying)
	}
	chat, known := p.chatForm()
	tools := base.toolsDigest(p)
	sum := sha256.Sum256(body)
	x := t.scope.Begin(&attribution.Request{
		Messages: chat, Base: base.log, Known: known, Tools: tools, Body: string(sum[:]),
		Header: s.req.Header, Agent: s.tapped.agent, Previous: previousOf(p),
	})
	s.tapped.exchange, s.tapped.reader = x, runtime.NewAnswerReader(wire)
	t.mu.Lock()
	defer t.mu.Unlock()
	c := t.conversation(x.Thread)
	if x.Opening || x.First.Try > 1 { // asked again, no answer is sent back
		c.answer = nil
	}
	t.echoes.compare(x.Thread, wire, c.answer, len(c.thread.chat), sharedLen(c, base, known, chat), chat)
	c.wire, c.log, c.tools, c.answer = wire, x.Log, tools, nil
	s.tapped.asked, s.tapped.told = p.keep(&c.thread), c
	if !t.begun {
		t.begun, t.client = true, s.req.Header.Get("User-Agent")
	}
}

// sharedLen is how many messages of the conversation's last request a new one
// begins with. It need not be the conversation that the new one was read on.
func sharedLen(c, base *conversation, known int, chat []runtime.Message) int {
	if c == base {
		return known
	}
	n := 0
	for n < min(len(chat), len(c.thread.chat)) && bytes.Equal(chat[n].Raw, c.thread.chat[n].Raw) {
		n++
	}
	return n
}

// base returns the conversation of the wire that begins with the most bytes of a
// request's, one without anything if none does.
func (t *tap) base(wire runtime.Wire, body []byte) *conversation {
	best, most := &conversation{}, 0
	list := listText(wire, body)
	t.mu.Lock()
	conversations := slices.Clone(t.conversations)
	t.mu.Unlock()
	for _, c := range conversations {
		if c.wire != wire || len(c.thread.list) < most {
			continue
		}
		if same := sameBytes(list, c.thread.list); same > most {
			best, most = c, same
		}
	}
	return best
}

// toolsDigest is the digest of a request's tools, "" for none.
func (c *conversation) toolsDigest(p *bodyParser) string {
	switch {
	case p.toolsSent == nil:
		return ""
	case c.tools != "" && len(p.toolsSent) == len(c.thread.toolsSent) && &p.toolsSent[0] == &c.thread.toolsSent[0]:
		return c.tools // the parser has found them equal
	}
	sum := sha256.Sum256(p.toolsSent)
	return string(sum[:])
}

// previousOf is the answer that a request goes on from, on the wire where the
// server keeps the conversation.
func previousOf(p *bodyParser) string {
	if p.request.wire != runtime.WireResponses {
		return ""
	}
	for _, param := range p.request.params {
		if param.Name == "previous_response_id" {
			if n, err := parseNode(param.Value); err == nil {
				return n.text
			}
		}
	}
	return ""
}

// conversation returns that of a thread. The lock is held.
func (t *tap) conversation(number attribution.Thread) *conversation {
	for len(t.conversations) <= int(number) {
		t.conversations = append(t.conversations, &conversation{})
	}
	return t.conversations[number]
}

// land takes a request off the list of those under way.
func (t *tap) land(s *shot) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if i := slices.Index(t.flying, s); i >= 0 {
		t.flying = slices.Delete(t.flying, i, i+1)
	}
}
