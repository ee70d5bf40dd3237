package transcripts

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/gofrs/flock"
)

// ErrEmpty is Close's answer when no exchange was recorded: nothing is written
// and the old file, if any, stays.
var ErrEmpty = errors.New("no exchange was recorded, nothing was written")

// Writer appends finished lines to NAME.jsonl.partial under a file lock, so
// that nothing finished is lost however the program ends, and puts the
// canonical file in place on Close. Its methods may be called from several
// goroutines. After a failed write every method returns that failure.
type Writer struct {
	path     string // of the transcript
	inMemory bool   // no file is written
	leftover string

	mu      sync.Mutex
	lock    *flock.Flock
	partial *os.File
	size    int64 // of the whole lines written
	err     error // the first failure, or that it is closed
	file    *File
	coder   *coder
	check   *reader // reads every line before it is written
}

// Create opens path+".partial" and writes the header. The folder is made if
// need be. A leftover that nobody holds is kept as NAME.N.partial and named in
// Leftover; one that is held is an error: somebody is recording there.
func Create(path string, h Header) (*Writer, error) {
	if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
		return nil, fmt.Errorf("create %s: %w", path, reason(err))
	}
	w := &Writer{path: path, file: &File{Path: path, Header: h}, check: newReader(path)}
	w.coder = newCoder(w.file)
	if err := w.open(); err != nil {
		return nil, err
	}
	if err := w.append(w.coder.header(&h)); err != nil {
		w.remove()
		w.release()
		return nil, err
	}
	return w, nil
}

// CreateInMemory is Create for a transcript that no file is to hold: Close only
// returns it, and path only names it.
func CreateInMemory(path string, h Header) (*Writer, error) {
	w := &Writer{path: path, inMemory: true, file: &File{Path: path, Header: h}, check: newReader(path)}
	w.coder = newCoder(w.file)
	if err := w.append(w.coder.header(&h)); err != nil {
		return nil, err
	}
	return w, nil
}

// partialPath is where lines go until Close.
func (w *Writer) partialPath() string { return w.path + ".partial" }

// open takes the lock and makes an empty partial file.
func (w *Writer) open() error {
	for range 1000 { // others who keep coming and going
		lock := flock.New(lockPath(w.partialPath()), flock.SetFlag(os.O_CREATE|os.O_RDWR), flock.SetPermissions(0o666))
		held, err := lock.TryLock()
		if err != nil {
			return fmt.Errorf("create %s: %w", w.partialPath(), reason(err))
		}
		if !held {
			return fmt.Errorf("create %s: another tapetree is recording to it; wait until it ends, or record under another name", w.partialPath())
		}
		done, err := w.openLocked(lock)
		if done {
			w.lock = lock
			return nil
		}
		_ = lock.Unlock() // nothing was written under it
		if err != nil {
			return fmt.Errorf("create %s: %w", w.partialPath(), reason(err))
		}
	}
	return fmt.Errorf("create %s: others keep recording to it; record under another name", w.partialPath())
}

// openLocked opens the partial file for appending. It reports false, without
// an error, if it must be tried again: the lock was on a file that has been
// moved away, or a leftover has been moved away just now.
func (w *Writer) openLocked(lock *flock.Flock) (bool, error) {
	mine, err := lock.Stat()
	if err != nil {
		return false, err
	}
	there, err := os.Stat(lock.Path())
	if err != nil || !os.SameFile(mine, there) {
		return false, nil
	}
	if old, err := os.Stat(w.partialPath()); err == nil && old.Size() > 0 {
		w.leftover, err = keepLeftover(w.path)
		return false, err
	}
	w.partial, err = os.OpenFile(w.partialPath(), os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o666)
	return err == nil, err
}

// keepLeftover moves the partial file to the first free NAME.N.partial.
func keepLeftover(path string) (string, error) {
	base := strings.TrimSuffix(path, ".jsonl")
	for n := 1; ; n++ {
		name := fmt.Sprintf("%s.%d.partial", base, n)
		// The empty file reserves the name: what is there is never replaced.
		reserved, err := os.OpenFile(name, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o666)
		if errors.Is(err, os.ErrExist) {
			continue
		}
		if err != nil {
			return "", err
		}
		_ = reserved.Close() // nothing was written
		if err := os.Rename(path+".partial", name); err != nil {
			_ = os.Remove(name) // ours, empty
			return "", err
		}
		return name, nil
	}
}

// Leftover is the name under which an older unfinished recording was kept, ""
// if there was none.
func (w *Writer) Leftover() string { return w.leftover }

// Exchange writes an exchange.
func (w *Writer) Exchange(e *Exchange) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.err != nil {
		return w.err
	}
	x := *e
	x.Try = max(x.Try, 1)
	if err := w.append(w.coder.exchange(&x)); err != nil {
		return err
	}
	w.file.Exchanges = append(w.file.Exchanges, &x)
	return nil
}

// Call writes a tool line.
func (w *Writer) Call(c *Call) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	call := *c
	if err := w.append(w.coder.call(&call)); err != nil {
		return err
	}
	w.coder.know(&call)
	w.file.Calls = append(w.file.Calls, &call)
	return nil
}

// HTTP writes what is no model exchange.
func (w *Writer) HTTP(h *HTTP) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if err := w.append(w.coder.http(h)); err != nil {
		return err
	}
	w.file.HTTP = append(w.file.HTTP, &HTTP{Raw: bytes.Clone(h.Raw)})
	return nil
}

// append writes whole lines in one go, if they can be read again. What a
// failed write left of them is cut off, so that the file stays readable.
func (w *Writer) append(lines []byte) error {
	if w.err != nil {
		return w.err
	}
	w.check.file, w.check.pending = &File{Path: w.path}, nil
	if err := w.check.readLines(w.path, lines); err != nil {
		w.err = fmt.Errorf("record a line that could not be read again: %w", err)
		return w.err
	}
	if w.inMemory {
		return nil
	}
	n, err := w.partial.Write(lines)
	if err == nil {
		w.size += int64(n)
		return nil
	}
	_ = w.partial.Truncate(w.size) // a torn last line can be read as well
	w.err = fmt.Errorf("write %s: %w", w.partialPath(), reason(err))
	if w.size > 0 {
		w.err = fmt.Errorf("%w; what was finished is kept there", w.err)
	}
	return w.err
}

// Close puts the canonical file in place (temp file, fsync, rename) and
// removes the partial one. t and e may be nil. If no exchange was recorded (one
// that never reached the upstream does not count), nothing is written, the old
// file stays, and the error is ErrEmpty. On any
// other failure the old file stays too, and the partial file is kept and
// named.
func (w *Writer) Close(t *Timing, e *End) (*File, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.err != nil {
		w.release()
		return nil, w.err
	}
	defer func() { w.err = fmt.Errorf("write %s: the recording is closed", w.path) }()
	defer w.release()
	if w.empty() {
		w.remove()
		return nil, ErrEmpty
	}
	w.file.Timing, w.file.End = t, e
	data := w.file.Encode()
	file, err := Parse(w.path, data)
	if err != nil {
		return nil, fmt.Errorf("write %s: %w; the recording is kept in %s", w.path, err, w.partialPath())
	}
	if w.inMemory {
		return file, nil
	}
	if err := replaceFile(w.path, data); err != nil {
		return nil, fmt.Errorf("write %s: %w; the recording is kept in %s", w.path, reason(err), w.partialPath())
	}
	w.remove()
	return file, nil
}

// empty reports whether nothing reached an upstream.
func (w *Writer) empty() bool {
	return !slices.ContainsFunc(w.file.Exchanges, func(e *Exchange) bool { return e.Status != 0 })
}

// Empty reports whether there is nothing to keep, so that Close would write
// nothing.
func (w *Writer) Empty() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.empty()
}

// Answered reports whether a model answered any request with success.
func (w *Writer) Answered() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.ContainsFunc(w.file.Exchanges, func(e *Exchange) bool { return e.Status >= 200 && e.Status < 300 })
}

// Discard ends the recording and removes what was written of it; the old file
// stays. After a failed write it returns that failure, and leaves the partial
// file as Close does.
func (w *Writer) Discard() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	defer w.release()
	if w.err != nil {
		return w.err
	}
	w.err = fmt.Errorf("write %s: the recording is closed", w.path)
	w.remove()
	return nil
}

// Keep closes the partial file and leaves it, for an end that Close cannot
// serve. It returns the file's path.
func (w *Writer) Keep() (string, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	failure := w.err
	if w.partial != nil && failure == nil {
		if err := w.partial.Sync(); err != nil {
			failure = fmt.Errorf("write %s: %w", w.partialPath(), reason(err))
		}
	}
	w.release()
	if w.err == nil {
		w.err = fmt.Errorf("write %s: the recording is closed", w.path)
	}
	return w.partialPath(), failure
}

// remove deletes the partial file, still under the lock.
func (w *Writer) remove() {
	if w.inMemory {
		return
	}
	_ = w.partial.Close() // its content is in place, or there is none
	w.partial = nil
	_ = os.Remove(w.partialPath()) // what stays is set aside by the next Create
}

// release gives up file and lock.
func (w *Writer) release() {
	if w.partial != nil {
		_ = w.partial.Close() // every write has been checked
		w.partial = nil
	}
	if w.lock != nil {
		_ = w.lock.Unlock() // the process' end would do it as well
		removeLock(w.partialPath())
		w.lock = nil
	}
}

// reason strips an error of file names, which the caller's text has already.
func reason(err error) error {
	var path *os.PathError
	var link *os.LinkError
	switch {
	case errors.As(err, &path):
		return path.Err
	case errors.As(err, &link):
		return link.Err
	}
	return err
}
