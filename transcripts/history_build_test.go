package transcripts

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/tapetree/tapetree/runtime"
	"gotest.tools/v3/assert"
)

// says is an answer with a text and calls, each "id name" or "id name arguments".
func says(text string, calls ...string) *runtime.Answer {
	m := runtime.Message{Role: runtime.RoleAssistant, Content: text, Raw: []byte(fmt.Sprintf("%q", text+strings.Join(calls, "|")))}
	for _, c := range calls {
		id, rest, _ := strings.Cut(c, " ")
		name, arguments, _ := strings.Cut(rest, " ")
		m.Calls = append(m.Calls, runtime.Call{ID: id, Name: name, Arguments: arguments})
	}
	return &runtime.Answer{Message: m}
}

// sketch writes a history down: every agent with its turns, what was sent, the
// calls with their results, and the children below them.
func sketch(h *History) string {
	var out strings.Builder
	for _, root := range h.Roots {
		sketchRun(&out, root, "")
	}
	return out.String()
}

func sketchRun(out *strings.Builder, run *runtime.Run, indent string) {
	fmt.Fprintf(out, "%s%s %q prompt %q stop %q final %q partial %q\n", indent, run.Agent, run.Label, run.Prompt, run.Stop, run.Final, run.Partial)
	for _, t := range run.Turns {
		fmt.Fprintf(out, "%s  turn %d sent %d", indent, t.Number, t.Sent.Len())
		if t.Compact != nil {
			fmt.Fprintf(out, " %s dropped %d %q", t.Compact.Side, t.Compact.Dropped, t.Compact.Summary)
		}
		out.WriteByte('\n')
		for _, c := range t.Calls {
			fmt.Fprintf(out, "%s    %d %s %s -> %q\n", indent, c.Number, c.ID, c.Name, c.Result)
			if c.Child != nil {
				sketchRun(out, c.Child, indent+"      ")
			}
		}
	}
}

func built(t *testing.T, build func(b *HistoryBuilder)) *History {
	t.Helper()
	b := NewHistory("file", "", "test")
	build(b)
	h := b.History()
	assert.Assert(t, h != nil)
	return h
}

func TestBuildConversation(t *testing.T) {
	h := built(t, func(b *HistoryBuilder) {
		a := b.Root()
		a.Add(runtime.SystemMessage("be brief"))
		a.Add(runtime.UserMessage("look"))
		a.Answer(says("", "x read"), Spot{Line: 3})
		a.Add(runtime.ToolMessage("x", "text"))
		a.Answer(says("done"), Spot{Line: 5, Timed: true, Start: time.Second, End: 2 * time.Second})
	})
	assert.Equal(t, sketch(h), `root "root" prompt "look" stop "answer" final "done" partial ""
  turn 1 sent 2
    1 x read -> "text"
  turn 2 sent 4
`)
	assert.DeepEqual(t, h.Spots, map[TurnKey]Spot{
		{"root", 1}: {Line: 3},
		{"root", 2}: {Line: 5, Timed: true, Start: time.Second, End: 2 * time.Second},
	})
	assert.Equal(t, h.Count(), Counts{Agents: 1, Messages: 5, Calls: 1})
}

func TestBuildPairsByOccurrence(t *testing.T) {
	for _, tc := range []struct {
		name  string
		build func(a *AgentBuilder)
		want  string
		count Counts
	}{
		{"results out of order", func(a *AgentBuilder) {
			a.Answer(says("", "a f", "b g"), Spot{})
			a.Add(runtime.ToolMessage("b", "of b"))
			a.Add(runtime.ToolMessage("a", "of a"))
		}, "1 a f -> \"of a\"\n2 b g -> \"of b\"\n", Counts{Agents: 1, Messages: 3, Calls: 2}},
		{"two calls of one answer share an id", func(a *AgentBuilder) {
			a.Answer(says("", "a f", "a g"), Spot{})
			a.Add(runtime.ToolMessage("a", "first"))
			a.Add(runtime.ToolMessage("a", "second"))
		}, "1 a f -> \"first\"\n2 a g -> \"second\"\n", Counts{Agents: 1, Messages: 3, Calls: 2}},
		{"an id is used again in a later turn", func(a *AgentBuilder) {
			a.Answer(says("", "a f"), Spot{})
			a.Add(runtime.ToolMessage("a", "first"))
			a.Answer(says("", "a g"), Spot{})
			a.Add(runtime.ToolMessage("a", "second"))
		}, "1 a f -> \"first\"\n1 a g -> \"second\"\n", Counts{Agents: 1, Messages: 4, Calls: 2}},
		{"an id is used again while the first is open", func(a *AgentBuilder) {
			a.Answer(says("", "a f"), Spot{})
			a.Answer(says("", "a g"), Spot{})
			a.Add(runtime.ToolMessage("a", "of g"))
		}, "1 a f -> \"\"\n1 a g -> \"of g\"\n", Counts{Agents: 1, Messages: 3, Calls: 2, Unanswered: 1}},
		{"a result without a call", func(a *AgentBuilder) {
			a.Answer(says("", "a f"), Spot{})
			a.Add(runtime.ToolMessage("b", "stray"))
			a.Add(runtime.ToolMessage("a", "its own"))
			a.Add(runtime.ToolMessage("a", "once more"))
		}, "1 a f -> \"its own\"\n", Counts{Agents: 1, Messages: 4, Calls: 1, Orphaned: 2}},
		{"calls without ids", func(a *AgentBuilder) {
			a.Answer(says("", " f"), Spot{})
			a.Add(runtime.ToolMessage("", "of f"))
			a.Answer(says("", " g"), Spot{})
		}, "1  f -> \"of f\"\n1  g -> \"\"\n", Counts{Agents: 1, Messages: 3, Calls: 2, Unanswered: 1}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			h := built(t, func(b *HistoryBuilder) { tc.build(b.Root()) })
			var got strings.Builder
			for _, turn := range h.Roots[0].Turns {
				for _, c := range turn.Calls {
					fmt.Fprintf(&got, "%d %s %s -> %q\n", c.Number, c.ID, c.Name, c.Result)
				}
			}
			assert.Equal(t, got.String(), tc.want)
			assert.Equal(t, h.Count(), tc.count)
		})
	}
}

func TestBuildChildren(t *testing.T) {
	h := built(t, func(b *HistoryBuilder) {
		a := b.Root()
		early := a.Stray()
		early.Add(runtime.UserMessage("before all"))
		a.Add(runtime.UserMessage("go"))
		a.Answer(says("", `a task {"description":"one","prompt":"count"}`, "b read"), Spot{})
		first, second := a.Child("a"), a.Child("a")
		other := a.Child("nobody")
		first.Add(runtime.UserMessage("count"))
		first.Answer(says("3"), Spot{})
		second.Add(runtime.UserMessage("count again"))
		other.Add(runtime.UserMessage("who called"))
		other.Label("stranger")
		other.Answer(says("", `c agent {"task":"deeper","name":"deep"}`), Spot{})
		a.Add(runtime.ToolMessage("a", "3"))
		a.Answer(says("", `a Task {"description":"two"}`, "d transfer_to_human_agents"), Spot{})
		a.Add(runtime.ToolMessage("a", "nothing"))
	})
	assert.Equal(t, sketch(h), `root "root" prompt "go" stop "cancelled" final "" partial ""
  turn 1 sent 1
    1 a task -> "3"
      root/1.1 "one" prompt "count" stop "answer" final "3" partial ""
        turn 1 sent 1
    1  task -> ""
      root/1.1#2 "one" prompt "count again" stop "" final "" partial ""
    2 b read -> ""
    0  task -> ""
      root/?1 "root/?1" prompt "before all" stop "" final "" partial ""
    0  task -> ""
      root/?2 "stranger" prompt "who called" stop "cancelled" final "" partial ""
        turn 1 sent 1
          1 c agent -> ""
            root/?2/1.1 "deep" prompt "deeper" stop "" final "" partial ""
  turn 2 sent 3
    1 a Task -> "nothing"
      root/2.1 "two" prompt "two" stop "" final "" partial ""
    2 d transfer_to_human_agents -> ""
`)
	assert.Equal(t, h.Count(), Counts{Agents: 7, Messages: 11, Calls: 5, Unanswered: 3})
}

func TestBuildRootsSideBySide(t *testing.T) {
	h := built(t, func(b *HistoryBuilder) {
		one, two := b.Root(), b.Root()
		two.Add(runtime.UserMessage("second"))
		one.Add(runtime.UserMessage("first"))
		two.Answer(says("b"), Spot{})
		one.Answer(says("a"), Spot{})
		b.Warn(4, "torn")
		b.Lost("1 picture")
		b.Began(time.Unix(5, 0))
		b.Began(time.Unix(9, 0))
	})
	assert.Equal(t, sketch(h), `root "root" prompt "first" stop "answer" final "a" partial ""
  turn 1 sent 1
root2 "root2" prompt "second" stop "answer" final "b" partial ""
  turn 1 sent 1
`)
	assert.DeepEqual(t, h.Warnings, []Warning{{Line: 4, Msg: "torn"}})
	assert.DeepEqual(t, h.Lost, []string{"1 picture"})
	assert.Equal(t, h.Began, time.Unix(5, 0))
}

func TestBuildRestartAndCompact(t *testing.T) {
	h := built(t, func(b *HistoryBuilder) {
		a := b.Root()
		a.Add(runtime.SystemMessage("s"))
		a.Add(runtime.UserMessage("go"))
		a.Answer(says("", "a f"), Spot{})
		a.Compact("it began")
		a.Add(runtime.SystemMessage("s"))
		a.Add(runtime.UserMessage("so far: it began"))
		a.Add(runtime.ToolMessage("a", "late"))
		a.Answer(says("end"), Spot{})
	})
	assert.Equal(t, sketch(h), `root "root" prompt "go" stop "answer" final "end" partial ""
  turn 1 sent 2
    1 a f -> "late"
  turn 2 sent 3 root~compact.1 dropped 3 "it began"
`)
	assert.Equal(t, h.Count(), Counts{Agents: 1, Messages: 6, Calls: 1, Unanswered: 1, Orphaned: 1})
}

// What nobody answered before the list began anew is not lost.
func TestBuildRestartKeepsTheEnd(t *testing.T) {
	h := built(t, func(b *HistoryBuilder) {
		a := b.Root()
		a.Restart()
		a.Add(runtime.UserMessage("plan"))
		a.Answer(says("", "a exit"), Spot{})
		a.Add(runtime.ToolMessage("a", "rejected"))
		a.Add(runtime.UserMessage("stop"))
		a.Restart()
		a.Add(runtime.UserMessage("do it"))
		a.Restart()
		a.Add(runtime.UserMessage("do that"))
		a.Answer(says("done", "b task"), Spot{})
		a.Child("b").Add(runtime.UserMessage("x"))
	})
	assert.Equal(t, sketch(h), `root "root" prompt "plan" stop "cancelled" final "" partial "done"
  turn 1 sent 1
    1 a exit -> "rejected"
  turn 2 sent 4
  turn 3 sent 1
  turn 4 sent 1
    1 b task -> ""
      root/4.1 "root/4.1" prompt "x" stop "" final "" partial ""
`)
	assert.Equal(t, h.Count(), Counts{Agents: 2, Messages: 8, Calls: 2, Unanswered: 1})
}

func TestBuildNothing(t *testing.T) {
	b := NewHistory("file", "", "test")
	b.Root()
	assert.Assert(t, b.History() == nil)
}

// Many children, open calls and ids that are used over and over cost no more
// than their number.
func TestBuildIsLinear(t *testing.T) {
	const n = 10_000
	b := NewHistory("file", "", "test")
	a := b.Root()
	for range n {
		a.Answer(says("", "same task"), Spot{})
		a.Child("same").Add(runtime.UserMessage("x"))
		a.Child("same").Add(runtime.UserMessage("y"))
		a.Child("none").Add(runtime.UserMessage("z"))
	}
	for range n {
		a.Add(runtime.ToolMessage("same", "r"))
	}
	assert.Equal(t, b.History().Count(), Counts{Agents: 1 + 3*n, Messages: 5 * n, Calls: n})
}
