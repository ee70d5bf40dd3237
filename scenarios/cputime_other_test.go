//go:build !unix

package scenarios

import "time"

var began = time.Now()

// processorTime is the time that has passed, in seconds: this system does not
// tell what was used of the processors.
func processorTime() float64 { return time.Since(began).Seconds() }
