package cli

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"

	"github.com/spf13/cobra"
	"github.com/tapetree/tapetree/golden"
	"github.com/tapetree/tapetree/record"
	"github.com/tapetree/tapetree/scenarios"
)

// rebasing is the rebase of one scenario.
type rebasing struct {
	target
	plan *scenarios.Rebase
	err  error
}

// rebaseScenarios records the requests of scenarios anew.
func (a *app) rebaseScenarios(cmd *cobra.Command, o *rebaseOptions, names, command []string, given bool) error {
	switch {
	case !o.dryRun && a.env("CI") != "":
		return usagef("rebase is refused because CI is set: new requests are accepted by a person, then committed (--dry-run says what would change)")
	case o.jobs < 1:
		return usagef("--jobs is a number from 1, not %d", o.jobs)
	case given && len(names) != 1:
		return usagef("rebase takes one name before --, as in: rebase my-agent -- python agent.py")
	case given && len(command) == 0:
		return usagef("after -- stands the command that is to be answered from the transcript")
	case o.offline && !given && !o.allowCommand:
		return usagef("--offline goes with -- COMMAND or --allow-command")
	}
	targets, err := a.rebaseTargets(names, given)
	if err != nil {
		return orForgotten(err, "rebase", names)
	}
	wishes := scenarios.RebaseOptions{AllowShell: o.allowShell, AllowCommand: o.allowCommand, Offline: o.offline, Output: &shared{to: a.err}}
	if given {
		wishes.Command = &scenarios.Command{Args: command, Stdin: a.in, Stdout: a.err, Stderr: a.err}
		outlivePipes()
	}
	ctx, stop := a.interruptible(cmd.Context(), "interrupted: nothing more is written (again to quit at once)")
	defer stop()
	list := a.planAll(ctx, targets, wishes, o.jobs)
	return a.writeAll(ctx, list, wishes, len(names) > 0, o.dryRun)
}

// rebaseTargets finds the scenarios, or a transcript that has none and a program
// is given for.
func (a *app) rebaseTargets(names []string, given bool) ([]target, error) {
	if given {
		t, err := a.programTarget(&replayOptions{}, names[0])
		return []target{t}, err
	}
	return a.targets(&replayOptions{}, names)
}

// planAll finds what becomes of the targets, jobs at once, in their order.
func (a *app) planAll(ctx context.Context, targets []target, wishes scenarios.RebaseOptions, jobs int) []rebasing {
	bar := a.progress(len(targets))
	defer bar.done()
	list := make([]rebasing, len(targets))
	next := make(chan int)
	var workers sync.WaitGroup
	for range min(jobs, len(targets)) {
		workers.Go(func() {
			for i := range next {
				bar.doing(targets[i].name)
				plan, err := scenarios.PlanRebase(ctx, targets[i].source, targets[i].name, wishes)
				list[i] = rebasing{targets[i], plan, err}
				bar.did()
			}
		})
	}
	for i := range targets {
		select {
		case next <- i:
		case <-ctx.Done():
			list[i] = rebasing{targets[i], nil, ctx.Err()}
		}
	}
	close(next)
	workers.Wait()
	return list
}

// rebased counts what became of the scenarios.
type rebased struct{ changed, same, programs, refused int }

// writeAll writes the plans in order and tells what they change. With named
// unset, a program's recording is passed over.
func (a *app) writeAll(ctx context.Context, list []rebasing, wishes scenarios.RebaseOptions, named, dry bool) error {
	var sum rebased
	code := exitOK
	for _, one := range list {
		if ctx.Err() != nil {
			return &exitError{exitInterrupted, fmt.Errorf("interrupted: %s rebased, the others are as they were", plural(sum.changed, "scenario"))}
		}
		if errors.Is(one.err, scenarios.ErrNoCommand) && !named {
			sum.programs++
			continue
		}
		worst, err := a.writeOne(ctx, one, wishes, dry, &sum)
		if err != nil {
			return err
		}
		code = max(code, worst)
	}
	if err := a.sayRebased(sum, dry); err != nil {
		return err
	}
	return silent(code)
}

// writeOne writes one plan, and returns the exit code that it asks for.
func (a *app) writeOne(ctx context.Context, one rebasing, wishes scenarios.RebaseOptions, dry bool, sum *rebased) (int, error) {
	plan, err := one.plan, one.err
	if err == nil && !dry {
		err = plan.Write()
		if errors.Is(err, golden.ErrMoved) { // by another scenario of the same transcript
			if plan, err = scenarios.PlanRebase(ctx, one.source, one.name, wishes); err == nil {
				err = plan.Write()
			}
		}
	}
	if err != nil {
		return a.notRebased(err, sum), nil
	}
	if !plan.Changed() {
		sum.same++
		return exitOK, nil
	}
	sum.changed++
	if _, err := fmt.Fprint(a.out, golden.Visible(rebaseText(plan, dry))); err != nil {
		return 0, err
	}
	if dry {
		return exitFindings, nil
	}
	return a.stillFailing(plan)
}

// notRebased says why a scenario is not rebased.
func (a *app) notRebased(err error, sum *rebased) int {
	fmt.Fprintf(a.err, "tapetree: %s\n", oneLine(a.secrets().Mask(err.Error())))
	sum.refused++
	if _, refused := errors.AsType[*scenarios.RefusedError](err); refused {
		return exitFindings
	}
	if errors.Is(err, scenarios.ErrNoCommand) {
		return exitUsage
	}
	return exitCode(err)
}

// stillFailing says what a rebased scenario fails for all the same: its
// expectations are not a matter of its requests.
func (a *app) stillFailing(plan *scenarios.Rebase) (int, error) {
	code := exitOK
	for _, f := range reported(*plan.Replay).Findings {
		if record.Severity(f.Code) != record.SeverityError {
			continue
		}
		code = exitFindings
		if _, err := fmt.Fprintf(a.out, "  still fails: %s\n", oneLine(f.String())); err != nil {
			return code, err
		}
	}
	return code, nil
}

// sayRebased sums up.
func (a *app) sayRebased(sum rebased, dry bool) error {
	verb := "rebased"
	if dry {
		verb = "to be rebased"
	}
	text := fmt.Sprintf("%d %s, %d as recorded", sum.changed, verb, sum.same)
	if sum.refused > 0 {
		text += fmt.Sprintf(", %d not rebased", sum.refused)
	}
	if sum.programs > 0 {
		text += fmt.Sprintf("; %d of programs, each rebased with `tapetree rebase NAME -- COMMAND`", sum.programs)
	}
	if a.quiet && sum.refused+sum.changed == 0 {
		return nil
	}
	_, err := fmt.Fprintln(a.out, text)
	return err
}

// maxChanges is how many changes of a scenario are shown: a screen.
const maxChanges = 12

// rebaseText says what a rebase changes, by file and place.
func rebaseText(plan *scenarios.Rebase, dry bool) string {
	var b strings.Builder
	did := "wrote"
	if dry {
		did = "would write"
	}
	lines, of := changedLines(plan.Before, plan.After)
	fmt.Fprintf(&b, "%s: %s %d of %s of %s anew\n", plan.Name, did, lines, plural(of, "line"), plan.Transcript)
	b.WriteString(changesText(plan.Changes, "  "))
	if plan.RewritesGolden() {
		fmt.Fprintf(&b, "  %s %s anew%s\n", did, plan.Golden, diffSize(plan.Diff))
		b.WriteString(diffLines(plan.Diff, "    "))
	}
	return b.String()
}

// changesText lists changes of requests, each in one line.
func changesText(changes []record.Change, indent string) string {
	const width = 60
	var b strings.Builder
	for _, c := range changes[:min(len(changes), maxChanges)] {
		old, new := c.Shown(width)
		times := ""
		if c.Times > 1 {
			times = fmt.Sprintf(" and %d more", c.Times-1)
		}
		b.WriteString(indent + oneLine(fmt.Sprintf("%s%s: %s: %s → %s", c.Place(), times, c.What, old, new)) + "\n")
	}
	if more := len(changes) - maxChanges; more > 0 {
		fmt.Fprintf(&b, "%s… %s\n", indent, plural(more, "more change"))
	}
	return b.String()
}

// diffSize is how large the diff of a golden history is.
func diffSize(diff string) string {
	removed, added := 0, 0
	for _, line := range changedOf(diff) {
		if line[0] == '-' {
			removed++
		} else {
			added++
		}
	}
	if removed+added == 0 {
		return ""
	}
	return fmt.Sprintf(": -%d +%d lines", removed, added)
}

// diffLines shows what a golden history has now and had before, since it may
// have been changed by hand and would be lost unseen.
func diffLines(diff, indent string) string {
	var b strings.Builder
	lines := changedOf(diff)
	for _, line := range lines[:min(len(lines), maxChanges)] {
		b.WriteString(indent + line + "\n")
	}
	if more := len(lines) - maxChanges; more > 0 {
		fmt.Fprintf(&b, "%s… %s\n", indent, plural(more, "more line"))
	}
	return b.String()
}

// changedOf returns the lines of a unified diff that were removed or added.
func changedOf(diff string) []string {
	var lines []string
	for _, line := range strings.Split(diff, "\n") {
		switch {
		case strings.HasPrefix(line, "--- "), strings.HasPrefix(line, "+++ "):
		case strings.HasPrefix(line, "-"), strings.HasPrefix(line, "+"):
			lines = append(lines, line)
		}
	}
	return lines
}

// changedLines counts the lines of after that before has not, and all of after.
func changedLines(before, after []byte) (changed, all int) {
	had := map[string]int{}
	for line := range bytes.Lines(before) {
		had[string(line)]++
	}
	for line := range bytes.Lines(after) {
		all++
		if had[string(line)]--; had[string(line)] < 0 {
			changed++
		}
	}
	return changed, all
}
