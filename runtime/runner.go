package runtime

import (
	"cmp"
	"context"
	"errors"
	"time"
)

// Runner is one agent loop with its own message history. Set the fields, then
// call Run once. A child inherits Model (through the task's factory), Hooks,
// Policy, Identity, Tape, Observe, Backoff, Params, Stream, ModelName (unless
// the task names another), Dialect, Parallel, ChildJobs, Gate and Budget, the
// very same objects, from the runner whose call starts it.
type Runner struct {
	Agent     Path   // "" means Root
	Label     string // "" means the agent path
	Model     Model
	ModelName string
	System    string
	Tools     *Registry
	MaxTurns  int       // answers; at least 1
	Todo      *TodoList // nil: no reminder
	Hooks     *Hooks
	Policy    Policy // nil: every call that is well-formed is allowed
	Identity  string // who the session acts for; in every hook and policy event
	Tape      Tape   // nil: every call runs
	Observe   Observer
	Stream    bool
	Params    []Param
	Dialect   Dialect
	Parallel  []string // tools whose calls run together when a turn has no others; nil: one after another
	ChildJobs int      // children of one turn at once; 0 means DefaultChildJobs
	Gate      Gate     // nil: a call runs when it is reached
	Budget    Budget   // the zero value sets none
	// Backoff returns how long to wait before the given try (2, 3). Nil waits
	// for nothing, which is what a replay wants.
	Backoff func(try int, asked time.Duration) time.Duration
}

// Tape answers calls from a recording instead of running them.
type Tape interface {
	// Outcome returns the recorded verdict and result of a call, and whether
	// the call is to be answered from tape at all. An error (no recorded call
	// at this place) ends the session.
	Outcome(place Place, call CallRecord) (verdict Verdict, result string, taped bool, err error)
}

// DefaultChildJobs is how many children of one turn run at once when nothing
// else is said: enough to keep a model server busy, few enough for its limits.
const DefaultChildJobs = 8

// Gate decides when an allowed call of a tool that can change something may
// run its handler. Calls of task never pass it.
type Gate interface {
	// Enter waits for the call's turn. leave must be called once when the
	// handler has ended. An error is that of ctx, or a fault of ours.
	Enter(ctx context.Context, place Place, call CallRecord) (leave func(), err error)
}

// Budget bounds what one agent sends in a request. Over it, the older part of
// the history is replaced by a summary that the model is asked for: a side
// conversation of the agent.
type Budget struct {
	Tokens int     // estimated as a quarter of the messages' folded bytes; 0: no budget
	Prompt string  // the system text of the side conversation; "": one of our own
	Fold   *Folder // sizes are counted on folded text, so that they do not depend on the machine
}

// Run sends prompt and loops until the model gives a final answer, a limit
// stops it or ctx ends. An error means that the harness failed, here or in a
// child; what the model or the upstream did wrong is the Stop of the Run. With
// an error the Run is complete up to the point reached, its history paired and
// its Stop "".
//
// A UserPromptSubmit hook that blocks ends the run as refused before any
// request.
func (r *Runner) Run(ctx context.Context, prompt string) (*Run, error) {
	l := &loop{
		Runner: r,
		run:    &Run{Agent: r.path(), Label: r.label(), Model: r.ModelName, Prompt: prompt},
		ids:    make(map[string]bool),
	}
	l.emit(Event{Kind: EventRunStart, Text: prompt})
	stop, err := l.begin(ctx)
	if stop == "" && err == nil {
		stop, err = l.turns(ctx)
	}
	if ours, ok := errors.AsType[*fault](err); ok {
		err = ours.error
	}
	l.finish(ctx, stop, err)
	return l.run, err
}

// finish closes the books of a run and tells hooks and observer.
func (l *loop) finish(ctx context.Context, stop StopReason, err error) {
	run := l.run
	run.Stop = stop
	run.History = l.history.View()
	if stop != StopAnswer {
		run.Partial = l.written
	}
	run.Tree = run.Usage
	for _, child := range run.Children() {
		run.Tree = run.Tree.Add(child.Tree)
	}
	if err == nil && stop != StopCancelled {
		l.fireHooks(ctx, HookEvent{Kind: HookStop, Reason: stop, Final: run.Final})
	}
	l.emit(Event{Kind: EventRunEnd, Run: run, Err: err})
}

func (r *Runner) path() Path { return cmp.Or(r.Agent, Root) }

func (r *Runner) label() string { return cmp.Or(r.Label, string(r.path())) }

func (r *Runner) emit(e Event) {
	if r.Observe == nil {
		return
	}
	e.Agent, e.Label = r.path(), r.label()
	r.Observe(e)
}
