package golden

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"sort"

	"github.com/tapetree/tapetree/internal/files"
)

// Memory holds some files as they were, so that a change of them can be undone.
type Memory struct{ files []remembered }

type remembered struct {
	path          string
	before, after content
	mode          fs.FileMode
}

// content is what a file holds; nil: it is not there.
type content []byte

func contentOf(path string) (content, error) {
	data, err := files.ReadPath(path, files.TranscriptLimit)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", path, err)
	}
	return append(content{}, data...), nil
}

// Remember reads the files at paths, which need not exist.
func Remember(paths ...string) (*Memory, error) {
	m := &Memory{}
	paths = slices.Clone(paths)
	sort.Strings(paths)
	for _, path := range slices.Compact(paths) {
		before, err := contentOf(path)
		if err != nil {
			return nil, err
		}
		mode := fs.FileMode(0o644)
		if info, err := os.Stat(path); err == nil {
			mode = info.Mode().Perm()
		}
		m.files = append(m.files, remembered{path: path, before: before, mode: mode})
	}
	return m, nil
}

// Changed notes what the files hold after the change.
func (m *Memory) Changed() error {
	for i := range m.files {
		after, err := contentOf(m.files[i].path)
		if err != nil {
			return err
		}
		m.files[i].after = after
	}
	return nil
}

// Undo puts back what the files held, each in one step. With ErrMoved nothing is
// put back: somebody else has changed one of them since. A nil Memory has nothing
// to put back.
func (m *Memory) Undo() error {
	if m == nil {
		return nil
	}
	for _, file := range m.files {
		now, err := contentOf(file.path)
		if err != nil {
			return err
		}
		if (now == nil) != (file.after == nil) || string(now) != string(file.after) {
			return fmt.Errorf("%w: %s", ErrMoved, file.path)
		}
	}
	for _, file := range m.files {
		var err error
		switch {
		case file.before == nil:
			err = removeIfThere(file.path)
		case string(file.before) != string(file.after) || file.after == nil:
			err = putBack(file.path, string(file.before), file.mode)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func putBack(path, text string, mode fs.FileMode) error {
	if err := write(path, text); err != nil {
		return err
	}
	if err := os.Chmod(path, mode); err != nil {
		return fmt.Errorf("set the mode of %s: %w", path, files.Reason(err))
	}
	return nil
}

// Join returns what both hold, m's being the earlier change. Either may be nil.
func (m *Memory) Join(later *Memory) *Memory {
	switch {
	case m == nil:
		return later
	case later == nil:
		return m
	}
	joined := &Memory{files: slices.Clone(m.files)}
	for _, file := range later.files {
		i := slices.IndexFunc(joined.files, func(f remembered) bool { return f.path == file.path })
		if i < 0 {
			joined.files = append(joined.files, file)
			continue
		}
		joined.files[i].after = file.after
	}
	return joined
}
