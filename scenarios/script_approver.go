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
	for _, named := range []bool{true, false} {
		for i, line := range a.lines {
			if !a.used[i] && a.fits(line, q, named) {
				a.used[i] = true
				return line.Reply, nil
			}
		}
	}
	a.findings = append(a.findings, record.Finding{
		Code: "replay/verdict", Agent: q.Agent, Turn: q.Turn,
		Message: fmt.Sprintf("no line of the approvals section of %s answers the question about %s (call %d)", a.file, q.Tool, q.Call),
	})
	return runtime.Reply{Reason: "no answer is scripted"}, nil
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

// approveAll says yes to every question.
type approveAll struct{}

func (approveAll) Ask(context.Context, runtime.Question) (runtime.Reply, error) {
	return runtime.Reply{Allow: true}, nil
}
