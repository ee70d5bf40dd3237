package scenarios

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
)

// A snapshot is for a small project: what is larger makes a poor test fixture
// and a slow replay.
const (
	snapshotFiles = 5000
	snapshotBytes = 64 << 20
)

// copyWorkspace copies the regular files of a folder, without .git and what
// hide names. Links and special files are left out, as a replay would leave
// them out.
func copyWorkspace(from, to string, hide func(name string) bool) error {
	files, size := 0, int64(0)
	err := walkKept(from, hide, func(path, name string) error {
		info, err := os.Lstat(path)
		if err != nil {
			return err
		}
		files, size = files+1, size+info.Size()
		if files > snapshotFiles || size > snapshotBytes {
			return fmt.Errorf("the workspace holds more than %d files or %d MiB: record without --snapshot", snapshotFiles, snapshotBytes>>20)
		}
		return copyFile(path, filepath.Join(to, filepath.FromSlash(name)))
	})
	if err != nil {
		os.RemoveAll(to)
		return fmt.Errorf("snapshot workspace %s: %w", from, err)
	}
	return os.MkdirAll(to, 0o755)
}

func copyFile(from, to string) error {
	if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
		return err
	}
	source, err := os.Open(from)
	if err != nil {
		return err
	}
	defer source.Close()
	target, err := os.Create(to)
	if err != nil {
		return err
	}
	if _, err := io.Copy(target, source); err != nil {
		target.Close()
		return err
	}
	return target.Close()
}
