//go:build unix

package tools

import (
	"net"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"gotest.tools/v3/assert"
)

// TestSpecialFilesAreRefusedByType is case 5.07: what is no regular file is refused by its type, at once, by every
// tool, and is still there afterwards. A test that blocks here fails by the
// time limit of the run.
func TestSpecialFilesAreRefusedByType(t *testing.T) {
	p := newPlace(t, Options{})
	assert.NilError(t, syscall.Mkfifo(filepath.Join(p.dir, "log.pipe"), 0o644))
	t.Chdir(p.dir) // the path of a socket must be short
	socket, err := net.Listen("unix", "sock")
	assert.NilError(t, err)
	defer socket.Close()
	p.put(t, "folder/keep", "")
	p.link(t, "to-pipe", "log.pipe")
	p.link(t, "to-sock", filepath.Join(p.dir, "sock"))
	p.link(t, "to-folder", "folder")
	words := map[string]string{
		"log.pipe": "not a regular file", "to-pipe": "not a regular file", "sock": "not a regular file",
		"to-sock": "not a regular file", "folder": "is a directory", "to-folder": "is a directory", ".": "is a directory",
	}
	// Making a device needs rights that a test rarely has.
	if syscall.Mknod(filepath.Join(p.dir, "zero"), syscall.S_IFCHR|0o666, 1<<8|5) == nil {
		words["zero"] = "not a regular file"
	}
	before := modes(t, p.dir)
	for path, word := range words {
		got, err := p.ReadFile(t.Context(), path, 0, 0)
		assert.Equal(t, told(t, got, err), "Error [tool_error]: cannot read "+path+": "+word)
		got, err = p.WriteFile(t.Context(), path, "x")
		assert.Equal(t, told(t, got, err), "Error [tool_error]: cannot write "+path+": "+word)
		got, err = p.EditFile(t.Context(), path, "x", "y", true)
		assert.Equal(t, told(t, got, err), "Error [tool_error]: cannot edit "+path+": "+word)
		if word == "not a regular file" {
			got, err = p.Glob(t.Context(), "*", path)
			assert.Equal(t, told(t, got, err), "Error [tool_error]: cannot list "+path+": not a directory")
			got, err = p.ListFiles(t.Context(), path)
			assert.Equal(t, told(t, got, err), "Error [tool_error]: cannot list "+path+": not a directory")
		}
	}
	assert.DeepEqual(t, modes(t, p.dir), before)
}

func TestListFilesNamesTheKindOfWhatIsNoFile(t *testing.T) {
	p := newPlace(t, Options{})
	assert.NilError(t, syscall.Mkfifo(filepath.Join(p.dir, "log.pipe"), 0o644))
	t.Chdir(p.dir) // the path of a socket must be short
	socket, err := net.Listen("unix", "sock")
	assert.NilError(t, err)
	defer socket.Close()
	p.put(t, "two\nnames", "")
	p.link(t, "to-pipe", "log.pipe")
	want := "log.pipe [FIFO]\nsock [socket]\nto-pipe [link]\n\"two\\nnames\""
	if syscall.Mknod(filepath.Join(p.dir, "zero"), syscall.S_IFCHR|0o666, 1<<8|5) == nil {
		want += "\nzero [device]"
	}
	got, err := p.ListFiles(t.Context(), "")
	assert.NilError(t, err)
	assert.Equal(t, got, want)
}

func modes(t *testing.T, folder string) map[string]string {
	t.Helper()
	entries, err := os.ReadDir(folder)
	assert.NilError(t, err)
	found := make(map[string]string)
	for _, entry := range entries {
		found[entry.Name()] = entry.Type().String()
	}
	return found
}

// TestTheOpenItselfWaitsForNothing is case 5.07: a FIFO that takes the place of a file after the look at its type
// is not waited for either.
func TestTheOpenItselfWaitsForNothing(t *testing.T) {
	p := newPlace(t, Options{})
	assert.NilError(t, syscall.Mkfifo(filepath.Join(p.dir, "pipe"), 0o644))
	_, err := openAtOnce(p.root, "pipe", os.O_RDONLY)
	assert.ErrorIs(t, err, errNotRegular)
	_, err = openAtOnce(p.root, "pipe", os.O_WRONLY)
	assert.Equal(t, kindOf(err), "not a regular file")
}

func TestWhatThePermissionsForbidIsToldByOurWord(t *testing.T) {
	if os.Geteuid() == 0 {
		t.Skip("the superuser may do everything")
	}
	p := newPlace(t, Options{})
	p.put(t, "closed/f", "x")
	p.put(t, "read-only", "x")
	assert.NilError(t, os.Chmod(filepath.Join(p.dir, "closed"), 0))
	t.Cleanup(func() { assert.NilError(t, os.Chmod(filepath.Join(p.dir, "closed"), 0o755)) })
	assert.NilError(t, os.Chmod(filepath.Join(p.dir, "read-only"), 0o444))
	got, err := p.ReadFile(t.Context(), "closed/f", 0, 0)
	assert.Equal(t, told(t, got, err), "Error [tool_error]: cannot read closed/f: permission")
	got, err = p.WriteFile(t.Context(), "read-only", "y")
	assert.Equal(t, told(t, got, err), "Error [tool_error]: cannot write read-only: permission")
	got, err = p.Glob(t.Context(), "**", "")
	assert.Equal(t, told(t, got, err), "closed/\nread-only\n[1 folder could not be read]")
}
