package cli

import (
	"context"
	"os"
	"os/signal"
	"syscall"

	"github.com/tapetree/tapetree/scenarios"
)

// interruptible returns a context that the first Ctrl-C ends (or SIGTERM, or
// the terminal's going), so that what is finished is kept; the second one quits
// at once. Stop gives the signals back.
func (a *app) interruptible(parent context.Context, first string) (ctx context.Context, stop func()) {
	ctx, cancel := context.WithCancel(parent)
	signals := make(chan os.Signal, 2)
	done := make(chan struct{})
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	if !signal.Ignored(syscall.SIGHUP) { // nohup ignores it
		signal.Notify(signals, syscall.SIGHUP)
	}
	go func() {
		select {
		case <-signals:
		case <-done:
			return
		}
		a.say("%s", first)
		cancel()
		select {
		case <-signals:
			scenarios.RemoveAll()
			os.Exit(exitInterrupted)
		case <-done:
		}
	}()
	return ctx, func() {
		signal.Stop(signals)
		close(done)
		cancel()
	}
}

// interruptions notes from now on whether an interrupt comes, which the program
// that runs gets too; what it returns tells it, and gives the signals back.
func interruptions() (came func() bool) {
	signals := make(chan os.Signal, 1)
	for _, one := range []os.Signal{os.Interrupt, syscall.SIGTERM} {
		if !signal.Ignored(one) {
			signal.Notify(signals, one)
		}
	}
	return func() bool {
		signal.Stop(signals)
		return len(signals) > 0
	}
}

// outlivePipes makes a reader of stdout or stderr that goes away an error of the
// write, instead of the end of the program in the middle of a recording. The
// commands that tools run are not touched by it.
func outlivePipes() {
	signal.Notify(make(chan os.Signal, 1), syscall.SIGPIPE)
}
