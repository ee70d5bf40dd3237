package tools

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"gotest.tools/v3/assert"

	"github.com/tapetree/tapetree/runtime"
)

// place is a workspace with a folder beside it that nothing may reach.
type place struct {
	*Workspace
	dir, outside string
}

// newPlace makes a workspace and, beside it, outside/secret.txt and a sibling
// whose name begins like the workspace's.
func newPlace(t testing.TB, o Options) place {
	t.Helper()
	base, err := filepath.EvalSymlinks(t.TempDir())
	assert.NilError(t, err)
	p := place{dir: filepath.Join(base, "work"), outside: filepath.Join(base, "outside")}
	for _, folder := range []string{p.dir, p.outside, p.dir + "-sibling", filepath.Join(base, "run")} {
		assert.NilError(t, os.Mkdir(folder, 0o755))
	}
	put(t, filepath.Join(p.outside, "secret.txt"), "secret")
	put(t, p.dir+"-sibling/secret.txt", "secret")
	if o.Run == "" {
		o.Run = filepath.Join(base, "run")
	}
	p.Workspace, err = Open(p.dir, o)
	assert.NilError(t, err)
	t.Cleanup(func() { assert.NilError(t, p.Close()) })
	return p
}

func put(t testing.TB, path, content string) {
	t.Helper()
	assert.NilError(t, os.MkdirAll(filepath.Dir(path), 0o755))
	assert.NilError(t, os.WriteFile(path, []byte(content), 0o644))
}

func (p place) put(t testing.TB, name, content string) {
	t.Helper()
	put(t, filepath.Join(p.dir, name), content)
}

func (p place) link(t testing.TB, name, target string) {
	t.Helper()
	assert.NilError(t, os.Symlink(target, filepath.Join(p.dir, name)))
}

// tree returns every file below folder with its content, every link with its
// target.
func tree(t *testing.T, folder string) map[string]string {
	t.Helper()
	found := make(map[string]string)
	err := filepath.WalkDir(folder, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name, err := filepath.Rel(folder, path)
		switch {
		case err != nil:
		case entry.IsDir():
			found[name] = "folder"
		case entry.Type()&fs.ModeSymlink != 0:
			found[name], err = os.Readlink(path)
		default:
			var content []byte
			content, err = os.ReadFile(path)
			found[name] = string(content)
		}
		return err
	})
	assert.NilError(t, err)
	return found
}

// told returns what the model is told: the text of a result or of a ToolError.
func told(t testing.TB, result string, err error) string {
	t.Helper()
	if err == nil {
		return result
	}
	failure, ok := errors.AsType[*runtime.ToolError](err)
	assert.Assert(t, ok, "not for the model: %v", err)
	assert.Equal(t, result, "")
	return failure.Error()
}

func TestOpenNeedsADirectory(t *testing.T) {
	base := t.TempDir()
	put(t, filepath.Join(base, "file"), "")
	for _, root := range []string{filepath.Join(base, "missing"), filepath.Join(base, "file")} {
		_, err := Open(root, Options{})
		assert.ErrorContains(t, err, "open workspace "+root+": ")
	}
}

func TestCloseRemovesATemporaryRunFolderAndNoOther(t *testing.T) {
	mine := t.TempDir()
	ws, err := Open(t.TempDir(), Options{Run: mine})
	assert.NilError(t, err)
	assert.NilError(t, ws.Close())
	_, err = os.Stat(mine)
	assert.NilError(t, err)

	ws, err = Open(t.TempDir(), Options{})
	assert.NilError(t, err)
	run, err := ws.runFolder()
	assert.NilError(t, err)
	put(t, filepath.Join(run, "home", "file"), "")
	assert.NilError(t, ws.Close())
	_, err = os.Stat(run)
	assert.ErrorIs(t, err, fs.ErrNotExist)
}

func TestEveryKindOfFailureHasOurOwnWord(t *testing.T) {
	ws := newPlace(t, Options{}).Workspace
	at := target{shown: "a.txt"}
	cases := map[string]error{
		"permission":             &fs.PathError{Op: "openat", Path: "/home/x", Err: fs.ErrPermission},
		"not found":              fs.ErrNotExist,
		"is a directory":         errIsDirectory,
		"not a directory":        errNotDirectory,
		"not a regular file":     errNotRegular,
		"name too long":          errNameTooLong,
		"too many links":         errTooManyLinks,
		"file too large":         errTooLarge,
		"input or output failed": errors.New("strange: /home/x"),
	}
	for word, err := range cases {
		got := ws.failure(runtime.AccessRead, "read", at, err)
		assert.Equal(t, got.Error(), "Error [tool_error]: cannot read a.txt: "+word)
	}
	got := ws.failure(runtime.AccessWrite, "write", at, &fs.PathError{Op: "openat", Path: "x", Err: ws.escapes})
	assert.Equal(t, got.Error(), "Error [permission_denied]: Writing outside the workspace is forbidden")
}
