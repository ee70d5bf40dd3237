package scenarios

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/tapetree/tapetree/runtime"
	"github.com/tapetree/tapetree/runtime/profiles"
	"github.com/tapetree/tapetree/transcripts"
)

// composition is what differs between a replayed and a live session.
type composition struct {
	model     runtime.Model
	modelName string
	subModel  string           // of the children; "": the parent's
	subLive   runtime.Model    // who answers them; nil: model
	childJobs int              // 0: runtime.DefaultChildJobs
	approver  runtime.Approver // nil: nobody to ask
	tape      runtime.Tape
	env       transcripts.Env
	stream    bool
	dialect   runtime.Dialect
	backoff   func(try int, asked time.Duration) time.Duration
	observers []runtime.Observer
}

// compose builds the runner of s: the scenario's profile with its limits,
// prompts, hooks and fixtures.
func (s *session) compose(c composition) error {
	profile, known := profiles.ByName(s.scenario.Profile)
	if !known {
		return fmt.Errorf("%s: profile %q is unknown", s.scenario.File, s.scenario.Profile)
	}
	count := func(e runtime.Event) {
		if e.Kind == runtime.EventAsk {
			s.mu.Lock()
			s.asked++
			s.mu.Unlock()
		}
	}
	runner, err := profiles.Build(profile, profiles.Options{
		Model: c.model, ModelName: c.modelName, SubModel: c.subModel, SubLive: c.subLive, Workspace: s.workspace,
		Hooks: s.hooks(), Mode: s.scenario.Mode, ChildMode: s.scenario.ChildPolicy, Approver: c.approver,
		ContextBudget: s.scenario.ContextBudget, OutputTokens: s.scenario.OutputTokens, Fold: s.folder, ChildJobs: c.childJobs,
		MaxTurns: s.scenario.MaxTurns, ChildMaxTurns: s.scenario.ChildMaxTurns,
		System: s.scenario.System, ChildSystem: s.scenario.ChildSystem,
		Env:  profiles.Env{OS: c.env.OS, Date: c.env.Date},
		Tape: c.tape, Observe: observeAll(append(c.observers, count)...),
		Stream: c.stream, Dialect: c.dialect, Backoff: c.backoff, ChildTools: s.childTools(),
	})
	if err != nil {
		return fmt.Errorf("%s: %w", s.scenario.File, err)
	}
	s.schedule.Attach(runner)
	if s.recorder != nil {
		runner.Gate = s.recorder
	}
	s.runner = runner
	return nil
}

// childTools is the child's tools factory as the scenario's fixtures bend it;
// nil leaves it as it is.
func (s *session) childTools() func(standard func() (*runtime.Registry, error)) (*runtime.Registry, error) {
	for _, f := range s.scenario.Fixtures {
		switch f.Kind {
		case "factory-nil":
			return func(func() (*runtime.Registry, error)) (*runtime.Registry, error) { return nil, nil }
		case "factory-error":
			return func(func() (*runtime.Registry, error)) (*runtime.Registry, error) {
				return nil, errors.New("the tools factory failed, as its fixture says")
			}
		case "child-has-task":
			return registryWithTask
		}
	}
	return nil
}

// registryWithTask breaks the rule that a child cannot delegate.
func registryWithTask(standard func() (*runtime.Registry, error)) (*runtime.Registry, error) {
	registry, err := standard()
	if err != nil {
		return nil, err
	}
	task, err := runtime.NewTool(runtime.TaskToolName, "A registry that was put together wrongly.", runtime.EffectExternal,
		func(context.Context, runtime.Invocation, struct{}) (string, error) {
			return "", errors.New("a child's task tool was called")
		})
	if err != nil {
		return nil, err
	}
	return registry, registry.Register(task)
}
