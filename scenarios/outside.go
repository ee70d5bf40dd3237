package scenarios

import (
	"crypto/sha256"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/tapetree/tapetree/record"
)

// thing is what can change of one name in a file tree.
type thing struct {
	mode   fs.FileMode // type and permissions
	target string      // of a link
	sum    [sha256.Size]byte
	time   time.Time // of files and folders: when it was written last
}

// remember keeps how Prepare left what lies beside the workspace.
func (f *Folders) remember() (err error) {
	f.before, err = f.surroundings()
	return err
}

// surroundings lists Outside with all below it, and the names in Root, as
// slash-separated paths relative to Root. Workspace and Run are names only:
// they may change.
func (f *Folders) surroundings() (map[string]thing, error) {
	found := map[string]thing{}
	entries, err := os.ReadDir(f.Root)
	if err != nil {
		return nil, err
	}
	for _, entry := range entries {
		found[entry.Name()] = thing{mode: entry.Type()}
	}
	err = filepath.WalkDir(f.Outside, func(name string, entry fs.DirEntry, err error) error {
		relative, relErr := filepath.Rel(f.Root, name)
		if entry == nil || relErr != nil {
			return nil // Outside is gone: its name is missing in found
		}
		if err != nil { // a folder that can no longer be read: its mode has changed
			return fs.SkipDir
		}
		found[filepath.ToSlash(relative)] = look(name, entry)
		return nil
	})
	return found, err
}

// look reads one name, without following a link or opening what is no file.
func look(name string, entry fs.DirEntry) thing {
	info, err := entry.Info()
	if err != nil {
		return thing{mode: fs.ModeIrregular}
	}
	t := thing{mode: info.Mode()}
	switch {
	case info.Mode().IsRegular():
		t.time, t.sum = info.ModTime(), fileSum(name)
	case info.IsDir():
		t.time = info.ModTime()
	case info.Mode()&fs.ModeSymlink != 0:
		t.target, _ = os.Readlink(name)
	}
	return t
}

// fileSum hashes a file; one that cannot be read has the zero sum.
func fileSum(name string) (sum [sha256.Size]byte) {
	file, err := os.Open(name)
	if err != nil {
		return sum
	}
	defer file.Close()
	hash := sha256.New()
	if _, err := io.Copy(hash, file); err != nil {
		return sum
	}
	return [sha256.Size]byte(hash.Sum(nil))
}

// Escaped compares what lies beside the workspace with how Prepare left it:
// names, types, modes, link targets, bytes and times of the folder outside, and
// the names in Root. Each change is a sandbox/escaped finding that names the
// path; the time of a folder counts only when nothing else tells of the change.
func (f *Folders) Escaped() []record.Finding {
	now, err := f.surroundings()
	if err != nil {
		return []record.Finding{{Code: "sandbox/escaped", Message: "the folder of the run cannot be read any more"}}
	}
	var findings []record.Finding
	report := func(name, what string) {
		findings = append(findings, record.Finding{Code: "sandbox/escaped", Message: name + " " + what})
	}
	all := maps.Clone(f.before)
	maps.Copy(all, now)
	var touched []string
	for _, name := range slices.Sorted(maps.Keys(all)) {
		before, was := f.before[name]
		after, is := now[name]
		switch {
		case !was:
			report(name, "was made")
		case !is:
			report(name, "was removed")
		case before == after:
		default:
			if change := before.change(after); change != "" {
				report(name, change)
			} else {
				touched = append(touched, name)
			}
		}
	}
	if len(findings) == 0 {
		for _, name := range touched {
			report(name, "was touched: its time changed")
		}
	}
	return findings
}

// change says what differs, "" when only the time does.
func (t thing) change(after thing) string {
	switch {
	case t.mode.Type() != after.mode.Type():
		return fmt.Sprintf("was %s and is %s", kindOf(t.mode), kindOf(after.mode))
	case t.target != after.target:
		return "points elsewhere"
	case t.sum != after.sum:
		return "has other bytes"
	case t.mode != after.mode:
		return fmt.Sprintf("had mode %v and has %v", t.mode.Perm(), after.mode.Perm())
	default:
		return ""
	}
}

// kindOf is our word for a type of file.
func kindOf(mode fs.FileMode) string {
	switch {
	case mode.IsRegular():
		return "a file"
	case mode.IsDir():
		return "a folder"
	case mode&fs.ModeSymlink != 0:
		return "a link"
	case mode&fs.ModeNamedPipe != 0:
		return "a fifo"
	default:
		return "a special file"
	}
}
