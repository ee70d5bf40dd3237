package scenarios

import (
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"gotest.tools/v3/assert"
)

func TestARecordingHidesItsOwnFilesOnly(t *testing.T) {
	for _, test := range []struct {
		name, dir, workspace string
		folders              []string // there before, below the project
		hidden, shown        []string
	}{
		{name: "in a project", folders: []string{"scenarios", "transcripts"},
			hidden: []string{"transcripts/one.jsonl.partial", "transcripts/one.jsonl.partial.lock", "transcripts/one.2.partial", "scenarios/one.work", "scenarios/old.work/a.txt"},
			shown:  []string{".", "transcripts", "transcripts/one.jsonl", "scenarios", "scenarios/one.txtar", "a.work/b", "x.partial", "golden/one.txt", "sub/transcripts/x.partial"}},
		{name: "in a folder that was none",
			hidden: []string{"transcripts", "scenarios", "scenarios/one.work"},
			shown:  []string{".", "a.txt", "scenarios2"}},
		{name: "with a project below the workspace", dir: "tests", folders: []string{"scenarios", "transcripts"},
			hidden: []string{"tests/transcripts/one.jsonl.partial", "tests/scenarios/one.work/a"},
			shown:  []string{"transcripts/one.jsonl.partial", "tests", "tests/scenarios"}},
		{name: "with the scenarios as the workspace", workspace: "scenarios", folders: []string{"scenarios"},
			hidden: []string{"one.work", "one.work/a"}, shown: []string{".", "one.txtar"}},
		{name: "with a workspace elsewhere", workspace: "elsewhere", folders: []string{"elsewhere", "scenarios"},
			shown: []string{"one.work", "transcripts", "transcripts/x.partial"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			root := t.TempDir()
			source := DirSource(filepath.Join(root, test.dir))
			for _, folder := range test.folders {
				assert.NilError(t, os.MkdirAll(filepath.Join(source.Dir, folder), 0o755))
			}
			hide := ownFiles(source, filepath.Join(root, test.workspace))
			for _, name := range test.hidden {
				assert.Assert(t, hide(name), name)
			}
			for _, name := range test.shown {
				assert.Assert(t, !hide(name), name)
			}
		})
	}
}

// TestASnapshotReplaysThoughItLiesInItsWorkspace: the project lies in the
// workspace, as it does by default, and the agent looks at all of it. A second
// snapshot does not hold the first.
func TestASnapshotReplaysThoughItLiesInItsWorkspace(t *testing.T) {
	p := &provider{answer: func(body string) (int, http.Header, string) {
		if strings.Contains(body, `"role":"tool"`) {
			return 200, nil, says("seen")
		}
		return 200, nil, calls(toolCall("a", "glob", `{"pattern":"**/*"}`))
	}}
	source := DirSource(t.TempDir())
	assert.NilError(t, os.WriteFile(filepath.Join(source.Dir, "a.txt"), []byte("alpha\n"), 0o644))
	for _, name := range []string{"one", "two"} {
		scenario := &Scenario{Name: name, Transcript: name, Golden: name, Profile: "p06", Prompt: "look"}
		recorded, err := RecordNew(t.Context(), source, scenario, true, LiveOptions{
			BaseURL: "https://api.example.com/v1", Model: "m", Stream: true, Transport: p, Workspace: source.Dir, Environ: []string{},
		})
		assert.NilError(t, err)
		assert.Equal(t, recorded.Replay.Status, Pass, "%v %v", recorded.Replay.Err, recorded.Replay.Findings)
		assert.Equal(t, len(recorded.Replay.Findings), 0)
	}
	assert.Equal(t, strings.Count(onDisk(t, source.Dir), "a.txt\nalpha"), 3, "the file and its two copies")
	assert.Assert(t, !strings.Contains(onDisk(t, source.Dir), ".partial"))
}
