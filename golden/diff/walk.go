package diff

import (
	"bytes"
	"fmt"
	"strings"

	"github.com/tapetree/tapetree/runtime"
)

// said is one message of an agent as it came to be.
type said struct {
	turn    int
	role    string
	text    string
	calls   []runtime.Call
	answers string               // the id of the call that a result answers
	records []runtime.CallRecord // of an answer: what became of its calls
}

// The roles that are none of a message.
const (
	roleNote = "note" // what happened to the list itself
)

// teller goes along the lists that an agent's requests sent: what a list has
// more than the one before is new. An answer that stands in the next list, as it
// does, is told once.
type teller struct {
	visit   func(said)
	before  runtime.View
	answer  *runtime.Message // of the last turn, not yet found in a list
	results int              // tool results told since the last answer
}

// tell visits the messages of an agent in order, system texts included.
func tell(run *runtime.Run, visit func(said)) {
	t := &teller{visit: visit}
	if len(run.Turns) == 0 && run.History.Len() == 0 && run.Prompt != "" {
		visit(said{role: string(runtime.RoleUser), text: run.Prompt})
	}
	for i := range run.Turns {
		turn := &run.Turns[i]
		if c := turn.Compact; c != nil {
			visit(said{turn: turn.Number, role: roleNote, text: fmt.Sprintf("compacted: %d messages gave way to a summary", c.Dropped)})
		}
		t.sent(turn.Sent, turn.Number)
		t.turn(turn)
	}
	last := 0
	if n := len(run.Turns); n > 0 {
		last = run.Turns[n-1].Number
	}
	t.sent(run.History, last)
	if n := len(run.Turns); n > 0 && t.results == 0 {
		t.recorded(&run.Turns[n-1])
	}
}

func (t *teller) turn(turn *runtime.Turn) {
	t.answer, t.results = nil, 0
	if turn.Answer == nil {
		if len(turn.Calls) > 0 {
			t.visit(said{turn: turn.Number, role: roleNote, text: "no answer", records: turn.Calls})
		}
		return
	}
	m := &turn.Answer.Message
	text := m.Content
	if turn.Answer.Refusal != "" {
		text = strings.TrimPrefix(text+"\n\n", "\n\n") + turn.Answer.Refusal
	}
	t.visit(said{turn: turn.Number, role: string(runtime.RoleAssistant), text: text, calls: m.Calls, records: turn.Calls})
	t.answer = m
}

// recorded tells the results of the last turn that only the tool lines have.
func (t *teller) recorded(turn *runtime.Turn) {
	for _, c := range turn.Calls {
		if c.Result != "" && c.ID != "" {
			t.visit(said{turn: turn.Number, role: string(runtime.RoleTool), text: c.Result, answers: c.ID})
		}
	}
}

// sent visits what a list has that was not told yet.
func (t *teller) sent(view runtime.View, turn int) {
	if view.Len() == 0 {
		return
	}
	messages, from := view.Messages(), t.before.Len()
	if !view.Extends(t.before) {
		old := t.before.Messages()
		same := 0
		for same < len(old) && same < len(messages) && alike(&old[same], &messages[same]) {
			same++
		}
		if same < len(old) {
			t.visit(said{turn: turn, role: roleNote, text: fmt.Sprintf("the list was rewritten from message %d on", same+1)})
		}
		from = same
	}
	for i := from; i < len(messages); i++ {
		m := &messages[i]
		if m.Role == runtime.RoleAssistant && t.answer != nil && sameAnswer(t.answer, m) {
			t.answer = nil
			continue
		}
		if m.Role == runtime.RoleTool {
			t.results++
		}
		t.visit(said{turn: turn, role: string(m.Role), text: m.Content, calls: m.Calls, answers: m.CallID})
	}
	t.before = view
}

func alike(a, b *runtime.Message) bool {
	return a.Role == b.Role && a.CallID == b.CallID && bytes.Equal(a.Raw, b.Raw) && a.Content == b.Content
}

// sameAnswer reports that a message of a list is the answer that was given; ids
// that had to be mended do not count.
func sameAnswer(answer, m *runtime.Message) bool {
	if answer.Content != m.Content || len(answer.Calls) != len(m.Calls) {
		return false
	}
	for i := range m.Calls {
		if m.Calls[i].Name != answer.Calls[i].Name || m.Calls[i].Arguments != answer.Calls[i].Arguments {
			return false
		}
	}
	return true
}
