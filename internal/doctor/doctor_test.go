package doctor

import (
	"fmt"
	"strings"
	"testing"

	"github.com/tapetree/tapetree/record"
	"gotest.tools/v3/assert"
)

// text is a difference of the third message of root's second turn.
func text(recorded string, runs ...string) Difference {
	d := Difference{Agent: "root", Turn: 2, Pointer: "/messages/2/content", Recorded: Text{'"', recorded}, Places: 1}
	for _, r := range runs {
		d.Runs = append(d.Runs, Text{'"', r})
	}
	return d
}

func at(pointer string, d Difference) Difference {
	d.Pointer = pointer
	return d
}

func value(kind byte, recorded string, runs ...string) Difference {
	d := text(recorded, runs...)
	d.Recorded.Kind = kind
	for i := range d.Runs {
		d.Runs[i].Kind = kind
	}
	return d
}

// rendered gives a diagnosis: rules, then what no rule mends.
func rendered(d *Diagnosis) string {
	var out []string
	for _, p := range d.Rules {
		out = append(out, fmt.Sprintf("%s %d %s", p.Kind, p.Places, p.Rule))
	}
	for _, p := range d.Others {
		out = append(out, fmt.Sprintf("%s %d: %s", p.Kind, p.Places, p.Say))
	}
	return strings.Join(out, "\n")
}

func TestWhatExplainsADifference(t *testing.T) {
	for _, c := range []struct {
		name    string
		inForce []string
		given   []Difference
		want    string
	}{
		{"nothing differs", nil, nil, ""},
		{"a date that passed since the recording", nil,
			[]Difference{text("Today is 2026-01-02.", "Today is 2026-11-30.", "Today is 2026-11-30.")}, "set 1 dates"},
		{"the rules in force cover it", []string{"dates"},
			[]Difference{text("Today is 2026-01-02.", "Today is 2026-11-30.", "Today is 2026-11-30.")}, ""},
		{"a uuid", nil, []Difference{text("run 01890a5d-ac96-774b-bcce-b302099a8057", "run 11890a5d-ac96-774b-bcce-b302099a8057", "run 21890a5d-ac96-774b-bcce-b302099a8057")}, "set 1 uuids"},
		{"a port", nil, []Difference{text("see http://localhost:4711/x", "see http://localhost:4712/x", "see http://localhost:4713/x")}, "set 1 ports"},
		{"a duration", nil, []Difference{text("ok  pkg  0.012s", "ok  pkg  0.013s", "ok  pkg  0.014s")}, "set 1 durations"},
		{"two sets in one text", nil,
			[]Difference{text("2026-01-02 took 3ms", "2026-01-03 took 4ms", "2026-01-03 took 5ms")}, "set 1 dates\nset 1 durations"},
		{"a random word", nil,
			[]Difference{text("run id=8f3a2c is on", "run id=91bc07 is on", "run id=0a0a0b is on")}, `token 1 /\bid=([0-9a-f]{6})\b/`},
		{"a random word alone", nil, []Difference{text("8f3a2c91", "91bc07aa", "0a0a0b0c")}, "token 1 /^([0-9a-f]{8})$/"},
		{"a random folder", nil,
			[]Difference{text("wrote {{tmp}}/agent-8f3a/out.txt now, all of it", "wrote {{tmp}}/agent-91bc/out.txt now, all of it", "wrote {{tmp}}/agent-77aZ/out.txt now, all of it")},
			`token 1 /\{\{tmp\}\}/agent-([^/\\\s"',;()<>]+)/out\.txt/`},
		{"a random number in a JSON line", nil,
			[]Difference{text(`{"ok":true,"pid":4711,"name":"x"}`, `{"ok":true,"pid":4712,"name":"x"}`, `{"ok":true,"pid":81,"name":"x"}`)},
			`token 1 /"pid":([0-9]+)/`},
		{"a random word among dates", nil,
			[]Difference{text("2026-01-02 session s_Ab1 begins", "2026-01-03 session s_Zz9 begins", "2026-01-03 session s_q0Q begins")},
			"set 1 dates\n" + `token 1 /\bsession s_([0-9A-Za-z_-]+)/`},
		{"two random words of a line", nil,
			[]Difference{text("a=111111 and b=222222.", "a=333333 and b=444444.", "a=555555 and b=666666.")},
			"token 1 /^a=([0-9]+) and/\n" + `token 1 /\band b=([0-9]+)/`},
		{"the user's folder on another machine", nil,
			[]Difference{text("cwd: /home/alice/proj", "cwd: /home/bob/proj", "cwd: /home/bob/proj")},
			"path 1 //home/([0-9A-Za-z_-]+)/proj/"},
		{"lines in another order", nil, []Difference{text("b.txt\na.txt", "a.txt\nb.txt", "b.txt\na.txt")},
			`order 1 /(?m:^)((?:(?:a\.txt|b\.txt)\n){1}(?:a\.txt|b\.txt))(?m:$)/`},
		{"a set printed in another order", nil, []Difference{text("tags: {red, blue}", "tags: {blue, red}", "tags: {red, blue}")},
			`order 1 /^tags: \{((?:(?:blue|red), ){1}(?:blue|red))\}$/`},
		{"tools in another order", nil, []Difference{at("/tools", value('[', `[{"a":1},{"b":2}]`, `[{"b":2},{"a":1}]`, `[{"a":1},{"b":2}]`))},
			"order 1: the same tools in another order: sort them in the program, for no rule can"},
		{"tools in another order in both runs", nil, []Difference{at("/tools", value('[', `[{"a":1},{"b":2}]`, `[{"b":2},{"a":1}]`, `[{"b":2},{"a":1}]`))},
			"order 1: the same tools in another order: both runs have the one, the recording another: record again if it is meant"},
		{"lines in another order in both runs", nil, []Difference{text("run 0a0b0c1\na.txt\nb.txt", "run 1a1b1c2\nb.txt\na.txt", "run 2a2b2c3\nb.txt\na.txt")},
			`token 1 /\brun ([0-9a-f]{7})\b/` + "\norder 1: the same lines in another order: both runs have the one, the recording another: record again if it is meant"},
		{"lines in another order, with dates", nil,
			[]Difference{text("b 2026-01-02\na 2026-01-03", "a 2026-02-02\nb 2026-02-03", "b 2026-02-02\na 2026-02-03")},
			"order 1: the same lines in another order: sort them in the program, for no rule can"},
		{"a list in another order below a random word", nil,
			[]Difference{text("run 0a0b0c1\na.txt\nb.txt", "run 1a1b1c2\nb.txt\na.txt", "run 2a2b2c3\na.txt\nb.txt")},
			`token 1 /\brun ([0-9a-f]{7})\b/` + "\n" + `order 1 /(?m:^)((?:(?:a\.txt|b\.txt)\n){1}(?:a\.txt|b\.txt))(?m:$)/`},
		{"words in another order below a random word", nil,
			[]Difference{text("run 0a0b0c1\n[a, b]", "run 1a1b1c2\n[b, a]", "run 2a2b2c3\n[a, b]")},
			`token 1 /\brun ([0-9a-f]{7})\b/` + "\n" + `order 1 /(?m:^)\[((?:(?:a|b), ){1}(?:a|b))\]$/`},
		{"another order, and another sentence each time", nil,
			[]Difference{text("all is well\na\nb", "nothing much to say\nb\na", "fine\na\nb")},
			`order 1 /(?m:^)((?:(?:a|b)\n){1}(?:a|b))(?m:$)/` + "\nruns 1: differs between the runs, and no narrow rule covers it"},
		{"a number", nil, []Difference{at("/seed", value('0', "1", "2", "3"))},
			"number 1: a number that differs between the runs: fix it in the program, rules are for texts"},
		{"another model", nil, []Difference{at("/model", text("gpt-a", "gpt-b", "gpt-b"))},
			"changed 1: the model changed since the recording, in both runs alike: record again if it is meant"},
		{"another prompt", nil, []Difference{at("/messages/0/content", text("Be good.", "Be very good.", "Be very good."))},
			"changed 1: the prompt changed since the recording, in both runs alike: record again if it is meant"},
		{"a parameter that came", nil, []Difference{at("/top_p", Difference{Agent: "root", Turn: 1, Runs: []Text{{'0', "1"}, {'0', "1"}}})},
			"changed 1: a parameter changed since the recording, in both runs alike: record again if it is meant"},
		{"another sentence each time", nil, []Difference{text("all is well", "nothing much to say here", "it is fine")},
			"runs 1: differs between the runs, and no narrow rule covers it"},
		{"a request that one run does not make", nil, []Difference{{Agent: "root", Turn: 3, Recorded: Text{'{', "a request"}, Runs: []Text{{}, {'{', "a request"}}}},
			"runs 1: one run asks this and another one does not"},
		{"a request that no run makes", nil, []Difference{{Agent: "root", Turn: 3, Recorded: Text{'{', "a request"}, Runs: []Text{{}, {}}}},
			"changed 1: asked in the recording, and in neither run: record again if it is meant"},
		{"two requests that no run makes", nil, []Difference{
			{Agent: "root", Turn: 3, Recorded: Text{'{', "a request"}, Runs: []Text{{}, {}}, Places: 1},
			{Agent: "root", Turn: 4, Recorded: Text{'{', "a request"}, Runs: []Text{{}, {}}, Places: 1},
		}, "changed 2: asked in the recording, and in neither run: record again if it is meant"},
		{"a date in a prompt that changed too", nil,
			[]Difference{at("/messages/0/content", text("Be good.\nToday is 2026-01-02.", "Be bad.\nToday is 2026-01-03.", "Be bad.\nToday is 2026-01-03."))},
			"set 1 dates\nchanged 1: the prompt changed since the recording, in both runs alike: record again if it is meant"},
		{"one rule for many places", nil, []Difference{
			text("run id=8f3a2c is on", "run id=91bc07 is on", "run id=0a0a0b is on"),
			text("run id=8f3a2c is on", "run id=91bc07 is on", "run id=0a0a0d is on"),
		}, `token 2 /\bid=([0-9a-f]{6})\b/`},
	} {
		t.Run(c.name, func(t *testing.T) {
			d, err := Analyse(c.given, c.inForce)
			assert.NilError(t, err)
			assert.Equal(t, rendered(d), c.want)
		})
	}
}

func TestARuleInForceThatIsNone(t *testing.T) {
	_, err := Analyse(nil, []string{"datse"})
	assert.ErrorContains(t, err, `parse volatile rule "datse"`)
}

// TestClasses: a few samples say little about what else a word is made of.
func TestClasses(t *testing.T) {
	for _, c := range []struct{ want, values string }{
		{"[0-9]+", "4711 4712"}, {"[0-9]+", "1700000000000 1700000000001"}, {"[0-9a-f]{8}", "0a0b0c0d 12345678"}, {"[0-9A-Za-z_-]+", "0a 0b0"},
		{"[0-9a-f]{4}", "8f3a 91bc 77ad"}, {"[0-9A-Za-z_-]+", "8f3a 91bc 8f3a"}, {"[0-9A-F]{6}", "0A0B0C 123456"},
		{"[0-9A-Za-z_-]+", "308zf6ya 5k1m2n3o xq7wv0yt"}, {"[0-9A-Za-z_-]+", "red blue"}, {"[0-9A-Za-z_-]+", "a_B-11 a_B-12"},
		{"[0-9A-Za-z_/+=-]+", "a/B+1= a/B+2="}, {"[0-9A-Za-z_.-]+", "a.b a.c"},
		{`[^\s"']+`, "é1 é22"}, {`\S+`, `a" b"c`},
	} {
		assert.Equal(t, classOf(strings.Fields(c.values)), c.want, c.values)
	}
}

// TestContexts: a rule holds the shortest fixed text that tells the word from
// others, and nothing that is a result.
func TestContexts(t *testing.T) {
	for _, c := range []struct{ line, rule string }{ // % is the word
		{"wrote {{tmp}}/job-%.log, 3", `/\{\{tmp\}\}/job-([^/\\\s"',;()<>]+)\.log/`},
		{"{{tmp}}/%", `/\{\{tmp\}\}/([^/\\\s"',;()<>]+)/`},
		{"Your session is s-%.", `/\bis s-([0-9A-Za-z_-]+)/`},
		{`{"name":"%","n":3}`, `/"name":"([0-9A-Za-z_-]+)/`},
		{"%", `/^([0-9A-Za-z_-]+)$/`},
		{"% is the key of 3 others", `/^([0-9A-Za-z_-]+) is/`},
		{"3 files in x86-%", `/^3 files in x86-([0-9A-Za-z_-]+)$/`},
		{"12 files in job_%", `/\bjob_([0-9A-Za-z_-]+)/`},
		{"run % and run fast", `/\brun ([0-9A-Za-z_-]+) and/`},
		{"job job-%: job-list", `/\bjob-([0-9A-Za-z_-]+): job-list$/`},
	} {
		of := func(word string) string { return strings.Replace(c.line, "%", word, 1) }
		d, err := Analyse([]Difference{text(of("308zf6ya"), of("5k1m2n3o"), of("xq7wv0yt"))}, nil)
		assert.NilError(t, err)
		assert.Equal(t, strings.Join(d.Lines(), "\n"), c.rule, c.line)
		assert.Equal(t, len(d.Others), 0, c.line)
		v, err := record.ParseVolatile(d.Lines())
		assert.NilError(t, err)
		assert.Equal(t, v.Apply(of("_b3_9x"), nil), v.Apply(of("308zf6ya"), nil), c.line)
	}
}

// FuzzAnalyse: whatever the texts are, a difference is mended by the proposed
// rules or named, never both and never neither.
func FuzzAnalyse(f *testing.F) {
	f.Add("id=8f3a2c\nx", "id=91bc07\nx", "id=0a0a0b\nx")
	f.Add("2026-01-02", "2026-01-03", "")
	f.Add("a b", "b a", "a b")
	f.Add("é1\xff", "é2\xff", "é3\xff")
	f.Add("⟨date⟩ x1", "⟨ x2", "⟩ x3")
	f.Fuzz(func(t *testing.T, recorded, first, second string) {
		difference := text(recorded, first, second)
		d, err := Analyse([]Difference{difference}, nil)
		assert.NilError(t, err)
		v, err := record.ParseVolatile(d.Lines())
		assert.NilError(t, err, "%q", d.Lines())
		equal := v.Apply(recorded, nil) == v.Apply(first, nil) && v.Apply(first, nil) == v.Apply(second, nil)
		assert.Equal(t, equal, len(d.Others) == 0, "%q", d.Lines())
		for _, rule := range d.Lines() {
			assert.Assert(t, !strings.ContainsAny(rule, "\r\n"), "%q", rule)
		}
	})
}
