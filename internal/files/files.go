// Package files reads the files of a project: regular files of a bounded size,
// so that a FIFO, a device or a gigabyte in the place of one neither hangs the
// program nor fills the memory.
package files

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
)

// Limit is how many bytes a scenario or a golden history may have. Both are
// read by people; 64 MiB leave room for a workspace in base64.
const Limit = 64 << 20

// TranscriptLimit is how many bytes a transcript may have: far more than a
// session writes, and little enough to be held in memory.
const TranscriptLimit = 1 << 30

// ErrBad is in the chain of an error that says what is wrong with a file that
// is there: it is no regular file, or too large.
var ErrBad = errors.New("unfit file")

// fault is an ErrBad with a text of its own.
type fault string

func (f fault) Error() string { return string(f) }

// Is makes errors.Is find ErrBad.
func (f fault) Is(target error) bool { return target == ErrBad }

// Read reads a regular file of at most limit bytes. Errors do not name the
// file.
func Read(fsys fs.FS, name string, limit int64) ([]byte, error) {
	info, err := fs.Stat(fsys, name)
	if err != nil {
		return nil, Reason(err)
	}
	return read(info, limit, func() (fs.File, error) { return fsys.Open(name) })
}

// ReadPath does the same for a path of the operating system.
func ReadPath(path string, limit int64) ([]byte, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, Reason(err)
	}
	return read(info, limit, func() (fs.File, error) { return os.Open(path) })
}

// read looks at the kind before it opens: opening a FIFO waits for a writer.
func read(info fs.FileInfo, limit int64, open func() (fs.File, error)) ([]byte, error) {
	switch {
	case info.IsDir():
		return nil, fault("is a folder; a file belongs there")
	case !info.Mode().IsRegular():
		return nil, fault("is a FIFO, a socket or a device; a file belongs there")
	case info.Size() > limit:
		return nil, tooLarge(limit)
	}
	file, err := open()
	if err != nil {
		return nil, Reason(err)
	}
	defer file.Close()
	// The size of a file that grows, or of /proc, is not the one above.
	data := make([]byte, 0, info.Size()+1)
	return readAll(io.LimitReader(file, limit+1), data, limit)
}

func readAll(from io.Reader, data []byte, limit int64) ([]byte, error) {
	for {
		n, err := from.Read(data[len(data):cap(data)])
		data = data[:len(data)+n]
		switch {
		case int64(len(data)) > limit:
			return nil, tooLarge(limit)
		case err == io.EOF:
			return data, nil
		case err != nil:
			return nil, Reason(err)
		}
		if len(data) == cap(data) {
			data = append(data, 0)[:len(data)]
		}
	}
}

func tooLarge(limit int64) error {
	return fault(fmt.Sprintf("is larger than %d MiB, which no such file needs", limit>>20))
}

// Reason is an error of the file system without the paths that it repeats: the
// message around it names the one that matters.
func Reason(err error) error {
	var pathError *fs.PathError
	var linkError *os.LinkError
	switch {
	case errors.As(err, &pathError):
		return pathError.Err
	case errors.As(err, &linkError):
		return linkError.Err
	default:
		return err
	}
}

// mostLinks is how many links are followed, as many as Linux does.
const mostLinks = 40

// Target is the file that a path is to be written at: where it is a link, what
// that points to, there or not. A link that leads round in a circle is its own
// target.
func Target(path string) string {
	at := path
	for range mostLinks {
		to, err := os.Readlink(at)
		if err != nil {
			return at
		}
		if !filepath.IsAbs(to) {
			dir, err := filepath.EvalSymlinks(filepath.Dir(at)) // .. of a linked folder is not the one that the path tells
			if err != nil {
				return at
			}
			to = filepath.Join(dir, to)
		}
		at = to
	}
	return path
}
