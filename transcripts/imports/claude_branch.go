package imports

import (
	"fmt"

	"github.com/tapetree/tapetree/transcripts"
)

// claudeLive returns the lines of one agent that belong to its conversation as
// it went on, in the order written, and how many messages were left behind when
// a message was taken back and written anew. What is odd about how lines follow
// each other is told.
//
// Lines form a tree: each names the one it follows. Of every tree the way to its
// last message is what went on. Beside that way, yet part of it, stand the other
// lines of an answer on it and the results of its calls, which fork where calls
// ran at the same time.
func claudeLive(lines []*claudeLine) (live []*claudeLine, left int, odd []transcripts.Warning) {
	t := newClaudeTree(lines)
	t.open()
	on := t.ways()
	answers := map[string]bool{} // of the conversation
	calls := map[string]bool{}   // that are in it
	add := func(i int) {
		on[i] = true
		if l := lines[i]; l.kind == "assistant" {
			answers[l.id] = true
		}
	}
	for i := range lines {
		if on[i] {
			add(i)
		}
	}
	for i, l := range lines {
		if !on[i] && l.kind == "assistant" && l.id != "" && answers[l.id] {
			on[i] = true
		}
		if on[i] && l.kind == "assistant" {
			for _, block := range listOf(l.content) {
				if b := members(block, "type", "id"); text(b.of("type")) == "tool_use" {
					calls[idText(b.of("id"))] = true
				}
			}
		}
	}
	for i, l := range lines {
		if on[i] || l.kind == "assistant" {
			continue
		}
		ids, more := l.answers()
		result := len(ids) > 0 && !more
		for _, id := range ids {
			result = result && calls[id]
		}
		// What the client adds to a result follows it.
		added := len(ids) == 0 && l.meta && t.parent[i] >= 0 && on[t.parent[i]]
		on[i] = result || added || !l.says() && t.parent[i] >= 0 && on[t.parent[i]]
	}
	root, seen := t.roots(), map[int]bool{}
	for i, l := range lines {
		if on[i] && l.says() {
			l.fresh = len(seen) > 0 && !seen[root[i]]
			seen[root[i]] = true
		}
		switch {
		case on[i]:
			live = append(live, l)
		case l.says():
			left++
		}
	}
	return live, left, t.odd
}

// claudeTree says which line follows which.
type claudeTree struct {
	lines  []*claudeLine
	parent []int // index; -1 for none
	odd    []transcripts.Warning
}

func newClaudeTree(lines []*claudeLine) *claudeTree {
	t := &claudeTree{lines: lines, parent: make([]int, len(lines))}
	at := make(map[string]int, len(lines))
	for i, l := range lines {
		if l.uuid == "" {
			continue
		}
		if first, twice := at[l.uuid]; twice {
			t.odd = append(t.odd, transcripts.Warning{Line: l.number, Msg: fmt.Sprintf("the uuid %q is that of line %d too; what follows it is taken to follow that line", l.uuid, lines[first].number)})
			continue
		}
		at[l.uuid] = i
	}
	for i, l := range lines {
		p, known := at[l.parent]
		switch {
		case l.parent != "" && known && p != i && l.parent != l.uuid:
			t.parent[i] = p
		case l.parent != "" || !l.chained:
			t.parent[i] = i - 1 // what it follows is not in the file
		default:
			t.parent[i] = -1
		}
	}
	return t
}

// open opens circles of lines that follow each other: the first line of one
// follows none.
func (t *claudeTree) open() {
	mark := make([]int, len(t.lines)) // the walk, from 1, that came by
	for i := range t.lines {
		at := i
		for at >= 0 && mark[at] == 0 {
			mark[at] = i + 1
			at = t.parent[at]
		}
		if at < 0 || mark[at] != i+1 {
			continue
		}
		first := at
		for next := t.parent[at]; next != at; next = t.parent[next] {
			first = min(first, next)
		}
		t.parent[first] = -1
		t.odd = append(t.odd, transcripts.Warning{Line: t.lines[first].number, Msg: "this line and those after it follow each other in a circle; it is taken for the first"})
	}
}

// roots returns for each line the first line of its tree.
func (t *claudeTree) roots() []int {
	root := make([]int, len(t.lines))
	for i := range root {
		root[i] = -1
	}
	mark := make([]int, len(t.lines)) // the walk, from 1, that came by
	var way []int
	for i := range t.lines {
		way = way[:0]
		at := i
		for root[at] < 0 && mark[at] != i+1 && t.parent[at] >= 0 {
			mark[at] = i + 1
			way = append(way, at)
			at = t.parent[at]
		}
		if root[at] < 0 {
			root[at] = at
		}
		for _, j := range way {
			root[j] = root[at]
		}
	}
	return root
}

// ways marks, of every tree, the lines on the way to its last message.
func (t *claudeTree) ways() []bool {
	on := make([]bool, len(t.lines))
	root := t.roots()
	last := map[int]int{}
	for i, l := range t.lines {
		if l.says() {
			last[root[i]] = i
		} else if _, ok := last[root[i]]; !ok {
			last[root[i]] = i
		}
	}
	for _, leaf := range last { // trees share no line, so their order says nothing
		for at := leaf; at >= 0 && !on[at]; at = t.parent[at] {
			on[at] = true
		}
	}
	return on
}
