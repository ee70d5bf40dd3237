package attribution

import "cmp"

// goOn puts a request where the hit says: the thread goes on, or parts.
func (s *Scope) goOn(x *Exchange, h hit) {
	x.from = h.from
	x.word = wordOf(x.asked, h.from)
	t := h.turn.thread
	if s.forked(x, h) {
		return
	}
	later := t.after(h.turn.n)
	if len(later) == 0 && s.summedUp(x, t) {
		return
	}
	switch {
	case goesOn(later, h):
		s.join(x, t)
		s.settleResults(x, h.turn)
	default:
		s.part(x, h.turn, later[0])
	}
	for _, other := range h.others {
		if other.thread.twin == h.turn.thread { // two equal answers of one request
			continue
		}
		x.turn.thread.doubtFrom(x.turn.n, other.thread)
	}
}

// summedUp lets an agent go on from what its side conversation t said last: a
// summary that it sends back as an answer of its own.
func (s *Scope) summedUp(x *Exchange, t *thread) bool {
	owners := s.ownersOf(t, x.asked)
	owner := owners[0]
	if owner == t || x.asked.sameSetup(t.newest().last().asked) || !x.asked.sameSetup(owner.newest().last().asked) {
		return false
	}
	s.join(x, owner)
	x.from = 0 // a result may stand before the summary
	if u := x.turn; u.n > 1 {
		s.settleResults(x, owner.turns[u.n-2])
	}
	for _, other := range owners[1:] {
		owner.doubtFrom(x.turn.n, other)
	}
	return true
}

// goesOn reports that the turns after the hit are none: silent ones, which
// clients do not send back, or one whose answer is only just ending and which
// the request has.
func goesOn(later []*turn, h hit) bool {
	for i, u := range later {
		ending := i == len(later)-1 && u.last().state == stateOpen && h.beyond > 0
		if !u.silent() && !ending {
			return false
		}
	}
	return true
}

// part makes a side conversation of the request or of what followed the same
// answer before: the agent is who keeps its system text and tools.
func (s *Scope) part(x *Exchange, at, next *turn) {
	t := at.thread
	setup := at.last().asked
	mine, others := x.asked.sameSetup(setup), next.last().asked.sameSetup(setup)
	if mine && !others && t.named == "" {
		s.moveAside(t, at.n)
		s.join(x, t)
		s.settleResults(x, at)
		return
	}
	side := s.newSide(x, t, x.word)
	if x.asked.body == next.last().asked.body {
		s.askedTwice(x, next, side)
		return
	}
	s.join(x, side)
	if mine {
		side.doubtFrom(1, t)
		t.doubtFrom(at.n+1, side)
	}
}

// askedTwice takes a request that a turn has asked before, byte for byte, and got
// an answer for. Either answer is the turn's, so the two are twins: which of them
// the client goes on from tells itself.
func (s *Scope) askedTwice(x *Exchange, before *turn, side *thread) {
	side.twin = before.thread
	s.join(x, side)
	for _, y := range before.tries {
		y.flag = FlagTwin
		y.rivals = append(y.rivals, side)
	}
}

// newSide begins a side conversation of t with x.
func (s *Scope) newSide(x *Exchange, t *thread, word string) *thread {
	side := s.newThread(x, origin{relation: isSide, owner: t}, s.freeSide(t.first.path, word))
	side.word = word
	side.opening = s.opening(x.asked)
	return side
}

// moveAside makes the turns after turn n a side conversation of their own. It
// keeps the identity that First places have, and the thread gets a new one.
func (s *Scope) moveAside(t *thread, n int) {
	moved := t.turns[n:]
	t.turns = t.turns[:n:n]
	begun := moved[0].tries[0]
	side := &thread{
		number: Thread(len(s.threads)), origin: origin{relation: isSide, owner: t}, word: cmp.Or(begun.word, "side"),
		first: t.first, session: begun.asked.session, parent: begun.asked.parent,
	}
	s.threads = append(s.threads, side)
	t.first = s.identify(s.freeSide(t.first.path, side.word))
	for i, u := range moved {
		u.thread, u.n = side, i+1
	}
	side.turns = moved
	if t.doubt > n {
		side.doubt, side.rival, t.doubt, t.rival = t.doubt-n, t.rival, 0, nil
	}
}

// doubtFrom notes that the turns from n on may be the other thread's. What a
// client says of its agents is not doubted.
func (t *thread) doubtFrom(n int, other *thread) {
	if t.named == "" && (t.doubt == 0 || n < t.doubt) {
		t.doubt, t.rival = n, other
	}
}

// forked makes x a child if it begins with the history of a thread and then
// asks what one of the thread's later calls says.
func (s *Scope) forked(x *Exchange, h hit) bool {
	asks := s.opening(&asked{messages: x.asked.messages[min(h.from, len(x.asked.messages)):]})
	asks.system = nil
	if len(asks.user) == 0 {
		return false
	}
	var fits []evidence
	for _, u := range h.turn.thread.turns[h.turn.n-1:] {
		for _, c := range u.last().calls {
			if e := weigh(c, asks); e.equal && !c.dead && !c.over() {
				fits = append(fits, e)
			}
		}
	}
	if len(fits) == 0 {
		return false
	}
	s.beginChild(x, asks, rank(fits))
	return true
}
