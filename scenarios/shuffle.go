package scenarios

import (
	"context"
	"fmt"
	"strings"

	"github.com/tapetree/tapetree/golden"
	"github.com/tapetree/tapetree/record"
	"github.com/tapetree/tapetree/transcripts"
)

// shuffled is one replay with an order of answers of its own.
type shuffled struct {
	seed     int64
	order    string // the places answered, in order
	choices  int    // how often more than one agent could have been answered
	golden   string
	findings []record.Finding
	details  []string
}

// shownDiff is how many lines of a difference between two orders are shown.
const shownDiff = 60

// shuffle replays the scenario again with o.Shuffle orders of model answers and
// demands of each what the replay as recorded gave: the same history and no
// finding more. Of orders that differ the first is shown, and how to repeat it.
func (r *Result) shuffle(ctx context.Context, source Source, scenario *Scenario, tape *transcripts.File, o ReplayOptions) error {
	if o.Shuffle < 1 || r.Run == nil || r.Run.Stop == "" {
		return nil
	}
	orders := map[string]bool{}
	var first *shuffled
	tried, differ := 0, 0
	for ; tried < o.Shuffle; tried++ {
		one, err := replayShuffled(ctx, source, scenario, tape, o, o.Seed+int64(tried))
		if err != nil {
			return err
		}
		orders[one.order] = true
		r.orders = append(r.orders, one.order)
		if one.choices == 0 && tried == 0 {
			r.Notes = append(r.Notes, "1 order of answers")
			return nil // every other seed would give the same one
		}
		if one.golden == r.Golden && len(r.newIn(one.findings)) == 0 {
			continue
		}
		differ++
		if first == nil {
			first = one
		}
	}
	r.Notes = append(r.Notes, fmt.Sprintf("%d orders of answers, %d distinct", tried, len(orders)))
	if first != nil {
		r.partsWith(first, differ, tried)
	}
	return nil
}

// newIn lists the findings that the replay as recorded has not.
func (r *Result) newIn(findings []record.Finding) []record.Finding {
	known := map[record.Finding]bool{}
	for _, f := range r.Findings {
		known[f] = true
	}
	var fresh []record.Finding
	for _, f := range findings {
		if !known[f] {
			fresh = append(fresh, f)
		}
	}
	return fresh
}

// partsWith reports an order of answers that gives another session.
func (r *Result) partsWith(one *shuffled, differ, tried int) {
	message := fmt.Sprintf("%d of %d orders of answers give another session; the first is repeated by `tapetree replay %s --shuffle 1 --seed %d`",
		differ, tried, r.Name, one.seed)
	r.Findings = append(r.Findings, record.Finding{Code: "golden/differs", Message: message})
	r.Findings = append(r.Findings, r.newIn(one.findings)...)
	detail := fmt.Sprintf("order of answers with --seed %d: %s", one.seed, one.order)
	if one.golden != r.Golden {
		detail += "\n" + golden.Compare(r.Golden, one.golden, shownDiff)
	}
	r.Details = append(append(r.Details, detail), one.details...)
}

// replayShuffled is one replay in the order that seed draws.
func replayShuffled(ctx context.Context, source Source, scenario *Scenario, tape *transcripts.File, o ReplayOptions, seed int64) (*shuffled, error) {
	o.drawn, o.goldenOnly = &seed, true
	s, err := newReplaySession(source, scenario, tape, o)
	if err != nil {
		return nil, err
	}
	defer s.close()
	if o.bend != nil {
		o.bend(s)
	}
	if err := s.run(ctx); err != nil {
		return nil, err
	}
	judged := Result{Name: scenario.Name}
	if err := judged.judge(s, o); err != nil {
		return nil, err
	}
	judged.expect(scenario.Want.Findings)
	one := &shuffled{seed: seed, findings: judged.Findings, details: judged.Details}
	places, choices := s.schedule.Drawn()
	one.choices = choices
	names := make([]string, len(places))
	for i, at := range places {
		names[i] = formatPlace(at.Agent, at.Turn, 0)
		if at.Try > 1 {
			names[i] += fmt.Sprintf(" try %d", at.Try)
		}
	}
	one.order = strings.Join(names, " ")
	one.golden = s.render()
	return one, nil
}
