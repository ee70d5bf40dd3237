package view

import (
	"strconv"

	"github.com/tapetree/tapetree/golden/diff"
)

// Differing is the diff of two sessions without its rows, which come in pages.
// Their form is that of the package diff.
type Differing struct {
	*diff.Diff
	Rows  []int   `json:"rows"`  // of each agent, how many it has
	Pages [][]int `json:"pages"` // of each agent, the first row of each page
}

// difference is a diff, cut into pages.
type difference struct {
	model Differing
	rows  [][][]diff.Row // by agent and page
}

// difference compares two sessions, or gives what it found the last time. nil:
// there are no such sessions.
func (b *Book) difference(left, right int) *difference {
	if left >= len(b.sessions) || right >= len(b.sessions) {
		return nil
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	pair := [2]int{left, right}
	if b.compared == nil || b.pair != pair {
		b.pair, b.compared = pair, newDifference(diff.Compare(b.sessions[left].history, b.sessions[right].history, diff.Options{}))
	}
	return b.compared
}

func newDifference(found *diff.Diff) *difference {
	whole := *found
	whole.Left, whole.Right = valid(whole.Left), valid(whole.Right)
	whole.Agents = nil
	d := &difference{model: Differing{Diff: &whole, Rows: []int{}, Pages: [][]int{}}}
	for _, agent := range found.Agents {
		short := *agent
		short.Rows = nil
		whole.Agents = append(whole.Agents, &short)
		starts := []int{}
		var pages [][]diff.Row
		size := pageBytes
		for i, row := range agent.Rows {
			bytes := sizeOf(row.Left) + sizeOf(row.Right)
			if n := len(pages); n == 0 || len(pages[n-1]) == pageRows || size+bytes > pageBytes {
				pages, starts, size = append(pages, nil), append(starts, i), 0
			}
			size += bytes
			pages[len(pages)-1] = append(pages[len(pages)-1], row)
		}
		d.rows = append(d.rows, pages)
		d.model.Rows = append(d.model.Rows, len(agent.Rows))
		d.model.Pages = append(d.model.Pages, starts)
	}
	return d
}

func sizeOf(m *diff.Message) int {
	if m == nil {
		return 0
	}
	size := len(m.Text)
	for _, c := range m.Calls {
		size += len(c.Arguments)
	}
	return size
}

// part gives the diff, or with an agent a page of its rows.
func (d *difference) part(agent, page int) ([]byte, bool) {
	switch {
	case d == nil:
		return nil, false
	case agent < 0:
		return encode(d.model), true
	case agent < len(d.rows) && page < len(d.rows[agent]):
		return encode(d.rows[agent][page]), true
	}
	return nil, false
}

// parts gives the diff and all its pages.
func (d *difference) parts(prefix string, yield func(string, []byte) bool) bool {
	if !yield(prefix, encode(d.model)) {
		return false
	}
	for agent := range d.rows {
		for page, rows := range d.rows[agent] {
			if !yield(prefix+"-a"+strconv.Itoa(agent)+"-p"+strconv.Itoa(page), encode(rows)) {
				return false
			}
		}
	}
	return true
}
