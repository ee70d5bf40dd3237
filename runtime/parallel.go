package runtime

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"sync"
)

// runTogether reports whether the calls of a turn run at once: there are
// several, and the profile says of each tool that it does not get in another's
// way.
func (l *loop) runTogether(calls []CallRecord) bool {
	if len(calls) < 2 {
		return false
	}
	for i := range calls {
		if !slices.Contains(l.Parallel, calls[i].Name) {
			return false
		}
	}
	return true
}

// answerTogether answers all calls at once, each into its own record. Children
// begin in call order and no more than ChildJobs of them run at a time; other
// calls do not wait for a place. A fault of ours in one ends the others; when
// several come to one, that of the first call is returned.
func (l *loop) answerTogether(ctx context.Context, place Place, calls []CallRecord) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	faults := make([]error, len(calls))
	var running sync.WaitGroup
	start := func(i int, leave func()) {
		running.Go(func() {
			defer leave()
			faults[i] = errEndedEarly // stands if the call ends its goroutine
			defer func() {
				if faults[i] != nil {
					cancel()
				}
			}()
			faults[i] = l.answerGuarded(ctx, place, &calls[i])
		})
	}
	for i := range calls {
		if calls[i].Name != TaskToolName {
			start(i, func() {})
		}
	}
	places := make(chan struct{}, cmp.Or(max(l.ChildJobs, 0), DefaultChildJobs))
	for i := range calls {
		if calls[i].Name == TaskToolName {
			start(i, takePlace(ctx, places))
		}
	}
	running.Wait()
	var first error
	for i, ours := range faults {
		if ours != nil {
			calls[i].refuse(VerdictInterrupted, errInterrupted)
			first = cmp.Or(first, ours)
		}
	}
	return first
}

// takePlace waits for a free place and returns what frees it again. When ctx
// ends there is no need for one: the call will not begin.
func takePlace(ctx context.Context, places chan struct{}) (leave func()) {
	select {
	case places <- struct{}{}:
		return func() { <-places }
	case <-ctx.Done():
		return func() {}
	}
}

// errEndedEarly is the fault of an observer, a policy or a tape that ends the
// goroutine it was called on.
var errEndedEarly = fmt.Errorf("answer calls at once: a call was left without a result")

// answerGuarded answers one call of several. A crash on a goroutine would take
// the whole program with it, so one of ours becomes a fault; a tool's own
// crash never gets here.
func (l *loop) answerGuarded(ctx context.Context, place Place, record *CallRecord) (ours error) {
	defer func() {
		if crash := recover(); crash != nil {
			ours = fmt.Errorf("answer call %d.%d of %s (%s): crashed: %v", place.Turn, record.Number, place.Agent, record.Name, crash)
		}
	}()
	return l.answerCall(ctx, place, record, false)
}
