package scenarios

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	goruntime "runtime"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"
	"gotest.tools/v3/assert"
)

// prepared makes the folders of a scenario for the time of a test.
func prepared(t *testing.T, s *Scenario, base fs.FS) *Folders {
	t.Helper()
	f, err := Prepare(s, base)
	assert.NilError(t, err)
	t.Cleanup(func() { assert.NilError(t, f.Remove()) })
	return f
}

// tree lists a folder: each path with its type and content.
func tree(t *testing.T, dir string) map[string]string {
	t.Helper()
	found := map[string]string{}
	err := filepath.WalkDir(dir, func(name string, entry fs.DirEntry, err error) error {
		if err != nil || name == dir {
			return err
		}
		relative, err := filepath.Rel(dir, name)
		if err != nil {
			return err
		}
		info, err := entry.Info()
		if err != nil {
			return err
		}
		what := kindOf(info.Mode())
		switch what {
		case "a file":
			data, err := os.ReadFile(name)
			if err != nil {
				return err
			}
			what += " " + string(data)
		case "a link":
			target, err := os.Readlink(name)
			if err != nil {
				return err
			}
			what += " " + filepath.ToSlash(target)
		}
		found[filepath.ToSlash(relative)] = what
		return nil
	})
	assert.NilError(t, err)
	return found
}

func needsUnix(t *testing.T) {
	t.Helper()
	if goruntime.GOOS == "windows" {
		t.Skip("links and FIFOs: not on Windows")
	}
}

func TestPrepareMakesFilesFIFOsAndLinks(t *testing.T) {
	needsUnix(t)
	f := prepared(t, &Scenario{
		Files:   []File{{"a.txt", []byte("alpha\n")}, {"d/e/f", nil}},
		FIFOs:   []string{"p/pipe"},
		Links:   []Link{{"door", "{{outside}}/x"}, {"d/up", "../a.txt"}, {"home", "{{workspace}}"}, {"dangling", "nowhere"}},
		Outside: []File{{"x/secret", []byte("s")}},
	}, nil)
	want := map[string]string{
		"outside": "a folder", "outside/x": "a folder", "outside/x/secret": "a file s",
		"run":       "a folder",
		"workspace": "a folder", "workspace/a.txt": "a file alpha\n", "workspace/d": "a folder", "workspace/d/e": "a folder", "workspace/d/e/f": "a file ",
		"workspace/p": "a folder", "workspace/p/pipe": "a fifo",
		"workspace/door": "a link " + f.Outside + "/x", "workspace/d/up": "a link ../a.txt", "workspace/home": "a link " + f.Workspace, "workspace/dangling": "a link nowhere",
	}
	if diff := cmp.Diff(want, tree(t, f.Root)); diff != "" {
		t.Fatal(diff)
	}
	for _, beside := range []string{f.Workspace, f.Outside, f.Run} {
		assert.Equal(t, filepath.Dir(beside), f.Root)
	}
}

func TestPrepareGivesFixedModesAndTimes(t *testing.T) {
	needsUnix(t)
	f := prepared(t, &Scenario{Files: []File{{"d/a", []byte("x")}}, Outside: []File{{"b", nil}}}, nil)
	for name, mode := range map[string]fs.FileMode{
		"workspace": fs.ModeDir | 0o755, "workspace/d": fs.ModeDir | 0o755, "workspace/d/a": 0o644, "outside": fs.ModeDir | 0o755, "outside/b": 0o644,
	} {
		info, err := os.Lstat(filepath.Join(f.Root, name))
		assert.NilError(t, err)
		assert.Equal(t, info.Mode(), mode, name)
		assert.Assert(t, info.ModTime().Equal(madeAt), name)
	}
}

func TestPrepareCopiesTheWorkspaceAndPutsTheSectionsOverIt(t *testing.T) {
	base := fstest.MapFS{
		"data/start/a":     {Data: []byte("copied a"), Mode: 0o400},
		"data/start/d/b":   {Data: []byte("copied b"), Mode: 0o755},
		"data/other/c":     {Data: []byte("not copied")},
		"data/start/empty": {Mode: fs.ModeDir},
	}
	f := prepared(t, &Scenario{Workspace: "data/start", Files: []File{{"a", []byte("own a")}, {"d/c", []byte("own c")}}}, base)
	want := map[string]string{"a": "a file own a", "d": "a folder", "d/b": "a file copied b", "d/c": "a file own c", "empty": "a folder"}
	if diff := cmp.Diff(want, tree(t, f.Workspace)); diff != "" {
		t.Fatal(diff)
	}
}

func TestLinksInTheCopiedWorkspaceAreNotFollowed(t *testing.T) {
	needsUnix(t)
	dir := t.TempDir()
	assert.NilError(t, os.MkdirAll(filepath.Join(dir, "start", "d"), 0o755))
	assert.NilError(t, os.MkdirAll(filepath.Join(dir, "private"), 0o755))
	assert.NilError(t, os.WriteFile(filepath.Join(dir, "private", "key"), []byte("k"), 0o644))
	assert.NilError(t, os.WriteFile(filepath.Join(dir, "start", "a"), []byte("a"), 0o644))
	assert.NilError(t, os.Symlink("../private", filepath.Join(dir, "start", "door")))
	assert.NilError(t, os.Symlink("../../private/key", filepath.Join(dir, "start", "d", "key")))
	assert.NilError(t, os.Symlink("start", filepath.Join(dir, "alias")))

	f := prepared(t, &Scenario{Workspace: "start"}, os.DirFS(dir))
	if diff := cmp.Diff(map[string]string{"a": "a file a", "d": "a folder"}, tree(t, f.Workspace)); diff != "" {
		t.Fatal(diff)
	}
	assert.DeepEqual(t, f.Skipped, []string{"d/key", "door"})

	_, err := Prepare(&Scenario{File: "x.txtar", Workspace: "alias"}, os.DirFS(dir))
	assert.Error(t, err, "prepare the workspace of x.txtar: workspace alias: alias is a link, not a folder")
}

func TestPrepareLeavesNothingBehindWhenItFails(t *testing.T) {
	temp := t.TempDir()
	t.Setenv("TMPDIR", temp)
	t.Setenv("TMP", temp)
	for _, c := range []struct {
		rule string
		s    Scenario
		base fs.FS
		want string
	}{
		{"no scenarios folder", Scenario{Workspace: "a/b"}, nil, "prepare the workspace of x.txtar: workspace a/b: there is no such folder beside the scenarios"},
		{"no such folder", Scenario{Workspace: "a/b"}, fstest.MapFS{"a/c": {}}, "prepare the workspace of x.txtar: workspace a/b: there is no such folder beside the scenarios"},
		{"a file in its place", Scenario{Workspace: "a/b"}, fstest.MapFS{"a/b": {}}, "prepare the workspace of x.txtar: workspace a/b: a/b is a file, not a folder"},
	} {
		t.Run(c.rule, func(t *testing.T) {
			c.s.File = "x.txtar"
			_, err := Prepare(&c.s, c.base)
			assert.Error(t, err, c.want)
		})
	}
	left, err := os.ReadDir(temp)
	assert.NilError(t, err)
	assert.Equal(t, len(left), 0)
}

func TestPrepareNeverWritesThroughALink(t *testing.T) {
	needsUnix(t)
	// Parse refuses a file below a link; a scenario made by hand gets no further.
	_, err := Prepare(&Scenario{File: "x.txtar", Links: []Link{{"door", "{{outside}}"}, {"door/x", "y"}}}, nil)
	assert.ErrorContains(t, err, "make link door/x: ")
}

func TestASystemWithoutFIFOsSaysSo(t *testing.T) {
	if goruntime.GOOS != "windows" {
		t.Skip("this system has FIFOs")
	}
	_, err := Prepare(&Scenario{FIFOs: []string{"pipe"}}, nil)
	assert.Assert(t, errors.Is(err, ErrNoFIFO))
}

func TestRemoveTakesAwayWhatARunHasLocked(t *testing.T) {
	f, err := Prepare(&Scenario{Files: []File{{"d/e/f", []byte("x")}}}, nil)
	assert.NilError(t, err)
	assert.NilError(t, os.Chmod(filepath.Join(f.Workspace, "d", "e"), 0o500))
	assert.NilError(t, os.Chmod(filepath.Join(f.Workspace, "d"), 0))
	assert.NilError(t, f.Remove())
	_, err = os.Lstat(f.Root)
	assert.Assert(t, errors.Is(err, fs.ErrNotExist))
	assert.NilError(t, f.Remove())
}

func TestFoldersAreNamedByTheirRealPath(t *testing.T) {
	f := prepared(t, &Scenario{}, nil)
	real, err := filepath.EvalSymlinks(f.Root)
	assert.NilError(t, err)
	assert.Equal(t, real, f.Root)
	assert.Assert(t, strings.HasPrefix(filepath.Base(f.Root), "tapetree-"))
}

// A program that quits in the middle of runs leaves none of their folders.
func TestRemoveAllTakesAwayTheFoldersOfAllRuns(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	for range 2 {
		_, err := Prepare(&Scenario{File: "f", Files: []File{{Path: "a/b", Data: []byte("x")}}}, nil)
		assert.NilError(t, err)
	}
	RemoveAll()
	left, err := os.ReadDir(os.Getenv("TMPDIR"))
	assert.NilError(t, err)
	assert.Equal(t, len(left), 0)
}
