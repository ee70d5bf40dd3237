package scenarios

import (
	"fmt"
	"slices"

	"github.com/tapetree/tapetree/record"
	"github.com/tapetree/tapetree/runtime"
	"github.com/tapetree/tapetree/transcripts"
)

// pairing reads the messages of one agent and holds calls against results: each
// call has exactly one result, directly after its assistant message, in call
// order. Pairing is by occurrence: an id that is used again later belongs to the
// later call, and its results are looked for there alone.
type pairing struct {
	agent    runtime.Path
	anyOrder bool           // results may stand in any order
	group    []runtime.Call // the calls of the last assistant message
	answered []bool         // which of them have their result
	findings []record.Finding
}

// judgePairing judges one agent. No wire asks for an order of results: that is a
// promise of our own runner, which a foreign one has not made.
func judgePairing(a *agent, foreign bool) []record.Finding {
	p := &pairing{agent: a.path, anyOrder: foreign}
	a.eachNew(func() { p.group, p.answered = nil, nil }, p.message, p.unanswered)
	return p.findings
}

func (p *pairing) report(turn int, code, format string, args ...any) {
	p.findings = append(p.findings, record.Finding{Code: code, Agent: p.agent, Turn: turn, Message: fmt.Sprintf(format, args...)})
}

func (p *pairing) message(turn, index int, m *runtime.Message) {
	switch m.Role {
	case runtime.RoleTool:
		p.result(turn, index, m)
	case runtime.RoleAssistant:
		p.close(turn)
		p.group = m.Calls
		p.answered = make([]bool, len(m.Calls))
		for i, call := range m.Calls {
			if slices.ContainsFunc(m.Calls[:i], func(c runtime.Call) bool { return c.ID == call.ID }) {
				p.report(turn, "pairing/duplicate-id", "message %d: two calls with the id %q", index+1, call.ID)
			}
		}
	default:
		p.close(turn)
	}
}

// result finds the call that a tool message answers.
func (p *pairing) result(turn, index int, m *runtime.Message) {
	known, first := false, slices.Index(p.answered, false)
	for i, call := range p.group {
		if call.ID != m.CallID {
			continue
		}
		known = true
		if p.answered[i] {
			continue
		}
		p.answered[i] = true
		if i != first && !p.anyOrder {
			p.report(turn, "pairing/order", "message %d: the result of %s comes before that of %s", index+1, show(call), show(p.group[first]))
		}
		return
	}
	if known {
		p.report(turn, "pairing/duplicate-id", "message %d: a second result for the call %q", index+1, m.CallID)
	} else {
		p.report(turn, "pairing/orphan", "message %d: a result for the call %q, which the answer before it does not have", index+1, m.CallID)
	}
}

// unanswered reports calls that a request was sent with and without a result.
func (p *pairing) unanswered(turn int) {
	for i, call := range p.group {
		if !p.answered[i] {
			starts := ""
			if p.anyOrder && transcripts.Delegates(call.Name) {
				starts = ", which starts an agent,"
			}
			p.report(turn, "pairing/unanswered", "the call %s%s has no result", show(call), starts)
		}
	}
}

// close ends the group of calls: results that come later are orphans.
func (p *pairing) close(turn int) {
	p.unanswered(turn)
	p.group, p.answered = nil, nil
}

func show(call runtime.Call) string { return fmt.Sprintf("%q (%s)", call.ID, call.Name) }
