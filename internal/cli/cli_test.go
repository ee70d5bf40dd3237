package cli

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"testing"
	"time"

	"github.com/tapetree/tapetree/runtime"
	"github.com/tapetree/tapetree/scenarios"
	"github.com/tapetree/tapetree/transcripts"
	"gotest.tools/v3/assert"
)

// run calls Main with streams in memory and an empty environment.
func run(args ...string) (code int, stdout, stderr string) {
	var out, err strings.Builder
	code = Main(args, strings.NewReader(""), &out, &err, func(string) string { return "" })
	return code, out.String(), err.String()
}

func TestAFaultOfOursIsOneLineAndNoTrace(t *testing.T) {
	var stderr strings.Builder
	code := Main([]string{"replay", "--update"}, strings.NewReader(""), &stderr, &stderr, func(string) string { panic("broken\nlookup") })
	assert.Equal(t, code, 3)
	assert.Equal(t, stderr.String(), "tapetree: a fault of tapetree itself: broken; lookup; please report it, with the command, at https://github.com/tapetree/tapetree/issues\n")
}

func TestEveryErrorHasItsExitCode(t *testing.T) {
	syntax := &transcripts.SyntaxError{File: "f", Line: 1, Msg: "m"}
	tests := []struct {
		err  error
		want int
	}{
		{nil, 0},
		{silent(1), 1},
		{usagef("x"), 2},
		{badInput("x"), 2},
		{syntax, 2},
		{fmt.Errorf("load: %w", syntax), 2},
		{fmt.Errorf("%w: %w", scenarios.ErrCannotRun, syntax), 3},
		{scenarios.ErrCannotRun, 3},
		{fs.ErrPermission, 3},
		{errors.New("anything else"), 3},
		{fmt.Errorf("x: %w", context.Canceled), 130},
		{&exitError{exitInterrupted, scenarios.ErrCannotRun}, 130},
	}
	for _, test := range tests {
		assert.Equal(t, exitCode(test.err), test.want, "%v", test.err)
	}
	assert.NilError(t, silent(0))
}

func TestStopReasonsHaveTheirExitCodes(t *testing.T) {
	want := map[runtime.StopReason]int{
		runtime.StopAnswer: 0, runtime.StopTurnLimit: 1, runtime.StopTruncated: 1, runtime.StopRefused: 1, runtime.StopEmpty: 1,
		runtime.StopCancelled: 130, runtime.StopUpstreamError: 3,
	}
	for stop, code := range want {
		assert.Equal(t, stopCode(stop), code, stop)
	}
}

func TestResultsHaveTheirExitCodes(t *testing.T) {
	assert.Equal(t, resultCode(scenarios.Result{Status: scenarios.Pass}), 0)
	assert.Equal(t, resultCode(scenarios.Result{Status: scenarios.Fail}), 1)
	assert.Equal(t, resultCode(scenarios.Result{Status: scenarios.Error, Err: &transcripts.SyntaxError{}}), 2)
	assert.Equal(t, resultCode(scenarios.Result{Status: scenarios.Error, Err: scenarios.ErrCannotRun}), 3)
}

func TestParseAge(t *testing.T) {
	for text, want := range map[string]time.Duration{"90d": 90 * 24 * time.Hour, "12h": 12 * time.Hour, "1h30m": 90 * time.Minute} {
		got, ok := parseAge(text)
		assert.Assert(t, ok, text)
		assert.Equal(t, got, want)
	}
	for _, text := range []string{"", "d", "0d", "-1d", "1.5d", "999999999999d", "x", "-3h", "0s"} {
		_, ok := parseAge(text)
		assert.Assert(t, !ok, text)
	}
}

func TestBackoffGrowsAndIsBounded(t *testing.T) {
	assert.Equal(t, backoff(2, 0), time.Second)
	assert.Equal(t, backoff(3, 0), 2*time.Second)
	assert.Equal(t, backoff(2, 5*time.Second), 5*time.Second)
	assert.Equal(t, backoff(2, time.Hour), time.Minute)
}

// No command is a stub: each runs something, says what it does and is named by
// messages only if it exists.
func TestEveryCommandRunsAndExplainsItself(t *testing.T) {
	root := (&app{env: func(string) string { return "" }}).rootCommand()
	var names []string
	for _, c := range root.Commands() {
		names = append(names, c.Name())
		assert.Assert(t, c.RunE != nil && c.Short != "" && !c.Hidden, c.Name())
	}
	assert.DeepEqual(t, names, []string{"check", "completion", "diff", "doctor", "export", "import", "init", "proxy", "rebase", "record", "replay", "review", "run", "serve", "show", "version", "view"})
	_, help, _ := run("help")
	for _, name := range names {
		assert.Assert(t, strings.Contains(help, "\n  "+name+" "), name)
	}
}

func TestColor(t *testing.T) {
	for _, test := range []struct {
		color string
		env   map[string]string
		want  bool
	}{{"always", map[string]string{"NO_COLOR": "1"}, true}, {"never", nil, false}, {"auto", nil, false}} {
		a := &app{color: test.color, env: func(name string) string { return test.env[name] }}
		assert.Equal(t, a.colored(&strings.Builder{}), test.want, test.color)
	}
	_, colored, _ := run("replay", "--builtin", "--color", "always", "isolation-siblings")
	assert.Assert(t, strings.HasPrefix(colored, "\x1b[32mpass \x1b[0m"), colored)
}
