package requests

import (
	"slices"
	"sort"
	"strings"

	"github.com/tapetree/tapetree/runtime"
)

// align finds what became of old[at:] in list[at:]: messages that stand in both
// in the same order are kept, what stands between two of them is told apart by
// gap.
func (c *Changes) align(old, list []runtime.Message, at int) {
	o, n := at, at
	for _, pair := range common(old, list, at) {
		c.gap(old, list, o, pair.old, n, pair.new)
		c.Kept++
		o, n = pair.old+1, pair.new+1
	}
	c.gap(old, list, o, len(old), n, len(list))
}

type pair struct{ old, new int }

// messageKey is equal for messages that say the same.
type messageKey struct{ role, id, content, calls string }

func keyOf(m runtime.Message) messageKey {
	var calls strings.Builder
	for _, call := range m.Calls {
		calls.WriteString(call.ID + "\x00" + call.Name + "\x00" + call.Arguments + "\x00")
	}
	if raw := other(m); raw != nil {
		calls.Write(raw)
	}
	return messageKey{string(m.Role), m.CallID, m.Content, calls.String()}
}

// common returns the longest ascending list of messages that stand in both, the
// n-th occurrence of a message in one paired with the n-th in the other, counted
// from the end: what a client drops, it drops at the front.
func common(old, list []runtime.Message, at int) []pair {
	if at >= len(old) || at >= len(list) {
		return nil
	}
	places := map[messageKey][]int{}
	for i := at; i < len(old); i++ {
		key := keyOf(old[i])
		places[key] = append(places[key], i)
	}
	var pairs []pair
	for i := len(list) - 1; i >= at; i-- {
		key := keyOf(list[i])
		if found := places[key]; len(found) > 0 {
			pairs = append(pairs, pair{found[len(found)-1], i})
			places[key] = found[:len(found)-1]
		}
	}
	slices.Reverse(pairs)
	return ascending(pairs)
}

// ascending returns a longest part of pairs in which old ascends too (patience).
func ascending(pairs []pair) []pair {
	var tops []int // the index of the pair on top of each pile
	before := make([]int, len(pairs))
	for i, p := range pairs {
		at := sort.Search(len(tops), func(j int) bool { return pairs[tops[j]].old >= p.old })
		before[i] = -1
		if at > 0 {
			before[i] = tops[at-1]
		}
		if at == len(tops) {
			tops = append(tops, i)
		} else {
			tops[at] = i
		}
	}
	if len(tops) == 0 {
		return nil
	}
	var list []pair
	for i := tops[len(tops)-1]; i >= 0; i = before[i] {
		list = append(list, pairs[i])
	}
	slices.Reverse(list)
	return list
}

// gap tells what became of the messages old[o:oEnd], in whose place list[n:nEnd]
// stands. Tool results of one call, and a message and its shortened form, are
// pairs; a text in the place of two messages or more is their summary; of the
// rest, a message alone in the place of a message of the same role is an edit.
func (c *Changes) gap(old, list []runtime.Message, o, oEnd, n, nEnd int) {
	paired := map[int]int{} // new to old
	next := o
	results := map[string][]int{}
	for i := o; i < oEnd; i++ {
		if old[i].Role == runtime.RoleTool {
			results[old[i].CallID] = append(results[old[i].CallID], i)
		}
	}
	for i := n; i < nEnd; i++ {
		match := -1
		if found := results[list[i].CallID]; list[i].Role == runtime.RoleTool {
			for len(found) > 0 && found[0] < next {
				found = found[1:]
			}
			if len(found) > 0 {
				match, found = found[0], found[1:]
			}
			results[list[i].CallID] = found
		} else if next < oEnd && shortened(old[next], list[i]) {
			match = next
		}
		if match >= 0 {
			paired[i], next = match, match+1
		}
	}
	fromOld, fromNew := o, n
	for i := n; i < nEnd; i++ {
		match, ok := paired[i]
		if !ok {
			continue
		}
		c.rest(old, list, fromOld, match, fromNew, i)
		kind := Edited
		if len(list[i].Content) < len(old[match].Content) {
			kind = Cut
		}
		c.Messages = append(c.Messages, Change{Kind: kind, Old: []int{match}, New: []int{i}})
		fromOld, fromNew = match+1, i+1
	}
	c.rest(old, list, fromOld, oEnd, fromNew, nEnd)
}

// rest tells what became of messages between two pairs.
func (c *Changes) rest(old, list []runtime.Message, o, oEnd, n, nEnd int) {
	switch {
	case oEnd-o >= 2 && n < nEnd && isText(list[n]):
		c.Messages = append(c.Messages, Change{Kind: Compacted, Old: span(o, oEnd), New: []int{n}})
		n, o = n+1, oEnd
	case oEnd-o == 1 && n < nEnd && old[o].Role == list[n].Role:
		c.Messages = append(c.Messages, Change{Kind: Edited, Old: []int{o}, New: []int{n}})
		n, o = n+1, oEnd
	}
	if o < oEnd {
		c.Messages = append(c.Messages, Change{Kind: Dropped, Old: span(o, oEnd)})
	}
	for ; n < nEnd; n++ {
		c.Messages = append(c.Messages, Change{Kind: Added, New: []int{n}})
	}
}

func span(from, to int) []int {
	list := make([]int, 0, to-from)
	for i := from; i < to; i++ {
		list = append(list, i)
	}
	return list
}

// isText reports that a message can be a summary.
func isText(m runtime.Message) bool {
	return m.Role != runtime.RoleTool && len(m.Calls) == 0 && m.Content != ""
}

// shortened reports that m is before with a part of its text left out: at least
// half of what it says is the beginning or the end of what was said.
func shortened(before, m runtime.Message) bool {
	if before.Role != m.Role || len(m.Calls) != len(before.Calls) || len(m.Content) >= len(before.Content) {
		return false
	}
	head := 0
	for head < len(m.Content) && m.Content[head] == before.Content[head] {
		head++
	}
	tail := 0
	for tail < len(m.Content)-head && m.Content[len(m.Content)-1-tail] == before.Content[len(before.Content)-1-tail] {
		tail++
	}
	return head+tail > 0 && 2*(head+tail) >= len(m.Content)
}
