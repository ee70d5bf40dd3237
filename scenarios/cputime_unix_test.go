//go:build unix

package scenarios

import "golang.org/x/sys/unix"

// processorTime is what this program has used of the processors, in seconds.
func processorTime() float64 {
	var usage unix.Rusage
	if err := unix.Getrusage(unix.RUSAGE_SELF, &usage); err != nil {
		return 0
	}
	seconds := func(t unix.Timeval) float64 { return float64(t.Nano()) / 1e9 }
	return seconds(usage.Utime) + seconds(usage.Stime)
}
