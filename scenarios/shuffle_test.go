package scenarios

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"gotest.tools/v3/assert"

	"github.com/tapetree/tapetree/record"
	"github.com/tapetree/tapetree/runtime"
)

// Three children that take several turns: nearly every seed is another order of
// answers, and every order is the same session.
func TestEveryOrderOfAnswersIsTheSameSession(t *testing.T) {
	source := DirSource(recordMini(t, readersScenario, readers(3, 4), LiveOptions{}))
	result := Replay(context.Background(), source, "x", ReplayOptions{Environ: []string{}, Shuffle: 20, Seed: 1})
	assert.Equal(t, result.Status, Pass, "%v %v", result.Err, result.Findings)
	distinct := map[string]bool{}
	for _, order := range result.orders {
		if !distinct[order] {
			t.Log(order)
		}
		distinct[order] = true
	}
	assert.Equal(t, len(result.orders), 20)
	assert.Assert(t, len(distinct) >= 15, "only %d distinct orders", len(distinct))
	assert.Assert(t, strings.HasPrefix(result.Notes[len(result.Notes)-1], "20 orders of answers, "))

	again := Replay(context.Background(), source, "x", ReplayOptions{Environ: []string{}, Shuffle: 20, Seed: 1})
	assert.DeepEqual(t, again.orders, result.orders)
	alone := Replay(context.Background(), source, "x", ReplayOptions{Environ: []string{}, Shuffle: 1, Seed: 7})
	assert.DeepEqual(t, alone.orders, result.orders[6:7])
}

// A session whose agents never run at once has one order, which is said and not
// tried again and again.
func TestOneOrderIsSaid(t *testing.T) {
	for _, name := range []string{"isolation-parent-gains-one-pair", "pairing-duplicate-ids"} {
		result := Replay(context.Background(), DirSource(".."), name, ReplayOptions{Environ: []string{}, Shuffle: 1000, Seed: 1})
		assert.Equal(t, result.Status, Pass)
		assert.Equal(t, len(result.orders), 1)
		assert.Equal(t, result.Notes[len(result.Notes)-1], "1 order of answers")
	}
}

// asTheyFinish breaks a session as a runner would that stores the results of a
// turn as its calls finish: the n-th call gets the n-th result that came.
type asTheyFinish struct {
	mu       sync.Mutex
	finished []runtime.CallRecord
}

func (b *asTheyFinish) bend(s *session) {
	model, observe := s.runner.Model, s.runner.Observe
	s.runner.Model = bentModel{model, b}
	s.runner.Observe = func(e runtime.Event) {
		switch {
		case e.Agent != runtime.Root:
		case e.Kind == runtime.EventCallEnd:
			b.mu.Lock()
			b.finished = append(b.finished, *e.Call)
			b.mu.Unlock()
		case e.Kind == runtime.EventRunEnd:
			b.run(e.Run)
		}
		observe(e)
	}
}

// run bends what the session leaves behind.
func (b *asTheyFinish) run(run *runtime.Run) {
	for i := range run.Turns {
		for n := range run.Turns[i].Calls {
			run.Turns[i].Calls[n].Result, run.Turns[i].Calls[n].Child = b.finished[n].Result, b.finished[n].Child
		}
		run.Turns[i].Sent = b.view(run.Turns[i].Sent)
	}
	run.History = b.view(run.History)
}

// view is a list of messages with the results in the order they came.
func (b *asTheyFinish) view(v runtime.View) runtime.View {
	var bent runtime.History
	n := 0
	for _, m := range v.Messages() {
		if m.Role == runtime.RoleTool {
			m = runtime.ToolMessage(m.CallID, b.finished[n].Result)
			n++
		}
		bent.Append(m)
	}
	return bent.View()
}

type bentModel struct {
	runtime.Model
	broken *asTheyFinish
}

func (m bentModel) Complete(ctx context.Context, req *runtime.Request) (*runtime.Answer, error) {
	bent := *req
	bent.Messages = m.broken.view(req.Messages)
	return m.Model.Complete(ctx, &bent)
}

// A runner that stores results as they finish is caught, with the seed that
// shows it.
func TestResultsStoredAsTheyFinishAreFound(t *testing.T) {
	source := DirSource(recordMini(t, readersScenario, readers(3, 4), LiveOptions{}))
	replay := func(shuffle int, seed int64) Result {
		return Replay(context.Background(), source, "x", ReplayOptions{Environ: []string{}, Shuffle: shuffle, Seed: seed,
			bend: func(s *session) { new(asTheyFinish).bend(s) }})
	}
	result := replay(20, 1)
	assert.Equal(t, result.Status, Fail)
	found := result.Findings[0]
	assert.Equal(t, found.Code, "golden/differs")
	before, seed, _ := strings.Cut(found.Message, "--seed ")
	assert.Assert(t, strings.HasSuffix(before, " of 20 orders of answers give another session; the first is repeated by `tapetree replay x --shuffle 1 "), before)
	first := strings.TrimSuffix(seed, "`")
	assert.Assert(t, strings.HasPrefix(result.Details[0], "order of answers with --seed "+first+": root#1 root/1."), result.Details[0])
	assert.Assert(t, strings.Contains(result.Details[0], "\n-"), result.Details[0])
	codes := map[string]bool{}
	for _, f := range result.Findings {
		codes[f.Code] = true
	}
	assert.Assert(t, codes["replay/history"] && codes["isolation/parent-sees-child"], "%v", codes)

	again := replay(1, int64(first[0]-'0'))
	assert.Equal(t, again.Status, Fail)
	assert.DeepEqual(t, again.Details, result.Details)
}

// A finding that only another order has is told although the history is the
// same.
func TestAFindingOfAnotherOrderIsTold(t *testing.T) {
	r := &Result{Name: "x", Findings: []record.Finding{{Code: "a"}}}
	r.partsWith(&shuffled{seed: 3, order: "root#1", findings: []record.Finding{{Code: "a"}, {Code: "b"}}, details: []string{"more"}}, 1, 2)
	assert.DeepEqual(t, r.Findings, []record.Finding{{Code: "a"},
		{Code: "golden/differs", Message: "1 of 2 orders of answers give another session; the first is repeated by `tapetree replay x --shuffle 1 --seed 3`"}, {Code: "b"}})
	assert.DeepEqual(t, r.Details, []string{"order of answers with --seed 3: root#1", "more"})
}

// TestEightChildrenAThousandTimes replays a session of eight children that run
// at once through the whole runtime, as fast as they come and several at once,
// and wants the same bytes each time.
func TestEightChildrenAThousandTimes(t *testing.T) {
	const times, workers = 1000, 4
	dir := recordMini(t, readersScenario, readers(8, 3), LiveOptions{})
	want, err := os.ReadFile(filepath.Join(dir, "golden", "x.txt"))
	assert.NilError(t, err)
	var group sync.WaitGroup
	for range workers {
		group.Go(func() {
			for range times / workers {
				result := Replay(context.Background(), DirSource(dir), "x", ReplayOptions{Environ: []string{}})
				if result.Status != Pass || result.Golden != string(want) {
					t.Error(result.Status, result.Err, result.Findings)
					return
				}
			}
		})
	}
	group.Wait()
}
