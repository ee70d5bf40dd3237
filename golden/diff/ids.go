package diff

import (
	"strconv"
	"strings"

	"github.com/tapetree/tapetree/runtime"
)

// idLength is how long an id must be to be known inside a text too, as in golden
// histories: a short one that a person wrote is more likely a word.
const idLength = 9

// idFinder finds the ids of calls inside texts.
type idFinder struct {
	any     map[string]bool
	owned   map[ownedID]bool
	lengths [256]bool // of the ids in any
	long    bool      // one is longer than lengths can say
}

type ownedID struct {
	agent runtime.Path
	id    string
}

func newIDFinder() *idFinder {
	return &idFinder{any: map[string]bool{}, owned: map[ownedID]bool{}}
}

// add notes the id of a call.
func (f *idFinder) add(agent runtime.Path, id string) {
	if !isRandom(id) {
		return
	}
	f.owned[ownedID{agent, id}] = true
	f.any[id] = true
	if len(id) < len(f.lengths) {
		f.lengths[len(id)] = true
	} else {
		f.long = true
	}
}

func (f *idFinder) own(agent runtime.Path, id string) bool { return f.owned[ownedID{agent, id}] }

// isRandom reports whether id looks like one that a server made up.
func isRandom(id string) bool {
	if len(id) < idLength || !strings.ContainsAny(id, "0123456789") {
		return false
	}
	for i := range len(id) {
		if !inID[id[i]] {
			return false
		}
	}
	return true
}

// inID lists the characters of ids.
var inID = func() (in [256]bool) {
	for c := range in {
		in[c] = 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' || c == '_' || c == '-'
	}
	return in
}()

// spans returns where the ids stand in a text.
func (f *idFinder) spans(text string) [][2]int {
	if len(f.any) == 0 {
		return nil
	}
	var found [][2]int
	for start := 0; start+idLength <= len(text); {
		// The last character that an id of the least length would have here says
		// how far no id can begin.
		last := start + idLength - 1
		if !inID[text[last]] {
			start = last + 1
			continue
		}
		begin := last
		for begin > start && inID[text[begin-1]] {
			begin--
		}
		end := last + 1
		if begin > start {
			start = begin
			continue
		}
		for end < len(text) && inID[text[end]] {
			end++
		}
		n := end - begin
		if (n < len(f.lengths) && f.lengths[n] || n >= len(f.lengths) && f.long) && f.any[text[begin:end]] {
			found = append(found, [2]int{begin, end})
		}
		start = end + 1
	}
	return found
}

// renaming is a one-to-one renaming of ids that grows as pairs are met.
type renaming struct{ toRight, toLeft map[string]renamed }

// renamed is the partner of an id, and the name that stands for both in texts.
type renamed struct{ id, name string }

func newRenaming() *renaming {
	return &renaming{toRight: map[string]renamed{}, toLeft: map[string]renamed{}}
}

func (r *renaming) mirror() *renaming { return &renaming{r.toLeft, r.toRight} }

// pair reports whether two ids may stand for each other, and keeps them as a
// pair, under the name that name gives, when neither was met before.
func (r *renaming) pair(left, right string, name func() string) bool {
	have, okRight := r.toRight[left]
	back, okLeft := r.toLeft[right]
	if okRight || okLeft {
		return okRight && okLeft && have.id == right && back.id == left
	}
	n := name()
	r.toRight[left], r.toLeft[right] = renamed{right, n}, renamed{left, n}
	return true
}

// namer checks the ids of all agents of a session.
type namer struct {
	all  *renaming // the first pair of each id, for ids of other agents inside texts
	next int
}

func (n *namer) name() string {
	n.next++
	return "#" + strconv.Itoa(n.next)
}

// check marks the messages whose ids do not fit: those in their places first,
// then moved ones.
func (n *namer) check(p *agentPair) {
	if p.entries != nil {
		p.ids = newRenaming()
		for _, moved := range []bool{false, true} {
			for i, j := range p.entries.to {
				if j >= 0 && p.entries.moved[i] == moved {
					p.entries.broken[i] = !n.fits(p, &p.left.entries[i], &p.right.entries[j], p.entries.same[i])
				}
			}
		}
	}
	for _, child := range p.children {
		n.check(child)
	}
}

func (n *namer) fits(p *agentPair, a, b *entry, same bool) bool {
	if !same {
		return n.fitsChanged(p, a, b)
	}
	if len(a.ids) != len(b.ids) {
		return false
	}
	fits := true
	for k := range a.ids {
		fits = n.fit(p, a.ids[k], b.ids[k]) && fits
	}
	return fits
}

// fitsChanged holds the ids of calls that stand for each other, and of the
// answered call, against each other; texts differ anyway.
func (n *namer) fitsChanged(p *agentPair, a, b *entry) bool {
	if len(a.calls) == 0 && len(b.calls) == 0 {
		return a.own != 1 || b.own != 1 || n.fit(p, a.ids[0], b.ids[0])
	}
	fits := true
	for _, row := range pairCalls(a.calls, b.calls) {
		if row.Left >= 0 && row.Right >= 0 {
			fits = n.fit(p, a.ids[row.Left], b.ids[row.Right]) && fits
		}
	}
	return fits
}

func (n *namer) fit(p *agentPair, a, b idUse) bool {
	if a.alien != b.alien {
		return false
	}
	if a.alien {
		return n.all.pair(a.id, b.id, n.name)
	}
	name := ""
	fits := p.ids.pair(a.id, b.id, func() string { name = n.name(); return name })
	if name != "" {
		_, left := n.all.toRight[a.id]
		_, right := n.all.toLeft[b.id]
		if !left && !right {
			n.all.pair(a.id, b.id, func() string { return name })
		}
	}
	return fits
}
