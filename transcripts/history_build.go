package transcripts

import (
	"strconv"
	"time"

	"github.com/tapetree/tapetree/runtime"
)

// HistoryBuilder makes a History of messages as a reader of some format comes
// upon them. Its agents may be fed in any order, and side by side.
type HistoryBuilder struct {
	history *History
	agents  []*AgentBuilder
	started map[runtime.Path]int // children that each call, or no visible call, has started
}

// NewHistory begins the history of one session.
func NewHistory(path, part, format string) *HistoryBuilder {
	return &HistoryBuilder{history: &History{Path: path, Part: part, Format: format, Spots: map[TurnKey]Spot{}, Answered: true}, started: map[runtime.Path]int{}}
}

// Root begins one more tree: root, root2, root3.
func (b *HistoryBuilder) Root() *AgentBuilder {
	path := runtime.Root
	if n := len(b.history.Roots); n > 0 {
		path += runtime.Path(strconv.Itoa(n + 1))
	}
	a := b.agent(path)
	b.history.Roots = append(b.history.Roots, a.run)
	return a
}

func (b *HistoryBuilder) agent(path runtime.Path) *AgentBuilder {
	a := &AgentBuilder{builder: b, run: &runtime.Run{Agent: path, Label: string(path)}}
	b.agents = append(b.agents, a)
	return a
}

// Warn notes a place that could not be read.
func (b *HistoryBuilder) Warn(line int, msg string) {
	b.history.Warnings = append(b.history.Warnings, Warning{Line: line, Msg: msg})
}

// Warnings returns what was noted so far.
func (b *HistoryBuilder) Warnings() []Warning { return b.history.Warnings }

// Began notes when the session began; the first call counts.
func (b *HistoryBuilder) Began(at time.Time) {
	if b.history.Began.IsZero() {
		b.history.Began = at
	}
}

// Open notes that the file ends with an answer and does not hold what came after
// it (see History.Answered).
func (b *HistoryBuilder) Open() { b.history.Answered = false }

// Lost notes a kind of thing that the history has no place for.
func (b *HistoryBuilder) Lost(what string) { b.history.Lost = append(b.history.Lost, what) }

// History ends the building: every call that starts an agent (see Delegates) of
// which nothing was told gets one without turns. It is nil when no agent has a
// message.
func (b *HistoryBuilder) History() *History {
	said := false
	for _, a := range b.agents {
		a.finish()
		said = said || a.run.History.Len() > 0
	}
	if !said {
		return nil
	}
	for _, root := range b.history.Roots {
		nameAgents(root)
		total(root)
	}
	return b.history
}
