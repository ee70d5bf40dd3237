package golden

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"sort"
	"strings"

	"github.com/tapetree/tapetree/internal/files"
)

// Endings of the files in a folder of golden histories.
const (
	Ending    = ".txt"
	newEnding = ".new" // after Ending: a history that waits to be accepted
)

// TempEnding ends the name of a file that is being written, which begins with a
// dot and the name of the file that it is to replace. One that lies there longer
// is of a run that was killed.
const TempEnding = ".tmp"

// diffLines bounds the diff of an Outcome: a screen, so that a suite's report
// stays readable when all of it changed.
const diffLines = 60

// Store is a folder of golden histories, read from and written to Dir. With FS
// it is only read, through that; Dir is then how messages name it, "" for the
// suite inside the binary.
type Store struct {
	Dir string
	FS  fs.FS
}

// Read returns the stored history. fs.ErrNotExist is in the error's chain when
// there is none.
func (s Store) Read(name string) (string, error) {
	var data []byte
	var err error
	if s.FS != nil {
		data, err = files.Read(s.FS, name+Ending, files.Limit)
	} else {
		data, err = files.ReadPath(s.path(name), files.Limit)
	}
	if err != nil {
		return "", fmt.Errorf("read golden history %s: %w", s.path(name), err)
	}
	return string(data), nil
}

// Check holds got against the history stored under name. What differs or is
// missing is written beside it as NAME.txt.new; what holds removes a .new that
// an earlier run left. With update set, got becomes the stored history. The
// Outcome is valid also when writing failed.
func (s Store) Check(name, got string, update bool) (Outcome, error) {
	outcome := Outcome{Path: s.path(name)}
	want, err := s.Read(name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		outcome.Code = "golden/missing"
	case err != nil:
		return outcome, err
	default:
		outcome.Diff = Compare(want, got, diffLines)
		if outcome.Diff != "" {
			outcome.Code = "golden/differs"
		}
	}
	if s.FS != nil {
		return outcome, nil
	}
	return s.settle(outcome, got, update)
}

// settle writes what an Outcome calls for.
func (s Store) settle(outcome Outcome, got string, update bool) (Outcome, error) {
	waiting := outcome.Path + newEnding
	switch {
	case outcome.Code == "":
		return outcome, removeIfThere(waiting)
	case update:
		if err := Write(outcome.Path, got); err != nil {
			return outcome, err
		}
		return Outcome{Path: outcome.Path, Wrote: outcome.Path}, nil
	default:
		if there, err := files.ReadPath(waiting, files.Limit); err == nil && string(there) == got {
			outcome.Wrote = waiting
			return outcome, nil
		}
		if err := write(waiting, got); err != nil {
			return outcome, err
		}
		outcome.Wrote = waiting
		return outcome, nil
	}
}

// Write puts a history in place of the one at path: whatever happens, there is
// the old file or the new one. Line ends stay as the checkout has them. What
// waited to be accepted there is removed.
func Write(path, text string) error {
	if old, err := files.ReadPath(path, files.Limit); err == nil {
		text = WithLineEnds(text, string(old))
	}
	if err := write(path, text); err != nil {
		return err
	}
	return removeIfThere(path + newEnding)
}

// WithLineEnds returns text with the line ends of another one: CRLF where all of
// its lines have it.
func WithLineEnds(text, of string) string {
	if n := strings.Count(of, "\n"); n == 0 || strings.Count(of, "\r\n") != n {
		return text
	}
	return strings.ReplaceAll(strings.ReplaceAll(text, "\r\n", "\n"), "\n", "\r\n")
}

func (s Store) path(name string) string {
	if s.Dir == "" {
		return "builtin:" + path.Join("golden", name+Ending)
	}
	return filepath.Join(s.Dir, name+Ending)
}

// write puts text in place in one step: a reader sees the old file or the new
// one, and a full disk leaves the old one. A link stays one: what it points to is
// written.
func write(file, text string) (err error) {
	file = files.Target(file)
	dir := filepath.Dir(file)
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return fmt.Errorf("make folder for golden history %s: %w", file, files.Reason(err))
	}
	temp, err := os.CreateTemp(dir, "."+filepath.Base(file)+".*"+TempEnding)
	if err != nil {
		return fmt.Errorf("write golden history %s: %w", file, files.Reason(err))
	}
	defer func() {
		if err != nil {
			_ = temp.Close()
			_ = os.Remove(temp.Name())
			err = fmt.Errorf("write golden history %s: %w", file, files.Reason(err))
		}
	}()
	if _, err := temp.WriteString(text); err != nil {
		return err
	}
	if err := temp.Chmod(0o644); err != nil {
		return err
	}
	if err := temp.Sync(); err != nil {
		return err
	}
	if err := temp.Close(); err != nil {
		return err
	}
	return os.Rename(temp.Name(), file)
}

// removeIfThere looks first: a read-only file system refuses to remove even what
// is not there.
func removeIfThere(file string) error {
	if _, err := os.Lstat(file); errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err := os.Remove(file); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("remove %s: %w", file, files.Reason(err))
	}
	return nil
}

// Orphans lists, sorted, the files of a folder that end in ending (".txt",
// ".jsonl") and belong to none of names. A folder that does not exist has none.
func Orphans(folder fs.FS, ending string, names []string) ([]string, error) {
	entries, err := fs.ReadDir(folder, ".")
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("list folder: %w", files.Reason(err))
	}
	known := map[string]bool{}
	for _, name := range names {
		known[name+ending] = true
	}
	var orphans []string
	for _, entry := range entries {
		if strings.HasSuffix(entry.Name(), ending) && !entry.IsDir() && !known[entry.Name()] {
			orphans = append(orphans, entry.Name())
		}
	}
	sort.Strings(orphans)
	return orphans, nil
}
