package cli

import (
	"context"
	"errors"
	"fmt"

	"github.com/tapetree/tapetree/internal/files"
	"github.com/tapetree/tapetree/internal/histories"
	"github.com/tapetree/tapetree/scenarios"
	"github.com/tapetree/tapetree/transcripts"
)

// The exit codes, as README.md explains them to users.
const (
	exitOK          = 0   // all holds
	exitFindings    = 1   // a scenario failed; a run ended without an answer
	exitUsage       = 2   // usage or bad input; nothing matched
	exitCannotRun   = 3   // something that is needed is missing or failed
	exitInterrupted = 130 // by the user; what was finished is kept
)

// exitError is an error that fixes the exit code. With err nil all has been
// said already.
type exitError struct {
	code int
	err  error
}

func (e *exitError) Error() string {
	if e.err == nil {
		return fmt.Sprintf("exit %d", e.code)
	}
	return e.err.Error()
}

func (e *exitError) Unwrap() error { return e.err }

// usagef is a mistake in how the command was called.
func usagef(format string, args ...any) error {
	return &usageError{err: fmt.Errorf(format, args...)}
}

// usageError is shown with a pointer to the command's help.
type usageError struct {
	err error
	see string // the command whose help to see; "" means the one that was called
}

func (e *usageError) Error() string { return e.err.Error() }
func (e *usageError) Unwrap() error { return e.err }

// badInput is a file or a name that is wrong; it says itself what to do.
func badInput(format string, args ...any) error {
	return &exitError{exitUsage, fmt.Errorf(format, args...)}
}

// silent ends the program with code; what is to be said has been said.
func silent(code int) error {
	if code == exitOK {
		return nil
	}
	return &exitError{code: code}
}

// exitCode says which code an error stands for.
func exitCode(err error) int {
	var fixed *exitError
	var usage *usageError
	var syntax *transcripts.SyntaxError
	switch {
	case err == nil:
		return exitOK
	case errors.As(err, &fixed):
		return fixed.code
	case errors.As(err, &usage), errors.Is(err, scenarios.ErrBadInput), errors.Is(err, files.ErrBad), errors.Is(err, histories.ErrUnknown):
		return exitUsage
	case errors.Is(err, scenarios.ErrCannotRun):
		return exitCannotRun
	case errors.Is(err, context.Canceled):
		return exitInterrupted
	case errors.As(err, &syntax):
		return exitUsage
	default:
		return exitCannotRun
	}
}
