package tools

import (
	"os"
	"path/filepath"
)

// ShellEnv is the whole environment of a command: the PATH of this process, so
// that installed programs are found, HOME and TMPDIR below the folder run, a
// fixed time zone and language, and nothing else of the user's.
func ShellEnv(run string) []string {
	home, temp := homeFolder(run), tempFolder(run)
	path := os.Getenv("PATH")
	if path == "" {
		path = defaultPath
	}
	return append([]string{
		"PATH=" + path,
		"HOME=" + home,
		"TMPDIR=" + temp,
		"TZ=UTC",
		"LANG=C.UTF-8",
	}, systemEnv(home, temp)...)
}

func homeFolder(run string) string { return filepath.Join(run, "home") }
func tempFolder(run string) string { return filepath.Join(run, "tmp") }

// makeRun makes the folders that ShellEnv names.
func makeRun(run string) error {
	for _, folder := range []string{homeFolder(run), tempFolder(run)} {
		if err := os.MkdirAll(folder, 0o700); err != nil {
			return err
		}
	}
	return nil
}
