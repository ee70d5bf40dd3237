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
}

// entry takes one line of the session.
func (f *piFeed) entry(e *piEntry) {
	when := at(e.at)
	f.each = append(f.each, len(f.said))
	if e.id != "" {
		if f.from == nil {
			f.from = map[string]int{}
		}
		f.from[e.id] = len(f.said)
	}
	switch e.kind {
	case "message":
		f.message(e.number, e.message, when)
	case "custom_message":
		f.tell(f.content(members(e.message, "content")["content"]))
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
	m := members(raw, "firstKeptEntryId", "firstKeptEntryIndex", "summary")
	summary := text(m["summary"])
	f.agent.Compact(summary)
	f.agent.Add(runtime.UserMessage(summary))
	first, known := f.from[text(m["firstKeptEntryId"])]
	if n := count(m["firstKeptEntryIndex"]); n > 0 && n <= len(f.each) { // the header counts
		first, known = f.each[n-1], true
	}
	if known {
		for _, kept := range f.said[first:] {
			f.agent.Add(kept)
		}
	}
}

func (f *piFeed) summary(raw jsontext.Value) {
	f.tell(runtime.UserMessage(text(members(raw, "summary")["summary"])))
}

// tell puts a message into the list.
func (f *piFeed) tell(m runtime.Message) {
	f.agent.Add(m)
	f.said = append(f.said, m)
}

var piMessageNames = []string{
	"role", "content", "model", "usage", "stopReason", "errorMessage", "toolCallId", "isError", "details",
	"command", "output", "exitCode", "cancelled", "excludeFromContext", "summary",
}

// message takes a message in pi's form.
func (f *piFeed) message(number int, raw jsontext.Value, when time.Time) {
	m := members(raw, piMessageNames...)
	switch role := text(m["role"]); role {
	case "user", "custom", "hookMessage":
		f.tell(f.content(m["content"]))
	case "assistant":
		f.answer(number, m, when)
	case "toolResult":
		f.tell(toolMessage(text(m["toolCallId"]), f.result(m["content"]), isTrue(m["isError"])))
		f.children(text(m["toolCallId"]), m["details"])
	case "bashExecution":
		f.execution(m)
	case "branchSummary", "compactionSummary":
		f.summary(raw)
	default:
		f.session.builder.Warn(number, "a message of no role that is known, left out")
	}
}

func (f *piFeed) answer(number int, m map[string]jsontext.Value, when time.Time) {
	var said spoken
	if m["content"].Kind() == '"' {
		said.text.WriteString(text(m["content"]))
	}
	for _, block := range listOf(m["content"]) {
		b := members(block, "type", "text", "thinking", "id", "name", "arguments")
		switch kind := text(b["type"]); kind {
		case "text":
			said.text.WriteString(text(b["text"]))
		case "thinking":
			said.thought.WriteString(text(b["thinking"]))
		case "toolCall":
			said.call(text(b["id"]), text(b["name"]), compact(b["arguments"]))
		default:
			f.session.lose(kind+" block", 1)
		}
	}
	stop := text(m["stopReason"])
	if said.text.Len() == 0 && len(said.calls) == 0 && (stop == "error" || stop == "aborted") {
		f.session.lose("unanswered request", 1)
		return
	}
	u := members(m["usage"], "input", "output", "cacheRead", "cacheWrite")
	cached := count(u["cacheRead"])
	answer := &runtime.Answer{
		Message: said.message(), Finish: stop, Model: text(m["model"]),
		Usage: runtime.Usage{Input: count(u["input"]) + cached + count(u["cacheWrite"]), Output: count(u["output"]), Cached: cached},
	}
	f.agent.Answer(answer, f.session.clock.spot(number, f.before, when))
	f.said = append(f.said, answer.Message)
}

// execution takes a command that the user ran, which the model is told of.
func (f *piFeed) execution(m map[string]jsontext.Value) {
	if isTrue(m["excludeFromContext"]) {
		f.session.lose("hidden user command", 1)
		return
	}
	said := "Ran `" + text(m["command"]) + "`\n" + text(m["output"])
	if code := m["exitCode"]; code.Kind() == '0' && string(code) != "0" {
		said += "\nexit code " + string(code)
	}
	if isTrue(m["cancelled"]) {
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
		switch kind := text(b["type"]); {
		case kind == "text":
			said.say(text(b["text"]))
		case kind == "image" && b["data"] != nil:
			said.show("data:" + text(b["mimeType"]) + ";base64," + text(b["data"]))
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
		if kind := text(b["type"]); kind == "text" {
			all.WriteString(text(b["text"]))
		} else {
			f.session.lose("tool result "+kind, 1)
		}
	}
	return all.String()
}

// children takes the subagents whose messages stand in the details of a result.
func (f *piFeed) children(call string, details jsontext.Value) {
	for _, one := range listOf(members(details, "results")["results"]) {
		r := members(one, "agent", "task", "messages")
		if r["messages"].Kind() != '[' || r["task"] == nil {
			continue
		}
		child := &piFeed{session: f.session, agent: f.agent.Child(call)}
		child.agent.Label(text(r["agent"]))
		for _, m := range listOf(r["messages"]) {
			child.message(0, m, time.Time{})
		}
	}
}
