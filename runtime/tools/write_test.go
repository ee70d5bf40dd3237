package tools

import (
	"os"
	"path/filepath"
	"testing"

	"gotest.tools/v3/assert"
)

func TestWriteFileCreatesReplacesAndSaysWhich(t *testing.T) {
	p := newPlace(t, Options{})
	steps := []struct{ path, content, want string }{
		{"a.txt", "12345", "Created a.txt: 5 bytes."},
		{"a.txt", "1", "Replaced a.txt: 1 byte."},
		{"./a.txt", "", "Replaced a.txt: 0 bytes."},
		{"new/deep/b.txt", "é\r\n\x00", "Created new/deep/b.txt: 5 bytes."},
		{filepath.Join(p.dir, "c.txt"), "c", "Created c.txt: 1 byte."},
		{"", "x", "Error [tool_error]: cannot write .: is a directory"},
		{"new", "x", "Error [tool_error]: cannot write new: is a directory"},
		{"a.txt/b", "x", "Error [tool_error]: cannot write a.txt/b: not a directory"},
		{"a.txt/b/c", "x", "Error [tool_error]: cannot write a.txt/b/c: not a directory"},
	}
	for _, step := range steps {
		got, err := p.WriteFile(t.Context(), step.path, step.content)
		assert.Equal(t, told(t, got, err), step.want)
	}
	assert.DeepEqual(t, tree(t, p.dir), map[string]string{
		".": "folder", "a.txt": "", "new": "folder", "new/deep": "folder", "new/deep/b.txt": "é\r\n\x00", "c.txt": "c",
	})
}

func TestWritingAndEditingKeepTheModeAndLeaveOpenReadersAlone(t *testing.T) {
	p := newPlace(t, Options{})
	p.put(t, "run.sh", "old")
	path := filepath.Join(p.dir, "run.sh")
	assert.NilError(t, os.Chmod(path, 0o676))
	reader, err := os.Open(path)
	assert.NilError(t, err)
	defer reader.Close()

	_, err = p.WriteFile(t.Context(), "run.sh", "new")
	assert.NilError(t, err)
	_, err = p.EditFile(t.Context(), "run.sh", "new", "newer", false)
	assert.NilError(t, err)

	info, err := os.Stat(path)
	assert.NilError(t, err)
	assert.Equal(t, info.Mode(), os.FileMode(0o676))
	seen := make([]byte, 8)
	n, err := reader.Read(seen)
	assert.NilError(t, err)
	assert.Equal(t, string(seen[:n]), "old") // replaced in one step, never half written
}

// TestWriteFileTellsOfAChangeSinceItsAgentReadTheFile is case 4.10: what another agent wrote since is not lost without a word.
func TestWriteFileTellsOfAChangeSinceItsAgentReadTheFile(t *testing.T) {
	p := newPlace(t, Options{})
	p.put(t, "f", "1")
	a, b := new(reads), new(reads)
	step := func(want string) func(string, error) {
		return func(got string, err error) { t.Helper(); assert.Equal(t, told(t, got, err), want) }
	}
	ctx := t.Context()
	step("1")(p.readFile(ctx, a, "f", 0, 0))
	step("1")(p.readFile(ctx, b, "f", 0, 0))
	step("Edited f: 1 replacement.")(p.editFile(ctx, a, "f", "1", "2", false))
	step("Replaced f: 2 bytes. It had changed since you read it, and that change is gone.")(p.writeFile(ctx, b, "f", "1b"))
	step("Replaced f: 2 bytes.")(p.writeFile(ctx, b, "f", "1c"))
	// a's own edit counts as seen, what b wrote does not, not even after another edit.
	step("Edited f: 1 replacement.")(p.editFile(ctx, a, "f", "1c", "1d", false))
	step("Replaced f: 1 byte. It had changed since you read it, and that change is gone.")(p.writeFile(ctx, a, "f", "3"))
	// Removed meanwhile: nothing is lost.
	assert.NilError(t, os.Remove(filepath.Join(p.dir, "f")))
	step("Created f: 1 byte.")(p.writeFile(ctx, b, "f", "4"))
	// Never read: no rule.
	step("Replaced f: 1 byte.")(p.writeFile(ctx, new(reads), "f", "5"))
}
