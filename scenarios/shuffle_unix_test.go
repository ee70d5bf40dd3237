//go:build unix

package scenarios

import (
	"context"
	"fmt"
	"os"
	"strings"
	"testing"

	"gotest.tools/v3/assert"

	"github.com/tapetree/tapetree/runtime"
	"github.com/tapetree/tapetree/transcripts"
)

// writers is a parent whose children append to one file, several times each.
func writers(at runtime.Place) (string, []string) {
	if at.Agent.Depth() > 0 && at.Turn < 4 {
		return "", []string{fmt.Sprintf(`run_bash {"command":"echo %s %d >> log.txt"}`, at.Agent, at.Turn)}
	}
	return readers(3, 4)(at)
}

// TestLiveWritesKeepTheRecordedOrder: whatever order the answers come in, what
// children really write lies in the file in the order of the timing line.
func TestLiveWritesKeepTheRecordedOrder(t *testing.T) {
	const scenario = "profile: mini\napprove: all\ntools: run_bash=live\n-- prompt --\nHave every part written.\n"
	dir := recordMini(t, scenario, placed(writers), LiveOptions{})
	source := DirSource(dir)
	for _, order := range []string{"1.1 1.2 1.3 2.1 2.2 2.3 3.1 3.2 3.3", "3.1 2.1 1.1 3.2 3.3 1.2 2.2 2.3 1.3", "2.1 2.2 2.3 3.1 1.1 3.2 1.2 3.3 1.3"} {
		data, err := os.ReadFile(source.TranscriptPath("x"))
		assert.NilError(t, err)
		tape, err := transcripts.Parse("x.jsonl", data)
		assert.NilError(t, err)
		tape.Timing.Order = nil
		var log strings.Builder
		for _, write := range strings.Fields(order) {
			child, turn, _ := strings.Cut(write, ".")
			name := fmt.Sprintf("root/1.%s#%s.1", child, turn)
			tape.Timing.Order = append(tape.Timing.Order, "+"+name, "-"+name)
			fmt.Fprintf(&log, "root/1.%s %s\n", child, turn)
		}
		assert.NilError(t, os.WriteFile(source.TranscriptPath("x"), tape.Encode(), 0o644))
		want := scenario + "-- want/files/log.txt --\n" + log.String()
		assert.NilError(t, os.WriteFile(source.ScenarioPath("x"), []byte(want), 0o644))
		result := Replay(context.Background(), source, "x", ReplayOptions{Environ: []string{}, AllowShell: true, Shuffle: 8, Seed: 1})
		assert.NilError(t, result.Err)
		assert.Equal(t, result.Status, Pass, "%v\n%s", result.Findings, strings.Join(result.Details, "\n"))
		assert.Equal(t, len(result.orders), 8)
	}
}
