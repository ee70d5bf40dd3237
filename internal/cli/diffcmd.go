package cli

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/tapetree/tapetree/golden/diff"
	"github.com/tapetree/tapetree/record"
	"github.com/tapetree/tapetree/runtime"
)

// diffFormats lists what --format of diff takes.
var diffFormats = []string{"text", "markdown", "json", "html"}

type diffOptions struct {
	parentChild bool
	stat        bool
	full        bool
	context     int
	agent       string
	format      string
	out         string
	volatile    []string
	workspace   []string
	home        []string
}

func (a *app) diffCommand() *cobra.Command {
	o := &diffOptions{}
	cmd := &cobra.Command{
		Use:   "diff A B | diff --parent-child FILE",
		Short: "Show where two sessions part, or what came between a parent and its children",
		Long: `Compares two sessions of any agent: two runs, two models, two versions. Children
stand under the calls that started them, messages are aligned (same, moved,
changed, added, removed), and long texts are compared by words. Ids may differ
from run to run; a result that answers another call is a difference.

With --parent-child one session is read: what each child was told, what came back,
what only the child saw, and what reached the parent otherwise.

NAME stands for transcripts/NAME.jsonl below --dir; a path is a path, also of
another program's history (docs/import.md lists the formats). docs/diff.md explains
the output. Exit code: 0 equal, 1 different, 2 bad input, 3 no such
transcript.`,
		Example: `  tapetree diff before.jsonl after.jsonl
  tapetree diff --stat before after                   one line for each agent
  tapetree diff --volatile dates,uuids before after   pass over what changes anyway
  tapetree diff --format markdown before after        a comment for a pull request
  tapetree diff --parent-child my-run --agent root/2.1`,
		ValidArgsFunction: a.completeHistories,
		RunE:              a.wrap(func(cmd *cobra.Command, args []string) error { return a.diff(cmd.Context(), o, args) }),
	}
	flags := cmd.Flags()
	flags.BoolVar(&o.parentChild, "parent-child", false, "hold the children of one session against their parents")
	flags.BoolVar(&o.stat, "stat", false, "one line for each agent")
	flags.BoolVar(&o.full, "full", false, "show texts in full")
	flags.IntVar(&o.context, "context", 1, "how many equal messages and lines to show around a difference")
	flags.StringVar(&o.agent, "agent", "", "only this agent and those below it, as a `path` such as root/2.1")
	flags.StringVar(&o.format, "format", "text", strings.Join(diffFormats, ", "))
	flags.StringVar(&o.out, "out", "", "write to this `file`")
	flags.StringArrayVar(&o.volatile, "volatile", nil, "`rules` for what differs anyway: dates, uuids, ports, durations, with commas, or one /regexp/; once for each")
	flags.StringArrayVar(&o.workspace, "workspace", nil, "a `folder` of either run that stands for the workspace; once for each")
	flags.StringArrayVar(&o.home, "home", nil, "a `folder` of either run that stands for the home; once for each")
	completeWords(cmd, "format", diffFormats)
	completeWords(cmd, "volatile", []string{"dates", "uuids", "ports", "durations"})
	return cmd
}

// differ is what the writers of both kinds of diff have in common.
type differ interface {
	Text(io.Writer, diff.Style) error
	Stat(io.Writer, diff.Style) error
	Markdown(io.Writer, diff.Style) error
	HTML(io.Writer, diff.Style) error
	JSON(io.Writer) error
}

func (a *app) diff(ctx context.Context, o *diffOptions, args []string) error {
	settings, err := o.check(args)
	if err != nil {
		return err
	}
	var result differ
	equal := false
	if o.parentChild {
		list, readErr := a.delegations(ctx, args[0], settings)
		err = readErr
		equal = !slices.ContainsFunc(list, func(d *diff.Delegations) bool { return !d.Holds() })
		result = diff.DelegationReport{Version: diff.Version, Histories: list}
	} else {
		var report *diff.Report
		if report, err = a.compare(ctx, args[0], args[1], settings); err == nil {
			result, equal = report, report.Equal
		}
	}
	if err != nil {
		return err
	}
	if err := a.writeDiff(o, result); err != nil {
		return err
	}
	if !equal {
		return silent(exitFindings)
	}
	return nil
}

// check judges the command line.
func (o *diffOptions) check(args []string) (diff.Options, error) {
	settings := diff.Options{Full: o.full}
	switch {
	case o.parentChild && len(args) != 1:
		return settings, usagef("diff --parent-child takes one session")
	case !o.parentChild && len(args) != 2:
		return settings, usagef("diff takes two sessions, or one with --parent-child")
	case !slices.Contains(diffFormats, o.format):
		return settings, usagef("--format is %s, not %q%s", strings.Join(diffFormats, ", "), o.format, didYouMean(o.format, diffFormats, ""))
	case o.stat && o.format != "text":
		return settings, usagef("--stat is text; the other formats have its table anyway")
	case o.context < 0:
		return settings, usagef("--context is at least 0")
	}
	if o.agent != "" {
		path, err := agentPath(o.agent)
		if err != nil {
			return settings, &usageError{err: err}
		}
		settings.Agent = path
	}
	var rules []string
	for _, text := range o.volatile {
		if strings.HasPrefix(strings.TrimSpace(text), "/") {
			rules = append(rules, text)
		} else {
			rules = append(rules, strings.Split(text, ",")...)
		}
	}
	if len(rules) > 0 {
		volatile, err := record.ParseVolatile(rules)
		if err != nil {
			return settings, usagef("--volatile: %w", err)
		}
		settings.Volatile = volatile
	}
	if len(o.workspace)+len(o.home) > 0 {
		settings.Fold = runtime.NewFolder(o.workspace, nil, o.home).Fold
	}
	return settings, nil
}

func (a *app) writeDiff(o *diffOptions, result differ) error {
	style := diff.Style{Context: o.context, Full: o.full, Color: o.out == "" && a.colored(a.out)}
	var out bytes.Buffer
	var err error
	switch {
	case o.stat:
		err = result.Stat(&out, style)
	case o.format == "text":
		err = result.Text(&out, style)
	case o.format == "markdown":
		style.Max = diff.MaxComment
		err = result.Markdown(&out, style)
	case o.format == "html":
		err = result.HTML(&out, style)
	default:
		if err = result.JSON(&out); err == nil {
			out.WriteByte('\n')
		}
	}
	if err != nil {
		return fmt.Errorf("write the diff: %w", err)
	}
	safe := a.secrets().Mask(out.String())
	if o.out != "" {
		return writeFile(o.out, []byte(safe))
	}
	if _, err := io.WriteString(a.out, safe); err != nil {
		return withoutBrokenPipe(fmt.Errorf("write the diff: %w", err))
	}
	return nil
}
