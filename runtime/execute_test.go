package runtime

import (
	"context"
	"errors"
	"fmt"
	goruntime "runtime"
	"testing"

	"gotest.tools/v3/assert"
)

// policyFunc is a Policy of one function.
type policyFunc func(call *CallRecord) (Judgement, error)

func (f policyFunc) Judge(_ context.Context, _ *Runner, _ Place, call *CallRecord) (Judgement, error) {
	return f(call)
}

// tapeFunc is a Tape of one function.
type tapeFunc func(place Place, call CallRecord) (Verdict, string, bool, error)

func (f tapeFunc) Outcome(place Place, call CallRecord) (Verdict, string, bool, error) {
	return f(place, call)
}

// TestOrderOfSteps: tape, tool, arguments, PreToolUse, policy, handler,
// PostToolUse; the first that refuses ends it and no later one is asked.
func TestOrderOfSteps(t *testing.T) {
	for _, tt := range []struct {
		name, call, refuse string
		steps              []string
		want               string
	}{
		{"all let go", `a work {}`, "", []string{"tape", "pre", "policy", "handler", "post worked"}, "1.1 a work allow: worked"},
		{"on tape", `a work {`, "tape", []string{"tape"}, "1.1 a work ask-deny: from tape"},
		{"unknown", `a play {}`, "", []string{"tape"}, "1.1 a play unknown: Error [unknown_tool]: Unknown tool: play"},
		{"invalid", `a work {"x":1}`, "", []string{"tape"}, "1.1 a work invalid: Error [invalid_arguments]: x: is not a field of this tool"},
		{"hook", `a work {}`, "pre", []string{"tape", "pre"}, "1.1 a work blocked: Error [hook_blocked]: not today"},
		{"policy", `a work {}`, "policy", []string{"tape", "pre", "policy"}, "1.1 a work deny: Error [permission_denied]: Denied: no"},
		{"handler", `a work {}`, "handler", []string{"tape", "pre", "policy", "handler", "post Error [tool_error]: no such thing"}, "1.1 a work allow: Error [tool_error]: no such thing"},
		{"task is never on tape", `a task {}`, "tape", nil, "1.1 a task unknown: Error [unknown_tool]: Unknown tool: task"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var steps []string
			r := runnerOf(newScript(t).on(Root, step{answer: completed(tt.call)}, saying("done")),
				funcTool(t, "work", func(context.Context) (string, error) {
					steps = append(steps, "handler")
					if tt.refuse == "handler" {
						return "", Failed("no such thing")
					}
					return "worked", nil
				}))
			r.Tape = tapeFunc(func(place Place, call CallRecord) (Verdict, string, bool, error) {
				steps = append(steps, "tape")
				assert.Equal(t, place, Place{Root, 1, 1})
				assert.Equal(t, call.Number, 1)
				return VerdictAskDeny, "from tape", tt.refuse == "tape", nil
			})
			r.Policy = policyFunc(func(*CallRecord) (Judgement, error) {
				steps = append(steps, "policy")
				if tt.refuse == "policy" {
					return Judgement{VerdictDeny, "Denied: no"}, nil
				}
				return Judgement{Verdict: VerdictAllow}, nil
			})
			r.Hooks = new(Hooks)
			r.Hooks.On(HookPreToolUse, func(context.Context, HookEvent) (HookDecision, error) {
				steps = append(steps, "pre")
				return HookDecision{tt.refuse == "pre", "not today"}, nil
			})
			r.Hooks.On(HookPostToolUse, func(_ context.Context, e HookEvent) (HookDecision, error) {
				steps = append(steps, "post "+e.Result)
				return HookDecision{}, nil
			})
			run, err := r.Run(t.Context(), "go")
			assert.NilError(t, err)
			assert.DeepEqual(t, outcomes(run), []string{tt.want})
			assert.DeepEqual(t, steps, tt.steps)
		})
	}
}

// completed is an answer of one call, with its arguments closed if they are cut.
func completed(call string) *Answer {
	answer := answering("tool_calls", "", call)
	if answer.Cut() {
		return answering("tool_calls", "", call+"}")
	}
	return answer
}

// TestCallOrder is case 3.06: results stand in call order, also those of calls
// that were refused at once.
func TestCallOrder(t *testing.T) {
	run, err := runnerOf(newScript(t).on(Root,
		calling(`a echo {"text":"1"}`, `b nothing {}`, `c echo {"x":1}`, `d echo {"text":"4"}`), saying("done"))).Run(t.Context(), "go")
	assert.NilError(t, err)
	var ids []string
	for _, m := range run.History.Messages() {
		if m.Role == RoleTool {
			ids = append(ids, m.CallID)
		}
	}
	assert.DeepEqual(t, ids, []string{"a", "b", "c", "d"})
}

// TestHandlerEnds: each way a handler can end, and what becomes of the run.
func TestHandlerEnds(t *testing.T) {
	for _, tt := range []struct {
		name string
		ends func() (string, error)
		want string
		err  string
	}{
		{"empty result", func() (string, error) { return "", nil }, "1.1 a work allow: ", ""},
		{"panic", func() (string, error) { panic("secret") }, "1.1 a work allow: Error [tool_error]: The tool crashed", ""},
		{"end of its goroutine", func() (string, error) { goruntime.Goexit(); return "", nil }, "1.1 a work allow: Error [tool_error]: The tool crashed", ""},
		{"wrapped tool error", func() (string, error) { return "", fmt.Errorf("wrapped: %w", Failed("no")) }, "1.1 a work allow: Error [tool_error]: no", ""},
		{"boundary", func() (string, error) {
			return "", &ToolError{CodePermissionDenied, "Reading outside the workspace is forbidden"}
		}, "1.1 a work deny: Error [permission_denied]: Reading outside the workspace is forbidden", ""},
		{"arguments", func() (string, error) { return "", &ToolError{CodeInvalidArguments, "x: no"} }, "1.1 a work invalid: Error [invalid_arguments]: x: no", ""},
		{"interrupted", func() (string, error) { return "", errInterrupted }, "1.1 a work interrupted: " + interrupted, ""},
		{"context", func() (string, error) { return "", context.DeadlineExceeded }, "1.1 a work interrupted: " + interrupted, ""},
		{"ours", func() (string, error) { return "", errors.New("disk full") }, "1.1 a work interrupted: " + interrupted, "run call 1.1 of root (work): disk full"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r := runnerOf(newScript(t).on(Root, calling(`a work {}`), saying("done")),
				funcTool(t, "work", func(context.Context) (string, error) { return tt.ends() }))
			posts := 0
			r.Hooks = new(Hooks)
			r.Hooks.On(HookPostToolUse, func(context.Context, HookEvent) (HookDecision, error) {
				posts++
				return HookDecision{}, nil
			})
			run, err := r.Run(t.Context(), "go")
			assert.Equal(t, posts == 1, run.Turns[0].Calls[0].Verdict != VerdictInterrupted)
			if tt.err == "" {
				assert.NilError(t, err)
			} else {
				assert.Error(t, err, tt.err)
			}
			assert.DeepEqual(t, outcomes(run), []string{tt.want})
			assert.Equal(t, pairedText(run.History.Messages()), "")
		})
	}
}

// TestOwnFaultsEndTheSession: tape and policy that fail are no matter for the
// model, and the calls that were left have results all the same.
func TestOwnFaultsEndTheSession(t *testing.T) {
	two := calling(`a echo {}`, `b echo {}`)
	want := []string{"1.1 a echo interrupted: " + interrupted, "1.2 b echo interrupted: " + interrupted}
	t.Run("tape", func(t *testing.T) {
		r := runnerOf(newScript(t).on(Root, two))
		r.Tape = tapeFunc(func(Place, CallRecord) (Verdict, string, bool, error) {
			return "", "", false, errors.New("no such line")
		})
		run, err := r.Run(t.Context(), "go")
		assert.Error(t, err, "answer call 1.1 of root from tape: no such line")
		assert.DeepEqual(t, outcomes(run), want)
	})
	t.Run("policy", func(t *testing.T) {
		r := runnerOf(newScript(t).on(Root, two))
		r.Policy = policyFunc(func(*CallRecord) (Judgement, error) { return Judgement{}, errors.New("terminal is gone") })
		run, err := r.Run(t.Context(), "go")
		assert.Error(t, err, "judge call 1.1 of root: terminal is gone")
		assert.DeepEqual(t, outcomes(run), want)
	})
	t.Run("policy without a verdict", func(t *testing.T) {
		r := runnerOf(newScript(t).on(Root, two))
		r.Policy = policyFunc(func(*CallRecord) (Judgement, error) { return Judgement{}, nil })
		_, err := r.Run(t.Context(), "go")
		assert.Error(t, err, `judge call 1.1 of root: the policy gave verdict ""`)
	})
}
