package scenarios

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/tapetree/tapetree/runtime"
)

// BenchmarkChildren64 replays a session of 64 children of one turn, all at once
// and one after another. The goal is at most 1.3 times the processor time at
// once.
func BenchmarkChildren64(b *testing.B) {
	source := DirSource(recordMini(b, readersScenario, readers(64, 4), LiveOptions{ChildJobs: 64}))
	replay := func(jobs int) float64 {
		before := processorTime()
		result := Replay(context.Background(), source, "x", ReplayOptions{Environ: []string{}, ChildJobs: jobs})
		if result.Status != Pass {
			b.Fatal(result.Status, result.Err, result.Findings)
		}
		return processorTime() - before
	}
	together, alone := 0.0, 0.0
	for b.Loop() {
		together += replay(64)
		alone += replay(1)
	}
	b.ReportMetric(1000*together/float64(b.N), "cpu-ms-at-once/op")
	b.ReportMetric(1000*alone/float64(b.N), "cpu-ms-in-turn/op")
	if alone > 0 {
		b.ReportMetric(together/alone, "at-once/in-turn")
	}
}

// BenchmarkIdleChild measures the memory of a child that waits for its model's
// answer, over as many as wait at once. The goal is less than 64 KB.
func BenchmarkIdleChild(b *testing.B) {
	const children = 256
	dir := recordMini(b, readersScenario, readers(1, 2), LiveOptions{})
	source := DirSource(dir)
	scenario, err := source.Load("x")
	if err != nil {
		b.Fatal(err)
	}
	perChild := 0.0
	for b.Loop() {
		perChild += idleChildren(b, source, scenario, children)
	}
	b.ReportMetric(perChild/float64(b.N)/1024, "KB/child")
}

// idleChildren runs a session up to where all its children wait, and returns
// how many bytes each of them holds then.
func idleChildren(b *testing.B, source Source, scenario *Scenario, children int) float64 {
	s, err := openSession(source, scenario, LiveOptions{Environ: []string{}})
	if err != nil {
		b.Fatal(err)
	}
	defer s.close()
	idle := &idleModel{children: children, next: readers(children, 2), all: make(chan struct{}), goOn: make(chan struct{})}
	if err := s.connect("", LiveOptions{BaseURL: "http://upstream.invalid/v1", Model: "m", Transport: readers(children, 2), ChildJobs: children, OS: "Linux"}); err != nil {
		b.Fatal(err)
	}
	if err := s.compose(composition{model: idle, modelName: "m", childJobs: children}); err != nil {
		b.Fatal(err)
	}
	idle.live = &runtime.Live{BaseURL: "http://upstream.invalid/v1", HTTP: idle.next}
	before := memoryInUse()
	var ended sync.WaitGroup
	ended.Go(func() { err = s.run(context.Background()) })
	<-idle.all
	held := memoryInUse() - before
	close(idle.goOn)
	ended.Wait()
	if err != nil || s.broken != nil || s.outcome.Stop != runtime.StopAnswer {
		b.Fatal(err, s.broken)
	}
	return held / float64(children)
}

// idleModel lets every child wait until all do.
type idleModel struct {
	children int
	next     placed
	live     runtime.Model
	waiting  atomic.Int64
	all      chan struct{}
	goOn     chan struct{}
}

func (m *idleModel) Complete(ctx context.Context, req *runtime.Request) (*runtime.Answer, error) {
	if req.Place.Agent.Depth() > 0 && req.Place.Turn == 1 {
		if m.waiting.Add(1) == int64(m.children) {
			close(m.all)
		}
		<-m.goOn
	}
	answer, err := m.live.Complete(ctx, req)
	if err != nil {
		return nil, fmt.Errorf("ask %s: %w", req.Place.Agent, err)
	}
	return answer, nil
}
