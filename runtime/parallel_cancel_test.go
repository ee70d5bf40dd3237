package runtime

import (
	"context"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"gotest.tools/v3/assert"
)

// TestCancelledTogether is case 3.01 for calls that run together: what ended
// keeps its result, what had not begun is interrupted, all in call order.
func TestCancelledTogether(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	f := newTeam(t, nil)
	f.on(Root, calling(`a echo {"text":"1"}`, `b echo {"text":"2"}`, `c echo {}`, `d echo {}`), saying("never"))
	first, cancelled := newMeeting(3), make(chan struct{})
	f.root.Observe = func(e Event) {
		switch {
		case e.Kind == EventCallEnd && e.Call.Number <= 2:
			first.wait()
		case e.Kind == EventCallStart && e.Call.Number == 3:
			first.wait()
			cancel()
			close(cancelled)
		case e.Kind == EventCallStart && e.Call.Number == 4:
			<-cancelled
		}
	}
	run := f.run(ctx)
	assert.Equal(t, run.Stop, StopCancelled)
	assert.DeepEqual(t, outcomes(run), []string{
		"1.1 a echo allow: echo 1", "1.2 b echo allow: echo 2", "1.3 c echo interrupted: " + interrupted, "1.4 d echo interrupted: " + interrupted,
	})
	assert.Equal(t, pairedText(run.History.Messages()), "")
	assert.Equal(t, len(f.requestsOf(Root)), 1)
}

// TestCancelledChildren: one child is done, one in a call, one in its request,
// one waits for its place; all end at once, say how far they came, and no
// goroutine is left (the bubble would fail).
func TestCancelledChildren(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		f := newTeam(t, nil)
		asked := make(chan struct{})
		f.options.ModelFactory = func() (Model, error) {
			return modelFunc(func(ctx context.Context, req *Request) (*Answer, error) {
				if req.Place.Agent == "root/1.3" {
					close(asked)
					<-ctx.Done()
					return nil, &UpstreamError{Kind: KindDial, Partial: "half a", Usage: Usage{Input: 3}}
				}
				return f.script.Complete(ctx, req)
			}), nil
		}
		task, err := NewTask(f.options)
		assert.NilError(t, err)
		f.root.Tools = registryOf(t, echoTool(t, "echo"), task)
		f.root.ChildJobs = 3
		f.on(Root, calling(brief("a", "done"), brief("b", "calls"), brief("c", "asks"), brief("d", "waits"), brief("e", "waits")))
		f.on("root/1.1", saying("report"))
		f.on("root/1.2", step{answer: answering("tool_calls", "so far", `a echo {}`)})
		hold, cancelled := make(chan struct{}), make(chan struct{})
		f.root.Observe = func(e Event) {
			switch {
			case e.Kind == EventCallEnd && e.Agent == Root && e.Call.Number == 1:
				close(hold)
			case e.Kind == EventRunStart && (e.Agent == "root/1.4" || e.Agent == "root/1.5"):
				<-cancelled
			case e.Kind == EventCallStart && e.Agent == "root/1.2":
				<-hold
				<-asked
				synctest.Wait()
				cancel()
				close(cancelled)
			}
		}
		start := time.Now()
		run := f.run(ctx)
		assert.Equal(t, time.Since(start), time.Duration(0))
		assert.Equal(t, run.Stop, StopCancelled)
		const incomplete = " task interrupted: Error [subagent_incomplete]: Subagent did not finish: cancelled\n\n"
		got := outcomes(run)
		assert.DeepEqual(t, got, []string{
			"1.1 a task allow: report\n\n(subagent \"done\": 2 messages, 10 input tokens, 1 output tokens)",
			"1.2 b" + incomplete + "so far\n\n(subagent \"calls\": 3 messages, 10 input tokens, 1 output tokens)",
			"1.3 c" + incomplete + "half a\n\n(subagent \"asks\": 1 messages, 3 input tokens, 0 output tokens)",
			"1.4 d" + incomplete + "(subagent \"waits\": 1 messages, 0 input tokens, 0 output tokens)",
			"1.5 e task interrupted: " + interrupted,
		})
		assert.DeepEqual(t, outcomes(run.Children()[1]), []string{"1.1 a echo interrupted: " + interrupted})
		run.Walk(func(r *Run) { assert.Equal(t, pairedText(r.History.Messages()), "") })
	})
}

// TestOneCallCancelled is case 4.04: of three calls in flight one alone is
// cancelled; the turn settles and the child goes on.
func TestOneCallCancelled(t *testing.T) {
	all := newMeeting(3)
	work := func(_ context.Context, call Invocation, _ struct{}) (string, error) {
		all.wait()
		if call.Call == 2 {
			return "", context.Canceled
		}
		return fmt.Sprint("worked ", call.Call), nil
	}
	tool, err := NewTool("work", "Works.", EffectRead, work)
	assert.NilError(t, err)
	f := newTeam(t, func(o *TaskOptions) {
		o.ToolsFactory = func() (*Registry, error) { return NewRegistry(tool) }
	})
	f.root.Parallel = []string{"work"}
	f.root.Policy.(*Permissions).Rules["work"] = RuleAllow
	f.on(Root, calling(brief("a", "one")), saying("done"))
	f.on("root/1.1", calling(`a work {}`, `b work {}`, `c work {}`), saying("settled"))
	child := f.run(t.Context()).Children()[0]
	assert.DeepEqual(t, outcomes(child), []string{
		"1.1 a work allow: worked 1", "1.2 b work interrupted: " + interrupted, "1.3 c work allow: worked 3",
	})
	assert.Equal(t, child.Final, "settled")
}

// TestStuckTogether is case 3.02 for calls that run together.
func TestStuckTogether(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		release := make(chan struct{})
		stuck := funcTool(t, "stuck", func(context.Context) (string, error) { <-release; return "", nil })
		r := runnerOf(newScript(t).on(Root, calling(`a stuck {}`, `b stuck {}`, `c echo {"text":"x"}`)), stuck)
		r.Parallel = []string{"stuck", "echo"}
		r.Observe = func(e Event) {
			if e.Kind == EventCallEnd && e.Call.Number == 3 {
				synctest.Wait() // until the other two are stuck
				cancel()
			}
		}
		start := time.Now()
		run, err := r.Run(ctx, "go")
		assert.NilError(t, err)
		assert.DeepEqual(t, outcomes(run), []string{
			"1.1 a stuck interrupted: " + interrupted, "1.2 b stuck interrupted: " + interrupted, "1.3 c echo allow: echo x",
		})
		assert.Equal(t, time.Since(start), cancelGrace)
		close(release)
	})
}

// TestTreeUsageTogether is case 4.07 for children that run together: the tree
// holds each child once, also one that failed or was cancelled.
func TestTreeUsageTogether(t *testing.T) {
	spend := func(s step, tokens int) step { s.answer.Usage = Usage{Input: tokens, Output: 1}; return s }
	ctx, cancel := context.WithCancel(t.Context())
	f := newTeam(t, nil)
	f.on(Root, spend(calling(brief("a", "ok"), brief("b", "fails"), brief("c", "cancelled")), 10))
	ended := newMeeting(3)
	f.on("root/1.1", spend(saying("fine"), 5))
	f.on("root/1.2", spend(saying(""), 7))
	f.on("root/1.3", func() step { s := spend(saying("late"), 3); s.act = func() { ended.wait(); cancel() }; return s }())
	f.root.Observe = func(e Event) {
		if e.Kind == EventCallEnd && e.Agent == Root && e.Call.Number < 3 {
			ended.wait()
		}
	}
	run := f.run(ctx)
	assert.Equal(t, run.Usage, Usage{Input: 10, Output: 1})
	assert.Equal(t, run.Tree, Usage{Input: 25, Output: 4})
	assert.DeepEqual(t, outcomes(run), []string{
		"1.1 a task allow: fine\n\n(subagent \"ok\": 2 messages, 5 input tokens, 1 output tokens)",
		"1.2 b task allow: Error [subagent_incomplete]: Subagent did not finish: empty\n\n(subagent \"fails\": 2 messages, 7 input tokens, 1 output tokens)",
		"1.3 c task interrupted: Error [subagent_incomplete]: Subagent did not finish: cancelled\n\nlate\n\n(subagent \"cancelled\": 2 messages, 3 input tokens, 1 output tokens)",
	})
}
