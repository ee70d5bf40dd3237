package transcripts

import (
	"os"
	"path/filepath"
)

// Replace writes a whole transcript: whatever happens, there is the old file or
// the new one.
func Replace(path string, data []byte) error { return replaceFile(path, data) }

// replaceFile puts data at path so that there is always the old file or the
// new one, also after a power cut.
func replaceFile(path string, data []byte) (err error) {
	folder := filepath.Dir(path)
	temp, err := os.CreateTemp(folder, "."+filepath.Base(path)+".*.tmp")
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			_ = os.Remove(temp.Name()) // the first error says what is wrong
		}
	}()
	if err := writeTemp(temp, data, modeOf(path)); err != nil {
		return err
	}
	if err := os.Rename(temp.Name(), path); err != nil {
		return err
	}
	return syncFolder(folder)
}

func writeTemp(temp *os.File, data []byte, mode os.FileMode) error {
	_, err := temp.Write(data)
	if err == nil {
		err = temp.Chmod(mode)
	}
	if err == nil {
		err = temp.Sync()
	}
	if closed := temp.Close(); err == nil {
		err = closed
	}
	return err
}

// modeOf is the mode of the file to be replaced, or that of a new file.
func modeOf(path string) os.FileMode {
	if old, err := os.Stat(path); err == nil {
		return old.Mode().Perm()
	}
	return 0o644
}
