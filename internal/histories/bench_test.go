package histories_test

import (
	"bytes"
	"context"
	"fmt"
	"maps"
	"slices"
	"testing"

	"github.com/tapetree/tapetree/internal/benchdata"
	"github.com/tapetree/tapetree/internal/histories"
	"github.com/tapetree/tapetree/scenarios"
)

// BenchmarkCheck reads and judges a history of a given size, our own transcript
// and those of other programs: the time for a megabyte must not grow.
func BenchmarkCheck(b *testing.B) {
	formats := maps.Clone(benchdata.Formats)
	formats["transcript"] = func(size int) []byte { return benchdata.New(benchdata.Sized(size)).File.Encode() }
	for _, name := range slices.Sorted(maps.Keys(formats)) {
		for _, megabytes := range []int{1, 10, 100} {
			b.Run(fmt.Sprintf("%s/%dMB", name, megabytes), func(b *testing.B) {
				data := formats[name](megabytes << 20)
				b.SetBytes(int64(len(data)))
				for b.Loop() {
					for h, err := range histories.Parse(context.Background(), "bench.jsonl", bytes.Clone(data), histories.Options{Lean: true}) {
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
