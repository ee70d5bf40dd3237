//go:build unix

package agentcmd

import (
	"bufio"
	"os"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"gotest.tools/v3/assert"
)

const endedBySIGTERM = 128 + int(syscall.SIGTERM)

// shell runs a script as the command, and gives its output line by line.
func shell(t *testing.T, script string) (agent *Agent, lines *bufio.Scanner) {
	t.Helper()
	read, write, err := os.Pipe()
	assert.NilError(t, err)
	t.Cleanup(func() { _ = read.Close() })
	agent = prepare(t, Command{Args: []string{"sh", "-c", script}, Stdout: write})
	t.Cleanup(func() { _ = write.Close() })
	return agent, bufio.NewScanner(read)
}

func TestASignalToUsReachesTheCommand(t *testing.T) {
	agent, lines := shell(t, "trap 'echo caught; exit 5' INT; echo up; while :; do sleep 0.01; done")
	sent := make(chan struct{})
	go func() {
		defer close(sent)
		lines.Scan() // up: the trap is set
		_ = syscall.Kill(os.Getpid(), syscall.SIGINT)
	}()
	code, err := agent.Run(t.Context(), os.Environ())
	assert.NilError(t, err)
	assert.Equal(t, code, 5)
	assert.Assert(t, agent.Interrupted())
	<-sent
	lines.Scan()
	assert.Equal(t, lines.Text(), "caught")
}

func TestASignalThatEndsTheCommandIsItsCode(t *testing.T) {
	agent, _ := shell(t, "kill -9 $$")
	code, err := agent.Run(t.Context(), os.Environ())
	assert.NilError(t, err)
	assert.Equal(t, code, 128+9)
	assert.Assert(t, !agent.Interrupted())
}

func TestNothingOfTheGroupIsLeft(t *testing.T) {
	agent, lines := shell(t, "sleep 1000 & echo $!; exit 3")
	code, err := agent.Run(t.Context(), os.Environ())
	assert.NilError(t, err)
	assert.Equal(t, code, 3)
	lines.Scan()
	pid, err := strconv.Atoi(strings.TrimSpace(lines.Text()))
	assert.NilError(t, err)
	assert.Assert(t, !alive(pid))
}

// alive reports whether a process still runs. One that was killed and that
// nobody has waited for does not.
func alive(pid int) bool {
	stat, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if err == nil {
		_, rest, _ := strings.Cut(string(stat), ") ")
		return !strings.HasPrefix(rest, "Z") && !strings.HasPrefix(rest, "X")
	}
	return syscall.Kill(pid, 0) == nil
}
