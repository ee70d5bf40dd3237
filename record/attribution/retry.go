package attribution

// repeats reports that the client's library says this is not the first time it
// sends the request.
func (q *asked) repeats() bool { return q.retry != "" && q.retry != "0" }

// retried returns the thread whose newest request, which failed, x asks again:
// with the same bytes, or, alike, in a conversation that begins the same.
func (s *Scope) retried(x *Exchange, alike bool) *thread {
	q := x.asked
	var found []*turn
	for _, y := range newest(s.tables.asked[q.value()]) {
		u := y.turn
		if u.thread.named != "" || u.thread.newest() != u || u.last() != y || y.asked.session != q.session {
			continue
		}
		same := y.asked.body == q.body
		if alike {
			same = q.value() != (sum{}) && y.asked.system == q.system
		}
		if same && (y.state == stateFailed || (q.repeats() || y.unsure) && !alike) {
			found = append(found, u)
		}
	}
	found = keepMost(found, func(u *turn) int { return yes(tried(u, q)) })
	if len(found) == 0 {
		return nil
	}
	if q.session == "" && !q.repeats() && found[0].n == 1 {
		if best := s.children(q, s.opening(q)); len(best) > 0 && len(best[0].call.children) == 0 {
			for _, u := range found {
				u.doubtTries(nil, best[0].call)
			}
			return nil
		}
	}
	for _, u := range found[1:] {
		u.doubtTries(found[0].thread, nil)
		found[0].doubtTries(u.thread, nil)
	}
	return found[0].thread
}

// tried reports that the turn has as many tries as the client counts.
func tried(u *turn, q *asked) bool {
	return len(q.retry) == 1 && int(q.retry[0]-'0') == len(u.tries)
}

// doubtTries flags the failed tries of a turn: they may be another thread's, or
// those of the child of another call, which begins now.
func (u *turn) doubtTries(other *thread, child *call) {
	for _, try := range u.tries {
		try.flag = FlagTwin
		if other != nil {
			try.rivals = append(try.rivals, other)
		}
		if child != nil {
			try.doubtful = append(try.doubtful, child)
		}
	}
}
