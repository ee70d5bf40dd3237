//go:build unix

package files

import (
	"path/filepath"
	"syscall"
	"testing"

	"gotest.tools/v3/assert"
)

// Opening a FIFO that nobody writes to would wait for ever.
func TestAFIFOOrADeviceIsRefusedAtOnce(t *testing.T) {
	fifo := filepath.Join(t.TempDir(), "fifo")
	assert.NilError(t, syscall.Mkfifo(fifo, 0o600))
	for _, path := range []string{fifo, "/dev/zero"} {
		_, err := ReadPath(path, Limit)
		assert.ErrorIs(t, err, ErrBad)
		assert.Error(t, err, "is a FIFO, a socket or a device; a file belongs there")
	}
}
