//go:build linux || darwin || freebsd || netbsd || openbsd || dragonfly

package scenarios

import (
	"io/fs"
	"syscall"
)

func mkfifo(name string) error {
	if err := syscall.Mkfifo(name, uint32(fileMode)); err != nil {
		return &fs.PathError{Op: "mkfifo", Path: name, Err: err}
	}
	return nil
}
