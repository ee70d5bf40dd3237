//go:build unix

package tools

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"gotest.tools/v3/assert"

	"github.com/tapetree/tapetree/runtime"
)

func TestShellReturnsOutputAndExitCode(t *testing.T) {
	cases := []struct{ name, command, want string }{
		{"output", "echo a", "a\n[exit code 0]"},
		{"no output", "true", "[exit code 0]"},
		{"no line end", "printf a", "a\n[exit code 0]"},
		{"exit code", "echo a; exit 7", "a\n[exit code 7]"},
		{"both streams in order", "echo 1; echo 2 >&2; echo 3", "1\n2\n3\n[exit code 0]"},
		{"no such program", "/no/such/program 2>/dev/null", "[exit code 127]"},
		{"a signal", "kill -9 $$", "[exit code 137]"},
		{"in the workspace", "cat a.txt", "hello\n[exit code 0]"},
		{"no input", "cat", "[exit code 0]"},
		{"several lines", "x=1\necho $x", "1\n[exit code 0]"},
		{"bytes that are no UTF-8", `printf 'a\377\376b'`, "a\uFFFDb\n[exit code 0]"},
		{"blank", " \n", "Error [tool_error]: the command is empty"},
		{"NUL", "echo \x00", "Error [tool_error]: the command is over 102400 bytes long or holds a NUL byte"},
		{"too long", strings.Repeat("#", maxCommand+1), "Error [tool_error]: the command is over 102400 bytes long or holds a NUL byte"},
	}
	p := newPlace(t, Options{})
	p.put(t, "a.txt", "hello\n")
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			got, err := p.Shell(t.Context(), c.command, 0)
			assert.Equal(t, told(t, got, err), c.want)
		})
	}
}

func TestShellTakesALimitWithinBoundsOnly(t *testing.T) {
	p := newPlace(t, Options{})
	for _, seconds := range []int{-1, 601, 1 << 40} {
		got, err := p.Shell(t.Context(), "true", seconds)
		assert.Equal(t, told(t, got, err), "Error [tool_error]: timeout_seconds must be from 1 to 600")
	}
	got, err := p.Shell(t.Context(), "true", 600)
	assert.NilError(t, err)
	assert.Equal(t, got, "[exit code 0]")
}

func TestTheShellSeesNothingOfTheUsersEnvironment(t *testing.T) {
	t.Setenv("OPENAI_API_KEY", "sk-not-to-be-seen")
	t.Setenv("LC_ALL", "C")
	run := filepath.Join(t.TempDir(), "run")
	want := []string{
		"PATH=" + os.Getenv("PATH"), "HOME=" + run + "/home", "TMPDIR=" + run + "/tmp", "TZ=UTC", "LANG=C.UTF-8",
	}
	assert.DeepEqual(t, ShellEnv(run), want)
	p := newPlace(t, Options{Run: run})
	got, err := p.Shell(t.Context(), "env -u PWD -u OLDPWD -u SHLVL -u _ env | sort; touch $HOME/h $TMPDIR/t", 0)
	assert.NilError(t, err)
	assert.Equal(t, got, strings.Join([]string{want[1], want[4], want[0], want[2], want[3], "[exit code 0]"}, "\n"))
	assert.DeepEqual(t, tree(t, run), map[string]string{
		".": "folder", "home": "folder", "home/h": "", "tmp": "folder", "tmp/t": "",
	})

	t.Setenv("PATH", "")
	assert.Equal(t, ShellEnv(run)[0], "PATH="+defaultPath)
}

// muchLonger is more than any wait of ours on a busy machine, and less than the
// commands of these tests sleep: to wait for one of those is the fault.
const muchLonger = 20 * time.Second

// What is waited for after the limit adds up to less than the second promised.
var _ = [1]struct{}{}[(drainTime+settleTime)/time.Second]

// TestALimitHoldsAndLeavesNoSurvivors is case 7.07: the limit holds whatever the command starts and whatever holds the
// pipe; the output so far is kept and nothing of the group is left. The group
// is known from the command itself, which writes its number first.
func TestALimitHoldsAndLeavesNoSurvivors(t *testing.T) {
	for _, command := range []string{
		"sleep 30", "sleep 30; true", "(sleep 30)", "sleep 30 | cat", "sleep 30 & wait", "cat /dev/zero >/dev/null",
		"trap '' TERM INT HUP; sleep 30; sleep 30", "(trap '' TERM; sleep 30) & (sleep 30; sleep 30) & wait",
		"sh -c 'sh -c \"sleep 30; true\"; true'", "while :; do sleep 0.01; done", "kill -STOP $$; true",
		"exec 1>&- 2>&-; sleep 30", "sleep 30 & sleep 30 & sleep 30 | sleep 30", "nohup sleep 30; true",
	} {
		t.Run(command, func(t *testing.T) {
			t.Parallel() // each waits for its own limit
			run := t.TempDir()
			start := time.Now()
			got, err := RunCommand(t.Context(), t.TempDir(), run, "echo $$; "+command, 2*time.Second, 0)
			assert.NilError(t, err)
			assert.Assert(t, time.Since(start) < muchLonger)
			leader := leaderOf(t, got.Output)
			assert.DeepEqual(t, got, CommandResult{Output: got.Output, ExitCode: -1, TimedOut: true})
			assert.DeepEqual(t, living(t, leader), []string{})
		})
	}
}

// TestBackgroundChildrenEndWithTheirCommand is case 7.07: the command ends by itself and leaves others behind.
func TestBackgroundChildrenEndWithTheirCommand(t *testing.T) {
	for _, command := range []string{
		"sleep 30 & echo s", "sleep 30 >/dev/null 2>&1 & echo s", "(sleep 30 &) ; echo s",
		"(trap '' TERM HUP; sleep 30; sleep 30) & echo s", "nohup sleep 30 >/dev/null 2>&1 & echo s",
		"for i in 1 2 3 4 5 6 7 8; do sleep 30 & done; echo s",
	} {
		t.Run(command, func(t *testing.T) {
			got, err := RunCommand(t.Context(), t.TempDir(), t.TempDir(), "echo $$; "+command, 20*time.Second, 0)
			assert.NilError(t, err)
			leader := leaderOf(t, got.Output)
			assert.DeepEqual(t, got, CommandResult{Output: fmt.Sprintf("%d\ns\n", leader)})
			assert.DeepEqual(t, living(t, leader), []string{})
		})
	}
}

// TestAProcessThatLeftTheGroupDoesNotHoldTheResult is case 7.07: a process that left the group holds the pipe and is not waited for.
func TestAProcessThatLeftTheGroupDoesNotHoldTheResult(t *testing.T) {
	if _, err := exec.LookPath("setsid"); err != nil {
		t.Skip("setsid is absent")
	}
	pidFile := filepath.Join(t.TempDir(), "pid")
	command := "setsid sh -c 'echo $$ >" + pidFile + ".new; mv " + pidFile + ".new " + pidFile + "; exec sleep 30' & " +
		"until [ -f " + pidFile + " ]; do sleep 0.01; done; echo s"
	for name, rest := range map[string]string{"by itself": "", "at the limit": "; sleep 30"} {
		t.Run(name, func(t *testing.T) {
			_ = os.Remove(pidFile)
			got, err := RunCommand(t.Context(), t.TempDir(), t.TempDir(), command+rest, 4*time.Second, 0)
			assert.NilError(t, err)
			written, err := os.ReadFile(pidFile)
			assert.NilError(t, err)
			outsider := leaderOf(t, string(written))
			assert.Equal(t, len(living(t, outsider)), 1, "it leads a group of its own and was not waited for")
			assert.NilError(t, syscall.Kill(outsider, syscall.SIGKILL))
			want := CommandResult{Output: "s\n"}
			if rest != "" {
				want.ExitCode, want.TimedOut = -1, true
			}
			assert.DeepEqual(t, got, want)
		})
	}
}

func leaderOf(t *testing.T, output string) int {
	t.Helper()
	first, _, _ := strings.Cut(output, "\n")
	leader, err := strconv.Atoi(first)
	assert.NilError(t, err)
	return leader
}

// living lists the processes of a group that are not merely waiting to be
// reaped.
func living(t *testing.T, group int) []string {
	t.Helper()
	listing, err := exec.Command("ps", "-A", "-o", "pgid=,stat=,args=").Output()
	if errors.Is(err, exec.ErrNotFound) {
		t.Skip("ps is absent")
	}
	assert.NilError(t, err)
	found := []string{}
	for line := range strings.Lines(string(listing)) {
		fields := strings.Fields(line)
		if len(fields) > 1 && fields[0] == strconv.Itoa(group) && !strings.HasPrefix(fields[1], "Z") {
			found = append(found, strings.TrimSpace(line))
		}
	}
	return found
}

func TestTheEndOfTheContextEndsACommandWithItsGroup(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	dir := t.TempDir()
	ready := filepath.Join(dir, "ready")
	assert.NilError(t, syscall.Mkfifo(ready, 0o600))
	type outcome struct {
		result CommandResult
		err    error
	}
	done := make(chan outcome)
	go func() {
		result, err := RunCommand(ctx, dir, t.TempDir(), "echo $$; sleep 30 & sleep 30 & echo >ready; wait", 0, 0)
		done <- outcome{result, err}
	}()
	_, err := os.ReadFile(ready) // waits until the command writes to it
	assert.NilError(t, err)
	start := time.Now()
	cancel()
	got := <-done
	assert.Assert(t, time.Since(start) < muchLonger)
	assert.ErrorIs(t, got.err, context.Canceled)
	assert.DeepEqual(t, living(t, leaderOf(t, got.result.Output)), []string{})

	_, err = RunCommand(ctx, dir, t.TempDir(), "touch again", 0, 0)
	assert.ErrorIs(t, err, context.Canceled)
	_, err = os.Stat(filepath.Join(dir, "again"))
	assert.ErrorIs(t, err, fs.ErrNotExist, "it was started all the same")
}

// TestOutputWithoutEndIsKeptWithinTheCapAndBoundedMemory is case 5.14: endless lines, and 200 MB without a line end.
func TestOutputWithoutEndIsKeptWithinTheCapAndBoundedMemory(t *testing.T) {
	p := newPlace(t, Options{ShellBytes: 1000})
	before := heapFromSystem()

	got, err := p.Shell(t.Context(), "yes", 2)
	assert.NilError(t, err)
	lines := strings.Split(got, "\n")
	assert.Equal(t, lines[0], "y")
	assert.Equal(t, lines[len(lines)-1], "[ended at the time limit of 2 s]")
	assert.Assert(t, len(got) <= 1000+len(lines[len(lines)-1])+1, "%d bytes", len(got))
	assert.Assert(t, strings.Contains(got, " bytes left out …]\ny\n"), got)

	got, err = p.Shell(t.Context(), "head -c 200000000 /dev/zero | tr '\\0' x", 60)
	assert.NilError(t, err)
	assert.Equal(t, got, strings.Repeat("x", 476)+"\n[… 199999048 bytes left out …]\n"+strings.Repeat("x", 476)+"\n[exit code 0]")

	after := heapFromSystem()
	assert.Assert(t, after < before+64<<20, "the heap grew from %d to %d", before, after)
}

func TestACommandThatCannotStartIsAFaultOfOurs(t *testing.T) {
	_, err := RunCommand(t.Context(), filepath.Join(t.TempDir(), "gone"), t.TempDir(), "true", 0, 0)
	assert.ErrorContains(t, err, "start command: ")
	file := filepath.Join(t.TempDir(), "file")
	put(t, file, "")
	_, err = RunCommand(t.Context(), t.TempDir(), file, "true", 0, 0)
	assert.ErrorContains(t, err, "make run folder: ")
}

func TestAWorkspaceThatACommandRemovedIsToldToTheModel(t *testing.T) {
	p := newPlace(t, Options{})
	got, err := p.Shell(t.Context(), `rm -r "$PWD"`, 0)
	assert.NilError(t, err)
	assert.Equal(t, got, "[exit code 0]")
	got, err = p.Shell(t.Context(), "true", 0)
	assert.Equal(t, told(t, got, err), "Error [tool_error]: cannot run the command: the workspace is gone")
	got, err = p.WriteFile(t.Context(), "f", "x")
	assert.Equal(t, told(t, got, err), "Error [tool_error]: cannot write f: not found")
	_, isTold := errors.AsType[*runtime.ToolError](err)
	assert.Assert(t, isTold)
	assert.NilError(t, os.Mkdir(p.dir, 0o755)) // for the cleaning up
}

// run_bash is bash where there is one, with nothing of a person's start files,
// and the system's shell elsewhere.
func TestRunBashRunsBash(t *testing.T) {
	if _, err := exec.LookPath("bash"); err != nil {
		t.Skip("no bash here")
	}
	p := newPlace(t, Options{})
	tool := mini(t, p.Workspace)["run_bash"]
	assert.Equal(t, call(t, tool, `{"command":"[[ a == a ]] && echo {1..3}; exit 3"}`), "1 2 3\n[exit code 3]")
	assert.Equal(t, call(t, tool, `{"command":"sleep 30","timeout_seconds":1}`), "[ended at the time limit of 1 s]")
	assert.Equal(t, call(t, tool, `{"command":" "}`), "Error [tool_error]: the command is empty")

	t.Setenv("PATH", t.TempDir())
	assert.DeepEqual(t, bashCommand("x"), shellCommand("x"))
}
