package tools

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"syscall"

	"github.com/tapetree/tapetree/runtime"
)

// Failures that the tools find themselves.
var (
	errNameTooLong  = fmt.Errorf("own limit: %w", syscall.ENAMETOOLONG)
	errTooManyLinks = fmt.Errorf("own limit: %w", syscall.ELOOP)
	errIsDirectory  = fmt.Errorf("by type: %w", syscall.EISDIR)
	errNotDirectory = fmt.Errorf("by type: %w", syscall.ENOTDIR)
	errTooLarge     = fmt.Errorf("own limit: %w", syscall.EFBIG)
	errNotRegular   = errors.New("not a regular file")
)

// words are our names for kinds of failure, the same on every system: what an
// operating system says never reaches a model. The first that fits counts.
var words = []struct {
	kind error
	word string
}{
	{errNotRegular, "not a regular file"},
	{syscall.ENXIO, "not a regular file"}, // a socket or a FIFO without reader
	{syscall.ENAMETOOLONG, "name too long"},
	{syscall.ENOTDIR, "not a directory"},
	{syscall.EISDIR, "is a directory"},
	{syscall.ELOOP, "too many links"},
	{syscall.EINVAL, "invalid name"},
	{syscall.ENOSPC, "no space left"},
	{syscall.EDQUOT, "no space left"},
	{syscall.EFBIG, "file too large"},
	{syscall.EROFS, "read-only file system"},
	{syscall.EBUSY, "in use"},
	{syscall.ETXTBSY, "in use"},
	{syscall.EXDEV, "on another file system"},
	{syscall.EMFILE, "too many open files"},
	{syscall.ENFILE, "too many open files"},
	{fs.ErrNotExist, "not found"},
	{fs.ErrExist, "exists already"},
	{fs.ErrPermission, "permission"},
}

// kindOf returns our word for err, "" if there is none.
func kindOf(err error) string {
	if word := systemKind(err); word != "" {
		return word
	}
	for _, w := range words {
		if errors.Is(err, w.kind) {
			return w.word
		}
	}
	return ""
}

// failure turns what went wrong with a path into what the model is told. A
// ToolError and the end of the context pass unchanged.
func (w *Workspace) failure(access runtime.Access, verb string, at target, err error) error {
	if _, told := errors.AsType[*runtime.ToolError](err); told || isCancelled(err) {
		return err
	}
	if errors.Is(err, errOutside) || errors.Is(err, w.escapes) {
		return &runtime.ToolError{
			Code:    runtime.CodePermissionDenied,
			Message: string(access) + " outside the workspace is forbidden",
		}
	}
	word := kindOf(err)
	if word == "" {
		word = "input or output failed"
	}
	return runtime.Failed("cannot %s %s: %s", verb, at.shown, word)
}

func isCancelled(err error) bool {
	return errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded)
}

// byType returns nil for a regular file and the failure of every other type.
func byType(info fs.FileInfo) error {
	switch {
	case info.Mode().IsRegular():
		return nil
	case info.IsDir():
		return errIsDirectory
	default:
		return errNotRegular
	}
}
