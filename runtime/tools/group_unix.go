//go:build linux || darwin || freebsd || netbsd || openbsd || dragonfly

package tools

import (
	"os/exec"
	"syscall"
	"time"
)

// settleTime bounds the wait for killed processes to be gone. It is reached
// only where the first process of the system does not reap orphans.
const settleTime = 100 * time.Millisecond

// group is a started command and all processes that it started and that stayed
// in its process group.
type group struct {
	cmd    *exec.Cmd
	exited chan struct{} // closed when the command itself has ended
	reaped bool          // read after exited is closed only
}

// startGroup starts cmd as the leader of a process group.
func startGroup(cmd *exec.Cmd) (*group, error) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	g := &group{cmd: cmd, exited: make(chan struct{})}
	go func() {
		defer close(g.exited)
		if awaitExit(cmd.Process.Pid) != nil {
			// Where a process cannot be awaited without reaping it, its
			// group is not killed after it: the number may be another's.
			_ = cmd.Wait()
			g.reaped = true
		}
	}()
	return g, nil
}

// end kills the whole group and returns when nothing of it is left. The leader
// is not reaped until then, so the group's number is still its own.
func (g *group) end() {
	select {
	case <-g.exited:
		if g.reaped {
			return
		}
	default:
	}
	_ = syscall.Kill(-g.cmd.Process.Pid, syscall.SIGKILL) // none left is what is wanted
	<-g.exited
	if !g.reaped {
		_ = g.cmd.Wait() // the exit code is read from the process state
	}
	for end := time.Now().Add(settleTime); time.Now().Before(end); time.Sleep(time.Millisecond) {
		if syscall.Kill(-g.cmd.Process.Pid, 0) == syscall.ESRCH {
			return
		}
	}
}

// exitCode returns the code of a command that has ended: 128 and the signal's
// number when a signal ended it, as shells say it.
func exitCode(cmd *exec.Cmd) int {
	if status, ok := cmd.ProcessState.Sys().(syscall.WaitStatus); ok && status.Signaled() {
		return 128 + int(status.Signal())
	}
	return cmd.ProcessState.ExitCode()
}
