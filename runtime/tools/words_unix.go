//go:build !windows

package tools

import "syscall"

// nonblock opens a FIFO or a device without waiting for its other end.
const nonblock = syscall.O_NONBLOCK

// systemKind knows nothing that the common table does not.
func systemKind(error) string { return "" }
