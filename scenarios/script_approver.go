package scenarios

import (
	"context"
	"fmt"
	"sync"

	"github.com/tapetree/tapetree/record"
	"github.com/tapetree/tapetree/runtime"
)

// scriptApprover answers questions from the approvals section: first the line
// that names the call, else the next line that names none. A question without
// a line is denied; it shows as a verdict that differs and as a finding.
type scriptApprover struct {
	file string

	mu       sync.Mutex
	lines    []Approval
	used     []bool
	findings []record.Finding
}

func newScriptApprover(scenario *Scenario) *scriptApprover {
	return &scriptApprover{file: scenario.File, lines: scenario.Approvals, used: make([]bool, len(scenario.Approvals))}
}

// Ask gives the scripted answer.
func (a *scriptApprover) Ask(_ context.Context, q runtime.Question) (runtime.Reply, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if line := a.take(q); line != nil {
		return line.Reply, nil
	}
	a.findings = append(a.findings, record.Finding{
		Code: "replay/verdict", Agent: q.Agent, Turn: q.Turn,
		Message: fmt.Sprintf("no line of the approvals section of %s answers the question about %s (call %d)", a.file, q.Tool, q.Call),
	})
	return runtime.Reply{Reason: "no answer is scripted"}, nil
}

// take uses up the line that answers q; nil when there is none.
func (a *scriptApprover) take(q runtime.Question) *Approval {
	for _, named := range []bool{true, false} {
		for i := range a.lines {
			if !a.used[i] && a.fits(a.lines[i], q, named) {
				a.used[i] = true
				return &a.lines[i]
			}
		}
	}
	return nil
}

func (a *scriptApprover) fits(line Approval, q runtime.Question, named bool) bool {
	if !named {
		return line.Agent == ""
	}
	return line.Agent == q.Agent && line.Turn == q.Turn && line.Call == q.Call
}

// judge returns the questions that had no answer and the answers that had no
// question. A nil approver has neither.
func (a *scriptApprover) judge() []record.Finding {
	if a == nil {
		return nil
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	findings := a.findings
	for i, line := range a.lines {
		if !a.used[i] {
			findings = append(findings, record.Finding{
				Code: "replay/verdict", Agent: line.Agent, Turn: line.Turn,
				Message: fmt.Sprintf("%s:%d: this answer was never asked for", a.file, line.Line),
			})
		}
	}
	return findings
}

// scriptedTape uses up the script's answers to questions that a call answered
// from tape was asked when it was recorded.
type scriptedTape struct {
	runtime.Tape
	script *scriptApprover
}

// Outcome is the tape's own.
func (t scriptedTape) Outcome(p runtime.Place, c runtime.CallRecord) (runtime.Verdict, string, bool, error) {
	verdict, result, taped, err := t.Tape.Outcome(p, c)
	if err == nil && taped && (verdict == runtime.VerdictAskAllow || verdict == runtime.VerdictAskDeny) {
		t.script.answered(runtime.Question{Agent: p.Agent, Turn: p.Turn, Call: c.Number}, verdict == runtime.VerdictAskAllow)
	}
	return verdict, result, taped, err
}

// answered uses up the line for a question that was answered in the recording,
// and reports a line that says otherwise.
func (a *scriptApprover) answered(q runtime.Question, allowed bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	line := a.take(q)
	if line == nil || line.Reply.Allow == allowed {
		return
	}
	recorded := map[bool]string{true: "allowed", false: "denied"}[allowed]
	a.findings = append(a.findings, record.Finding{
		Code: "replay/verdict", Agent: q.Agent, Turn: q.Turn,
		Message: fmt.Sprintf("%s:%d: the recording %s call %d, which is answered from tape: record it again, or correct the line", a.file, line.Line, recorded, q.Call),
	})
}

// approveAll says yes to every question.
type approveAll struct{}

func (approveAll) Ask(context.Context, runtime.Question) (runtime.Reply, error) {
	return runtime.Reply{Allow: true}, nil
}
