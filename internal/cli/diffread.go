package cli

import (
	"context"
	"iter"
	"runtime/debug"
	"slices"
	"strings"

	"github.com/tapetree/tapetree/golden/diff"
	"github.com/tapetree/tapetree/internal/histories"
	"github.com/tapetree/tapetree/runtime"
	"github.com/tapetree/tapetree/transcripts"
)

// readLean reads histories of which only texts are wanted.
func (a *app) readLean(ctx context.Context, arg string) iter.Seq2[*transcripts.History, error] {
	return a.readHistoriesBy(ctx, arg, histories.Options{Redact: a.secrets(), Lean: true})
}

// heldBoth is how many bytes two files may have to be held at the same time.
const heldBoth = 112 << 20

// compare reads the left file, keeps an outline, reads the right one beside it,
// and reads the left one again for the texts that differ. Of files that are small
// enough together the left one is kept instead.
func (a *app) compare(ctx context.Context, left, right string, o diff.Options) (*diff.Report, error) {
	leftSize, rightSize := sizeOf(a.historyPath(left)), sizeOf(a.historyPath(right))
	defer frugal(max(leftSize, rightSize))()
	var held []*transcripts.History
	hold := leftSize+rightSize <= heldBoth
	known := map[runtime.Path]bool{}
	var outlines []*diff.SessionOutline
	var parts []string
	for h, err := range a.readLean(ctx, left) {
		if err != nil {
			return nil, err
		}
		a.readWarnings(h)
		h.Walk(func(r *runtime.Run) { known[runtime.Path(strings.Clone(string(r.Agent)))] = true })
		outlines, parts = append(outlines, diff.Outline(h, o)), append(parts, strings.Clone(h.Part))
		if hold {
			held = append(held, h)
		}
	}
	if !hold {
		debug.FreeOSMemory() // the left file is not needed until the right one is done
	}
	pairs := make([]*diff.Unfinished, len(outlines))
	var rightOnly []string
	n := 0
	for h, err := range a.readLean(ctx, right) {
		if err != nil {
			return nil, err
		}
		a.readWarnings(h)
		h.Walk(func(r *runtime.Run) { known[runtime.Path(strings.Clone(string(r.Agent)))] = true })
		at := slices.Index(parts, h.Part)
		if n == 0 && len(outlines) == 1 && at < 0 {
			at = 0 // the only one there is
		}
		n++
		if at < 0 || pairs[at] != nil {
			rightOnly = append(rightOnly, h.Name())
			continue
		}
		pairs[at] = diff.Align(outlines[at], diff.Outline(h, o), o)
		pairs[at].Fill(nil, h)
	}
	if !hold {
		debug.FreeOSMemory()
	}
	if o.Agent != "" && !known[o.Agent] {
		return nil, unknownAgent(o.Agent, known)
	}
	again := a.readLean(ctx, left)
	if hold {
		again = whole(held)
	}
	return finishDiff(again, pairs, outlines, rightOnly)
}

// whole gives histories that were read.
func whole(list []*transcripts.History) iter.Seq2[*transcripts.History, error] {
	return func(yield func(*transcripts.History, error) bool) {
		for _, h := range list {
			if !yield(h, nil) {
				return
			}
		}
	}
}

// finishDiff adds the texts of the left side, which again gives.
func finishDiff(again iter.Seq2[*transcripts.History, error], pairs []*diff.Unfinished, outlines []*diff.SessionOutline, rightOnly []string) (*diff.Report, error) {
	if slices.ContainsFunc(pairs, func(u *diff.Unfinished) bool { return u != nil && u.Wants(true) }) {
		i := 0
		for h, err := range again {
			if err != nil {
				return nil, err
			}
			if i < len(pairs) && pairs[i] != nil {
				pairs[i].Fill(h, nil)
			}
			i++
		}
	}
	finished := []*diff.Diff{}
	var leftOnly []string
	for i, u := range pairs {
		if u == nil {
			leftOnly = append(leftOnly, outlines[i].Name())
			continue
		}
		u.Finish()
		finished = append(finished, u.Diff)
	}
	return diff.NewReport(finished, leftOnly, rightOnly), nil
}

func (a *app) delegations(ctx context.Context, file string, o diff.Options) ([]*diff.Delegations, error) {
	defer frugal(sizeOf(a.historyPath(file)))()
	known := map[runtime.Path]bool{}
	var list []*diff.Delegations
	for h, err := range a.readLean(ctx, file) {
		if err != nil {
			return nil, err
		}
		a.readWarnings(h)
		h.Walk(func(r *runtime.Run) { known[runtime.Path(strings.Clone(string(r.Agent)))] = true })
		list = append(list, diff.ParentChild(h, o))
	}
	if o.Agent != "" && !known[o.Agent] {
		return nil, unknownAgent(o.Agent, known)
	}
	return list, nil
}

// readWarnings says what of a file could not be read.
func (a *app) readWarnings(h *transcripts.History) {
	for _, w := range h.Warnings {
		if w.Line > 0 {
			a.say("tapetree: %s:%d: %s", h.Path, w.Line, oneLine(w.Msg))
		} else {
			a.say("tapetree: %s: %s", h.Path, oneLine(w.Msg))
		}
	}
}

func unknownAgent(path runtime.Path, known map[runtime.Path]bool) error {
	var names []string
	for p := range known {
		names = append(names, string(p))
	}
	slices.Sort(names)
	return badInput("there is no agent %s%s", path, didYouMean(string(path), names, ""))
}
