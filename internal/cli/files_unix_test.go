//go:build unix

package cli

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"gotest.tools/v3/assert"
)

// --out /dev/stdout must not put a file in the place of a device.
func TestWriteFileReplacesNoPipeAndNoLink(t *testing.T) {
	dir := t.TempDir()
	pipe := filepath.Join(dir, "pipe")
	assert.NilError(t, syscall.Mkfifo(pipe, 0o600))
	reader, err := os.OpenFile(pipe, os.O_RDWR, 0) // does not wait for the other side
	assert.NilError(t, err)
	defer reader.Close()
	assert.NilError(t, writeFile(pipe, []byte("report")))
	assert.Assert(t, !isRegular(t, pipe))
	got := make([]byte, 6)
	_, err = reader.Read(got)
	assert.NilError(t, err)
	assert.Equal(t, string(got), "report")

	target, link := filepath.Join(dir, "target"), filepath.Join(dir, "link")
	assert.NilError(t, os.WriteFile(target, nil, 0o600))
	assert.NilError(t, os.Symlink(target, link))
	assert.NilError(t, writeFile(link, []byte("report")))
	data, err := os.ReadFile(target)
	assert.NilError(t, err)
	assert.Equal(t, string(data), "report")
	assert.Assert(t, !isRegular(t, link))
	assert.Equal(t, exitCode(writeFile(dir, nil)), exitUsage)
}

func isRegular(t *testing.T, path string) bool {
	t.Helper()
	info, err := os.Lstat(path)
	assert.NilError(t, err)
	return info.Mode().IsRegular()
}
