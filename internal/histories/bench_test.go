package histories_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/tapetree/tapetree/internal/benchdata"
	"github.com/tapetree/tapetree/internal/histories"
	"github.com/tapetree/tapetree/scenarios"
)

// BenchmarkCheck reads and judges a history of a given size, our own transcript
// and a session of Claude Code: the time for a megabyte must not grow.
func BenchmarkCheck(b *testing.B) {
	for _, megabytes := range []int{1, 10, 100} {
		for name, make := range map[string]func(size int) []byte{
			"transcript":  func(size int) []byte { return benchdata.New(benchdata.Sized(size)).File.Encode() },
			"claude-code": benchdata.ClaudeCode,
		} {
			b.Run(fmt.Sprintf("%s/%dMB", name, megabytes), func(b *testing.B) {
				data := make(megabytes << 20)
				b.SetBytes(int64(len(data)))
				for b.Loop() {
					for h, err := range histories.Parse(context.Background(), "bench.jsonl", data, histories.Options{Lean: true}) {
						if err != nil {
							b.Fatal(err)
						}
						if found := scenarios.CheckHistory(h, scenarios.CheckOptions{Thresholds: scenarios.Thresholds{"limit.parent-turns": 1 << 30, "limit.child-turns": 1 << 30}}); len(found) > 0 {
							b.Fatal(found[0])
						}
					}
				}
			})
		}
	}
}
