package cli

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/tapetree/tapetree/golden"
	"github.com/tapetree/tapetree/record"
	"github.com/tapetree/tapetree/scenarios"
)

// reviewItem is one change to be decided on: a golden history that waits, or a
// scenario whose requests are not the recorded ones.
type reviewItem struct {
	name    string   // of the golden history or the scenario
	also    []string // scenarios held against the golden history
	store   golden.Store
	pending *golden.Pending // nil: requests
	plan    *scenarios.Rebase
	refused *scenarios.RefusedError // requests whose responses cannot be kept
	again   func() (*scenarios.Rebase, error)
}

// errGone says that there is nothing left to decide on.
var errGone = errors.New("nothing waits any more")

// reviewItems replays the scenarios, by which histories come to wait or do so no
// more, and lists what waits: by name, requests before the history that follows
// from them. The exit code is not 0 where something may wait that is not listed:
// why has been said.
func (a *app) reviewItems(ctx context.Context, o *reviewOptions, names []string) (items []*reviewItem, code int, err error) {
	found, err := a.openSource(false)
	if err != nil {
		return nil, 0, err
	}
	users := a.goldenUsers(found)
	targets := reviewTargets(found, users, names)
	wishes, err := a.replayWishes(&replayOptions{format: "text", jobs: o.jobs, childJobs: defaultChildJobs, seed: firstSeed, allowShell: o.allowShell})
	if err != nil {
		return nil, 0, err
	}
	results := a.replayAll(ctx, targets, wishes, o.jobs)
	if ctx.Err() != nil {
		return nil, 0, &exitError{exitInterrupted, errors.New("interrupted: nothing was decided")}
	}
	drifting, code := a.drifting(targets, results)
	items, worst, err := a.driftItems(ctx, drifting, scenarios.RebaseOptions{AllowShell: o.allowShell}, o.jobs)
	if err != nil {
		return nil, 0, err
	}
	waiting, err := a.pendingItems(found, users)
	if err != nil {
		return nil, 0, err
	}
	items = append(items, waiting...)
	if err := knownNames(found, items, names); err != nil {
		return nil, 0, err
	}
	items = slices.DeleteFunc(items, func(i *reviewItem) bool { return len(names) > 0 && !slices.ContainsFunc(names, i.goesBy) })
	slices.SortStableFunc(items, func(x, y *reviewItem) int { return strings.Compare(x.name, y.name) })
	return items, max(code, worst), nil
}

// drifting are the targets whose requests are not the recorded ones. What hides a
// change is said: a scenario that cannot be replayed, and a history that cannot be
// left to wait.
func (a *app) drifting(targets []target, results []scenarios.Result) (list []target, code int) {
	for i, result := range results {
		switch {
		case result.Err != nil:
			a.complain(fmt.Sprintf("%s cannot be replayed, so only what waits from before is known: %v", targets[i].name, result.Err))
			code = max(code, exitCode(result.Err))
			continue
		case result.Unwritten != nil:
			a.complain(fmt.Sprintf("%s has another history now, which cannot wait to be accepted: %v", targets[i].name, result.Unwritten))
			code = max(code, exitCannotRun)
		}
		if result.Drifts() {
			list = append(list, targets[i])
		}
	}
	return list, code
}

// complain says what is wrong though the command goes on.
func (a *app) complain(text string) {
	fmt.Fprintf(a.err, "tapetree: %s\n", oneLine(a.secrets().Mask(text)))
}

// goldenUsers lists, by golden history, the scenarios held against it. One that
// cannot be read is left to its replay.
func (a *app) goldenUsers(found *source) map[string][]string {
	users := map[string][]string{}
	for _, name := range found.names {
		if scenario, err := found.Load(name); err == nil {
			users[scenario.Golden] = append(users[scenario.Golden], name)
		}
	}
	return users
}

// reviewTargets are the scenarios to be replayed: all, or those that names mean.
func reviewTargets(found *source, users map[string][]string, names []string) []target {
	var targets []target
	for _, name := range found.names {
		meant := len(names) == 0 || slices.Contains(names, name)
		for _, golden := range names {
			meant = meant || slices.Contains(users[golden], name)
		}
		if meant {
			targets = append(targets, target{found.Source, name})
		}
	}
	return targets
}

// knownNames refuses a name that is neither a scenario's nor that of a change.
func knownNames(found *source, items []*reviewItem, names []string) error {
	for _, name := range names {
		if !slices.Contains(found.names, name) && !slices.ContainsFunc(items, func(i *reviewItem) bool { return i.goesBy(name) }) {
			return badInput("%s is no scenario in %s, and no golden history waits under that name%s", name, found.where, didYouMean(name, append(itemNames(items), found.names...), ""))
		}
	}
	return nil
}

func (a *app) driftItems(ctx context.Context, targets []target, wishes scenarios.RebaseOptions, jobs int) (items []*reviewItem, code int, err error) {
	if len(targets) == 0 {
		return nil, 0, nil
	}
	for _, one := range a.planAll(ctx, targets, wishes, jobs) {
		item := &reviewItem{name: one.name, plan: one.plan, again: func() (*scenarios.Rebase, error) {
			return scenarios.PlanRebase(ctx, one.source, one.name, wishes)
		}}
		switch {
		case errors.As(one.err, &item.refused):
		case errors.Is(one.err, scenarios.ErrNoCommand), errors.Is(one.err, scenarios.ErrMeant):
			continue
		case one.err != nil && ctx.Err() != nil:
			return nil, 0, &exitError{exitInterrupted, errors.New("interrupted: nothing was decided")}
		case one.err != nil:
			a.complain(one.err.Error())
			code = max(code, exitCode(one.err))
			continue
		case !one.plan.Changed():
			continue
		}
		items = append(items, item)
	}
	return items, code, nil
}

func (a *app) pendingItems(found *source, users map[string][]string) ([]*reviewItem, error) {
	store := golden.Store{Dir: found.GoldenDir()}
	pendings, err := store.Pending()
	if err != nil {
		return nil, err
	}
	var items []*reviewItem
	for _, p := range pendings {
		items = append(items, &reviewItem{name: p.Name, also: users[p.Name], store: store, pending: p})
	}
	return items, nil
}

func (i *reviewItem) goesBy(name string) bool {
	return i.name == name || slices.Contains(i.also, name)
}

func itemNames(items []*reviewItem) []string {
	var names []string
	for _, item := range items {
		names = append(append(names, item.name), item.also...)
	}
	return names
}

// kind is the same for all items whose change is the same; see golden.Pending
// and scenarios.Rebase.
func (i *reviewItem) kind() string {
	switch {
	case i.pending != nil:
		return "history " + i.pending.Kind
	case i.refused != nil:
		return "refused " + i.name
	default:
		return "requests " + i.plan.Kind()
	}
}

// line is the item in a list.
func (i *reviewItem) line() string {
	switch {
	case i.pending != nil && i.pending.Missing:
		return fmt.Sprintf("%s: there is none yet, %s wait", i.pending.Path, plural(i.pending.Added, "line"))
	case i.pending != nil:
		return fmt.Sprintf("%s: -%d +%d lines", i.pending.Path, i.pending.Removed, i.pending.Added)
	case i.refused != nil:
		return i.refused.Error()
	default:
		lines, of := changedLines(i.plan.Before, i.plan.After)
		return fmt.Sprintf("%s: %d of %s differ (%s)", i.plan.Transcript, lines, plural(of, "line"), changedWhat(i.plan.Changes))
	}
}

// changedWhat names what kinds of thing changed, each once.
func changedWhat(changes []record.Change) string {
	var words []string
	for _, c := range changes {
		if !slices.Contains(words, c.What) {
			words = append(words, c.What)
		}
	}
	return strings.Join(words, ", ")
}

// diff shows the change.
func (i *reviewItem) diff() string {
	switch {
	case i.pending != nil:
		return i.pending.Diff
	case i.refused != nil:
		return ""
	}
	var b strings.Builder
	for _, c := range i.plan.Changes {
		where := c.Place()
		if c.Times > 1 {
			where += fmt.Sprintf(" and %d more", c.Times-1)
		}
		fmt.Fprintf(&b, "%s: %s\n", where, c.What)
		b.WriteString(golden.Compare(spread(c.Old), spread(c.New), 0))
	}
	if i.plan.RewritesGolden() {
		fmt.Fprintf(&b, "%s follows:\n%s", i.plan.Golden, i.plan.Diff)
	}
	return b.String()
}

// spread is a text as it is, and a JSON object or list with one member a line.
func spread(text string) string {
	if value := jsontext.Value(text); (strings.HasPrefix(text, "{") || strings.HasPrefix(text, "[")) && value.IsValid() {
		if err := value.Indent(jsontext.WithIndent("  ")); err == nil {
			text = string(value)
		}
	}
	if text != "" && !strings.HasSuffix(text, "\n") {
		text += "\n"
	}
	return text
}

// files are those that a decision may change.
func (i *reviewItem) files() []string {
	switch {
	case i.pending != nil:
		return i.pending.Files()
	case i.refused != nil:
		return nil
	default:
		return i.plan.Files()
	}
}

// look reads the item anew; errGone says that nothing waits any more.
func (i *reviewItem) look() error {
	switch {
	case i.pending != nil:
		pending, err := i.store.Look(i.name)
		if err == nil && pending == nil {
			return errGone
		}
		if err == nil {
			i.pending = pending
		}
		return err
	case i.refused != nil:
		return nil
	}
	plan, err := i.again()
	if err == nil && !plan.Changed() {
		return errGone
	}
	if err == nil {
		i.plan = plan
	}
	return err
}

// decide accepts or rejects, and says what was done.
func (i *reviewItem) decide(accept bool) (string, error) {
	switch {
	case i.refused != nil && accept:
		return "", i.refused
	case i.refused != nil || i.plan != nil && !accept:
		return fmt.Sprintf("left the requests of %s as recorded: mend the prompt, the tool or the program", i.name), nil
	case i.plan != nil:
		if err := i.plan.Write(); err != nil {
			return "", err
		}
		return strings.TrimSuffix(rebaseText(i.plan, false), "\n"), nil
	}
	switch now, err := i.store.Look(i.name); {
	case err != nil:
		return "", err
	case now == nil:
		return "", errGone
	}
	if accept {
		return "accepted " + i.pending.Path, i.pending.Accept()
	}
	return "rejected " + i.pending.New, i.pending.Reject()
}
