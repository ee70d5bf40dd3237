package cli

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/tapetree/tapetree/golden"
	"github.com/tapetree/tapetree/internal/export"
	"github.com/tapetree/tapetree/internal/prices"
	"github.com/tapetree/tapetree/internal/requests"
	"github.com/tapetree/tapetree/runtime"
	"github.com/tapetree/tapetree/transcripts"
)

// showTree writes sessions as trees, one after another.
type showTree struct {
	out     io.Writer
	options *showOptions
	table   *prices.Table
	shown   int
}

func (s *showTree) history(h *transcripts.History, roots []*runtime.Run) error {
	if s.options.format == "markdown" {
		return s.markdown(h, roots)
	}
	if s.shown++; s.shown > 1 {
		if _, err := io.WriteString(s.out, "\n"); err != nil {
			return err
		}
	}
	return s.tree(s.out, h, roots)
}

func (s *showTree) end() error { return nil }

// tree writes one session, or the part of it that --agent names.
func (s *showTree) tree(out io.Writer, h *transcripts.History, roots []*runtime.Run) error {
	options := golden.Options{Title: title(h), Full: s.options.full, System: true, Notes: usageNotes, Foreign: h.Foreign()}
	if err := golden.WriteAll(out, roots, options); err != nil {
		return err
	}
	text := ""
	if s.options.agent == "" {
		text += sides(h)
	}
	for _, run := range roots {
		if run.Tree != (runtime.Usage{}) || run.Usage != (runtime.Usage{}) {
			text += "# " + strings.Join(usageTable(run, s.table), "\n# ") + "\n"
		}
	}
	_, err := io.WriteString(out, text)
	return err
}

// markdown writes the tree as a block of a Markdown page, in which nothing of it
// is markup.
func (s *showTree) markdown(h *transcripts.History, roots []*runtime.Run) error {
	var tree strings.Builder
	if err := s.tree(&tree, h, roots); err != nil {
		return err
	}
	_, err := fmt.Fprintf(s.out, "## %s\n\n%s\n", export.Escape(h.Name()), export.Fenced("text", tree.String()))
	return err
}

// sides lists the side conversations, which are no agents of the session.
func sides(h *transcripts.History) string {
	var out strings.Builder
	paths, counts := requests.Sides(h)
	for _, path := range paths {
		fmt.Fprintf(&out, "# side conversation %s: %s; look at it with --turn %s#1\n", path, plural(counts[path], "exchange"), path)
	}
	return out.String()
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

// title says what a history is, as comment lines.
func title(h *transcripts.History) string {
	if h.File == nil {
		return messagesTitle(h)
	}
	file := h.File
	header := file.Header
	by := "profile " + firstOf(header.Profile, "none")
	if file.Foreign() {
		by = firstOf(header.Client, "a program that does not name itself")
	}
	nowhere := "no upstream"
	if file.Foreign() && file.Partial() { // its header is completed at the end
		nowhere = "upstream not known"
	}
	lines := []string{
		fmt.Sprintf("# transcript %s: %s, model %s, %s, %s", header.Name, by, strings.Join(models(file), ", "), plural(len(file.Exchanges), "exchange"), firstOf(header.Upstream, nowhere)),
		"# recorded " + firstOf(header.Recorded, "at no known time") + " by " + firstOf(header.By, "an unknown program"),
	}
	if file.Partial() {
		lines = append(lines, "# partial: the recording broke off")
	}
	for i, line := range lines {
		lines[i] = golden.VisibleLine(line)
	}
	return strings.Join(lines, "\n")
}

// messagesTitle says what a history is that has messages and no requests.
func messagesTitle(h *transcripts.History) string {
	agents, turns := 0, 0
	var models []string
	h.Walk(func(r *runtime.Run) {
		agents++
		turns += len(r.Turns)
		if r.Model != "" && !slices.Contains(models, r.Model) {
			models = append(models, r.Model)
		}
	})
	text := fmt.Sprintf("# %s %s: model %s, %s of %s", h.Format, h.Name(), firstOf(shortList(models, 4), "not known"), plural(turns, "turn"), plural(agents, "agent"))
	if !h.Began.IsZero() {
		text += ", began " + h.Began.UTC().Format("2006-01-02T15:04:05Z")
	}
	return golden.VisibleLine(text)
}

// usageNotes says what an agent used.
func usageNotes(run *runtime.Run) []string {
	if callOnly(run) {
		return []string{"known only by its call: what it did is not in this file"}
	}
	if missing, turns := unreported(run); missing == turns && run.Tree == (runtime.Usage{}) {
		return []string{"tokens not reported"}
	}
	note := "used " + tokens(run.Usage)
	if len(run.Children()) > 0 {
		note += "; with children " + tokens(run.Tree)
	}
	if missing, turns := unreported(run); missing > 0 {
		note += fmt.Sprintf("; not reported for %d of %s", missing, plural(turns, "turn"))
	}
	return []string{note}
}

// callOnly reports that nothing but its call is known of an agent.
func callOnly(run *runtime.Run) bool { return len(run.Turns) == 0 && run.History.Len() == 0 }

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
