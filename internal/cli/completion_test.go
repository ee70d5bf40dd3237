package cli

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"gotest.tools/v3/assert"
)

// TestBashCompletesWithoutAnyPackage lets a bare bash complete command lines.
func TestBashCompletesWithoutAnyPackage(t *testing.T) {
	bash, err := exec.LookPath("bash")
	if err != nil {
		t.Skip("no bash here")
	}
	dir, bin := project(t), t.TempDir()
	program, err := os.Executable()
	assert.NilError(t, err)
	if err := os.Symlink(program, filepath.Join(bin, "tapetree")); err != nil {
		t.Skip("no symbolic links here")
	}
	for _, test := range []struct{ words, index, want string }{
		{"tapetree rep", "1", "replay\n"},
		{"tapetree replay ''", "2", "a\nb\nc\n"},
		{"tapetree replay --format = js", "4", "json\n"},
		{"tapetree replay --format j", "3", "json\njunit\n"},
		{"tapetree run --mode acc", "3", "accept-edits\n"},
	} {
		t.Run(test.words, func(t *testing.T) {
			script := `compopt() { :; } # works only while a key is being handled
source <(tapetree completion bash)
COMP_WORDS=(` + test.words + `) COMP_CWORD=` + test.index + ` COMP_TYPE=9
__start_tapetree 2>&1
for word in "${COMPREPLY[@]}"; do echo "${word%% *}"; done`
			cmd := exec.Command(bash, "--norc", "--noprofile", "-c", script)
			cmd.Dir = dir
			cmd.Env = append(os.Environ(), "PATH="+bin+string(os.PathListSeparator)+os.Getenv("PATH"))
			out, err := cmd.CombinedOutput()
			assert.NilError(t, err, string(out))
			assert.Equal(t, string(out), test.want)
		})
	}
}
