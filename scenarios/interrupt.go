package scenarios

import (
	"context"
	"errors"

	"github.com/tapetree/tapetree/runtime"
)

// observe returns an observer that cancels the session at the interrupt's
// place, before the agent goes on and after all other agents have come as far
// as they can. A nil interrupt never cancels. Within an answer cancels who
// asks for it (interruptedModel).
func (i *Interrupt) observe(s *session) runtime.Observer {
	return func(e runtime.Event) {
		switch {
		case i == nil || e.Agent != i.Agent || e.Turn != i.Turn:
		case i.Call == 0 && e.Kind == runtime.EventTurnStart && s.cutOffTry(i) == 0,
			i.Call > 0 && e.Kind == runtime.EventCallStart && e.Call.Number == i.Call:
			s.interrupt(i)
		}
	}
}

func (s *session) interrupt(i *Interrupt) {
	s.schedule.Interrupt(i.Agent, i.Call)
	s.cancel()
}

// cutOffTry is the try within which the recorded session was interrupted at i;
// 0: at no try.
func (s *session) cutOffTry(i *Interrupt) int {
	if s.replayer == nil || i.Call > 0 {
		return 0
	}
	return s.replayer.CutOffIn(i.Agent, i.Turn)
}

// interruptedModel interrupts a replay within the answer in which the recorded
// session was, and gives what the answers that were cut off then had said.
type interruptedModel struct {
	runtime.Model
	session *session
}

// Complete implements runtime.Model.
func (m interruptedModel) Complete(ctx context.Context, req *runtime.Request) (*runtime.Answer, error) {
	s, i := m.session, m.session.scenario.Interrupt
	if i.Call == 0 && req.Place.Agent == i.Agent && req.Place.Turn == i.Turn && s.cutOffTry(i) == max(1, req.Place.Try) {
		s.interrupt(i)
	}
	answer, err := m.Model.Complete(ctx, req)
	if ended := ctx.Err(); err != nil && ended != nil && errors.Is(err, ended) {
		return nil, s.replayer.BrokenOff(ended, req)
	}
	return answer, err
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
