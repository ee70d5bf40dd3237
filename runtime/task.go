package runtime

import (
	"cmp"
	"context"
	"errors"
	"fmt"
)

// TaskToolName is the name of the tool that starts a child.
const TaskToolName = "task"

// MaxChildTurns is the most turns a child can be given: one that needs more
// was given too large a task.
const MaxChildTurns = 30

// TaskOptions says how a task tool makes its children. What it does not name
// comes from the runner whose call starts the child, the very same objects:
// identity, tape, observer, model name, parameters, dialect, stream, back-off,
// budget, gate and which calls run together.
type TaskOptions struct {
	Style        TaskStyle                 // what the tool takes and gives back
	ModelFactory func() (Model, error)     // called once per task, after the registry was checked
	ModelName    string                    // of every child; "": the parent's
	ToolsFactory func() (*Registry, error) // called once per task, first; a new registry each time
	SystemPrompt string                    // of every child
	MaxTurns     int                       // of every child, 1 to MaxChildTurns
	Hooks        *Hooks                    // the parent's own object, and so every child's
	Policy       Policy                    // likewise
}

// TaskStyle is how a task tool is built.
type TaskStyle string

// The styles. The zero value is TaskPlain.
const (
	// TaskPlain takes one description, the whole brief, and gives back the
	// child's final text alone. A failure says nothing of its inside.
	TaskPlain TaskStyle = ""
	// TaskBrief takes a title (description) and a brief (prompt) and gives back
	// a report with a line of statistics, also of a child that did not finish.
	TaskBrief TaskStyle = "brief"
)

// NewTask returns the task tool: it runs a child agent on a history of its own
// and gives back nothing but what the child has to report.
func NewTask(o TaskOptions) (Tool, error) {
	switch {
	case o.MaxTurns <= 0:
		return Tool{}, errors.New("maxTurns must be a positive integer")
	case o.MaxTurns > MaxChildTurns:
		return Tool{}, errors.New("maxTurns must be at most 30")
	case o.Hooks == nil || o.Policy == nil:
		return Tool{}, errors.New("subagent capability requires hooks and permission policy")
	case o.ModelFactory == nil || o.ToolsFactory == nil:
		return Tool{}, errors.New("subagent capability requires a model factory and a tools factory")
	}
	switch o.Style {
	case TaskPlain:
		return o.plainTool()
	case TaskBrief:
		return o.briefTool()
	default:
		return Tool{}, fmt.Errorf("task style %q is unknown", o.Style)
	}
}

// run starts one child and waits for it.
func (o *TaskOptions) run(ctx context.Context, call Invocation, title, brief string) (string, error) {
	registry, err := factory(o.ToolsFactory)
	switch {
	case err != nil:
		return "", o.notStarted(title)
	case registry == nil:
		return "", &ToolError{CodeSubagentConfiguration, "Subagent tools factory must return ToolRegistry"}
	case registry.has(TaskToolName):
		return "", &ToolError{CodeSubagentConfiguration, "Subagent tools must not include task"}
	}
	model, err := factory(o.ModelFactory)
	if err != nil || model == nil {
		return "", o.notStarted(title)
	}
	child := o.child(call, model, registry, title)
	run, err := child.Run(ctx, brief)
	call.record.Child = run
	if err != nil {
		return "", &fault{err} // ours, not the child's: it goes up to whoever started the session
	}
	if o.Style == TaskBrief {
		return briefReport(run)
	}
	return o.plainReport(run)
}

// child is the runner of one task.
func (o *TaskOptions) child(call Invocation, model Model, registry *Registry, title string) *Runner {
	child := *call.Runner
	child.Agent = call.Place.Agent.Child(call.Place.Turn, call.Call)
	child.Label = title
	child.Model = model
	child.ModelName = cmp.Or(o.ModelName, child.ModelName)
	child.System = o.SystemPrompt
	child.Tools = registry
	child.MaxTurns = o.MaxTurns
	child.Todo = nil // its list is its registry's alone; reminders are the root's
	child.Hooks, child.Policy = o.Hooks, o.Policy
	return &child
}

// notStarted is the result of a task whose child could not be made. Why stays
// inside.
func (o *TaskOptions) notStarted(title string) error {
	if o.Style == TaskBrief {
		return incomplete("not_started", &Run{Label: title})
	}
	return errSubagentExecution
}

func unknownStop(run *Run) error {
	return &fault{fmt.Errorf("report run of %s: unknown stop reason %q", run.Agent, run.Stop)}
}

// factory calls make and counts a panic as its error.
func factory[T any](make func() (T, error)) (made T, err error) {
	defer func() {
		if crash := recover(); crash != nil {
			err = fmt.Errorf("factory crashed: %v", crash)
		}
	}()
	return make()
}
