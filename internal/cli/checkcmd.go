package cli

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	goruntime "runtime"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/tapetree/tapetree/internal/histories"
	"github.com/tapetree/tapetree/internal/report"
	"github.com/tapetree/tapetree/record"
	"github.com/tapetree/tapetree/scenarios"
)

// failOn lists what --fail-on takes: the least weight of a finding that fails.
var failOn = []string{"error", "warning", "notice", "none"}

type checkOptions struct {
	format   string
	out      string
	failOn   string
	baseline string
	update   bool
	jobs     int
	set      []string
	builtin  bool
}

func (a *app) checkCommand() *cobra.Command {
	o := &checkOptions{}
	cmd := &cobra.Command{
		Use:   "check [NAME|FILE|FOLDER…]",
		Short: "Find what is wrong in histories of any agent",
		Long: `Reads histories, of ours or of other programs, and names each broken rule: where
it is, what it is, how to fix it (docs/findings.md explains them all). Nothing is
run and nobody is asked.

Without arguments: every transcript of ./transcripts. NAME stands for
transcripts/NAME.jsonl below --dir. Of a FOLDER all files below it are read, and
those that are no history are passed over; the file of a subagent is read with its
session, not again on its own. Findings that the want/findings
section of a transcript's scenario lists are known, and so are those of
--baseline.`,
		Example: `  tapetree check                                all of ./transcripts
  tapetree check ~/.claude/projects             the sessions of another agent
  tapetree check --baseline known.json          fail for what is new
  tapetree check --builtin                      the suite inside tapetree
  tapetree check --format sarif --out out.sarif for code scanning`,
		ValidArgsFunction: func(cmd *cobra.Command, args []string, start string) ([]string, cobra.ShellCompDirective) {
			names, _ := a.completeNames(cmd, args, start)
			return names, cobra.ShellCompDirectiveDefault
		},
		RunE: a.wrap(func(cmd *cobra.Command, args []string) error { return a.check(cmd.Context(), o, args) }),
	}
	flags := cmd.Flags()
	flags.BoolVar(&o.builtin, "builtin", false, "check transcripts of the suite inside tapetree; without a NAME all of them")
	flags.StringVar(&o.format, "format", "text", strings.Join(report.CheckFormats[:6], ", ")+" or sarif")
	flags.StringVar(&o.out, "out", "", "write the report to this `file`")
	flags.StringVar(&o.failOn, "fail-on", "error", "exit with 1 for a finding of this weight or more: error, warning, notice or none")
	flags.StringVar(&o.baseline, "baseline", "", "a `file` of findings that are known and do not count")
	flags.BoolVar(&o.update, "update-baseline", false, "write what is found into the file of --baseline; refused when CI is set")
	flags.IntVar(&o.jobs, "jobs", goruntime.NumCPU(), "how many files at once")
	flags.StringArrayVar(&o.set, "set", nil, "a threshold, as `NAME=NUMBER`, such as delegation.long-report.words=500 (docs/findings.md); once for each")
	completeWords(cmd, "format", report.CheckFormats)
	completeWords(cmd, "fail-on", failOn)
	return cmd
}

func (a *app) check(ctx context.Context, o *checkOptions, args []string) error {
	c, err := a.newChecker(o)
	if err != nil {
		return err
	}
	tasks, err := a.checkTasks(args)
	if o.builtin {
		tasks, err = a.builtinTasks(args)
	}
	if err != nil {
		return err
	}
	var buffer bytes.Buffer
	to := a.out
	if o.out != "" {
		to = &buffer
	}
	writer, err := report.NewCheckWriter(to, o.format, report.CheckOptions{Quiet: a.quiet, Color: a.colored(to), Version: version(), Rule: ruleOf})
	if err != nil {
		return err
	}
	ctx, stop := a.interruptible(ctx, "interrupted: reporting what is finished (again to quit at once)")
	defer stop()
	sum, err := c.all(ctx, tasks, writer)
	if err != nil {
		return err
	}
	if o.out != "" {
		if err := writeFile(o.out, buffer.Bytes()); err != nil {
			return err
		}
	}
	if ctx.Err() != nil {
		return &exitError{exitInterrupted, errors.New("interrupted: not all histories were checked")}
	}
	return a.checkEnd(c, sum, to)
}

func ruleOf(code string) (meaning, remedy string) {
	rule := record.RuleOf(code)
	return rule.Meaning, rule.Remedy
}

// checkEnd says what stands beside the report, writes the baseline, and settles
// the exit code.
func (a *app) checkEnd(c *checker, sum *report.Check, to io.Writer) error {
	if sum.Passed > 0 {
		a.say("tapetree: %s passed over, which are no history", plural(sum.Passed, "file"))
	}
	if sum.Histories == 0 && sum.Unreadable == 0 {
		return badInput("no history was found: nothing was checked")
	}
	if c.update {
		if sum.Unreadable > 0 {
			return badInput("%s could not be read: the baseline stays as it is", plural(sum.Unreadable, "file"))
		}
		if err := c.known.write(); err != nil {
			return err
		}
		a.say("tapetree: wrote %s to %s", plural(len(c.known.found), "finding"), c.known.path)
		return nil
	}
	if sum.Unreadable > 0 {
		return silent(exitUsage)
	}
	counts := map[string]int{"error": sum.Errors, "warning": sum.Errors + sum.Warnings, "notice": sum.Errors + sum.Warnings + sum.Notices}
	if counts[c.failOn] > 0 {
		return silent(exitFindings)
	}
	return nil
}

func (a *app) newChecker(o *checkOptions) (*checker, error) {
	switch {
	case !slices.Contains(report.CheckFormats, o.format):
		return nil, usagef("--format is %s, not %q%s", strings.Join(report.CheckFormats, ", "), o.format, didYouMean(o.format, report.CheckFormats, ""))
	case !slices.Contains(failOn, o.failOn):
		return nil, usagef("--fail-on is %s, not %q%s", strings.Join(failOn, ", "), o.failOn, didYouMean(o.failOn, failOn, ""))
	case o.jobs < 1:
		return nil, usagef("--jobs is at least 1")
	case o.update && o.baseline == "":
		return nil, usagef("--update-baseline writes the file that --baseline names")
	case o.update && a.env("CI") != "":
		return nil, usagef("--update-baseline is refused because CI is set: a baseline is accepted by a person, then committed")
	}
	c := &checker{app: a, jobs: o.jobs, failOn: o.failOn, update: o.update, thresholds: scenarios.Thresholds{}}
	for _, text := range o.set {
		if err := c.thresholds.Set(text); err != nil {
			return nil, usagef("--set: %w", err)
		}
	}
	var err error
	c.known, err = openBaseline(o.baseline, o.update)
	return c, err
}

// checkTask is one file to check.
type checkTask struct {
	path   string
	listed bool   // found in a folder: what is no history is passed over
	suite  string // the name in the suite inside the program, "" for a file
}

// checkTasks lists the files that the arguments name, each once, in order.
func (a *app) checkTasks(args []string) ([]checkTask, error) {
	if len(args) == 0 {
		folder := a.folder("transcripts")
		names := transcriptNames(folder)
		var list []checkTask
		for _, name := range names {
			list = append(list, checkTask{path: filepath.Join(folder, name+".jsonl")})
		}
		if len(list) == 0 {
			return nil, badInput("there are no transcripts in %s: name the files to check, as in `tapetree check FILE`", folder)
		}
		return list, nil
	}
	var tasks []checkTask
	seen := map[string]bool{}
	for _, arg := range args {
		path := a.historyPath(arg)
		if filepath.Ext(arg) != "" && !exists(path) { // more likely a file that is missing than a name
			path = arg
		}
		list := []checkTask{{path: path}}
		if isFolder(arg) {
			var err error
			if list, err = historyFiles(arg); err != nil {
				return nil, fmt.Errorf("list %s: %w", arg, err)
			}
		}
		for _, task := range list {
			if !seen[task.path] {
				seen[task.path] = true
				tasks = append(tasks, task)
			}
		}
	}
	return apart(tasks), nil
}

// apart leaves out the files that are read with another one of them.
func apart(tasks []checkTask) []checkTask {
	paths := make([]string, len(tasks))
	for i, task := range tasks {
		paths[i] = task.path
	}
	kept := map[string]bool{}
	for _, path := range histories.Apart(paths) {
		kept[path] = true
	}
	return slices.DeleteFunc(tasks, func(task checkTask) bool { return !kept[task.path] })
}
