//go:build !windows

package tools

// defaultPath is where programs are when this process has no PATH.
const defaultPath = "/usr/local/bin:/usr/bin:/bin"

// systemEnv is empty: the common variables are all that a program needs.
func systemEnv(home, temp string) []string { return nil }

// shellCommand is the program that runs a command's text.
func shellCommand(text string) []string { return []string{"/bin/sh", "-c", text} }
