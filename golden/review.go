package golden

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"

	"github.com/rogpeppe/go-internal/diff"
	"github.com/tapetree/tapetree/internal/files"
)

// ErrMoved says that a file is not what it was when it was looked at, so that
// what was decided on is not what lies there.
var ErrMoved = errors.New("it was changed in the meantime")

// Pending is a history that waits beside a stored one, or where there is none.
type Pending struct {
	Name    string
	Path    string // of the stored history
	New     string // of the one that waits
	Missing bool   // there is no stored one
	Diff    string // the whole difference, as Compare writes it
	Kind    string // the same for every change of the same lines, see kindOf
	Removed int    // lines
	Added   int

	old, text string
}

// Pending lists the histories of the folder that wait to be accepted, by name.
// One that equals the stored history, line ends aside, waits for nothing.
func (s Store) Pending() ([]*Pending, error) {
	entries, err := os.ReadDir(s.Dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("list golden histories in %s: %w", s.Dir, files.Reason(err))
	}
	var list []*Pending
	for _, entry := range entries {
		name, waits := strings.CutSuffix(entry.Name(), Ending+newEnding)
		if !waits || entry.IsDir() {
			continue
		}
		p, err := s.Look(name)
		if err != nil {
			return nil, err
		}
		if p != nil {
			list = append(list, p)
		}
	}
	return list, nil
}

// Look reads what waits under one name; nil when nothing does.
func (s Store) Look(name string) (*Pending, error) {
	p := &Pending{Name: name, Path: s.path(name), New: s.path(name) + newEnding}
	text, there, err := readIfThere(p.New)
	if err != nil || !there {
		return nil, err
	}
	old, stored, err := readIfThere(p.Path)
	if err != nil {
		return nil, err
	}
	p.text, p.old, p.Missing = text, old, !stored
	p.Diff = Compare(old, text, 0)
	if p.Diff == "" && stored {
		return nil, nil
	}
	changed := changedLines(old, text)
	p.Kind = kindOf(changed)
	for _, line := range changed {
		if line[0] == '-' {
			p.Removed++
		} else {
			p.Added++
		}
	}
	return p, nil
}

func readIfThere(path string) (text string, there bool, err error) {
	data, err := files.ReadPath(path, files.Limit)
	if errors.Is(err, fs.ErrNotExist) {
		return "", false, nil
	}
	if err != nil {
		return "", false, fmt.Errorf("read golden history %s: %w", path, err)
	}
	return string(data), true, nil
}

// changedLines are the lines of a diff that begin with - or +.
func changedLines(old, text string) []string {
	plain := func(s string) []byte { return []byte(strings.ReplaceAll(s, "\r\n", "\n")) }
	lines := strings.Split(string(diff.Diff("want", plain(old), "got", plain(text))), "\n")
	const head = 3 // the two names, and each with its sign
	var changed []string
	for _, line := range lines[min(head, len(lines)):] {
		if strings.HasPrefix(line, "-") || strings.HasPrefix(line, "+") {
			changed = append(changed, line)
		}
	}
	return changed
}

// kindOf is what changes of one kind have in common: the lines that go and come,
// in order, wherever they stand and however deep an agent's events are indented.
func kindOf(changed []string) string {
	kind := make([]string, len(changed))
	for i, line := range changed {
		kind[i] = line[:1] + strings.TrimSpace(line[1:])
	}
	return strings.Join(kind, "\n")
}

// Unmoved fails with ErrMoved when one of the two files is not what it was when
// p was read.
func (p *Pending) Unmoved() error {
	for _, file := range []struct {
		path, text string
		there      bool
	}{{p.New, p.text, true}, {p.Path, p.old, !p.Missing}} {
		text, there, err := readIfThere(file.path)
		if err != nil {
			return err
		}
		if text != file.text || there != file.there {
			return fmt.Errorf("%w: %s", ErrMoved, file.path)
		}
	}
	return nil
}

// Accept makes what waits the stored history.
func (p *Pending) Accept() error {
	if err := p.Unmoved(); err != nil {
		return err
	}
	return Write(p.Path, p.text)
}

// Reject removes what waits.
func (p *Pending) Reject() error {
	if err := p.Unmoved(); err != nil {
		return err
	}
	return removeIfThere(p.New)
}

// Files are the files that a decision about p may change.
func (p *Pending) Files() []string { return []string{p.Path, p.New} }
