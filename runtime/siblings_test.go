package runtime

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"gotest.tools/v3/assert"
)

// writing is a family whose children have a tool "write" that must be asked
// for; each of three children calls it once.
func writing(t *testing.T, approver approverFunc) *family {
	f := newFamily(t, func(o *TaskOptions) {
		o.ToolsFactory = func() (*Registry, error) {
			return NewRegistry(funcTool(t, "write", func(context.Context) (string, error) { return "written", nil }))
		}
		o.Policy.(*Permissions).Approver = approver
	})
	f.on(Root, calling(`a task {"description":"A"}`, `b task {"description":"B"}`, `c task {"description":"C"}`), saying("done"))
	for _, child := range []Path{"root/1.1", "root/1.2", "root/1.3"} {
		f.on(child, calling(`a write {}`), saying("went on"))
	}
	return f
}

// TestADenialHurtsItsOwnCallAlone is case 4.02, whichever child it hits, and
// case 4.01: each question has its own id and is answered once.
func TestADenialHurtsItsOwnCallAlone(t *testing.T) {
	for denied := range 3 {
		var asked []string
		f := writing(t, func(_ context.Context, q Question) (Reply, error) {
			asked = append(asked, string(q.Agent)+" "+q.Label)
			assert.Check(t, q.ID == len(asked))
			return Reply{Allow: q.ID != denied+1}, nil
		})
		run := f.run(t.Context())
		assert.Equal(t, run.Stop, StopAnswer)
		assert.DeepEqual(t, asked, []string{"root/1.1 A", "root/1.2 B", "root/1.3 C"})
		assert.DeepEqual(t, outcomes(run), []string{"1.1 a task allow: went on", "1.2 b task allow: went on", "1.3 c task allow: went on"})
		for i, child := range run.Children() {
			want := "1.1 a write ask-allow: written"
			if i == denied {
				want = "1.1 a write ask-deny: Error [permission_denied]: Denied: the user said no"
			}
			assert.DeepEqual(t, outcomes(child), []string{want})
		}
	}
}

// TestOneInterruptedCallLeavesTheBatch is case 4.04: of several calls one is
// given up, by its own time limit or by whoever runs it; the batch settles in
// call order and the child goes on.
func TestOneInterruptedCallLeavesTheBatch(t *testing.T) {
	for name, ends := range map[string]error{
		"cancelled": context.Canceled, "out of time": context.DeadlineExceeded, "said so itself": &ToolError{CodeInterrupted, "Interrupted before it finished"},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFamily(t, func(o *TaskOptions) {
				o.ToolsFactory = func() (*Registry, error) {
					return NewRegistry(echoTool(t, "echo"), funcTool(t, "given_up", func(context.Context) (string, error) { return "", ends }))
				}
				o.Policy.(*Permissions).Rules["given_up"] = RuleAllow
			})
			f.on(Root, calling(`t task {"description":"x"}`), saying("done"))
			f.on("root/1.1", calling(`a echo {"text":"1"}`, `b given_up {}`, `c echo {"text":"3"}`), saying("went on"))
			run := f.run(t.Context())
			assert.DeepEqual(t, outcomes(run), []string{"1.1 t task allow: went on"})
			assert.DeepEqual(t, outcomes(run.Children()[0]), []string{
				"1.1 a echo allow: echo 1", "1.2 b given_up interrupted: " + interrupted, "1.3 c echo allow: echo 3",
			})
		})
	}
}

// TestLimitedChildKeepsItsWork is case 4.06: what the child had written and
// what it cost stay in the record; the parent is told of the limit and of
// nothing else.
func TestLimitedChildKeepsItsWork(t *testing.T) {
	found := step{answer: answering("tool_calls", "found X", `a echo {"text":"1"}`)}
	for name, steps := range map[string][]step{
		"text in turn 1":             {found, calling(`b echo {"text":"2"}`), calling(`c echo {"text":"3"}`)},
		"text in the last turn":      {calling(`b echo {"text":"2"}`), calling(`c echo {"text":"3"}`), found},
		"refused calls to the end":   {found, calling(`b nothing {}`), calling(`c echo {"x":1}`)},
		"a cut-off call at the end":  {found, calling(`b echo {}`), calling(`c echo {"text":"cu`)},
		"the limit in a second task": {found, calling(`b echo {}`), calling(`c task {"description":"deeper"}`)},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFamily(t, func(o *TaskOptions) { o.MaxTurns = 3 })
			f.on(Root, calling(`t task {"description":"x"}`), saying("done"))
			f.on("root/1.1", steps...)
			run := f.run(t.Context())
			child := run.Children()[0]
			assert.DeepEqual(t, outcomes(run), []string{
				"1.1 t task allow: Error [subagent_turn_limit]: Subagent exceeded max_turns=3 without a final answer",
			})
			assert.Equal(t, child.Stop, StopTurnLimit)
			assert.Equal(t, child.Final, "")
			assert.Equal(t, child.Partial, "found X")
			assert.Equal(t, child.Usage, Usage{Input: 30, Output: 3})
			assert.Equal(t, run.Tree, Usage{Input: 50, Output: 5})
		})
	}
}

// TestTreeCountsEveryAgentOnce is case 4.07 with a grandchild.
func TestTreeCountsEveryAgentOnce(t *testing.T) {
	spent := func(own, below int) *Run { return &Run{Usage: Usage{Input: own}, Tree: Usage{Input: own + below}} }
	l := &loop{Runner: &Runner{}, run: &Run{Usage: Usage{Input: 10}, Turns: []Turn{
		{Calls: []CallRecord{{Child: spent(5, 2)}, {}, {Child: spent(7, 0)}}}, {Calls: []CallRecord{{Child: spent(3, 0)}}},
	}}}
	l.finish(t.Context(), StopAnswer, nil)
	assert.Equal(t, l.run.Tree, Usage{Input: 27})
	assert.Equal(t, l.run.Usage, Usage{Input: 10})
}

// TestChildThatTriesAgainIsCancelled is case 3.02: a child whose upstream is
// dead, and which waits for its next try, ends with the session, and both
// histories are paired.
func TestChildThatTriesAgainIsCancelled(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		f := newFamily(t, nil)
		f.on(Root, calling(`a task {"description":"x"}`, `b echo {}`))
		f.on("root/1.1", failing(0, KindDial, true), failing(0, KindDial, true), failing(0, KindDial, true))
		f.root.Backoff = func(int, time.Duration) time.Duration { return time.Hour }
		time.AfterFunc(time.Minute, cancel)
		start := time.Now()
		run := f.run(ctx)
		assert.Equal(t, time.Since(start), time.Minute)
		assert.Equal(t, run.Stop, StopCancelled)
		assert.Equal(t, run.Children()[0].Stop, StopCancelled)
		assert.Equal(t, len(f.requestsOf("root/1.1")), 1)
		assert.DeepEqual(t, outcomes(run), []string{"1.1 a task interrupted: " + interrupted, "1.2 b echo interrupted: " + interrupted})
		assert.Equal(t, pairedText(run.History.Messages())+pairedText(run.Children()[0].History.Messages()), "")
	})
}
