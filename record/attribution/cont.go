package attribution

import (
	"slices"

	"github.com/tapetree/tapetree/runtime"
)

// shortestText is how many bytes a text has that is taken for one answer of
// ours wherever it stands; shorter ones ("Done.") are said by many.
const shortestText = 12

// shortestID is how long an id is that is taken to be given once only.
const shortestID = 6

// most bounds how many equal entries of a table are looked at, newest first.
const most = 64

// hit is a turn whose answer a request goes on from.
type hit struct {
	turn   *turn
	from   int     // the first message after the answer
	beyond int     // assistant turns of the request after the answer
	others []*turn // which fit as well
}

// continued finds the newest answer of ours in a request, from its last
// assistant message back.
func (s *Scope) continued(q *asked) (hit, bool) {
	if q.tail == nil {
		return hit{}, false
	}
	beyond := 0
	for g := q.tail.group; g != nil; g = g.earlier {
		if found := s.answersAt(g); len(found) > 0 {
			h := s.choose(q, g, found)
			h.beyond = beyond
			return h.advance(q), true
		}
		beyond++
	}
	return s.continuedHead(q)
}

// answersAt returns the turns whose answer the assistant message g may be.
func (s *Scope) answersAt(g *node) []*turn {
	var found []*turn
	see := func(t *turn) {
		if !slices.Contains(found, t) {
			found = append(found, t)
		}
	}
	for _, x := range newest(s.tables.chains[g.value]) {
		see(x.turn)
	}
	for _, c := range g.said.calls {
		if c.ID == "" {
			continue
		}
		for _, known := range newest(s.tables.calls[callKey{c.ID, c.Name}]) {
			see(known.turn())
		}
	}
	if len(found) == 0 && len(g.said.calls) == 0 && len(g.said.plain()) >= shortestText {
		for _, x := range newest(s.tables.answers[g.said.digest()]) {
			see(x.turn)
		}
	}
	return found
}

// newest returns the last entries of a table.
func newest[T any](entries []T) []T { return entries[max(0, len(entries)-most):] }

// choose picks one of several turns: by the ids in the message and in the whole
// request, by the conversation before it, by session, by what went on already,
// by system text and tools.
func (s *Scope) choose(q *asked, g *node, found []*turn) hit {
	found = keepMost(found, func(t *turn) int { return s.ownIDs(g, t) })
	found = keepMost(found, func(t *turn) int { return yes(slices.Contains(turnsOf(s.tables.chains[g.value]), t)) })
	found = keepMost(found, func(t *turn) int { return s.allOwnIDs(g, t.thread) })
	found = keepMost(found, func(t *turn) int { return yes(q.session != "" && t.last().asked.session == q.session) })
	found = keepMost(found, func(t *turn) int { return yes(t.last().said == g.said.digest()) })
	found = keepMost(found, func(t *turn) int { return yes(len(t.thread.after(t.n)) == 0) })
	found = keepMost(found, func(t *turn) int { return yes(q.sameSetup(t.last().asked)) })
	found = keepMost(found, func(t *turn) int { return yes(len(found) > 1 && s.newestOf(t, found)) })
	return hit{turn: found[0], from: g.n, others: found[1:]}
}

// newestOf reports that t is the newest of the turns of one thread.
func (s *Scope) newestOf(t *turn, all []*turn) bool {
	return !slices.ContainsFunc(all, func(u *turn) bool { return u.thread != t.thread || u.n > t.n })
}

func turnsOf(all []*Exchange) []*turn {
	var turns []*turn
	for _, x := range newest(all) {
		turns = append(turns, x.turn)
	}
	return turns
}

func yes(b bool) int {
	if b {
		return 1
	}
	return 0
}

// keepMost keeps the elements with the highest count, in their order.
func keepMost[T any](all []T, count func(T) int) []T {
	if len(all) < 2 {
		return all
	}
	var kept []T
	best := 0
	for _, t := range all {
		n := count(t)
		if n > best {
			kept, best = nil, n
		}
		if n == best {
			kept = append(kept, t)
		}
	}
	return kept
}

// ownIDs counts the calls of message g whose id the turn gave, and nobody else.
func (s *Scope) ownIDs(g *node, t *turn) int {
	n := 0
	for _, c := range g.said.calls {
		if s.issuer(c) == t {
			n++
		}
	}
	return n
}

// allOwnIDs counts the calls up to message g whose id the thread gave, and
// nobody else.
func (s *Scope) allOwnIDs(g *node, t *thread) int {
	n := 0
	for ; g != nil; g = g.earlier {
		for _, c := range g.said.calls {
			if u := s.issuer(c); u != nil && u.thread == t {
				n++
			}
		}
	}
	return n
}

// issuer returns the turn that alone gave a call its id, nil if there is none.
func (s *Scope) issuer(c runtime.Call) *turn {
	known := s.tables.calls[callKey{c.ID, c.Name}]
	if len(c.ID) < shortestID || len(known) != 1 || s.tables.issued[c.ID] != 1 {
		return nil
	}
	return known[0].turn()
}

// advance goes on along the thread while the request has the same answers as
// the turns that follow: an answer may be too short to be found by itself.
func (h hit) advance(q *asked) hit {
	var after []*node
	for g := q.tail.group; g != nil && g.n > h.from; g = g.earlier {
		after = append(after, g)
	}
	for i := len(after) - 1; i >= 0; i-- {
		later := h.turn.thread.after(h.turn.n)
		if len(later) == 0 || later[0].last().said != after[i].said.digest() {
			break
		}
		h.turn, h.from, h.beyond = later[0], after[i].n, i
	}
	return h
}

// continuedHead finds the one thread whose newest request was all that stands
// before the first assistant message: its answer failed or was replaced.
func (s *Scope) continuedHead(q *asked) (hit, bool) {
	if q.tail.group == nil || q.tail.head == (sum{}) {
		return hit{}, false
	}
	var found []*turn
	for _, x := range newest(s.tables.asked[q.tail.head]) {
		t := x.turn.thread
		newest := t.newest() == x.turn && x.turn.last() == x
		if newest && x.state != stateOpen && x.asked.session == q.session && t.named == "" {
			found = append(found, x.turn)
		}
	}
	if len(found) != 1 {
		return hit{}, false
	}
	first := q.tail.group
	for first.earlier != nil {
		first = first.earlier
	}
	return hit{turn: found[0], from: first.n}, true
}
