package cli

import (
	"context"
	"errors"
	"fmt"
	goruntime "runtime"
	"slices"

	"github.com/spf13/cobra"
	"github.com/tapetree/tapetree/golden"
)

type reviewOptions struct {
	list         bool
	accept       []string
	reject       []string
	acceptAll    bool
	unreferenced bool
	remove       bool
	allowShell   bool
	jobs         int
}

func (a *app) reviewCommand() *cobra.Command {
	o := &reviewOptions{}
	cmd := &cobra.Command{
		Use:   "review [NAME…]",
		Short: "Accept or reject what changed: golden histories and requests, one by one",
		Long: `Replays the scenarios and walks through what came out otherwise, one by one with
its difference: golden histories that wait as NAME.txt.new, and requests that
are not the recorded ones. Accepting a history makes it the golden one,
rejecting removes the .new file; accepting requests is a rebase of the scenario
(` + "`tapetree help rebase`" + `), rejecting them leaves all as it is.

On a terminal one key decides: a accept, r reject, s skip, A accept all of this
kind, u undo, q quit, ? help; elsewhere one line does. Two changes are of one
kind when the same lines go and come, wherever they stand. Undo puts the files
back as they were, as far as you like.

Without NAME: everything. NAME is a scenario or a golden history.

--list, --accept, --reject and --accept-all ask nothing. All but --list are
refused when CI is set. --unreferenced lists golden histories and transcripts
that no scenario refers to; with --remove it removes them.`,
		Example: `  tapetree review                       walk through all of it
  tapetree review --list                say what waits; exit 1 when something does
  tapetree review --accept my-run       accept the history and the requests of my-run
  tapetree review --unreferenced        list what no scenario refers to`,
		ValidArgsFunction: a.completeNames,
		RunE:              a.wrap(func(cmd *cobra.Command, args []string) error { return a.review(cmd, o, args) }),
	}
	flags := cmd.Flags()
	flags.BoolVar(&o.list, "list", false, "list what waits and exit 1, or 0 when nothing does")
	flags.StringSliceVar(&o.accept, "accept", nil, "accept what waits for this `name`; more names may follow")
	flags.StringSliceVar(&o.reject, "reject", nil, "reject what waits for this `name`; more names may follow")
	flags.BoolVar(&o.acceptAll, "accept-all", false, "accept all that waits")
	flags.BoolVar(&o.unreferenced, "unreferenced", false, "list golden histories and transcripts that no scenario refers to, and exit 1, or 0 when there is none")
	flags.BoolVar(&o.remove, "remove", false, "with --unreferenced: remove them")
	flags.BoolVar(&o.allowShell, "allow-shell", false, "let shell=live and want/verify run commands, unconfined")
	flags.IntVar(&o.jobs, "jobs", goruntime.NumCPU(), "how many scenarios at once")
	return cmd
}

func (a *app) review(cmd *cobra.Command, o *reviewOptions, args []string) error {
	if err := a.checkReview(o, args); err != nil {
		return err
	}
	if o.unreferenced {
		return a.unreferenced(o.remove)
	}
	ctx, stop := a.interruptible(cmd.Context(), "interrupted (again to quit at once)")
	defer stop()
	if len(o.accept)+len(o.reject) > 0 {
		return a.decide(ctx, o, args)
	}
	items, code, err := a.reviewItems(ctx, o, args)
	if err != nil {
		return err
	}
	switch {
	case o.list:
		err = a.listItems(items, code)
	case o.acceptAll:
		err = a.decideAll(items, true)
	default:
		err = a.walk(ctx, items, code)
	}
	return atLeast(code, err)
}

// atLeast is err, ending the program with code where that is the higher one.
func atLeast(code int, err error) error {
	switch {
	case exitCode(err) >= code:
		return err
	case err == nil:
		return silent(code)
	default:
		return &exitError{code, err}
	}
}

// checkReview refuses what does not go together.
func (a *app) checkReview(o *reviewOptions, args []string) error {
	ways := 0
	for _, given := range []bool{o.list, len(o.accept) > 0, len(o.reject) > 0, o.acceptAll, o.unreferenced} {
		if given {
			ways++
		}
	}
	both := len(o.accept) > 0 && len(o.reject) > 0 && ways == 2 && len(args) == 0
	switch {
	case ways > 1 && !both:
		return usagef("--list, --accept, --reject, --accept-all and --unreferenced are ways of their own: give one (--accept and --reject go together without further names)")
	case o.remove && !o.unreferenced:
		return usagef("--remove goes with --unreferenced")
	case o.unreferenced && len(args) > 0:
		return usagef("--unreferenced looks at all files: leave out %s", args[0])
	case o.jobs < 1:
		return usagef("--jobs is a number from 1, not %d", o.jobs)
	case a.env("CI") != "" && !o.list && (!o.unreferenced || o.remove):
		return usagef("review is refused because CI is set: changes are accepted by a person, then committed (--list says what waits)")
	}
	return nil
}

// decide accepts and rejects by name.
func (a *app) decide(ctx context.Context, o *reviewOptions, more []string) error {
	if len(o.accept) > 0 {
		o.accept = append(o.accept, more...)
	} else {
		o.reject = append(o.reject, more...)
	}
	for _, name := range o.accept {
		if slices.Contains(o.reject, name) {
			return usagef("%s is to be accepted and rejected", name)
		}
	}
	items, code, err := a.reviewItems(ctx, o, append(slices.Clone(o.accept), o.reject...))
	if err != nil {
		return err
	}
	for _, name := range append(slices.Clone(o.accept), o.reject...) {
		if !slices.ContainsFunc(items, func(i *reviewItem) bool { return i.goesBy(name) }) {
			return atLeast(code, badInput("nothing waits for %s%s", name, didYouMean(name, itemNames(items), "")))
		}
	}
	var accepted, rejected []*reviewItem
	for _, item := range items {
		if slices.ContainsFunc(o.accept, item.goesBy) {
			accepted = append(accepted, item)
		} else if slices.ContainsFunc(o.reject, item.goesBy) {
			rejected = append(rejected, item)
		}
	}
	if err := a.decideAll(accepted, true); err != nil {
		return atLeast(code, err)
	}
	return atLeast(code, a.decideAll(rejected, false))
}

// decideAll accepts or rejects items in order. One whose responses cannot be kept
// stops nothing, and is a finding.
func (a *app) decideAll(items []*reviewItem, accept bool) error {
	code := exitOK
	for _, item := range items {
		said, err := item.decide(accept)
		switch {
		case errors.Is(err, errGone): // an earlier one took it along
			continue
		case errors.Is(err, golden.ErrMoved):
			return badInput("%v: look at it again", err)
		case err != nil && item.refused != nil:
			fmt.Fprintf(a.err, "tapetree: %s\n", oneLine(a.secrets().Mask(err.Error())))
			code = exitFindings
			continue
		case err != nil:
			return err
		}
		if _, err := fmt.Fprintln(a.out, golden.Visible(said)); err != nil {
			return err
		}
	}
	return silent(code)
}

// listItems says what waits. That nothing does is not known where the exit code
// is not 0.
func (a *app) listItems(items []*reviewItem, code int) error {
	if len(items) == 0 {
		a.sayNothingWaits(code)
		return nil
	}
	for _, item := range items {
		if _, err := fmt.Fprintln(a.out, oneLine(a.secrets().Mask(item.line()))); err != nil {
			return err
		}
	}
	a.say("%s: look with `tapetree review%s`", plural(len(items), "change"), a.dirFlag())
	return silent(exitFindings)
}

func (a *app) sayNothingWaits(code int) {
	if code == exitOK {
		a.say("nothing waits")
	} else {
		a.say("nothing else waits")
	}
}
