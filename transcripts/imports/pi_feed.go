package imports

import (
	"strings"
	"time"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/tapetree/tapetree/runtime"
	"github.com/tapetree/tapetree/transcripts"
)

// piFeed feeds the messages of one agent into the history.
type piFeed struct {
	session *piSession
	agent   *transcripts.AgentBuilder
	before  time.Time // when the last message was

	// All that was said, and from where on by which entry: a compaction keeps the
	// end of it.
	said []runtime.Message
	from map[string]int
	each []int // the same by the number of the entry, as version 1 has it
	// compacts is how many compactions are to come: without one nothing of this is kept.
	compacts int
	kept     int // messages that all compactions kept
}

// piKept is how many messages the compactions of a session may keep in all: each
// gives them once more, and a file whose every compaction keeps everything
// would cost the square of its length.
const piKept = 1 << 20

// entry takes one line of the session.
func (f *piFeed) entry(e *piEntry) {
	when := at(e.at)
	if f.compacts > 0 {
		f.each = append(f.each, len(f.said))
	}
	if e.id != "" && f.compacts > 0 {
		if f.from == nil {
			f.from = map[string]int{}
		}
		f.from[e.id] = len(f.said)
	}
	switch e.kind {
	case "message":
		f.message(e.number, e.message, when)
	case "custom_message":
		f.tell(f.content(members(e.message, "content").of("content")))
	case "branch_summary":
		f.summary(e.message)
	case "compaction":
		f.compaction(e.message)
	case "custom":
		f.session.lose("custom line", 1) // of an extension, for itself
	default:
		f.session.lose(strings.TrimSpace(strings.ReplaceAll(e.kind, "_", " ")+" line"), 1)
	}
	if !when.IsZero() {
		f.before = when
	}
}

// compaction puts a summary in the place of what was said before the entry that
// is kept first.
func (f *piFeed) compaction(raw jsontext.Value) {
	f.compacts--
	m := members(raw, "firstKeptEntryId", "firstKeptEntryIndex", "summary")
	summary := text(m.of("summary"))
	f.agent.Compact(summary)
	f.agent.Add(runtime.UserMessage(summary))
	first, known := f.from[text(m.of("firstKeptEntryId"))]
	if n := count(m.of("firstKeptEntryIndex")); n > 0 && n <= len(f.each) { // the header counts
		first, known = f.each[n-1], true
	}
	if !known {
		return
	}
	kept := f.said[first:]
	if f.kept += len(kept); f.kept > piKept {
		f.session.lose("further kept message", len(kept))
		return
	}
	for _, m := range kept {
		f.agent.Add(m)
	}
}

func (f *piFeed) summary(raw jsontext.Value) {
	f.tell(runtime.UserMessage(text(members(raw, "summary").of("summary"))))
}

// tell puts a message into the list.
func (f *piFeed) tell(m runtime.Message) {
	f.agent.Add(m)
	f.say(m)
}

// say notes what was said, for a compaction that keeps it.
func (f *piFeed) say(m runtime.Message) {
	if f.compacts > 0 {
		f.said = append(f.said, m)
	}
}

var piMessageNames = []string{
	"role", "content", "model", "usage", "stopReason", "errorMessage", "toolCallId", "isError", "details",
	"command", "output", "exitCode", "cancelled", "excludeFromContext", "summary",
}

// message takes a message in pi's form.
func (f *piFeed) message(number int, raw jsontext.Value, when time.Time) {
	m := members(raw, piMessageNames...)
	switch role := text(m.of("role")); role {
	case "user", "custom", "hookMessage":
		f.tell(f.content(m.of("content")))
	case "assistant":
		f.answer(number, m, when)
	case "toolResult":
		f.tell(toolMessage(text(m.of("toolCallId")), f.result(m.of("content")), isTrue(m.of("isError"))))
		f.children(text(m.of("toolCallId")), m.of("details"))
	case "bashExecution":
		f.execution(m)
	case "branchSummary", "compactionSummary":
		f.summary(raw)
	default:
		f.session.builder.Warn(number, "a message of no role that is known, left out")
	}
}

func (f *piFeed) answer(number int, m found, when time.Time) {
	var said spoken
	if m.of("content").Kind() == '"' {
		said.text.WriteString(text(m.of("content")))
	}
	for _, block := range listOf(m.of("content")) {
		b := members(block, "type", "text", "thinking", "id", "name", "arguments")
		switch kind := text(b.of("type")); kind {
		case "text":
			said.text.WriteString(text(b.of("text")))
		case "thinking":
			said.thought.WriteString(text(b.of("thinking")))
		case "toolCall":
			said.call(text(b.of("id")), text(b.of("name")), compact(b.of("arguments")))
		default:
			f.session.lose(kind+" block", 1)
		}
	}
	stop := text(m.of("stopReason"))
	if said.text.Len() == 0 && len(said.calls) == 0 && (stop == "error" || stop == "aborted") {
		f.session.lose("unanswered request", 1)
		return
	}
	u := members(m.of("usage"), "input", "output", "cacheRead", "cacheWrite")
	cached := count(u.of("cacheRead"))
	answer := &runtime.Answer{
		Message: said.message(), Finish: stop, Model: text(m.of("model")),
		Usage: runtime.Usage{Input: count(u.of("input")) + cached + count(u.of("cacheWrite")), Output: count(u.of("output")), Cached: cached},
	}
	f.agent.Answer(answer, f.session.clock.spot(number, f.before, when))
	f.say(answer.Message)
}

// execution takes a command that the user ran, which the model is told of.
func (f *piFeed) execution(m found) {
	if isTrue(m.of("excludeFromContext")) {
		f.session.lose("hidden user command", 1)
		return
	}
	said := "Ran `" + text(m.of("command")) + "`\n" + text(m.of("output"))
	if code := m.of("exitCode"); code.Kind() == '0' && string(code) != "0" {
		said += "\nexit code " + string(code)
	}
	if isTrue(m.of("cancelled")) {
		said += "\n(cancelled)"
	}
	f.tell(runtime.UserMessage(said))
}

// content is what the model was told: a text, or a list of texts and pictures.
func (f *piFeed) content(v jsontext.Value) runtime.Message {
	var said told
	if v.Kind() == '"' {
		said.say(text(v))
	}
	for _, block := range listOf(v) {
		b := members(block, "type", "text", "data", "mimeType")
		switch kind := text(b.of("type")); {
		case kind == "text":
			said.say(text(b.of("text")))
		case kind == "image" && b.of("data") != nil:
			said.show("data:" + text(b.of("mimeType")) + ";base64," + text(b.of("data")))
		default:
			f.session.lose(kind+" block", 1)
		}
	}
	return said.message(runtime.RoleUser)
}

// result is the text of what a call gave.
func (f *piFeed) result(v jsontext.Value) string {
	if v.Kind() == '"' {
		return text(v)
	}
	var all strings.Builder
	for _, block := range listOf(v) {
		b := members(block, "type", "text")
		if kind := text(b.of("type")); kind == "text" {
			all.WriteString(text(b.of("text")))
		} else {
			f.session.lose("tool result "+kind, 1)
		}
	}
	return all.String()
}

// children takes the subagents whose messages stand in the details of a result.
func (f *piFeed) children(call string, details jsontext.Value) {
	for _, one := range listOf(members(details, "results").of("results")) {
		r := members(one, "agent", "task", "messages")
		if r.of("messages").Kind() != '[' || r.of("task") == nil {
			continue
		}
		child := &piFeed{session: f.session, agent: f.agent.Child(call)}
		child.agent.Label(text(r.of("agent")))
		for _, m := range listOf(r.of("messages")) {
			child.message(0, m, time.Time{})
		}
	}
}
