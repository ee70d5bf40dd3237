package golden

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"gotest.tools/v3/assert"
)

// folderOf makes a folder of files.
func folderOf(t *testing.T, contents map[string]string) Store {
	t.Helper()
	dir := t.TempDir()
	for name, text := range contents {
		assert.NilError(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644))
	}
	return Store{Dir: dir}
}

func TestPendingListsWhatWaits(t *testing.T) {
	store := folderOf(t, map[string]string{
		"changed.txt": "a\nb\n", "changed.txt.new": "a\nc\n",
		"fresh.txt.new": "a\n",
		"same.txt":      "a\r\nb\r\n", "same.txt.new": "a\nb\n", // a CRLF checkout
		"plain.txt": "a\n", "README.md.new": "no history\n",
	})
	assert.NilError(t, os.Mkdir(filepath.Join(store.Dir, "folder.txt.new"), 0o755))
	list, err := store.Pending()
	assert.NilError(t, err)
	var got []Pending
	for _, p := range list {
		p.Path, p.New = filepath.Base(p.Path), filepath.Base(p.New)
		got = append(got, *p)
	}
	want := []Pending{
		{Name: "changed", Path: "changed.txt", New: "changed.txt.new", Diff: "--- want\n+++ got\n@@ -1,2 +1,2 @@\n a\n-b\n+c\n",
			Kind: "-b\n+c", Removed: 1, Added: 1, old: "a\nb\n", text: "a\nc\n"},
		{Name: "fresh", Path: "fresh.txt", New: "fresh.txt.new", Missing: true, Diff: "--- want\n+++ got\n@@ -0,0 +1,1 @@\n+a\n",
			Kind: "+a", Added: 1, text: "a\n"},
	}
	assert.Equal(t, len(got), len(want))
	for i := range want {
		assert.Equal(t, got[i], want[i])
	}
	none, err := Store{Dir: filepath.Join(store.Dir, "none")}.Pending()
	assert.NilError(t, err)
	assert.Equal(t, len(none), 0)
	_, err = Store{Dir: filepath.Join(store.Dir, "plain.txt")}.Pending()
	assert.ErrorContains(t, err, "list golden histories in ")
}

// TestKindIsTheLinesThatGoAndCome: wherever they stand and however deep.
func TestKindIsTheLinesThatGoAndCome(t *testing.T) {
	kind := func(old, text string) string {
		store := folderOf(t, map[string]string{"n.txt": old, "n.txt.new": text})
		p, err := store.Look("n")
		assert.NilError(t, err)
		return p.Kind
	}
	one := kind("root\n  says | yes\n", "root\n  says | no\n")
	assert.Equal(t, one, "-says | yes\n+says | no")
	assert.Equal(t, kind("x\ny\nz\nroot\n      says | yes\n", "x\ny\nz\nroot\n      says | no\n"), one)
	assert.Equal(t, kind("root\r\n  says | yes\r\n", "root\n  says | no\n"), one)
	for _, other := range []string{
		kind("says | no\n", "says | yes\n"),
		kind("says | yes\n", "says | no\nsays | no\n"),
		kind("says | yes\n", "says | no!\n"),
		kind("says | yes\nsays | yes\n", "says | no\nsays | no\n"),
		kind("says | yes\n", ""),
	} {
		assert.Assert(t, other != one, other)
	}
	assert.Equal(t, kind("-- a\nx\n", "++ b\nx\n"), "--- a\n+++ b") // no names of a diff
}

func TestDecisionsChangeTheirFilesAlone(t *testing.T) {
	for _, test := range []struct {
		name   string
		files  map[string]string
		decide func(p *Pending) error
		after  map[string]string
	}{
		{"accept", map[string]string{"n.txt": "a\n", "n.txt.new": "b\n", "m.txt": "m\n"}, (*Pending).Accept, map[string]string{"n.txt": "b\n", "m.txt": "m\n"}},
		{"accept a first one", map[string]string{"n.txt.new": "b\n"}, (*Pending).Accept, map[string]string{"n.txt": "b\n"}},
		{"accept in a CRLF checkout", map[string]string{"n.txt": "a\r\nx\r\n", "n.txt.new": "b\nx\n"}, (*Pending).Accept, map[string]string{"n.txt": "b\r\nx\r\n"}},
		{"mixed line ends are nobody's", map[string]string{"n.txt": "a\r\nx\n", "n.txt.new": "b\nx\n"}, (*Pending).Accept, map[string]string{"n.txt": "b\nx\n"}},
		{"reject", map[string]string{"n.txt": "a\n", "n.txt.new": "b\n"}, (*Pending).Reject, map[string]string{"n.txt": "a\n"}},
		{"reject a first one", map[string]string{"n.txt.new": "b\n"}, (*Pending).Reject, map[string]string{}},
	} {
		t.Run(test.name, func(t *testing.T) {
			store := folderOf(t, test.files)
			p, err := store.Look("n")
			assert.NilError(t, err)
			memory, err := Remember(p.Files()...)
			assert.NilError(t, err)
			assert.NilError(t, test.decide(p))
			assert.NilError(t, memory.Changed())
			assert.DeepEqual(t, filesOf(t, store.Dir), test.after)
			assert.NilError(t, memory.Undo())
			assert.DeepEqual(t, filesOf(t, store.Dir), test.files)
			again, err := store.Look("n")
			assert.NilError(t, err)
			assert.NilError(t, test.decide(again)) // undone, it waits as before
			assert.DeepEqual(t, filesOf(t, store.Dir), test.after)
		})
	}
}

// TestWhatMovedIsNotDecidedOn: a file that somebody changed since it was looked
// at is left as it is, by a decision and by an undo.
func TestWhatMovedIsNotDecidedOn(t *testing.T) {
	for _, file := range []string{"n.txt", "n.txt.new"} {
		for _, decide := range []func(p *Pending) error{(*Pending).Accept, (*Pending).Reject} {
			store := folderOf(t, map[string]string{"n.txt": "a\n", "n.txt.new": "b\n"})
			p, err := store.Look("n")
			assert.NilError(t, err)
			assert.NilError(t, os.WriteFile(filepath.Join(store.Dir, file), []byte("mine\n"), 0o644))
			before := filesOf(t, store.Dir)
			assert.Assert(t, errors.Is(decide(p), ErrMoved))
			assert.DeepEqual(t, filesOf(t, store.Dir), before)
		}
	}
	store := folderOf(t, map[string]string{"n.txt.new": "b\n"})
	p, err := store.Look("n")
	assert.NilError(t, err)
	assert.NilError(t, os.WriteFile(filepath.Join(store.Dir, "n.txt"), []byte("mine\n"), 0o644)) // made meanwhile
	assert.Assert(t, errors.Is(p.Accept(), ErrMoved))

	memory, err := Remember(p.Files()...)
	assert.NilError(t, err)
	assert.NilError(t, os.Remove(p.New))
	assert.NilError(t, memory.Changed())
	assert.NilError(t, os.WriteFile(p.Path, []byte("mine again\n"), 0o644))
	before := filesOf(t, store.Dir)
	assert.Assert(t, errors.Is(memory.Undo(), ErrMoved))
	assert.DeepEqual(t, filesOf(t, store.Dir), before)
}

func TestMemoriesOfOneDecisionAreJoined(t *testing.T) {
	store := folderOf(t, map[string]string{"a.txt": "1\n", "b.txt": "1\n"})
	a, b := filepath.Join(store.Dir, "a.txt"), filepath.Join(store.Dir, "b.txt")
	var joined *Memory
	for _, step := range []struct{ path, text string }{{a, "2\n"}, {b, "2\n"}, {a, "3\n"}} {
		memory, err := Remember(step.path)
		assert.NilError(t, err)
		assert.NilError(t, os.WriteFile(step.path, []byte(step.text), 0o644))
		assert.NilError(t, memory.Changed())
		joined = joined.Join(memory)
	}
	joined = joined.Join(nil)
	assert.NilError(t, os.Chmod(b, 0o600))
	assert.NilError(t, joined.Undo())
	assert.DeepEqual(t, filesOf(t, store.Dir), map[string]string{"a.txt": "1\n", "b.txt": "1\n"})
	assert.NilError(t, (*Memory)(nil).Undo())
}

func TestReviewErrorsNameTheFile(t *testing.T) {
	store := folderOf(t, map[string]string{"n.txt.new": "b\n"})
	assert.NilError(t, os.Mkdir(filepath.Join(store.Dir, "n.txt"), 0o755))
	_, err := store.Pending()
	assert.ErrorContains(t, err, "read golden history "+filepath.Join(store.Dir, "n.txt")+": is a folder")
	_, err = Remember(filepath.Join(store.Dir, "n.txt"))
	assert.ErrorContains(t, err, "read "+filepath.Join(store.Dir, "n.txt"))
}
