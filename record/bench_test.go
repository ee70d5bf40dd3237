package record

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"testing"

	"github.com/tapetree/tapetree/internal/benchdata"
	"github.com/tapetree/tapetree/runtime"
	"github.com/tapetree/tapetree/transcripts"
	"gotest.tools/v3/assert"
)

// BenchmarkLoad reads the standard session from its bytes and prepares a
// replay of it.
func BenchmarkLoad(b *testing.B) {
	data := benchdata.New(benchdata.Standard).File.Encode()
	b.SetBytes(int64(len(data)))
	for b.Loop() {
		f, err := transcripts.Parse("bench.jsonl", data)
		assert.NilError(b, err)
		_, err = NewReplayer(f, ReplayOptions{})
		assert.NilError(b, err)
	}
}

// BenchmarkReplay answers all requests of the standard session, eleven agents
// at once, in the order of the recording and in reverse.
func BenchmarkReplay(b *testing.B) {
	session := benchdata.New(benchdata.Standard)
	f := parsed(b, session.File)
	reversed := slices.Clone(session.Agents)
	slices.Reverse(reversed)
	for name, agents := range map[string][]benchdata.Agent{"in-order": session.Agents, "reverse": reversed} {
		b.Run(name, func(b *testing.B) {
			var last *Replayer
			for b.Loop() {
				r, err := NewReplayer(f, ReplayOptions{})
				assert.NilError(b, err)
				var all sync.WaitGroup
				for _, agent := range agents {
					all.Go(func() {
						if err := agent.Ask(context.Background(), r); err != nil {
							b.Error(err)
						}
					})
				}
				all.Wait()
				last = r
			}
			if report := last.Report(); report.Grade != Exact || report.Used != 330 {
				b.Fatalf("replay was not exact: %+v", report)
			}
		})
	}
}

// BenchmarkTurnCost answers the last request of histories of growing length.
// What is measured is one turn: everything before it was compared already.
func BenchmarkTurnCost(b *testing.B) {
	for _, turns := range []int{10, 100, 1000} {
		session := benchdata.New(benchdata.Shape{Turns: turns, Result: 4096})
		f := parsed(b, session.File)
		requests := session.Agents[0].Requests
		before, last := requests[len(requests)-2], requests[len(requests)-1]
		e := f.Exchanges[len(f.Exchanges)-1]
		b.Run(fmt.Sprintf("turns=%d", turns), func(b *testing.B) {
			r, err := NewReplayer(f, ReplayOptions{})
			assert.NilError(b, err)
			tape := r.agents[runtime.Root]
			for b.Loop() {
				tape.comparer.sent, tape.comparer.recorded = before.Messages, f.Exchanges[len(f.Exchanges)-2].Messages
				tape.used[len(tape.used)-1] = false
				tape.late = true // the turns before were not asked in this benchmark
				if _, err := r.Complete(context.Background(), last); err != nil {
					b.Fatal(err)
				}
			}
			if e.Turn != turns {
				b.Fatalf("last exchange is of turn %d", e.Turn)
			}
		})
	}
}

// parsed writes f and reads it again, as a replay finds it.
func parsed(tb testing.TB, f *transcripts.File) *transcripts.File {
	tb.Helper()
	out, err := transcripts.Parse("bench.jsonl", f.Encode())
	assert.NilError(tb, err)
	return out
}
