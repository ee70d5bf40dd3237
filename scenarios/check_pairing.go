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
	foreign  bool           // of a program that is not ours
	anyOrder bool           // results may stand in any order
	notice   bool           // another order than that of the calls is no error
	mixed    bool           // the results of the last assistant message are, and it was said
	copied   int            // the first so many messages are of the agent's parent
	given    bool           // the last assistant message is one of them
	group    []runtime.Call // the calls of the last assistant message
	answered []bool         // which of them have their result
	findings []record.Finding
}

// judgePairing judges one agent. What it begins with as a copy of its parent's
// history is the parent's: there calls may still be open.
func judgePairing(a *agent, rules rules) []record.Finding {
	p := &pairing{agent: a.path, foreign: rules.foreign, anyOrder: rules.anyOrder, notice: rules.asTheyCame, copied: a.copied}
	a.eachNew(func() { p.group, p.answered, p.copied, p.given = nil, nil, 0, false }, p.message, p.unanswered)
	return p.findings
}

func (p *pairing) report(turn int, code, format string, args ...any) {
	p.findings = append(p.findings, record.Finding{Code: code, Agent: p.agent, Turn: turn, Message: fmt.Sprintf(format, args...)})
}

func (p *pairing) message(turn, index int, m *runtime.Message) {
	if index < p.copied {
		defer func(kept int) { p.findings = p.findings[:kept] }(len(p.findings))
	}
	switch m.Role {
	case runtime.RoleTool:
		p.result(turn, index, m)
	case runtime.RoleAssistant:
		p.close(turn)
		p.group, p.given, p.mixed = m.Calls, index < p.copied, false
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
		if i != first && !p.anyOrder && !p.mixed {
			p.mixed = true
			p.report(turn, "pairing/order", "message %d: the result of %s comes before that of %s", index+1, show(call), show(p.group[first]))
			if p.notice {
				p.findings[len(p.findings)-1].Severity = record.SeverityNotice
			}
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
	if p.given {
		return
	}
	for i, call := range p.group {
		if !p.answered[i] {
			starts := ""
			if p.foreign && transcripts.Delegates(call.Name) {
				starts = ", which starts an agent,"
			}
			p.report(turn, "pairing/unanswered", "the call %s%s has no result", show(call), starts)
		}
	}
}

// close ends the group of calls: results that come later are orphans.
func (p *pairing) close(turn int) {
	p.unanswered(turn)
	p.group, p.answered, p.given = nil, nil, false
}

func show(call runtime.Call) string { return fmt.Sprintf("%q (%s)", call.ID, call.Name) }
