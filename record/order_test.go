package record

import (
	"math/rand"
	"slices"
	"testing"

	"github.com/tapetree/tapetree/runtime"
	"gotest.tools/v3/assert"
)

// Agents sort as a tree is read, numbers by value.
func TestComparePaths(t *testing.T) {
	want := []runtime.Path{
		"", "root", "root/1.1", "root/1.2", "root/2.1", "root/2.1/1.1", "root/2.1~compact.1", "root/2.1~compact.2",
		"root/2.1~compact.10", "root/2.9", "root/2.10", "root/10.1", "root~judge.1", "root~title.1", "root2",
	}
	got := slices.Clone(want)
	rand.New(rand.NewSource(1)).Shuffle(len(got), func(i, j int) { got[i], got[j] = got[j], got[i] })
	slices.SortFunc(got, comparePaths)
	assert.DeepEqual(t, got, want)
}
