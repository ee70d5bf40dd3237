package export

import (
	"encoding/xml"
	"errors"
	"io/fs"
	"strings"
	"testing"
	"time"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/google/go-cmp/cmp"
	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/ptrace"
	"gotest.tools/v3/assert"
	"gotest.tools/v3/golden"

	"github.com/tapetree/tapetree/record"
	"github.com/tapetree/tapetree/runtime"
	"github.com/tapetree/tapetree/transcripts"
	"github.com/tapetree/tapetree/transcripts/imports"
)

// suite reads a transcript of the suite.
func suite(t testing.TB, name string) *transcripts.History {
	t.Helper()
	data, err := fs.ReadFile(transcripts.Suite, name+".jsonl")
	assert.NilError(t, err)
	f, err := transcripts.Parse(name+".jsonl", data)
	assert.NilError(t, err)
	h, err := f.History()
	assert.NilError(t, err)
	return h
}

// odd is a history with what a model or a program may put into one.
func odd(t testing.TB) *transcripts.History {
	t.Helper()
	b := transcripts.NewHistory("logs/odd.jsonl", "line 2", "claude-code")
	b.Began(time.Date(2026, 3, 4, 5, 6, 7, 0, time.UTC))
	root := b.Root()
	message := func(raw string) runtime.Message {
		m, err := runtime.ParseMessage([]byte(raw))
		assert.NilError(t, err)
		return m
	}
	root.Add(message(`{"role":"system","content":"Be <b>brief</b> & kind"}`))
	root.Add(message("{\"role\":\"user\",\n \"content\":\"```\\n# Not a heading\\n<script>alert(1)</script>\\u001b[31m ]]>\"}"))
	root.Answer(&runtime.Answer{
		Message: message(`{"role":"assistant","content":null,"tool_calls":[{"id":"c1","type":"function","function":{"name":"Task","arguments":"{\"description\":\"look | around\",\"prompt\":\"Look\"}"}},{"id":"c2","type":"function","function":{"name":"Task","arguments":"{\"prompt\":\"Gone\"}"}},{"id":"c3","type":"function","function":{"name":"read","arguments":"{"}}]}`),
		Finish:  "tool_use", Model: "claude-x", Usage: runtime.Usage{Input: 100, Output: 20, Cached: 40}, ID: "msg_1",
	}, transcripts.Spot{Line: 4, Start: time.Second, End: 2 * time.Second, Timed: true})
	child := root.Child("c1")
	child.Add(message(`{"role":"user","content":"Look"}`))
	child.Answer(&runtime.Answer{Message: message(`{"role":"assistant","content":"Nothing ‹here›"}`), Model: "claude-x"}, transcripts.Spot{Start: 3 * time.Second, End: 4500 * time.Millisecond, Timed: true})
	root.Add(message(`{"role":"tool","tool_call_id":"c1","content":"Error [tool_error]: no such file"}`))
	root.Add(message(`{"role":"tool","tool_call_id":"c3","content":""}`))
	root.Answer(&runtime.Answer{Message: message("{\"role\":\"assistant\",\"content\":\"````\\nDone.\"}"), Finish: "end_turn", Model: "claude-x"}, transcripts.Spot{Line: 9})
	h := b.History()
	h.Roots[0].Turns[0].Failed = []runtime.FailedTry{{Status: 429, Kind: "status"}, {Kind: "timeout"}}
	return h
}

func written(t testing.TB, format string, o Options, list ...*transcripts.History) (text string, lost []string) {
	t.Helper()
	var out strings.Builder
	w := New(&out, format, o)
	for _, h := range list {
		assert.NilError(t, w.History(h))
	}
	assert.NilError(t, w.Close())
	return out.String(), w.Lost()
}

// found are findings of every weight.
func found(*transcripts.History) []record.Finding {
	return []record.Finding{
		{Code: "pairing/unanswered", Agent: "root", Turn: 1, Message: "call c2 has no result <&>"},
		{Code: "pairing/unanswered", Agent: "root", Turn: 2, Message: "once more"},
		{Code: "delegation/trivial-task", Agent: "root/1.1", Turn: 1, Message: "one call"},
		{Code: "secret/present", Message: "a key"},
	}
}

func TestEveryFormatIsWrittenWhole(t *testing.T) {
	o := Options{Contents: true, Check: found, Version: "v1.2.3"}
	for _, format := range Formats {
		for name, h := range map[string]*transcripts.History{"odd": odd(t), "suite": suite(t, "isolation-twin-briefs")} {
			text, lost := written(t, format, o, h)
			golden.Assert(t, text+"\nlost:\n"+strings.Join(lost, "\n")+"\n", name+"."+format+".golden")
		}
	}
}

// TestOpenAIReadsBack: what is exported, read by our importer, is the list that
// the agent had, byte for byte, and exporting it once more gives the same file.
func TestOpenAIReadsBack(t *testing.T) {
	names, err := fs.Glob(transcripts.Suite, "*.jsonl")
	assert.NilError(t, err)
	for _, name := range names {
		h := suite(t, strings.TrimSuffix(name, ".jsonl"))
		for _, run := range h.Roots {
			text, _ := written(t, "openai", Options{Agents: []runtime.Path{run.Agent}}, h)
			importer := imports.Detect([]byte(text))
			assert.Assert(t, importer != nil, "%s: %s", name, text)
			var back []*transcripts.History
			for got, err := range importer.Read(name, []byte(text)) {
				assert.NilError(t, err, name)
				back = append(back, got)
			}
			assert.Equal(t, len(back), 1, name)
			assert.DeepEqual(t, raws(list(back[0].Roots[0])), raws(list(run)))
			again, _ := written(t, "openai", Options{Agents: []runtime.Path{"root"}}, back[0])
			assert.Equal(t, again, text, name)
		}
	}
}

func raws(list []runtime.Message) []string {
	var texts []string
	for _, m := range list {
		texts = append(texts, string(m.Raw))
	}
	return texts
}

// TestSeveralAgentsAreLines: each agent is a session of its own when it is read
// again.
func TestSeveralAgentsAreLines(t *testing.T) {
	h := suite(t, "isolation-twin-briefs")
	text, lost := written(t, "openai", Options{All: true}, h)
	assert.DeepEqual(t, lost, []string{"agents below others, which only their paths tell: 2"})
	importer := imports.Detect([]byte(text))
	assert.Assert(t, importer != nil)
	var got [][]string
	for back, err := range importer.Read("x.jsonl", []byte(text)) {
		assert.NilError(t, err)
		got = append(got, raws(list(back.Roots[0])))
	}
	var want [][]string
	h.Walk(func(r *runtime.Run) { want = append(want, raws(list(r))) })
	assert.DeepEqual(t, got, want)
	root, lost := written(t, "openai", Options{}, h)
	assert.Assert(t, strings.HasPrefix(root, "[\n  {"), root)
	assert.DeepEqual(t, lost, []string{"agents below the root, which --agent all writes too: 2"})
}

// TestSpansAreATree: the strictest reader of OTLP/JSON takes the trace, every id
// is one of its own, every parent is there and begins no later.
func TestSpansAreATree(t *testing.T) {
	names, err := fs.Glob(transcripts.Suite, "*.jsonl")
	assert.NilError(t, err)
	for _, name := range names {
		h := suite(t, strings.TrimSuffix(name, ".jsonl"))
		text, _ := written(t, "otlp", Options{Contents: true}, h)
		spans := readSpans(t, text)
		agents, chats, calls := 0, 0, 0
		h.Walk(func(r *runtime.Run) {
			agents++
			for i := range r.Turns {
				chats += len(r.Turns[i].Failed)
				if r.Turns[i].Answer != nil {
					chats++
				}
				for _, c := range r.Turns[i].Calls {
					if c.ID != "" || c.Arguments != "" || c.Child == nil {
						calls++
					}
				}
			}
		})
		assert.Equal(t, len(spans), agents+chats+calls, name)
		for id, s := range spans {
			parent, ok := spans[s.ParentSpanID()]
			if s.ParentSpanID().IsEmpty() {
				continue
			}
			assert.Assert(t, ok, "%s: %s has no parent", name, s.Name())
			assert.Assert(t, id != s.ParentSpanID())
			assert.Assert(t, parent.StartTimestamp() <= s.StartTimestamp() && s.StartTimestamp() <= s.EndTimestamp(), "%s: %s", name, s.Name())
		}
	}
}

func readSpans(t testing.TB, text string) map[pcommon.SpanID]ptrace.Span {
	t.Helper()
	traces, err := (&ptrace.JSONUnmarshaler{}).UnmarshalTraces([]byte(text))
	assert.NilError(t, err)
	spans := map[pcommon.SpanID]ptrace.Span{}
	for _, resource := range traces.ResourceSpans().All() {
		for _, scope := range resource.ScopeSpans().All() {
			for _, s := range scope.Spans().All() {
				_, twice := spans[s.SpanID()]
				assert.Assert(t, !twice && !s.SpanID().IsEmpty() && !s.TraceID().IsEmpty(), "%s is there twice", s.Name())
				spans[s.SpanID()] = s
			}
		}
	}
	return spans
}

// TestWithoutContentsNothingSaidIsWritten holds for spans, which leave the house.
func TestWithoutContentsNothingSaidIsWritten(t *testing.T) {
	text, _ := written(t, "otlp", Options{}, odd(t))
	for _, said := range []string{"brief", "script", "Nothing", "Done", "no such file", "prompt"} {
		assert.Assert(t, !strings.Contains(text, said), said)
	}
}

func TestTheSameHistoryGivesTheSameTrace(t *testing.T) {
	one, _ := written(t, "otlp", Options{}, odd(t))
	h := odd(t)
	h.Path = "elsewhere/odd.jsonl"
	two, _ := written(t, "otlp", Options{}, h)
	assert.Equal(t, one, two)
	h.Roots[0].Final = "Other"
	three, _ := written(t, "otlp", Options{}, h)
	assert.Assert(t, one != three)
}

// TestNothingIsADocumentToo: a file without sessions is none, but a writer that
// got none still ends what it began.
func TestNothingIsADocumentToo(t *testing.T) {
	want := map[string]string{
		"openai": "[]\n", "markdown": "", "otlp": "{\"resourceSpans\":[\n]}\n",
		"junit": xml.Header + "<testsuites name=\"tapetree export\">\n</testsuites>\n",
	}
	for _, format := range Formats {
		text, lost := written(t, format, Options{})
		assert.Equal(t, text, want[format])
		assert.Equal(t, len(lost), 0)
	}
}

var errFull = errors.New("no space left")

type full struct{}

func (full) Write([]byte) (int, error) { return 0, errFull }

func TestAFullDiskIsAnError(t *testing.T) {
	for _, format := range Formats {
		w := New(full{}, format, Options{})
		err := w.History(odd(t))
		assert.ErrorIs(t, errors.Join(err, w.Close()), errFull, format)
	}
}

// FuzzExport: whatever an importer reads, every format writes, and what it
// writes is well-formed.
func FuzzExport(f *testing.F) {
	f.Add([]byte(`[{"role":"user","content":"x"},{"role":"assistant","content":"y"}]`))
	f.Add([]byte(`[{"role":"assistant","tool_calls":[{"id":"","function":{"name":"","arguments":"{"}}]},{"role":"tool","tool_call_id":"","content":"]]>` + "```" + `"}]`))
	f.Add([]byte("[{\"role\":\"user\",\"content\":\"\xff\x00\"},{\"role\":\"user\",\"role\":\"system\"},{\"role\":\"assistant\",\"content\":[{\"type\":\"text\"}]}]"))
	f.Fuzz(func(t *testing.T, data []byte) {
		importer := imports.Detect(data)
		if importer == nil {
			return
		}
		var list []*transcripts.History
		for h, err := range importer.Read("x", data) {
			if err != nil {
				break
			}
			list = append(list, h)
		}
		o := Options{Contents: true, All: true, Check: found}
		text, _ := written(t, "otlp", o, list...)
		readSpans(t, text)
		text, _ = written(t, "openai", o, list...)
		d := jsontext.NewDecoder(strings.NewReader(text), jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))
		for d.PeekKind() != 0 {
			_, err := d.ReadValue()
			assert.NilError(t, err)
		}
		text, _ = written(t, "junit", o, list...)
		assert.NilError(t, xml.Unmarshal([]byte(text), new(struct{})))
		text, _ = written(t, "markdown", o, list...)
		assert.Equal(t, cmp.Diff(open(text), ""), "")
	})
}

// open is the fence of a block that a document does not close.
func open(text string) string {
	fence := ""
	for line := range strings.Lines(text) {
		line = strings.TrimSuffix(line, "\n")
		switch {
		case fence == "" && strings.HasPrefix(line, "```"):
			fence = strings.TrimSuffix(line, "text")
		case fence != "" && line == fence:
			fence = ""
		}
	}
	return fence
}
