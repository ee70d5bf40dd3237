package scenarios

import (
	"fmt"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/tapetree/tapetree/record"
	"github.com/tapetree/tapetree/runtime"
)

// judgeStranger holds one agent of a program that is not ours to what every
// agent is better held to: no child starts agents, no turn beyond a limit that
// somebody set, a child's last tool output is no answer, nothing that was cut
// off or is no JSON object is run.
func judgeStranger(a *agent, limits Limits) []record.Finding {
	if a.run == nil {
		return nil
	}
	findings := judgeGenerations(a.run)
	limit := limits.Parent
	if a.path.Depth() > 0 {
		limit = limits.Child
	}
	if n := len(a.run.Turns); limit > 0 && n > limit {
		findings = append(findings, record.Finding{Code: "limit/exceeded", Agent: a.path, Turn: a.run.Turns[limit].Number,
			Message: fmt.Sprintf("expected at most %d turns, got %d", limit, n)})
	}
	for i := range a.run.Turns {
		turn := &a.run.Turns[i]
		cut := turn.Answer != nil && turn.Answer.Cut()
		for j := range turn.Calls {
			call := &turn.Calls[j]
			if standsForAnswer(call) {
				findings = append(findings, record.Finding{Code: "limit/tool-output-as-answer", Agent: a.path, Turn: turn.Number,
					Message: fmt.Sprintf("call %d: the last tool result of %s stands for its answer: %s", call.Number, call.Child.Agent, short(call.Result))})
			}
			if f, wrong := judgeArguments(a.path, turn.Number, call, cut); wrong {
				findings = append(findings, f)
			}
		}
	}
	return findings
}

// standsForAnswer reports that a child gave no answer, and its last tool result
// went up in the place of one.
func standsForAnswer(call *runtime.CallRecord) bool {
	if call.Child == nil || trimBlank(call.Result) == "" {
		return false
	}
	for i := len(call.Child.Turns) - 1; i >= 0; i-- {
		turn := &call.Child.Turns[i]
		if turn.Answer == nil {
			continue
		}
		// A file that does not hold the last answer of a child may have it as
		// the result of the call.
		return (call.Child.Final == "" || len(turn.Answer.Message.Calls) > 0) && isToolOutput(call)
	}
	return false
}

// judgeGenerations finds children that have children.
func judgeGenerations(run *runtime.Run) []record.Finding {
	if run.Agent.Depth() == 0 {
		return nil
	}
	var findings []record.Finding
	for _, turn := range run.Turns {
		for _, call := range turn.Calls {
			if call.Child != nil && (len(call.Child.Turns) > 0 || call.Result != "" && !looksFailed(call.Result)) {
				findings = append(findings, record.Finding{Code: "recursion/spawned", Agent: run.Agent, Turn: turn.Number,
					Message: fmt.Sprintf("call %d started %s: a child has no children", call.Number, call.Child.Agent)})
			}
		}
	}
	return findings
}

// judgeArguments looks at the arguments of one call. "" and null stand for {}.
func judgeArguments(agent runtime.Path, turn int, call *runtime.CallRecord, cut bool) (record.Finding, bool) {
	state := runtime.ArgumentsState(call.Arguments)
	ran := call.Result != "" && !looksFailed(call.Result)
	f := record.Finding{Agent: agent, Turn: turn}
	switch {
	case (cut || state == runtime.ArgumentsCut) && ran:
		f.Code = "truncated/executed"
		f.Message = fmt.Sprintf("call %d (%s) of an answer that was cut off ran: %s", call.Number, call.Name, short(call.Result))
	case state == runtime.ArgumentsCut:
		f.Code = "arguments/invalid-json"
		f.Message = fmt.Sprintf("call %d (%s): the arguments break off: %s", call.Number, call.Name, short(call.Arguments))
	case state == runtime.ArgumentsInvalid:
		f.Code = "arguments/invalid-json"
		f.Message = fmt.Sprintf("call %d (%s): the arguments are no JSON: %s", call.Number, call.Name, short(call.Arguments))
	case !isObject(call.Arguments):
		f.Code = "arguments/invalid-json"
		f.Message = fmt.Sprintf("call %d (%s): the arguments are no JSON object: %s", call.Number, call.Name, short(call.Arguments))
	default:
		return f, false
	}
	return f, true
}

// isObject reports whether the arguments, which are JSON, are an object or stand
// for the empty one.
func isObject(arguments string) bool {
	text := strings.TrimSpace(arguments)
	return text == "" || text == "null" || jsontext.Value(text).Kind() == '{'
}

// failedWords begin a tool result that says that the tool failed, in the ways of
// the agents whose files can be read.
var failedWords = []string{
	"error", "<tool_use_error>", "<error>", "invalid", "failed", "failure", "exception", "traceback", `{"error"`, `{"success":false`, "fatal:",
	"command failed", "tool call failed", "the user doesn't want", "[request interrupted", "aborted", "exit code: 1", "not executed",
}

// looksFailed reports whether a tool result begins as a failure does.
func looksFailed(result string) bool {
	head := strings.ToLower(strings.TrimSpace(result[:min(len(result), 200)]))
	for _, word := range failedWords {
		if strings.HasPrefix(head, word) {
			return true
		}
	}
	return false
}
