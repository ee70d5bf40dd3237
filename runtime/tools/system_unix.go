//go:build !windows

package tools

import "os/exec"

// defaultPath is where programs are when this process has no PATH.
const defaultPath = "/usr/local/bin:/usr/bin:/bin"

// systemEnv is empty: the common variables are all that a program needs.
func systemEnv(home, temp string) []string { return nil }

// shellCommand is the program that runs a command's text.
func shellCommand(text string) []string { return []string{"/bin/sh", "-c", text} }

// bashCommand is the program that runs the text of run_bash: bash, or the
// system's shell where there is none.
func bashCommand(text string) []string {
	bash, err := exec.LookPath("bash")
	if err != nil {
		return shellCommand(text)
	}
	return []string{bash, "--noprofile", "--norc", "-c", text}
}

// knownShell says that what runs a command reads it as the shell rules do.
const knownShell = true
