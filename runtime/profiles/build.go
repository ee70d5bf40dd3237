package profiles

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"strings"
	"time"

	"github.com/tapetree/tapetree/runtime"
	"github.com/tapetree/tapetree/runtime/tools"
)

// Options is what a session brings to a profile. Model and Workspace are
// needed; everything else has a useful zero value.
type Options struct {
	Model     runtime.Model // of the parent and all its children
	ModelName string
	Workspace *tools.Workspace
	Env       Env

	Hooks    *runtime.Hooks   // nil: a new one without hooks
	Policy   runtime.Policy   // nil: the profile's rules with Mode and Approver
	Mode     runtime.Mode     // "" means runtime.ModeDefault
	Approver runtime.Approver // nil: nobody is there to ask
	Identity string

	MaxTurns      int     // 0: the profile's, which is also the most
	ChildMaxTurns int     // likewise
	System        *string // the whole system text of the parent; nil: the profile's prompt and Env
	ChildSystem   *string

	// ChildTools, if set, stands in the way of the children's tools factory,
	// which it may call: a way to try out what goes wrong there.
	ChildTools func(standard func() (*runtime.Registry, error)) (*runtime.Registry, error)

	Tape    runtime.Tape
	Observe runtime.Observer
	Stream  bool
	Params  []runtime.Param
	Dialect runtime.Dialect
	Backoff func(try int, asked time.Duration) time.Duration
}

// Env is what a prompt tells the model of its surroundings. It is handed in and
// never read from the clock or the system here, so that a replay tells what the
// recording told.
type Env struct {
	OS        string
	Date      string // YYYY-MM-DD
	Workspace string // as the user gave it
}

// The lines around the environment block. What stands between them is expected
// to differ from one session to the next.
const (
	EnvironmentStart = "<environment>"
	EnvironmentEnd   = "</environment>"
)

// Block is the environment block of a system text. A fact that is not known is
// left out.
func (e Env) Block() string {
	lines := []string{EnvironmentStart}
	for _, fact := range [][2]string{
		{"Workspace", e.Workspace},
		{"Operating system", e.OS},
		{"Date", e.Date},
	} {
		if fact[1] != "" {
			lines = append(lines, fact[0]+": "+fact[1])
		}
	}
	return strings.Join(append(lines, EnvironmentEnd), "\n")
}

// Build puts a session together: the one place where model, tools, hooks,
// policy and children meet. The runner it returns is the parent's, for one Run.
func Build(p Profile, o Options) (*runtime.Runner, error) {
	if err := check(p, &o); err != nil {
		return nil, fmt.Errorf("build profile %s: %w", p.Name, err)
	}
	todo := new(runtime.TodoList)
	task, err := newTask(p, o)
	if err != nil {
		return nil, err // its text is fixed
	}
	registry, err := newRegistry(p.Tools, o.Workspace, todo, task)
	if err != nil {
		return nil, fmt.Errorf("build profile %s: %w", p.Name, err)
	}
	return &runtime.Runner{
		Agent:     runtime.Root,
		Model:     o.Model,
		ModelName: o.ModelName,
		System:    system(o.System, p.Prompt, o.Env),
		Tools:     registry,
		MaxTurns:  o.MaxTurns,
		Todo:      todo,
		Hooks:     o.Hooks,
		Policy:    o.Policy,
		Identity:  o.Identity,
		Tape:      o.Tape,
		Observe:   o.Observe,
		Stream:    o.Stream,
		Params:    o.Params,
		Dialect:   o.Dialect,
		Backoff:   o.Backoff,
	}, nil
}

// check fills in the defaults of o and refuses what cannot work.
func check(p Profile, o *Options) error {
	if o.Model == nil {
		return errors.New("a model is needed")
	}
	if o.Workspace == nil {
		return errors.New("a workspace is needed")
	}
	switch o.Mode = cmp.Or(o.Mode, runtime.ModeDefault); o.Mode {
	case runtime.ModeDefault, runtime.ModeAcceptEdits, runtime.ModeYolo, runtime.ModeReadOnly:
	default:
		return fmt.Errorf("unknown mode %q: use %s, %s, %s or %s", o.Mode,
			runtime.ModeDefault, runtime.ModeAcceptEdits, runtime.ModeYolo, runtime.ModeReadOnly)
	}
	o.MaxTurns = cmp.Or(o.MaxTurns, p.MaxTurns)
	o.ChildMaxTurns = cmp.Or(o.ChildMaxTurns, p.ChildMaxTurns)
	switch {
	case o.MaxTurns < 1:
		return errors.New("maxTurns must be a positive integer")
	case o.MaxTurns > p.MaxTurns:
		return fmt.Errorf("maxTurns must be at most %d", p.MaxTurns)
	}
	if o.Hooks == nil {
		o.Hooks = new(runtime.Hooks)
	}
	if o.Policy == nil {
		o.Policy = &runtime.Permissions{
			Rules:    maps.Clone(p.Rules),
			Paths:    maps.Clone(p.Paths),
			Boundary: o.Workspace,
			Mode:     o.Mode,
			Approver: o.Approver,
		}
	}
	return nil
}

// newTask makes the task tool: each of its children gets a registry and a todo
// list of its own.
func newTask(p Profile, o Options) (runtime.Tool, error) {
	standard := func() (*runtime.Registry, error) {
		return newRegistry(p.ChildTools, o.Workspace, new(runtime.TodoList))
	}
	factory := standard
	if o.ChildTools != nil {
		factory = func() (*runtime.Registry, error) { return o.ChildTools(standard) }
	}
	return runtime.NewTask(runtime.TaskOptions{
		ModelFactory: func() (runtime.Model, error) { return o.Model, nil },
		ToolsFactory: factory,
		SystemPrompt: system(o.ChildSystem, p.ChildPrompt, o.Env),
		MaxTurns:     o.ChildMaxTurns,
		Hooks:        o.Hooks,
		Policy:       o.Policy,
	})
}

// newRegistry registers the named tools in the order of names.
func newRegistry(names []string, ws *tools.Workspace, todo *runtime.TodoList, more ...runtime.Tool) (*runtime.Registry, error) {
	available, err := tools.Standard(ws)
	if err != nil {
		return nil, err
	}
	write, err := todo.Tool()
	if err != nil {
		return nil, err
	}
	byName := make(map[string]runtime.Tool)
	for _, tool := range append(append(available, write), more...) {
		byName[tool.Name] = tool
	}
	registry := new(runtime.Registry)
	for _, name := range names {
		tool, ok := byName[name]
		if !ok {
			return nil, fmt.Errorf("there is no tool %s", name)
		}
		if err := registry.Register(tool); err != nil {
			return nil, err
		}
	}
	return registry, nil
}

func system(override *string, prompt string, env Env) string {
	if override != nil {
		return *override
	}
	return prompt + "\n\n" + env.Block()
}
