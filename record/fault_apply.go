package record

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/tapetree/tapetree/runtime"
	"github.com/tapetree/tapetree/transcripts"
)

// faults applies what goes wrong on purpose, and remembers how the agents went
// on. The zero value has none. It is safe for concurrent use.
type faults struct {
	list []Fault

	mu    sync.Mutex
	uses  map[faultAt]*faultUse
	asked map[runtime.Path][]int // the turns of all requests, in the order in which they came
	taken map[runtime.Path]int   // the changed answers that an agent got and has not asked for again
}

// faultAt is a fault, by its position, at a turn.
type faultAt struct {
	fault int
	agent runtime.Path
	turn  int
}

// faultUse is what came of a fault at a turn.
type faultUse struct {
	times int
	why   string // it could not be applied
	after int    // how many requests of the agent there had been with the last use
	last  bool   // it was the agent's last recorded turn, and its answer stayed whole
}

func newFaults(list []Fault) *faults {
	return &faults{list: list, uses: map[faultAt]*faultUse{}, asked: map[runtime.Path][]int{}, taken: map[runtime.Path]int{}}
}

// ask notes a request.
func (f *faults) ask(at place) {
	if len(f.list) == 0 {
		return
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.asked[at.Agent] = append(f.asked[at.Agent], at.Turn)
}

// use returns what is known of a fault at a turn. The lock is held.
func (f *faults) use(fault int, at place) *faultUse {
	key := faultAt{fault, at.Agent, at.Turn}
	if f.uses[key] == nil {
		f.uses[key] = &faultUse{}
	}
	return f.uses[key]
}

// applied notes that a fault was applied once more. The lock is held.
func (f *faults) applied(fault int, at place, last bool) {
	u := f.use(fault, at)
	u.times++
	u.after, u.last = len(f.asked[at.Agent]), last
}

// before returns what goes wrong before the answer of a turn: a wait, and the
// exchange that stands in for the recorded one; nil: none.
func (f *faults) before(at place, e *transcripts.Exchange, last bool) (time.Duration, *transcripts.Exchange) {
	f.mu.Lock()
	defer f.mu.Unlock()
	var wait time.Duration
	for i, fault := range f.list {
		if !fault.meets(at) {
			continue
		}
		switch fault.Kind {
		case FaultDelay:
			wait += fault.Delay
			f.applied(i, at, last)
		case FaultStatus:
			if f.use(i, at).times < fault.Times {
				f.applied(i, at, false)
				return wait, fault.answer(e)
			}
		}
	}
	return wait, nil
}

// spoil applies the faults of a turn that change bytes; changed is false when
// there are none, or none could be applied.
func (f *faults) spoil(at place, e *transcripts.Exchange, last bool) (spoilt *transcripts.Exchange, changed bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for i, fault := range f.list {
		if !fault.meets(at) || fault.Kind == FaultDelay || fault.Kind == FaultStatus {
			continue
		}
		after, why := fault.spoil(e)
		if why != "" {
			f.use(i, at).why = why
			continue
		}
		_, failed := runtime.Decode(after.Reply(), runtime.Dialect{})
		f.applied(i, at, last && failed == nil)
		e, changed = after, true
	}
	return e, changed
}

// answer is what a status fault gives in the place of a recorded exchange.
func (f Fault) answer(e *transcripts.Exchange) *transcripts.Exchange {
	failed := *e
	failed.SSE, failed.Text, failed.Base64, failed.Err, failed.StreamEnd, failed.Recut = nil, nil, nil, "", "", false
	failed.Status = f.Status
	failed.Headers = []transcripts.Member{{Name: "content-type", Value: quoted("application/json")}}
	if f.RetryAfter != "" {
		failed.Headers = append(failed.Headers, transcripts.Member{Name: "retry-after", Value: quoted(f.RetryAfter)})
	}
	kind, anthropic := "server_error", "api_error"
	switch f.Status {
	case 429:
		kind, anthropic = "rate_limit_exceeded", "rate_limit_error"
	case 503, 529:
		anthropic = "overloaded_error"
	}
	failed.Response = errorBody(wireOf(e), kind, anthropic, faultMessage)
	return &failed
}

// idle lists the faults that nothing came of: no such turn was asked for, or none
// of the answers could be spoilt so.
func (f *faults) idle() []note {
	f.mu.Lock()
	defer f.mu.Unlock()
	var list []note
	for i, fault := range f.list {
		if f.wasApplied(i) {
			continue
		}
		at, why := place{Agent: fault.Agent, Turn: fault.Turn}, "never met, no such turn was asked for"
		for _, key := range f.order() {
			if u := f.uses[key]; key.fault == i && u.why != "" {
				at, why = place{Agent: key.agent, Turn: key.turn}, "not applied, "+u.why
				break
			}
		}
		message := fmt.Sprintf("fault %s: %s", fault, why)
		list = append(list, note{at: at, finding: Finding{Code: codeFault, Agent: at.Agent, Turn: at.Turn, Message: message}})
	}
	return list
}

// wasApplied reports whether a fault was applied anywhere. The lock is held.
func (f *faults) wasApplied(fault int) bool {
	for key, u := range f.uses {
		if key.fault == fault && u.times > 0 {
			return true
		}
	}
	return false
}

// order lists the uses in the order of the faults, then of the places. The lock
// is held.
func (f *faults) order() []faultAt {
	return slices.SortedFunc(maps.Keys(f.uses), func(a, b faultAt) int {
		return cmp.Or(cmp.Compare(a.fault, b.fault), place{Agent: a.agent, Turn: a.turn}.compare(place{Agent: b.agent, Turn: b.turn}))
	})
}

// notes says of each fault that was applied what came of it, in the order of the
// faults, then of the places.
func (f *faults) notes() []string {
	f.mu.Lock()
	defer f.mu.Unlock()
	order := f.order()
	var lines []string
	for i, fault := range f.list {
		if !f.wasApplied(i) {
			continue // it is a finding
		}
		for _, key := range order {
			if u := f.uses[key]; key.fault == i && (u.times > 0 || u.why != "") {
				lines = append(lines, fmt.Sprintf("fault %s#%d %s: %s", key.agent, key.turn, fault.what(), f.outcome(key, u)))
			}
		}
	}
	return lines
}

// outcome says how an agent went on after a fault. The lock is held.
func (f *faults) outcome(key faultAt, u *faultUse) string {
	if u.times == 0 {
		return "not applied, " + u.why
	}
	text := "applied; "
	if u.times > 1 {
		text = fmt.Sprintf("applied to %s; ", counted(u.times, "request"))
	}
	again, on := 0, false
	for _, turn := range f.asked[key.agent][u.after:] {
		if turn == key.turn && !on {
			again++
		}
		on = on || turn != key.turn
	}
	switch {
	case again > 0 && on:
		return text + "the agent asked again and went on"
	case again > 0:
		return text + "the agent asked again"
	case on:
		return text + "the agent went on"
	case u.last:
		return text + "the agent was done"
	default:
		return text + "the agent stopped"
	}
}
