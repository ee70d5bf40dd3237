package tools

import (
	"errors"
	"syscall"

	"golang.org/x/sys/windows"
)

// nonblock is not needed: opening a file never waits on Windows.
const nonblock = 0

// systemKind returns our word for the codes that only Windows has.
func systemKind(err error) string {
	var code syscall.Errno
	if !errors.As(err, &code) {
		return ""
	}
	switch code {
	case windows.ERROR_DISK_FULL, windows.ERROR_HANDLE_DISK_FULL:
		return "no space left"
	case windows.ERROR_FILENAME_EXCED_RANGE:
		return "name too long"
	case windows.ERROR_DIRECTORY:
		return "not a directory"
	case windows.ERROR_SHARING_VIOLATION, windows.ERROR_LOCK_VIOLATION:
		return "in use"
	case windows.ERROR_INVALID_NAME:
		return "invalid name"
	default:
		return ""
	}
}
