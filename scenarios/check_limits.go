package scenarios

import (
	"fmt"

	"github.com/tapetree/tapetree/record"
	"github.com/tapetree/tapetree/runtime"
	"github.com/tapetree/tapetree/runtime/profiles"
)

// Limits are the turn limits that hold; 0 stands for those of p06.
type Limits struct{ Parent, Child int }

// LimitsOf returns the limits of the named profile, and no limit of its own
// (so p06's) for a name that is none.
func LimitsOf(profile string) Limits {
	p, _ := profiles.ByName(profile)
	return Limits{Parent: p.MaxTurns, Child: p.ChildMaxTurns}
}

// of returns the limit of the agent at path.
func (l Limits) of(path runtime.Path) int {
	limit, fallback := l.Parent, profiles.P06.MaxTurns
	if path.Depth() > 0 {
		limit, fallback = l.Child, profiles.P06.ChildMaxTurns
	}
	if limit > 0 {
		return limit
	}
	return fallback
}

// judgeLimits reports the first turn that an agent had no right to.
func judgeLimits(run *runtime.Run, limits Limits) []record.Finding {
	limit := limits.of(run.Agent)
	for i, turn := range run.Turns {
		if i >= limit && (turn.Answer != nil || len(turn.Failed) > 0 || turn.Sent.Len() > 0) {
			return []record.Finding{{Code: "limit/exceeded", Agent: run.Agent, Turn: turn.Number,
				Message: fmt.Sprintf("expected at most %d turns, got %d", limit, len(run.Turns))}}
		}
	}
	return nil
}

// judgeRecursion holds children to having none of their own: a call that asks
// for one finds no such tool.
func judgeRecursion(run *runtime.Run) []record.Finding {
	if run.Agent.Depth() == 0 {
		return nil
	}
	var findings []record.Finding
	for _, turn := range run.Turns {
		for _, call := range turn.Calls {
			wrong := ""
			switch {
			case call.Child != nil:
				wrong = fmt.Sprintf("call %d started %s: a child has no children", call.Number, call.Child.Agent)
			case call.Name == runtime.TaskToolName && !hasCode(call.Result, runtime.CodeUnknownTool, runtime.CodeTruncatedCall, runtime.CodeInterrupted):
				wrong = fmt.Sprintf("call %d to task: expected unknown_tool, got %s", call.Number, short(call.Result))
			default:
				continue
			}
			findings = append(findings, record.Finding{Code: "recursion/spawned", Agent: run.Agent, Turn: turn.Number, Message: wrong})
		}
	}
	return findings
}

// judgeCut holds that no call of an answer that was cut off ran, nor one whose
// arguments are no JSON. A call without a verdict (a program that is not ours
// answered it) tells nothing.
func judgeCut(run *runtime.Run) []record.Finding {
	var findings []record.Finding
	for _, turn := range run.Turns {
		cut := turn.Answer != nil && turn.Answer.Cut()
		for _, call := range turn.Calls {
			code, wrong := "", ""
			switch {
			case call.Verdict == "" || wasRefusedAsCut(&call):
			case cut || call.Verdict == runtime.VerdictCut || runtime.ArgumentsState(call.Arguments) == runtime.ArgumentsCut:
				code = "truncated/executed"
				wrong = fmt.Sprintf("call %d (%s) of an answer that was cut off: expected verdict cut and truncated_call, got %s and %s", call.Number, call.Name, call.Verdict, short(call.Result))
			case call.Verdict.Class() == "allowed" && runtime.ArgumentsState(call.Arguments) == runtime.ArgumentsInvalid:
				code = "arguments/invalid-json"
				wrong = fmt.Sprintf("call %d (%s) ran with arguments that are no JSON: %s", call.Number, call.Name, short(call.Arguments))
			}
			if code != "" {
				findings = append(findings, record.Finding{Code: code, Agent: run.Agent, Turn: turn.Number, Message: wrong})
			}
		}
	}
	return findings
}

// wasRefusedAsCut reports that a call has what every call of an answer that was
// cut off gets, or was cancelled before it could get it.
func wasRefusedAsCut(call *runtime.CallRecord) bool {
	return call.Verdict == runtime.VerdictCut && hasCode(call.Result, runtime.CodeTruncatedCall) ||
		call.Verdict == runtime.VerdictInterrupted && hasCode(call.Result, runtime.CodeInterrupted)
}
