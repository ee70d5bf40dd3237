//go:build !unix

package cli

import "os"

// dieOfInterrupt ends the program as Ctrl-C does, as far as this system has it.
func dieOfInterrupt() { os.Exit(exitInterrupted) }
