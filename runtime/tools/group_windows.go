package tools

import (
	"os/exec"

	"golang.org/x/sys/windows"
)

// group is a started command and all processes that it started: a job object.
type group struct {
	cmd    *exec.Cmd
	job    windows.Handle
	exited chan struct{} // closed when the command itself has ended
}

// startGroup starts cmd and puts it into a job. What it starts in the instant
// before that is not in the job.
func startGroup(cmd *exec.Cmd) (*group, error) {
	job, err := windows.CreateJobObject(nil, nil)
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		_ = windows.CloseHandle(job)
		return nil, err
	}
	if err := assign(job, cmd.Process.Pid); err != nil {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
		_ = windows.CloseHandle(job)
		return nil, err
	}
	g := &group{cmd: cmd, job: job, exited: make(chan struct{})}
	go func() {
		defer close(g.exited)
		_ = cmd.Wait() // the exit code is read from the process state
	}()
	return g, nil
}

func assign(job windows.Handle, pid int) error {
	process, err := windows.OpenProcess(windows.PROCESS_SET_QUOTA|windows.PROCESS_TERMINATE, false, uint32(pid))
	if err != nil {
		return err
	}
	defer windows.CloseHandle(process)
	return windows.AssignProcessToJobObject(job, process)
}

// end ends every process of the job.
func (g *group) end() {
	_ = windows.TerminateJobObject(g.job, 1)
	<-g.exited
	_ = windows.CloseHandle(g.job)
}

// exitCode returns the code of a command that has ended.
func exitCode(cmd *exec.Cmd) int { return cmd.ProcessState.ExitCode() }
