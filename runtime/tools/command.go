package tools

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"sync"
	"time"

	"github.com/tapetree/tapetree/runtime"
)

// The time limits of a command. The first holds when none is asked for.
const (
	DefaultLimit = 120 * time.Second
	MaxLimit     = 600 * time.Second
)

// drainTime is how long output is still awaited after the command and its
// process group are gone: only a process that left the group can hold the pipe
// then, and it is not waited for. The promise is one second in all.
const drainTime = 500 * time.Millisecond

// CommandResult is what a command did.
type CommandResult struct {
	// Output is what it wrote to stdout and stderr, in the order written. Of
	// more than the cap the beginning and the end are kept, and a line between
	// them says how many bytes are left out.
	Output string
	// Omitted counts the bytes left out.
	Omitted int64
	// ExitCode is the command's; 128 and the number of the signal that ended
	// it; -1 when the time limit did.
	ExitCode int
	// TimedOut says that the time limit was reached.
	TimedOut bool
}

// RunCommand runs command in the system's shell (PowerShell on Windows) with
// dir as its directory, the environment of ShellEnv(run), no input and a process
// group of its own. It ends with the command, at the limit (0 means
// DefaultLimit) or with ctx, whichever is first, and then nothing of the group
// is alive; a process that left the group is not waited for. At most byteCap
// bytes of output are returned, whatever is written (0 means 32 KiB).
//
// What the command does wrong is in the result. An error means that it could
// not be started, or is that of ctx; the output so far is in the result then
// too.
func RunCommand(ctx context.Context, dir, run, command string, limit time.Duration, byteCap int) (CommandResult, error) {
	return runCommand(ctx, commandRequest{dir: dir, run: run, words: shellCommand(command), limit: limit, byteCap: byteCap})
}

type commandRequest struct {
	dir, run string
	words    []string // the program and its arguments
	limit    time.Duration
	byteCap  int
	fold     *runtime.Folder
}

func runCommand(ctx context.Context, r commandRequest) (CommandResult, error) {
	if err := ctx.Err(); err != nil {
		return CommandResult{ExitCode: -1}, err
	}
	if r.limit <= 0 {
		r.limit = DefaultLimit
	}
	if r.byteCap <= 0 {
		r.byteCap = defaultShellBytes
	}
	if err := makeRun(r.run); err != nil {
		return CommandResult{ExitCode: -1}, fmt.Errorf("make run folder: %w", err)
	}
	cmd := exec.Command(r.words[0], r.words[1:]...)
	cmd.Dir, cmd.Env = r.dir, ShellEnv(r.run)
	out, err := startOutput(cmd, r)
	if err != nil {
		return CommandResult{ExitCode: -1}, fmt.Errorf("start command: %w", err)
	}
	timedOut, err := supervise(ctx, out.group, r.limit)
	result := CommandResult{ExitCode: exitCode(cmd), TimedOut: timedOut}
	if timedOut {
		result.ExitCode = -1
	}
	result.Output, result.Omitted = out.finish()
	return result, err
}

// supervise waits for the first of the command's end, the limit and the end of
// ctx, ends all of the group while its leader's number cannot be taken by
// another process, and reaps the leader.
func supervise(ctx context.Context, g *group, limit time.Duration) (timedOut bool, err error) {
	timer := time.NewTimer(limit)
	defer timer.Stop()
	select {
	case <-g.exited:
	case <-timer.C:
		timedOut = true
	case <-ctx.Done():
		err = ctx.Err()
	}
	g.end()
	return timedOut, err
}

// output reads what a group writes. It reads with its own loop: io.Copy would
// hand the pipe to whatever ReadFrom the destination has.
type output struct {
	group  *group
	pipe   *os.File
	done   chan struct{} // closed when the pipe has ended
	mu     sync.Mutex
	pieces *segments
	kept   *capture
}

// startOutput starts cmd with stdout and stderr on one pipe.
func startOutput(cmd *exec.Cmd, r commandRequest) (*output, error) {
	reader, writer, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	cmd.Stdout, cmd.Stderr = writer, writer
	g, err := startGroup(cmd)
	writer.Close() // the command has its own
	if err != nil {
		reader.Close()
		return nil, err
	}
	kept := &capture{limit: r.byteCap}
	o := &output{
		group:  g,
		pipe:   reader,
		done:   make(chan struct{}),
		pieces: &segments{fold: r.fold, emit: kept.add},
		kept:   kept,
	}
	go o.read()
	return o, nil
}

func (o *output) read() {
	defer close(o.done)
	buffer := make([]byte, 32<<10)
	for {
		n, err := o.pipe.Read(buffer)
		o.mu.Lock()
		_, _ = o.pieces.Write(buffer[:n]) // never fails
		o.mu.Unlock()
		if err != nil { // the end, or closed by finish
			return
		}
	}
}

// finish waits for what is still in the pipe and returns the text.
func (o *output) finish() (string, int64) {
	timer := time.NewTimer(drainTime)
	defer timer.Stop()
	select {
	case <-o.done:
	case <-timer.C:
	}
	o.mu.Lock()
	o.pieces.Close()
	text, omitted := o.kept.text()
	o.mu.Unlock()
	o.pipe.Close()
	return text, omitted
}
