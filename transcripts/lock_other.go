//go:build !unix

package transcripts

import "os"

// lockPath is the file that is locked while partial is being written: a file
// beside it, as a Windows lock would keep others from reading it.
func lockPath(partial string) string { return partial + ".lock" }

// removeLock removes what lockPath added. If somebody else holds it by now, it
// stays.
func removeLock(partial string) { _ = os.Remove(lockPath(partial)) }

// syncFolder has no counterpart here: a rename is as lasting as the system
// makes it.
func syncFolder(string) error { return nil }
