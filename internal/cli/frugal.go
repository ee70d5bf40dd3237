package cli

import "runtime/debug"

const (
	// largeFile is from how many bytes on a file is large: it is one piece of
	// memory, and to let as much again gather as garbage would double what it takes.
	largeFile = 16 << 20
	// frugalMemory is what the work on a large file may take. A history of 100 MB
	// needs about 150 MB, which leaves room for garbage, and the whole program
	// stays below 300 MB.
	frugalMemory = 250 << 20
	// frugalTimes is what a file that is too large for that may take, in halves of
	// its size.
	frugalTimes = 5
)

// frugal keeps the memory low while a file of so many bytes is worked on: instead
// of collecting garbage whenever there is as much as is alive, it is collected
// when memory reaches a limit. That costs less time too. What it returns ends
// that. A lower limit that the user has set (GOMEMLIMIT) stays.
func frugal(size int64) (end func()) {
	if size < largeFile {
		return func() {}
	}
	before := debug.SetMemoryLimit(-1)
	debug.SetMemoryLimit(min(before, max(frugalMemory, size/2*frugalTimes)))
	percent := debug.SetGCPercent(-1)
	return func() {
		debug.SetGCPercent(percent)
		debug.SetMemoryLimit(before)
	}
}
