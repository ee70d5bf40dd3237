package doctor

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/tapetree/tapetree/record"
	"gotest.tools/v3/assert"
)

// A rule for an order makes equal any order of the same things, and nothing
// else.
func TestOrderRules(t *testing.T) {
	var many []string
	for i := range 400 {
		many = append(many, fmt.Sprintf("a-long-name-%d.txt", i))
	}
	for _, c := range []struct {
		name            string
		recorded, other string
		rule            string
		same, differ    string // further versions
	}{
		{"one begins another", "Files:\na\nab\nb", "Files:\nab\na\nb", `/(?m:^)((?:(?:a|ab)\n){1}(?:a|ab))(?m:$)/`, "Files:\na\nab\nb", "Files:\nab\nc\nb"},
		{"a line twice, and an empty one", "x\n\ny\nx", "\nx\nx\ny", `/(?m:^)((?:(?:|x|y)\n){3}(?:|x|y))(?m:$)/`, "y\nx\nx\n", "y\nx\n"},
		{"words between others", "Use red, blue, or green now.", "Use green, blue, or red now.", "", "", ""},
		{"words with one separator", "Use [red, blue, green] now.", "Use [green, red, blue] now.", `/^Use \[((?:(?:blue|green|red), ){2}(?:blue|green|red))\] now\.$/`, "Use [blue, red, green] now.", "Use [blue, red, grey] now."},
		{"too long to be read", strings.Join(many, "\n"), strings.Join(append(many[1:len(many):len(many)], many[0]), "\n"), "", "", ""},
		{"what is not printed", "a\x01\nb", "b\na\x01", "", "", ""},
	} {
		found, err := Analyse([]Difference{{Agent: "root", Turn: 1, Pointer: "/messages/0/content", Recorded: Text{'"', c.recorded}, Runs: []Text{{'"', c.other}, {'"', c.recorded}}}}, nil)
		assert.NilError(t, err)
		assert.Equal(t, strings.Join(found.Lines(), "\n"), c.rule, c.name)
		rules, err := record.ParseVolatile(found.Lines())
		assert.NilError(t, err)
		if c.rule != "" {
			want := rules.Apply(c.recorded, nil)
			assert.Equal(t, rules.Apply(c.other, nil), want, c.name)
			assert.Equal(t, rules.Apply(c.same, nil), want, c.name)
			assert.Assert(t, rules.Apply(c.differ, nil) != want, c.name)
		}
	}
}

// TestTheLinesThatMovedAreShown, not what stands before them.
func TestTheLinesThatMovedAreShown(t *testing.T) {
	const head = "A long first line, which is always the same in every run of this program.\nrun "
	for _, c := range []struct{ first, second, want string }{
		{"c.txt\na.txt\nb.txt", "a.txt\nc.txt\nb.txt", "b.txt\nc.txt\na.txt | c.txt\na.txt\nb.txt | a.txt\nc.txt\nb.txt"},
		{"a.txt\nc.txt\nb.txt", "a.txt\nc.txt\nb.txt", "b.txt\nc.txt\na.txt | a.txt\nc.txt\nb.txt | a.txt\nc.txt\nb.txt"},
	} {
		d, err := Analyse([]Difference{text(head+"0a0b0c1\nb.txt\nc.txt\na.txt\nend", head+"1a1b1c2\n"+c.first+"\nend", head+"2a2b2c3\n"+c.second+"\nend")}, nil)
		assert.NilError(t, err)
		proposals := slices.Concat(d.Rules, d.Others)
		last := proposals[len(proposals)-1]
		assert.Equal(t, last.Kind, KindOrder)
		var shown []string
		for _, v := range last.Evidence.texts() {
			shown = append(shown, v.Text)
		}
		assert.Equal(t, strings.Join(shown, " | "), c.want)
	}
}
