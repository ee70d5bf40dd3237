package golden

import (
	"fmt"
	"strings"

	"github.com/tapetree/tapetree/runtime"
)

// runWriter writes one agent's turns. It goes along the messages that were
// sent, so what stands in a history without having been said, called or
// answered there shows as a line of its own.
type runWriter struct {
	*writer
	run   *runtime.Run
	depth int
	seen  int    // messages of the history that are written
	said  string // the last text of the model
}

// turn writes one turn: what was new in its request, the failed tries, the
// answer and its calls.
func (r *runWriter) turn(i int) {
	turn := &r.run.Turns[i]
	if i == 0 {
		r.prompt(turn.Sent)
	}
	r.line(r.depth, fmt.Sprintf("%s turn %d", r.run.Agent, turn.Number))
	r.depth++
	defer func() { r.depth-- }()
	r.added(turn)
	for n, failed := range turn.Failed {
		r.line(r.depth, fmt.Sprintf("try %d failed: %s", n+1, failure(failed)))
	}
	if turn.Answer == nil {
		r.line(r.depth, "no answer")
		return
	}
	r.answer(turn.Answer, len(turn.Calls))
	r.calls(turn, r.after(i))
}

func failure(f runtime.FailedTry) string {
	if f.Status == 0 || f.Kind == "status" {
		return strings.TrimSpace(strings.TrimSuffix(fmt.Sprintf("%s %d", f.Kind, f.Status), " 0"))
	}
	return fmt.Sprintf("%s, status %d", f.Kind, f.Status)
}

// prompt writes what the agent started from: the messages of its first request
// that are not the system text.
func (r *runWriter) prompt(sent runtime.View) {
	messages := sent.Messages()
	if len(messages) == 0 {
		r.text(r.depth, "prompt", r.run.Agent, r.run.Prompt)
	}
	prompted := false
	for i, m := range messages {
		switch {
		case i == 0 && m.Role == runtime.RoleSystem:
		case m.Role == runtime.RoleUser && !prompted && m.Content == r.run.Prompt:
			prompted = true
			r.text(r.depth, "prompt", r.run.Agent, m.Content)
		default:
			r.message(m)
		}
	}
	r.seen = len(messages)
	r.hookLines(r.depth, hookPlace{agent: r.run.Agent})
}

// added writes the messages of a request that no earlier line told of: the
// reminder, and what should not be there.
func (r *runWriter) added(turn *runtime.Turn) {
	messages := turn.Sent.Messages()
	reminded := turn.Reminder == ""
	if turn.Compact != nil {
		r.text(r.depth, "compacted "+count(turn.Compact.Dropped, "message"), r.run.Agent, turn.Compact.Summary)
		r.seen -= shift(turn)
	}
	switch {
	case len(messages) == 0:
	case len(messages) < r.seen:
		r.line(r.depth, fmt.Sprintf("history rewritten to %s", count(len(messages), "message")))
	default:
		for _, m := range messages[r.seen:] {
			if !reminded && m.Role == runtime.RoleUser && m.Content == turn.Reminder {
				reminded = true
				r.text(r.depth, r.reminder(), r.run.Agent, m.Content)
				continue
			}
			r.message(m)
		}
	}
	r.seen = len(messages)
	if !reminded && !r.options.Foreign { // a program's own user messages all stand above
		r.text(r.depth, "reminder", r.run.Agent, turn.Reminder)
	}
}

// reminder is the word for what the user says between two answers.
func (r *runWriter) reminder() string {
	if r.options.Foreign {
		return string(runtime.RoleUser)
	}
	return "reminder"
}

// unsent writes what stands at the end of the history without belonging to a
// turn.
func (r *runWriter) unsent(history runtime.View) {
	messages := history.Messages()
	if len(messages) <= r.seen || r.seen == 0 {
		return
	}
	for _, m := range messages[r.seen:] {
		r.message(m)
	}
}

// message writes a message that stands in the history on its own. Only a
// program that is not ours has a right to one.
func (r *runWriter) message(m runtime.Message) {
	event := "extra message: " + VisibleLine(string(m.Role))
	if r.options.Foreign {
		event = VisibleLine(string(m.Role))
	}
	switch {
	case m.Role == runtime.RoleSystem && !r.options.System:
		r.line(r.depth, event)
		return
	case m.Role == runtime.RoleTool:
		event += " " + r.ids.name(r.run.Agent, m.CallID)
	}
	if m.Content != "" || len(m.Calls) == 0 {
		r.text(r.depth, event, r.run.Agent, m.Content)
	}
	for _, c := range m.Calls {
		r.call(event+" "+r.ids.name(r.run.Agent, c.ID), c.Name, c.Arguments)
	}
}

// answer writes what the model said.
func (r *runWriter) answer(a *runtime.Answer, calls int) {
	r.said = a.Message.Content
	if a.Message.Content != "" {
		r.text(r.depth, "says", r.run.Agent, a.Message.Content)
	}
	if a.Refusal != "" {
		r.text(r.depth, "refuses", r.run.Agent, a.Refusal)
	}
	if a.Message.Content == "" && a.Refusal == "" && calls == 0 {
		r.line(r.depth, "says nothing")
	}
}
