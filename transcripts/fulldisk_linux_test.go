package transcripts

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"gotest.tools/v3/assert"
)

// tinyDisk mounts a file system of the given size.
func tinyDisk(t *testing.T, options string) string {
	t.Helper()
	folder := t.TempDir()
	if err := syscall.Mount("tmpfs", folder, "tmpfs", 0, options); err != nil {
		t.Skipf("this test needs to mount a tmpfs: %v", err)
	}
	t.Cleanup(func() {
		if err := syscall.Unmount(folder, syscall.MNT_DETACH); err != nil {
			t.Error(err)
		}
	})
	return folder
}

func TestFullDiskWhileRecordingLosesNothingFinished(t *testing.T) {
	path := filepath.Join(tinyDisk(t, "size=64k"), "a.jsonl")
	f := longSession(1, 30)
	w, err := Create(path, f.Header)
	assert.NilError(t, err)
	written := 0
	for _, call := range f.Calls {
		if err = w.Call(call); err != nil {
			break
		}
		written++
	}
	assert.Error(t, err, "write "+path+".partial: no space left on device; what was finished is kept there")
	_, err = w.Close(nil, nil)
	assert.ErrorContains(t, err, "no space left on device")
	partial, err := Parse("p", []byte(readText(t, path+".partial")))
	assert.NilError(t, err)
	assert.Equal(t, len(partial.Calls), written)
	assert.Equal(t, partial.Torn, 0) // what fitted of the failed line is gone
}

func TestFullDiskOnCloseKeepsOldFileAndPartial(t *testing.T) {
	folder := tinyDisk(t, "size=96k")
	path := filepath.Join(folder, "a.jsonl")
	assert.NilError(t, os.WriteFile(path, []byte("old"), 0o600))
	f := longSession(0, 15) // some 60 KB: fits once, not twice
	w, err := Create(path, f.Header)
	assert.NilError(t, err)
	assert.NilError(t, writeLines(w, f))
	_, err = w.Close(nil, f.End)
	assert.Error(t, err, "write "+path+": no space left on device; the recording is kept in "+path+".partial")
	assert.Equal(t, readText(t, path), "old")
	assert.DeepEqual(t, names(t, folder), []string{"a.jsonl", "a.jsonl.partial"})
	partial, err := Parse("p", []byte(readText(t, path+".partial")))
	assert.NilError(t, err)
	assert.Equal(t, len(partial.Exchanges), len(f.Exchanges))
}

func TestReadOnlyMountIsNamed(t *testing.T) {
	folder := tinyDisk(t, "size=64k")
	if err := syscall.Mount("", folder, "", syscall.MS_REMOUNT|syscall.MS_RDONLY, ""); err != nil {
		t.Skipf("this test needs to remount a tmpfs: %v", err)
	}
	_, err := Create(filepath.Join(folder, "a.jsonl"), Header{Name: "a", By: "tapetree v0"})
	assert.Assert(t, strings.HasSuffix(err.Error(), "a.jsonl.partial: read-only file system"), err.Error())
}
