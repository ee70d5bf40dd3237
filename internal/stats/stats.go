// Package stats sums up what the agents of a history did and used, and what
// delegating bought.
package stats

import (
	"cmp"
	"slices"
	"time"

	"github.com/tapetree/tapetree/internal/prices"
	"github.com/tapetree/tapetree/runtime"
	"github.com/tapetree/tapetree/transcripts"
)

// bytesPerToken is how tokens are estimated where they are not reported, as the
// runtime does for its budget.
const bytesPerToken = 4

// Stats of a history.
type Stats struct {
	Agents      []*Agent // in tree order
	Delegations []*Delegation
	Total       Total
}

// Agent is what one agent did and used, its children not included.
type Agent struct {
	Path, Parent runtime.Path // Parent is "" for a root
	Depth        int
	Label        string
	Model        string
	Stop         runtime.StopReason
	CallOnly     bool // known only by the call that started it
	Turns        int
	Tries        int // requests that gave no answer
	Calls        int
	Usage        runtime.Usage // as reported
	Unreported   int           // answers that do not say what they used
	Peak         int           // tokens of the largest request
	Spent        int           // tokens of all requests and answers
	// Estimated says that no answer tells its tokens, so Peak and Spent are those
	// of the texts, at four bytes each.
	Estimated bool
	Time      time.Duration // from its first request to its last answer
	Timed     bool          // Time is known
	Cost      prices.Amount
	Priced    bool // Cost is known
	Tools     []Tool
}

// Tool is how often a tool was called.
type Tool struct {
	Name  string
	Calls int
}

// Delegation is one child with all below it, as its parent sees it.
type Delegation struct {
	Child     *Agent
	Agents    int // the child and those below it
	KeptOut   int // tokens of their largest contexts, which the parent did not have
	Report    int // tokens of the result that the parent got instead, estimated
	Spent     int
	Estimated bool
	Cost      prices.Amount
	Priced    bool
}

// Total sums up all agents.
type Total struct {
	Turns, Tries, Calls, Unreported int
	Usage                           runtime.Usage
	Spent                           int
	Time                            time.Duration
	Timed                           bool
	Cost                            prices.Amount
	Priced                          bool // the cost of every agent that used something is known
	KeptOut                         int  // tokens of the largest contexts of all children
	Estimated                       bool
}

// Of sums up a history, in time linear in what its agents sent.
func Of(h *transcripts.History, table *prices.Table) *Stats {
	s := &Stats{}
	c := &collector{stats: s, table: table, spans: spans(h)}
	for _, root := range h.Roots {
		c.agent(root, "", 0)
	}
	slices.SortStableFunc(s.Delegations, func(a, b *Delegation) int { return cmp.Compare(c.order[a.Child], c.order[b.Child]) })
	c.total()
	return s
}

type collector struct {
	stats *Stats
	table *prices.Table
	spans map[runtime.Path]between
	order map[*Agent]int
}

// subtree is what a run and all below it come to.
type subtree struct {
	agents, peak, spent int
	cost                prices.Amount
	priced, estimated   bool
}

func (c *collector) agent(run *runtime.Run, parent runtime.Path, depth int) (*Agent, subtree) {
	a := &Agent{
		Path: run.Agent, Parent: parent, Depth: depth, Label: run.Label, Model: run.Model, Stop: run.Stop,
		CallOnly: len(run.Turns) == 0 && run.History.Len() == 0, Usage: run.Usage,
	}
	if c.order == nil {
		c.order = map[*Agent]int{}
	}
	c.order[a] = len(c.stats.Agents)
	c.stats.Agents = append(c.stats.Agents, a)
	if span, ok := c.spans[run.Agent]; ok {
		a.Time, a.Timed = span.end-span.start, true
	}
	count(a, run)
	a.Cost, a.Priced = c.table.Cost(run.Model, run.Usage)
	if run.Usage == (runtime.Usage{}) {
		a.Cost, a.Priced = 0, false
	}
	sum := subtree{1, a.Peak, a.Spent, a.Cost, a.Priced, a.Estimated}
	for i := range run.Turns {
		for _, call := range run.Turns[i].Calls {
			if call.Child == nil {
				continue
			}
			child, below := c.agent(call.Child, run.Agent, depth+1)
			c.stats.Delegations = append(c.stats.Delegations, &Delegation{
				Child: child, Agents: below.agents, KeptOut: below.peak, Report: len(call.Result) / bytesPerToken,
				Spent: below.spent, Estimated: below.estimated, Cost: below.cost, Priced: below.priced,
			})
			sum = subtree{
				sum.agents + below.agents, sum.peak + below.peak, sum.spent + below.spent, sum.cost + below.cost,
				sum.priced && below.priced, sum.estimated || below.estimated,
			}
		}
	}
	return a, sum
}

// count fills in what the turns of a run come to.
func count(a *Agent, run *runtime.Run) {
	tools := map[string]int{}
	var estimate estimator
	peak, spent, reported := 0, 0, false
	for i := range run.Turns {
		t := &run.Turns[i]
		a.Tries += len(t.Failed)
		for _, call := range t.Calls {
			if call.Child != nil && call.ID == "" && call.Arguments == "" && call.Verdict == runtime.VerdictInterrupted {
				continue // stands for a child of no call of its own
			}
			a.Calls++
			tools[call.Name]++
		}
		if t.Answer == nil {
			continue
		}
		a.Turns++
		size := estimate.view(t.Sent)
		peak = max(peak, size)
		spent += size + len(t.Answer.Message.Raw)/bytesPerToken
		if t.Answer.Usage == (runtime.Usage{}) {
			a.Unreported++
		} else {
			reported = true
		}
		a.Peak = max(a.Peak, t.Answer.Usage.Input)
	}
	a.Spent = a.Usage.Input + a.Usage.Output
	if !reported && a.Turns > 0 && a.Usage == (runtime.Usage{}) {
		a.Peak, a.Spent, a.Estimated = peak, spent, true
	}
	for name, calls := range tools {
		a.Tools = append(a.Tools, Tool{name, calls})
	}
	slices.SortFunc(a.Tools, func(x, y Tool) int { return cmp.Or(cmp.Compare(y.Calls, x.Calls), cmp.Compare(x.Name, y.Name)) })
}

// estimator estimates the tokens of lists that mostly go on from one another.
type estimator struct {
	before runtime.View
	bytes  int
}

func (e *estimator) view(v runtime.View) int {
	from := 0
	if e.before.Len() > 0 && v.Extends(e.before) {
		from = e.before.Len()
	} else {
		e.bytes = 0
	}
	for _, m := range v.Messages()[from:] {
		e.bytes += max(len(m.Raw), len(m.Content))
	}
	e.before = v
	return e.bytes / bytesPerToken
}

func (c *collector) total() {
	t := &c.stats.Total
	t.Priced = true
	first, last := time.Duration(0), time.Duration(0)
	for _, a := range c.stats.Agents {
		t.Turns, t.Tries, t.Calls, t.Unreported = t.Turns+a.Turns, t.Tries+a.Tries, t.Calls+a.Calls, t.Unreported+a.Unreported
		t.Usage, t.Spent, t.Cost = t.Usage.Add(a.Usage), t.Spent+a.Spent, t.Cost+a.Cost
		t.Priced = t.Priced && (a.Priced || a.Usage == (runtime.Usage{}))
		t.Estimated = t.Estimated || a.Estimated
		if a.Depth > 0 {
			t.KeptOut += a.Peak
		}
		if span, ok := c.spans[a.Path]; ok {
			if !t.Timed || span.start < first {
				first = span.start
			}
			last, t.Timed = max(last, span.end), true
		}
	}
	t.Time = last - first
	t.Priced = t.Priced && t.Usage != (runtime.Usage{})
}

type between struct{ start, end time.Duration }

// spans says from when to when each agent ran, where the file has a clock.
func spans(h *transcripts.History) map[runtime.Path]between {
	found := map[runtime.Path]between{}
	if h.File != nil && h.File.Timing != nil && h.File.Timing.Clock == transcripts.ClockSequence {
		return found // it tells the order only
	}
	for key, spot := range h.Spots {
		if !spot.Timed {
			continue
		}
		b, ok := found[key.Agent]
		if !ok {
			b = between{spot.Start, spot.End}
		}
		found[key.Agent] = between{min(b.start, spot.Start), max(b.end, spot.End)}
	}
	return found
}
