package record

import (
	"slices"
	"strings"

	"github.com/tapetree/tapetree/runtime"
)

// actor is what a schedule knows of one agent that has started and not ended.
type actor struct {
	waits    int // requests that are held, or an interrupt before one
	turn     int
	calls    []act // of the turn; nil before its answer
	together bool  // the calls of the turn run together
	children int   // that are live
}

// act is one call of a turn.
type act struct {
	name           string
	started, ended bool
	child          bool // the agent it started is live
	waits          int  // it waits at the gate, or for the interrupt
}

// call returns the call with that number; nil for one that the turn has not.
func (a *actor) call(number int) *act {
	if number < 1 || number > len(a.calls) {
		return nil
	}
	return &a.calls[number-1]
}

// actor returns the agent at path. The lock is held.
func (s *Schedule) actor(path runtime.Path) *actor {
	a := s.agents[path]
	if a == nil {
		a = &actor{}
		s.agents[path] = a
	}
	return a
}

// Observe follows who runs. A call that reads waits here for its turn.
func (s *Schedule) Observe(e runtime.Event) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.follow(e)
	if e.Kind == runtime.EventCallStart {
		s.readInTurn(place{Agent: e.Agent, Turn: e.Turn, Call: e.Call.Number})
	}
}

// follow notes one event. The lock is held.
func (s *Schedule) follow(e runtime.Event) {
	switch e.Kind {
	case runtime.EventRunStart:
		s.agents[e.Agent] = &actor{}
		s.childOf(e.Agent, 1)
	case runtime.EventTurnStart:
		a := s.actor(e.Agent)
		a.turn, a.calls = e.Turn, nil
		s.gate.passedTurn(e.Agent, e.Turn)
	case runtime.EventAnswer:
		s.answered(s.actor(e.Agent), e.Answer.Message.Calls)
	case runtime.EventCallStart:
		if c := s.actor(e.Agent).call(e.Call.Number); c != nil {
			c.started = true
		}
	case runtime.EventCallEnd:
		if c := s.actor(e.Agent).call(e.Call.Number); c != nil {
			c.ended = true
		}
		s.gate.callEnded(place{Agent: e.Agent, Turn: e.Turn, Call: e.Call.Number})
	case runtime.EventRunEnd:
		delete(s.agents, e.Agent)
		s.childOf(e.Agent, -1)
		s.gate.agentEnded(e.Agent)
		s.free = s.free || e.Err != nil // calls above it end without an event
	default:
		return
	}
	s.step()
}

// answered begins the calls of a turn.
func (s *Schedule) answered(a *actor, calls []runtime.Call) {
	a.calls, a.together = make([]act, len(calls)), len(calls) > 1
	for i, call := range calls {
		a.calls[i].name = call.Name
		a.together = a.together && slices.Contains(s.parallel, call.Name)
	}
}

// childOf notes that a child of path's parent has started (1) or ended (-1).
func (s *Schedule) childOf(path runtime.Path, change int) {
	parent, turn, call, ok := path.Parent()
	a := s.agents[parent]
	if !ok || a == nil || a.turn != turn {
		return
	}
	a.children += change
	if c := a.call(call); c != nil {
		c.child = change > 0
	}
}

// running reports whether any agent goes on by itself. The lock is held.
func (s *Schedule) running() bool {
	for _, a := range s.agents {
		if a.waits == 0 && a.runs(s.jobs) {
			return true
		}
	}
	return false
}

// runs reports whether the agent, none of whose requests is held, has anything
// to do but to wait for its children and for calls that wait.
func (a *actor) runs(jobs int) bool {
	if !a.together {
		// One call after another: the one under way decides.
		i := slices.IndexFunc(a.calls, func(c act) bool { return c.started && !c.ended })
		return i < 0 || a.calls[i].waits == 0 && !a.calls[i].child
	}
	open := 0
	for i := range a.calls {
		c := &a.calls[i]
		if c.ended {
			continue
		}
		open++
		// A child that has not started waits for one of those that are live.
		full := a.children >= jobs && c.name == runtime.TaskToolName
		if c.waits == 0 && !c.child && !full {
			return true
		}
	}
	return open == 0
}

// baseOf is the agent that path is, or whose side conversation it is.
func baseOf(path runtime.Path) runtime.Path {
	base, _, _ := strings.Cut(string(path), "~")
	return runtime.Path(base)
}
