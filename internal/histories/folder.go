package histories

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/tapetree/tapetree/internal/files"
	"github.com/tapetree/tapetree/transcripts/imports"
)

// Files lists the files that an argument of a reading command stands for: the
// file itself, or all regular files below a folder, sorted. Links in a folder
// are not followed, and .git is passed over.
func Files(path string) ([]string, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", path, files.Reason(err))
	}
	if !info.IsDir() {
		return []string{path}, nil
	}
	var list []string
	err = filepath.WalkDir(path, func(at string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return fmt.Errorf("read %s: %w", at, files.Reason(err))
		case entry.IsDir() && entry.Name() == ".git" && at != path:
			return filepath.SkipDir
		case entry.Type().IsRegular():
			list = append(list, at)
		}
		return nil
	})
	return list, err
}

// Apart returns those of the files that are no part of another one of them: who
// reads a session has read the files of its subagents.
func Apart(paths []string) []string { return imports.Apart(paths) }
