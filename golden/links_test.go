package golden

import (
	"os"
	"path/filepath"
	"testing"

	"gotest.tools/v3/assert"
)

func TestALinkedHistoryIsWrittenThroughTheLink(t *testing.T) {
	dir, far := t.TempDir(), t.TempDir()
	link, real := filepath.Join(dir, "a.txt"), filepath.Join(far, "real.txt")
	assert.NilError(t, os.WriteFile(real, []byte("old\n"), 0o644))
	if err := os.Symlink(real, link); err != nil {
		t.Skip("no links here: ", err)
	}
	store := Store{Dir: dir}
	_, err := store.Check("a", "new\n", false)
	assert.NilError(t, err)
	p, err := store.Look("a")
	assert.NilError(t, err)
	memory, err := Remember(p.Files()...)
	assert.NilError(t, err)
	holds := func(want string) {
		t.Helper()
		info, err := os.Lstat(link)
		assert.NilError(t, err)
		assert.Equal(t, info.Mode().Type(), os.ModeSymlink)
		data, err := os.ReadFile(real)
		assert.NilError(t, err)
		assert.Equal(t, string(data), want)
	}
	assert.NilError(t, p.Accept())
	holds("new\n")
	assert.NilError(t, memory.Changed())
	assert.NilError(t, memory.Undo())
	holds("old\n")
	entries, err := os.ReadDir(far)
	assert.NilError(t, err)
	assert.Equal(t, len(entries), 1) // and nothing half written
}
