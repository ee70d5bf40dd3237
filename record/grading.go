package record

import (
	"fmt"

	"github.com/tapetree/tapetree/transcripts"
)

// trouble is the first history difference of an agent. Later requests that
// differ too are counted, not reported: they mostly follow from it.
type trouble struct {
	at      place
	message string
	detail  string
	later   int
	follows bool // from an answer that a fault changed
}

// historyNote is the finding of the agent's history, if there is one. The
// agent's lock is held.
func (t *agentTape) historyNote() []note {
	if t.trouble == nil || t.trouble.follows {
		return nil
	}
	message := t.trouble.message
	if n := t.trouble.later; n > 0 {
		message += fmt.Sprintf(" (and new differences in %s)", counted(n, "later request"))
	}
	at := t.trouble.at
	return []note{{at: at, detail: t.trouble.detail, finding: Finding{Code: codeHistory, Agent: at.Agent, Turn: at.Turn, Message: message}}}
}

// grade compares what was asked with e and enters what came out. The agent's lock is held.
func (r *Replayer) grade(t *agentTape, e *transcripts.Exchange, a *asking) *comparison {
	c := t.comparer.compare(e, a)
	r.rebase.exchange(t, e, a, c)
	r.ledger.graded(c.grade())
	r.ledger.used(t.comparer.uses)
	clear(t.comparer.uses)
	at := placeOf(e)
	t.warn(r, at, codePrompt, "the system text differs from the recorded one", e, c.prompt)
	t.warn(r, at, codeTools, "schemas, model or parameters differ from the recorded ones", e, c.tools)
	switch {
	case len(c.history) == 0:
	case t.trouble != nil:
		t.trouble.later++
	default:
		t.trouble = &trouble{
			at: at, follows: r.faults.reach(at.Agent), message: summary(c.history),
			detail: r.detail(at, "the messages differ from the recorded ones", e, c.history),
		}
	}
	return c
}

// warn enters a prompt or tools difference, the same one once for each agent.
func (t *agentTape) warn(r *Replayer, at place, code, what string, e *transcripts.Exchange, found []difference) {
	if len(found) == 0 {
		return
	}
	message := summary(found)
	if t.reported[message] {
		return
	}
	t.reported[message] = true
	r.ledger.add(at, code, message, r.detail(at, what, e, found))
}

// missError is the error of a request that has no exchange left.
type missError struct {
	where   string // the agent, its turn and the transcript
	message string
	nearest string // the exchange that it stands closest to, with its place; "" none
	name    string // of the recording
}

// Error implements error.
func (e *missError) Error() string { return "replay " + e.where + ": " + ErrMissing.Error() }

// Unwrap makes the error one that holds ErrMissing.
func (e *missError) Unwrap() error { return ErrMissing }

// forClient is what the client is told: what is missing and the way out.
func (e *missError) forClient() string {
	text := "tapetree replay: " + e.message
	if e.nearest != "" {
		text += "; the nearest is " + e.nearest
	}
	return text + "; to accept it: tapetree record " + e.name
}

// miss enters that a request has no exchange left, once for each turn, and
// returns the error that ends a session of our own runner. t is nil when nothing
// of the agent was recorded; else its lock is held.
func (r *Replayer) miss(at place, t *agentTape, a *asking, why string) error {
	r.breakOff()
	nearest := r.nearest(at, t)
	if nearest == nil {
		nearest = r.likest(a)
	}
	message := fmt.Sprintf("no exchange left for %s: %s", headline(at), why)
	failed := &missError{
		where: fmt.Sprintf("%s turn %d of %s", at.Agent, at.Turn, r.file.Path), message: message, name: r.options.Name,
	}
	if nearest != nil {
		failed.nearest = fmt.Sprintf("exchange %s (%s:%d)", exchangeName(nearest), r.file.Path, nearest.Line)
	}
	if r.missedBefore(at) {
		return failed
	}
	told := "no exchange left" // the finding says of which agent and turn
	if at.Try > 1 {
		told += fmt.Sprintf(" for try %d", at.Try)
	}
	var found []difference
	if nearest != nil {
		c := comparer{fold: r.options.Fold, redact: r.options.Redact, rules: r.options.Volatile, secrets: &pairs{}}
		out := c.compare(nearest, a)
		found = append(append(out.history, out.tools...), out.prompt...)
	}
	r.ledger.add(at, codeMissing, told+": "+why, r.missDetail(at, why, nearest, found))
	return failed
}

// missedBefore reports whether a turn was found missing before, and notes it.
func (r *Replayer) missedBefore(at place) bool {
	turn := place{Agent: at.Agent, Turn: at.Turn}
	r.mu.Lock()
	defer r.mu.Unlock()
	before := r.missed[turn]
	r.missed[turn] = true
	return before
}

// nearest is the exchange that a missed request stands closest to: the agent's
// own last one up to its turn, else the first of its nearest sibling, else the
// one whose answer started the agent; nil: none of them was recorded.
func (r *Replayer) nearest(at place, t *agentTape) *transcripts.Exchange {
	if t != nil {
		nearest := t.exchanges[0]
		for _, e := range t.exchanges {
			if placeOf(e).compare(at) <= 0 {
				nearest = e
			}
		}
		return nearest
	}
	parent, turn, _, ok := at.Agent.Parent()
	if !ok {
		return nil
	}
	for _, path := range r.agentPaths() {
		if p, siblingTurn, _, ok := path.Parent(); ok && p == parent && siblingTurn == turn {
			return r.agents[path].exchanges[0]
		}
	}
	if above := r.agents[parent]; above != nil {
		for _, e := range above.exchanges {
			if e.Turn == turn {
				return e
			}
		}
	}
	return nil
}

// likest is the first exchange of the recorded agent whose opening holds the
// most of a request's messages, the first in tree order among equals; nil when
// nothing was recorded.
func (r *Replayer) likest(a *asking) *transcripts.Exchange {
	asked := map[string]bool{}
	for _, m := range a.messages.Messages() {
		asked[string(m.Raw)] = true
	}
	var best *transcripts.Exchange
	most := -1
	for _, path := range r.agentPaths() {
		e, shared := r.agents[path].exchanges[0], 0
		for _, m := range e.Messages.Messages() {
			if asked[string(m.Raw)] {
				shared++
			}
		}
		if shared > most {
			best, most = e, shared
		}
	}
	return best
}
