package tools

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"
	"time"

	"github.com/tapetree/tapetree/runtime"
)

// maxCommand is the longest command taken, in bytes. Linux refuses an argument
// of 128 KiB.
const maxCommand = 100 << 10

const maxSeconds = int(MaxLimit / time.Second)

// Shell runs command in the workspace and returns its output and, in brackets
// on the last line, its exit code or that the time limit was reached. seconds
// is the limit, at most 600; 0 means 120. The error is that of ctx, a failure
// for the model, or one of ours.
func (w *Workspace) Shell(ctx context.Context, command string, seconds int) (string, error) {
	return w.runText(ctx, shellCommand(command), command, seconds)
}

// Bash is Shell in bash, or in the system's shell where there is no bash.
func (w *Workspace) Bash(ctx context.Context, command string, seconds int) (string, error) {
	return w.runText(ctx, bashCommand(command), command, seconds)
}

// runText runs the program and arguments in words, which stand for command.
func (w *Workspace) runText(ctx context.Context, words []string, command string, seconds int) (string, error) {
	if seconds < 0 || seconds > maxSeconds {
		return "", runtime.Failed("timeout_seconds must be from 1 to %d", maxSeconds)
	}
	limit := time.Duration(seconds) * time.Second
	if seconds == 0 {
		limit = DefaultLimit
	}
	if strings.TrimSpace(command) == "" {
		return "", runtime.Failed("the command is empty")
	}
	if len(command) > maxCommand || strings.Contains(command, "\x00") {
		return "", runtime.Failed("the command is over %d bytes long or holds a NUL byte", maxCommand)
	}
	run, err := w.runFolder()
	if err != nil {
		return "", fmt.Errorf("make run folder: %w", err)
	}
	result, err := runCommand(ctx, commandRequest{
		dir:     w.dir,
		run:     run,
		words:   words,
		limit:   limit,
		byteCap: w.options.ShellBytes,
		fold:    w.options.Fold,
	})
	if err != nil {
		return "", w.startFailure(err)
	}
	return w.options.Fold.Expand(shellText(result, limit)), nil
}

// startFailure is for the model if the workspace is gone, which a command can
// bring about; anything else is ours.
func (w *Workspace) startFailure(err error) error {
	if _, gone := os.Stat(w.dir); !isCancelled(err) && errors.Is(gone, fs.ErrNotExist) {
		return runtime.Failed("cannot run the command: the workspace is gone")
	}
	return err
}

func shellText(result CommandResult, limit time.Duration) string {
	text := result.Output
	if text != "" && !strings.HasSuffix(text, "\n") {
		text += "\n"
	}
	if result.TimedOut {
		return text + fmt.Sprintf("[ended at the time limit of %d s]", int(limit.Seconds()))
	}
	return text + fmt.Sprintf("[exit code %d]", result.ExitCode)
}
