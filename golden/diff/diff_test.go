package diff

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/google/go-cmp/cmp"
	"github.com/google/jsonschema-go/jsonschema"
	"github.com/tapetree/tapetree/internal/benchdata"
	"github.com/tapetree/tapetree/internal/histories"
	"github.com/tapetree/tapetree/record"
	"github.com/tapetree/tapetree/runtime"
	"github.com/tapetree/tapetree/transcripts"
	"gotest.tools/v3/assert"
)

// session builds a history of a parent that hands out briefs, each to a child
// that reads one file. id makes the ids of calls.
func session(id func(string) string, briefs ...string) *transcripts.History {
	b := transcripts.NewHistory("run", "", "test")
	root := b.Root()
	root.Add(runtime.SystemMessage("You lead."))
	root.Add(runtime.UserMessage("look around"))
	for i, brief := range briefs {
		call := id(fmt.Sprintf("task-%d-%s", i, brief[:1]))
		root.Answer(answer("", call, "task", fmt.Sprintf(`{"description":%q}`, brief)), transcripts.Spot{})
		child := root.Child(call)
		child.Add(runtime.UserMessage(brief))
		read := id(fmt.Sprintf("read-%d-%s", i, brief[:1]))
		child.Answer(answer("", read, "read_file", fmt.Sprintf(`{"path":%q}`, brief)), transcripts.Spot{})
		child.Add(runtime.ToolMessage(read, "contents of "+brief+", a line long enough to be told from others; see "+read))
		child.Answer(answer("Report on "+brief, "", "", ""), transcripts.Spot{})
		root.Add(runtime.ToolMessage(call, "Report on "+brief))
	}
	root.Answer(answer("done", "", "", ""), transcripts.Spot{})
	return b.History()
}

func answer(text, id, name, arguments string) *runtime.Answer {
	m := runtime.Message{Role: runtime.RoleAssistant, Content: text}
	if name != "" {
		m.Calls = []runtime.Call{{ID: id, Name: name, Arguments: arguments}}
	}
	return &runtime.Answer{Message: m}
}

func plainID(s string) string { return "call_" + s + "_0001" }
func otherID(s string) string { return fmt.Sprintf("toolu_%x_9", s) }

func text(t *testing.T, d *Diff) string {
	t.Helper()
	var out bytes.Buffer
	assert.NilError(t, d.Text(&out, Style{Context: 1}))
	return out.String()
}

func TestEqualSessionsHaveNoDifference(t *testing.T) {
	a, b := session(plainID, "alpha.txt", "beta.txt"), session(otherID, "alpha.txt", "beta.txt")
	d := Compare(a, b, Options{})
	assert.Assert(t, d.Equal, text(t, d))
	assert.Equal(t, text(t, d), "run → run\nequal: 3 agents\n\nroot: same, 6 messages\n\nroot/1.1 \"alpha.txt\": same, 4 messages\n\nroot/2.1 \"beta.txt\": same, 4 messages\n")
}

func TestAResultOfAnotherCallIsADifference(t *testing.T) {
	two := func(first, second string) *transcripts.History {
		b := transcripts.NewHistory("run", "", "test")
		root := b.Root()
		root.Add(runtime.UserMessage("go"))
		m := answer("", "", "", "")
		m.Message.Calls = []runtime.Call{{ID: "x1", Name: "r", Arguments: `{}`}, {ID: "x2", Name: "r", Arguments: `{}`}}
		root.Answer(m, transcripts.Spot{})
		root.Add(runtime.ToolMessage(first, "same"))
		root.Add(runtime.ToolMessage(second, "same"))
		return b.History()
	}
	d := Compare(two("x1", "x2"), two("x2", "x1"), Options{})
	assert.Assert(t, !d.Equal)
	assert.Equal(t, text(t, d), `run → run
differ: of 1 agent 1 changed

root: 2 same, 2 changed; first difference at turn 1, message 3
  1 user | go
  2 assistant calls r, r
~ 3 result of r, its ids stand for others
~ 4 result of r, its ids stand for others
`)
}

func TestAnInsertedTurnKeepsTheChildren(t *testing.T) {
	a, b := session(plainID, "alpha.txt", "beta.txt"), session(otherID, "new.txt", "alpha.txt", "beta.txt")
	d := Compare(a, b, Options{})
	var got []string
	for _, x := range d.Agents {
		got = append(got, fmt.Sprintf("%s %s", x.Kind, x.name()))
	}
	assert.DeepEqual(t, got, []string{"changed root", "added root/1.1", "same root/1.1 → root/2.1", "same root/2.1 → root/3.1"})
}

func TestAnEditIsShownByWords(t *testing.T) {
	assert.DeepEqual(t, Words("a red fox\nruns", "a blue fox\nruns", nil), []Part{{Same, "a "}, {Removed, "red"}, {Added, "blue"}, {Same, " fox\nruns"}})
	assert.DeepEqual(t, Words("one two", "six ten", nil), []Part{{Removed, "one two"}, {Added, "six ten"}})
	assert.DeepEqual(t, Words("", "x", nil), []Part{{Added, "x"}})
	assert.DeepEqual(t, Words("x", "x", nil), []Part{{Same, "x"}})
}

func TestVolatileRulesAreCounted(t *testing.T) {
	v, err := record.ParseVolatile([]string{"dates"})
	assert.NilError(t, err)
	a, b := session(plainID, "2026-01-02.txt"), session(plainID, "2026-03-04.txt")
	assert.Assert(t, !Compare(a, b, Options{}).Equal)
	d := Compare(a, b, Options{Volatile: v})
	assert.Equal(t, len(d.Covered), 1)
	assert.Equal(t, d.Covered[0].Rule, "dates")
	for _, x := range d.Agents {
		assert.Assert(t, x.First < 0, x.name())
	}
}

func TestArgumentsAreEqualInAnyOrder(t *testing.T) {
	of := func(args string) *transcripts.History {
		b := transcripts.NewHistory("run", "", "test")
		root := b.Root()
		root.Add(runtime.UserMessage("go"))
		root.Answer(answer("", "c", "edit", args), transcripts.Spot{})
		return b.History()
	}
	assert.Assert(t, Compare(of(`{"a":1,"b":{"c":2,"d":3}}`), of(`{"b": {"d":3,"c":2}, "a":1}`), Options{}).Equal)
	assert.Assert(t, !Compare(of(`{"a":1}`), of(`{"a":1.0}`), Options{}).Equal)
}

// mirror turns a diff around: what it must be with the sides swapped.
func mirror(d *Diff) *Diff {
	turned := map[Kind]Kind{Removed: Added, Added: Removed}
	kind := func(k Kind) Kind {
		if t, ok := turned[k]; ok {
			return t
		}
		return k
	}
	m := &Diff{Equal: d.Equal}
	for _, a := range d.Agents {
		x := &Agent{Kind: kind(a.Kind), Left: a.Right, Right: a.Left, Counts: Counts{a.Counts.Same, a.Counts.Changed, a.Counts.Moved, a.Counts.Added, a.Counts.Removed}}
		for _, r := range a.Rows {
			side := map[string]string{"left": "right", "right": "left"}[r.Side]
			x.Rows = append(x.Rows, Row{Kind: kind(r.Kind), Side: side, Left: r.Right, Right: r.Left, Pairing: r.Pairing})
		}
		m.Agents = append(m.Agents, x)
	}
	return m
}

// normal drops what a mirror does not have, and puts rows and agents in an order
// that both sides share.
func normal(d *Diff) []string {
	var list []string
	for _, a := range d.Agents {
		var rows []string
		for _, r := range a.Rows {
			number := func(m *Message) string {
				if m == nil {
					return "-"
				}
				return fmt.Sprintf("%05d %s", m.Number, m.Text)
			}
			rows = append(rows, fmt.Sprintf("%s|%s %s %s %v", number(r.Left), number(r.Right), r.Kind, r.Side, r.Pairing))
		}
		slices.Sort(rows)
		list = append(list, fmt.Sprintf("%s %s %s %+v\n%s", a.Kind, a.Left, a.Right, a.Counts, strings.Join(rows, "\n")))
	}
	slices.Sort(list)
	return list
}

// odd builds a history from bytes: each byte is a message, some of them calls
// whose results are mixed up.
func odd(data []byte) *transcripts.History {
	b := transcripts.NewHistory("odd", "", "test")
	agent := b.Root()
	agents := []*transcripts.AgentBuilder{agent}
	for i, c := range data {
		id := fmt.Sprintf("call_%08d", c%5)
		switch c % 8 {
		case 0, 1:
			agent.Add(runtime.UserMessage(fmt.Sprintf("say %d of %s", c/8, id)))
		case 2, 3:
			agent.Answer(answer(fmt.Sprint("t", c/16), id, "task", fmt.Sprintf(`{"prompt":"do %d"}`, c/8)), transcripts.Spot{})
		case 4:
			agent.Add(runtime.ToolMessage(id, strings.Repeat("r\xff\n", int(c/32))))
		case 5:
			agent = agent.Child(id)
			agents = append(agents, agent)
		case 6:
			agent = agents[i%len(agents)]
		default:
			agent.Compact("sum")
		}
	}
	return b.History()
}

func FuzzDiffMirrors(f *testing.F) {
	f.Add([]byte("\x00\x02\x04\x0a\x0c\x12"), []byte("\x00\x0a\x04\x02\x0c\x12"))
	f.Add([]byte("abcdefgh"), []byte("bcdefgha"))
	f.Add([]byte("\x10\x12\x15\x10\x12\x16\x14\x13"), []byte("\x12\x15\x16\x13\x14\x14\x07\x10"))
	f.Fuzz(func(t *testing.T, x, y []byte) {
		a, b := odd(x), odd(y)
		if a == nil || b == nil {
			return
		}
		assert.Assert(t, Compare(a, a, Options{}).Equal)
		d := Compare(a, b, Options{})
		if diff := cmp.Diff(normal(mirror(d)), normal(Compare(b, a, Options{}))); diff != "" {
			t.Fatal(diff)
		}
		for _, s := range []Style{{}, {Context: 2, Full: true, Color: true, Max: 2000}} {
			var one, two bytes.Buffer
			for _, out := range []*bytes.Buffer{&one, &two} {
				r := NewReport([]*Diff{Compare(a, b, Options{})}, nil, []string{"x"})
				assert.NilError(t, r.Text(out, s))
				assert.NilError(t, r.Stat(out, s))
				assert.NilError(t, r.Markdown(out, s))
				assert.NilError(t, r.HTML(out, s))
				assert.NilError(t, r.JSON(out))
				assert.NilError(t, ParentChild(a, Options{}).Text(out, s))
			}
			assert.Equal(t, one.String(), two.String())
		}
	})
}

func FuzzWords(f *testing.F) {
	f.Add("a b\nc", "a c\nc")
	f.Fuzz(func(t *testing.T, a, b string) {
		var left, right strings.Builder
		for _, p := range Words(a, b, nil) {
			if p.Kind != Added {
				left.WriteString(p.Text)
			}
			if p.Kind != Removed {
				right.WriteString(p.Text)
			}
		}
		assert.Equal(t, left.String(), a)
		assert.Equal(t, right.String(), b)
	})
}

// TestTheCostIsLinear counts steps at n and 10n messages, of several shapes.
func TestTheCostIsLinear(t *testing.T) {
	shapes := map[string]func(i, side int) string{
		"one edit":      func(i, side int) string { return fmt.Sprint(i, " ", i == 50 && side == 1) },
		"all equal":     func(i, side int) string { return "ok" },
		"all different": func(i, side int) string { return fmt.Sprint(i, " ", side) },
		"shuffled":      func(i, side int) string { return fmt.Sprint((i * (1 + side*6)) % 997) },
		"few words":     func(i, side int) string { return fmt.Sprint((i * (3 + side)) % 7) },
	}
	for name, shape := range shapes {
		steps := func(n int) int {
			of := func(side int) *transcripts.History {
				b := transcripts.NewHistory("run", "", "test")
				root := b.Root()
				for i := range n + 3*side {
					root.Add(runtime.UserMessage(shape(i, side)))
				}
				return b.History()
			}
			count := 0
			Compare(of(0), of(1), Options{Steps: &count})
			return count
		}
		small, large := steps(1_000), steps(10_000)
		most := 12
		if name == "shuffled" { // a sort is n log n
			most = 15
		}
		assert.Assert(t, large <= most*small, "%s: %d steps for 1,000 messages, %d for 10,000", name, small, large)
	}
}

func TestMarkdownKeepsTextsFromActing(t *testing.T) {
	a, b := session(plainID, "alpha.txt"), session(plainID, "@name #123 ``` <script>alert(1)</script> [x](http://y)")
	var out bytes.Buffer
	assert.NilError(t, Compare(a, b, Options{}).Markdown(&out, Style{Context: 1, Max: MaxComment}))
	fenced := false
	for _, line := range strings.Split(out.String(), "\n") {
		if strings.HasPrefix(line, "````") {
			fenced = !fenced
			continue
		}
		if !fenced {
			for _, active := range []string{"@name", "#123", "<script", "](http"} {
				assert.Assert(t, !strings.Contains(line, active), line)
			}
		}
	}
	assert.Assert(t, !fenced)
	long := session(plainID, slices.Repeat([]string{"file with a long name " + strings.Repeat("x", 100)}, 500)...)
	out.Reset()
	assert.NilError(t, Compare(a, long, Options{}).Markdown(&out, Style{Max: MaxComment}))
	assert.Assert(t, len([]rune(out.String())) <= MaxComment)
	assert.Assert(t, strings.Contains(out.String(), "more"), "the rest is named")
}

func TestHTMLRunsNothing(t *testing.T) {
	a, b := session(plainID, "alpha.txt"), session(plainID, "<script>alert(1)</script>")
	var out bytes.Buffer
	assert.NilError(t, Compare(a, b, Options{}).HTML(&out, Style{}))
	assert.Assert(t, !strings.Contains(out.String(), "<script"))
}

func TestParentAndChild(t *testing.T) {
	h := session(plainID, "alpha.txt")
	d := ParentChild(h, Options{})
	assert.Assert(t, d.Holds())
	var out bytes.Buffer
	assert.NilError(t, d.Text(&out, Style{}))
	assert.Equal(t, out.String(), `run
1 delegation; 1 tool result, about 22 tokens, stayed with the children

root/1.1 "alpha.txt": call 1 of turn 1 of root, task
  brief, as the child was told it
      alpha.txt
  report, as the parent got it
      Report on alpha.txt
  the child saw 1 tool result that the parent did not: 88 bytes, about 22 tokens
      turn 1 read_file {"path":"alpha.txt"}: 88 bytes, 22 tokens
`)
}

func TestALeakIsFound(t *testing.T) {
	const secret = "the quick brown fox jumps over the lazy dog, twice a day"
	b := transcripts.NewHistory("run", "", "test")
	root := b.Root()
	root.Add(runtime.UserMessage("go"))
	root.Answer(answer("", "call_00000001", "task", `{"prompt":"see"}`), transcripts.Spot{})
	child := root.Child("call_00000001")
	child.Add(runtime.UserMessage("see"))
	child.Answer(answer("", "call_00000002", "read", `{}`), transcripts.Spot{})
	child.Add(runtime.ToolMessage("call_00000002", "x\n"+secret+"\n"))
	child.Answer(answer("short", "", "", ""), transcripts.Spot{})
	root.Add(runtime.ToolMessage("call_00000001", "short\n"+secret))
	root.Answer(answer("fine", "", "", ""), transcripts.Spot{})
	d := ParentChild(b.History(), Options{})
	assert.Assert(t, !d.Holds())
	assert.DeepEqual(t, d.Children[0].Leaks, []Leak{{Turn: 1, Tool: "read", Message: 3, Text: secret}})
}

func TestJSONFollowsItsSchema(t *testing.T) {
	raw, err := os.ReadFile("../../docs/diff.schema.json")
	assert.NilError(t, err)
	var schema jsonschema.Schema
	assert.NilError(t, json.Unmarshal(raw, &schema))
	resolved, err := schema.Resolve(nil)
	assert.NilError(t, err)
	a, b := session(plainID, "alpha.txt", "beta.txt"), session(otherID, "new.txt", "alpha.txt")
	check := func(write func(io.Writer) error) {
		var out bytes.Buffer
		assert.NilError(t, write(&out))
		var value any
		assert.NilError(t, json.Unmarshal(out.Bytes(), &value))
		assert.NilError(t, resolved.Validate(value))
	}
	check(NewReport([]*Diff{Compare(a, b, Options{})}, []string{"x"}, nil).JSON)
	check(DelegationReport{Version: Version, Histories: []*Delegations{ParentChild(a, Options{})}}.JSON)
	assert.ErrorContains(t, resolved.Validate(map[string]any{"version": 1.0, "other": true}), "anyOf")
}

func BenchmarkDiff(b *testing.B) {
	for _, size := range []int{1 << 20, 10 << 20, 100 << 20} {
		b.Run(fmt.Sprintf("%dMB", size>>20), func(b *testing.B) {
			data := benchdata.ClaudeCode(size)
			edited := bytes.Replace(data, []byte("line 3: func work3()"), []byte("line 3: func edited()"), 1)
			read := func(data []byte) *transcripts.History {
				for h, err := range histories.Parse(b.Context(), "bench.jsonl", bytes.Clone(data), histories.Options{Lean: true}) {
					assert.NilError(b, err)
					return h
				}
				return nil
			}
			b.SetBytes(int64(size))
			for b.Loop() {
				left := Outline(read(data), Options{})
				h := read(edited)
				u := Align(left, Outline(h, Options{}), Options{})
				u.Fill(nil, h)
				u.Fill(read(data), nil)
				u.Finish()
				assert.Assert(b, !u.Diff.Equal)
			}
		})
	}
}

// A result that says more than the report is a difference, unless it is what the
// client is known to put behind it.
func TestWhatAResultAddsToAReport(t *testing.T) {
	for result, holds := range map[string]bool{
		"short":    true,
		" short\n": true,
		"short\nagentId: a1 (for resuming)\n<usage>total_tokens: 5\ntool_uses: 1</usage>\n": true,
		"short\n<usage>total_tokens: 5</usage>":                                             true,
		"shortagentId: a1":                                                                  true,
		"short\nand more":                                                                   false,
		"first short":                                                                       false,
		"short\nagentId: a1\nand more":                                                      false,
		"short\n<usage>5</usage> and more":                                                  false,
	} {
		b := transcripts.NewHistory("run", "", "test")
		root := b.Root()
		root.Add(runtime.UserMessage("go"))
		root.Answer(answer("", "call_00000001", "task", `{"prompt":"see"}`), transcripts.Spot{})
		child := root.Child("call_00000001")
		child.Add(runtime.UserMessage("see"))
		child.Answer(answer("short", "", "", ""), transcripts.Spot{})
		root.Add(runtime.ToolMessage("call_00000001", result))
		root.Answer(answer("fine", "", "", ""), transcripts.Spot{})
		d := ParentChild(b.History(), Options{})
		assert.Equal(t, d.Holds(), holds, "%q", result)
		assert.Equal(t, d.Children[0].ReportExtra, !holds, "%q", result)
	}
}
