package scenarios

import (
	"context"

	"github.com/tapetree/tapetree/record"
	"github.com/tapetree/tapetree/runtime"
)

// observe returns an observer that cancels the session at the interrupt's
// place, before the agent goes on and after all other agents have come as far
// as they can. A nil interrupt never cancels.
func (i *Interrupt) observe(schedule *record.Schedule, cancel context.CancelFunc) runtime.Observer {
	return func(e runtime.Event) {
		switch {
		case i == nil || e.Agent != i.Agent || e.Turn != i.Turn:
		case i.Call == 0 && e.Kind == runtime.EventTurnStart,
			i.Call > 0 && e.Kind == runtime.EventCallStart && e.Call.Number == i.Call:
			schedule.Interrupt(i.Agent, i.Call)
			cancel()
		}
	}
}

// interruptOf finds where a cancelled session was cut off, so that a replay
// can be cut off there too: the first interrupted call that has no interrupted
// child, or the turn that was never answered. It returns nil for a session
// that was not cancelled.
func interruptOf(run *runtime.Run) *Interrupt {
	if run == nil || run.Stop != runtime.StopCancelled {
		return nil
	}
	answered := 0
	for _, turn := range run.Turns {
		if turn.Answer == nil {
			break
		}
		answered = turn.Number
		for _, call := range turn.Calls {
			if inner := interruptOf(call.Child); inner != nil {
				return inner
			}
			if call.Verdict == runtime.VerdictInterrupted {
				return &Interrupt{Agent: run.Agent, Turn: turn.Number, Call: call.Number}
			}
		}
	}
	return &Interrupt{Agent: run.Agent, Turn: answered + 1}
}

// observeAll passes each event to every observer in order; nil ones are
// skipped.
func observeAll(observers ...runtime.Observer) runtime.Observer {
	return func(e runtime.Event) {
		for _, observe := range observers {
			if observe != nil {
				observe(e)
			}
		}
	}
}
