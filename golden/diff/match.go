package diff

import "slices"

// Bounds that keep matching linear.
const (
	mostEdits = 64      // edits that the exact search of a gap without unique keys goes to
	mostDepth = 24      // how often gaps are divided
	mostCells = 1 << 16 // cells of the table that pairs what changed in one gap
)

// matcher finds an order-preserving matching of two lists of keys. What is equal
// at both ends is matched first, then keys that are unique on both sides anchor
// the rest (a patience diff); gaps between them are divided again. A gap without
// unique keys is searched exactly up to mostEdits, and beyond that its n-th
// occurrence of each key is matched with the n-th of the other side. No step is
// quadratic in the length of a list.
type matcher struct {
	a, b  []int32 // keys, small numbers
	to    []int32 // of each a its b, -1: none
	seen  []spot  // by key; zero between uses
	steps *int
}

type spot struct{ countA, countB, atA, atB int32 }

// match returns for each key of a the index of its partner in b, or -1; keys is
// one more than the largest key.
func match(a, b []int32, keys int, steps *int) []int32 {
	m := &matcher{a: a, b: b, to: make([]int32, len(a)), seen: make([]spot, keys), steps: steps}
	for i := range m.to {
		m.to[i] = -1
	}
	m.gap(0, len(a), 0, len(b), 0)
	return m.to
}

func (m *matcher) count(n int) {
	if m.steps != nil {
		*m.steps += n
	}
}

func (m *matcher) pair(i, j int) { m.to[i] = int32(j) }

func (m *matcher) gap(a0, a1, b0, b1, depth int) {
	for a0 < a1 && b0 < b1 && m.a[a0] == m.b[b0] {
		m.pair(a0, b0)
		a0, b0 = a0+1, b0+1
		m.count(1)
	}
	for a0 < a1 && b0 < b1 && m.a[a1-1] == m.b[b1-1] {
		a1, b1 = a1-1, b1-1
		m.pair(a1, b1)
		m.count(1)
	}
	if a0 == a1 || b0 == b1 {
		return
	}
	anchors := m.unique(a0, a1, b0, b1)
	if len(anchors) == 0 || depth >= mostDepth {
		if !m.exact(a0, a1, b0, b1) {
			for _, p := range m.occurrences(a0, a1, b0, b1) {
				m.pair(int(p[0]), int(p[1]))
			}
		}
		return
	}
	for _, p := range anchors {
		m.pair(int(p[0]), int(p[1]))
		m.gap(a0, int(p[0]), b0, int(p[1]), depth+1)
		a0, b0 = int(p[0])+1, int(p[1])+1
	}
	m.gap(a0, a1, b0, b1, depth+1)
}

// unique returns the longest increasing run of pairs whose key stands once on
// each side of the gap.
func (m *matcher) unique(a0, a1, b0, b1 int) [][2]int32 {
	m.count(2 * (a1 - a0 + b1 - b0))
	for i := a0; i < a1; i++ {
		s := &m.seen[m.a[i]]
		s.countA, s.atA = s.countA+1, int32(i)
	}
	for j := b0; j < b1; j++ {
		s := &m.seen[m.b[j]]
		s.countB, s.atB = s.countB+1, int32(j)
	}
	var pairs [][2]int32
	for i := a0; i < a1; i++ {
		if s := m.seen[m.a[i]]; s.countA == 1 && s.countB == 1 {
			pairs = append(pairs, [2]int32{int32(i), s.atB})
		}
	}
	m.forget(a0, a1, b0, b1)
	return m.increasing(pairs)
}

func (m *matcher) forget(a0, a1, b0, b1 int) {
	for i := a0; i < a1; i++ {
		m.seen[m.a[i]] = spot{}
	}
	for j := b0; j < b1; j++ {
		m.seen[m.b[j]] = spot{}
	}
}

// occurrences pairs the n-th of a key on one side with its n-th on the other, as
// far as that keeps the order.
func (m *matcher) occurrences(a0, a1, b0, b1 int) [][2]int32 {
	m.count(2 * (a1 - a0 + b1 - b0))
	next := make([]int32, b1-b0) // the next of the same key on the side of b
	for j := b1 - 1; j >= b0; j-- {
		s := &m.seen[m.b[j]]
		next[j-b0] = s.atB - 1
		s.atB = int32(j) + 1
	}
	var pairs [][2]int32
	for i := a0; i < a1; i++ {
		s := &m.seen[m.a[i]]
		if s.atB == 0 {
			continue
		}
		j := s.atB - 1
		pairs = append(pairs, [2]int32{int32(i), j})
		s.atB = next[int(j)-b0] + 1
	}
	m.forget(a0, a1, b0, b1)
	return m.increasing(pairs)
}

// increasing is the longest subsequence of pairs that rises on both sides; the
// first of each pair does already.
func (m *matcher) increasing(pairs [][2]int32) [][2]int32 {
	if len(pairs) == 0 {
		return nil
	}
	tails := make([]int32, 0, len(pairs)) // by length: the pair that ends it
	before := make([]int32, len(pairs))
	for i, p := range pairs {
		at := len(tails)
		if at > 0 && pairs[tails[at-1]][1] >= p[1] {
			at, _ = slices.BinarySearchFunc(tails, p[1], func(t, want int32) int {
				m.count(1)
				return int(pairs[t][1]) - int(want)
			})
		}
		m.count(1)
		before[i] = -1
		if at > 0 {
			before[i] = tails[at-1]
		}
		if at == len(tails) {
			tails = append(tails, int32(i))
		} else {
			tails[at] = int32(i)
		}
	}
	list := make([][2]int32, len(tails))
	for n, i := len(tails)-1, tails[len(tails)-1]; n >= 0; n-- {
		list[n] = pairs[i]
		i = before[i]
	}
	return list
}

// exact is the search of Myers for a shortest edit script of at most mostEdits
// edits; false when there is none.
func (m *matcher) exact(a0, a1, b0, b1 int) bool {
	la, lb := a1-a0, b1-b0
	if la-lb > mostEdits || lb-la > mostEdits {
		return false
	}
	var trace [][]int32
	v := make([]int32, 2*mostEdits+3)
	mid := mostEdits + 1
	for d := 0; d <= mostEdits; d++ {
		trace = append(trace, slices.Clone(v))
		for k := -d; k <= d; k += 2 {
			x := int(v[mid+k-1]) + 1
			if k == -d || k != d && v[mid+k-1] < v[mid+k+1] {
				x = int(v[mid+k+1])
			}
			for x < la && x-k < lb && x-k >= 0 && m.a[a0+x] == m.b[b0+x-k] {
				x++
				m.count(1)
			}
			m.count(1)
			v[mid+k] = int32(x)
			if x >= la && x-k >= lb {
				m.back(trace, a0, b0, la, lb, d)
				return true
			}
		}
	}
	return false
}

// back goes back along the trace of exact and keeps what was matched.
func (m *matcher) back(trace [][]int32, a0, b0, x, y, d int) {
	mid := mostEdits + 1
	for ; d >= 0; d-- {
		v, k := trace[d], x-y
		from := k - 1
		if k == -d || k != d && v[mid+k-1] < v[mid+k+1] {
			from = k + 1
		}
		px := int(v[mid+from])
		py := px - from
		if d == 0 {
			px, py = 0, 0
		}
		for x > px && y > py && m.a[a0+x-1] == m.b[b0+y-1] {
			x, y = x-1, y-1
			m.pair(a0+x, b0+y)
		}
		x, y = px, py
	}
}
