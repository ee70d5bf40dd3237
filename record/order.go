package record

import (
	"cmp"
	"strconv"
	"strings"

	"github.com/tapetree/tapetree/runtime"
)

// comparePaths orders agents as a session tree is read: depth first, children
// in call order, side conversations after the agent's children.
func comparePaths(a, b runtime.Path) int {
	as, bs := strings.Split(string(a), "/"), strings.Split(string(b), "/")
	for i := range min(len(as), len(bs)) {
		if c := compareSteps(as[i], bs[i]); c != 0 {
			return c
		}
	}
	return cmp.Compare(len(as), len(bs))
}

// compareSteps orders two steps of paths, such as 2.10 and 2.9, or
// root~title.1 and root: numbers by value, the rest as text.
func compareSteps(a, b string) int {
	aBase, aSide, _ := strings.Cut(a, "~")
	bBase, bSide, _ := strings.Cut(b, "~")
	return cmp.Or(compareDotted(aBase, bBase), compareDotted(aSide, bSide))
}

func compareDotted(a, b string) int {
	as, bs := strings.Split(a, "."), strings.Split(b, ".")
	for i := range min(len(as), len(bs)) {
		an, aerr := strconv.Atoi(as[i])
		bn, berr := strconv.Atoi(bs[i])
		c := strings.Compare(as[i], bs[i])
		if aerr == nil && berr == nil {
			c = cmp.Compare(an, bn)
		}
		if c != 0 {
			return c
		}
	}
	return cmp.Compare(len(as), len(bs))
}

// place is where something of a session stands: an exchange (Call 0) or a call
// (Try 0).
type place struct {
	Agent           runtime.Path
	Turn, Try, Call int
}

func (p place) compare(q place) int {
	return cmp.Or(
		comparePaths(p.Agent, q.Agent),
		cmp.Compare(p.Turn, q.Turn),
		cmp.Compare(p.Try, q.Try),
		cmp.Compare(p.Call, q.Call),
	)
}
