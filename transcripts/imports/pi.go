package imports

import (
	"iter"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/tapetree/tapetree/transcripts"
)

// pi reads the sessions of the pi coding agent, versions 1 to 3 of its format.
// Subagents are those whose messages the results of the example extension
// "subagent" carry.
var pi = Importer{
	Name: formatPi, Title: "pi session",
	Detect: isPi,
	Read: func(path string, data []byte) iter.Seq2[*transcripts.History, error] {
		return func(yield func(*transcripts.History, error) bool) {
			s := newPiSession(path)
			objectLines(data, piNames, s.builder.Warn, s.take)
			if h := s.history(); h != nil {
				yield(h, nil)
				return
			}
			yield(nil, nothing(path, s.builder.Warnings()))
		}
	},
}

const formatPi = "pi"

// isPi reports a session of pi by its first lines: the header, or a message in
// pi's own form.
func isPi(data []byte) bool {
	return firstLines(data, func(raw jsontext.Value) bool {
		m := members(raw, "type", "id", "cwd", "version", "parentId", "message", "payload")
		switch text(m.of("type")) {
		case "session":
			return m.of("id").Kind() == '"' && m.of("payload") == nil && (m.of("cwd") != nil || m.of("version") != nil)
		case "message":
			return m.of("parentId") != nil && m.of("message").Kind() == '{'
		}
		return false
	})
}

// piEntry is one line of a session.
type piEntry struct {
	number     int
	kind       string
	id, parent string
	linked     bool // it says what it follows, be it nothing
	at         jsontext.Value
	message    jsontext.Value // of a message; of other kinds the line itself
}

// piSession collects the entries of a session.
type piSession struct {
	losses
	builder *transcripts.HistoryBuilder
	entries []*piEntry
	clock   clock
}

func newPiSession(path string) *piSession {
	return &piSession{builder: transcripts.NewHistory(path, "", formatPi)}
}

var piNames = []string{"type", "id", "parentId", "timestamp", "message", "parentSession"}

func (s *piSession) take(number int, raw jsontext.Value, m lineMembers) {
	e := &piEntry{number: number, kind: text(m.of("type")), id: text(m.of("id")), parent: text(m.of("parentId")), at: m.of("timestamp"), message: m.of("message")}
	e.linked = m.of("parentId") != nil
	if e.kind == "" {
		s.stray(strayKind(raw), number)
		return
	}
	if e.kind == "session" {
		if when := at(e.at); s.clock.began.IsZero() && !when.IsZero() {
			s.clock.began = when
			s.builder.Began(when)
		}
		if m.of("parentSession").Kind() == '"' {
			s.lose("parent session name", 1)
		}
		return
	}
	if e.kind != "message" {
		e.message = raw
	}
	s.entries = append(s.entries, e)
}

// live returns the entries on the way to the last one, and how many messages are
// on none: those of branches that were left.
func (s *piSession) live() (way []*piEntry, left int) {
	byID := make(map[string]int, len(s.entries))
	for i, e := range s.entries {
		if e.id != "" {
			byID[e.id] = i
		}
	}
	on := make([]bool, len(s.entries))
	for i := len(s.entries) - 1; i >= 0 && !on[i]; {
		on[i] = true
		e := s.entries[i]
		next, known := byID[e.parent]
		switch {
		case e.parent != "" && known:
			i = next
		case e.parent != "" || !e.linked: // what it follows is not in the file
			i--
		default:
			i = -1
		}
	}
	for i, e := range s.entries {
		switch {
		case on[i]:
			way = append(way, e)
		case e.kind == "message":
			left++
		}
	}
	return way, left
}

func (s *piSession) history() *transcripts.History {
	way, left := s.live()
	f := &piFeed{session: s, agent: s.builder.Root(), compacts: compactions(way)}
	f.agent.Reserve(len(way))
	s.entries = nil
	for i, e := range way {
		f.entry(e)
		way[i] = nil // the history grows as the entries go
	}
	s.lose("abandoned branch message", left)
	s.tell(s.builder)
	return s.builder.History()
}

// compactions counts the entries that put a summary in the place of others.
func compactions(way []*piEntry) (n int) {
	for _, e := range way {
		if e.kind == "compaction" {
			n++
		}
	}
	return n
}
