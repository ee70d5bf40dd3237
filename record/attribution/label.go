package attribution

import (
	"cmp"
	"slices"
	"strings"

	"github.com/tapetree/tapetree/runtime"
)

// label is what a thread is called, worked out from all that is known.
type label struct {
	path       runtime.Path
	flag       string
	candidates []runtime.Path
}

func (l label) public() Label {
	if l.flag == "" {
		return Label{Path: l.path}
	}
	all := slices.Clone(append(l.candidates, l.path))
	slices.Sort(all)
	return Label{Path: l.path, Flag: l.flag, Candidates: slices.Compact(all)}
}

// doubt adds a flag and what else the thread may be.
func (l *label) doubt(flag string, paths ...runtime.Path) {
	if flag == FlagAmbiguous || l.flag == "" {
		l.flag = flag
	}
	l.candidates = append(l.candidates, paths...)
}

// place is where a thread hangs in the tree.
type place struct {
	relation relation
	parent   *thread // nil of a root
	call     *call   // of isChild
	rivals   []*thread
}

// namer works out the labels of all threads of a scope.
type namer struct {
	scope   *Scope
	settled settlement
	places  []place
	taken   map[runtime.Path]bool
	counts  map[runtime.Path]int // how many of a kind were given out, by the first of them
	paths   []runtime.Path
	labels  []label
	done    []bool
}

// name works out the labels, if something has happened since.
func (s *Scope) name() {
	if s.labels != nil {
		return
	}
	n := &namer{
		scope: s, settled: s.settle(), places: make([]place, len(s.threads)), taken: map[runtime.Path]bool{}, counts: map[runtime.Path]int{},
		paths: make([]runtime.Path, len(s.threads)), labels: make([]label, len(s.threads)), done: make([]bool, len(s.threads)),
	}
	for _, aside := range []bool{false, true} { // what is summed up has to have its place before
		for _, t := range s.threads {
			if t.aside == aside {
				n.hang(t)
			}
		}
	}
	for path := range s.named {
		n.taken[path] = true
	}
	for _, t := range s.threads {
		n.path(t)
	}
	for _, t := range s.threads {
		n.label(t)
	}
	s.labels = n.labels
}

// hang finds where a thread hangs. What would hang below itself is a root.
func (n *namer) hang(t *thread) {
	p := n.find(t)
	for up := p.parent; up != nil; up = n.places[up.number].parent {
		if up == t {
			p = place{relation: isRoot}
			break
		}
	}
	n.places[t.number] = p
}

func (n *namer) find(t *thread) place {
	if c := n.settled.call[t]; c != nil {
		return place{relation: isChild, parent: c.thread(), call: c}
	}
	switch t.origin.relation {
	case isSide, isUnknown:
		return place{relation: t.origin.relation, parent: t.origin.owner}
	case isForeign:
		if main := n.scope.mainOf(t.parent); main != nil && main != t {
			return place{relation: isUnknown, parent: main}
		}
	case isRoot:
		if main := n.scope.mainOf(t.session); main != nil && main != t {
			return place{relation: isSide, parent: main}
		}
		if t.aside && t.session == "" && len(t.turns) < 2 {
			return n.asideOf(t)
		}
	}
	return place{relation: isRoot}
}

// asideOf finds the thread whose conversation an opening asks to name or to sum
// up: one whose prompt it quotes, of those the outermost, else one with tools.
func (n *namer) asideOf(t *thread) place {
	var quoted, mains []*thread
	for _, u := range n.scope.threads {
		if u == t || u.aside || u.origin.relation == isSide || len(u.turns) == 0 {
			continue
		}
		if u.opening != nil && u.opening.quotedBy(t.opening) {
			quoted = append(quoted, u)
		}
		if u.tools && n.places[u.number].parent == nil {
			mains = append(mains, u)
		}
	}
	quoted = keepMost(quoted, func(u *thread) int { return yes(slices.Contains(t.opening.user, u.opening.prompt())) })
	if t.word == "title" {
		for i, u := range quoted {
			quoted[i] = n.top(u)
		}
	}
	var owners []*thread
	for _, u := range quoted {
		if !slices.Contains(owners, u) && !slices.ContainsFunc(quoted, func(v *thread) bool { return v != u && n.below(u, v) }) {
			owners = append(owners, u)
		}
	}
	if len(owners) == 0 {
		owners = mains
	}
	if len(owners) == 0 {
		return place{relation: isRoot}
	}
	return place{relation: isSide, parent: owners[0], rivals: owners[1:]}
}

// top is the root that a thread comes from.
func (n *namer) top(t *thread) *thread {
	for n.places[t.number].parent != nil {
		t = n.places[t.number].parent
	}
	return t
}

// below reports that a thread comes from another one.
func (n *namer) below(t, above *thread) bool {
	for t != nil && t != above {
		t = n.places[t.number].parent
	}
	return t != nil
}

// prompt is the last user text of an opening.
func (o *opening) prompt() string {
	if len(o.user) == 0 {
		return ""
	}
	return o.user[len(o.user)-1]
}

// quotedBy reports that another opening holds the prompt.
func (o *opening) quotedBy(other *opening) bool {
	prompt := o.prompt()
	return len(prompt) >= shortestBrief && other != nil && other.holds(prompt)
}

// agent returns the agent whose side conversation t is, or t.
func (n *namer) agent(t *thread) *thread {
	for n.places[t.number].relation == isSide {
		t = n.places[t.number].parent
	}
	return t
}

// path names a thread after its parent. Side conversations have no children:
// theirs are the agent's, of no call that can be seen.
func (n *namer) path(t *thread) runtime.Path {
	if n.paths[t.number] != "" {
		return n.paths[t.number]
	}
	n.paths[t.number] = cmp.Or(t.named, "?") // "?" is replaced below; a cycle cannot be
	if t.named != "" {
		return t.named
	}
	for kind := n.nth(t, 1); ; {
		n.counts[kind]++
		path := n.nth(t, n.counts[kind])
		if !n.taken[path] {
			n.taken[path] = true
			n.paths[t.number] = path
			return path
		}
	}
}

// nth is the k-th path that a thread at this place could have.
func (n *namer) nth(t *thread, k int) runtime.Path {
	p := n.places[t.number]
	if p.parent == nil {
		return rootPath(k)
	}
	above := n.path(p.parent)
	owner := agentPath(n.path(n.agent(p.parent)))
	switch {
	case p.relation == isSide:
		return owner.Side(cmp.Or(t.word, "side"), k)
	case p.relation == isChild && above == owner:
		return childPath(owner, p.call.turn().n, p.call.n, k)
	default:
		return unknownPath(owner, k)
	}
}

// label works out the flags of a thread: its own, and those of all that it
// comes from.
func (n *namer) label(t *thread) label {
	if n.done[t.number] {
		return n.labels[t.number]
	}
	n.done[t.number] = true
	p := n.places[t.number]
	l := label{path: n.paths[t.number]}
	if t.named != "" { // by its client, which is not doubted
		n.labels[t.number] = l
		return l
	}
	if t.flag != "" && !n.settled.settled[t] {
		l.doubt(t.flag)
		for _, c := range t.draw {
			l.candidates = append(l.candidates, n.childOf(c))
		}
	}
	if t.twin != nil {
		l.doubt(FlagTwin, n.paths[t.twin.number])
	}
	for _, rival := range p.rivals {
		l.doubt(FlagAmbiguous, n.asSide(t, rival))
	}
	if t.doubt == 1 {
		l.doubt(FlagAmbiguous, n.paths[t.rival.number])
	}
	if p.parent != nil {
		above := n.label(p.parent)
		if p.call != nil {
			above = n.at(p.parent, p.call.turn().n)
		}
		l.inherit(above)
	}
	n.labels[t.number] = l
	return l
}

// inherit takes over the flag of what a thread hangs below.
func (l *label) inherit(above label) {
	if above.flag == "" {
		return
	}
	l.doubt(above.flag)
	rest, below := strings.CutPrefix(string(l.path), string(above.path))
	if !below {
		return
	}
	for _, path := range above.candidates {
		if agentPath(path) == path || !strings.HasPrefix(rest, "/") {
			l.candidates = append(l.candidates, agentPath(path)+runtime.Path(rest))
		}
	}
}

// at is the label of a thread's turn: a thread can be in doubt from some turn
// on.
func (n *namer) at(t *thread, turn int) label {
	l := n.label(t)
	if t.doubt > 1 && turn >= t.doubt {
		l.candidates = slices.Clone(l.candidates)
		l.doubt(FlagAmbiguous, n.paths[t.rival.number])
	}
	return l
}

// childOf is the path of the first child of a call.
func (n *namer) childOf(c *call) runtime.Path {
	owner := n.paths[c.thread().number]
	if agentPath(owner) != owner {
		return unknownPath(agentPath(owner), 1)
	}
	return childPath(owner, c.turn().n, c.n, 1)
}

// asSide is the path that a side conversation would have at another agent.
func (n *namer) asSide(t, agent *thread) runtime.Path {
	return agentPath(n.paths[n.agent(agent).number]).Side(cmp.Or(t.word, "side"), 1)
}
