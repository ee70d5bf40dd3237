package transcripts

// openCalls holds the calls that have no result yet. Each step is constant in
// time, however many calls share one id.
type openCalls[T any] struct {
	byID map[string][]openGroup[T]
}

// openGroup are the open calls of one answer that share an id.
type openGroup[T any] struct {
	answer int
	calls  []T
}

// put adds a call of the answer with the given number; numbers never fall.
func (o *openCalls[T]) put(id string, answer int, call T) {
	if o.byID == nil {
		o.byID = map[string][]openGroup[T]{}
	}
	groups := o.byID[id]
	if n := len(groups); n > 0 && groups[n-1].answer == answer {
		groups[n-1].calls = append(groups[n-1].calls, call)
		return
	}
	o.byID[id] = append(groups, openGroup[T]{answer, []T{call}})
}

// take removes the call that a result with this id answers: of the latest answer
// that has an open one, the first. Ids that are used again later pair by
// occurrence so, and so do calls of one answer that share an id.
func (o *openCalls[T]) take(id string) (call T, ok bool) {
	groups := o.byID[id]
	if len(groups) == 0 {
		return call, false
	}
	last := &groups[len(groups)-1]
	call = last.calls[0]
	if last.calls = last.calls[1:]; len(last.calls) == 0 {
		o.byID[id] = groups[:len(groups)-1]
	}
	return call, true
}
