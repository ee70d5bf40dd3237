package record

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/tapetree/tapetree/record/attribution"
	"github.com/tapetree/tapetree/runtime"
	"github.com/tapetree/tapetree/transcripts"
)

// RecorderOptions sets up a Recorder.
type RecorderOptions struct {
	Fold   *runtime.Folder  // nil: no path is folded
	Redact *Redactor        // nil: known key shapes are still replaced
	Now    func() time.Time // nil: time.Now
	// Attribute makes the recorder find out which agent a request for a model
	// answer belongs to, where its context does not say so. nil: such requests are
	// recorded as what is no model exchange.
	Attribute *attribution.Options
	// NeedsAnswer keeps nothing of a session in which no model answered with
	// success, so that it never takes the place of an older recording.
	NeedsAnswer bool
	// Sequence is set when Now tells only the order of things, not when they were;
	// the transcript says so.
	Sequence bool
}

// Recorder writes a session to a transcript while it runs: what passes its
// Transport, and the events it observes. Paths and secrets are replaced before
// anything is written. It is safe for concurrent use.
//
// After a failed write, such as a full disk, nothing more is recorded and every
// further request fails with that error; what was finished stays in the partial
// file.
type Recorder struct {
	writer *transcripts.Writer
	fold   *runtime.Folder
	redact *Redactor
	now    func() time.Time
	start  time.Time

	tap     *tap  // nil: no agent is inferred
	maxBody int64 // a larger response is not kept; the live model's own limit

	needsAnswer bool
	sequence    bool

	mu        sync.Mutex
	err       error // the first failed write
	threads   map[runtime.Path]*thread
	exchanges int
	requests  int // that are no model exchanges
	times     []transcripts.ExchangeTime
	order     []string
	stops     map[runtime.Path]runtime.StopReason
	code      *int // of the command that was recorded
}

// ErrUnanswered is Close's answer when NeedsAnswer is set and no model answered
// with success. It holds transcripts.ErrEmpty: nothing is written.
var ErrUnanswered = fmt.Errorf("the upstream answered no request for a model with success: %w", transcripts.ErrEmpty)

// NewRecorder starts a recording into w. Its clock starts now.
func NewRecorder(w *transcripts.Writer, o RecorderOptions) *Recorder {
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Redact == nil {
		o.Redact = NewRedactor(nil)
	}
	r := &Recorder{
		writer: w, fold: o.Fold, redact: o.Redact, now: o.Now, start: o.Now(), maxBody: runtime.DefaultMaxBytes,
		threads: map[runtime.Path]*thread{},
		stops:   map[runtime.Path]runtime.StopReason{},

		needsAnswer: o.NeedsAnswer, sequence: o.Sequence,
	}
	if o.Attribute != nil {
		r.tap = newTap(r, *o.Attribute)
	}
	return r
}

// Exited notes the exit code of the command that is recorded.
func (r *Recorder) Exited(code int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.code = &code
}

// Mask hides every secret in text behind ***, for a message to a person.
func (r *Recorder) Mask(text string) string { return r.redact.Mask(text) }

// Observe takes the starts and ends of calls and the ends of agents; give it to
// runtime.Runner.Observe. A failed write shows at the next request and at Close.
func (r *Recorder) Observe(e runtime.Event) {
	switch e.Kind {
	case runtime.EventCallStart:
		r.note("+", e)
	case runtime.EventCallEnd:
		r.note("-", e)
		r.wrote(r.writer.Call(r.toolLine(e)), "record call %s", callName(place{Agent: e.Agent, Turn: e.Turn, Call: e.Call.Number}))
	case runtime.EventRunEnd:
		if e.Run.Stop == "" { // a fault of ours: the agent did not end of its own
			return
		}
		r.mu.Lock()
		defer r.mu.Unlock()
		r.stops[e.Agent] = e.Run.Stop
	}
}

// note enters the start (+) or end (-) of a call into the session's order.
func (r *Recorder) note(sign string, e runtime.Event) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.order = append(r.order, sign+callName(place{Agent: e.Agent, Turn: e.Turn, Call: e.Call.Number}))
}

// Enter lets every call go at once and notes that it starts here: after the
// question that it may have waited for. It makes the recorder a runtime.Gate,
// so that the recorded order is that in which things were changed.
func (r *Recorder) Enter(_ context.Context, at runtime.Place, call runtime.CallRecord) (leave func(), err error) {
	start := "+" + callName(place{Agent: at.Agent, Turn: at.Turn, Call: call.Number})
	r.mu.Lock()
	defer r.mu.Unlock()
	for i, entry := range slices.Backward(r.order) {
		if entry == start {
			r.order = slices.Delete(r.order, i, i+1)
			break
		}
	}
	r.order = append(r.order, start)
	return func() {}, nil
}

func (r *Recorder) toolLine(e runtime.Event) *transcripts.Call {
	line := &transcripts.Call{
		Agent: e.Agent, Turn: e.Turn, Call: e.Call.Number,
		ID: r.redact.member("id", e.Call.ID), Name: r.redact.member("name", e.Call.Name),
		Arguments: normalText(r.fold, r.redact, e.Call.Arguments),
		Verdict:   e.Call.Verdict,
		Result:    normalText(r.fold, r.redact, e.Call.Result),
	}
	if e.Call.Child != nil {
		line.Child = e.Call.Child.Agent
	}
	return line
}

// wrote notes the first failed write and returns it, wrapped, or nil.
func (r *Recorder) wrote(err error, format string, args ...any) error {
	if err == nil {
		return nil
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.err == nil {
		r.err = &runtime.OwnError{Err: fmt.Errorf(format+": %w", append(args, err)...)}
	}
	return r.err
}

// failed returns the first failed write.
func (r *Recorder) failed() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.err
}

// since gives the time since the recording began in milliseconds, to a tenth.
func (r *Recorder) since(t time.Time) float64 {
	return math.Round(float64(t.Sub(r.start))/float64(time.Millisecond)*10) / 10
}

// Close puts the transcript in place and returns it. Exchanges still under way
// are not in it. Where agents were inferred, exchanges get their final places
// here, and the header says which models and which upstream answered which
// client, unless it says so already. After a failed write it leaves the partial file, names it and
// returns that error. Without any exchange nothing is written: the error holds
// transcripts.ErrEmpty.
func (r *Recorder) Close() (*transcripts.File, error) {
	if r.tap != nil {
		<-r.tap.start()
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.err != nil {
		kept, _ := r.writer.Keep() // fails with what failed before, which is told
		if strings.Contains(r.err.Error(), kept) {
			return nil, r.err
		}
		return nil, fmt.Errorf("%w; what was finished is in %s", r.err, kept)
	}
	if r.needsAnswer && !r.writer.Empty() && !r.writer.Answered() {
		if err := r.writer.Discard(); err != nil {
			return nil, err
		}
		return nil, ErrUnanswered
	}
	if r.tap != nil {
		r.settle()
	}
	slices.SortFunc(r.times, func(a, b transcripts.ExchangeTime) int {
		return place{Agent: a.Agent, Turn: a.Turn, Try: a.Try}.compare(place{Agent: b.Agent, Turn: b.Turn, Try: b.Try})
	})
	end := &transcripts.End{Exchanges: r.exchanges, Code: r.code}
	for agent, reason := range r.stops {
		end.Stops = append(end.Stops, transcripts.Stop{Agent: agent, Reason: reason})
	}
	slices.SortFunc(end.Stops, func(a, b transcripts.Stop) int { return comparePaths(a.Agent, b.Agent) })
	timing := &transcripts.Timing{Exchanges: r.times, Order: r.order}
	if r.sequence {
		timing.Clock = transcripts.ClockSequence
	}
	return r.writer.Close(timing, end)
}

// thread returns what an agent sent so far.
func (r *Recorder) thread(agent runtime.Path) *thread {
	r.mu.Lock()
	defer r.mu.Unlock()
	t := r.threads[agent]
	if t == nil {
		t = &thread{}
		r.threads[agent] = t
	}
	return t
}

// settle gives exchanges and their clocks the places that attribution came to,
// and puts into the header what is known only now. The lock is held.
func (r *Recorder) settle() {
	final := r.tap.places()
	for i, t := range r.times {
		if at, ok := final[runtime.Place{Agent: t.Agent, Turn: t.Turn, Try: t.Try}]; ok {
			r.times[i].Agent, r.times[i].Turn, r.times[i].Try = at.Path, at.Turn, at.Try
		}
	}
	r.writer.Amend(func(f *transcripts.File) {
		firsts := map[*transcripts.Exchange]runtime.Place{}
		for _, e := range f.Exchanges {
			first := runtime.Place{Agent: e.Agent, Turn: e.Turn, Try: e.Try}
			if at, ok := final[first]; ok {
				e.Agent, e.Turn, e.Try, e.Flag, e.Candidates = at.Path, at.Turn, at.Try, at.Flag, at.Candidates
			}
			firsts[e] = first
		}
		r.tap.describe(&f.Header, inTreeOrder(f.Exchanges), firsts)
	})
}

// inTreeOrder returns a sorted copy.
func inTreeOrder(exchanges []*transcripts.Exchange) []*transcripts.Exchange {
	return slices.SortedStableFunc(slices.Values(exchanges), func(a, b *transcripts.Exchange) int {
		return place{Agent: a.Agent, Turn: a.Turn, Try: a.Try}.compare(place{Agent: b.Agent, Turn: b.Turn, Try: b.Try})
	})
}

// normal brings live JSON into the form that transcripts hold.
func (r *Recorder) normal(raw []byte) []byte {
	return r.redact.JSON(r.fold.FoldJSON(raw))
}
