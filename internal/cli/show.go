package cli

import (
	"fmt"
	"io"
	"io/fs"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/tapetree/tapetree/golden"
	"github.com/tapetree/tapetree/internal/files"
	"github.com/tapetree/tapetree/internal/prices"
	"github.com/tapetree/tapetree/runtime"
	"github.com/tapetree/tapetree/transcripts"
)

type showOptions struct {
	builtin bool
	agent   string
	turn    string
	full    bool
	convert bool
}

func (a *app) showCommand() *cobra.Command {
	o := &showOptions{}
	cmd := &cobra.Command{
		Use:   "show NAME|FILE",
		Short: "Show a transcript as a tree of what happened",
		Long: `Prints a transcript in call order: what each agent was sent, said, called and
got back, and what it used. NAME stands for transcripts/NAME.jsonl below --dir;
a path is a path.

Git shows readable differences of transcripts with
  git config diff.tapetree.textconv "tapetree show --textconv"
and *.jsonl diff=tapetree in .gitattributes.`,
		Example: `  tapetree show my-run
  tapetree show my-run --agent root/2.1
  tapetree show my-run --turn root/2.1#3    one request and its answer, in full`,
		ValidArgsFunction: a.completeNames,
		RunE:              a.wrap(func(_ *cobra.Command, args []string) error { return a.show(o, args) }),
	}
	flags := cmd.Flags()
	flags.BoolVar(&o.builtin, "builtin", false, "show a transcript of the suite inside tapetree")
	flags.StringVar(&o.agent, "agent", "", "only this agent and those below it, as a `path` such as root/2.1")
	flags.StringVar(&o.turn, "turn", "", "one request and its answer, as `path#turn` such as root/2.1#3")
	flags.BoolVar(&o.full, "full", false, "show long texts in full")
	flags.BoolVar(&o.convert, "textconv", false, "for git: print a file that is no transcript as it is")
	return cmd
}

func (a *app) show(o *showOptions, args []string) error {
	if len(args) != 1 {
		return usagef("show takes one transcript")
	}
	if o.convert {
		return a.convert(o, args[0])
	}
	text, err := a.shownText(o, args[0])
	if err != nil {
		return err
	}
	_, err = io.WriteString(a.out, text)
	return err
}

// shownText is what show prints.
func (a *app) shownText(o *showOptions, arg string) (string, error) {
	file, err := a.openTranscript(o, arg)
	if err != nil {
		return "", err
	}
	if o.turn != "" {
		return showTurn(file, o.turn)
	}
	return showTree(file, o)
}

// convert prints what git compares: a file that cannot be read as a transcript
// goes out as it is, with the reason on stderr, since git stops at a failure.
func (a *app) convert(o *showOptions, path string) error {
	text, err := a.shownText(o, path)
	if err != nil {
		raw, readErr := files.ReadPath(path, files.TranscriptLimit)
		if readErr != nil {
			return fmt.Errorf("read %s: %w", path, readErr)
		}
		a.say("tapetree: shown as it is: %s", oneLine(err.Error()))
		text = string(raw)
	}
	_, err = io.WriteString(a.out, text)
	return err
}

func (a *app) openTranscript(o *showOptions, arg string) (*transcripts.File, error) {
	if !o.builtin {
		path, data, err := a.readTranscript(arg)
		if err != nil {
			return nil, err
		}
		return transcripts.Parse(path, data)
	}
	data, err := fs.ReadFile(transcripts.Suite, arg+".jsonl")
	if err != nil {
		found, _ := a.openSource(true)
		return nil, badInput("there is no transcript %q in the suite inside tapetree%s", arg, didYouMean(arg, found.names, ""))
	}
	return transcripts.Parse("builtin:transcripts/"+arg+".jsonl", data)
}

// showTree renders the session, or the part of it that --agent names.
func showTree(file *transcripts.File, o *showOptions) (string, error) {
	roots, err := file.Sessions()
	if err != nil {
		return "", err
	}
	if o.agent != "" {
		path, err := agentPath(o.agent)
		if err != nil {
			return "", &usageError{err: err}
		}
		run, err := findAgent(roots, path)
		if err != nil {
			return "", err
		}
		roots = []*runtime.Run{run}
	}
	text := golden.RenderAll(roots, golden.Options{Title: title(file), Full: o.full, Notes: usageNotes, Foreign: file.Foreign()})
	if o.agent == "" {
		text += sides(file)
	}
	for _, run := range roots {
		text += "# " + strings.Join(usageTable(run, prices.List()), "\n# ") + "\n"
	}
	return text, nil
}

// agentPath reads the path of an agent, of a program that is not ours too.
func agentPath(text string) (runtime.Path, error) {
	if transcripts.IsAgent(runtime.Path(text)) {
		return runtime.Path(text), nil
	}
	return runtime.ParsePath(text)
}

// sides lists the side conversations, which are no agents of the session.
func sides(file *transcripts.File) string {
	var out strings.Builder
	counts := map[runtime.Path]int{}
	var order []runtime.Path
	for _, e := range file.Exchanges {
		if strings.Contains(string(e.Agent), "~") {
			if counts[e.Agent]++; counts[e.Agent] == 1 {
				order = append(order, e.Agent)
			}
		}
	}
	for _, path := range order {
		fmt.Fprintf(&out, "# side conversation %s: %s; look at it with --turn %s#1\n", path, plural(counts[path], "exchange"), path)
	}
	return out.String()
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
		return nil, badInput("no agent %s in this transcript; it has %s", path, firstOf(strings.Join(known, ", "), "none"))
	}
	return found, nil
}

// models are those of the header, or, where a recording that broke off does not
// have them yet, those that were asked.
func models(file *transcripts.File) []string {
	list := file.Header.Models
	for _, e := range file.Exchanges {
		if len(file.Header.Models) == 0 && !slices.Contains(list, e.Model) {
			list = append(list, e.Model)
		}
	}
	return list
}

// title says what a transcript is, as comment lines.
func title(file *transcripts.File) string {
	h := file.Header
	by := "profile " + firstOf(h.Profile, "none")
	if file.Foreign() {
		by = firstOf(h.Client, "a program that does not name itself")
	}
	nowhere := "no upstream"
	if file.Foreign() && file.Partial() { // its header is completed at the end
		nowhere = "upstream not known"
	}
	lines := []string{
		fmt.Sprintf("# transcript %s: %s, model %s, %s, %s", h.Name, by, strings.Join(models(file), ", "), plural(len(file.Exchanges), "exchange"), firstOf(h.Upstream, nowhere)),
		"# recorded " + firstOf(h.Recorded, "at no known time") + " by " + firstOf(h.By, "an unknown program"),
	}
	if file.Partial() {
		lines = append(lines, "# partial: the recording broke off")
	}
	return golden.Visible(strings.Join(lines, "\n"))
}

// usageNotes says what an agent used.
func usageNotes(run *runtime.Run) []string {
	note := "used " + tokens(run.Usage)
	if len(run.Children()) > 0 {
		note += "; with children " + tokens(run.Tree)
	}
	if missing, turns := unreported(run); missing > 0 {
		note += fmt.Sprintf("; not reported for %d of %s", missing, plural(turns, "turn"))
	}
	return []string{note}
}

// unreported counts the answers of an agent, and those of them that do not say
// what they used: none uses nothing.
func unreported(run *runtime.Run) (missing, turns int) {
	for _, t := range run.Turns {
		if t.Answer == nil {
			continue
		}
		turns++
		if t.Answer.Usage == (runtime.Usage{}) {
			missing++
		}
	}
	return missing, turns
}

func tokens(u runtime.Usage) string {
	return fmt.Sprintf("%d input and %d output tokens", u.Input, u.Output)
}

// showTurn prints one request with its messages in full, and what came back,
// for every try of the turn.
func showTurn(file *transcripts.File, place string) (string, error) {
	cut := strings.LastIndexByte(place, '#') // a path may hold one too
	agent, digits := place[:max(cut, 0)], place[cut+1:]
	number, err := strconv.Atoi(digits)
	if cut < 0 || err != nil || number < 1 {
		return "", usagef("--turn is an agent path and a turn, as in root/2.1#3, not %q", place)
	}
	var out strings.Builder
	sent := file.ChatForm()
	for _, e := range file.Exchanges {
		if string(e.Agent) == agent && e.Turn == number {
			showExchange(&out, e, sent(e).Messages())
		}
	}
	if out.Len() == 0 {
		return "", badInput("no exchange of %s turn %d in this transcript; `tapetree show %s` lists the turns", agent, number, file.Path)
	}
	return out.String(), nil
}

// showExchange writes a request in chat form and its answer.
func showExchange(out *strings.Builder, e *transcripts.Exchange, sent []runtime.Message) {
	fmt.Fprintf(out, "# %s turn %d try %d: model %s, %s, status %d\n", e.Agent, e.Turn, e.Try, e.Model, plural(len(sent), "message"), e.Status)
	for _, m := range sent {
		showMessage(out, m)
	}
	answer, err := runtime.Decode(e.Reply(), runtime.Dialect{})
	if err != nil {
		showText(out, "no answer", err.Error())
		return
	}
	out.WriteString("answered by\n")
	showMessage(out, answer.Message)
	used := tokens(answer.Usage)
	if answer.Usage == (runtime.Usage{}) {
		used = "tokens not reported"
	}
	fmt.Fprintf(out, "finish %s, %s\n", firstOf(answer.Finish, "not said"), used)
}

func showMessage(out *strings.Builder, m runtime.Message) {
	event := string(m.Role)
	if m.CallID != "" {
		event += " " + golden.Visible(m.CallID)
	}
	showText(out, event, m.Content)
	for _, c := range m.Calls {
		showText(out, fmt.Sprintf("  calls %s %s", golden.Visible(c.ID), golden.Visible(c.Name)), c.Arguments)
	}
}

func showText(out *strings.Builder, event, text string) {
	out.WriteString(event + "\n")
	if text == "" {
		return
	}
	for _, line := range strings.Split(golden.Visible(text), "\n") {
		out.WriteString(strings.TrimRight("  | "+line, " ") + "\n")
	}
}
