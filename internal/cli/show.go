package cli

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/tapetree/tapetree/internal/files"
	"github.com/tapetree/tapetree/runtime"
	"github.com/tapetree/tapetree/transcripts"
)

// showFormats lists what --format of show takes.
var showFormats = []string{"text", "json", "markdown"}

type showOptions struct {
	builtin bool
	part    string
	agent   string
	turn    string
	stats   bool
	full    bool
	format  string
	noPager bool
	convert bool
	prices  string
}

func (a *app) showCommand() *cobra.Command {
	o := &showOptions{}
	cmd := &cobra.Command{
		Use:   "show NAME|FILE",
		Short: "Show what happened in a session, as a tree",
		Long: `Prints a session in call order: what each agent was sent, said, called and got
back, and what it used. NAME stands for transcripts/NAME.jsonl below --dir; a path
is a path, also of another program's history (docs/import.md lists the formats).
docs/show.md explains what is shown.

On a terminal the output goes through TAPETREE_PAGER or PAGER, else less.

Git shows readable differences of transcripts with
  git config diff.tapetree.textconv "tapetree show --textconv"
and *.jsonl diff=tapetree in .gitattributes.`,
		Example: `  tapetree show my-run
  tapetree show my-run --agent root/2.1
  tapetree show my-run --turn root/2.1#3    one request, what it changed, and its answer
  tapetree show my-run --stats              turns, tokens, time, cost and tools of each agent`,
		ValidArgsFunction: a.completeHistories,
		RunE:              a.wrap(func(cmd *cobra.Command, args []string) error { return a.show(cmd.Context(), o, args) }),
	}
	flags := cmd.Flags()
	flags.BoolVar(&o.builtin, "builtin", false, "show a transcript of the suite inside tapetree")
	flags.StringVar(&o.part, "part", "", "only one session of a file that has several, by its `number`")
	flags.StringVar(&o.agent, "agent", "", "only this agent and those below it, as a `path` such as root/2.1")
	flags.StringVar(&o.turn, "turn", "", "one request and its answer, as `path#turn` such as root/2.1#3")
	flags.BoolVar(&o.stats, "stats", false, "what each agent did and used, and what delegating bought")
	flags.BoolVar(&o.full, "full", false, "show long texts in full")
	flags.StringVar(&o.format, "format", "text", "text, json or markdown")
	flags.StringVar(&o.prices, "prices", "", "a `file` of prices, in place of the list inside tapetree")
	flags.BoolVar(&o.noPager, "no-pager", false, "print to the terminal at once")
	flags.BoolVar(&o.convert, "textconv", false, "for git: print a file that is no history as it is")
	completeWords(cmd, "format", showFormats)
	return cmd
}

// completeHistories offers transcripts by name, and files.
func (a *app) completeHistories(cmd *cobra.Command, args []string, start string) ([]string, cobra.ShellCompDirective) {
	names, _ := a.completeNames(cmd, args, start)
	return names, cobra.ShellCompDirectiveDefault
}

func (o *showOptions) check() error {
	switch {
	case !slices.Contains(showFormats, o.format):
		return usagef("--format is %s, not %q%s", strings.Join(showFormats, ", "), o.format, didYouMean(o.format, showFormats, ""))
	case o.turn != "" && o.stats:
		return usagef("--turn and --stats do not go together")
	case o.turn != "" && o.agent != "":
		return usagef("--turn names the agent itself: leave out --agent")
	case o.turn != "" && o.format != "text":
		return usagef("--turn is text; --format goes with the tree and with --stats")
	}
	if _, _, err := turnPlace(o.turn); o.turn != "" && err != nil {
		return err
	}
	if o.agent != "" {
		if _, err := agentPath(o.agent); err != nil {
			return &usageError{err: err}
		}
	}
	if n, err := strconv.Atoi(o.part); o.part != "" && (err != nil || n < 1) {
		return usagef("--part is a number from 1, not %q", o.part)
	}
	return nil
}

func (a *app) show(ctx context.Context, o *showOptions, args []string) error {
	if len(args) != 1 {
		return usagef("show takes one transcript or file")
	}
	if err := o.check(); err != nil {
		return err
	}
	if o.convert {
		return a.convert(ctx, o, args[0])
	}
	out, end := a.page(o.noPager)
	color := a.colored(a.out) && o.format == "text"
	seen, err := a.showInto(ctx, o, args[0], out, color)
	err = withoutBrokenPipe(err)
	if failed := end(); err == nil {
		err = failed
	}
	a.sayUnread(seen)
	return err
}

// convert prints what git compares: a file that cannot be read as a history goes
// out as it is, with the reason on stderr, since git stops at a failure.
func (a *app) convert(ctx context.Context, o *showOptions, path string) error {
	var text strings.Builder
	if _, err := a.showInto(ctx, o, path, &text, false); err != nil {
		raw, readErr := files.ReadPath(path, files.TranscriptLimit)
		if readErr != nil {
			return fmt.Errorf("read %s: %w", path, readErr)
		}
		a.say("tapetree: shown as it is: %s", oneLine(err.Error()))
		_, err = a.out.Write(raw)
		return err
	}
	_, err := io.WriteString(a.out, text.String())
	return err
}

// unread is what there is to say of a history besides what it tells.
type unread struct {
	name     string
	warnings []string
	lost     []string
}

// shower writes histories in one format.
type shower interface {
	history(h *transcripts.History, roots []*runtime.Run) error
	end() error
}

// showInto writes the sessions of a file and returns what could not be read of
// them.
func (a *app) showInto(ctx context.Context, o *showOptions, arg string, out io.Writer, color bool) ([]unread, error) {
	table, err := a.table(o.prices)
	if err != nil {
		return nil, err
	}
	if color {
		out = &colorWriter{to: out}
	}
	safe := a.masked(out)
	out = safe
	var to shower
	switch {
	case o.format == "json":
		to = newShowJSON(out, o, table)
	case o.turn != "":
		to = &showTurns{out: out, place: o.turn, full: o.full}
	case o.stats:
		to = &showStats{out: out, markdown: o.format == "markdown", table: table}
	default:
		to = &showTree{out: out, options: o, table: table}
	}
	var seen []unread
	var missed error
	number, shown := 0, 0
	for h, err := range a.histories(ctx, o.builtin, arg) {
		if err != nil {
			return seen, err
		}
		if number++; o.part != "" && o.part != strconv.Itoa(number) {
			continue
		}
		seen = append(seen, unreadOf(h))
		roots, err := rootsOf(h, o)
		if err != nil {
			if missed == nil {
				missed = err
			}
			continue
		}
		if err := to.history(h, roots); err != nil {
			return seen, err
		}
		shown++
	}
	switch {
	case shown > 0:
		err := to.end()
		if err == nil {
			err = safe.end()
		}
		return seen, err
	case missed != nil:
		return seen, missed
	default:
		return seen, noPart(arg, number)
	}
}

// rootsOf are the trees that are asked for; an error when there is no such agent
// or turn.
func rootsOf(h *transcripts.History, o *showOptions) ([]*runtime.Run, error) {
	switch {
	case o.turn != "":
		return h.Roots, hasTurn(h, o.turn)
	case o.agent == "":
		return h.Roots, nil
	}
	run, err := findAgent(h.Roots, runtime.Path(o.agent))
	if err != nil {
		return nil, err
	}
	return []*runtime.Run{run}, nil
}

// agentPath reads the path of an agent, of a program that is not ours too.
func agentPath(text string) (runtime.Path, error) {
	if transcripts.IsAgent(runtime.Path(text)) {
		return runtime.Path(text), nil
	}
	return runtime.ParsePath(text)
}

// findAgent returns the run of one agent of a session.
func findAgent(roots []*runtime.Run, path runtime.Path) (*runtime.Run, error) {
	var found *runtime.Run
	var known []string
	for _, root := range roots {
		root.Walk(func(r *runtime.Run) {
			known = append(known, string(r.Agent))
			if r.Agent == path {
				found = r
			}
		})
	}
	if found == nil {
		return nil, badInput("no agent %s in this session; it has %s", path, firstOf(shortList(known, 12), "none"))
	}
	return found, nil
}

// shortList joins the first words of a list, and says how many are left out.
func shortList(words []string, most int) string {
	if len(words) <= most {
		return strings.Join(words, ", ")
	}
	return fmt.Sprintf("%s and %d more", strings.Join(words[:most], ", "), len(words)-most)
}

func unreadOf(h *transcripts.History) unread {
	var u unread
	for _, w := range h.Warnings {
		u.warnings = append(u.warnings, warningLine(h, w))
	}
	u.name, u.lost = h.Name(), h.Lost
	return u
}

func warningLine(h *transcripts.History, w transcripts.Warning) string {
	if w.Line == 0 {
		return fmt.Sprintf("%s: %s", h.Path, w.Msg)
	}
	return fmt.Sprintf("%s:%d: %s", h.Path, w.Line, w.Msg)
}

// sayUnread names what could not be read, and, unless --quiet, what histories
// have no place for: each kind once, with the first session that has it.
func (a *app) sayUnread(list []unread) {
	type kind struct{ name, what string }
	var kinds []kind
	sessions := map[string]int{}
	for _, u := range list {
		for _, line := range u.warnings {
			fmt.Fprintf(a.err, "warning: %s\n", oneLine(a.secrets().Mask(line)))
		}
		for _, what := range u.lost {
			if sessions[what]++; sessions[what] == 1 {
				kinds = append(kinds, kind{u.name, what})
			}
		}
	}
	for _, k := range kinds {
		more := ""
		if n := sessions[k.what]; n > 1 {
			more = fmt.Sprintf(", and in %s more", plural(n-1, "session"))
		}
		a.say("%s", oneLine(a.secrets().Mask(k.name+": not shown: "+k.what+more)))
	}
}
