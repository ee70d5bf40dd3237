package runtime

import (
	"context"
	"time"
)

// cancelGrace is how long a handler may go on after its context ended before
// it is left behind: a cancelled session ends within a second.
const cancelGrace = 800 * time.Millisecond

// invoke runs a handler. One that panics fails its own call only; one that
// does not end when ctx ends is left behind, except for task: a child ends by
// these same rules, and its run must not be lost.
func invoke(ctx context.Context, tool Tool, call Invocation) (string, error) {
	if tool.Name == TaskToolName {
		out := guarded(ctx, tool, call)
		return out.result, out.err
	}
	done := make(chan toolEnd, 1)
	go func() {
		out := crashed // stands if the handler ends its goroutine
		defer func() { done <- out }()
		out = guarded(ctx, tool, call)
	}()
	select {
	case out := <-done:
		return out.result, out.err
	case <-ctx.Done():
	}
	timer := time.NewTimer(cancelGrace)
	defer timer.Stop()
	select {
	case out := <-done:
		return out.result, out.err
	case <-timer.C:
		return "", ctx.Err()
	}
}

// toolEnd is how a handler ended.
type toolEnd struct {
	result string
	err    error
}

var crashed = toolEnd{err: Failed("The tool crashed")}

func guarded(ctx context.Context, tool Tool, call Invocation) (out toolEnd) {
	defer func() {
		if crash := recover(); crash != nil {
			out = crashed
		}
	}()
	result, err := tool.Handle(ctx, call)
	return toolEnd{result, err}
}
