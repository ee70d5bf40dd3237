package imports

import (
	"bytes"
	"time"

	"github.com/go-json-experiment/json/jsontext"
)

// claudeLine is one line of a session that has a place in the conversation: a
// message, or what links messages to each other.
type claudeLine struct {
	number  int    // in the main file; 0 in a file beside it
	uuid    string // "" before there were any
	parent  string // uuid of the line that it follows; "" for none
	chained bool   // the line says what it follows, be it nothing
	kind    string // user, assistant, system, attachment, progress …
	subtype string // of a system line
	file    string // the agent in whose own file it stands; "" for the session's
	agent   string // which agent it is told of; "" for the session itself
	started string // the call that started that agent, where the line says it
	side    bool   // it belongs to a subagent
	meta    bool   // it was written by the client, not by the user
	fresh   bool   // it begins a conversation that follows none; see claudeLive
	summary bool   // it stands in the place of what was compacted
	at      time.Time

	// Of a message.
	id, request string // of the answer that it is a part of
	model, stop string
	content     jsontext.Value
	usage       jsontext.Value
	result      jsontext.Value // what a tool gave its client
	rendered    jsontext.Value // of an attachment: the text that the model was given
	role        string         // of a message of a subagent: who said it
	prompt      jsontext.Value // of a queued command

	results *claudeResults // see answers
}

var claudeNames = []string{
	"type", "subtype", "uuid", "parentUuid", "logicalParentUuid", "timestamp", "isSidechain", "isMeta", "isCompactSummary",
	"agentId", "message", "requestId", "toolUseResult", "tool_use_result", "data", "parentToolUseID", "parent_tool_use_id",
	"attachment", "rendered", "sessionId",
}

// parseClaudeLine reads one line, of which the members claudeNames are given.
func parseClaudeLine(number int, m lineMembers) *claudeLine {
	l := &claudeLine{
		number: number, uuid: text(m.of("uuid")), parent: text(m.of("parentUuid")), kind: text(m.of("type")), subtype: text(m.of("subtype")),
		agent: text(m.of("agentId")), request: text(m.of("requestId")), at: at(m.of("timestamp")),
		side: isTrue(m.of("isSidechain")), meta: isTrue(m.of("isMeta")), summary: isTrue(m.of("isCompactSummary")),
	}
	l.chained = m.of("parentUuid") != nil
	if l.parent == "" {
		l.parent = text(m.of("logicalParentUuid"))
	}
	if call := text(m.of("parent_tool_use_id")); call != "" { // as the SDK writes it
		l.agent, l.started, l.side = call, call, true
	}
	switch l.kind {
	case "progress":
		l.progress(m.of("data"), text(m.of("parentToolUseID")))
	case "attachment":
		a := members(m.of("attachment"), "type", "prompt", "systemPrompt")
		l.subtype, l.prompt = text(a.of("type")), a.of("prompt")
		l.rendered = m.of("rendered")
		if l.subtype == "prompt_snapshot" {
			l.content = a.of("systemPrompt")
		}
	case "user", "assistant":
		if m.of("message").Kind() != '{' {
			l.kind = claudeBroken
			break
		}
		l.message(m.of("message"))
		if l.result = m.of("toolUseResult"); l.result == nil {
			l.result = m.of("tool_use_result")
		}
	}
	return l
}

// claudeBroken is the kind of a line that should have a message and has none.
const claudeBroken = "broken"

// message takes what the model said or was told.
func (l *claudeLine) message(raw jsontext.Value) {
	m := members(raw, "id", "model", "content", "usage", "stop_reason")
	l.id, l.model, l.stop = text(m.of("id")), text(m.of("model")), text(m.of("stop_reason"))
	l.content, l.usage = m.of("content"), m.of("usage")
}

// progress takes a message of a subagent that a line of the session reports. It
// follows the one before it, whatever the line itself follows.
func (l *claudeLine) progress(data jsontext.Value, call string) {
	m := members(data, "type", "agentId", "message")
	l.subtype = text(m.of("type"))
	if l.subtype != "agent_progress" || m.of("message").Kind() != '{' {
		return
	}
	inner := members(m.of("message"), "type", "message", "timestamp", "requestId")
	kind := text(inner.of("type"))
	if kind != "user" && kind != "assistant" {
		return
	}
	l.agent, l.started = text(m.of("agentId")), call
	if l.agent == "" {
		l.agent = call
	}
	l.role, l.request = kind, text(inner.of("requestId"))
	if at := at(inner.of("timestamp")); !at.IsZero() {
		l.at = at
	}
	l.message(inner.of("message"))
}

// told is the line as one of the subagent that it reports of.
func (l *claudeLine) told() *claudeLine {
	inner := *l
	inner.results = nil
	inner.kind, inner.role, inner.uuid, inner.parent, inner.file, inner.chained, inner.side = l.role, "", "", "", "", false, true
	return &inner
}

// says reports a message.
func (l *claudeLine) says() bool { return l.kind == "user" || l.kind == "assistant" }

// answers returns the calls that a user line has results of, and whether it says
// anything else.
func (l *claudeLine) answers() (calls []string, more bool) {
	if l.results == nil {
		l.results = &claudeResults{}
		l.results.calls, l.results.more = l.findAnswers()
	}
	return l.results.calls, l.results.more
}

// claudeResults is what answers found.
type claudeResults struct {
	calls []string
	more  bool
}

func (l *claudeLine) findAnswers() (calls []string, more bool) {
	if l.kind != "user" || !bytes.Contains(l.content, []byte(`"tool_result"`)) {
		return nil, true
	}
	for _, block := range listOf(l.content) {
		b := members(block, "type", "tool_use_id")
		if text(b.of("type")) == "tool_result" {
			calls = append(calls, idText(b.of("tool_use_id")))
		} else {
			more = true
		}
	}
	return calls, more
}

// words is the text of the line's message.
func (l *claudeLine) words() string {
	if l.content.Kind() == '"' {
		return text(l.content)
	}
	var said told
	for _, block := range listOf(l.content) {
		b := members(block, "type", "text")
		if text(b.of("type")) == "text" {
			said.say(text(b.of("text")))
		}
	}
	return said.words()
}

func isTrue(v jsontext.Value) bool { return v.Kind() == 't' }

// isClaude reports a session of Claude Code by its first lines.
func isClaude(data []byte) bool {
	return firstLines(data, func(raw jsontext.Value) bool {
		m := members(raw, "type", "sessionId", "session_id", "uuid", "isSidechain", "leafUuid", "snapshot", "operation", "parent_tool_use_id", "message", "subtype")
		kind := text(m.of("type"))
		switch {
		case kind == "":
			return false
		case kind == "summary" && m.of("leafUuid") != nil, kind == "file-history-snapshot" && m.of("snapshot") != nil, m.of("isSidechain") != nil && m.of("uuid") != nil:
			return true
		case m.of("sessionId") != nil:
			return m.of("uuid") != nil || m.of("operation") != nil || m.of("message") != nil
		default: // as the SDK streams it
			return m.of("session_id") != nil && (m.of("parent_tool_use_id") != nil || kind == "system" && m.of("subtype") != nil)
		}
	})
}
