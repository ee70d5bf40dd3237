package scenarios

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"github.com/tapetree/tapetree/internal/benchdata"
)

// benchProject writes the standard session (330 exchanges, 11 agents) as a
// project of one scenario and returns its folder.
func benchProject(b *testing.B) string {
	b.Helper()
	dir := b.TempDir()
	system := "-- system --\nYou are an agent of a benchmark.\n-- child-system --\nYou are an agent of a benchmark.\n"
	for path, data := range map[string][]byte{
		"scenarios/bench.txtar":   []byte("-- prompt --\nWork on root.\n" + system),
		"transcripts/bench.jsonl": benchdata.New(benchdata.Standard).File.Encode(),
	} {
		if err := os.MkdirAll(filepath.Dir(filepath.Join(dir, path)), 0o755); err != nil {
			b.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, path), data, 0o644); err != nil {
			b.Fatal(err)
		}
	}
	result := Replay(context.Background(), DirSource(dir), "bench", ReplayOptions{Update: true, Environ: []string{}})
	if result.Status != Pass {
		b.Fatal(result.Status, result.Err, result.Findings)
	}
	return dir
}

// BenchmarkReexecution330 is a whole replay of the standard session: load, 330
// requests through the agent loop, judging and the golden comparison.
func BenchmarkReexecution330(b *testing.B) {
	source := DirSource(benchProject(b))
	for b.Loop() {
		result := Replay(context.Background(), source, "bench", ReplayOptions{Environ: []string{}})
		if result.Status != Pass {
			b.Fatal(result.Status, result.Err, result.Findings)
		}
	}
}

// BenchmarkSuite replays every scenario inside the binary, one after another.
func BenchmarkSuite(b *testing.B) {
	source := BuiltinSource()
	names, err := source.Names()
	if err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		for _, name := range names {
			if result := Replay(context.Background(), source, name, ReplayOptions{Environ: []string{}}); result.Status != Pass {
				b.Fatal(name, result.Err, result.Findings)
			}
		}
	}
}
