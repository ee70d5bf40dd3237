package diff

import (
	"bytes"
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// Unfinished is a Diff whose differing messages have no texts yet.
type Unfinished struct {
	Diff        *Diff
	options     Options
	left, right *wants
}

// wants says which texts of one side are wanted.
type wants struct {
	messages map[*agentOutline]map[int]*Message
	names    map[*agentOutline]map[string]renamed
	any      map[string]renamed
	outline  *SessionOutline
}

// Align puts two outlines beside each other. What it gives lacks the texts of
// what differs: Fill adds those of each side.
func Align(a, b *SessionOutline, o Options) *Unfinished {
	// The same pair in either order is aligned in one, so that a diff and its
	// reverse mirror each other.
	left, right := a, b
	mirrored := bytes.Compare(left.order(), right.order()) > 0
	if mirrored {
		left, right = right, left
	}
	pairs := pairRoots(left.roots, right.roots, o.Steps)
	names := &namer{all: newRenaming()}
	for _, p := range pairs {
		names.check(p)
	}
	all := names.all
	if mirrored {
		all = all.mirror()
	}
	u := &Unfinished{
		Diff: &Diff{Version: Version, Left: a.name, Right: b.name, Covered: covered(a.uses, b.uses), Agents: []*Agent{}},
		left: newWants(a, all.toRight), right: newWants(b, all.toLeft), options: o,
	}
	for _, p := range pairs {
		if mirrored {
			p.mirror()
		}
		p.order()
		u.agent(p, false)
	}
	return u
}

func newWants(s *SessionOutline, any map[string]renamed) *wants {
	return &wants{outline: s, any: any, messages: map[*agentOutline]map[int]*Message{}, names: map[*agentOutline]map[string]renamed{}}
}

// order is a number for a session that does not depend on which side it is.
func (s *SessionOutline) order() []byte {
	var all bytes.Buffer
	var add func(*agentOutline)
	add = func(a *agentOutline) {
		fmt.Fprintf(&all, "%s %d %d\n", a.path, len(a.entries), len(a.children))
		for i := range a.entries {
			all.Write(a.entries[i].key[:])
		}
		for _, c := range a.children {
			add(c.agent)
		}
	}
	for _, root := range s.roots {
		add(root)
	}
	whole := sum(all.Bytes())
	return whole[:]
}

func covered(a, b map[string]int) []Use {
	total := maps.Clone(a)
	for rule, n := range b {
		total[rule] += n
	}
	var list []Use
	for _, rule := range slices.Sorted(maps.Keys(total)) {
		list = append(list, Use{rule, total[rule]})
	}
	return list
}

// agent adds a pair of agents and those below it. under says that an agent above
// was asked for.
func (u *Unfinished) agent(p *agentPair, under bool) {
	under = under || u.options.Agent == "" || p.left != nil && p.left.path == u.options.Agent || p.right != nil && p.right.path == u.options.Agent
	if under {
		u.Diff.Agents = append(u.Diff.Agents, u.pair(p))
	}
	for _, child := range p.children {
		u.agent(child, under)
	}
}

func (u *Unfinished) pair(p *agentPair) *Agent {
	a := &Agent{Kind: Same, Rows: []Row{}, First: -1}
	switch {
	case p.right == nil:
		a.Kind = Removed
	case p.left == nil:
		a.Kind = Added
	}
	if l := p.left; l != nil {
		a.Left, a.Label, a.Tokens.Left = string(l.path), l.label, l.usage
	}
	if r := p.right; r != nil {
		a.Right, a.Label, a.Tokens.Right = string(r.path), cmp.Or(a.Label, r.label), r.usage
	}
	w := &rowWriter{Unfinished: u, agent: a, pair: p}
	switch {
	case p.right == nil:
		for i := range p.left.entries {
			w.left(i, Removed)
		}
	case p.left == nil:
		for j := range p.right.entries {
			w.right(j, Added)
		}
	default:
		u.left.names[p.left], u.right.names[p.right] = p.ids.toRight, p.ids.toLeft
		a.Settings = settings(p.left, p.right)
		w.both()
		if a.First >= 0 || len(a.Settings) > 0 {
			a.Kind = Changed
		}
	}
	return a
}

// settings lists what differs beside the messages.
func settings(l, r *agentOutline) []Setting {
	var list []Setting
	add := func(grade, left, right string) {
		if left != right {
			list = append(list, Setting{Grade: grade, Left: left, Right: right})
		}
	}
	if x, y := strings.Join(l.systems, "\n\n"), strings.Join(r.systems, "\n\n"); x != y {
		list = append(list, Setting{Grade: "prompt", Left: measure(x), Right: measure(y), Parts: Words(x, y, nil)})
	}
	if l.known && r.known {
		add("tools", l.toolText(), r.toolText())
		add("parameters", cmp.Or(l.params, "none"), cmp.Or(r.params, "none"))
	}
	if l.model != "" && r.model != "" {
		add("model", l.model, r.model)
	}
	if l.stop != "" && r.stop != "" {
		add("stop", l.stop, r.stop)
	}
	add("tries", failed(l.tries), failed(r.tries))
	return list
}

func (a *agentOutline) toolText() string {
	if a.tools == (hash{}) {
		return "none"
	}
	return fmt.Sprintf("hash %x", a.tools[:4])
}

func measure(text string) string {
	if text == "" {
		return "none"
	}
	h := hashOf(text)
	return fmt.Sprintf("%d bytes, hash %x", len(text), h[:4])
}

func failed(n int) string { return fmt.Sprintf("%d failed", n) }

// rowWriter writes the rows of one agent.
type rowWriter struct {
	*Unfinished
	agent *Agent
	pair  *agentPair
}

func (w *rowWriter) row(r Row) {
	if r.Kind != Same && w.agent.First < 0 {
		w.agent.First = len(w.agent.Rows)
	}
	c := &w.agent.Counts
	switch {
	case r.Kind == Same:
		c.Same++
	case r.Kind == Changed:
		c.Changed++
	case r.Kind == Removed:
		c.Removed++
	case r.Kind == Added:
		c.Added++
	case r.Side == "left":
		c.Moved++
	}
	w.agent.Rows = append(w.agent.Rows, r)
}

func (w *rowWriter) left(i int, kind Kind) {
	w.row(Row{Kind: kind, Left: w.Unfinished.left.message(w.pair.left, i, true)})
}

func (w *rowWriter) right(j int, kind Kind) {
	w.row(Row{Kind: kind, Right: w.Unfinished.right.message(w.pair.right, j, true)})
}

// both writes the rows of an agent that both sides have: in order, between two
// pairs in place what is on the left alone before what is on the right alone.
func (w *rowWriter) both() {
	p, j := w.pair.entries, 0
	rest := func(end int) {
		for ; j < end; j++ {
			if i := p.from[j]; i >= 0 {
				w.twins(int(i), j, "right")
			} else {
				w.right(j, Added)
			}
		}
	}
	for i, to := range p.to {
		switch {
		case to < 0:
			w.left(i, Removed)
		case p.moved[i]:
			w.twins(i, int(to), "left")
		default:
			rest(int(to))
			w.twins(i, int(to), "")
			j = int(to) + 1
		}
	}
	rest(len(p.from))
}

// twins writes a row that has both sides; side is where a moved message stands.
func (w *rowWriter) twins(i, j int, side string) {
	p := w.pair.entries
	r := Row{Kind: Same, Side: side, Pairing: p.broken[i]}
	switch {
	case side != "":
		r.Kind = Moved
	case !p.same[i] || p.broken[i]:
		r.Kind = Changed
	}
	whole := !p.same[i]
	r.Left, r.Right = w.Unfinished.left.message(w.pair.left, i, whole), w.Unfinished.right.message(w.pair.right, j, whole)
	if whole {
		r.Calls = pairCalls(w.pair.left.entries[i].calls, w.pair.right.entries[j].calls)
	}
	w.row(r)
}

// message makes the message of an entry, and notes that its text is wanted.
func (w *wants) message(a *agentOutline, i int, whole bool) *Message {
	e := &a.entries[i]
	m := &Message{Number: i + 1, Turn: e.turn, Role: e.role, Tool: e.tool, Text: strings.ToValidUTF8(e.begin, "\uFFFD"), Size: e.size, Cut: len(e.begin) < e.size}
	for _, c := range e.calls {
		m.Calls = append(m.Calls, Call{Name: c.name, Child: c.child})
	}
	if w.messages[a] == nil {
		w.messages[a] = map[int]*Message{}
	}
	if whole {
		w.messages[a][i] = m
	}
	return m
}
