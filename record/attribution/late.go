package attribution

import (
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/tapetree/tapetree/runtime"
)

// Lengths in bytes of texts that say enough to tie a child to a result.
const (
	shortestReport = 20 // of a child that no brief ties to the call
	shortestPart   = 8  // of a result that is only a part of the child's text
)

// late is a result to compare with an answer that is still on its way.
type late struct {
	call *call
	text string
}

// settleResults notes the results that a request brings for the calls of the
// turn it goes on from.
func (s *Scope) settleResults(x *Exchange, at *turn) {
	calls := at.last().calls
	var results []runtime.Message
	for _, m := range x.asked.messages[min(x.from, len(x.asked.messages)):] {
		switch roleOf(m) {
		case runtime.RoleTool:
			results = append(results, m)
		case runtime.RoleUser:
			s.notified(x.turn.thread, m.Content)
		}
	}
	paired := pair(calls, results)
	for i, c := range calls {
		c.answered = true
		if m := paired[i]; m != nil && !c.result {
			s.resultOf(c, m.Content)
		}
	}
}

// pair finds the result of each call: by its id, of several with one id in
// order; if no id is found at all, clients have changed them, then by order.
func pair(calls []*call, results []runtime.Message) []*runtime.Message {
	paired := make([]*runtime.Message, len(calls))
	found := false
	for i := range results {
		for j, c := range calls {
			if paired[j] == nil && c.id == results[i].CallID {
				paired[j], found = &results[i], true
				break
			}
		}
	}
	if !found && len(results) == len(calls) {
		for i := range results {
			paired[i] = &results[i]
		}
	}
	return paired
}

// notified takes a user text that names a call by its id as a result of it: of
// children in the background the answer comes like this.
// Where one text names several, what stands between two names is the first
// one's.
func (s *Scope) notified(t *thread, text string) {
	if len(s.drawn) == 0 {
		return
	}
	var named []*call
	var at []int
	for _, u := range t.turns {
		for _, c := range u.last().calls {
			if len(s.drawn[c]) > 0 && len(c.id) >= shortestID && s.tables.issued[c.id] == 1 && holdsWord(text, c.id) {
				named = append(named, c)
				at = append(at, strings.Index(text, c.id))
			}
		}
	}
	for i, c := range named {
		end := len(text)
		for _, next := range at {
			if next > at[i] {
				end = min(end, next)
			}
		}
		s.resultOf(c, text[at[i]:end])
	}
}

// resultOf compares a call's result with the threads that may have made it.
func (s *Scope) resultOf(c *call, text string) {
	c.result = true
	for _, t := range s.drawn[c] {
		s.compare(c, t, text, 1)
	}
	if len(c.children) > 0 {
		return
	}
	for _, t := range s.threads[c.since:] {
		if t.origin.relation == isRoot && t.named == "" {
			s.compare(c, t, text, shortestReport)
		}
	}
}

// compare notes whether a thread's last text is in a result, now or when the
// answer that is on its way is there.
func (s *Scope) compare(c *call, t *thread, text string, shortest int) {
	if t.session != "" && len(t.session) >= shortestID && holdsWord(text, t.session) {
		s.fit(c, fit{thread: t, sure: true})
		return
	}
	last := t.lastText()
	if len(last) >= shortest && inResult(text, last, shortest == 1) {
		s.fit(c, fit{thread: t})
		return
	}
	if u := t.newest(); u != nil && u.last().state == stateOpen {
		u.last().late = append(u.last().late, late{call: c, text: text})
	}
}

func (s *Scope) fit(c *call, f fit) {
	if len(c.fits) == 0 {
		s.fitted = append(s.fitted, c)
	}
	c.fits = append(c.fits, f)
}

// compareLate compares an answer that is there now with the results that came
// before it.
func (s *Scope) compareLate(x *Exchange) {
	waiting := x.late
	x.late = nil
	for _, l := range waiting {
		shortest := shortestReport
		for _, t := range s.drawn[l.call] {
			if t == x.turn.thread {
				shortest = 1
			}
		}
		s.compare(l.call, x.turn.thread, l.text, shortest)
	}
}

// inResult reports that a text is in a result, in a string of the JSON that the
// result is, or, if part is allowed, the other way round.
func inResult(result, text string, part bool) bool {
	text = squash(text)
	whole := squash(result)
	if holdsWord(whole, text) {
		return true
	}
	if part && len(whole) >= shortestPart && holdsWord(text, whole) {
		return true
	}
	var value any
	if json.Unmarshal([]byte(result), &value, jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true)) != nil {
		return false
	}
	for _, inner := range leaves(value, nil) {
		if holdsWord(inner, text) {
			return true
		}
		if part && len(inner) >= shortestPart && strings.Contains(inner, " ") && holdsWord(text, inner) {
			return true
		}
	}
	return false
}

// adoptMade ties a root to an opening that shows it as the result of a call
// that no model made: the client ran a child before it asked anything.
func (s *Scope) adoptMade(x *Exchange) {
	t := x.turn.thread
	if !x.Opening {
		return
	}
	made := map[string]*call{}
	for _, m := range x.asked.messages {
		for _, c := range m.Calls {
			made[c.ID] = &call{x: x, strings: stringsOf(c.Arguments)}
		}
		c := made[m.CallID]
		if roleOf(m) != runtime.RoleTool || c == nil {
			continue
		}
		var found []*thread
		for _, other := range s.threads[:t.number] {
			if other.origin.relation == isRoot && other.named == "" && !other.aside && c.ran(other, m.Content) {
				found = append(found, other)
			}
		}
		if len(found) == 1 && !t.below(found[0]) {
			found[0].origin = origin{relation: isUnknown, owner: t}
		}
	}
}

// ran reports that a call that a client made ran a thread: its result is the
// thread's answer, a long one or one to what the call says.
func (c *call) ran(t *thread, result string) bool {
	last := t.lastText()
	if last == "" || !inResult(result, last, false) {
		return false
	}
	return len(last) >= shortestReport || t.opening != nil && weigh(c, t.opening).equal
}

// below reports that other is among those that t comes from.
func (t *thread) below(other *thread) bool {
	for t != nil {
		if t == other {
			return true
		}
		switch t.origin.relation {
		case isChild:
			t = t.origin.call.thread()
		case isSide, isUnknown:
			t = t.origin.owner
		default:
			return false
		}
	}
	return false
}
