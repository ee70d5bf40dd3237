package record

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/tapetree/tapetree/transcripts"
)

// ledger keeps what a replay found, over all agents. It is safe for concurrent
// use; what it gives back does not depend on the order of entry.
type ledger struct {
	mu       sync.Mutex
	grade    Grade
	notes    []note
	uses     map[string]int
	verdicts map[place]bool // calls that ended; true: judged live
	secret   int
}

// note is one finding and, where more than its line is of use, its report.
type note struct {
	at      place
	finding Finding
	detail  string
}

// add enters a finding at a place.
func (l *ledger) add(at place, code, message, detail string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.notes = append(l.notes, note{
		at:      at,
		finding: Finding{Code: code, Agent: at.Agent, Turn: at.Turn, Message: message},
		detail:  detail,
	})
}

// graded enters the grade of one request.
func (l *ledger) graded(g Grade) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.grade = l.grade.Worse(g)
}

// used adds counts of rules that made something equal.
func (l *ledger) used(uses map[string]int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for rule, n := range uses {
		l.uses[rule] += n
	}
}

// sorted returns the notes in tree order.
func sorted(notes []note) []note {
	notes = slices.Clone(notes)
	slices.SortStableFunc(notes, func(a, b note) int {
		if c := a.at.compare(b.at); c != 0 {
			return c
		}
		if c := strings.Compare(a.finding.Code, b.finding.Code); c != 0 {
			return c
		}
		return strings.Compare(a.finding.Message, b.finding.Message)
	})
	return notes
}

// merged puts prompt and tools findings that say the same of several agents
// into one line, at the first of them.
func merged(notes []note) []note {
	first := map[string]int{}
	also := map[int]int{}
	var out []note
	for _, n := range notes {
		key := n.finding.Code + "\n" + n.finding.Message
		at, seen := first[key]
		if seen && Severity(n.finding.Code) == SeverityWarning {
			also[at]++
			continue
		}
		first[key] = len(out)
		out = append(out, n)
	}
	for _, at := range slices.Sorted(maps.Keys(also)) {
		out[at].finding.Message += fmt.Sprintf(" (and so in %s)", counted(also[at], "more agent"))
	}
	return out
}

// counted writes a number with its noun: 1 call, 2 calls.
func counted(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}

// exchangeName names an exchange for a person: root/2.1#3, or root/2.1#3 try 2.
func exchangeName(e *transcripts.Exchange) string {
	if e.Try > 1 {
		return fmt.Sprintf("%s#%d try %d", e.Agent, e.Turn, e.Try)
	}
	return fmt.Sprintf("%s#%d", e.Agent, e.Turn)
}
