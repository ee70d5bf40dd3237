package imports_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/tapetree/tapetree/golden"
	"github.com/tapetree/tapetree/runtime"
	"github.com/tapetree/tapetree/transcripts"
	"github.com/tapetree/tapetree/transcripts/imports"
	"gotest.tools/v3/assert"
	golden3 "gotest.tools/v3/golden"
)

// report writes everything down that a history says.
func report(h *transcripts.History) string {
	var out strings.Builder
	fmt.Fprintf(&out, "%s in %s: %+v\n", h.Name(), h.Format, h.Count())
	if !h.Began.IsZero() {
		fmt.Fprintf(&out, "began %s\n", h.Began.Format("2006-01-02T15:04:05.999999999Z07:00"))
	}
	for _, w := range h.Warnings {
		fmt.Fprintf(&out, "warning, line %d: %s\n", w.Line, w.Msg)
	}
	for _, l := range h.Lost {
		fmt.Fprintf(&out, "lost: %s\n", l)
	}
	h.Walk(func(r *runtime.Run) {
		for _, t := range r.Turns {
			at := h.Spots[transcripts.TurnKey{Agent: r.Agent, Turn: t.Number}]
			fmt.Fprintf(&out, "%s#%d line %d sent %d", r.Agent, t.Number, at.Line, t.Sent.Len())
			if at.Timed {
				fmt.Fprintf(&out, " from %s to %s", at.Start, at.End)
			}
			if t.Answer != nil && (t.Answer.Model != "" || t.Answer.Usage != runtime.Usage{}) {
				fmt.Fprintf(&out, " by %q %+v %s", t.Answer.Model, t.Answer.Usage, t.Answer.Finish)
			}
			out.WriteByte('\n')
		}
	})
	out.WriteString(golden.RenderAll(h.Roots, golden.Options{Full: true, Foreign: true}))
	return out.String()
}

// fixtures are the files of testdata and the format that each is in.
var fixtures = []struct{ file, format string }{
	{"openai-array.json", "openai"},
	{"openai-body.json", "openai"},
	{"openai-many.json", "openai"},
	{"openai-torn.json", "openai"},
	{"openai-blocks.json", "openai"},
	{"openai-items.json", "openai"},
	{"openai-lines.jsonl", "openai-jsonl"},
	{"openai-messages.jsonl", "openai-jsonl"},
	{"tau.json", "tau-bench"},
	{"swe.traj", "swe-agent"},
	{"swe-attempts.traj", "swe-agent"},
	{"mini-v1.traj.json", "mini-swe-agent"},
	{"mini-v2.traj.json", "mini-swe-agent"},
	{"mini-responses.traj.json", "mini-swe-agent"},
	{"copilot.yaml", "copilot-sdk"},
	{"copilot-torn.yaml", "copilot-sdk"},
	{"claude-inline.jsonl", "claude-code"},
	{"claude-progress.jsonl", "claude-code"},
	{"claude-branches.jsonl", "claude-code"},
	{"claude-compacted.jsonl", "claude-code"},
	{"claude-torn.jsonl", "claude-code"},
	{"claude-stream.jsonl", "claude-code"},
	{"claude-apart/agent-other.jsonl", "claude-code"},
	{"pi.jsonl", "pi"},
	{"pi-v1.jsonl", "pi"},
	{"codex.jsonl", "codex"},
}

func fixture(t testing.TB, file string) []byte {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("testdata", file))
	assert.NilError(t, err)
	return data
}

func TestFixtures(t *testing.T) {
	for _, f := range fixtures {
		t.Run(f.file, func(t *testing.T) {
			data := fixture(t, f.file)
			importer := imports.Detect(data)
			assert.Assert(t, importer != nil)
			assert.Equal(t, importer.Name, f.format)
			var all []string
			for h, err := range importer.Read(f.file, data) {
				assert.NilError(t, err)
				assert.Equal(t, h.Format, f.format)
				all = append(all, report(h))
			}
			golden3.Assert(t, strings.Join(all, "\n"), f.file+".txt")
		})
	}
}

// The message is what the file has, byte for byte.
func TestRawIsKept(t *testing.T) {
	data := fixture(t, "openai-array.json")
	for h, err := range imports.Detect(data).Read("f", data) {
		assert.NilError(t, err)
		for _, m := range h.Roots[0].History.Messages() {
			assert.Assert(t, strings.Contains(string(data), string(m.Raw)))
		}
	}
}

// A reader that wants no more gets no more.
func TestReadStops(t *testing.T) {
	for _, f := range fixtures {
		data := fixture(t, f.file)
		n := 0
		for range imports.Detect(data).Read(f.file, data) {
			n++
			break
		}
		assert.Equal(t, n, 1, f.file)
	}
}

func TestDetectRefuses(t *testing.T) {
	for _, text := range []string{
		"", " \n", "null", "[]", "{}", "[[]]", "[1]", "text", `{"messages":5}`, `{"messages":[{"a":1}]}`, `[{"traj":5}]`,
		`{"history":[1]}`, `{"trajectory_format":"other","x":[]}`, "conversations: 5\n", `{"role":"king"}` + "\n" + `{"role":"king"}`,
		`{"choices":[{"message":{"role":"assistant","content":"x"}}]}`, "interactions:\n- messages: 1\n",
	} {
		importer := imports.Detect([]byte(text))
		if importer != nil {
			t.Errorf("%q is taken for %s", text, importer.Name)
		}
	}
}

// A file in a format, but without a message, is an error that names it.
func TestReadNothing(t *testing.T) {
	for text, want := range map[string]string{
		`{"messages":[]}`:                            "f: no message in it could be read",
		`{"messages":[{"role":"assistant`:            "",
		`[{"traj":[]}]`:                              "f:1: no message could be read; left out, a run without messages",
		`{"trajectory_format":"mini-swe-agent-1"}`:   "f: no message in it could be read",
		"conversations:\n  - messages: []\n":         "f: no message in it could be read",
		"conversations:\n- messages:\n\t- x\n":       "f:3: no message could be read; no YAML from here on (line 3: found character that cannot start any token); what stands before was read",
		`{"messages":[]}` + "\n" + `{"messages":[]}`: "f:1: no message could be read; left out, the line holds no message",
		`{"attempts":[{"history":[{"role":"user","content":"a"}]}],"history":[{"role":"user"`:                 "",
		`[{"role":"user"},{"role":"assistant"},{"role":"assistant","tool_calls":5},{"role":"tool","content":`: "",
	} {
		importer := imports.Detect([]byte(text))
		if importer == nil {
			assert.Equal(t, want, "", text)
			continue
		}
		var got []string
		for h, err := range importer.Read("f", []byte(text)) {
			if err != nil {
				got = append(got, err.Error())
			}
			_ = h
		}
		assert.Equal(t, strings.Join(got, "; "), want, text)
	}
}

func TestNamesAreDistinct(t *testing.T) {
	var names []string
	for _, i := range imports.All() {
		assert.Assert(t, i.Title != "" && i.Detect != nil && i.Read != nil)
		names = append(names, i.Name)
	}
	sorted := slices.Clone(names)
	slices.Sort(sorted)
	assert.Equal(t, len(slices.Compact(sorted)), len(names))
}
