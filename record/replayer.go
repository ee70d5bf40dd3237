package record

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/tapetree/tapetree/runtime"
	"github.com/tapetree/tapetree/transcripts"
)

// ErrMissing is in the error of a request or a call that the transcript holds
// no answer for. The report of the replayer says which and what is nearest.
var ErrMissing = errors.New("not in the transcript")

// ReplayOptions sets up a Replayer. Zero values are useful: no paths are
// folded, no rule but those that always hold is volatile, every call is answered
// from tape.
type ReplayOptions struct {
	Fold     *runtime.Folder
	Redact   *Redactor
	Volatile *Volatile
	Dialect  runtime.Dialect
	// SubDialect is that of the children's upstream; nil: Dialect.
	SubDialect *runtime.Dialect
	Live       func(tool string) bool // which tools run for real; nil: none
	Name       string                 // what `tapetree record` is given to record it again, as reports say it; "": the name in the transcript's header
	Faults     []Fault                // what goes wrong on purpose
	Rebase     bool                   // what is asked is kept for Rebased
}

// Replayer answers a session from a transcript. It is the runtime.Model of
// parent and children, their runtime.Tape, and keeps the ledger of what
// differs. Nothing in it can reach a network. It serves one session and is safe
// for concurrent use by the agents of that session.
//
// A request is answered by the exchange at its agent, turn and try, whatever it
// says; then it is compared with the recorded request. Only a request that has
// no exchange left is an error.
type Replayer struct {
	file    *transcripts.File
	options ReplayOptions
	agents  map[runtime.Path]*agentTape // fixed once built
	calls   map[place]*callTape         // fixed once built
	secrets pairs
	ledger  ledger
	faults  *faults
	rebase  *rebase // nil: what is asked is not kept
	foreign bool    // the session's calls and stops are not seen: a client asks over HTTP

	mu    sync.Mutex // guards what follows and the use of callTapes
	taped map[place]bool
	asked map[place]bool // questions already found to have no answer
	stops map[runtime.Path]runtime.StopReason
	// broken: a miss or a fault of ours ended the session, so that what did not
	// happen afterwards says nothing.
	broken bool
	missed map[place]bool // turns already found to have no exchange left

	allow map[string]bool // tools that the recorded person allowed at least once; fixed once built
}

// agentTape is what the transcript holds of one agent, and how far it is used.
type agentTape struct {
	mu        sync.Mutex
	exchanges []*transcripts.Exchange // by turn and try
	index     map[[2]int]int          // of the first exchange of a turn and try
	used      []bool
	first     int // the exchanges before this one are used
	comparer  comparer
	trouble   *trouble // the first history difference
	reported  map[string]bool
	late      bool // asked out of order, and said so

	faulted map[int]int  // by turn: the tries that a fault answered or spoilt
	spoilt  map[int]bool // by exchange: a fault spoilt its answer, and it has not been asked for again
}

// callTape is one tool line.
type callTape struct {
	line *transcripts.Call
	used bool
}

// NewReplayer prepares f for one replay. It fails on nothing that Parse lets
// through: what is wrong with the recording becomes a finding.
func NewReplayer(f *transcripts.File, o ReplayOptions) (*Replayer, error) {
	if f == nil {
		return nil, errors.New("replay: no transcript given")
	}
	if o.Redact == nil {
		o.Redact = NewRedactor(nil)
	}
	if o.Volatile == nil {
		var err error
		if o.Volatile, err = ParseVolatile(nil); err != nil {
			return nil, err
		}
	}
	if o.Name == "" {
		o.Name = f.Header.Name
	}
	r := &Replayer{
		file: f, options: o,
		agents: map[runtime.Path]*agentTape{},
		calls:  map[place]*callTape{},
		faults: newFaults(o.Faults),
		ledger: ledger{uses: map[string]int{}, verdicts: map[place]bool{}},
		taped:  map[place]bool{}, asked: map[place]bool{},
		stops: map[runtime.Path]runtime.StopReason{},
		allow: map[string]bool{}, missed: map[place]bool{},
	}
	if o.Rebase {
		r.rebase = newRebase()
	}
	r.loadExchanges()
	r.loadCalls()
	return r, nil
}

func (r *Replayer) loadExchanges() {
	for _, e := range r.file.Exchanges {
		t := r.agents[e.Agent]
		if t == nil {
			t = &agentTape{reported: map[string]bool{}, faulted: map[int]int{}, spoilt: map[int]bool{}}
			t.comparer = comparer{fold: r.options.Fold, redact: r.options.Redact, rules: r.options.Volatile, secrets: &r.secrets, agent: e.Agent, pairs: r.rebase != nil}
			r.agents[e.Agent] = t
		}
		if n := len(t.exchanges); n > 0 && compareExchanges(t.exchanges[n-1], e) > 0 && !t.late {
			t.late = true
			r.ledger.add(placeOf(e), codeOrder, fmt.Sprintf("exchange %s stands after %s in the file", exchangeName(e), exchangeName(t.exchanges[n-1])), "")
		}
		t.exchanges = append(t.exchanges, e)
	}
	for _, t := range r.agents {
		slices.SortStableFunc(t.exchanges, compareExchanges)
		t.used = make([]bool, len(t.exchanges))
		t.index = make(map[[2]int]int, len(t.exchanges))
		for i, e := range slices.Backward(t.exchanges) {
			t.index[[2]int{e.Turn, e.Try}] = i
		}
		t.late = false
	}
}

func (r *Replayer) loadCalls() {
	for _, line := range r.file.Calls {
		at := place{Agent: line.Agent, Turn: line.Turn, Call: line.Call}
		if r.calls[at] != nil {
			r.ledger.add(at, codeExtra, fmt.Sprintf("a second tool line for call %s (%s:%d)", callName(at), r.file.Path, line.Line), "")
			continue
		}
		r.calls[at] = &callTape{line: line}
		if line.Verdict == runtime.VerdictAskAllow {
			r.allow[line.Name] = true
		}
	}
}

// compareExchanges orders the exchanges of one agent.
func compareExchanges(a, b *transcripts.Exchange) int {
	return cmp.Or(cmp.Compare(a.Turn, b.Turn), cmp.Compare(a.Try, b.Try))
}

func placeOf(e *transcripts.Exchange) place {
	return place{Agent: e.Agent, Turn: e.Turn, Try: e.Try}
}

func callName(at place) string { return fmt.Sprintf("%s#%d.%d", at.Agent, at.Turn, at.Call) }

// Complete answers req from the exchange at its place. An upstream's fault
// that was recorded, or is one of the Faults, comes back as the same
// *runtime.UpstreamError; a request with no exchange left is an error that holds
// ErrMissing.
func (r *Replayer) Complete(ctx context.Context, req *runtime.Request) (*runtime.Answer, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	at := place{Agent: req.Place.Agent, Turn: req.Place.Turn, Try: max(1, req.Place.Try)}
	given, err := r.answer(at, askedBy(req))
	if err != nil {
		return nil, err
	}
	if err := wait(ctx, given.wait); err != nil {
		return nil, err
	}
	return runtime.Decode(expandReply(r.options.Fold, given.exchange), r.dialect(at.Agent))
}

// wait returns after d, or with the error of ctx when that ends first.
func wait(ctx context.Context, d time.Duration) error {
	if d <= 0 {
		return nil
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// given is what a request is answered with.
type given struct {
	exchange *transcripts.Exchange // the recorded one, or what a fault made of it
	recorded *transcripts.Exchange // the one that was used up; nil: a fault answered instead
	wait     time.Duration         // before the answer comes
	messages runtime.View          // see comparison.messages
}

// answer finds what a request at a place is answered with: the exchange there,
// with what goes wrong on purpose. Tries that a fault answered are not counted:
// the next one meets the exchange that is due.
func (r *Replayer) answer(at place, a *asking) (given, error) {
	t := r.agents[at.Agent]
	if t == nil {
		return given{}, r.miss(at, nil, a, "no exchange of this agent was recorded")
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	r.faults.ask(at)
	at.Try -= t.faulted[at.Turn]
	i, found := t.index[[2]int{at.Turn, at.Try}]
	if !found {
		return given{}, r.miss(at, t, a, "the agent asks once more than was recorded")
	}
	last := i == len(t.exchanges)-1
	wait, instead := r.faults.before(at, t.exchanges[i], last)
	if instead != nil {
		t.faulted[at.Turn]++
		return given{exchange: instead, wait: wait}, nil
	}
	if t.used[i] && t.spoilt[i] { // its answer had been spoilt: now it comes whole
		t.spoilt[i] = false
		r.faults.changed(at.Agent, -1)
		return given{exchange: t.exchanges[i], recorded: t.exchanges[i], wait: wait, messages: r.grade(t, t.exchanges[i], a).messages}, nil
	}
	e, messages, err := r.use(t, at, a)
	if err != nil {
		return given{}, err
	}
	out := given{exchange: e, recorded: e, wait: wait, messages: messages}
	if spoilt, changed := r.faults.spoil(at, e, last); changed {
		out.exchange = spoilt
		t.faulted[at.Turn]++
		t.spoilt[i] = true
		r.faults.changed(at.Agent, 1)
	}
	return out, nil
}

// dialect is how an agent's answers are read.
func (r *Replayer) dialect(agent runtime.Path) runtime.Dialect {
	if r.options.SubDialect != nil && agent.Depth() > 0 {
		return *r.options.SubDialect
	}
	return r.options.Dialect
}

// take uses up the exchange at a place and compares its request.
func (r *Replayer) take(t *agentTape, at place, a *asking) (*transcripts.Exchange, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	e, _, err := r.use(t, at, a)
	return e, err
}

// use is take with the agent's lock held. It also returns the messages as they
// are kept.
func (r *Replayer) use(t *agentTape, at place, a *asking) (*transcripts.Exchange, runtime.View, error) {
	i, found := t.index[[2]int{at.Turn, at.Try}]
	switch {
	case !found:
		return nil, runtime.View{}, r.miss(at, t, a, "the agent asks once more than was recorded")
	case t.used[i]:
		return nil, runtime.View{}, r.miss(at, t, a, fmt.Sprintf("exchange %s was already used", exchangeName(t.exchanges[i])))
	}
	t.used[i] = true
	r.checkOrder(t, i)
	c := r.grade(t, t.exchanges[i], a)
	return t.exchanges[i], c.messages, nil
}

// checkOrder enters, once for each agent, that an earlier exchange was passed
// over. The agent's lock is held.
func (r *Replayer) checkOrder(t *agentTape, i int) {
	for t.first < len(t.used) && t.used[t.first] {
		t.first++
	}
	if t.first >= i || t.late {
		return
	}
	t.late = true
	e, skipped := t.exchanges[i], t.exchanges[t.first]
	r.ledger.add(placeOf(e), codeOrder, fmt.Sprintf("exchange %s was asked for before %s", exchangeName(e), exchangeName(skipped)), "")
}

// breakOff notes that the session ends here.
func (r *Replayer) breakOff() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.broken = true
}

// FaultNotes says of each of the Faults what came of it: where it was applied,
// and how the agent went on.
func (r *Replayer) FaultNotes() []string {
	notes := append(r.faults.notes(), r.followed()...)
	for i, note := range notes { // the words of an error are the user's
		notes[i] = r.options.Redact.Mask(note)
	}
	return notes
}
