package attribution

import "slices"

// settlement is what the results say about children: the call of each child,
// and which draws are decided by them.
type settlement struct {
	call    map[*thread]*call
	settled map[*thread]bool
}

// settle decides the draws whose calls all have results.
func (s *Scope) settle() settlement {
	d := settlement{call: map[*thread]*call{}, settled: map[*thread]bool{}}
	open := map[*thread][]*call{}
	for _, t := range s.threads {
		if t.origin.relation == isChild {
			d.call[t] = t.origin.call
		}
		if len(t.draw) > 0 && !slices.ContainsFunc(t.draw, func(c *call) bool { return !c.result }) {
			open[t] = fitting(t)
		}
	}
	for again := true; again; {
		again = false
		for _, t := range s.threads {
			fits, waits := open[t]
			if !waits || len(fits) != 1 {
				continue
			}
			if s.claimed(fits[0], t, open) {
				continue
			}
			d.call[t], d.settled[t] = fits[0], true
			delete(open, t)
			for other, rest := range open {
				open[other] = slices.DeleteFunc(slices.Clone(rest), func(c *call) bool { return c == fits[0] })
			}
			again = true
		}
	}
	s.shuffle(d)
	s.adopt(d)
	return d
}

// fitting returns the calls of a draw whose result holds what the child said
// last. A session's id in a result says it for sure.
func fitting(t *thread) []*call {
	var sure, fits []*call
	for _, c := range t.draw {
		for _, f := range c.fits {
			if f.thread != t || slices.Contains(fits, c) {
				continue
			}
			fits = append(fits, c)
			if f.sure {
				sure = append(sure, c)
			}
		}
	}
	if len(sure) > 0 {
		return sure
	}
	return fits
}

// claimed reports that another child fits the call and no other as well, so
// that neither can have it for sure.
func (s *Scope) claimed(c *call, t *thread, open map[*thread][]*call) bool {
	for other, fits := range open {
		if other != t && len(fits) == 1 && fits[0] == c {
			return true
		}
	}
	return false
}

// shuffle gives children whose draw stays open calls that no settled child has,
// in order; the last child and the last call of a draw belong together.
func (s *Scope) shuffle(d settlement) {
	taken := map[*call]*thread{}
	for t := range d.settled {
		taken[d.call[t]] = t
	}
	for _, t := range s.threads {
		if len(t.draw) == 0 || d.settled[t] {
			continue
		}
		if holder := taken[d.call[t]]; holder != nil {
			for _, c := range t.draw {
				if taken[c] == nil {
					d.call[t] = c
					break
				}
			}
		}
		if taken[d.call[t]] == nil {
			taken[d.call[t]] = t
		}
	}
	for _, t := range s.threads {
		if len(t.draw) > 0 && !d.settled[t] && s.onlyOneLeft(t, d) {
			d.settled[t] = true
		}
	}
}

// onlyOneLeft reports that all other calls that t may come from are those of
// children that are settled, one each, and that all children of the draw but t
// are settled.
func (s *Scope) onlyOneLeft(t *thread, d settlement) bool {
	free := 0
	for _, c := range t.draw {
		if !c.result {
			return false
		}
		held := 0
		for _, other := range s.threads {
			if d.call[other] != c {
				continue
			}
			if other != t && !d.settled[other] && other.flag != "" {
				return false
			}
			held++
		}
		if held > 1 {
			return false
		}
		if d.call[t] == c {
			free++
		}
	}
	return free == 1
}

// adopt gives a call without a child the one root whose answer is its result.
func (s *Scope) adopt(d settlement) {
	has := map[*call]bool{}
	for _, c := range d.call {
		has[c] = true
	}
	for _, c := range s.fitted {
		if has[c] {
			continue
		}
		if child := onlyRoot(c, d); child != nil && !c.thread().below(child) {
			d.call[child] = c
			has[c] = true
		}
	}
}

// onlyRoot returns the one root that a call's result fits, nil if there are
// none or several.
func onlyRoot(c *call, d settlement) *thread {
	var only *thread
	for _, f := range c.fits {
		t := f.thread
		if t.origin.relation != isRoot || d.call[t] != nil || t == only || t == c.thread() {
			continue
		}
		if only != nil {
			return nil
		}
		only = t
	}
	return only
}
