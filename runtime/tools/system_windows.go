package tools

import "os"

// defaultPath is where programs are when this process has no PATH.
const defaultPath = `C:\Windows\System32;C:\Windows`

// systemEnv holds what programs on Windows do not start without, and the names
// that HOME and TMPDIR go by there.
func systemEnv(home, temp string) []string {
	env := []string{"USERPROFILE=" + home, "TEMP=" + temp, "TMP=" + temp}
	for _, name := range []string{"SystemRoot", "ComSpec", "PATHEXT"} {
		if value, ok := os.LookupEnv(name); ok {
			env = append(env, name+"="+value)
		}
	}
	return env
}

// shellCommand is the program that runs a command's text.
func shellCommand(text string) []string {
	return []string{"powershell.exe", "-NoLogo", "-NoProfile", "-NonInteractive", "-Command", text}
}

// bashCommand is the program that runs the text of run_bash: PowerShell too.
func bashCommand(text string) []string { return shellCommand(text) }

// knownShell says that what runs a command reads it as the shell rules do:
// PowerShell does not.
const knownShell = false
