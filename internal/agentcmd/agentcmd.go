// Package agentcmd runs the program of somebody's agent with its model calls
// pointed at a listener of ours: the output passes through, signals reach it,
// and nothing of it is left behind.
package agentcmd

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/tapetree/tapetree/internal/files"
)

// Command says which program is run, and how.
type Command struct {
	Args    []string // the program and its arguments
	Dir     string   // where it runs; "": where we do
	Stdin   io.Reader
	Stdout  io.Writer
	Stderr  io.Writer
	Offline bool // in a network of its own, in which there is our listener and nothing else
}

// Agent is a program that is about to run. Its listener is open already.
type Agent struct {
	command  Command
	path     string // of the program
	listener net.Listener
	confined *confined // of an offline agent
	signals  *signals  // once it was run
}

// ErrNotFound marks a program that is not there or cannot be run.
var ErrNotFound = errors.New("cannot run the command")

// Prepare finds the program and opens the listener that it can reach: on
// loopback, or in the network that the program will have for itself. Close the
// agent when it is not run. Where this system cannot give a program a network
// of its own, the error holds ErrNoNetwork.
func Prepare(c Command) (*Agent, error) {
	path, err := lookUp(c)
	if err != nil {
		return nil, err
	}
	a := &Agent{command: c, path: path}
	if c.Offline {
		if a.confined, err = confine(a); err != nil {
			return nil, fmt.Errorf("%w: %w", ErrNoNetwork, err)
		}
		a.listener = a.confined.listener
		return a, nil
	}
	if a.listener, err = net.Listen("tcp", "127.0.0.1:0"); err != nil {
		return nil, fmt.Errorf("open a port on loopback: %w", err)
	}
	return a, nil
}

// ErrNoNetwork says that a program cannot be given a network of its own here.
var ErrNoNetwork = errors.New("--offline: this system gives no program a network of its own; leave out --offline, and the command can reach other hosts")

// lookUp finds the program as a shell in the command's folder would.
func lookUp(c Command) (string, error) {
	if len(c.Args) == 0 || c.Args[0] == "" {
		return "", fmt.Errorf("%w: no program is named", ErrNotFound)
	}
	name := c.Args[0]
	if c.Dir != "" && filepath.Base(name) != name && !filepath.IsAbs(name) {
		name = filepath.Join(c.Dir, name)
	}
	path, err := exec.LookPath(name)
	switch {
	case err == nil || errors.Is(err, exec.ErrDot):
	case (errors.Is(err, exec.ErrNotFound) || errors.Is(err, fs.ErrNotExist)) && len(c.Args) == 1 && len(strings.Fields(c.Args[0])) > 1:
		return "", fmt.Errorf("%w: there is no program %q; did you mean its words: -- %s", ErrNotFound, c.Args[0], strings.TrimSpace(c.Args[0]))
	case errors.Is(err, exec.ErrNotFound) || errors.Is(err, fs.ErrNotExist):
		return "", fmt.Errorf("%w: there is no program %s", ErrNotFound, c.Args[0])
	default:
		if wrapped, ok := errors.AsType[*exec.Error](err); ok {
			err = wrapped.Err
		}
		return "", fmt.Errorf("%w: %s: %w", ErrNotFound, c.Args[0], files.Reason(err))
	}
	path, err = filepath.Abs(path)
	if err != nil {
		return "", fmt.Errorf("%w: %s: %w", ErrNotFound, c.Args[0], files.Reason(err))
	}
	return path, nil
}

// Listener is where the program finds us. Whoever serves it closes it.
func (a *Agent) Listener() net.Listener { return a.listener }

// Close gives up an agent that was not run: its listener and, offline, the
// network that was made for it.
func (a *Agent) Close() {
	_ = a.listener.Close()
	if a.confined != nil {
		a.confined.giveUp()
	}
}

// Run starts the program with the given environment and waits for its end. It
// returns the program's exit code, 128 and the signal's number for one that a
// signal ended; an error means that it did not run. A signal that would end us
// goes to the program instead. When ctx ends the program and all that it
// started in its process group are asked to end, and killed after a grace. Its
// group is gone when Run returns.
func (a *Agent) Run(ctx context.Context, environ []string) (code int, err error) {
	signals := catch()
	a.signals = signals
	p, err := a.start(environ)
	if err != nil {
		signals.release(false)
		return 0, fmt.Errorf("%w: %s: %w", ErrNotFound, a.command.Args[0], files.Reason(err))
	}
	defer p.takeBack()
	signals.forward(p)
	defer signals.release(true)
	select {
	case <-p.exited:
	case <-ctx.Done():
		p.terminate()
		select {
		case <-p.exited:
		case <-time.After(grace):
		}
	}
	p.end()
	return p.exitCode(), nil
}

// Interrupted reports whether a signal that would have ended us came while the
// program ran. Ask it when Run has returned.
func (a *Agent) Interrupted() bool { return a.signals != nil && a.signals.ending }

// grace is how long a program has to end by itself when it is asked to.
const grace = 5 * time.Second

// outputGrace is how long output is still read after the program's end, from a
// process that left the group and holds the pipe.
const outputGrace = time.Second

// start starts the program, or lets the one that waits in its own network go.
func (a *Agent) start(environ []string) (*process, error) {
	if a.confined != nil {
		return a.confined.release(environ)
	}
	cmd := exec.Command(a.path)
	cmd.Args = a.command.Args
	cmd.Dir, cmd.Env = a.command.Dir, environ
	return startProcess(cmd, &a.command)
}

// connect gives cmd the streams of c. A stream that is no file is copied into a
// pipe by feed, which must be called after the start; nobody waits for a reader
// that has nothing more to say.
func connect(cmd *exec.Cmd, c *Command) (feed func(), err error) {
	cmd.Stdout, cmd.Stderr = c.Stdout, c.Stderr
	cmd.WaitDelay = outputGrace
	if file, ok := c.Stdin.(*os.File); ok {
		cmd.Stdin = file
	}
	if cmd.Stdin != nil || c.Stdin == nil {
		return func() {}, nil
	}
	pipe, err := cmd.StdinPipe()
	return func() {
		go func() {
			defer pipe.Close()
			_, _ = io.Copy(pipe, c.Stdin) // a program need not read all
		}()
	}, err
}

// terminalOf is the terminal that the program reads from; nil: it reads none.
func terminalOf(c *Command) *os.File {
	if file, ok := c.Stdin.(*os.File); ok && isForeground(file) {
		return file
	}
	return nil
}
