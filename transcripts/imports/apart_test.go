package imports_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/tapetree/tapetree/transcripts/imports"
	"gotest.tools/v3/assert"
)

// TestApart: the files of subagents are part of their session where that is
// named too, and stand for themselves elsewhere.
func TestApart(t *testing.T) {
	dir := t.TempDir()
	session := func(id string) string {
		return `{"type":"summary"}` + "\n" + `{"type":"user","sessionId":"` + id + `","message":{"role":"user","content":"Hi."}}` + "\n"
	}
	agent := func(id string) string {
		return `{"type":"user","sessionId":"` + id + `","isSidechain":true,"message":{"role":"user","content":"Hi."}}` + "\n"
	}
	rollout := func(id, parent string) string {
		return `{"type":"session_meta","payload":{"id":"` + id + `","parent_thread_id":"` + parent + `"}}` + "\n"
	}
	var all, want []string
	for _, f := range []struct {
		name, text string
		apart      bool
	}{
		{"a/agent-1.jsonl", agent("s1"), false},
		{"a/agent-2.jsonl", agent("s2"), true}, // its session is not there
		{"a/agent-3.jsonl", "", true},
		{"a/s1.jsonl", session("s1"), true},
		{"b/agent-1.jsonl", agent("s1"), true}, // its session is in another folder
		{"c/s3.jsonl", session("s3"), true},
		{"c/s3/subagents/agent-1.jsonl", agent("s3"), false},
		{"c/s4.jsonl", agent("s4"), true},
		{"c/s4/subagents/agent-1.jsonl", agent("s4"), true}, // s4 is no session
		{"c/s5/subagents/agent-1.jsonl", agent("s5"), true},
		{"d/rollout-1.jsonl", rollout("t1", ""), true},
		{"d/rollout-2.jsonl", rollout("t2", "t1"), false},
		{"d/rollout-3.jsonl", rollout("t3", "t2"), false},
		{"d/rollout-4.jsonl", rollout("t4", "t9"), true},
		{"d/rollout-5.jsonl", rollout("t5", "t6"), true}, // they started each other
		{"d/rollout-6.jsonl", rollout("t6", "t5"), true},
		{"d/rollout-7.jsonl", rollout("t2", "t1"), true}, // a thread that was read
		{"d/rollout-8.jsonl", "no JSON", true},
		{"d/rollout-9.jsonl", rollout("", "t1"), true},
		{"e/rollout-2.jsonl", rollout("t2", "t1"), true},
	} {
		path := filepath.Join(dir, filepath.FromSlash(f.name))
		assert.NilError(t, os.MkdirAll(filepath.Dir(path), 0o700))
		assert.NilError(t, os.WriteFile(path, []byte(f.text), 0o600))
		all = append(all, path)
		if f.apart {
			want = append(want, path)
		}
	}
	assert.DeepEqual(t, imports.Apart(all), want)
	alone := filepath.Join(dir, "a", "agent-1.jsonl")
	assert.DeepEqual(t, imports.Apart([]string{alone}), []string{alone})
	missing := []string{filepath.Join(dir, "x", "agent-1.jsonl"), filepath.Join(dir, "rollout-0.jsonl")}
	assert.DeepEqual(t, imports.Apart(missing), missing)
}
