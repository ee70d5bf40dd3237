package view

import (
	"fmt"
	"hash/maphash"
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/tapetree/tapetree/runtime"
	"github.com/tapetree/tapetree/transcripts"
)

// bytesPerToken is how many bytes of a request are taken for a token where
// nobody counted: about four characters of English, by the rule of thumb of the
// providers.
const bytesPerToken = 4

// line is a row as it stands in memory: its texts whole.
type line struct {
	Row
	text, args string
	child      *runtime.Run
	answered   bool
}

// told is an agent's rows, and which of them begins each turn.
type told struct {
	lines   []line
	answers []int // of each turn its row
	sizes   []int // of each turn the tokens of its request
	guessed bool
}

// teller writes the rows of one agent. It goes along the lists that were sent:
// what a list has more than the one before is new, but for the answer and the
// results that stand there already.
type teller struct {
	told
	spots  map[transcripts.TurnKey]transcripts.Spot
	whole  bool // what came after the last answer is known
	before runtime.View
	bytes  int // of the messages of before
	seed   maphash.Seed
	seen   map[uint64]bool
	open   map[string][]int // rows of calls without a result, by id
}

func tell(h *transcripts.History, run *runtime.Run) told {
	t := &teller{spots: h.Spots, whole: h.Answered, seed: maphash.MakeSeed(), seen: map[uint64]bool{}, open: map[string][]int{}}
	if len(run.Turns) == 0 && run.History.Len() == 0 && run.Prompt != "" {
		t.add(line{Row: Row{Kind: kindUser}, text: run.Prompt})
	}
	for i := range run.Turns {
		t.turn(run, &run.Turns[i])
	}
	last := len(run.Turns)
	if run.History.Len() > 0 {
		t.sent(run.History, last)
	}
	t.unanswered(last)
	return t.told
}

func (t *teller) add(l line) int {
	t.lines = append(t.lines, l)
	return len(t.lines) - 1
}

// turn writes what was new in a request, and its answer.
func (t *teller) turn(run *runtime.Run, turn *runtime.Turn) {
	if c := turn.Compact; c != nil {
		t.add(line{Row: Row{Kind: kindNote, Turn: turn.Number, Name: fmt.Sprintf("compacted: %d messages dropped", c.Dropped)}, text: c.Summary})
	}
	t.sent(turn.Sent, turn.Number)
	for n, failed := range turn.Failed {
		what := failed.Kind
		if failed.Status > 0 {
			what = fmt.Sprintf("%s %d", what, failed.Status)
		}
		t.add(line{Row: Row{Kind: kindNote, Turn: turn.Number, Name: fmt.Sprintf("try %d failed: %s", n+1, what)}})
	}
	row := Row{Kind: kindAssistant, Turn: turn.Number, Context: t.bytes / bytesPerToken, Guess: true}
	if spot := t.spots[transcripts.TurnKey{Agent: run.Agent, Turn: turn.Number}]; spot.Timed {
		row.Took = int((spot.End - spot.Start).Milliseconds())
	}
	text := ""
	switch a := turn.Answer; {
	case a != nil:
		if a.Usage.Input > 0 {
			row.Context, row.Guess = a.Usage.Input, false
		}
		row.Output = a.Usage.Output
		if a.Finish != "stop" && a.Finish != "tool_calls" && a.Finish != "end_turn" && a.Finish != "tool_use" {
			row.Finish = a.Finish
		}
		text = strings.TrimSuffix(a.Message.Content+"\n\n"+a.Refusal, "\n\n")
		t.seen[t.key(a.Message)] = true
	case len(turn.Calls) == 0 || turn.Sent.Len() > 0:
		row.Finish = "no answer"
	}
	t.answers = append(t.answers, t.add(line{Row: row, text: text}))
	t.sizes = append(t.sizes, row.Context)
	t.guessed = t.guessed || row.Guess
	for i := range turn.Calls {
		t.call(turn, &turn.Calls[i])
	}
}

func (t *teller) call(turn *runtime.Turn, c *runtime.CallRecord) {
	row := Row{Kind: kindCall, Turn: turn.Number, Name: c.Name}
	extra := c.Child != nil && c.ID == "" && c.Arguments == "" // an agent that no call of its own has room for
	if class := c.Verdict.Class(); class != "" && class != "allowed" && !extra {
		row.Verdict = class
	}
	args, ok := pretty(c.Arguments)
	row.BadArgs = !ok
	at := t.add(line{Row: row, text: c.Result, args: args, child: c.Child, answered: extra || c.Verdict != "" || c.Result != ""})
	t.open[c.ID] = append(t.open[c.ID], at)
}

// pretty lays out arguments, one member a line, and reports whether they are
// JSON. Numbers and names stay as they were written.
func pretty(args string) (string, bool) {
	if strings.TrimSpace(args) == "" {
		return args, true
	}
	v := jsontext.Value(strings.Clone(args))
	if err := v.Indent(jsontext.WithIndent("  "), jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true)); err != nil {
		return args, false
	}
	return string(v), true
}

// sent writes what a list has that no row tells of yet.
func (t *teller) sent(view runtime.View, turn int) {
	if view.Len() == 0 {
		return
	}
	messages := view.Messages()
	from := t.before.Len()
	rewritten := from > 0 && !view.Extends(t.before) && !t.goesOn(messages)
	if rewritten {
		from = 0
	}
	if from == 0 {
		t.bytes = 0
	}
	for _, m := range messages[from:] {
		t.bytes += max(len(m.Raw), len(m.Content))
	}
	note := -1
	if rewritten {
		note = t.add(line{Row: Row{Kind: kindNote, Turn: turn}})
	}
	known := 0
	for _, m := range messages[from:] {
		if !t.message(m, turn, rewritten) {
			known++
		}
	}
	if note >= 0 {
		t.lines[note].Name = fmt.Sprintf("the list of messages was rewritten: %d now, %d before; %d known from above", len(messages), t.before.Len(), known)
	}
	t.before = view
}

// goesOn reports that a list begins with what the messages of the one before
// say, however they are written.
func (t *teller) goesOn(messages []runtime.Message) bool {
	before := t.before.Messages()
	if len(messages) < len(before) {
		return false
	}
	for i, m := range before {
		if t.key(m) != t.key(messages[i]) {
			return false
		}
	}
	return true
}

// message writes one message, and reports whether it was new. In a list that
// was rewritten, what has been seen anywhere is not.
func (t *teller) message(m runtime.Message, turn int, rewritten bool) bool {
	key := t.key(m)
	known := t.seen[key]
	t.seen[key] = true
	if known && (rewritten || m.Role == runtime.RoleAssistant) {
		return false
	}
	if m.Role == runtime.RoleTool {
		if at, ok := t.take(m.CallID); ok {
			l := &t.lines[at]
			l.answered = true
			if l.text == "" {
				l.text = m.Content
			}
			if l.text == m.Content {
				return false
			}
		}
	}
	kind := kindTool
	switch m.Role {
	case runtime.RoleSystem, "developer":
		kind = kindSystem
	case runtime.RoleUser:
		kind = kindUser
	case runtime.RoleAssistant:
		kind = kindAssistant
	case runtime.RoleTool:
	default:
		kind = kindNote
	}
	l := line{Row: Row{Kind: kind, Turn: turn}, text: m.Content}
	switch kind {
	case kindNote:
		l.Name = string(m.Role)
	case kindAssistant:
		l.Finish = "in the list, but not among the answers"
	}
	t.add(l)
	if kind == kindAssistant { // one that no model of ours is known to have given
		for _, c := range m.Calls {
			args, ok := pretty(c.Arguments)
			t.open[c.ID] = append(t.open[c.ID], t.add(line{Row: Row{Kind: kindCall, Turn: turn, Name: c.Name, BadArgs: !ok}, args: args}))
		}
	}
	return true
}

// take gives the row of the call that a result with this id answers: of the
// latest answer that has an open one, the first.
func (t *teller) take(id string) (int, bool) {
	rows := t.open[id]
	if len(rows) == 0 {
		return 0, false
	}
	first := len(rows) - 1
	for first > 0 && t.lines[rows[first-1]].Turn == t.lines[rows[first]].Turn {
		first--
	}
	at := rows[first]
	t.open[id] = slices.Delete(rows, first, first+1)
	return at, true
}

// unanswered marks the calls that have no result; those of the last turn only
// where what came after it is known.
func (t *teller) unanswered(last int) {
	for i := range t.lines {
		l := &t.lines[i]
		if l.Kind == kindCall && !l.answered && (l.Turn < last || t.whole) {
			l.NoText = true
		}
	}
}

// key is equal for messages that say the same.
func (t *teller) key(m runtime.Message) uint64 {
	var h maphash.Hash
	h.SetSeed(t.seed)
	part := func(s string) {
		_, _ = h.WriteString(s) // never fails
		_ = h.WriteByte(0xff)   // in no UTF-8
	}
	part(string(m.Role))
	part(m.CallID)
	part(m.Content)
	for _, c := range m.Calls {
		part(c.ID)
		part(c.Name)
		part(c.Arguments)
	}
	return h.Sum64()
}
