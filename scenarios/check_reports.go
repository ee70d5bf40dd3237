package scenarios

import (
	"fmt"
	"strings"

	"github.com/tapetree/tapetree/record"
	"github.com/tapetree/tapetree/runtime"
)

// judgeReports holds the result of each call that started a child to what may
// come up: the child's final text or an error of the runtime, in the form that
// the call asks for. What the child used, and of a child without a report form
// also what it had written before, is not among it.
func judgeReports(run *runtime.Run) []record.Finding {
	var findings []record.Finding
	for _, turn := range run.Turns {
		for _, call := range turn.Calls {
			if call.Child == nil || len(call.Child.Turns) == 0 || mayComeUp(&call) {
				continue
			}
			finding := record.Finding{Code: "isolation/parent-sees-child", Agent: run.Agent, Turn: turn.Number,
				Message: fmt.Sprintf("call %d: the result is not the final text of %s: expected %s, got %s", call.Number, call.Child.Agent, expectedReport(&call), short(call.Result))}
			if isToolOutput(&call) {
				finding.Code = "limit/tool-output-as-answer"
				finding.Message = fmt.Sprintf("call %d: the last tool result of %s stands for its answer: expected %s, got %s", call.Number, call.Child.Agent, expectedReport(&call), short(call.Result))
			}
			findings = append(findings, finding)
		}
	}
	return findings
}

// reportErrors are the errors that can be the result of a call that started a
// child. A child with a report form gives a report also where it failed.
var reportErrors = []runtime.Code{
	runtime.CodeSubagentConfiguration, runtime.CodeSubagentTurnLimit, runtime.CodeSubagentExecution,
	runtime.CodeInterrupted,
}

func mayComeUp(call *runtime.CallRecord) bool {
	if call.Result == "" && call.Verdict == runtime.VerdictInterrupted {
		return true // a recording that broke off: nothing came up
	}
	child := call.Child
	task := taskOf(call.Arguments)
	switch {
	case task.reports && hasCode(call.Result, runtime.CodeInterrupted, runtime.CodeSubagentConfiguration):
		return true // it was left behind, or never started
	case task.reports && child.Stop != "":
		return call.Result == report(call)
	case task.reports: // a recording that broke off: what the child came to is not known
		return hasCode(call.Result, runtime.CodeSubagentIncomplete) || strings.HasPrefix(call.Result, trimBlank(child.Final))
	case hasCode(call.Result, reportErrors...):
		return true
	}
	answered := child.Stop == runtime.StopAnswer || child.Stop == "" && child.Final != ""
	return answered && call.Result == child.Final
}

// report is the result of a call that asked for a report: what the child says,
// or why it does not and what it had written, and what it took.
func report(call *runtime.CallRecord) string {
	child := call.Child
	parts := []string{child.Final}
	if child.Stop != runtime.StopAnswer {
		reason := string(child.Stop)
		if child.Stop == runtime.StopUpstreamError && child.Status != 0 {
			reason += fmt.Sprintf(" %d", child.Status)
		}
		parts = []string{incompletePrefix + reason, child.Partial}
	}
	var kept []string
	for _, part := range append(parts, statistics(call)) {
		if part = trimBlank(part); part != "" {
			kept = append(kept, part)
		}
	}
	return strings.Join(kept, "\n\n")
}

// incompletePrefix begins the report of a child that gave none of its own.
var incompletePrefix = "Error [" + string(runtime.CodeSubagentIncomplete) + "]: Subagent did not finish: "

// statistics is the last line of a report. The system message is none of the
// child's own.
func statistics(call *runtime.CallRecord) string {
	messages := 0
	for _, m := range call.Child.History.Messages() {
		if m.Role != runtime.RoleSystem {
			messages++
		}
	}
	return fmt.Sprintf("(subagent \"%s\": %d messages, %d input tokens, %d output tokens)",
		strings.Join(strings.Fields(taskOf(call.Arguments).title), " "), messages, call.Child.Usage.Input, call.Child.Usage.Output)
}

// isToolOutput reports whether the child's last tool result stands where its
// text should: alone, or in the form of a report.
func isToolOutput(call *runtime.CallRecord) bool {
	last, found := lastResult(call.Child)
	if !found {
		return false
	}
	if call.Result == last {
		return true
	}
	body, _, _ := cutLast(call.Result, "\n\n(subagent \"")
	if strings.HasPrefix(body, incompletePrefix) {
		_, body, _ = strings.Cut(body, "\n\n")
	}
	last = trimBlank(last)
	return taskOf(call.Arguments).reports && last != "" && body == last
}

// cutLast cuts text around the last separator.
func cutLast(text, sep string) (before, after string, found bool) {
	if i := strings.LastIndex(text, sep); i >= 0 {
		return text[:i], text[i+len(sep):], true
	}
	return text, "", false
}

func expectedReport(call *runtime.CallRecord) string {
	switch {
	case taskOf(call.Arguments).reports:
		return short(report(call))
	case call.Child.Stop == runtime.StopAnswer:
		return short(call.Child.Final)
	default:
		return "an error"
	}
}

// lastResult is the last tool result that an agent had.
func lastResult(run *runtime.Run) (string, bool) {
	for i := len(run.Turns) - 1; i >= 0; i-- {
		if calls := run.Turns[i].Calls; len(calls) > 0 {
			return calls[len(calls)-1].Result, true
		}
	}
	return "", false
}
