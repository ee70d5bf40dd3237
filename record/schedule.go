package record

import (
	"context"
	"math/rand/v2"
	"slices"
	"sync"

	"github.com/tapetree/tapetree/runtime"
	"github.com/tapetree/tapetree/transcripts"
)

// ScheduleOptions sets up a Schedule. The zero value orders nothing.
type ScheduleOptions struct {
	// Tape has the order of calls in its timing line, and Live says which tools
	// run for real. Where one of those can change something, the calls of all of
	// them keep that order. Nil: no call waits.
	Tape *transcripts.File
	Live func(tool string) bool

	// Shuffle holds the requests of agents that run at once and lets them go
	// one by one in an order that Seed decides.
	Shuffle bool
	Seed    int64

	// Pending reports a request that the recorded session had not been answered
	// when it was interrupted. It waits for the interrupt here too.
	Pending func(place runtime.Place) bool
}

// Schedule decides the order of what the agents of one session do at once: of
// calls that can change something (it is the session's runtime.Gate), of model
// answers (Model) and of an interrupt beside them (Interrupt). Attach it to the
// session's runner, and give it the context of the run (Bind).
//
// It waits for nothing but the agents of the session itself: when every agent
// waits, it lets one go on. What cannot happen any more holds nobody up, and
// nothing waits after a fault or when the context has ended. Safe for
// concurrent use; it serves one session.
type Schedule struct {
	options  ScheduleOptions
	parallel []string // of the session's runner
	jobs     int      // children of one turn at once

	mu      sync.Mutex
	agents  map[runtime.Path]*actor
	free    bool // nobody waits any more
	ended   bool // nor any more than for the end of its own context, which is about to come
	random  *rand.Rand
	held    []*hold // requests that wait to be drawn
	pending []*hold // requests that wait for the interrupt
	gated   []*hold // calls that wait for their turn
	last    []*hold // the interrupt, which waits for everybody else
	drawn   []runtime.Place
	choices int // draws from more than one request

	gate gate
}

// hold is one goroutine that waits.
type hold struct {
	actor *actor
	place runtime.Place
	event int             // in the gate's order
	call  *act            // nil: a request
	ended <-chan struct{} // its own context has; nil: it does not look
	ready chan struct{}
}

// NewSchedule returns the schedule of one session.
func NewSchedule(o ScheduleOptions) *Schedule {
	return &Schedule{
		options: o, jobs: runtime.DefaultChildJobs,
		agents: map[runtime.Path]*actor{}, random: rand.New(rand.NewPCG(uint64(o.Seed), 0)),
	}
}

// Attach makes the schedule the runner's gate and shows it every event. The
// runner's model is the caller's to wrap (Model): children have models of their
// own.
func (s *Schedule) Attach(r *runtime.Runner) {
	s.parallel = r.Parallel
	if r.ChildJobs > 0 {
		s.jobs = r.ChildJobs
	}
	if len(s.parallel) > 0 { // else nothing happens at once
		s.gate = newGate(s.options.Tape, s.options.Live, s.parallel)
	}
	r.Gate = s
	before := r.Observe
	r.Observe = func(e runtime.Event) {
		if before != nil {
			before(e)
		}
		s.Observe(e)
	}
}

// Bind frees everybody who waits when ctx ends. The function it returns undoes
// that.
func (s *Schedule) Bind(ctx context.Context) (stop func() bool) {
	return context.AfterFunc(ctx, func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.free, s.ended = true, true
		s.step()
	})
}

// Model returns next with the schedule before it.
func (s *Schedule) Model(next runtime.Model) runtime.Model { return scheduledModel{s, next} }

type scheduledModel struct {
	schedule *Schedule
	next     runtime.Model
}

// Complete waits until the request's turn has come, then asks.
func (m scheduledModel) Complete(ctx context.Context, req *runtime.Request) (*runtime.Answer, error) {
	if err := m.schedule.waitToAsk(ctx, req.Place); err != nil {
		return nil, err
	}
	return m.next.Complete(ctx, req)
}

func (s *Schedule) waitToAsk(ctx context.Context, at runtime.Place) error {
	s.mu.Lock()
	queue := &s.held
	switch {
	case s.ended:
		s.mu.Unlock()
		<-ctx.Done()
		return ctx.Err()
	case s.free:
		queue = nil
	case s.options.Pending != nil && s.options.Pending(at):
		queue = &s.pending
	case !s.options.Shuffle:
		queue = nil
	}
	if queue == nil {
		s.mu.Unlock()
		return ctx.Err()
	}
	h := s.wait(queue, &hold{actor: s.actor(baseOf(at.Agent)), place: at, ended: ctx.Done()})
	s.mu.Unlock()
	select {
	case <-h.ready:
		return ctx.Err()
	case <-ctx.Done():
		s.giveUp(queue, h)
		return ctx.Err()
	}
}

// Interrupt returns when every other agent of the session has ended, or waits
// for what only the interrupt brings: a session that is cut off then is cut off
// at the same point each time. It is called on the goroutine of the agent, call
// 0 before a request, else when the call begins.
func (s *Schedule) Interrupt(agent runtime.Path, call int) {
	s.mu.Lock()
	if s.free {
		s.mu.Unlock()
		return
	}
	a := s.actor(agent)
	h := &hold{actor: a, call: a.call(call)}
	if h.call != nil {
		h.call.started = true
	}
	s.wait(&s.last, h)
	s.mu.Unlock()
	<-h.ready // Bind frees it
}

// wait enters h into a queue and looks whether anybody can go. The lock is held.
func (s *Schedule) wait(queue *[]*hold, h *hold) *hold {
	h.ready = make(chan struct{})
	if h.call != nil {
		h.call.waits++
	} else {
		h.actor.waits++
	}
	*queue = append(*queue, h)
	s.step()
	return h
}

// giveUp takes h out of its queue if it still waits.
func (s *Schedule) giveUp(queue *[]*hold, h *hold) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if i := slices.Index(*queue, h); i >= 0 {
		s.letGo(queue, i)
		s.step()
	}
}

// letGo ends the wait of one. It counts as running from here on. The lock is
// held.
func (s *Schedule) letGo(queue *[]*hold, i int) {
	h := (*queue)[i]
	*queue = slices.Delete(*queue, i, i+1)
	if h.call != nil {
		h.call.waits--
	} else {
		h.actor.waits--
	}
	close(h.ready)
}

// step lets those go on whose turn it is. The lock is held.
func (s *Schedule) step() {
	if s.free {
		s.letAllGo()
		return
	}
	if len(s.held)+len(s.pending)+len(s.gated)+len(s.last) == 0 {
		return
	}
	s.passGate()
	if s.running() {
		return
	}
	switch {
	case len(s.held) > 0:
		s.draw()
	case len(s.gated) > 0: // the session parts from its recording: the earliest goes
		s.letGo(&s.gated, earliest(s.gated))
	case len(s.last) > 0:
		s.letGo(&s.last, 0)
	case len(s.pending) > 0: // no interrupt comes any more
		s.letGo(&s.pending, 0)
	}
}

// letAllGo ends every wait but those that end with their own context, when it
// has come to that: what is let go a moment before goes on as if nothing were.
func (s *Schedule) letAllGo() {
	for _, queue := range []*[]*hold{&s.held, &s.pending, &s.gated, &s.last} {
		for i := 0; i < len(*queue); {
			if s.ended && (*queue)[i].ended != nil {
				i++
			} else {
				s.letGo(queue, i)
			}
		}
	}
}

// draw lets one of the held requests go, drawn from them in path order.
func (s *Schedule) draw() {
	slices.SortFunc(s.held, func(a, b *hold) int { return comparePaths(a.place.Agent, b.place.Agent) })
	if len(s.held) > 1 {
		s.choices++
	}
	i := s.random.IntN(len(s.held))
	s.drawn = append(s.drawn, s.held[i].place)
	s.letGo(&s.held, i)
}

// Drawn returns the order in which requests were let go, for a schedule that
// shuffles, and in how many cases there was a choice.
func (s *Schedule) Drawn() (order []runtime.Place, choices int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.drawn), s.choices
}
