package diff

import (
	"strings"
	"unicode"
)

// agentPair is one agent on both sides, or on one.
type agentPair struct {
	left, right *agentOutline
	entries     *pairing // where both are
	ids         *renaming
	children    []*agentPair
}

// pairRoots pairs the roots of two sessions in order.
func pairRoots(a, b []*agentOutline, steps *int) []*agentPair {
	var pairs []*agentPair
	for i := range max(len(a), len(b)) {
		p := &agentPair{}
		if i < len(a) {
			p.left = a[i]
		}
		if i < len(b) {
			p.right = b[i]
		}
		p.align(steps)
		pairs = append(pairs, p)
	}
	return pairs
}

// align pairs the messages of two agents, then their children.
func (p *agentPair) align(steps *int) {
	if p.left == nil || p.right == nil {
		p.alone()
		return
	}
	p.entries = pairEntries(p.left.entries, p.right.entries, steps)
	left, right := p.left.children, p.right.children
	to, taken := p.pairChildren(left, right)
	for i := range left {
		child := &agentPair{left: left[i].agent}
		if to[i] >= 0 {
			child.right = right[to[i]].agent
		}
		p.children = append(p.children, child)
	}
	for j := range right {
		if !taken[j] {
			p.children = append(p.children, &agentPair{right: right[j].agent})
		}
	}
	for _, child := range p.children {
		child.align(steps)
	}
}

// mirror turns left and right around.
func (p *agentPair) mirror() {
	p.left, p.right = p.right, p.left
	if p.entries != nil {
		p.entries = p.entries.mirror()
	}
	if p.ids != nil {
		p.ids = p.ids.mirror()
	}
	for _, child := range p.children {
		child.mirror()
	}
}

// order puts the children in the order of the left side, and those of the right
// side alone behind the one that they follow there.
func (p *agentPair) order() {
	byLeft, byRight := map[*agentOutline]*agentPair{}, map[*agentOutline]*agentPair{}
	for _, child := range p.children {
		if child.left != nil {
			byLeft[child.left] = child
		}
		if child.right != nil {
			byRight[child.right] = child
		}
		child.order()
	}
	if p.left == nil || p.right == nil {
		return
	}
	follow := map[*agentPair][]*agentPair{} // nil: at the beginning
	var last *agentPair
	for _, c := range p.right.children {
		if child := byRight[c.agent]; child.left == nil {
			follow[last] = append(follow[last], child)
		} else {
			last = child
		}
	}
	list := follow[nil]
	for _, c := range p.left.children {
		child := byLeft[c.agent]
		list = append(append(list, child), follow[child]...)
	}
	p.children = list
}

func (p *agentPair) alone() {
	one := p.left
	if one == nil {
		one = p.right
	}
	for _, c := range one.children {
		child := &agentPair{left: c.agent}
		if p.left == nil {
			child = &agentPair{right: c.agent}
		}
		child.alone()
		p.children = append(p.children, child)
	}
}

// pairChildren pairs children: those of calls that stand for each other, then by
// what they were told, by their title, by their place, and by likeness of what
// they were told.
func (p *agentPair) pairChildren(left, right []childOutline) (to []int, taken []bool) {
	to, taken = make([]int, len(left)), make([]bool, len(right))
	for i := range to {
		to[i] = -1
	}
	pass(to, taken, left, right, func(c childOutline, isLeft bool) any { return p.placeOf(c, isLeft) })
	pass(to, taken, left, right, func(c childOutline, _ bool) any { return c.agent.brief })
	pass(to, taken, left, right, func(c childOutline, _ bool) any {
		if c.agent.label == "" || c.agent.label == string(c.agent.path) {
			return nil
		}
		return c.agent.label
	})
	byLikeness(to, taken, left, right)
	pass(to, taken, left, right, func(c childOutline, _ bool) any { return c.agent.path })
	return to, taken
}

// place is a call of a pair of answers, in terms of the left side.
type place struct{ entry, call int }

// placeOf names the call that started a child, nil where the other side has none
// that stands for it.
func (p *agentPair) placeOf(c childOutline, isLeft bool) any {
	if c.entry < 0 {
		return nil
	}
	at, other := c.entry, -1
	if isLeft {
		other = int(p.entries.to[at])
	} else {
		other = int(p.entries.from[at])
	}
	if other < 0 {
		return nil
	}
	if isLeft {
		return place{at, c.call}
	}
	calls := p.left.entries[other].calls
	if p.entries.same[other] || c.call < 0 {
		return place{other, c.call}
	}
	for _, row := range pairCalls(calls, p.right.entries[at].calls) {
		if row.Right == c.call && row.Left >= 0 {
			return place{other, row.Left}
		}
	}
	return nil
}

// pass pairs children of one key in order; a key of nil pairs nothing.
func pass(to []int, taken []bool, left, right []childOutline, key func(childOutline, bool) any) {
	waiting := map[any][]int{}
	for j := range right {
		if k := key(right[j], false); !taken[j] && k != nil {
			waiting[k] = append(waiting[k], j)
		}
	}
	for i := range left {
		if to[i] >= 0 {
			continue
		}
		k := key(left[i], true)
		if list := waiting[k]; k != nil && len(list) > 0 {
			to[i], taken[list[0]] = list[0], true
			waiting[k] = list[1:]
		}
	}
}

// mostCompared is how many children without a partner are compared by what they
// were told, each with each.
const mostCompared = 64

// byLikeness pairs the most alike first; of equally alike ones the first.
func byLikeness(to []int, taken []bool, left, right []childOutline) {
	words := func(c childOutline) map[string]bool {
		set := map[string]bool{}
		for _, w := range strings.FieldsFunc(strings.ToLower(c.agent.label+" "+c.agent.prompt), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) }) {
			set[w] = true
		}
		return set
	}
	rights := make([]map[string]bool, len(right))
	n := 0
	for j := range right {
		if !taken[j] && n < mostCompared {
			rights[j] = words(right[j])
			n++
		}
	}
	n = 0
	for i := range left {
		if to[i] >= 0 || n == mostCompared {
			continue
		}
		n++
		mine, best, at := words(left[i]), 0.5, -1
		for j := range right {
			if taken[j] || rights[j] == nil {
				continue
			}
			common := 0
			for w := range mine {
				if rights[j][w] {
					common++
				}
			}
			if all := len(mine) + len(rights[j]) - common; all > 0 && float64(common)/float64(all) > best {
				best, at = float64(common)/float64(all), j
			}
		}
		if at >= 0 {
			to[i], taken[at] = at, true
		}
	}
}
