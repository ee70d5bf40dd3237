package cli

import (
	"errors"
	"io"
	"os"
	"strings"
	"syscall"
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/google/jsonschema-go/jsonschema"
	"gotest.tools/v3/assert"
)

// TestShownJSONFitsItsSchema: whatever transcript of the suite is shown, with
// turns and without.
func TestShownJSONFitsItsSchema(t *testing.T) {
	raw, err := os.ReadFile("../../docs/show.schema.json")
	assert.NilError(t, err)
	var schema jsonschema.Schema
	assert.NilError(t, json.Unmarshal(raw, &schema))
	resolved, err := schema.Resolve(nil)
	assert.NilError(t, err)
	for _, name := range []string{"upstream-429-then-200", "isolation-twin-briefs", "mini-compaction-twice", "client-openai-children", "recursion-factory-nil", "refused-answer"} {
		for _, more := range [][]string{nil, {"--stats"}} {
			code, stdout, stderr := run(append([]string{"show", "--builtin", name, "--format", "json"}, more...)...)
			assert.Equal(t, code, 0, stderr)
			var value any
			assert.NilError(t, json.Unmarshal([]byte(stdout), &value), name)
			assert.NilError(t, resolved.Validate(value), name)
		}
	}
	assert.ErrorContains(t, resolved.Validate(map[string]any{}), "required")
}

// TestWhichPager: the environment chooses, less is the last resort, cat is none.
func TestWhichPager(t *testing.T) {
	chosen := func(vars map[string]string) string {
		a := &app{out: io.Discard, err: io.Discard, env: func(name string) string { return vars[name] }}
		cmd := a.pager()
		if cmd == nil {
			return ""
		}
		return strings.Join(cmd.Args[1:], " ")
	}
	assert.Assert(t, strings.HasSuffix(chosen(map[string]string{"TAPETREE_PAGER": "more -x", "PAGER": "most"}), "c more -x"))
	assert.Assert(t, strings.HasSuffix(chosen(map[string]string{"PAGER": "most"}), "c most"))
	assert.Equal(t, chosen(map[string]string{"PAGER": "cat"}), "")
	t.Setenv("PATH", "")
	assert.Equal(t, chosen(nil), "")
}

// TestWithoutATerminalThereIsNoPager, and a reader that has gone is no error.
func TestWithoutATerminalThereIsNoPager(t *testing.T) {
	var out strings.Builder
	a := &app{out: &out, err: io.Discard, env: func(string) string { return "false" }}
	to, end := a.page(false)
	assert.Assert(t, to == io.Writer(&out))
	assert.NilError(t, end())
	assert.NilError(t, withoutBrokenPipe(&os.PathError{Op: "write", Path: "|1", Err: syscall.EPIPE}))
	other := errors.New("disk full")
	assert.Equal(t, withoutBrokenPipe(other), other)
}

// TestColoursEndBeforeTexts: a line is coloured up to what a model wrote, however
// it comes in pieces.
func TestColoursEndBeforeTexts(t *testing.T) {
	text := "# comment\nroot\n  root turn 1\n    says | root | x\n    #1 read {}\n    #1 denied | no\n      | # says\n    ⋮ 3 lines\n"
	want := "\x1b[2m# comment\x1b[0m\n\x1b[1mroot\x1b[0m\n\x1b[1m  root turn 1\x1b[0m\n\x1b[36m    says\x1b[0m | root | x\n\x1b[33m    #1 read {}\x1b[0m\n" +
		"\x1b[31m    #1 denied\x1b[0m | no\n      | # says\n\x1b[2m    ⋮ 3 lines\x1b[0m\n"
	for _, size := range []int{1, 7, len(text)} {
		var out strings.Builder
		w := &colorWriter{to: &out}
		for rest := text; rest != ""; {
			n := min(size, len(rest))
			_, err := io.WriteString(w, rest[:n])
			assert.NilError(t, err)
			rest = rest[n:]
		}
		assert.Equal(t, out.String(), want)
	}
}
