package runtime

import (
	"context"
	"errors"
	"fmt"
	goruntime "runtime"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"gotest.tools/v3/assert"
)

// modelFunc is a Model of one function.
type modelFunc func(ctx context.Context, req *Request) (*Answer, error)

func (f modelFunc) Complete(ctx context.Context, req *Request) (*Answer, error) { return f(ctx, req) }

// newTeam is a family whose task takes briefs and whose calls of echo and task
// run together.
func newTeam(t testing.TB, edit func(*TaskOptions)) *family {
	f := newFamily(t, func(o *TaskOptions) {
		o.Style = TaskBrief
		if edit != nil {
			edit(o)
		}
	})
	f.root.Parallel = []string{"echo", TaskToolName}
	return f
}

// brief is a task call for calling.
func brief(id, title string) string {
	return fmt.Sprintf(`%s task {"description":%s,"prompt":"do %s"}`, id, quote(title), title)
}

// meeting lets nobody on before n have come.
type meeting struct {
	n    int32
	came atomic.Int32
	open chan struct{}
}

func newMeeting(n int32) *meeting { return &meeting{n: n, open: make(chan struct{})} }

func (m *meeting) wait() {
	if m.came.Add(1) == m.n {
		close(m.open)
	}
	<-m.open
}

// TestWhatRunsTogether: several calls, all of them of tools on the list; else
// one after another.
func TestWhatRunsTogether(t *testing.T) {
	for _, tt := range []struct {
		name  string
		calls []string
		list  []string
		want  int32 // the most that ran at once
	}{
		{"all on the list", []string{"a slow {}", "b slow {}", "c other {}"}, []string{"slow", "other"}, 3},
		{"one is not on it", []string{"a slow {}", "b slow {}", "c other {}"}, []string{"slow"}, 1},
		{"one is unknown", []string{"a slow {}", "b slow {}", "c nothing {}"}, []string{"slow", "other"}, 1},
		{"no list", []string{"a slow {}", "b slow {}"}, nil, 1},
		{"an unknown tool on the list", []string{"a slow {}", "b nothing {}", "c slow {}"}, []string{"slow", "nothing"}, 2},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { // where nothing can go on, time does: so each waits for all that can come
				var now, most atomic.Int32
				slow := func(context.Context) (string, error) {
					most.Store(max(most.Load(), now.Add(1)))
					time.Sleep(time.Second)
					now.Add(-1)
					return "", nil
				}
				r := runnerOf(newScript(t).on(Root, calling(tt.calls...), saying("done")), funcTool(t, "slow", slow), funcTool(t, "other", slow))
				r.Parallel = tt.list
				run, err := r.Run(t.Context(), "go")
				assert.NilError(t, err)
				assert.Equal(t, run.Stop, StopAnswer)
				assert.Equal(t, most.Load(), tt.want)
			})
		})
	}
}

// TestCutTurnRunsNothing: a cut answer runs none of its calls, also where they
// would have run together.
func TestCutTurnRunsNothing(t *testing.T) {
	f := newTeam(t, nil)
	f.on(Root, step{answer: answering("length", "", brief("a", "one"), brief("b", "two"))}, saying("done"))
	const cut = " cut: Error [truncated_call]: The call was cut off and was not run"
	assert.DeepEqual(t, outcomes(f.run(t.Context())), []string{"1.1 a task" + cut, "1.2 b task" + cut})
}

// permutations returns every order of n things.
func permutations(n int) [][]int {
	if n == 0 {
		return [][]int{nil}
	}
	var all [][]int
	for _, shorter := range permutations(n - 1) {
		for at := range n {
			all = append(all, slices.Insert(slices.Clone(shorter), at, n-1))
		}
	}
	return all
}

// TestEveryOrderOfCompletion is case 3.06: whichever child ends first, history
// and run are the same; also twins with the same brief keep each its answer.
func TestEveryOrderOfCompletion(t *testing.T) {
	orders := permutations(4)
	assert.Equal(t, len(orders), 24)
	var want []string
	for _, order := range orders {
		f := newTeam(t, nil)
		f.on(Root, calling(brief("a", "twin"), brief("b", "twin"), brief("c", "other"), brief("d", "last")), saying("done"))
		var gates [4]chan struct{}
		for i := range gates {
			gates[i] = make(chan struct{})
			f.on(Root.Child(1, i+1), calling(`a echo {"text":"x"}`), step{act: func() { <-gates[i] }, answer: answering("stop", fmt.Sprintf("report %d", i+1))})
		}
		ended := make(chan int, 4)
		f.root.Observe = func(e Event) {
			if e.Kind == EventCallEnd && e.Agent == Root {
				ended <- e.Call.Number
			}
		}
		go func() {
			for _, i := range order {
				close(gates[i])
				assert.Check(t, <-ended == i+1)
			}
		}()
		run := f.run(t.Context())
		got := outcomes(run)
		for _, m := range run.History.Messages() {
			got = append(got, string(m.Raw))
		}
		if want == nil {
			want = got
			assert.DeepEqual(t, got[:4], []string{
				"1.1 a task allow: report 1\n\n(subagent \"twin\": 4 messages, 20 input tokens, 2 output tokens)",
				"1.2 b task allow: report 2\n\n(subagent \"twin\": 4 messages, 20 input tokens, 2 output tokens)",
				"1.3 c task allow: report 3\n\n(subagent \"other\": 4 messages, 20 input tokens, 2 output tokens)",
				"1.4 d task allow: report 4\n\n(subagent \"last\": 4 messages, 20 input tokens, 2 output tokens)",
			})
		}
		assert.DeepEqual(t, got, want)
		assert.Equal(t, run.Tree, Usage{Input: 100, Output: 10})
	}
}

// TestChildJobs: children begin in call order, no more of them at once than
// allowed; other calls of the turn do not wait, and a child that waits for its
// place has not started.
func TestChildJobs(t *testing.T) {
	f := newTeam(t, nil)
	f.root.ChildJobs = 1
	f.on(Root, calling(brief("a", "one"), brief("b", "two"), `c echo {}`, brief("d", "three")), saying("done"))
	echoed := make(chan struct{})
	f.on("root/1.1", step{act: func() { <-echoed }, answer: answering("stop", "1")})
	f.on("root/1.2", saying("2"))
	f.on("root/1.4", saying("3"))
	var mu sync.Mutex
	var tasks []string
	f.root.Observe = func(e Event) {
		mu.Lock()
		defer mu.Unlock()
		switch {
		case e.Call == nil:
		case e.Call.Name == TaskToolName:
			tasks = append(tasks, fmt.Sprint(e.Kind, " ", e.Call.Number))
		case e.Kind == EventCallEnd:
			close(echoed)
		}
	}
	f.run(t.Context())
	assert.DeepEqual(t, tasks, []string{
		"call-start 1", "call-end 1", "call-start 2", "call-end 2", "call-start 4", "call-end 4",
	})
}

// TestDefaultChildJobs: eight children at once when nothing is said, and as many
// as allowed really meet.
func TestDefaultChildJobs(t *testing.T) {
	for _, tt := range []struct{ jobs, children, want int }{{0, 9, 8}, {-1, 9, 8}, {3, 9, 3}, {20, 9, 9}} {
		synctest.Test(t, func(t *testing.T) {
			f := newTeam(t, nil)
			f.root.ChildJobs = tt.jobs
			var now, most atomic.Int32
			var calls []string
			for i := range tt.children {
				calls = append(calls, brief(fmt.Sprint("c", i), fmt.Sprint("n", i)))
				f.on(Root.Child(1, i+1), step{act: func() {
					most.Store(max(most.Load(), now.Add(1)))
					time.Sleep(time.Second)
					now.Add(-1)
				}, answer: answering("stop", "ok")})
			}
			f.on(Root, calling(calls...), saying("done"))
			f.run(t.Context())
			assert.Equal(t, int(most.Load()), tt.want)
		})
	}
}

// TestSiblingsUnhurt is case 4.02 and more: a panic, a denial, wrong arguments,
// a child that fails: each hurts its own call alone.
func TestSiblingsUnhurt(t *testing.T) {
	f := newTeam(t, nil)
	assert.NilError(t, f.root.Tools.Register(funcTool(t, "crash", func(context.Context) (string, error) { panic("secret") })))
	f.root.Parallel = append(f.root.Parallel, "crash", "forbidden", "nothing")
	assert.NilError(t, f.root.Tools.Register(echoTool(t, "forbidden")))
	rules := f.root.Policy.(*Permissions).Rules
	rules["crash"], rules["forbidden"] = RuleAllow, RuleDeny
	f.on(Root, calling(
		brief("a", "good"), `b crash {}`, `c forbidden {}`, `d echo {"x":1}`, `e nothing {}`, brief("f", "bad"), `g task {"description":"x"}`, brief("h", "good"),
	), saying("done"))
	f.on("root/1.1", saying("fine"))
	f.on("root/1.6", failing(401, KindStatus, false))
	f.on("root/1.8", saying("fine too"))
	assert.DeepEqual(t, outcomes(f.run(t.Context())), []string{
		"1.1 a task allow: fine\n\n(subagent \"good\": 2 messages, 10 input tokens, 1 output tokens)",
		"1.2 b crash allow: Error [tool_error]: The tool crashed",
		"1.3 c forbidden deny: Error [permission_denied]: Denied: this tool is switched off",
		"1.4 d echo invalid: Error [invalid_arguments]: x: is not a field of this tool",
		"1.5 e nothing unknown: Error [unknown_tool]: Unknown tool: nothing",
		"1.6 f task allow: Error [subagent_incomplete]: Subagent did not finish: upstream_error 401\n\n(subagent \"bad\": 1 messages, 0 input tokens, 0 output tokens)",
		"1.7 g task invalid: Error [invalid_arguments]: prompt: is required",
		"1.8 h task allow: fine too\n\n(subagent \"good\": 2 messages, 10 input tokens, 1 output tokens)",
	})
}

// TestPolicyBindsAllAtOnce is case 4.09: what is denied is denied in each of the
// children and in the parent while they run.
func TestPolicyBindsAllAtOnce(t *testing.T) {
	f := newTeam(t, nil)
	f.root.Policy.(*Permissions).Rules["echo"] = RuleDeny
	f.on(Root, calling(brief("a", "one"), brief("b", "two"), `c echo {}`), saying("done"))
	f.on("root/1.1", calling(`a echo {}`), saying("A went on"))
	f.on("root/1.2", calling(`a echo {}`), saying("B went on"))
	run := f.run(t.Context())
	const refused = " deny: Error [permission_denied]: Denied: this tool is switched off"
	assert.Equal(t, outcomes(run)[2], "1.3 c echo"+refused)
	for _, child := range run.Children() {
		assert.DeepEqual(t, outcomes(child), []string{"1.1 a echo" + refused})
		assert.Equal(t, child.Stop, StopAnswer)
	}
}

// TestQuestionsOfChildren is case 4.01: children that ask at once are asked for
// one at a time, each question with its own id and its child's title; none is
// lost and a denial stays with its call.
func TestQuestionsOfChildren(t *testing.T) {
	f := newTeam(t, nil)
	policy := f.root.Policy.(*Permissions)
	policy.Rules["echo"] = RuleAsk
	arrived := newMeeting(3)
	f.root.Hooks.On(HookPreToolUse, func(_ context.Context, e HookEvent) (HookDecision, error) {
		if e.Tool == "echo" {
			arrived.wait()
		}
		return HookDecision{}, nil
	})
	var asking atomic.Int32
	seen := make(map[int]Question)
	policy.Approver = approverFunc(func(_ context.Context, q Question) (Reply, error) {
		assert.Check(t, asking.Add(1) == 1)
		defer asking.Add(-1)
		seen[q.ID] = q
		return Reply{Allow: q.Agent != "root/1.2"}, nil
	})
	f.on(Root, calling(brief("a", "one"), brief("b", "two"), brief("c", "three")), saying("done"))
	for i := range 3 {
		f.on(Root.Child(1, i+1), calling(`a echo {}`), saying("went on"))
	}
	run := f.run(t.Context())
	var labels []string
	for id := range 3 {
		labels = append(labels, seen[id+1].Label)
	}
	slices.Sort(labels)
	assert.DeepEqual(t, labels, []string{"one", "three", "two"})
	var verdicts []Verdict
	for _, child := range run.Children() {
		verdicts = append(verdicts, child.Turns[0].Calls[0].Verdict)
		assert.Equal(t, child.Final, "went on")
	}
	assert.DeepEqual(t, verdicts, []Verdict{VerdictAskAllow, VerdictAskDeny, VerdictAskAllow})
}

// TestFaultAmongSiblings: a fault of ours in one call ends the others; every
// call has a result; of two faults at once the first call's is returned.
func TestFaultAmongSiblings(t *testing.T) {
	for range 20 { // whichever of the two is first to end
		all := newMeeting(3)
		f := newTeam(t, func(o *TaskOptions) {
			o.ModelFactory = func() (Model, error) {
				return modelFunc(func(ctx context.Context, req *Request) (*Answer, error) {
					all.wait()
					if req.Place.Agent != "root/1.1" {
						return nil, fmt.Errorf("disk full at %s", req.Place.Agent)
					}
					<-ctx.Done()
					return nil, ctx.Err()
				}), nil
			}
		})
		f.root.ChildJobs = 3 // the last one never gets a place
		f.on(Root, calling(brief("a", "waits"), brief("b", "breaks"), `c echo {}`, brief("d", "breaks too"), brief("e", "never begins")))
		run, err := f.root.Run(t.Context(), "go")
		assert.Error(t, err, "ask model for root/1.2 turn 1: disk full at root/1.2")
		assert.Equal(t, pairedText(run.History.Messages()), "")
		assert.Equal(t, run.Stop, StopReason(""))
		assert.Equal(t, run.Children()[0].Stop, StopCancelled)
		got := outcomes(run)
		assert.Equal(t, got[0], "1.1 a task interrupted: Error [subagent_incomplete]: Subagent did not finish: cancelled\n\n"+
			`(subagent "waits": 1 messages, 0 input tokens, 0 output tokens)`)
		assert.Equal(t, got[1], "1.2 b task interrupted: "+interrupted)
		assert.Equal(t, got[3], "1.4 d task interrupted: "+interrupted)
	}
}

// TestCrashOfOurs: what crashes or ends its goroutine beside the tools is a
// fault, not the end of the program.
func TestCrashOfOurs(t *testing.T) {
	for _, tt := range []struct {
		name  string
		judge func() (Judgement, error)
		want  string
	}{
		{"panic", func() (Judgement, error) { panic("boom") }, "answer call 1.1 of root (echo): crashed: boom"},
		{"end of its goroutine", func() (Judgement, error) { goruntime.Goexit(); return Judgement{}, nil }, errEndedEarly.Error()},
		{"error", func() (Judgement, error) { return Judgement{}, errors.New("no rules") }, "judge call 1.1 of root: no rules"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r := runnerOf(newScript(t).on(Root, calling(`a echo {}`, `b echo {}`)))
			r.Parallel = []string{"echo"}
			r.Policy = policyFunc(func(call *CallRecord) (Judgement, error) {
				if call.Number == 1 {
					return tt.judge()
				}
				return Judgement{Verdict: VerdictAllow}, nil
			})
			run, err := r.Run(t.Context(), "go")
			assert.Error(t, err, tt.want)
			assert.Equal(t, outcomes(run)[0], "1.1 a echo interrupted: "+interrupted)
			assert.Equal(t, pairedText(run.History.Messages()), "")
		})
	}
}
