package scenarios

import (
	"context"
	"errors"
	"time"

	"github.com/tapetree/tapetree/golden"
	"github.com/tapetree/tapetree/runtime"
)

// hookTimeout is how long a hook that never answers is waited for: it shows
// nothing more when the wait is longer.
const hookTimeout = 20 * time.Millisecond

// hooks builds the session's hooks from the hooks section and the hook
// fixtures, in the order they are written.
func (s *session) hooks() *runtime.Hooks {
	hooks := &runtime.Hooks{}
	for _, rule := range append(fixtureRules(s.scenario.Fixtures), s.scenario.Hooks...) {
		hook := runtime.Hook{Run: s.hook(rule)}
		if rule.Tool != "*" {
			hook.Tool = rule.Tool
		}
		if rule.Action == "timeout" { // the other hooks keep their time, however busy the machine
			hook.Timeout = hookTimeout
		}
		hooks.Add(runtime.HookKind(rule.Event), hook)
	}
	return hooks
}

// fixtureRules are the hooks that the hook fixtures stand for.
func fixtureRules(fixtures []Fixture) []HookRule {
	var rules []HookRule
	for _, f := range fixtures {
		rule := HookRule{Event: string(runtime.HookPreToolUse), Tool: f.Tool}
		switch f.Kind {
		case "hook-block":
			rule.Action = "block"
		case "hook-panic":
			rule.Action = "panic"
		case "hook-timeout":
			rule.Action = "timeout"
		default:
			continue
		}
		rules = append(rules, rule)
	}
	return rules
}

// hook is the function that a rule describes.
func (s *session) hook(rule HookRule) runtime.HookFunc {
	return func(ctx context.Context, event runtime.HookEvent) (runtime.HookDecision, error) {
		switch rule.Action {
		case "log":
			s.logHook(event)
		case "block":
			return runtime.HookDecision{Block: true, Reason: rule.Text}, nil
		case "fail":
			return runtime.HookDecision{}, errors.New("the hook failed, as its rule says")
		case "panic":
			panic("the hook panicked, as its rule says")
		case "timeout":
			<-ctx.Done()
		}
		return runtime.HookDecision{}, nil
	}
}

func (s *session) logHook(event runtime.HookEvent) {
	text := string(event.Kind)
	if event.Tool != "" {
		text += " " + event.Tool
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.hookLines = append(s.hookLines, golden.HookLine{Agent: event.Agent, Turn: event.Turn, Call: event.Call, Text: text})
}
