package imports_test

import (
	"os"
	"path/filepath"
	"testing"
	"testing/fstest"

	"github.com/tapetree/tapetree/transcripts"
	"github.com/tapetree/tapetree/transcripts/imports"
	"gotest.tools/v3/assert"
	golden3 "gotest.tools/v3/golden"
)

// readFile gives the one history of a file on disk, with what stands beside it.
func readFile(t *testing.T, path string) *transcripts.History {
	t.Helper()
	data, err := os.ReadFile(path)
	assert.NilError(t, err)
	var found *transcripts.History
	for h, err := range imports.Detect(data).ReadFile(path, data) {
		assert.NilError(t, err)
		assert.Assert(t, found == nil)
		found = h
	}
	return found
}

// Subagents with files of their own stand under the call that started them; files
// of other sessions are not read.
func TestBeside(t *testing.T) {
	for file, want := range map[string]string{
		"claude-apart/s1.jsonl":      "claude-apart.txt",
		"codex/rollout-1-root.jsonl": "codex.txt",
	} {
		t.Run(file, func(t *testing.T) {
			h := readFile(t, filepath.Join("testdata", file))
			h.Path = file
			golden3.Assert(t, report(h), want)
		})
	}
}

// The file of a subagent alone is a root of its own, whatever stands beside it.
func TestBesideOfASubagent(t *testing.T) {
	for _, file := range []string{"claude-apart/s1/subagents/agent-deep1.jsonl", "codex/rollout-4-kid-c.jsonl"} {
		h := readFile(t, filepath.Join("testdata", file))
		assert.DeepEqual(t, h.Count(), transcripts.Counts{Agents: 1, Messages: 2})
	}
}

// What is no regular file, or cannot be a session's, is left alone.
func TestBesideOthers(t *testing.T) {
	main, err := os.ReadFile("testdata/claude-apart/s1.jsonl")
	assert.NilError(t, err)
	folder := fstest.MapFS{
		"agent-folder.jsonl/x":               {},
		"agent-empty.jsonl":                  {},
		"s1/subagents/agent-empty.jsonl":     {},
		"s1/subagents/agent-folder.jsonl/x":  {},
		"s1/subagents/agent-broken.jsonl":    {Data: []byte("no\n")},
		"s1/subagents/agent-nothing.jsonl":   {Data: []byte("{}\n")},
		"s1/subagents/agent-system1.jsonl":   {Data: []byte(`{"type":"system","subtype":"x"}` + "\n")},
		"s1/subagents/agent-new2.meta.json":  {Data: []byte("no")},
		"s1/subagents/agent-list.jsonl":      {Data: []byte("[]\n")},
		"s1/subagents/agent-other.meta.json": {Data: []byte("{}")},
	}
	for h, err := range imports.Detect(main).Beside("s1.jsonl", main, folder) {
		assert.NilError(t, err)
		assert.DeepEqual(t, h.Warnings, []transcripts.Warning{
			{Msg: "s1/subagents/agent-broken.jsonl beside it: no JSON, left out"},
			{Msg: "s1/subagents/agent-folder.jsonl beside it cannot be read, and was left out"},
			{Msg: "s1/subagents/agent-list.jsonl beside it: no JSON object, left out"},
		})
		assert.Equal(t, h.Count().Agents, 3)
	}
}

// Nothing outside the file's folder is read, also where a link leads there.
func TestBesideLink(t *testing.T) {
	outside, folder := t.TempDir(), t.TempDir()
	main, err := os.ReadFile("testdata/claude-apart/s1.jsonl")
	assert.NilError(t, err)
	agent, err := os.ReadFile("testdata/claude-apart/agent-warm.jsonl")
	assert.NilError(t, err)
	assert.NilError(t, os.WriteFile(filepath.Join(outside, "agent-warm.jsonl"), agent, 0o600))
	assert.NilError(t, os.WriteFile(filepath.Join(folder, "s1.jsonl"), main, 0o600))
	if err := os.Symlink(filepath.Join(outside, "agent-warm.jsonl"), filepath.Join(folder, "agent-warm.jsonl")); err != nil {
		t.Skip("links cannot be made here")
	}
	assert.Equal(t, readFile(t, filepath.Join(folder, "s1.jsonl")).Count().Agents, 3)
}

// The four sessions of Claude Code that are at hand on some machines, against
// what was counted by hand: a message id is one answer, each block of results a
// message.
func TestClaudeSessions(t *testing.T) {
	for file, want := range map[string]transcripts.Counts{
		"51/0c10bf7b7a": {Agents: 7, Messages: 41, Calls: 22},
		"60/fd31fcf44f": {Agents: 2, Messages: 72, Calls: 37, Unanswered: 1},
		"7e/d4051c8a85": {Agents: 2, Messages: 72, Calls: 32},
		"dc/49cb8a2a42": {Agents: 3, Messages: 8, Calls: 4},
	} {
		path := filepath.Join("../../../shared/data/entireio__cli", file, "0/full.jsonl")
		if _, err := os.Stat(path); err != nil {
			t.Skipf("%s is not here", path)
		}
		assert.DeepEqual(t, readFile(t, path).Count(), want)
	}
}

func FuzzClaudeCode(f *testing.F) { fuzzReader(f, "claude-code") }
func FuzzPi(f *testing.F)         { fuzzReader(f, "pi") }
func FuzzCodex(f *testing.F)      { fuzzReader(f, "codex") }
