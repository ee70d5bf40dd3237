package export

import (
	"fmt"
	"strings"

	"github.com/tapetree/tapetree/golden"
	"github.com/tapetree/tapetree/runtime"
	"github.com/tapetree/tapetree/transcripts"
)

// markdownWriter writes a document to read: a heading for each session, agent
// and turn, and every text of a model, a tool or a file in a block of its own,
// in which nothing is markup. Characters that cannot be seen are shown.
type markdownWriter struct {
	base
	sessions int
}

func (w *markdownWriter) History(h *transcripts.History) error {
	w.sides(h)
	if w.sessions++; w.sessions > 1 {
		w.line("")
	}
	w.line("# %s", Escape(h.Name()))
	var facts []string
	facts = append(facts, "Format: "+Escape(h.Format))
	if !h.Began.IsZero() {
		facts = append(facts, "began "+h.Began.UTC().Format("2006-01-02 15:04:05 UTC"))
	}
	w.line("\n%s.", strings.Join(facts, ", "))
	for _, root := range w.roots(h) {
		w.agent(root)
	}
	return w.failed()
}

func (w *markdownWriter) Close() error { return w.out.Flush() }

func (w *markdownWriter) line(format string, args ...any) {
	_, _ = fmt.Fprintf(w.out, format+"\n", args...)
}

// agent writes one agent, and then those below it: a heading inside a call would
// tear the parent's story apart.
func (w *markdownWriter) agent(run *runtime.Run) {
	title := "Agent " + Escape(string(run.Agent))
	if run.Label != "" && run.Label != string(run.Agent) && run.Label != run.Prompt {
		title += ": " + Escape(run.Label)
	}
	w.line("\n## %s", title)
	if run.Model != "" {
		w.line("\nModel %s.", Escape(run.Model))
	}
	if !known(run) {
		w.line("\nKnown only by its call: what it did is not in the file.")
		w.text("Prompt", run.Prompt)
		return
	}
	seen := 0
	for i := range run.Turns {
		seen = w.turn(run, &run.Turns[i], seen)
	}
	if rest := run.History.Messages(); len(rest) > seen {
		w.line("\n### After the last turn")
		for _, m := range rest[seen:] {
			w.message(m)
		}
	}
	if run.Stop != "" {
		w.line("\nStopped: %s.", Escape(string(run.Stop)))
	}
	for _, child := range run.Children() {
		w.agent(child)
	}
}

// turn writes what is new in one request, and the answer; it returns how many
// messages of the list are told then.
func (w *markdownWriter) turn(run *runtime.Run, t *runtime.Turn, seen int) int {
	w.line("\n### Turn %d of %s", t.Number, Escape(string(run.Agent)))
	sent := t.Sent.Messages()
	switch {
	case t.Compact != nil:
		w.line("\nA summary stands for %s.", plural(t.Compact.Dropped, "earlier message"))
		w.text("Summary", t.Compact.Summary)
	case len(sent) < seen:
		w.line("\nThe history was rewritten to %s:", plural(len(sent), "message"))
		seen = 0
	}
	for _, m := range sent[min(seen, len(sent)):] {
		w.message(m)
	}
	for _, f := range t.Failed {
		w.line("\nA try gave no answer: %s, status %d.", Escape(f.Kind), f.Status)
	}
	if t.Answer == nil {
		w.line("\nNo answer.")
		return len(sent)
	}
	w.text("Says", t.Answer.Message.Content)
	w.text("Refuses", t.Answer.Refusal)
	for _, c := range t.Calls {
		if c.ID == "" && c.Arguments == "" && c.Child != nil {
			w.line("\nAgent %s was started here.", Escape(string(c.Child.Agent)))
			continue
		}
		note := ""
		if c.Child != nil {
			note = ", which starts agent " + Escape(string(c.Child.Agent))
		}
		w.line("\nCalls %s (%s)%s:", Escape(c.Name), Escape(c.ID), note)
		w.block(c.Arguments)
	}
	return len(sent) + 1
}

func (w *markdownWriter) message(m runtime.Message) {
	word := map[runtime.Role]string{
		runtime.RoleSystem: "System", runtime.RoleUser: "User", runtime.RoleAssistant: "Assistant", runtime.RoleTool: "Result",
	}[m.Role]
	if word == "" {
		word = "Role " + Escape(string(m.Role))
	}
	if m.CallID != "" {
		word += " of " + Escape(m.CallID)
	}
	if m.Content == "" && len(m.Calls) == 0 {
		w.line("\n%s, without a text.", word)
		w.lose(1, "messages without a text")
		return
	}
	w.text(word, m.Content)
	for _, c := range m.Calls {
		w.line("\n%s calls %s (%s):", word, Escape(c.Name), Escape(c.ID))
		w.block(c.Arguments)
	}
}

func (w *markdownWriter) text(word, text string) {
	if text != "" {
		w.line("\n%s:", word)
		w.block(text)
	}
}

// block writes a text between fences that it cannot end.
func (w *markdownWriter) block(text string) { w.line("\n%s", Fenced("text", golden.Visible(text))) }

// Fenced puts a text into a code block whose fences are longer than any in it.
func Fenced(info, text string) string {
	longest, run := 2, 0
	for i := range len(text) {
		if text[i] != '`' {
			run = 0
			continue
		}
		run++
		longest = max(longest, run)
	}
	fence := strings.Repeat("`", longest+1)
	return fence + info + "\n" + strings.TrimSuffix(text, "\n") + "\n" + fence
}

// Escape writes a text as one line of Markdown in which nothing is markup.
func Escape(text string) string {
	var out strings.Builder
	for _, r := range strings.ReplaceAll(golden.Visible(text), "\n", " ↵ ") {
		if r < 0x80 && strings.ContainsRune("\\`*_{}[]()<>#+!|~&$@:", r) {
			out.WriteByte('\\')
		}
		out.WriteRune(r)
	}
	return out.String()
}

func plural(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}
