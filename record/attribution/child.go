package attribution

import (
	"slices"
)

// children returns what explains an opening best: the calls that may have
// started it, the likeliest first. With several there is a draw.
func (s *Scope) children(q *asked, o *opening) []evidence {
	s.open = slices.DeleteFunc(s.open, func(c *call) bool { return c.over() && !c.flagged() })
	var fits []evidence
	aside := q.aside()
	for _, c := range s.open {
		if q.parent != "" && c.thread().session != q.parent {
			continue
		}
		e := weigh(c, o)
		if e.equal && (aside || c.answered && q.sameSetup(c.thread().turns[0].last().asked)) && c.thread().asked(o.user) {
			continue // it asks about the agent, or is the same question put once more
		}
		if e.equal || e.found {
			fits = append(fits, e)
		}
	}
	return unlinked(rank(fits), o)
}

// asked reports that the thread began with one of the user texts.
func (t *thread) asked(texts []string) bool {
	return t.opening != nil && slices.ContainsFunc(texts, func(text string) bool { return slices.Contains(t.opening.user, text) })
}

// rank keeps the best of the evidence: what is equal, then the most bytes, then
// calls without a child, then calls without a result. If all is void, it is what
// an opening tells of an agent. Calls that would draw but
// for a child that is flagged itself follow at the end.
func rank(fits []evidence) []evidence {
	about := fits
	fits = slices.DeleteFunc(slices.Clone(fits), func(e evidence) bool { return e.void })
	if len(fits) == 0 && len(about) > 0 { // it tells of an agent: of the outermost, which has the others in it
		return []evidence{slices.MinFunc(about, func(a, b evidence) int { return int(a.call.thread().number - b.call.thread().number) })}
	}
	best := slices.DeleteFunc(slices.Clone(fits), func(e evidence) bool { return e.call.over() })
	best = keepMost(best, func(e evidence) int { return yes(e.equal) })
	best = keepMost(best, func(e evidence) int { return e.bytes })
	best = keepMost(best, func(e evidence) int { return yes(!e.call.dead) })
	alike := best
	best = keepMost(best, func(e evidence) int { return yes(len(e.call.children) == 0) })
	best = keepMost(best, func(e evidence) int { return yes(!e.call.answered) })
	if len(best) == 0 {
		return nil
	}
	best = slices.Clone(best)
	slices.SortStableFunc(best, func(a, b evidence) int { return before(a.call, b.call) })
	for _, e := range fits {
		draws := slices.Contains(alike, e) || e.call.over() && e.equal == best[0].equal && e.bytes == best[0].bytes
		if draws && e.call.flagged() && !slices.Contains(best, e) {
			best = append(best, e)
		}
	}
	return best
}

// before orders the calls of one answer as written and leaves others as they
// came.
func before(a, b *call) int {
	if a.x == b.x {
		return a.n - b.n
	}
	return 0
}

// begin puts a request that goes on from nothing: it begins a conversation.
func (s *Scope) begin(x *Exchange) {
	q := x.asked
	o := s.opening(q)
	best := s.children(q, o)
	pending := len(best) > 0 && !best[0].call.answered
	switch {
	case len(best) > 0 && best[0].void:
		t := best[0].call.thread()
		s.join(x, s.newSide(x, t, q.purpose()))
	case pending || len(best) > 0 && best[0].equal:
		s.beginChild(x, o, best)
	case q.parent == "" && !q.aside() && s.quoted(x, o):
	case len(best) > 0:
		s.beginChild(x, o, best)
	default:
		s.beginRoot(x, o)
	}
	s.adoptMade(x)
}

// beginChild begins the child of the first of the calls; the others are drawn
// with it.
func (s *Scope) beginChild(x *Exchange, o *opening, best []evidence) {
	c := best[0].call
	t := s.newThread(x, origin{relation: isChild, call: c}, s.freeChild(c))
	t.opening = o
	t.word = x.asked.purpose()
	c.children = append(c.children, t)
	if len(best) > 1 {
		t.flag = FlagTwin
		for _, e := range best {
			t.draw = append(t.draw, e.call)
			s.drawn[e.call] = append(s.drawn[e.call], t)
			if e.call.x != c.x {
				t.flag = FlagAmbiguous
			}
		}
	}
	s.join(x, t)
}

// beginRoot begins a thread that nobody is seen to have started. What it is
// called is found at the end: it may be the side conversation of a main thread
// that only comes later.
func (s *Scope) beginRoot(x *Exchange, o *opening) {
	q := x.asked
	from := origin{relation: isRoot}
	if q.parent != "" {
		from.relation = isForeign
	}
	word := q.purpose()
	t := s.newThread(x, from, s.freeRoot(q, o, word))
	t.opening = o
	t.word = word
	t.aside = q.aside()
	s.join(x, t)
}
