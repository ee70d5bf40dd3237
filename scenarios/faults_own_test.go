package scenarios

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"gotest.tools/v3/assert"
)

// TestFaultsOfAScenarioMeetTheOwnRunner: the section faults of a scenario that
// no program of somebody else's runs breaks the answers of its transcript, in
// both profiles, and the history shows that and nothing else.
func TestFaultsOfAScenarioMeetTheOwnRunner(t *testing.T) {
	const faults = "-- faults --\nroot/1.2#2 status 503\nroot#2 status 429 times=2\n"
	for _, name := range []string{"isolation-twin-briefs", "mini-twin-briefs"} {
		t.Run(name, func(t *testing.T) {
			source := DirSource(t.TempDir())
			for from, more := range map[string]string{"scenarios/" + name + ".txtar": faults, "transcripts/" + name + ".jsonl": "", "golden/" + name + ".txt": ""} {
				data, err := os.ReadFile(filepath.Join("..", filepath.FromSlash(from)))
				assert.NilError(t, err)
				to := filepath.Join(source.Dir, filepath.FromSlash(from))
				assert.NilError(t, os.MkdirAll(filepath.Dir(to), 0o755))
				assert.NilError(t, os.WriteFile(to, append(data, more...), 0o644))
			}
			result := Replay(context.Background(), source, name, ReplayOptions{Environ: []string{}})
			assert.NilError(t, result.Err)
			var codes []string
			for _, f := range result.Findings {
				codes = append(codes, f.Code)
			}
			assert.DeepEqual(t, codes, []string{"golden/differs"})
			assert.DeepEqual(t, result.Remarks, []string{
				"fault root/1.2#2 status 503: applied; the agent asked again",
				"fault root#2 status 429 times=2: applied to 2 requests; the agent asked again",
			})
			whole, err := os.ReadFile(source.GoldenPath(name))
			assert.NilError(t, err)
			want := string(whole)
			for place, tries := range map[string]string{
				"        root/1.2 turn 2\n": "          try 1 failed: status 503\n",
				"  root turn 2\n":           "    try 1 failed: status 429\n    try 2 failed: status 429\n",
			} {
				assert.Equal(t, strings.Count(want, place), 1)
				want = strings.Replace(want, place, place+tries, 1)
			}
			assert.Equal(t, result.Golden, want, fmt.Sprint(result.Notes))
		})
	}
}
