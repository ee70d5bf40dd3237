package scenarios

import (
	"context"
	"testing"

	"gotest.tools/v3/assert"

	"github.com/tapetree/tapetree/runtime"
)

// peak is the largest request of an agent, in input tokens.
func peak(run *runtime.Run) int {
	most := 0
	for _, turn := range run.Turns {
		if turn.Answer != nil {
			most = max(most, turn.Answer.Usage.Input)
		}
	}
	return most
}

// TestWhatASubagentBuys sets one survey done both ways side by side: children
// cost more in all and leave their parent more room.
func TestWhatASubagentBuys(t *testing.T) {
	type cost struct{ Peak, Own, Tree int }
	measured := map[string]cost{}
	for _, name := range []string{"mini-survey-with-children", "mini-survey-alone"} {
		result := Replay(context.Background(), DirSource(".."), name, ReplayOptions{Environ: []string{}})
		assert.Equal(t, result.Status, Pass, name)
		run := result.Run
		measured[name] = cost{peak(run), run.Usage.Input + run.Usage.Output, run.Tree.Input + run.Tree.Output}
		t.Logf("%-26s peak context of the parent %5d tokens, own %5d, with children %6d", name, measured[name].Peak, measured[name].Own, measured[name].Tree)
	}
	assert.DeepEqual(t, measured, map[string]cost{
		"mini-survey-with-children": {Peak: 1300, Own: 2400, Tree: 12900},
		"mini-survey-alone":         {Peak: 4800, Own: 7060, Tree: 7060},
	})
}

// TestUsageOfChildrenIsInTheTree: also of one that failed (case 4.07).
func TestUsageOfChildrenIsInTheTree(t *testing.T) {
	result := Replay(context.Background(), DirSource(".."), "mini-usage-sums", ReplayOptions{Environ: []string{}})
	assert.Equal(t, result.Status, Pass)
	children := result.Run.Children()
	assert.Equal(t, len(children), 2)
	assert.Equal(t, children[1].Stop, runtime.StopUpstreamError)
	assert.DeepEqual(t, result.Run.Tree, result.Run.Usage.Add(children[0].Tree).Add(children[1].Tree))
}

// TestChildrenCannotWriteThroughTheShell judges the commands of the scenario
// live: the child's is refused before any shell is started, although the parent
// may do anything.
func TestChildrenCannotWriteThroughTheShell(t *testing.T) {
	result := Replay(context.Background(), DirSource(".."), "mini-child-policy", ReplayOptions{Environ: []string{}, AllowShell: true})
	assert.Equal(t, result.Status, Pass, "%v", result.Findings)
	child := result.Run.Children()[0]
	assert.Equal(t, child.Turns[0].Calls[0].Verdict, runtime.VerdictDeny)
	assert.Equal(t, child.Turns[0].Calls[0].Result, "Error [permission_denied]: Denied: subagents are read-only")
	assert.Equal(t, result.Notes[0], "4 of 4 verdicts live")
}
