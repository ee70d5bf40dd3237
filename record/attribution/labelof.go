package attribution

// labelOf is the label of one exchange: that of its thread, and what is in
// doubt from its turn on or about itself.
func (s *Scope) labelOf(x *Exchange) label {
	t := x.turn.thread
	l := s.labels[t.number]
	l.candidates = l.candidates[:len(l.candidates):len(l.candidates)]
	if t.doubt > 1 && x.turn.n >= t.doubt {
		l.doubt(FlagAmbiguous, s.labels[t.rival.number].path)
	}
	if x.flag == "" {
		return l
	}
	l.doubt(x.flag)
	for _, rival := range x.rivals {
		l.candidates = append(l.candidates, s.labels[rival.number].path)
	}
	for _, c := range x.doubtful {
		owner := s.labels[c.thread().number].path
		if agentPath(owner) == owner {
			l.candidates = append(l.candidates, childPath(owner, c.turn().n, c.n, 1))
		}
	}
	return l
}
