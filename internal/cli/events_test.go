package cli

import (
	"errors"
	"strings"
	"testing"

	"github.com/tapetree/tapetree/runtime"
	"gotest.tools/v3/assert"
)

func TestEventsShowDepthAndLabel(t *testing.T) {
	var screen strings.Builder
	w := &watcher{screen: &console{out: &screen}}
	root := func(e runtime.Event) { e.Agent, e.Label = "root", "root"; w.observe(e) }
	child := func(e runtime.Event) {
		e.Agent, e.Label = "root/1.1", "find the\nbug that hides in the parser"
		w.observe(e)
	}
	calls := []runtime.Call{{ID: "a"}}

	root(runtime.Event{Kind: runtime.EventRunStart, Text: "go"})
	root(runtime.Event{Kind: runtime.EventAnswer, Answer: &runtime.Answer{Message: runtime.Message{Content: "I ask.\nThen I act.", Calls: calls}}})
	root(runtime.Event{Kind: runtime.EventCallStart, Call: &runtime.CallRecord{Name: "task", Arguments: `{"description":"x"}`}})
	child(runtime.Event{Kind: runtime.EventTryFailed, Err: &runtime.UpstreamError{Status: 429, Kind: "status", Text: "slow down\x1b[0m"}})
	child(runtime.Event{Kind: runtime.EventCallStart, Call: &runtime.CallRecord{Name: "glob", Arguments: " "}})
	child(runtime.Event{Kind: runtime.EventHook, Text: "PreToolUse"})
	child(runtime.Event{Kind: runtime.EventHook, Text: "PreToolUse", Err: errors.New("not here")})
	child(runtime.Event{Kind: runtime.EventCallEnd, Call: &runtime.CallRecord{Name: "glob", Verdict: runtime.VerdictAskDeny, Result: strings.Repeat("é", 130) + "\n"}})
	child(runtime.Event{Kind: runtime.EventAnswer, Answer: &runtime.Answer{Message: runtime.Message{Content: "its words"}}})
	child(runtime.Event{Kind: runtime.EventRunEnd, Run: &runtime.Run{Stop: runtime.StopAnswer, Turns: make([]runtime.Turn, 1), Tree: runtime.Usage{Input: 7, Output: 2}}})
	root(runtime.Event{Kind: runtime.EventCompact, Compact: &runtime.Compaction{Before: 1000, After: 1000}})
	root(runtime.Event{Kind: runtime.EventReminder, Text: "Reminder: the plan"})
	root(runtime.Event{Kind: runtime.EventRunEnd})

	assert.Equal(t, screen.String(), `root says: I ask. ↵ Then I act.
root → task {"description":"x"}
  ↳ root/1.1 [find the ↵ bug that hid…] failed: upstream answered 429 (status): slow down‹ESC›[0m
  ↳ root/1.1 [find the ↵ bug that hid…] → glob {}
  ↳ root/1.1 [find the ↵ bug that hid…] hook PreToolUse: not here
  ↳ root/1.1 [find the ↵ bug that hid…] ← glob denied: `+strings.Repeat("é", 100)+`… (30 more)
  ↳ root/1.1 [find the ↵ bug that hid…] ends: answer after 1 turn, 7 input and 2 output tokens
root is over its context budget with about 1000 tokens, of which none can be dropped
root is reminded: Reminder: the plan
`)
	assert.Equal(t, w.lastUpstream().Status, 429)
}

func TestQuietEventsStillKeepTheUpstreamError(t *testing.T) {
	var screen strings.Builder
	w := &watcher{screen: &console{out: &screen}, quiet: true}
	w.observe(runtime.Event{Kind: runtime.EventTryFailed, Agent: "root", Err: &runtime.UpstreamError{Status: 500}})
	assert.Equal(t, screen.String(), "")
	assert.Equal(t, w.lastUpstream().Status, 500)
}
