package cli

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/tapetree/tapetree/internal/export"
	"github.com/tapetree/tapetree/record"
	"github.com/tapetree/tapetree/runtime"
	"github.com/tapetree/tapetree/scenarios"
	"github.com/tapetree/tapetree/transcripts"
)

type exportOptions struct {
	builtin  bool
	format   string
	out      string
	part     string
	agents   []string
	contents bool
}

func (a *app) exportCommand() *cobra.Command {
	o := &exportOptions{}
	cmd := &cobra.Command{
		Use:   "export NAME|FILE",
		Short: "Write a history for other programs: OpenAI messages, Markdown, OpenTelemetry, JUnit",
		Long: `Writes the sessions of a transcript, or of another program's history, in another
format. NAME stands for transcripts/NAME.jsonl below --dir; a path is a path.

  openai    messages of chat completions, byte for byte as they were sent: an array,
            or a line for each agent where there are several
  markdown  a document to read
  otlp      OpenTelemetry spans (OTLP/JSON): agents, requests and calls
  junit     a test case for each turn, call and finding

What a format has no place for is named on stderr (docs/export.md).`,
		Example: `  tapetree export my-run --format markdown --out my-run.md
  tapetree export my-run --format openai --agent root/2.1
  tapetree export session.jsonl --format otlp --contents`,
		ValidArgsFunction: a.completeHistories,
		RunE:              a.wrap(func(cmd *cobra.Command, args []string) error { return a.export(cmd.Context(), o, args) }),
	}
	flags := cmd.Flags()
	flags.BoolVar(&o.builtin, "builtin", false, "export a transcript of the suite inside tapetree")
	flags.StringVar(&o.format, "format", "openai", "openai, markdown, otlp or junit")
	flags.StringVar(&o.out, "out", "", "write into this `file`")
	flags.StringVar(&o.part, "part", "", "only one session of a file that has several, by its `number`")
	flags.StringArrayVar(&o.agents, "agent", nil, "only this agent, as a `path` such as root/2.1; once for each, or all")
	flags.BoolVar(&o.contents, "contents", false, "with --format otlp: put what was said into the spans")
	completeWords(cmd, "format", export.Formats)
	return cmd
}

// settings reads the flags.
func (o *exportOptions) settings() (export.Options, error) {
	settings := export.Options{
		Contents: o.contents, Version: version(),
		Check: func(h *transcripts.History) []record.Finding {
			return scenarios.CheckHistory(h, scenarios.CheckOptions{})
		},
	}
	switch {
	case !slices.Contains(export.Formats, o.format):
		return settings, usagef("--format is %s, not %q%s", strings.Join(export.Formats, ", "), o.format, didYouMean(o.format, export.Formats, ""))
	case o.contents && o.format != "otlp":
		return settings, usagef("--contents goes with --format otlp: %s holds what was said, or has no place for it", o.format)
	}
	if n, err := strconv.Atoi(o.part); o.part != "" && (err != nil || n < 1) {
		return settings, usagef("--part is a number from 1, not %q", o.part)
	}
	for _, text := range o.agents {
		if text == "all" {
			settings.All = true
			continue
		}
		path, err := agentPath(text)
		if err != nil {
			return settings, &usageError{err: err}
		}
		settings.Agents = append(settings.Agents, path)
	}
	if settings.All {
		settings.Agents = nil
	}
	return settings, nil
}

func (a *app) export(ctx context.Context, o *exportOptions, args []string) error {
	if len(args) != 1 {
		return usagef("export takes one transcript or file")
	}
	settings, err := o.settings()
	if err != nil {
		return err
	}
	var buffer bytes.Buffer
	var to io.Writer = &buffer
	if o.out == "" {
		outlivePipes()
		to = a.out
	}
	secrets := a.countSecrets(to)
	w := export.New(secrets.lines, o.format, settings)
	seen, err := a.exportAll(ctx, o, settings.Agents, args[0], w)
	if err == nil {
		err = w.Close()
	}
	if err == nil {
		err = secrets.lines.end()
	}
	a.sayUnread(seen)
	if o.out == "" {
		err = withoutBrokenPipe(err)
	} else if err == nil {
		err = writeFile(o.out, buffer.Bytes())
	}
	if err != nil {
		return err
	}
	for _, lost := range w.Lost() {
		a.say("not in the %s export: %s", o.format, lost)
	}
	if n := secrets.found; n > 0 {
		fmt.Fprintf(a.err, "warning: %s in what was written: an export keeps the texts as they are; `tapetree check` says where they stand\n", plural(n, "secret"))
	}
	if o.out != "" {
		a.say("wrote %s", o.out)
	}
	return nil
}

// exportAll writes the sessions of a file that are asked for.
func (a *app) exportAll(ctx context.Context, o *exportOptions, agents []runtime.Path, arg string, w export.Writer) ([]unread, error) {
	var seen []unread
	var missed error
	number, written := 0, 0
	for h, err := range a.histories(ctx, o.builtin, arg) {
		if err != nil {
			return seen, err
		}
		if number++; o.part != "" && o.part != strconv.Itoa(number) {
			continue
		}
		seen = append(seen, unreadOf(h))
		if err := hasAgents(h, agents); err != nil {
			missed = err
			continue
		}
		if err := w.History(h); err != nil {
			return seen, fmt.Errorf("export %s: %w", h.Name(), err)
		}
		written++
	}
	switch {
	case written > 0:
		return seen, nil
	case missed != nil:
		return seen, missed
	default:
		return seen, noPart(arg, number)
	}
}

// hasAgents is an error when a history has not one of the agents.
func hasAgents(h *transcripts.History, agents []runtime.Path) error {
	var missed error
	for _, path := range agents {
		if _, missed = findAgent(h.Roots, path); missed == nil {
			return nil
		}
	}
	return missed
}

// noPart says why no session of a file was taken.
func noPart(arg string, number int) error {
	if number == 0 {
		return badInput("%s holds no session", arg)
	}
	return badInput("%s has %s: --part is a number from 1 to %d", arg, plural(number, "session"), number)
}
