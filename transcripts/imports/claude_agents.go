package imports

import (
	"strings"
	"time"

	"github.com/tapetree/tapetree/transcripts"
)

// claudeAgent is the session itself or one of its subagents.
type claudeAgent struct {
	key   string // "" for the session
	lines []*claudeLine
	call  string // the call that started it, where the files say it
	title string // beside its messages
	apart bool   // its messages are in a file of its own
	fed   bool
}

// claudeSession collects the lines of a session and of what stands beside it.
type claudeSession struct {
	losses
	builder *transcripts.HistoryBuilder
	id      string // of the session
	agents  []*claudeAgent
	byKey   map[string]*claudeAgent
	chains  map[string]string // the agent to which a line of a subagent without name belongs, by uuid
	first   time.Time

	byCall   map[string][]*claudeAgent // agents whose call is known
	byPrompt map[string][]*claudeAgent // the others, by their first message
}

func newClaudeSession(path string) *claudeSession {
	return &claudeSession{
		builder: transcripts.NewHistory(path, "", formatClaude),
		byKey:   map[string]*claudeAgent{}, chains: map[string]string{},
		byCall: map[string][]*claudeAgent{}, byPrompt: map[string][]*claudeAgent{},
	}
}

func (s *claudeSession) agent(key string) *claudeAgent {
	a := s.byKey[key]
	if a == nil {
		a = &claudeAgent{key: key}
		s.byKey[key] = a
		s.agents = append(s.agents, a)
	}
	return a
}

// take puts a line where it belongs.
func (s *claudeSession) take(l *claudeLine) {
	if !l.at.IsZero() && (s.first.IsZero() || l.at.Before(s.first)) {
		s.first = l.at
	}
	switch l.kind {
	case "user", "assistant", "attachment":
		s.put(s.of(l), l)
	case "system":
		if l.subtype != "compact_boundary" {
			s.lose(strings.TrimSpace(l.subtype+" system line"), 1)
		}
		s.put(s.of(l), l)
	case claudeBroken:
		s.builder.Warn(l.number, "a line without its message, left out")
		s.put(s.of(l), l)
	case "progress":
		// What follows it names it, so it has a place, but nothing to say there.
		s.put(l.file, l)
		if l.role != "" {
			s.put(l.agent, l.told())
		} else {
			s.lose(strings.TrimSpace(l.subtype+" progress line"), 1)
		}
	default:
		s.lose(strings.TrimSpace(l.kind+" line"), 1)
	}
}

func (s *claudeSession) put(key string, l *claudeLine) {
	a := s.agent(key)
	a.lines = append(a.lines, l)
	if a.call == "" {
		a.call = l.started
	}
	if ids, _ := l.answers(); len(ids) == 1 && l.result.Kind() == '{' {
		if started := text(members(l.result, "agentId").of("agentId")); started != "" && s.agent(started).call == "" {
			s.agent(started).call = ids[0]
		}
	}
}

// of returns the agent of a line. The lines of a subagent have its name, or else
// hang together from its first message on.
func (s *claudeSession) of(l *claudeLine) string {
	switch {
	case l.file != "":
		return l.file
	case !l.side:
		return ""
	case l.agent != "":
		return l.agent
	}
	key, known := s.chains[l.parent]
	if !known || l.parent == "" {
		key = "chain " + l.uuid
	}
	s.chains[l.uuid] = key
	return key
}

// merge takes the lines of an agent's own file. They are all of its messages, so
// what the session's file tells of it is there twice.
func (s *claudeSession) merge(key string, lines []*claudeLine) {
	a := s.agent(key)
	call := a.call
	a.lines = nil
	for _, l := range lines {
		l.number = 0 // it is not a line of the session's file
		l.file = key
		s.take(l)
	}
	if call != "" {
		a.call = call
	}
	a.apart = true
}

// history puts the agents together. It is nil when none of them has a message.
func (s *claudeSession) history() *transcripts.History {
	s.builder.Began(s.first)
	for _, a := range s.agents {
		live, left, odd := claudeLive(a.lines)
		for _, w := range odd {
			s.builder.Warn(w.Line, w.Msg)
		}
		a.lines = live
		s.lose("abandoned branch message", left)
		switch {
		case a.key == "" || len(a.lines) == 0:
		case a.call != "":
			s.byCall[a.call] = append(s.byCall[a.call], a)
		default:
			if prompt := a.prompt(); prompt != "" {
				s.byPrompt[prompt] = append(s.byPrompt[prompt], a)
			}
		}
	}
	main := s.byKey[""]
	if main != nil && main.says() {
		root := s.builder.Root()
		s.feed(main, root)
		for _, a := range s.agents {
			if !a.fed && a.says() {
				s.feed(a, root.Child(""))
			}
		}
	} else {
		s.orphans()
	}
	s.tell(s.builder)
	return s.builder.History()
}

// orphans gives the agents of a file that has no session in it: those that no
// other one started are roots.
func (s *claudeSession) orphans() {
	started := map[*claudeAgent]bool{}
	for _, a := range s.agents {
		for _, call := range a.calls() {
			for _, child := range s.byCall[call] {
				started[child] = child != a
			}
		}
	}
	for _, wanted := range []bool{true, false} { // those that start each other in a circle come last
		for _, a := range s.agents {
			if !a.fed && a.says() && (!wanted || !started[a]) {
				s.feed(a, s.builder.Root())
			}
		}
	}
}

// says reports that the agent has a message.
func (a *claudeAgent) says() bool {
	for _, l := range a.lines {
		if l.says() {
			return true
		}
	}
	return false
}

// calls returns the ids of the agent's calls.
func (a *claudeAgent) calls() (ids []string) {
	for _, l := range a.lines {
		if l.kind != "assistant" {
			continue
		}
		for _, block := range listOf(l.content) {
			if b := members(block, "type", "id"); text(b.of("type")) == "tool_use" {
				ids = append(ids, idText(b.of("id")))
			}
		}
	}
	return ids
}

// prompt is the agent's first message, if it is told to it.
func (a *claudeAgent) prompt() string {
	for _, l := range a.lines {
		if l.says() {
			if l.kind == "user" {
				return strings.TrimSpace(l.words())
			}
			return ""
		}
	}
	return ""
}

// children returns the agents that a call started and that were not fed yet:
// those that name it, else the first of those that were told its brief.
func (s *claudeSession) children(id, prompt string) []*claudeAgent {
	if named := s.byCall[id]; len(named) > 0 {
		delete(s.byCall, id)
		return named
	}
	prompt = strings.TrimSpace(prompt)
	told := s.byPrompt[prompt]
	for len(told) > 0 && told[0].fed {
		told = told[1:]
	}
	if len(told) == 0 || prompt == "" {
		return nil
	}
	s.byPrompt[prompt] = told[1:]
	return told[:1]
}
