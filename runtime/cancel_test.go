package runtime

import (
	"context"
	"errors"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"gotest.tools/v3/assert"
)

const interrupted = "Error [interrupted]: Interrupted before it finished"

// cancelAt cancels when the n-th event of a kind comes.
func cancelAt(kind EventKind, n int32, cancel func()) Observer {
	var seen atomic.Int32
	return func(e Event) {
		if e.Kind == kind && seen.Add(1) == n {
			cancel()
		}
	}
}

// TestCancelled: wherever the context ends, the stop is cancelled, every call
// has its result, and no further request is made. The call part is case 3.01.
func TestCancelled(t *testing.T) {
	three := calling(`a work {}`, `b work {}`, `c nothing {}`)
	for _, tt := range []struct {
		name     string
		kind     EventKind
		n        int32
		requests int
		turns    int
		outcomes []string
	}{
		{"before the first request", EventTurnStart, 1, 0, 0, nil},
		{"before the second request", EventTurnStart, 2, 1, 1, []string{
			"1.1 a work allow: done", "1.2 b work allow: done", "1.3 c nothing unknown: Error [unknown_tool]: Unknown tool: nothing",
		}},
		{"with the answer", EventAnswer, 1, 1, 1, []string{
			"1.1 a work interrupted: " + interrupted, "1.2 b work interrupted: " + interrupted, "1.3 c nothing interrupted: " + interrupted,
		}},
		{"case 3.01: as call 3 begins", EventCallStart, 3, 1, 1, []string{
			"1.1 a work allow: done", "1.2 b work allow: done", "1.3 c nothing interrupted: " + interrupted,
		}},
		{"after call 1", EventCallEnd, 1, 1, 1, []string{
			"1.1 a work allow: done", "1.2 b work interrupted: " + interrupted, "1.3 c nothing interrupted: " + interrupted,
		}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			ctx, cancel := context.WithCancel(t.Context())
			s := newScript(t).on(Root, three, saying("never"))
			ran := 0
			r := runnerOf(s, funcTool(t, "work", func(context.Context) (string, error) { ran++; return "done", nil }))
			r.Observe = cancelAt(tt.kind, tt.n, cancel)
			run, err := r.Run(ctx, "go")
			assert.NilError(t, err)
			assert.Equal(t, run.Stop, StopCancelled)
			assert.Equal(t, len(s.requestsOf(Root)), tt.requests)
			assert.Equal(t, len(run.Turns), tt.turns)
			assert.DeepEqual(t, outcomes(run), tt.outcomes)
			assert.Equal(t, strings.Count(strings.Join(tt.outcomes, "\n"), "done"), ran, "what is interrupted here never began")
			assert.Equal(t, pairedText(run.History.Messages()), "")
		})
	}
}

// TestCancelledFinal: a final text that arrives with the end of the context is
// kept, but the run was cancelled.
func TestCancelledFinal(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	s := newScript(t).on(Root, step{act: cancel, answer: answering("stop", "done")})
	run, err := runnerOf(s).Run(ctx, "go")
	assert.NilError(t, err)
	assert.Equal(t, run.Stop, StopCancelled)
	assert.Equal(t, run.Final, "")
	assert.Equal(t, run.Partial, "done")
}

// TestCancelledRequest: an error that comes with the end of the context is the
// cancelling, unless it is a fault of ours.
func TestCancelledRequest(t *testing.T) {
	for name, tt := range map[string]struct {
		err  error
		want string
	}{
		"context":  {context.Canceled, ""},
		"upstream": {&UpstreamError{Kind: "timeout", Partial: "half", Retry: true}, ""},
		"ours":     {errors.New("disk full"), "ask model for root turn 1: disk full"},
	} {
		t.Run(name, func(t *testing.T) {
			ctx, cancel := context.WithCancel(t.Context())
			s := newScript(t).on(Root, step{act: cancel, err: tt.err})
			run, err := runnerOf(s).Run(ctx, "go")
			if tt.want != "" {
				assert.Error(t, err, tt.want)
				return
			}
			assert.NilError(t, err)
			assert.Equal(t, run.Stop, StopCancelled)
			assert.Equal(t, len(run.Turns), 1)
			assert.Assert(t, run.Turns[0].Answer == nil)
		})
	}
}

// TestCancelledHandler: a result that comes after the end of the context is
// interrupted, whatever it says, and PostToolUse does not fire.
func TestCancelledHandler(t *testing.T) {
	for name, result := range map[string]error{
		"success": nil, "tool error": Failed("no"), "context": context.Canceled, "other": errors.New("signal: killed"),
	} {
		t.Run(name, func(t *testing.T) {
			ctx, cancel := context.WithCancel(t.Context())
			tool := funcTool(t, "stop", func(context.Context) (string, error) { cancel(); return "done", result })
			r := runnerOf(newScript(t).on(Root, calling(`a stop {}`, `b echo {}`)), tool)
			r.Hooks = new(Hooks)
			r.Hooks.On(HookPostToolUse, func(context.Context, HookEvent) (HookDecision, error) {
				t.Error("PostToolUse fired")
				return HookDecision{}, nil
			})
			run, err := r.Run(ctx, "go")
			assert.NilError(t, err)
			assert.DeepEqual(t, outcomes(run), []string{
				"1.1 a stop interrupted: " + interrupted, "1.2 b echo interrupted: " + interrupted,
			})
		})
	}
}

// TestStuckTool is case 3.02: a tool that never returns is left behind within
// a second of the cancelling.
func TestStuckTool(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		release := make(chan struct{})
		tool := funcTool(t, "stuck", func(context.Context) (string, error) { cancel(); <-release; return "", nil })
		start := time.Now()
		run, err := runnerOf(newScript(t).on(Root, calling(`a stuck {}`)), tool).Run(ctx, "go")
		assert.NilError(t, err)
		assert.Equal(t, run.Stop, StopCancelled)
		assert.DeepEqual(t, outcomes(run), []string{"1.1 a stuck interrupted: " + interrupted})
		assert.Equal(t, time.Since(start), cancelGrace)
		close(release)
	})
}
