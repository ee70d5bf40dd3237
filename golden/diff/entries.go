package diff

// pairing is how the messages of two agents stand to each other.
type pairing struct {
	to    []int32 // of each left message its partner, -1: none
	from  []int32 // of each right message
	moved []bool  // of each left message: its partner is in another place
	same  []bool  // of each left message: it equals its partner
	// broken marks left messages whose ids and those of the partner are not the
	// same under the renaming.
	broken []bool
}

func (p *pairing) mirror() *pairing {
	n := len(p.from)
	m := &pairing{to: p.from, from: p.to, moved: make([]bool, n), same: make([]bool, n), broken: make([]bool, n)}
	for j, i := range p.from {
		if i >= 0 {
			m.moved[j], m.same[j], m.broken[j] = p.moved[i], p.same[i], p.broken[i]
		}
	}
	return m
}

// pairEntries aligns the messages of two agents: equal ones in order, then equal
// ones in another place, then, between those, messages that look like an edit of
// each other.
func pairEntries(a, b []entry, steps *int) *pairing {
	keys := map[hash]int32{}
	x, y := numbers(a, keys), numbers(b, keys)
	p := &pairing{to: match(x, y, len(keys), steps), from: make([]int32, len(b)), moved: make([]bool, len(a)), same: make([]bool, len(a)), broken: make([]bool, len(a))}
	for j := range p.from {
		p.from[j] = -1
	}
	for i, j := range p.to {
		if j >= 0 {
			p.from[j], p.same[i] = int32(i), true
		}
	}
	gaps := p.gaps()
	p.findMoved(x, y, len(keys))
	for _, g := range gaps {
		p.pairGap(a, b, g, steps)
	}
	return p
}

func numbers(list []entry, keys map[hash]int32) []int32 {
	out := make([]int32, len(list))
	for i := range list {
		n, ok := keys[list[i].key]
		if !ok {
			n = int32(len(keys))
			keys[list[i].key] = n
		}
		out[i] = n
	}
	return out
}

// span is what stands between two pairs of messages in their places.
type span struct{ a0, a1, b0, b1 int }

func (p *pairing) gaps() []span {
	var list []span
	i, j := 0, 0
	for n := 0; n <= len(p.to); n++ {
		end := len(p.from)
		if n < len(p.to) {
			if p.to[n] < 0 {
				continue
			}
			end = int(p.to[n])
		}
		if i < n || j < end {
			list = append(list, span{i, n, j, end})
		}
		i, j = n+1, end+1
	}
	return list
}

// findMoved pairs equal messages that have no partner in place, the n-th with
// the n-th.
func (p *pairing) findMoved(x, y []int32, keys int) {
	waiting := make([][]int32, keys)
	for j := range y {
		if p.from[j] < 0 {
			waiting[y[j]] = append(waiting[y[j]], int32(j))
		}
	}
	for i := range x {
		if list := waiting[x[i]]; p.to[i] < 0 && len(list) > 0 {
			p.to[i], p.from[list[0]], p.moved[i], p.same[i] = list[0], int32(i), true, true
			waiting[x[i]] = list[1:]
		}
	}
}

// pairGap pairs messages of a gap that look like an edit of each other: by the
// best sum of likeness where the gap is small, else by role and tools alone.
func (p *pairing) pairGap(a, b []entry, g span, steps *int) {
	var is, js []int
	for i := g.a0; i < g.a1; i++ {
		if p.to[i] < 0 {
			is = append(is, i)
		}
	}
	for j := g.b0; j < g.b1; j++ {
		if p.from[j] < 0 {
			js = append(js, j)
		}
	}
	if len(is) == 0 || len(js) == 0 {
		return
	}
	cells := len(is) * len(js)
	if cells > mostCells || cells > 64*(len(is)+len(js)) {
		p.pairWeak(a, b, is, js, steps)
		return
	}
	if steps != nil {
		*steps += cells
	}
	width := len(js) + 1
	best := make([]int32, (len(is)+1)*width) // of what is left from i, j on
	for i := len(is) - 1; i >= 0; i-- {
		for j := len(js) - 1; j >= 0; j-- {
			take := int32(0)
			if n := likeness(&a[is[i]], &b[js[j]]); n > 0 {
				take = n + best[(i+1)*width+j+1]
			}
			best[i*width+j] = max(take, best[(i+1)*width+j], best[i*width+j+1])
		}
	}
	for i, j := 0, 0; i < len(is) && j < len(js); {
		n := likeness(&a[is[i]], &b[js[j]])
		switch {
		case n > 0 && best[i*width+j] == n+best[(i+1)*width+j+1]:
			p.to[is[i]], p.from[js[j]] = int32(js[j]), int32(is[i])
			i, j = i+1, j+1
		case best[i*width+j] == best[(i+1)*width+j]:
			i++
		default:
			j++
		}
	}
}

func (p *pairing) pairWeak(a, b []entry, is, js []int, steps *int) {
	keys := map[string]int32{}
	number := func(list []entry, at []int) []int32 {
		out := make([]int32, len(at))
		for n, i := range at {
			k, ok := keys[list[i].weak]
			if !ok {
				k = int32(len(keys))
				keys[list[i].weak] = k
			}
			out[n] = k
		}
		return out
	}
	x, y := number(a, is), number(b, js)
	for n, to := range match(x, y, len(keys), steps) {
		if to >= 0 {
			i, j := is[n], js[to]
			p.to[i], p.from[j] = int32(j), int32(i)
		}
	}
}

// likeness says how much two messages look like an edit of each other; 0: not.
func likeness(a, b *entry) int32 {
	if a.role != b.role {
		return 0
	}
	score := int32(0)
	if a.size > 0 && b.size > 0 {
		if a.head == b.head {
			score += 4
		}
		if a.tail == b.tail {
			score += 3
		}
	}
	switch {
	case a.weak == b.weak:
		score += 3
		for i := range a.calls {
			if a.calls[i].key == b.calls[i].key {
				score += 2
			}
		}
	case score == 0:
		return 0
	}
	if a.size <= 2*b.size && b.size <= 2*a.size {
		score++
	}
	return score
}

// pairCalls pairs the calls of two answers: equal ones first, then those of one
// tool, each in order.
func pairCalls(a, b []callOutline) []CallRow {
	to, from := make([]int, len(a)), make([]int, len(b))
	for i := range to {
		to[i] = -1
	}
	for j := range from {
		from[j] = -1
	}
	type key struct {
		name string
		key  hash
	}
	pass := func(of func(callOutline) key) {
		waiting := map[key][]int{}
		for j := range b {
			if from[j] < 0 {
				waiting[of(b[j])] = append(waiting[of(b[j])], j)
			}
		}
		for i := range a {
			if list := waiting[of(a[i])]; to[i] < 0 && len(list) > 0 {
				to[i], from[list[0]] = list[0], i
				waiting[of(a[i])] = list[1:]
			}
		}
	}
	pass(func(c callOutline) key { return key{c.name, c.key} })
	pass(func(c callOutline) key { return key{name: c.name} })
	var rows []CallRow
	for i := range a {
		switch {
		case to[i] < 0:
			rows = append(rows, CallRow{Kind: Removed, Left: i, Right: -1})
		case a[i].key != b[to[i]].key:
			rows = append(rows, CallRow{Kind: Changed, Left: i, Right: to[i]})
		case to[i] != i:
			rows = append(rows, CallRow{Kind: Moved, Left: i, Right: to[i]})
		default:
			rows = append(rows, CallRow{Kind: Same, Left: i, Right: i})
		}
	}
	for j := range b {
		if from[j] < 0 {
			rows = append(rows, CallRow{Kind: Added, Left: -1, Right: j})
		}
	}
	return rows
}
