package cli

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/tapetree/tapetree/golden"
	"github.com/tapetree/tapetree/internal/files"
)

// writeFile puts data in place in one step: whoever reads sees the old file or
// the new one, and a full disk leaves the old one. The folder is made. A link
// stays one, and what is no regular file, such as /dev/stdout or a pipe, is
// written to and never replaced.
func writeFile(path string, data []byte) (err error) {
	info, err := os.Stat(path)
	switch {
	case err == nil && info.IsDir():
		return badInput("write %s: it is a folder", path)
	case err == nil && !info.Mode().IsRegular():
		return writeInto(path, data)
	}
	path = files.Target(path)
	dir := filepath.Dir(path)
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return fmt.Errorf("make folder %s: %w", dir, files.Reason(err))
	}
	temp, err := os.CreateTemp(dir, "."+filepath.Base(path)+".*"+golden.TempEnding)
	if err != nil {
		return fmt.Errorf("write %s: %w", path, files.Reason(err))
	}
	defer func() {
		if err != nil {
			_ = temp.Close()
			_ = os.Remove(temp.Name())
			err = fmt.Errorf("write %s: %w", path, files.Reason(err))
		}
	}()
	if _, err := temp.Write(data); err != nil {
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
	return os.Rename(temp.Name(), path)
}

// writeInto writes to what is there.
func writeInto(path string, data []byte) error {
	file, err := os.OpenFile(path, os.O_WRONLY, 0)
	if err != nil {
		return fmt.Errorf("write %s: %w", path, files.Reason(err))
	}
	_, err = file.Write(data)
	if closed := file.Close(); err == nil {
		err = closed
	}
	if err != nil {
		return fmt.Errorf("write %s: %w", path, files.Reason(err))
	}
	return nil
}
