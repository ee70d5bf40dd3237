package cli

import (
	"context"
	"fmt"
	"io"
	goruntime "runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/spf13/cobra"
	"github.com/tapetree/tapetree/internal/report"
	"github.com/tapetree/tapetree/record"
	"github.com/tapetree/tapetree/scenarios"
)

// firstSeed is the seed of --shuffle when --seed is not given.
const firstSeed = 1

type replayOptions struct {
	builtin    bool
	update     bool
	strict     bool
	allowShell bool
	maxAge     string
	tags       []string
	format     string
	out        string
	jobs       int
	childJobs  int
	prices     string
	shuffle    int
	seed       int64

	programFlags
}

func (a *app) replayCommand() *cobra.Command {
	o := &replayOptions{}
	cmd := &cobra.Command{
		Use:   "replay [NAME…] [-- COMMAND…]",
		Short: "Replay scenarios from their transcripts and hold them against their golden histories",
		Long: `Runs each scenario again, parent and children, with the answers of its
transcript instead of a model: no key, no network. Then it compares what was
sent, what tools did and how the session reads with what is recorded, wanted
and accepted.

Without NAME: every scenario of ./scenarios. NAME stands for
scenarios/NAME.txtar below --dir; a path is a path.

What was recorded with "record NAME -- COMMAND" is judged with the program, given
after -- or, with --allow-command, in the scenario: it runs with OPENAI_BASE_URL,
ANTHROPIC_BASE_URL and the like pointing at a server of ours that answers from
the transcript, and with no key. Its stdout is its own, so the report of
replay NAME -- COMMAND goes to stderr or to --out. A scenario without a command is
judged by sending its recorded requests again.`,
		Example: `  tapetree replay                    all of ./scenarios
  tapetree replay my-run --update    accept what changed in my-run
  tapetree replay --shuffle 20       try 20 orders of answers of agents that run at once
  tapetree replay my-agent --offline -- python agent.py
                                     a program of yours, in a network of its own
  tapetree replay --builtin          the suite inside tapetree`,
		ValidArgsFunction: a.completeNames,
		RunE: a.wrap(func(cmd *cobra.Command, args []string) error {
			names, command, given := program(cmd, args)
			if given {
				return a.replayProgram(cmd.Context(), o, cmd, names, command)
			}
			return a.replay(cmd.Context(), o, cmd, names)
		}),
	}
	flags := cmd.Flags()
	flags.BoolVar(&o.builtin, "builtin", false, "replay the suite inside tapetree")
	flags.BoolVar(&o.update, "update", false, "accept: write the golden histories anew; refused when CI is set")
	flags.BoolVar(&o.strict, "strict", false, "let warnings fail too")
	flags.BoolVar(&o.allowShell, "allow-shell", false, "let shell=live and want/verify run commands, unconfined")
	flags.StringVar(&o.maxAge, "max-age", "", "warn of transcripts older than this `time`, as in 90d or 12h")
	flags.StringSliceVar(&o.tags, "tag", nil, "only scenarios with this `tag`; more than one: with any of them")
	flags.StringVar(&o.format, "format", "text", "text, json or junit")
	flags.StringVar(&o.out, "out", "", "write the report to this `file`")
	flags.IntVar(&o.jobs, "jobs", goruntime.NumCPU(), "how many scenarios at once")
	flags.IntVar(&o.childJobs, "child-jobs", defaultChildJobs, "how many children of one turn at once")
	flags.StringVar(&o.prices, "prices", "", "what tokens cost, for want/budget, as a JSON `file`; else the list prices inside tapetree")
	flags.IntVar(&o.shuffle, "shuffle", 0, "replay each scenario again with this `number` of orders in which agents that run at once get their answers, and demand the same history each time")
	flags.Int64Var(&o.seed, "seed", firstSeed, "the `seed` of the first order of --shuffle; the next ones take the next seeds")
	o.programFlags.add(flags)
	completeWords(cmd, "format", report.Formats)
	completeWords(cmd, "on-miss", onMiss)
	return cmd
}

// target is one scenario to replay.
type target struct {
	source scenarios.Source
	name   string
}

func (a *app) replay(ctx context.Context, o *replayOptions, cmd *cobra.Command, args []string) error {
	wishes, err := a.replayWishes(o)
	if err != nil {
		return err
	}
	if !o.allowCommand {
		if err := onlyWith(cmd, "-- COMMAND or --allow-command", needProgram...); err != nil {
			return err
		}
	}
	if err := a.programWishes(o, &wishes); err != nil {
		return err
	}
	wishes.Output = &shared{to: a.err}
	targets, err := a.targets(o, args)
	if err != nil {
		return orForgotten(err, "replay", args)
	}
	ctx, stop := a.interruptible(ctx, "interrupted: reporting what is finished (again to quit at once)")
	defer stop()
	results := a.replayAll(ctx, targets, wishes, o.jobs)
	if err := a.report(o, a.out, results); err != nil {
		return err
	}
	if ctx.Err() != nil {
		return &exitError{exitInterrupted, fmt.Errorf("interrupted: %d of %d scenarios were replayed", len(results), len(targets))}
	}
	code := exitOK
	for _, r := range results {
		code = max(code, resultCode(r))
	}
	return silent(code)
}

// shared is a writer for several goroutines.
type shared struct {
	mu sync.Mutex
	to io.Writer
}

// Write implements io.Writer.
func (s *shared) Write(data []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.to.Write(data)
}

// resultCode is the exit code that one result asks for.
func resultCode(r scenarios.Result) int {
	switch r.Status {
	case scenarios.Pass:
		return exitOK
	case scenarios.Fail:
		return exitFindings
	default:
		return max(exitCode(r.Err), exitUsage)
	}
}

// replayWishes checks the flags.
func (a *app) replayWishes(o *replayOptions) (scenarios.ReplayOptions, error) {
	wishes := scenarios.ReplayOptions{Update: o.update, Strict: o.strict, AllowShell: o.allowShell, ChildJobs: o.childJobs, Shuffle: o.shuffle, Seed: o.seed}
	switch {
	case !slices.Contains(report.Formats, o.format):
		return wishes, usagef("--format is one of %s, not %q%s", strings.Join(report.Formats, ", "), o.format, didYouMean(o.format, report.Formats, ""))
	case o.jobs < 1:
		return wishes, usagef("--jobs is a number from 1, not %d", o.jobs)
	case o.childJobs < 1:
		return wishes, usagef("--child-jobs is a number from 1, not %d", o.childJobs)
	case o.seed != firstSeed && o.shuffle == 0:
		return wishes, usagef("--seed goes with --shuffle N")
	case o.shuffle < 0:
		return wishes, usagef("--shuffle is a number of orders, not %d", o.shuffle)
	case o.update && o.builtin:
		return wishes, usagef("--update cannot change the suite inside tapetree: leave out --builtin")
	case o.update && a.env("CI") != "":
		return wishes, usagef("--update is refused because CI is set: golden histories are accepted by a person, then committed")
	}
	if o.maxAge != "" {
		age, ok := parseAge(o.maxAge)
		if !ok {
			return wishes, usagef("--max-age is a length of time, as in 90d or 12h, not %q", o.maxAge)
		}
		wishes.MaxAge = age
	}
	table, err := a.table(o.prices)
	wishes.Prices = table
	return wishes, err
}

// parseAge reads days (90d) or what Go calls a duration (12h, 1h30m).
func parseAge(text string) (time.Duration, bool) {
	if days, ok := strings.CutSuffix(text, "d"); ok {
		n, err := strconv.Atoi(days)
		return time.Duration(n) * 24 * time.Hour, err == nil && n > 0 && n < 100*366
	}
	age, err := time.ParseDuration(text)
	return age, err == nil && age > 0
}

// targets finds the scenarios that the arguments and tags select.
func (a *app) targets(o *replayOptions, args []string) ([]target, error) {
	var names, paths []string
	for _, arg := range args {
		if isPath(arg) || strings.HasSuffix(arg, ".txtar") {
			paths = append(paths, arg)
		} else {
			names = append(names, arg)
		}
	}
	var list []target
	if len(names) > 0 || len(args) == 0 {
		found, err := a.openSource(o.builtin)
		if err != nil {
			return nil, err
		}
		if len(found.names) == 0 {
			return nil, badInput("there are no scenarios in %s: `tapetree init` makes a first one, `tapetree replay --builtin` replays the suite inside tapetree", found.where)
		}
		if len(args) == 0 {
			names = found.names
		}
		for _, name := range names {
			if err := found.find(name); err != nil {
				return nil, err
			}
			list = append(list, target{found.Source, name})
		}
	}
	for _, path := range paths {
		t, err := pathTarget(path)
		if err != nil {
			return nil, err
		}
		list = append(list, t)
	}
	return tagged(list, o.tags)
}

func pathTarget(path string) (target, error) {
	dir, name, err := splitScenarioPath(path)
	if err != nil {
		return target{}, err
	}
	inside := &app{dir: dir}
	found, err := inside.openSource(false)
	if err != nil {
		return target{}, err
	}
	return target{found.Source, name}, found.find(name)
}

// tagged keeps the scenarios that carry one of the tags.
func tagged(list []target, tags []string) ([]target, error) {
	if len(tags) == 0 {
		return list, nil
	}
	var kept []target
	var known []string
	for _, t := range list {
		scenario, err := t.source.Load(t.name)
		if err != nil {
			return nil, err
		}
		known = append(known, scenario.Tags...)
		if slices.ContainsFunc(scenario.Tags, func(tag string) bool { return slices.Contains(tags, tag) }) {
			kept = append(kept, t)
		}
	}
	if len(kept) == 0 {
		return nil, badInput("no scenario has the tag %s%s", strings.Join(tags, " or "), didYouMean(tags[0], known, ""))
	}
	return kept, nil
}

// replayAll replays the targets, jobs at once, and returns the results of
// those that were finished, in the order of the targets.
func (a *app) replayAll(ctx context.Context, targets []target, wishes scenarios.ReplayOptions, jobs int) []scenarios.Result {
	bar := a.progress(len(targets))
	defer bar.done()
	results := make([]*scenarios.Result, len(targets))
	next := make(chan int)
	var workers sync.WaitGroup
	for range min(jobs, len(targets)) {
		workers.Go(func() {
			for i := range next {
				bar.doing(targets[i].name)
				result := scenarios.Replay(ctx, targets[i].source, targets[i].name, wishes)
				if ctx.Err() == nil {
					results[i] = &result
				}
				bar.did()
			}
		})
	}
	for i := range targets {
		select {
		case next <- i:
		case <-ctx.Done():
		}
	}
	close(next)
	workers.Wait()
	var finished []scenarios.Result
	for _, r := range results {
		if r != nil {
			finished = append(finished, *r)
		}
	}
	return finished
}

// report writes the results to stdout, or whatever stands for it, or --out.
func (a *app) report(o *replayOptions, to io.Writer, results []scenarios.Result) error {
	suite := &report.Suite{}
	for _, r := range results {
		suite.Add(reported(r))
	}
	if o.out == "" {
		return report.Write(to, o.format, suite, report.Options{Quiet: a.quiet, Color: a.colored(to)})
	}
	var text strings.Builder
	if err := report.Write(&text, o.format, suite, report.Options{Quiet: a.quiet}); err != nil {
		return err
	}
	if err := writeFile(o.out, []byte(text.String())); err != nil {
		return err
	}
	a.say("wrote %s: %d passed, %d failed, %d could not run", o.out, suite.Passed, suite.Failed, suite.Errors)
	return nil
}

// reported is a result as a report shows it.
func reported(r scenarios.Result) report.Result {
	out := report.Result{
		Name: r.Name, Status: report.Status(r.Status), Grade: string(r.Grade), Exchanges: r.Exchanges, Agents: r.Agents,
		Details: r.Details, Notes: r.Notes, Remarks: r.Remarks, Seconds: r.Took.Seconds(),
	}
	if r.Err != nil {
		out.Error = oneLine(r.Err.Error())
	}
	for _, f := range r.Findings {
		out.Findings = append(out.Findings, report.Finding{
			Code: f.Code, Agent: string(f.Agent), Turn: f.Turn, Message: f.Message, Severity: record.Severity(f.Code),
		})
	}
	return out
}
