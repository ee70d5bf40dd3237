package cli

import (
	"errors"
	"io"
	"os"
	"os/exec"
	"os/signal"
	goruntime "runtime"
	"syscall"
)

// page returns where to print what may be long, and what to call when all is
// printed: it waits until the person has left the pager. Without a terminal, or
// without a pager, that is stdout itself.
func (a *app) page(never bool) (to io.Writer, end func() error) {
	outlivePipes() // a reader that has seen enough is no error
	direct := func() error { return nil }
	if never || !isTerminal(a.out) {
		return a.out, direct
	}
	cmd := a.pager()
	if cmd == nil {
		return a.out, direct
	}
	pipe, err := cmd.StdinPipe()
	if err != nil {
		return a.out, direct
	}
	// Ctrl-C is the pager's while it runs.
	interrupts := make(chan os.Signal, 1)
	signal.Notify(interrupts, os.Interrupt)
	if err := cmd.Start(); err != nil {
		signal.Stop(interrupts)
		a.say("tapetree: the pager does not start (%v): printing without it", err)
		return a.out, direct
	}
	return pipe, func() error {
		defer signal.Stop(interrupts)
		err := pipe.Close()
		_ = cmd.Wait() // its exit code says nothing of ours
		return withoutBrokenPipe(err)
	}
}

// pager is the command that the environment names, else less where it is; nil
// for none.
func (a *app) pager() *exec.Cmd {
	text := firstOf(a.env("TAPETREE_PAGER"), a.env("PAGER"))
	if text == "cat" {
		return nil
	}
	var cmd *exec.Cmd
	switch {
	case text == "":
		path, err := exec.LookPath("less")
		if err != nil {
			return nil
		}
		cmd = exec.Command(path, "-FRX")
	case goruntime.GOOS == "windows":
		cmd = exec.Command("cmd", "/c", text)
	default:
		cmd = exec.Command("sh", "-c", text)
	}
	cmd.Stdout, cmd.Stderr = a.out, a.err
	if a.env("LESS") == "" {
		cmd.Env = append(os.Environ(), "LESS=FRX") // as git does, so that less shows colours
	}
	return cmd
}

// withoutBrokenPipe is err, but nil where it says that the reader has gone.
func withoutBrokenPipe(err error) error {
	if errors.Is(err, syscall.EPIPE) || errors.Is(err, io.ErrClosedPipe) || errors.Is(err, os.ErrClosed) {
		return nil
	}
	return err
}
