package attribution

import "slices"

// shortestQuote is how many bytes of an answer stand in another conversation
// only because it quotes them.
const shortestQuote = 40

// quoted puts an opening that holds the newest answer of a thread, or of one of
// its side conversations, in full: the thread goes on with it if it keeps
// system text and tools, else it is a side conversation of it.
func (s *Scope) quoted(x *Exchange, o *opening) bool {
	var from *thread
	longest := shortestQuote - 1
	var others []*thread
	for _, r := range s.reports {
		t, text := r.thread, r.text
		switch {
		case len(text) < longest || !o.holds(text) || squash(t.lastText()) != text:
		case len(text) == longest && from != nil:
			others = append(others, from)
			from = t
		default:
			from, longest, others = t, len(text), nil
		}
	}
	if from == nil {
		return false
	}
	owners := s.ownersOf(from, x.asked)
	t := owners[0]
	if u := t.newest(); u != nil && u.last().asked.sameSetup(x.asked) {
		s.join(x, t)
	} else {
		s.join(x, s.newSide(x, t, x.asked.purpose()))
	}
	for _, other := range others {
		owners = append(owners, s.ownersOf(other, x.asked)[0])
	}
	for _, other := range owners[1:] {
		if other != t {
			x.turn.thread.doubtFrom(x.turn.n, other)
		}
	}
	return true
}

// ownersOf returns the agents that may go on, with a request, from what a
// thread said last: the agent whose side conversation the thread is. Of a
// summary asked for without a word of whose, it is the agent with the request's
// system text and tools, best one whose prompt the summary was asked with.
func (s *Scope) ownersOf(t *thread, q *asked) []*thread {
	t = t.agent()
	if !t.aside {
		return []*thread{t}
	}
	var owners []*thread
	for _, u := range s.threads {
		other := u.origin.relation == isSide || u.aside || u.session != q.session
		if !other && len(u.turns) > 0 && u.newest().last().asked.sameSetup(q) {
			owners = append(owners, u)
		}
	}
	if len(owners) == 0 {
		return []*thread{t}
	}
	return keepMost(owners, func(u *thread) int { return yes(u.opening != nil && u.opening.quotedBy(t.opening)) })
}

// report is the newest answer of a thread, white space squashed.
type report struct {
	thread *thread
	text   string
}

// mostReports bounds how many answers are looked for in an opening: what is
// quoted has mostly just been said.
const mostReports = 256

// report notes an answer that others may quote.
func (s *Scope) report(t *thread, text string) {
	s.reports = slices.DeleteFunc(s.reports, func(r report) bool { return r.thread == t })
	s.reports = append(s.reports, report{t, text})
	if len(s.reports) > mostReports {
		s.reports = slices.Delete(s.reports, 0, 1)
	}
}

// lastText is the newest answer of a thread if that is a text.
func (t *thread) lastText() string {
	for i := len(t.turns) - 1; i >= 0; i-- {
		if x := t.turns[i].last(); x.state == stateDone {
			return x.text
		}
	}
	return ""
}
