//go:build !unix

package agentcmd

import (
	"os"
	"os/exec"
)

// process is a started program. What it started itself is not ended with it
// where there are no process groups.
type process struct {
	cmd    *exec.Cmd
	exited chan struct{} // closed when the program itself has ended
}

func startProcess(cmd *exec.Cmd, c *Command) (*process, error) {
	feed, err := connect(cmd, c)
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	feed()
	p := &process{cmd: cmd, exited: make(chan struct{})}
	go func() {
		defer close(p.exited)
		_ = cmd.Wait() // the exit code is read from the process state
	}()
	return p, nil
}

func (p *process) takeBack() {}

func isForeground(*os.File) bool { return false }

// signal does nothing for an interrupt: the console has sent it to the program
// too.
func (p *process) signal(os.Signal) {}

func (p *process) terminate() { _ = p.cmd.Process.Kill() }

func (p *process) end() {
	_ = p.cmd.Process.Kill()
	<-p.exited
}

func (p *process) exitCode() int { return p.cmd.ProcessState.ExitCode() }

var forwarded = []os.Signal{os.Interrupt}
