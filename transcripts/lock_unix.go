//go:build unix

package transcripts

import "os"

// lockPath is the file that is locked while partial is being written: that
// very file, as a Unix lock keeps nobody from reading it.
func lockPath(partial string) string { return partial }

// removeLock removes what lockPath added: nothing.
func removeLock(string) {}

// syncFolder makes a rename in the folder last.
func syncFolder(folder string) error {
	dir, err := os.Open(folder)
	if err != nil {
		return err
	}
	err = dir.Sync()
	if closed := dir.Close(); err == nil {
		err = closed
	}
	return err
}
