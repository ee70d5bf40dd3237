package record

import (
	"context"
	"slices"
	"strings"

	"github.com/tapetree/tapetree/runtime"
	"github.com/tapetree/tapetree/transcripts"
)

// gate is the recorded order of the calls that run for real, where one of them
// can change something. The zero value orders nothing.
type gate struct {
	events []gateEvent
	starts map[place]int // where in events a call starts
	ends   map[place]int
	next   int // what comes before has happened, or cannot happen any more
	change int // the same of calls that change something
}

// gateEvent is the start or end of a call.
type gateEvent struct {
	at    place
	reads bool // the call changes nothing
	gone  bool // it has happened, or cannot happen any more
}

// newGate takes the order from the timing line. The tools in parallel change
// nothing. A call that stands there twice counts once.
func newGate(file *transcripts.File, live func(string) bool, parallel []string) gate {
	g := gate{starts: map[place]int{}, ends: map[place]int{}}
	if file == nil || file.Timing == nil || live == nil {
		return g
	}
	reads := map[place]bool{}
	calls := map[string]place{}
	changes := false
	for _, line := range file.Calls {
		if !ran(line) || line.Name == runtime.TaskToolName || !live(line.Name) {
			continue
		}
		at := place{Agent: line.Agent, Turn: line.Turn, Call: line.Call}
		calls[callName(at)] = at
		reads[at] = slices.Contains(parallel, line.Name)
		changes = changes || !reads[at]
	}
	if !changes {
		return g
	}
	for _, entry := range file.Timing.Order {
		if entry == "" {
			continue
		}
		at, known := calls[entry[1:]]
		index := map[byte]map[place]int{'+': g.starts, '-': g.ends}[entry[0]]
		if _, twice := index[at]; !known || index == nil || twice {
			continue
		}
		index[at] = len(g.events)
		g.events = append(g.events, gateEvent{at: at, reads: reads[at]})
	}
	return g
}

// ran reports whether the handler of a recorded call ran.
func ran(line *transcripts.Call) bool {
	return line.Verdict == "" || line.Verdict.Class() == "allowed" || line.Verdict == runtime.VerdictInterrupted
}

// Enter waits until every start and end that was recorded before this call's
// start has happened or cannot happen any more, and leave waits the same way
// for what was recorded before its end. A call that the order does not have
// waits for nothing. The error is that of ctx.
func (s *Schedule) Enter(ctx context.Context, at runtime.Place, call runtime.CallRecord) (leave func(), err error) {
	here := place{Agent: at.Agent, Turn: at.Turn, Call: call.Number}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.pass(ctx.Done(), s.gate.starts, here)
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	return func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.pass(nil, s.gate.ends, here) // Bind frees it
	}, nil
}

// readInTurn waits until what was recorded before this call's start and changed
// something has happened or cannot happen any more. Calls that change something
// wait at Enter. The lock is held.
func (s *Schedule) readInTurn(here place) {
	if event, ordered := s.gate.starts[here]; ordered && s.gate.events[event].reads {
		s.pass(nil, s.gate.starts, here) // Bind frees it
	}
}

// pass waits for the turn of an event, or until done is closed, and notes that
// the event has happened. The lock is held, but not while it waits.
func (s *Schedule) pass(done <-chan struct{}, index map[place]int, here place) {
	event, ordered := index[here]
	if !ordered || s.free {
		return
	}
	a := s.actor(here.Agent)
	h := s.wait(&s.gated, &hold{actor: a, call: a.call(here.Call), event: event, ended: done})
	s.mu.Unlock()
	select {
	case <-h.ready:
	case <-done:
		s.giveUp(&s.gated, h)
	}
	s.mu.Lock()
	s.gate.events[event].gone = true
	s.step()
}

// passGate lets all calls go whose turn has come. The lock is held.
func (s *Schedule) passGate() {
	s.gate.advance()
	for i := 0; i < len(s.gated); {
		if s.gate.due(s.gated[i].event) {
			s.letGo(&s.gated, i)
		} else {
			i++
		}
	}
}

// earliest is the call that was recorded first.
func earliest(gated []*hold) int {
	first := 0
	for i, h := range gated {
		if h.event < gated[first].event {
			first = i
		}
	}
	return first
}

func (g *gate) advance() {
	for g.next < len(g.events) && g.events[g.next].gone {
		g.next++
	}
	for g.change < len(g.events) && (g.events[g.change].gone || g.events[g.change].reads) {
		g.change++
	}
}

// due reports whether nothing that has to come before an event is outstanding.
func (g *gate) due(event int) bool {
	if g.events[event].reads {
		return event < g.change || g.change == len(g.events)
	}
	return event <= g.next
}

// callEnded notes that nothing more comes of a call, nor of an agent that it
// would have started.
func (g *gate) callEnded(at place) {
	if len(g.events) == 0 {
		return
	}
	for _, index := range []map[place]int{g.starts, g.ends} {
		if event, ordered := index[at]; ordered {
			g.events[event].gone = true
		}
	}
	g.agentEnded(at.Agent.Child(at.Turn, at.Call))
}

// agentEnded notes that nothing more comes of an agent and those below it.
func (g *gate) agentEnded(path runtime.Path) {
	g.forget(func(at place) bool {
		return at.Agent == path || strings.HasPrefix(string(at.Agent), string(path)+"/")
	})
}

// passedTurn notes that an agent has come to a turn: calls of earlier turns that
// it has not made it will not make.
func (g *gate) passedTurn(path runtime.Path, turn int) {
	g.forget(func(at place) bool { return at.Agent == path && at.Turn < turn })
}

func (g *gate) forget(gone func(place) bool) {
	for i := g.next; i < len(g.events); i++ {
		if !g.events[i].gone && gone(g.events[i].at) {
			g.events[i].gone = true
		}
	}
}
