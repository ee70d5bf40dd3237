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
	for _, path := range []string{pipe, link} {
		info, err := os.Lstat(path)
		assert.NilError(t, err)
		assert.Assert(t, !info.Mode().IsRegular(), path)
	}
	assert.Equal(t, exitCode(writeFile(dir, nil)), exitUsage)
}
