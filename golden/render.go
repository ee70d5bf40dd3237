package golden

import (
	"bufio"
	"strings"

	"github.com/tapetree/tapetree/runtime"
)

// emptyText stands for a text without a character.
const emptyText = "‹empty›"

// writer writes one session tree.
type writer struct {
	options Options
	hooks   map[hookPlace][]string
	ids     *names
	out     *bufio.Writer // it remembers its first error
}

// hookPlace is where in the history a logged hook event stands.
type hookPlace struct {
	agent      runtime.Path
	turn, call int
	after      bool // at the end of the run, or before the result of the call
}

func placeOfHook(h HookLine) hookPlace {
	if h.Call == 0 {
		return hookPlace{agent: h.Agent, after: strings.HasPrefix(h.Text, "Stop")}
	}
	return hookPlace{h.Agent, h.Turn, h.Call, strings.HasPrefix(h.Text, "PostToolUse")}
}

// line writes one line; depth is how far it is indented.
func (w *writer) line(depth int, text string) {
	if text != "" {
		w.out.WriteString(strings.Repeat("  ", depth))
	}
	w.out.WriteString(text)
	w.out.WriteByte('\n')
}

func (w *writer) lines(depth int, texts []string) {
	for _, text := range texts {
		w.line(depth, text)
	}
}

// clean makes a text of agent's history the same in every run: placeholders,
// ids, volatile rules.
func (w *writer) clean(agent runtime.Path, text string) string {
	if w.options.Fold != nil {
		text = w.options.Fold(text)
	}
	text = w.ids.replace(agent, text)
	if w.options.Normalize != nil {
		text = w.options.Normalize(text)
	}
	return text
}

// text writes an event that has a text: in the event's own line where it fits,
// else in lines below it.
func (w *writer) text(depth int, event string, agent runtime.Path, text string) {
	text = w.clean(agent, text)
	p := newProse(text, w.options.Full)
	switch {
	case text == "":
		w.line(depth, event+" | "+emptyText)
		return
	case p.measure == "" && len(p.head) == 1:
		w.line(depth, event+" | "+p.head[0])
		return
	case p.measure != "":
		event += ", " + p.measure
	}
	w.line(depth, event)
	w.block(depth+1, "", p)
}

// block writes the lines of a text, name in front of each.
func (w *writer) block(depth int, name string, p prose) {
	for _, line := range p.head {
		w.line(depth, strings.TrimRight(name+"| "+line, " "))
	}
	if p.left > 0 {
		w.line(depth, name+"⋮ "+count(p.left, "line"))
	}
	for _, line := range p.tail {
		w.line(depth, strings.TrimRight(name+"| "+line, " "))
	}
}

// hookLines writes the hook events of one place.
func (w *writer) hookLines(depth int, at hookPlace) {
	for _, text := range w.hooks[at] {
		w.text(depth, "hook", at.agent, text)
	}
}

// agent writes one agent: what it was sent, turn by turn, and how it ended.
func (w *writer) agent(run *runtime.Run, depth int) {
	head := string(run.Agent)
	if run.Label != "" && run.Label != run.Prompt && run.Label != string(run.Agent) {
		head += " " + quoted(w.clean(run.Agent, run.Label))
	}
	w.line(depth, head)
	r := &runWriter{writer: w, run: run, depth: depth + 1}
	if len(run.Turns) == 0 {
		r.prompt(runtime.View{})
	}
	for i := range run.Turns {
		r.turn(i)
	}
	r.unsent(run.History)
	w.hookLines(r.depth, hookPlace{agent: run.Agent, after: true})
	if final := run.Final; final != "" && final != r.said {
		w.text(r.depth, "final text", run.Agent, final)
	}
	if run.Stop != "" { // of an agent known only by its call, it is not known
		w.line(r.depth, "stop "+VisibleLine(string(run.Stop)))
	}
	if w.options.Notes != nil {
		for _, note := range w.options.Notes(run) {
			w.line(r.depth, note)
		}
	}
}
