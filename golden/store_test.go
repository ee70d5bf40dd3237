package golden

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/tapetree/tapetree/record"
	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"
)

// filesOf reads a folder back as a map from name to content.
func filesOf(t *testing.T, dir string) map[string]string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	assert.NilError(t, err)
	found := map[string]string{}
	for _, entry := range entries {
		data, err := os.ReadFile(filepath.Join(dir, entry.Name()))
		assert.NilError(t, err)
		found[entry.Name()] = string(data)
	}
	return found
}

func TestCheckSettlesTheFolder(t *testing.T) {
	const diff = "--- want\n+++ got\n@@ -1,1 +1,1 @@\n-old\n+new\n"
	tests := []struct {
		name   string
		before map[string]string
		update bool
		want   Outcome // Path and Wrote relative to the folder
		after  map[string]string
	}{
		{"missing", map[string]string{}, false, Outcome{Code: "golden/missing", Path: "n.txt", Wrote: "n.txt.new"}, map[string]string{"n.txt.new": "new\n"}},
		{"missing, accepted", map[string]string{"n.txt.new": "x"}, true, Outcome{Path: "n.txt", Wrote: "n.txt"}, map[string]string{"n.txt": "new\n"}},
		{"differs", map[string]string{"n.txt": "old\n"}, false, Outcome{Code: "golden/differs", Diff: diff, Path: "n.txt", Wrote: "n.txt.new"}, map[string]string{"n.txt": "old\n", "n.txt.new": "new\n"}},
		{"differs, accepted", map[string]string{"n.txt": "old\n", "n.txt.new": "x"}, true, Outcome{Path: "n.txt", Wrote: "n.txt"}, map[string]string{"n.txt": "new\n"}},
		{"equal removes what waited", map[string]string{"n.txt": "new\n", "n.txt.new": "x"}, false, Outcome{Path: "n.txt"}, map[string]string{"n.txt": "new\n"}},
		{"equal on a CRLF checkout stays as it is", map[string]string{"n.txt": "new\r\n"}, true, Outcome{Path: "n.txt"}, map[string]string{"n.txt": "new\r\n"}},
		{"others are left alone", map[string]string{"n.txt": "new\n", "m.txt.new": "x"}, false, Outcome{Path: "n.txt"}, map[string]string{"n.txt": "new\n", "m.txt.new": "x"}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			dir := t.TempDir()
			for name, text := range test.before {
				assert.NilError(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644))
			}
			got, err := Store{Dir: dir}.Check("n", "new\n", test.update)
			assert.NilError(t, err)
			got.Path, got.Wrote = strings.TrimPrefix(got.Path, dir+string(filepath.Separator)), strings.TrimPrefix(got.Wrote, dir+string(filepath.Separator))
			assert.Equal(t, got, test.want)
			assert.DeepEqual(t, filesOf(t, dir), test.after)
		})
	}
}

func TestCheckMakesTheFolder(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "golden")
	_, err := Store{Dir: dir}.Check("n", "new\n", true)
	assert.NilError(t, err)
	assert.DeepEqual(t, filesOf(t, dir), map[string]string{"n.txt": "new\n"})
}

func TestCheckOfTheSuiteWritesNothing(t *testing.T) {
	store := Store{FS: fstest.MapFS{"n.txt": {Data: []byte("old\n")}}}
	got, err := store.Check("n", "new\n", true)
	assert.NilError(t, err)
	assert.Equal(t, got, Outcome{Code: "golden/differs", Diff: "--- want\n+++ got\n@@ -1,1 +1,1 @@\n-old\n+new\n", Path: "builtin:golden/n.txt"})
	got, err = store.Check("m", "new\n", true)
	assert.NilError(t, err)
	assert.Equal(t, got, Outcome{Code: "golden/missing", Path: "builtin:golden/m.txt"})
	dir := t.TempDir()
	store.Dir = filepath.Join(dir, "golden")
	got, err = store.Check("m", "new\n", true)
	assert.NilError(t, err)
	assert.Equal(t, got, Outcome{Code: "golden/missing", Path: filepath.Join(dir, "golden", "m.txt")})
	assert.DeepEqual(t, filesOf(t, dir), map[string]string{})
}

func TestCheckThatCannotWriteStillTellsWhatDiffers(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "golden")
	assert.NilError(t, os.WriteFile(dir, nil, 0o644)) // a file in the folder's place
	for _, update := range []bool{false, true} {
		_, err := Store{Dir: dir}.Check("n", "new\n", update)
		assert.Assert(t, is.ErrorContains(err, "golden history "+filepath.Join(dir, "n.txt")))
	}
	folder := t.TempDir()
	assert.NilError(t, os.MkdirAll(filepath.Join(folder, "n.txt.new", "x"), 0o755))
	got, err := Store{Dir: folder}.Check("n", "new\n", false)
	assert.Equal(t, got, Outcome{Code: "golden/missing", Path: filepath.Join(folder, "n.txt")})
	assert.ErrorContains(t, err, "write golden history "+filepath.Join(folder, "n.txt.new"))
	entries, err := os.ReadDir(folder)
	assert.NilError(t, err)
	assert.Equal(t, len(entries), 1) // no temporary file is left
}

func TestReadErrors(t *testing.T) {
	dir := t.TempDir()
	_, err := Store{Dir: dir}.Read("n")
	assert.Assert(t, errors.Is(err, fs.ErrNotExist))
	assert.NilError(t, os.Mkdir(filepath.Join(dir, "n.txt"), 0o755))
	_, err = Store{Dir: dir}.Check("n", "x", false)
	assert.ErrorContains(t, err, "read golden history "+filepath.Join(dir, "n.txt")+": ")
}

func TestOrphansAreFilesWithoutAScenario(t *testing.T) {
	folder := fstest.MapFS{"b.txt": {}, "a.txt": {}, "c.txt": {}, "c.txt.new": {}, "README.md": {}, "sub/d.txt": {}}
	got, err := Orphans(folder, ".txt", []string{"c", "x"})
	assert.NilError(t, err)
	assert.DeepEqual(t, got, []string{"a.txt", "b.txt"})
	got, err = Orphans(os.DirFS(filepath.Join(t.TempDir(), "none")), ".txt", nil)
	assert.NilError(t, err)
	assert.Equal(t, len(got), 0)
}

func TestOutcomeIsAFindingWithAWayOut(t *testing.T) {
	tests := []struct {
		outcome Outcome
		finding record.Finding
		detail  string
	}{
		{Outcome{Path: "golden/n.txt"}, record.Finding{}, ""},
		{Outcome{Code: "golden/missing", Path: "golden/n.txt", Wrote: "golden/n.txt.new"},
			record.Finding{Code: "golden/missing", Message: "there is no golden/n.txt: wrote golden/n.txt.new; look at it, then accept it with `tapetree review NAME`"}, ""},
		{Outcome{Code: "golden/differs", Path: "golden/n.txt", Wrote: "golden/n.txt.new", Diff: "-a\n+b\n"},
			record.Finding{Code: "golden/differs", Message: "the session is not the one in golden/n.txt: wrote golden/n.txt.new; look at it, then accept it with `tapetree review NAME`"}, "-a\n+b\n"},
		{Outcome{Code: "golden/differs", Path: "builtin:golden/n.txt", Diff: "d"}, record.Finding{Code: "golden/differs", Message: "the session is not the one in builtin:golden/n.txt"}, "d"},
	}
	for _, test := range tests {
		finding, detail, differs := test.outcome.Finding()
		assert.Equal(t, finding, test.finding)
		assert.Equal(t, detail, test.detail)
		assert.Equal(t, differs, test.outcome.Code != "")
	}
}
