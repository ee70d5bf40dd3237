// Package view shows histories as a page: who did what and when, how contexts
// grew, every message, what is wrong, and how two runs differ. The page is
// served on this machine, or written as one file that holds everything. It asks
// nobody else for anything, and runs nothing of what it shows.
package view

import (
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/tapetree/tapetree/record"
	"github.com/tapetree/tapetree/runtime"
	"github.com/tapetree/tapetree/transcripts"
)

// Book is what a page shows.
type Book struct {
	sessions []*session
	opened   *[2]int // the pair whose diff the page opens with
	passed   int     // files that are no history
	unread   int     // files that could not be read

	mu       sync.Mutex
	pair     [2]int
	compared *difference // of pair, the last that was asked for
}

// session is a history with all that its pages need.
type session struct {
	history *transcripts.History
	model   Session
	told    []told
	pages   [][]page
}

// Check gives the findings of a history.
type Check func(*transcripts.History) []record.Finding

// Add puts a history into the book, with what is wrong with it.
func (b *Book) Add(h *transcripts.History, check Check) {
	b.sessions = append(b.sessions, newSession(h, check(h)))
}

// Len is the number of sessions.
func (b *Book) Len() int { return len(b.sessions) }

// Missing says how many files are not in the book: those that were passed over
// because they are no history, and those that could not be read.
func (b *Book) Missing(passed, unread int) { b.passed, b.unread = passed, unread }

// OpenDiff makes the page open with the diff of two sessions.
func (b *Book) OpenDiff(left, right int) { b.opened = &[2]int{left, right} }

func newSession(h *transcripts.History, findings []record.Finding) *session {
	s := &session{history: h, model: Session{Name: valid(h.Name()), Format: h.Format}}
	if !h.Began.IsZero() {
		s.model.Began = h.Began.UTC().Format(time.RFC3339)
	}
	var runs []*runtime.Run
	h.Walk(func(r *runtime.Run) { runs = append(runs, r) })
	index := make(map[*runtime.Run]int, len(runs))
	turns := 0
	for i, run := range runs {
		index[run] = i
		turns += len(run.Turns)
	}
	where := placesOf(h, runs)
	s.model.Timed = where.timed
	for i, run := range runs {
		told := tell(h, run)
		s.told = append(s.told, told)
		s.pages = append(s.pages, pagesOf(told.lines, index, fmt.Sprintf("%d", i)))
		s.model.Agents = append(s.model.Agents, agentOf(run, told, where.agents[i], marksOf(run, told, where.turns[i], thin(len(run.Turns), turns))))
		s.model.Calls += s.model.Agents[i].Calls
		s.model.Length = max(s.model.Length, where.agents[i].end)
		for _, p := range s.pages[i] {
			s.model.Agents[i].Pages = append(s.model.Agents[i].Pages, p.first)
		}
	}
	s.family(index)
	s.model.Findings = s.findings(findings)
	s.model.Notes = notesOf(h)
	return s
}

func agentOf(run *runtime.Run, t told, at span, marks Marks) Agent {
	a := Agent{
		Path: valid(string(run.Agent)), Label: valid(run.Label), Model: valid(run.Model), Stop: string(run.Stop), Parent: -1, From: -1,
		Turns: len(t.answers), Input: run.Usage.Input, Output: run.Usage.Output, Estimated: t.guessed,
		Start: at.start, End: at.end, Marks: marks, Rows: len(t.lines), Pages: []int{},
	}
	for _, size := range t.sizes {
		a.Peak = max(a.Peak, size)
	}
	for i := range run.Turns {
		a.Calls += len(run.Turns[i].Calls)
	}
	return a
}

// family notes of every agent whose child it is, and of which call.
func (s *session) family(index map[*runtime.Run]int) {
	for i := range s.told {
		for row, l := range s.told[i].lines {
			if l.child == nil {
				continue
			}
			child := &s.model.Agents[index[l.child]]
			child.Parent, child.From, child.Depth = i, row, s.model.Agents[i].Depth+1
		}
	}
}

// mostMarks is how many turns of a session are drawn one by one. 20,000 marks
// are about half a megabyte, and more than a screen has columns for.
const mostMarks = 20_000

// thin is how many turns of an agent become one mark.
func thin(own, all int) int {
	if all <= mostMarks || own == 0 {
		return 1
	}
	return (all + mostMarks - 1) / mostMarks
}

func marksOf(run *runtime.Run, t told, at []span, step int) Marks {
	m := Marks{Turn: []int{}, Start: []int{}, End: []int{}, Context: []int{}, Row: []int{}}
	for i := 0; i < len(t.answers); i += step {
		size, end := 0, 0
		for j := i; j < min(i+step, len(t.answers)); j++ {
			size, end = max(size, t.sizes[j]), max(end, at[j].end)
		}
		m.Turn = append(m.Turn, run.Turns[i].Number)
		m.Start = append(m.Start, at[i].start)
		m.End = append(m.End, end)
		m.Context = append(m.Context, size)
		m.Row = append(m.Row, t.answers[i])
	}
	return m
}

// findings puts each finding at a row.
func (s *session) findings(list []record.Finding) []Finding {
	at := make(map[string]int, len(s.model.Agents))
	for i, a := range s.model.Agents {
		at[a.Path] = i
	}
	var found []Finding
	for _, f := range list {
		agent, _, _ := strings.Cut(valid(string(f.Agent)), "~") // a side conversation's shows at its agent
		place, known := at[agent]
		if !known {
			place = -1
		}
		found = append(found, Finding{
			Code: f.Code, Severity: f.Weight(), Agent: place, Turn: f.Turn, Row: s.rowOf(place, f.Turn),
			Message: valid(f.Message), Remedy: record.RuleOf(f.Code).Remedy,
		})
	}
	return found
}

// rowOf is the row that begins a turn, 0 where there is none.
func (s *session) rowOf(agent, turn int) int {
	if agent < 0 {
		return 0
	}
	for _, row := range s.told[agent].answers[min(max(turn-1, 0), len(s.told[agent].answers)):] {
		if s.told[agent].lines[row].Turn >= turn {
			return row
		}
	}
	return 0
}

// notesOf says what of the file is not here.
func notesOf(h *transcripts.History) []string {
	var notes []string
	for _, w := range h.Warnings {
		if w.Line > 0 {
			notes = append(notes, fmt.Sprintf("%s:%d: %s", valid(h.Path), w.Line, valid(w.Msg)))
		} else {
			notes = append(notes, valid(h.Path)+": "+valid(w.Msg))
		}
	}
	for _, lost := range h.Lost {
		notes = append(notes, "not shown: "+valid(lost))
	}
	if h.File == nil {
		return notes
	}
	side := 0
	for i := range h.File.Exchanges {
		if strings.Contains(string(h.File.Exchanges[i].Agent), "~") {
			side++
		}
	}
	if side > 0 {
		notes = append(notes, fmt.Sprintf("not shown: %d requests of side conversations (titles, summaries)", side))
	}
	return notes
}

// index lists the sessions. Of a page that is a file, only the diffs that are
// in it can be shown.
func (b *Book) index(inFile bool) Index {
	x := Index{Version: Version, Sessions: []Listed{}, Passed: b.passed, Unread: b.unread}
	for _, s := range b.sessions {
		l := Listed{Name: s.model.Name, Format: s.model.Format, Agents: len(s.model.Agents)}
		for _, a := range s.model.Agents {
			l.Turns += a.Turns
		}
		for _, f := range s.model.Findings {
			switch f.Severity {
			case record.SeverityError:
				l.Errors++
			case record.SeverityWarning:
				l.Warnings++
			}
		}
		x.Sessions = append(x.Sessions, l)
	}
	if b.opened != nil {
		x.Diff, x.Start = true, *b.opened
	}
	if inFile {
		x.Diffs = [][2]int{}
		if pair, ok := b.kept(); ok {
			x.Diffs = append(x.Diffs, pair)
		}
	}
	return x
}

// kept is the pair whose diff goes into a file: the one that the page opens
// with, or the only one there is.
func (b *Book) kept() ([2]int, bool) {
	if b.opened != nil {
		return *b.opened, true
	}
	return [2]int{0, 1}, len(b.sessions) == 2
}
