package runtime

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"gotest.tools/v3/assert"
)

// gateFunc is a Gate of one function.
type gateFunc func(ctx context.Context, place Place, call CallRecord) (func(), error)

func (f gateFunc) Enter(ctx context.Context, place Place, call CallRecord) (func(), error) {
	return f(ctx, place, call)
}

// TestGate: an allowed call of a tool that can change something enters before
// its handler and leaves after it, once, however the handler ends; reads, calls
// that are refused and task itself go by.
func TestGate(t *testing.T) {
	var steps []string
	step := func(format string, args ...any) { steps = append(steps, fmt.Sprintf(format, args...)) }
	f := newTeam(t, nil)
	work := func(context.Context) (string, error) { step("work"); return "worked", nil }
	task, err := NewTask(f.options)
	assert.NilError(t, err)
	f.root.Tools = registryOf(t, task, echoTool(t, "echo"), funcTool(t, "work", work), funcTool(t, "off", work),
		funcTool(t, "crash", func(context.Context) (string, error) { step("crash"); panic("boom") }),
		funcTool(t, "fail", func(context.Context) (string, error) { step("fail"); return "", Failed("no") }))
	rules := f.root.Policy.(*Permissions).Rules
	rules["work"], rules["crash"], rules["fail"], rules["off"] = RuleAllow, RuleAllow, RuleAllow, RuleDeny
	f.root.Gate = gateFunc(func(_ context.Context, place Place, call CallRecord) (func(), error) {
		at := fmt.Sprintf("%s#%d.%d %s", place.Agent, place.Turn, call.Number, call.Verdict)
		step("enter %s", at)
		if call.Name == "fail" {
			return nil, nil // nothing to leave
		}
		return func() { step("leave %s", at) }, nil
	})
	f.on(Root, calling(brief("a", "one"), `b echo {}`, `c work {}`, `d work {"x":1}`, `e off {}`, `f crash {}`, `g fail {}`), saying("done"))
	f.on("root/1.1", saying("report"))
	run := f.run(t.Context())
	assert.DeepEqual(t, steps, []string{
		"enter root#1.3 allow", "work", "leave root#1.3 allow",
		"enter root#1.6 allow", "crash", "leave root#1.6 allow",
		"enter root#1.7 allow", "fail",
	})
	assert.Equal(t, run.Turns[0].Calls[6].Result, "Error [tool_error]: no")
}

// TestGateBindsChildren: a child's calls wait at the parent's gate.
func TestGateBindsChildren(t *testing.T) {
	f := newTeam(t, func(o *TaskOptions) {
		o.ToolsFactory = func() (*Registry, error) {
			return NewRegistry(funcTool(t, "work", func(context.Context) (string, error) { return "worked", nil }))
		}
	})
	f.root.Policy.(*Permissions).Rules["work"] = RuleAllow
	var entered []Path
	f.root.Gate = gateFunc(func(_ context.Context, place Place, _ CallRecord) (func(), error) {
		entered = append(entered, place.Agent)
		return func() {}, nil
	})
	f.on(Root, calling(brief("a", "one")), saying("done")).on("root/1.1", calling(`a work {}`), saying("report"))
	f.run(t.Context())
	assert.DeepEqual(t, entered, []Path{"root/1.1"})
}

// TestGateEnds: a wait that ends with the context interrupts the call; any other
// failure is a fault of ours. The handler does not run.
func TestGateEnds(t *testing.T) {
	for _, tt := range []struct {
		name   string
		cancel bool
		err    error
		want   string
	}{
		{"context", true, fmt.Errorf("wait: %w", context.Canceled), ""},
		{"ours", false, errors.New("no such place"), "wait for the turn of call 1.1 of root (work): no such place"},
		{"ours, with the context", true, errors.New("no such place"), "wait for the turn of call 1.1 of root (work): no such place"},
		{"a context error without a reason", false, context.Canceled, "wait for the turn of call 1.1 of root (work): context canceled"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			r := runnerOf(newScript(t).on(Root, calling(`a work {}`)), funcTool(t, "work", func(context.Context) (string, error) {
				t.Error("the handler ran")
				return "", nil
			}))
			r.Gate = gateFunc(func(context.Context, Place, CallRecord) (func(), error) {
				if tt.cancel {
					cancel()
				}
				return nil, tt.err
			})
			run, err := r.Run(ctx, "go")
			if tt.want != "" {
				assert.Error(t, err, tt.want)
			} else {
				assert.NilError(t, err)
			}
			assert.DeepEqual(t, outcomes(run), []string{"1.1 a work interrupted: " + interrupted})
		})
	}
}
