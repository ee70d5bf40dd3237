package runtime

import (
	"cmp"
	"context"
	"fmt"
	"sync"
	"time"
)

// HookKind names a moment at which hooks run.
type HookKind string

// The moments. The first two guard: their hooks can stop what is about to
// happen, and one that fails stops it.
const (
	HookUserPromptSubmit HookKind = "UserPromptSubmit" // before a run's first request; a block ends the run as refused
	HookPreToolUse       HookKind = "PreToolUse"       // before the policy is asked about a well-formed call
	HookPostToolUse      HookKind = "PostToolUse"      // after the handler, whatever its result; not when interrupted
	HookStop             HookKind = "Stop"             // after a run has ended, unless it was cancelled or the harness failed
)

// guards reports whether a hook of this kind can block.
func (k HookKind) guards() bool { return k == HookUserPromptSubmit || k == HookPreToolUse }

// HookEvent is what a hook is told. Agent, Depth, Label and Identity are always
// set; the rest where the moment has it.
type HookEvent struct {
	Kind     HookKind
	Agent    Path
	Depth    int // 0 for the parent
	Label    string
	Identity string // who the session acts for

	Prompt string // UserPromptSubmit

	Turn      int // PreToolUse and PostToolUse, as the next ones
	Call      int
	Tool      string
	Arguments string // as the model wrote them

	Result string // PostToolUse

	Reason StopReason // Stop
	Final  string     // Stop: the final text of an answer
}

// HookDecision is what a guarding hook decides. The zero value lets go.
type HookDecision struct {
	Block  bool
	Reason string // told to the model; "" gives a fixed text
}

// HookFunc is one hook. It must end when ctx ends; it is not waited for then.
// An error counts as a block in a guarding hook and is only reported in others.
type HookFunc func(ctx context.Context, event HookEvent) (HookDecision, error)

// Hook is one hook with its own terms.
type Hook struct {
	Tool    string        // only calls of this tool; "" means every event of its kind
	Timeout time.Duration // 0 means that of its Hooks
	Run     HookFunc
}

// concerns reports whether the hook is to run for an event.
func (h Hook) concerns(event HookEvent) bool { return h.Tool == "" || h.Tool == event.Tool }

// DefaultHookTimeout is how long a hook may take when Hooks sets nothing: long
// enough for a script, short enough that a stuck one is noticed.
const DefaultHookTimeout = 10 * time.Second

// Hooks are the hooks of a session, one object for the parent and all its
// children. They run in the order they were added. The zero value has none.
// Safe for concurrent use.
type Hooks struct {
	Timeout time.Duration // of each hook; 0 means DefaultHookTimeout

	mu    sync.RWMutex
	hooks map[HookKind][]Hook
}

// On adds a hook for every event of one kind.
func (h *Hooks) On(kind HookKind, hook HookFunc) { h.Add(kind, Hook{Run: hook}) }

// Add adds a hook for one kind of moment.
func (h *Hooks) Add(kind HookKind, hook Hook) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.hooks == nil {
		h.hooks = make(map[HookKind][]Hook)
	}
	h.hooks[kind] = append(h.hooks[kind], hook)
}

// of returns the hooks that an event concerns; later additions do not change
// the list.
func (h *Hooks) of(event HookEvent) []Hook {
	if h == nil {
		return nil
	}
	h.mu.RLock()
	defer h.mu.RUnlock()
	var hooks []Hook
	for _, hook := range h.hooks[event.Kind] {
		if hook.concerns(event) {
			hooks = append(hooks, hook)
		}
	}
	return hooks
}

// What the model is told when a guarding hook blocks without words of its own.
// An error's text may hold anything, so it is not among them.
const (
	textHookBlocked  = "A hook blocked this"
	textHookFailed   = "A hook failed, so this was blocked"
	textHookPanicked = "A hook crashed, so this was blocked"
	textHookTimeout  = "A hook took too long, so this was blocked"
)

// hookBlock is a block: Error says why for people, reason is for the model.
type hookBlock struct {
	reason string
	cause  error
}

func (b *hookBlock) Error() string {
	if b.cause == nil {
		return b.reason
	}
	return fmt.Sprintf("%s: %v", b.reason, b.cause)
}

// fire runs the hooks of the event's kind in order. Of a guarding kind the
// first block ends it; of others every hook runs and the first failure is
// returned, for the report only.
func (h *Hooks) fire(ctx context.Context, event HookEvent) *hookBlock {
	var first *hookBlock
	for _, hook := range h.of(event) {
		block := h.run(ctx, hook, event)
		if first == nil {
			first = block
		}
		if first != nil && event.Kind.guards() {
			break
		}
	}
	return first
}

// run runs one hook on a goroutine of its own, so that a stuck one can be left
// behind.
func (h *Hooks) run(ctx context.Context, hook Hook, event HookEvent) *hookBlock {
	ctx, cancel := context.WithTimeout(ctx, cmp.Or(hook.Timeout, h.Timeout, DefaultHookTimeout))
	defer cancel()
	done := make(chan *hookBlock, 1)
	go func() {
		// Until the hook has returned it counts as crashed: this also covers
		// runtime.Goexit, which recover does not see.
		block := &hookBlock{reason: textHookPanicked}
		defer func() {
			if crash := recover(); crash != nil {
				block.cause = fmt.Errorf("panic: %v", crash)
			}
			done <- block
		}()
		decision, err := hook.Run(ctx, event)
		block = judgeHook(decision, err)
	}()
	select {
	case block := <-done:
		return block
	case <-ctx.Done():
		return &hookBlock{reason: textHookTimeout, cause: ctx.Err()}
	}
}

func judgeHook(decision HookDecision, err error) *hookBlock {
	switch {
	case err != nil:
		return &hookBlock{reason: textHookFailed, cause: err}
	case decision.Block:
		return &hookBlock{reason: cmp.Or(decision.Reason, textHookBlocked)}
	default:
		return nil
	}
}

// fireHooks tells hooks and observer of a moment of r. The block is nil when
// all let go.
func (r *Runner) fireHooks(ctx context.Context, event HookEvent) *hookBlock {
	if len(r.Hooks.of(event)) == 0 {
		return nil
	}
	event.Agent, event.Depth, event.Label, event.Identity = r.path(), r.path().Depth(), r.label(), r.Identity
	block := r.Hooks.fire(ctx, event)
	seen := Event{Kind: EventHook, Turn: event.Turn, Text: string(event.Kind), Hook: &event}
	if block != nil {
		seen.Err = block
	}
	r.emit(seen)
	return block
}
