package prices

import (
	"slices"

	"github.com/tapetree/tapetree/runtime"
)

// ModelUsage is what a session spent on one model.
type ModelUsage struct {
	Model  string // "" where the name is not known
	Agents int    // that asked it
	Usage  runtime.Usage
}

// ByModel sums the usage of a session tree by the model that was asked, in the
// order in which the tree first names it.
func ByModel(run *runtime.Run) []ModelUsage {
	var sums []ModelUsage
	run.Walk(func(r *runtime.Run) {
		at := slices.IndexFunc(sums, func(u ModelUsage) bool { return u.Model == r.Model })
		if at < 0 {
			at = len(sums)
			sums = append(sums, ModelUsage{Model: r.Model})
		}
		sums[at].Agents++
		sums[at].Usage = sums[at].Usage.Add(r.Usage)
	})
	return sums
}

// TreeCost is what a whole session costs. Unknown lists the models that used
// tokens and have no price; the cost is without them.
func (t *Table) TreeCost(run *runtime.Run) (cost Amount, unknown []string) {
	for _, u := range ByModel(run) {
		one, known := t.Cost(u.Model, u.Usage)
		cost += one
		if !known && u.Usage != (runtime.Usage{}) {
			unknown = append(unknown, u.Model)
		}
	}
	return cost, unknown
}

// Context is how many tokens one agent had in its context at most: the input
// of its largest request.
func Context(run *runtime.Run) int {
	largest := 0
	for _, turn := range run.Turns {
		if turn.Answer != nil {
			largest = max(largest, turn.Answer.Usage.Input)
		}
	}
	return largest
}
