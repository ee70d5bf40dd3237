package imports

import (
	"io/fs"
	"iter"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/tapetree/tapetree/runtime"
	"github.com/tapetree/tapetree/transcripts"
)

// codex reads the rollouts of Codex, one thread a file, in which every line has
// a type and a payload. The threads of subagents are files in the same folder.
var codex = Importer{
	Name: formatCodex, Title: "Codex rollout",
	Detect: isCodex,
	Read: func(path string, data []byte) iter.Seq2[*transcripts.History, error] {
		return readCodex(path, data, nil)
	},
	Beside: readCodex,
}

const formatCodex = "codex"

func isCodex(data []byte) bool {
	return firstLines(data, func(raw jsontext.Value) bool {
		m := members(raw, "type", "payload", "timestamp")
		switch text(m.of("type")) {
		case "session_meta", "response_item", "event_msg", "turn_context", "compacted":
			return m.of("payload").Kind() == '{'
		}
		return false
	})
}

func readCodex(path string, data []byte, beside fs.FS) iter.Seq2[*transcripts.History, error] {
	return func(yield func(*transcripts.History, error) bool) {
		s := &codexSession{builder: transcripts.NewHistory(path, "", formatCodex), threads: map[string]*codexThread{}}
		root := parseCodex(data, true, s.builder.Warn)
		if root.id != "" && beside != nil {
			s.beside(path, root, beside)
		}
		s.feed(root, s.builder.Root())
		s.tell(s.builder)
		if h := s.builder.History(); h != nil {
			yield(h, nil)
			return
		}
		yield(nil, nothing(path, s.builder.Warnings()))
	}
}

// codexSession collects the threads of a session.
type codexSession struct {
	losses
	builder *transcripts.HistoryBuilder
	threads map[string]*codexThread   // of subagents, by id, that were not fed yet
	of      map[string][]*codexThread // by the thread that started them
	clock   clock
}

// codexThread is one rollout.
type codexThread struct {
	id, parent string // parent: the thread that started it
	title      string
	system     string
	lines      []codexLine
	own        int // the index of its first line that is not copied from its parent
}

// codexLine is one line of a rollout.
type codexLine struct {
	number  int // 0 in a file beside the session's
	kind    string
	at      jsontext.Value
	payload jsontext.Value
}

// parseCodex reads a rollout. Line numbers are kept of the session's own file.
func parseCodex(data []byte, numbered bool, warn func(int, string)) *codexThread {
	t := &codexThread{}
	start := -1 // the ordinal of the first line of its own, where the file says it
	copied := false
	objectLines(data, []string{"type", "timestamp", "payload", "ordinal"}, warn, func(number int, _ jsontext.Value, m lineMembers) {
		l := codexLine{number: number, kind: text(m.of("type")), at: m.of("timestamp"), payload: m.of("payload")}
		if !numbered {
			l.number = 0
		}
		switch {
		case l.kind == "session_meta" && t.id == "":
			start = t.meta(l.payload)
		case l.kind == "session_meta":
			copied = true
		case t.own > 0:
		case start >= 0 && count(m.of("ordinal")) >= start,
			start < 0 && copied && t.id != "" && text(members(l.payload, "thread_id").of("thread_id")) == t.id:
			t.own = len(t.lines)
		}
		t.lines = append(t.lines, l)
	})
	return t
}

// meta reads what a rollout says of itself, and returns where it is its own, -1
// for not said.
func (t *codexThread) meta(payload jsontext.Value) int {
	m := members(payload, "id", "source", "parent_thread_id", "agent_nickname", "base_instructions", "instructions", "subagent_history_start_ordinal")
	t.id, t.title = text(m.of("id")), text(m.of("agent_nickname"))
	t.system = text(members(m.of("base_instructions"), "text").of("text"))
	if t.system == "" {
		t.system = text(m.of("instructions"))
	}
	spawn := members(members(members(m.of("source"), "subagent").of("subagent"), "thread_spawn").of("thread_spawn"), "parent_thread_id", "agent_nickname")
	if t.parent = text(m.of("parent_thread_id")); t.parent == "" {
		t.parent = text(spawn.of("parent_thread_id"))
	}
	if t.title == "" {
		t.title = text(spawn.of("agent_nickname"))
	}
	if v := m.of("subagent_history_start_ordinal"); v.Kind() == '0' {
		return count(v)
	}
	return -1
}

// prompt is the first thing that the thread was told by whoever started it.
func (t *codexThread) prompt() string {
	last := ""
	for _, l := range t.lines[t.own:] {
		if l.kind != "response_item" {
			continue
		}
		m := members(l.payload, "type", "role")
		switch kind := text(m.of("type")); {
		case kind == "message" && text(m.of("role")) == "user":
			item, err := runtime.WireResponses.ParseItem(l.payload)
			if err == nil {
				last = item.Content
			}
		case kind == "agent_message":
			return codexSaid(l.payload)
		case kind == "message" && text(m.of("role")) == "assistant", kind == "function_call":
			return last
		}
	}
	return last
}
