//go:build !(linux || darwin || freebsd || netbsd || openbsd || dragonfly || windows)

package tools

import "os/exec"

// group is the fallback for systems without process groups that we know: only
// the command itself is ended, what it started in the background stays.
type group struct {
	cmd    *exec.Cmd
	exited chan struct{} // closed when the command itself has ended
}

func startGroup(cmd *exec.Cmd) (*group, error) {
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	g := &group{cmd: cmd, exited: make(chan struct{})}
	go func() {
		defer close(g.exited)
		_ = cmd.Wait() // the exit code is read from the process state
	}()
	return g, nil
}

func (g *group) end() {
	_ = g.cmd.Process.Kill()
	<-g.exited
}

func exitCode(cmd *exec.Cmd) int { return cmd.ProcessState.ExitCode() }
