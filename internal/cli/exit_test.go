package cli

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"gotest.tools/v3/assert"
)

// project is a project with three scenarios that hold, named a, b and c.
func project(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	code, _, stderr := run("init", "--dir", dir)
	assert.Equal(t, code, 0, stderr)
	const first = "isolation-file-outlives-child"
	for folder, ending := range map[string]string{"scenarios": ".txtar", "transcripts": ".jsonl", "golden": ".txt"} {
		path := filepath.Join(dir, folder, first+ending)
		data, err := os.ReadFile(path)
		assert.NilError(t, err)
		for _, name := range []string{"a", "b", "c"} {
			assert.NilError(t, os.WriteFile(filepath.Join(dir, folder, name+ending), data, 0o644))
		}
		assert.NilError(t, os.Remove(path))
	}
	return dir
}

// change replaces a text in a file of a project, or with old "" all of it.
func change(t *testing.T, dir, name, old, new string) {
	t.Helper()
	path := filepath.Join(dir, name)
	data, err := os.ReadFile(path)
	assert.NilError(t, err)
	text := new
	if old != "" {
		assert.Assert(t, strings.Contains(string(data), old), "%s has no %q", name, old)
		text = strings.Replace(string(data), old, new, 1)
	}
	assert.NilError(t, os.WriteFile(path, []byte(text), 0o644))
}

// dropLine drops the line of a file that begins with a text.
func dropLine(t *testing.T, dir, name, begin string) {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(dir, name))
	assert.NilError(t, err)
	at := strings.Index("\n"+string(data), "\n"+begin)
	assert.Assert(t, at >= 0, "%s has no line %s", name, begin)
	line, _, _ := strings.Cut(string(data)[at:], "\n")
	change(t, dir, name, line+"\n", "")
}

// TestReplayExitCodes is case 7.06: what failed, what could not be judged and
// what was not there at all are told apart, and none of them is a success. One
// bad scenario among good ones counts; of several the gravest does.
func TestReplayExitCodes(t *testing.T) {
	for _, c := range []struct {
		name   string
		broken func(t *testing.T, dir string)
		args   []string
		code   int
		last   string // line of stdout
	}{
		{"all hold", func(*testing.T, string) {}, nil, 0, "3 passed, 0 failed, 0 errors"},
		{"one failed: a golden differs", func(t *testing.T, dir string) { change(t, dir, "golden/b.txt", "root", "boot") }, nil, 1, "2 passed, 1 failed, 0 errors"},
		{"one failed: a golden is missing", func(t *testing.T, dir string) { assert.NilError(t, os.Remove(filepath.Join(dir, "golden/b.txt"))) }, nil, 1, "2 passed, 1 failed, 0 errors"},
		{"one failed: a wish of the scenario", func(t *testing.T, dir string) {
			change(t, dir, "scenarios/b.txtar", "-- prompt --", "max-turns: 1\n-- prompt --")
		}, nil, 1, "2 passed, 1 failed, 0 errors"},
		{"one failed: replay miss", func(t *testing.T, dir string) {
			dropLine(t, dir, "transcripts/c.jsonl", `{"kind":"exchange","agent":"root","turn":3`)
			change(t, dir, "transcripts/c.jsonl", `"exchanges":7`, `"exchanges":6`)
		}, nil, 1, "2 passed, 1 failed, 0 errors"},
		{"one failed: the others were not selected", func(t *testing.T, dir string) { change(t, dir, "golden/b.txt", "root", "boot") }, []string{"b"}, 1, "0 passed, 1 failed, 0 errors"},
		{"one failed, not selected", func(t *testing.T, dir string) { change(t, dir, "golden/b.txt", "root", "boot") }, []string{"a", "c"}, 0, "2 passed, 0 failed, 0 errors"},
		{"one could not be read: scenario", func(t *testing.T, dir string) { change(t, dir, "scenarios/b.txtar", "", "what?\n") }, nil, 2, "2 passed, 0 failed, 1 error"},
		{"one could not be read: transcript", func(t *testing.T, dir string) { change(t, dir, "transcripts/b.jsonl", "", "") }, nil, 2, "2 passed, 0 failed, 1 error"},
		{"one could not run: no transcript", func(t *testing.T, dir string) {
			assert.NilError(t, os.Remove(filepath.Join(dir, "transcripts/b.jsonl")))
		}, nil, 3, "2 passed, 0 failed, 1 error"},
		{"one failed, one could not run", func(t *testing.T, dir string) {
			change(t, dir, "golden/a.txt", "root", "boot")
			assert.NilError(t, os.Remove(filepath.Join(dir, "transcripts/b.jsonl")))
		}, nil, 3, "1 passed, 1 failed, 1 error"},
		{"nothing matched: a name", func(*testing.T, string) {}, []string{"d"}, 2, ""},
		{"nothing matched: a tag", func(*testing.T, string) {}, []string{"--tag", "slow"}, 2, ""},
		{"nothing matched: one name of two", func(*testing.T, string) {}, []string{"a", "d"}, 2, ""},
		{"nothing matched: no scenarios", func(t *testing.T, dir string) { assert.NilError(t, os.RemoveAll(filepath.Join(dir, "scenarios"))) }, nil, 2, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := project(t)
			c.broken(t, dir)
			code, stdout, stderr := run(append([]string{"replay", "--dir", dir}, c.args...)...)
			lines := strings.Split(strings.TrimSuffix(stdout, "\n"), "\n")
			assert.Equal(t, lines[len(lines)-1], c.last, "%s%s", stdout, stderr)
			assert.Equal(t, code, c.code, "%s%s", stdout, stderr)
			for _, format := range []string{"json", "junit"} {
				code, _, stderr := run(append([]string{"replay", "--dir", dir, "--format", format}, c.args...)...)
				assert.Equal(t, code, c.code, "%s: %s", format, stderr)
			}
		})
	}
}
