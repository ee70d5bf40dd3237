package profiles

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/tapetree/tapetree/runtime"
	"github.com/tapetree/tapetree/runtime/tools"
)

// Options is what a session brings to a profile. Model and Workspace are
// needed; everything else has a useful zero value.
type Options struct {
	Model     runtime.Model // of the parent, and of its children without SubLive
	ModelName string
	SubModel  string        // the children's model name; "": the parent's
	SubLive   runtime.Model // who answers the children; nil: Model
	Workspace *tools.Workspace
	Env       Env

	Hooks     *runtime.Hooks   // nil: a new one without hooks
	Policy    runtime.Policy   // nil: the profile's rules with Mode and Approver
	Mode      runtime.Mode     // "" means runtime.ModeDefault
	ChildMode runtime.Mode     // a stricter mode for the children; "": none
	Approver  runtime.Approver // nil: nobody is there to ask
	Identity  string

	MaxTurns      int             // 0: the profile's, which is also the most
	ChildMaxTurns int             // likewise
	ChildJobs     int             // children of one turn at once; 0: runtime.DefaultChildJobs
	ContextBudget int             // estimated tokens of one request's messages, of parent and child; 0: no budget
	OutputTokens  int             // the most tokens of one answer, sent as max_tokens by parent and child; 0: not sent
	Fold          *runtime.Folder // sizes are counted on folded text; nil: as it stands
	Gate          runtime.Gate    // nil: a call runs when it is reached
	System        *string         // the whole system text of the parent; nil: the profile's prompt and Env
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
	registry, err := newRegistry(p.Kit, p.Tools, o.Workspace, todo, task)
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
		Params:    params(o),
		Dialect:   o.Dialect,
		Backoff:   o.Backoff,
		Parallel:  p.Parallel,
		ChildJobs: o.ChildJobs,
		Gate:      o.Gate,
		Budget:    runtime.Budget{Tokens: o.ContextBudget, Fold: o.Fold},
	}, nil
}

// params are the further members of every request.
func params(o Options) []runtime.Param {
	if o.OutputTokens == 0 {
		return o.Params
	}
	limit := runtime.Param{Name: "max_tokens", Value: strconv.AppendInt(nil, int64(o.OutputTokens), 10)}
	return append(slices.Clip(o.Params), limit)
}

// check fills in the defaults of o and refuses what cannot work.
func check(p Profile, o *Options) error {
	if o.Model == nil {
		return errors.New("a model is needed")
	}
	if o.Workspace == nil {
		return errors.New("a workspace is needed")
	}
	o.Mode = cmp.Or(o.Mode, runtime.ModeDefault)
	if err := cmp.Or(knownMode(o.Mode), knownMode(cmp.Or(o.ChildMode, o.Mode))); err != nil {
		return err
	}
	if err := notNegative(o); err != nil {
		return err
	}
	if p.Directory {
		o.Env.Workspace = cmp.Or(o.Env.Workspace, o.Workspace.Dir())
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
			Rules:     maps.Clone(p.Rules),
			Auto:      bind(p.Auto, o.Workspace),
			Paths:     maps.Clone(p.Paths),
			Boundary:  o.Workspace,
			Mode:      o.Mode,
			ChildMode: o.ChildMode,
			Approver:  o.Approver,
		}
	}
	return nil
}

func knownMode(mode runtime.Mode) error {
	switch mode {
	case runtime.ModeDefault, runtime.ModeAcceptEdits, runtime.ModeYolo, runtime.ModeReadOnly:
		return nil
	default:
		return fmt.Errorf("unknown mode %q: use %s, %s, %s or %s", mode,
			runtime.ModeDefault, runtime.ModeAcceptEdits, runtime.ModeYolo, runtime.ModeReadOnly)
	}
}

func notNegative(o *Options) error {
	for _, count := range []struct {
		name  string
		value int
	}{{"childJobs", o.ChildJobs}, {"contextBudget", o.ContextBudget}, {"outputTokens", o.OutputTokens}} {
		if count.value < 0 {
			return fmt.Errorf("%s must not be negative", count.name)
		}
	}
	return nil
}

// bind gives the profile's rules for calls without a question their workspace.
func bind(rules map[string]func(*tools.Workspace, string) bool, ws *tools.Workspace) map[string]func(string) bool {
	bound := make(map[string]func(string) bool, len(rules))
	for tool, rule := range rules {
		bound[tool] = func(arguments string) bool { return rule(ws, arguments) }
	}
	return bound
}

// newTask makes the task tool: each of its children gets a registry, a todo
// list and a memory of what it has read of its own.
func newTask(p Profile, o Options) (runtime.Tool, error) {
	standard := func() (*runtime.Registry, error) {
		return newRegistry(p.Kit, p.ChildTools, o.Workspace, new(runtime.TodoList))
	}
	factory := standard
	if o.ChildTools != nil {
		factory = func() (*runtime.Registry, error) { return o.ChildTools(standard) }
	}
	model := o.Model
	if o.SubLive != nil {
		model = o.SubLive
	}
	return runtime.NewTask(runtime.TaskOptions{
		Style:        p.Task,
		ModelFactory: func() (runtime.Model, error) { return model, nil },
		ModelName:    o.SubModel,
		ToolsFactory: factory,
		SystemPrompt: system(o.ChildSystem, p.ChildPrompt, o.Env),
		MaxTurns:     o.ChildMaxTurns,
		Hooks:        o.Hooks,
		Policy:       o.Policy,
	})
}

// newRegistry registers the named tools in the order of names.
func newRegistry(
	kit func(*tools.Workspace) ([]runtime.Tool, error), names []string, ws *tools.Workspace, todo *runtime.TodoList, more ...runtime.Tool,
) (*runtime.Registry, error) {
	available, err := kit(ws)
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
