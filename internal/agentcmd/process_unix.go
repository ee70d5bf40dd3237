//go:build unix

package agentcmd

import (
	"os"
	"os/exec"
	"os/signal"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// process is a started program and all that it started in its process group.
type process struct {
	cmd      *exec.Cmd
	terminal *os.File      // which the group has while it runs; nil: none
	exited   chan struct{} // closed when the program itself has ended
}

// startProcess starts cmd as the leader of a process group, in the foreground
// of the terminal when we are there: a program that reads from it as part of
// the background would be stopped.
func startProcess(cmd *exec.Cmd, c *Command) (*process, error) {
	feed, err := connect(cmd, c)
	if err != nil {
		return nil, err
	}
	if cmd.SysProcAttr == nil {
		cmd.SysProcAttr = &syscall.SysProcAttr{}
	}
	p := &process{cmd: cmd, terminal: terminalOf(c), exited: make(chan struct{})}
	cmd.SysProcAttr.Setpgid = true
	if p.terminal != nil {
		cmd.SysProcAttr.Foreground = true
		cmd.SysProcAttr.Ctty = int(p.terminal.Fd())
	}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	feed()
	go func() {
		defer close(p.exited)
		_ = cmd.Wait() // the exit code is read from the process state
	}()
	return p, nil
}

// takeBack makes us the ones whom the terminal's keys reach again. The system
// stops a process of the background that does so, unless it ignores that.
func (p *process) takeBack() {
	if p.terminal == nil {
		return
	}
	signal.Ignore(syscall.SIGTTOU)
	defer signal.Reset(syscall.SIGTTOU)
	// It fails when the terminal is gone, and then nothing is lost.
	_ = unix.IoctlSetPointerInt(int(p.terminal.Fd()), unix.TIOCSPGRP, unix.Getpgrp())
}

// isForeground reports whether file is a terminal whose keys reach us.
func isForeground(file *os.File) bool {
	group, err := unix.IoctlGetInt(int(file.Fd()), unix.TIOCGPGRP)
	return err == nil && group == unix.Getpgrp()
}

// signal sends a signal to the whole group. That the program has changed its
// state is a signal to us: one that was stopped from the terminal goes on,
// because nobody would take the terminal from it.
func (p *process) signal(s os.Signal) {
	number, ok := s.(syscall.Signal)
	switch {
	case !ok:
		return
	case number == syscall.SIGCHLD && p.terminal == nil:
		return
	case number == syscall.SIGCHLD:
		number = syscall.SIGCONT
	}
	_ = syscall.Kill(-p.cmd.Process.Pid, number) // none left is what is wanted
}

func (p *process) terminate() { p.signal(syscall.SIGTERM) }

// settleTime bounds the wait for killed processes to be gone. It is reached
// only where the first process of the system does not reap orphans.
const settleTime = 100 * time.Millisecond

// end kills what is left of the group and returns when nothing of it runs. Its
// number is that of a group for as long as there is anybody in it.
func (p *process) end() {
	p.signal(syscall.SIGKILL)
	<-p.exited
	for end := time.Now().Add(settleTime); time.Now().Before(end); time.Sleep(time.Millisecond) {
		if syscall.Kill(-p.cmd.Process.Pid, 0) == syscall.ESRCH {
			return
		}
	}
}

// exitCode is 128 and the signal's number when a signal ended the program, as
// shells say it.
func (p *process) exitCode() int {
	if status, ok := p.cmd.ProcessState.Sys().(syscall.WaitStatus); ok && status.Signaled() {
		return 128 + int(status.Signal())
	}
	return p.cmd.ProcessState.ExitCode()
}

// forwarded are the signals that go on to the program.
var forwarded = []os.Signal{
	syscall.SIGINT, syscall.SIGTERM, syscall.SIGQUIT, syscall.SIGHUP, syscall.SIGUSR1, syscall.SIGUSR2, syscall.SIGWINCH, syscall.SIGCHLD,
}
