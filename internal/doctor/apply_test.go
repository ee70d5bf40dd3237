package doctor

import (
	"fmt"
	"strings"
	"testing"

	"gotest.tools/v3/assert"
)

func TestRulesAreWrittenIntoTheSection(t *testing.T) {
	for _, c := range []struct{ name, scenario, want string }{
		{"an empty file", "", "-- volatile --\ndates\n/x (y)/\n"},
		{"no section", "# mine\ntags: a\n-- prompt --\nhi\n", "# mine\ntags: a\n-- prompt --\nhi\n-- volatile --\ndates\n/x (y)/\n"},
		{"no final line end", "# mine", "# mine\n-- volatile --\ndates\n/x (y)/\n"},
		{"a section at the end", "-- volatile --\n# ours\nuuids\n", "-- volatile --\n# ours\nuuids\ndates\n/x (y)/\n"},
		{"a section in the middle, and a blank line", "-- volatile --\nuuids\n\n-- prompt --\nhi\n", "-- volatile --\nuuids\ndates\n/x (y)/\n\n-- prompt --\nhi\n"},
		{"a section without final line end", "-- volatile --\nuuids", "-- volatile --\nuuids\ndates\n/x (y)/"},
		{"an empty section", "-- volatile --\n-- prompt --\nhi\n", "-- volatile --\ndates\n/x (y)/\n-- prompt --\nhi\n"},
		{"one is there", "-- volatile --\n  dates\n", "-- volatile --\n  dates\n/x (y)/\n"},
		{"both are there", "-- volatile --\n/x (y)/\ndates\n", "-- volatile --\n/x (y)/\ndates\n"},
		{"other line ends", "\ufeff-- volatile --\r\nuuids\r\n\r\n-- prompt --\r\n", "\ufeff-- volatile --\r\nuuids\r\ndates\r\n/x (y)/\r\n\r\n-- prompt --\r\n"},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := Apply([]byte(c.scenario), []string{"dates", "/x (y)/", "dates"})
			assert.Equal(t, string(got), c.want)
			assert.Equal(t, string(Apply(got, []string{"dates", "/x (y)/"})), c.want)
		})
	}
}

// FuzzApply: nothing that was there is lost, and a second time changes nothing.
func FuzzApply(f *testing.F) {
	f.Add("-- volatile --\nx\n\n-- a --\n", "dates")
	f.Add("a", "/b/")
	f.Fuzz(func(t *testing.T, scenario, rule string) {
		if strings.TrimSpace(rule) != rule || rule == "" || strings.ContainsAny(rule, "\r\n") || strings.HasPrefix(rule, "--") {
			return
		}
		once := Apply([]byte(scenario), []string{rule})
		assert.Equal(t, string(Apply(once, []string{rule})), string(once))
		added := len(once) - len(scenario)
		for i := range len(scenario) + 1 {
			if string(once[:i]) == scenario[:i] && string(once[i+max(0, added):]) == scenario[i:] {
				return
			}
		}
		t.Errorf("%q became %q", scenario, once)
	})
}

func TestADiagnosisIsShown(t *testing.T) {
	long := strings.Repeat("long ago and far away ", 10)
	given := []Difference{
		text(long+"id=0a0b0c\nend", long+"id=111111\nend", long+"id=222222\nend"),
		at("/model", text("m1", "m2", "m2")),
		{Agent: "root/1.1", Turn: 3, Recorded: Text{'{', "a request"}, Runs: []Text{{}, {'{', "a request"}}, Places: 2},
	}
	d, err := Analyse(given, nil)
	assert.NilError(t, err)
	var out strings.Builder
	d.Write(&out, func(text string) string { return strings.ReplaceAll(text, "far", "FAR") })
	assert.Equal(t, "\n"+out.String(), `
proposed:
  /\bid=([0-9a-f]{6})\b/
    a word that is another one each time, in 1 place
      root turn 2 /messages/2/content
        recorded: …ar away long ago and FAR away id=0a0b0c
        run 1:    …ar away long ago and FAR away id=111111
        run 2:    …ar away long ago and FAR away id=222222
no rule mends:
  changed: the model changed since the recording, in both runs alike: record again if it is meant, in 1 place
      root turn 2 /model
        recorded: m1
        sent:     m2
  runs: one run asks this and another one does not, in 2 places
      root/1.1 turn 3
        recorded: a request
        run 1:    (nothing)
        run 2:    a request
`)
}

func TestExcerptsAreCutBetweenCharacters(t *testing.T) {
	long := strings.Repeat("é", 200)
	assert.Equal(t, fmt.Sprint(excerpts([]Text{{'"', long + "a"}, {'"', long + "b"}})),
		fmt.Sprintf("[…%s …%s]", strings.Repeat("é", 17)+"a", strings.Repeat("é", 17)+"b"))
}
