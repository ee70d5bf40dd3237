package scenarios

import (
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"gotest.tools/v3/assert"

	"github.com/tapetree/tapetree/record"
)

func TestWordsOfACommand(t *testing.T) {
	for line, want := range map[string][]string{
		`agent`:                               {"agent"},
		`  python  agent.py   --fast `:        {"python", "agent.py", "--fast"},
		`agent 'two words' "and $\" three"`:   {"agent", "two words", `and $" three`},
		`agent 'two words' "and \" three"`:    {"agent", "two words", `and " three`},
		`agent a\ b \*.md ''`:                 {"agent", "a b", "*.md", ""},
		`agent $'tab\there'`:                  {"agent", "tab\there"},
		`sh -c 'a $B | c > d'`:                {"sh", "-c", "a $B | c > d"},
		`py {{project}}/a.py 'a {{project}}'`: {"py", "{{project}}/a.py", "a {{project}}"},
		`py {{project}}/*.py`:                 nil,
		`agent a=b --set=x`:                   {"agent", "a=b", "--set=x"},
	} {
		words, err := splitWords(line)
		if diff := cmp.Diff(want, words); diff != "" || (err == nil) != (want != nil) {
			t.Errorf("%s: %v\n%s", line, err, diff)
		}
	}
}

// Scenarios are parsed by several goroutines, none of which may see another's
// words.
func TestCommandsParsedAtOnceKeepTheirWords(t *testing.T) {
	var parsers sync.WaitGroup
	for i := range 8 {
		parsers.Go(func() {
			want := []string{fmt.Sprint("agent-", i), fmt.Sprint("two words of ", i), "it's"}
			line := formatCommand(&Scenario{Command: want})
			for range 200 {
				words, err := splitWords(line)
				if diff := cmp.Diff(want, words); diff != "" || err != nil {
					t.Errorf("%s: %v\n%s", line, err, diff)
					return
				}
			}
		})
	}
	parsers.Wait()
}

// Every command that can be written is read again, whatever its words hold.
func FuzzCommandsSurviveTheFormat(f *testing.F) {
	f.Add("agent\x00two words\x00$HOME '\"\\ *\x00\x00~")
	f.Add("agent\x00tab\t, newline\n and é")
	f.Add("=\x00a=b\x00-- prompt --")
	f.Fuzz(func(t *testing.T, joined string) {
		words := strings.Split(joined, "\x00")
		if words[0] == "" {
			return
		}
		s := &Scenario{Name: "x", File: "x.txtar", Transcript: "x", Golden: "x", Command: words}
		back, err := Parse(s.File, Format(s), nil)
		if err != nil { // RecordCommand refuses to keep it
			return
		}
		if diff := cmp.Diff(words, back.Command); diff != "" && strings.ToValidUTF8(joined, "") == joined {
			t.Error(diff)
		}
	})
}

func TestFormatWritesCommandAndFaults(t *testing.T) {
	fault, err := record.ParseFault("root/2.1#1 status 429 retry-after=2 times=2")
	assert.NilError(t, err)
	s := &Scenario{Name: "x", File: "x.txtar", Transcript: "x", Golden: "x",
		Command: []string{"python", "my agent.py", "it's\n$HOME"}, Faults: []record.Fault{fault}}
	text := Format(s)
	assert.Equal(t, string(text), "command: python 'my agent.py' $'it\\'s\\n$HOME'\n-- faults --\nroot/2.1#1 status 429 retry-after=2 times=2\n")
	back, err := Parse("x.txtar", text, nil)
	assert.NilError(t, err)
	assert.DeepEqual(t, back.Command, s.Command)
	assert.DeepEqual(t, back.Faults, s.Faults)
}
