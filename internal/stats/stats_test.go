package stats

import (
	"io/fs"
	"testing"
	"time"

	"gotest.tools/v3/assert"

	"github.com/tapetree/tapetree/internal/prices"
	"github.com/tapetree/tapetree/runtime"
	"github.com/tapetree/tapetree/transcripts"
)

func answer(text string, used runtime.Usage) *runtime.Answer {
	m := runtime.UserMessage(text)
	m.Role = runtime.RoleAssistant
	return &runtime.Answer{Message: m, Usage: used, Model: "gpt-4.1"}
}

func call(id, name, arguments string) *runtime.Answer {
	a := answer("", runtime.Usage{Input: 1000, Output: 50, Cached: 200})
	a.Message.Calls = []runtime.Call{{ID: id, Name: name, Arguments: arguments}}
	return a
}

// TestAHistoryIsSummedUp: reported tokens and estimated ones, an agent with a
// clock and one without, one that is known only by its call.
func TestAHistoryIsSummedUp(t *testing.T) {
	b := transcripts.NewHistory("x", "", "test")
	root := b.Root()
	root.Add(runtime.UserMessage("go"))
	root.Answer(call("c1", "task", `{"description":"look"}`), transcripts.Spot{Start: time.Second, End: 2 * time.Second, Timed: true})
	child := root.Child("c1")
	child.Add(runtime.UserMessage("12345678")) // {"role":"user","content":"12345678"} has 36 bytes
	child.Answer(answer("1234", runtime.Usage{}), transcripts.Spot{})
	root.Add(runtime.ToolMessage("c1", "12345678"))
	root.Answer(call("c2", "agent", "{}"), transcripts.Spot{Start: 5 * time.Second, End: 7 * time.Second, Timed: true})
	got := Of(b.History(), prices.List())
	rootUsed := runtime.Usage{Input: 2000, Output: 100, Cached: 400}
	parent := &Agent{
		Path: "root", Label: "root", Model: "gpt-4.1", Stop: runtime.StopCancelled, Turns: 2, Calls: 2, Usage: rootUsed, Peak: 1000, Spent: 2100,
		Time: 6 * time.Second, Timed: true, Cost: cost(t, rootUsed), Priced: true, Tools: []Tool{{"agent", 1}, {"task", 1}},
	}
	first := &Agent{
		Path: "root/1.1", Parent: "root", Depth: 1, Label: "look", Model: "gpt-4.1", Stop: runtime.StopAnswer, Turns: 1, Unreported: 1, Peak: 9, Spent: 17, Estimated: true,
	}
	second := &Agent{Path: "root/2.1", Parent: "root", Depth: 1, Label: "root/2.1", CallOnly: true}
	assert.DeepEqual(t, got, &Stats{
		Agents: []*Agent{parent, first, second},
		Delegations: []*Delegation{
			{Child: first, Agents: 1, KeptOut: 9, Report: 2, Spent: 17, Estimated: true},
			{Child: second, Agents: 1},
		},
		Total: Total{
			Turns: 3, Calls: 2, Unreported: 1, Usage: rootUsed, Spent: 2117, Time: 6 * time.Second, Timed: true,
			Cost: cost(t, rootUsed), Priced: true, KeptOut: 9, Estimated: true,
		},
	})
}

func cost(t *testing.T, u runtime.Usage) prices.Amount {
	t.Helper()
	amount, known := prices.List().Cost("gpt-4.1", u)
	assert.Assert(t, known)
	return amount
}

// TestSumsAreThoseOfTheTree: over all of the suite, agents and total agree with
// what the runs say of themselves.
func TestSumsAreThoseOfTheTree(t *testing.T) {
	names, err := fs.Glob(transcripts.Suite, "*.jsonl")
	assert.NilError(t, err)
	for _, name := range names {
		data, err := fs.ReadFile(transcripts.Suite, name)
		assert.NilError(t, err)
		f, err := transcripts.Parse(name, data)
		assert.NilError(t, err)
		h, err := f.History()
		assert.NilError(t, err)
		s := Of(h, prices.List())
		used, agents := runtime.Usage{}, 0
		for _, root := range h.Roots {
			used = used.Add(root.Tree)
			root.Walk(func(*runtime.Run) { agents++ })
		}
		assert.Equal(t, len(s.Agents), agents, name)
		assert.Equal(t, len(s.Delegations), agents-len(h.Roots), name)
		assert.Equal(t, s.Total.Usage, used, name)
	}
}
