package record

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/tapetree/tapetree/runtime"
	"github.com/tapetree/tapetree/transcripts"
	"gotest.tools/v3/assert"
)

// team is a session of a root whose first answer starts some children at once,
// each of which writes in every turn but its last.
type team struct {
	children, turns int
	jobs            int           // children at once; 0: all
	model           runtime.Model // nil: a scripted one
	observe         runtime.Observer
	write           func(agent runtime.Path, turn int) // a child's note
}

// Complete answers as the scripted model: the place says all.
func (tm *team) Complete(ctx context.Context, req *runtime.Request) (*runtime.Answer, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	return runtime.Decode(&runtime.Response{Status: 200, Body: []byte(tm.answer(req.Place))}, runtime.Dialect{})
}

func (tm *team) answer(at runtime.Place) string {
	switch {
	case at.Agent == runtime.Root && at.Turn == 1:
		var calls []string
		for n := range tm.children {
			calls = append(calls, fmt.Sprintf(`t%d task {"description":"part %d"}`, n+1, n+1))
		}
		return completion("", calls...)
	case at.Agent == runtime.Root:
		return completion("all done")
	case at.Turn < tm.turns:
		return completion("", fmt.Sprintf(`n%d note {"text":"%s#%d"}`, at.Turn, at.Agent, at.Turn))
	default:
		return completion(string(at.Agent) + " is done")
	}
}

func (tm *team) runner(t *testing.T) *runtime.Runner {
	t.Helper()
	s := session{model: tm.model, observe: tm.observe, note: func(text string) string {
		if tm.write != nil {
			agent, turn, _ := strings.Cut(text, "#")
			tm.write(runtime.Path(agent), int(turn[0]-'0'))
		}
		return "noted " + text
	}}
	if s.model == nil {
		s.model = tm
	}
	r := s.runner(t)
	r.Parallel, r.ChildJobs = []string{runtime.TaskToolName}, tm.jobs
	if tm.jobs == 0 {
		r.ChildJobs = tm.children
	}
	return r
}

// run runs the team's session under a schedule.
func (tm *team) run(t *testing.T, s *Schedule) (*runtime.Run, error) {
	t.Helper()
	tm.model = s.Model(tm)
	r := tm.runner(t)
	s.Attach(r)
	defer s.Bind(t.Context())()
	return r.Run(t.Context(), "go")
}

// written collects the writes of a team in the order they happened.
type written struct {
	mu   sync.Mutex
	list []string
}

func (w *written) note(agent runtime.Path, turn int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.list = append(w.list, fmt.Sprintf("%s#%d.1", agent, turn))
}

// tapeOf is a transcript that has nothing but the order of some calls of note,
// one after another.
func tapeOf(order ...string) *transcripts.File {
	f := &transcripts.File{Path: "team.jsonl", Timing: &transcripts.Timing{}, End: &transcripts.End{}}
	for _, name := range order {
		agent, rest, _ := strings.Cut(name, "#")
		var turn, call int
		_, _ = fmt.Sscanf(rest, "%d.%d", &turn, &call)
		f.Calls = append(f.Calls, &transcripts.Call{Agent: runtime.Path(agent), Turn: turn, Call: call, Name: "note", Verdict: runtime.VerdictAllow})
		f.Timing.Order = append(f.Timing.Order, "+"+name, "-"+name)
	}
	return f
}

func allLive(string) bool { return true }

// Calls that can change something happen in the recorded order, whatever order
// answers come in.
func TestWritesKeepTheRecordedOrder(t *testing.T) {
	order := []string{"root/1.3#1.1", "root/1.1#1.1", "root/1.3#2.1", "root/1.2#1.1", "root/1.1#2.1", "root/1.2#2.1"}
	for seed := range int64(50) {
		w := &written{}
		tm := &team{children: 3, turns: 3, write: w.note}
		run, err := tm.run(t, NewSchedule(ScheduleOptions{Tape: tapeOf(order...), Live: allLive, Shuffle: seed > 0, Seed: seed}))
		assert.NilError(t, err)
		assert.Equal(t, run.Stop, runtime.StopAnswer)
		assert.DeepEqual(t, w.list, order)
	}
}

// A timing line that fits the session badly, or not at all, holds nobody up for
// ever: what cannot happen is not waited for, and if all wait one goes on.
func TestNoOrderIsADeadlock(t *testing.T) {
	var all []string
	for child := range 3 {
		for turn := range 3 {
			all = append(all, fmt.Sprintf("root/1.%d#%d.1", child+1, turn+1))
		}
	}
	all = append(all, "root/1.9#1.1", "root/1.1/1.1#1.1", "root/2.1#1.1", "root#1.7", "root/1.1#9.1")
	for seed := range int64(200) {
		s := NewSchedule(ScheduleOptions{Seed: seed})
		order := slices.Clone(all)
		s.random.Shuffle(len(order), func(i, j int) { order[i], order[j] = order[j], order[i] })
		tape := tapeOf(order[:s.random.IntN(len(order)+1)]...)
		s.random.Shuffle(len(tape.Timing.Order), func(i, j int) {
			tape.Timing.Order[i], tape.Timing.Order[j] = tape.Timing.Order[j], tape.Timing.Order[i]
		})
		tm := &team{children: 3, turns: 4, jobs: 1 + s.random.IntN(3)}
		run, err := tm.run(t, NewSchedule(ScheduleOptions{Tape: tape, Live: allLive, Shuffle: seed%2 == 0, Seed: seed}))
		assert.NilError(t, err)
		assert.Equal(t, run.Stop, runtime.StopAnswer, "seed %d", seed)
	}
}

// A cancelled session leaves nobody at the gate nor before a request.
func TestCancellationFreesWhoWaits(t *testing.T) {
	for _, at := range []string{"root/1.1#1", "root/1.2#2"} {
		for _, shuffle := range []bool{false, true} {
			ctx, cancel := context.WithCancel(t.Context())
			// The first child's writes wait for one that nobody makes but the last.
			s := NewSchedule(ScheduleOptions{Tape: tapeOf("root/1.3#2.1", "root/1.1#1.1", "root/1.2#1.1"), Live: allLive, Shuffle: shuffle, Seed: 1})
			tm := &team{children: 3, turns: 4, observe: func(e runtime.Event) {
				if e.Kind == runtime.EventAnswer && fmt.Sprintf("%s#%d", e.Agent, e.Turn) == at {
					cancel()
				}
			}}
			tm.model = s.Model(tm)
			r := tm.runner(t)
			s.Attach(r)
			stop := s.Bind(ctx)
			run, err := r.Run(ctx, "go")
			stop()
			assert.NilError(t, err)
			assert.Equal(t, run.Stop, runtime.StopCancelled)
			assert.Equal(t, len(s.held)+len(s.gated)+len(s.pending)+len(s.last), 0)
		}
	}
}

// A fault of ours in one child ends a session whose other children are held.
func TestAFaultFreesWhoWaits(t *testing.T) {
	broken := errors.New("broken")
	for seed := range int64(20) {
		s := NewSchedule(ScheduleOptions{Shuffle: true, Seed: seed})
		tm := &team{children: 3, turns: 3}
		tm.model = s.Model(modelFunc(func(ctx context.Context, req *runtime.Request) (*runtime.Answer, error) {
			if req.Place.Agent == "root/1.2" && req.Place.Turn == 2 {
				return nil, broken
			}
			return tm.Complete(ctx, req)
		}))
		r := tm.runner(t)
		s.Attach(r)
		_, err := r.Run(t.Context(), "go")
		assert.ErrorIs(t, err, broken)
	}
}

type modelFunc func(ctx context.Context, req *runtime.Request) (*runtime.Answer, error)

func (f modelFunc) Complete(ctx context.Context, req *runtime.Request) (*runtime.Answer, error) {
	return f(ctx, req)
}

// One seed is one order, also with more children than may run at once; two
// seeds are hardly ever the same.
func TestASeedIsAnOrder(t *testing.T) {
	for _, jobs := range []int{0, 2, 1} {
		distinct := map[string]bool{}
		for seed := range int64(20) {
			var orders [2]string
			for i := range orders {
				s := NewSchedule(ScheduleOptions{Shuffle: true, Seed: seed})
				_, err := (&team{children: 5, turns: 3, jobs: jobs}).run(t, s)
				assert.NilError(t, err)
				drawn, choices := s.Drawn()
				assert.Equal(t, len(drawn), 2+5*3)
				assert.Equal(t, choices > 0, jobs != 1)
				orders[i] = fmt.Sprint(drawn)
			}
			assert.Equal(t, orders[0], orders[1], "jobs %d seed %d", jobs, seed)
			distinct[orders[0]] = true
		}
		assert.Assert(t, len(distinct) >= 18 || jobs == 1 && len(distinct) == 1, "jobs %d: %d distinct orders", jobs, len(distinct))
	}
}

// A call that reads keeps its place among the calls that write, and reads alone
// wait for nothing.
func TestReadsKeepTheirPlaceAmongWrites(t *testing.T) {
	file := tapeOf("root/1.2#1.1", "root/1.1#1.1", "root/1.2#2.1")
	g := newGate(file, allLive, []string{"task", "note"})
	assert.Equal(t, len(g.events), 0)
	file.Calls[1].Name = "look"
	g = newGate(file, allLive, []string{"task", "look"})
	var due []string
	for i := range g.events {
		g.advance()
		due = append(due, fmt.Sprint(g.due(0), g.due(2), g.due(4)))
		g.events[i].gone = true
	}
	assert.DeepEqual(t, due, []string{"true false false", "true false false", "true true false", "true true false", "true true true", "true true true"})
	assert.Equal(t, len(newGate(file, func(tool string) bool { return tool == "look" }, []string{"look"}).events), 0)
}

// The interrupt waits until the others have come as far as they can.
func TestTheInterruptComesLast(t *testing.T) {
	for range 20 {
		ctx, cancel := context.WithCancel(t.Context())
		s := NewSchedule(ScheduleOptions{Pending: func(at runtime.Place) bool { return at.Agent == "root/1.3" && at.Turn == 2 }})
		tm := &team{children: 3, turns: 3}
		tm.model = s.Model(tm)
		r := tm.runner(t)
		s.Attach(r)
		before := r.Observe
		r.Observe = func(e runtime.Event) {
			before(e)
			if e.Kind == runtime.EventCallStart && e.Agent == "root/1.2" && e.Turn == 1 {
				s.Interrupt(e.Agent, e.Call.Number)
				cancel()
			}
		}
		stop := s.Bind(ctx)
		run, err := r.Run(ctx, "go")
		stop()
		assert.NilError(t, err)
		var ends []string
		run.Walk(func(r *runtime.Run) { ends = append(ends, fmt.Sprintf("%s %d %s", r.Agent, len(r.Turns), r.Stop)) })
		assert.DeepEqual(t, ends, []string{"root 1 cancelled", "root/1.1 3 answer", "root/1.2 1 cancelled", "root/1.3 2 cancelled"})
	}
}

// Without an interrupt, what waits for one is let go: it is a miss elsewhere.
func TestNothingWaitsForAnInterruptThatDoesNotCome(t *testing.T) {
	s := NewSchedule(ScheduleOptions{Pending: func(at runtime.Place) bool { return at.Turn == 2 }})
	run, err := (&team{children: 2, turns: 3}).run(t, s)
	assert.NilError(t, err)
	assert.Equal(t, run.Stop, runtime.StopAnswer)
}

// What an agent that has ended did not do holds nobody up, also while others
// still run.
func TestWhoHasEndedHoldsNobodyUp(t *testing.T) {
	done := make(chan struct{})
	s := NewSchedule(ScheduleOptions{Tape: tapeOf("root/1.1#7.1", "root/1.2#1.1"), Live: allLive})
	tm := &team{children: 3, turns: 2, write: func(agent runtime.Path, _ int) {
		if agent == "root/1.2" {
			close(done)
		}
	}}
	tm.model = s.Model(modelFunc(func(ctx context.Context, req *runtime.Request) (*runtime.Answer, error) {
		if req.Place.Agent == "root/1.3" && req.Place.Turn == 1 {
			<-done // runs until the second child has written
		}
		return tm.Complete(ctx, req)
	}))
	r := tm.runner(t)
	s.Attach(r)
	run, err := r.Run(t.Context(), "go")
	assert.NilError(t, err)
	assert.Equal(t, run.Stop, runtime.StopAnswer)
}

// An interrupt that waits for others ends with the session: with its context,
// or with a fault of ours.
func TestAnInterruptDoesNotOutliveItsSession(t *testing.T) {
	broken := errors.New("broken")
	for _, how := range []string{"cancelled", "broken"} {
		ctx, cancel := context.WithCancel(t.Context())
		waiting := make(chan struct{})
		s := NewSchedule(ScheduleOptions{})
		tm := &team{children: 2, turns: 3}
		tm.model = s.Model(modelFunc(func(ctx context.Context, req *runtime.Request) (*runtime.Answer, error) {
			if req.Place.Agent != "root/1.1" {
				return tm.Complete(ctx, req)
			}
			<-waiting
			if how == "broken" {
				return nil, broken
			}
			cancel()
			<-ctx.Done()
			return nil, ctx.Err()
		}))
		r := tm.runner(t)
		s.Attach(r)
		before := r.Observe
		r.Observe = func(e runtime.Event) {
			before(e)
			if e.Kind == runtime.EventCallStart && e.Agent == "root/1.2" && e.Turn == 1 {
				close(waiting)
				s.Interrupt(e.Agent, e.Call.Number)
			}
		}
		stop := s.Bind(ctx)
		run, err := r.Run(ctx, "go")
		stop()
		cancel()
		if how == "broken" {
			assert.ErrorIs(t, err, broken)
		} else {
			assert.NilError(t, err)
			assert.Equal(t, run.Stop, runtime.StopCancelled)
		}
	}
}
