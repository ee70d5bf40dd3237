package runtime

import (
	"context"
	"errors"
	"fmt"
	goruntime "runtime"
	"testing"
	"testing/synctest"
	"time"

	"gotest.tools/v3/assert"
)

// TestGuardingHooks: a hook that guards and does not plainly let go blocks, with
// a text that tells the model nothing of the failure's inside.
func TestGuardingHooks(t *testing.T) {
	for _, tt := range []struct {
		name   string
		hook   HookFunc
		reason string
		event  string
	}{
		{"own reason", func(context.Context, HookEvent) (HookDecision, error) {
			return HookDecision{Block: true, Reason: "not on Fridays"}, nil
		}, "not on Fridays", "not on Fridays"},
		{"no reason", func(context.Context, HookEvent) (HookDecision, error) {
			return HookDecision{Block: true}, nil
		}, "A hook blocked this", "A hook blocked this"},
		{"error", func(context.Context, HookEvent) (HookDecision, error) {
			return HookDecision{}, errors.New("key sk-1")
		}, "A hook failed, so this was blocked", "A hook failed, so this was blocked: key sk-1"},
		{"panic", func(context.Context, HookEvent) (HookDecision, error) {
			panic("key sk-1")
		}, "A hook crashed, so this was blocked", "A hook crashed, so this was blocked: panic: key sk-1"},
		{"end of its goroutine", func(context.Context, HookEvent) (HookDecision, error) {
			goruntime.Goexit()
			return HookDecision{}, nil
		}, "A hook crashed, so this was blocked", "A hook crashed, so this was blocked"},
		{"timeout", func(ctx context.Context, _ HookEvent) (HookDecision, error) {
			<-ctx.Done()
			time.Sleep(time.Hour) // does not care: it is not waited for
			return HookDecision{}, nil
		}, "A hook took too long, so this was blocked", "A hook took too long, so this was blocked: context deadline exceeded"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var log eventLog
				ran := false
				r := runnerOf(newScript(t).on(Root, calling(`a work {}`), saying("done")),
					funcTool(t, "work", func(context.Context) (string, error) { ran = true; return "", nil }))
				r.Hooks = new(Hooks)
				r.Hooks.On(HookPreToolUse, tt.hook)
				r.Hooks.On(HookPreToolUse, func(context.Context, HookEvent) (HookDecision, error) {
					t.Error("a hook ran after the block")
					return HookDecision{}, nil
				})
				r.Observe = log.observe
				start := time.Now()
				run, err := r.Run(t.Context(), "go")
				assert.NilError(t, err)
				assert.DeepEqual(t, outcomes(run), []string{"1.1 a work blocked: Error [hook_blocked]: " + tt.reason})
				assert.Check(t, !ran)
				assert.Equal(t, log.lines[4], "hook root [root] 1 PreToolUse err="+tt.event)
				if tt.name == "timeout" {
					assert.Equal(t, time.Since(start), DefaultHookTimeout)
				}
				time.Sleep(2 * time.Hour) // virtual: lets what was left behind end
			})
		})
	}
}

// TestHookTimeoutField: a session may give its hooks less time.
func TestHookTimeoutField(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := &Hooks{Timeout: time.Second}
		h.On(HookPreToolUse, func(ctx context.Context, _ HookEvent) (HookDecision, error) {
			<-ctx.Done()
			return HookDecision{}, ctx.Err()
		})
		start := time.Now()
		assert.Assert(t, h.fire(t.Context(), HookEvent{Kind: HookPreToolUse}) != nil)
		assert.Equal(t, time.Since(start), time.Second)
	})
}

// TestBlockedPrompt: the run ends as refused before any request.
func TestBlockedPrompt(t *testing.T) {
	s := newScript(t)
	r := runnerOf(s)
	r.Hooks = new(Hooks)
	r.Hooks.On(HookUserPromptSubmit, func(_ context.Context, e HookEvent) (HookDecision, error) {
		return HookDecision{Block: e.Prompt == "go"}, nil
	})
	run, err := r.Run(t.Context(), "go")
	assert.NilError(t, err)
	assert.Equal(t, run.Stop, StopRefused)
	assert.Equal(t, len(s.requestsOf(Root)), 0)
	assert.Equal(t, run.History.Len(), 2)
}

// TestReportingHooks: hooks that only watch cannot change anything, all of them
// run, and the first failure is in the event.
func TestReportingHooks(t *testing.T) {
	for _, kind := range []HookKind{HookPostToolUse, HookStop} {
		t.Run(string(kind), func(t *testing.T) {
			var log eventLog
			second := 0
			r := runnerOf(newScript(t).on(Root, calling(`a echo {"text":"x"}`), saying("done")))
			r.Observe = log.observe
			r.Hooks = new(Hooks)
			r.Hooks.On(kind, func(context.Context, HookEvent) (HookDecision, error) { panic("boom") })
			r.Hooks.On(kind, func(context.Context, HookEvent) (HookDecision, error) {
				second++
				return HookDecision{Block: true}, nil
			})
			run, err := r.Run(t.Context(), "go")
			assert.NilError(t, err)
			assert.Equal(t, run.Stop, StopAnswer)
			assert.DeepEqual(t, outcomes(run), []string{"1.1 a echo allow: echo x"})
			assert.Equal(t, second, 1)
			var hooks []string
			for _, line := range log.lines {
				if line[:4] == "hook" {
					hooks = append(hooks, line)
				}
			}
			turn := map[HookKind]int{HookPostToolUse: 1, HookStop: 0}[kind]
			assert.DeepEqual(t, hooks, []string{
				fmt.Sprintf("hook root [root] %d %s err=A hook crashed, so this was blocked: panic: boom", turn, kind),
			})
		})
	}
}

// TestHookEvents: hooks run in the order they were added, and each event says
// who, where and what.
func TestHookEvents(t *testing.T) {
	var seen []HookEvent
	hooks := new(Hooks)
	for _, kind := range []HookKind{HookUserPromptSubmit, HookPreToolUse, HookPostToolUse, HookStop} {
		hooks.On(kind, func(_ context.Context, e HookEvent) (HookDecision, error) {
			seen = append(seen, e)
			return HookDecision{}, nil
		})
	}
	r := runnerOf(newScript(t).on(Root, calling(`a echo {"text":"x"}`), saying("done")))
	r.Hooks, r.Identity = hooks, "alice"
	_, err := r.Run(t.Context(), "go")
	assert.NilError(t, err)
	who := HookEvent{Agent: Root, Label: "root", Identity: "alice"}
	prompt, pre, stop := who, who, who
	prompt.Kind, prompt.Prompt = HookUserPromptSubmit, "go"
	pre.Kind, pre.Turn, pre.Call, pre.Tool, pre.Arguments = HookPreToolUse, 1, 1, "echo", `{"text":"x"}`
	post := pre
	post.Kind, post.Result = HookPostToolUse, "echo x"
	stop.Kind, stop.Reason, stop.Final = HookStop, StopAnswer, "done"
	assert.DeepEqual(t, seen, []HookEvent{prompt, pre, post, stop})
}

// TestHookThatCancels: what a hook cancels is interrupted, not blocked, and a
// cancelled run fires no Stop.
func TestHookThatCancels(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	r := runnerOf(newScript(t).on(Root, calling(`a echo {}`)))
	r.Hooks = new(Hooks)
	r.Hooks.On(HookPreToolUse, func(context.Context, HookEvent) (HookDecision, error) {
		cancel()
		return HookDecision{Block: true}, nil
	})
	r.Hooks.On(HookStop, func(context.Context, HookEvent) (HookDecision, error) {
		t.Error("Stop fired")
		return HookDecision{}, nil
	})
	run, err := r.Run(ctx, "go")
	assert.NilError(t, err)
	assert.Equal(t, run.Stop, StopCancelled)
	assert.DeepEqual(t, outcomes(run), []string{"1.1 a echo interrupted: " + interrupted})

	ctx, cancel = context.WithCancel(t.Context())
	s := newScript(t)
	r = runnerOf(s)
	r.Hooks = new(Hooks)
	r.Hooks.On(HookUserPromptSubmit, func(context.Context, HookEvent) (HookDecision, error) { cancel(); return HookDecision{}, nil })
	run, err = r.Run(ctx, "go")
	assert.NilError(t, err)
	assert.Equal(t, run.Stop, StopCancelled)
	assert.Equal(t, len(s.requestsOf(Root)), 0)
}
