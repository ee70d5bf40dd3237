package scenarios

import (
	"fmt"
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/google/go-cmp/cmp"
	"gotest.tools/v3/assert"

	"github.com/tapetree/tapetree/record"
	"github.com/tapetree/tapetree/runtime"
	"github.com/tapetree/tapetree/transcripts"
)

// talker plays one agent of a history of messages.
type talker struct {
	t  *testing.T
	to *transcripts.AgentBuilder
}

// stranger begins a history as a reader of somebody's file would.
func stranger(t *testing.T) (*transcripts.HistoryBuilder, *talker) {
	b := transcripts.NewHistory("some.jsonl", "", "some")
	root := &talker{t, b.Root()}
	return b, root.told("Find out what is wrong in the folder src and mend it.")
}

func (p *talker) told(text string) *talker {
	p.to.Add(runtime.UserMessage(text))
	return p
}

func (p *talker) got(id, result string) *talker {
	p.to.Add(runtime.ToolMessage(id, result))
	return p
}

// did makes a call and takes its result.
func (p *talker) did(id, name, arguments, result string) *talker {
	return p.asked(id, name, arguments).got(id, result)
}

func (p *talker) asked(id, name, arguments string) *talker {
	return p.answer(fmt.Sprintf(`{"role":"assistant","content":null,"tool_calls":[%s]}`, callJSON(id, name, arguments)))
}

// both makes two calls in one answer.
func (p *talker) both(first, second [3]string) *talker {
	return p.answer(fmt.Sprintf(`{"role":"assistant","content":null,"tool_calls":[%s,%s]}`,
		callJSON(first[0], first[1], first[2]), callJSON(second[0], second[1], second[2])))
}

func callJSON(id, name, arguments string) string {
	quoted, _ := jsontext.AppendQuote(nil, arguments)
	return fmt.Sprintf(`{"id":%q,"type":"function","function":{"name":%q,"arguments":%s}}`, id, name, quoted)
}

func (p *talker) said(text string) *talker {
	quoted, _ := jsontext.AppendQuote(nil, text)
	return p.answer(`{"role":"assistant","content":` + string(quoted) + `}`)
}

func (p *talker) answer(message string) *talker {
	m, err := runtime.ParseMessage([]byte(message))
	assert.NilError(p.t, err)
	p.to.Answer(&runtime.Answer{Message: m}, transcripts.Spot{})
	return p
}

// child begins the agent that a call started.
func (p *talker) child(id string) *talker { return &talker{p.t, p.to.Child(id)} }

func taskArguments(prompt string, more ...string) string {
	quoted, _ := jsontext.AppendQuote(nil, prompt)
	return `{"description":"a part","prompt":` + string(quoted) + strings.Join(more, "") + `}`
}

const (
	goodBrief  = "Find the callers of parse() in src/parse.go and list them with file and line."
	goodReport = "parse() is called in src/main.go:12 and in src/read.go:40; both pass the whole text."
	secretText = "internal note of the billing team: invoices of March were counted twice, see ledger row 4711 and row 4712\n"
)

// delegates is a parent that hands one task down and answers; work plays the
// child, between its brief and its report.
func delegates(t *testing.T, brief, report, answer string, work func(child *talker)) *transcripts.History {
	b, root := stranger(t)
	root.asked("p1", "Task", taskArguments(brief))
	child := root.child("p1").told(brief)
	work(child)
	child.said(report)
	root.got("p1", report).said(answer)
	return b.History()
}

func works(child *talker) {
	child.did("k1", "Grep", `{"pattern":"parse("}`, "src/main.go:12: parse(text)\nsrc/read.go:40: parse(all)\n").
		did("k2", "Read", `{"file_path":"src/main.go"}`, "func main() { parse(text) }\n")
}

func one(code string, agent runtime.Path, turn int, message string) []record.Finding {
	return []record.Finding{{Code: code, Agent: agent, Turn: turn, Message: message}}
}

// TestEachFindingOfAForeignHistoryAlone plays for each finding a history that
// has it and nothing else, so that a check that does not look is seen.
func TestEachFindingOfAForeignHistoryAlone(t *testing.T) {
	fine := "The callers are known; src/parse.go can be changed."
	for _, c := range append(delegationCases(), []historyCase{
		{"a good history", func(t *testing.T) *transcripts.History { return delegates(t, goodBrief, goodReport, fine, works) }, nil},
		{"a call at the end without a result", func(t *testing.T) *transcripts.History {
			b, root := stranger(t)
			root.asked("c1", "Read", `{"file_path":"a"}`)
			return b.History()
		}, one("pairing/unanswered", "root", 1, `the call "c1" (Read) has no result`)},
		{"a delegation without a result", func(t *testing.T) *transcripts.History {
			b, root := stranger(t)
			root.asked("c1", "Task", taskArguments(goodBrief)).told("Go on without it.").said("Well then.")
			return b.History()
		}, one("pairing/unanswered", "root", 2, `the call "c1" (Task), which starts an agent, has no result`)},
		{"a result of no call", func(t *testing.T) *transcripts.History {
			b, root := stranger(t)
			root.did("c1", "Read", `{"file_path":"a"}`, "x").got("c9", "y").said(fine)
			return b.History()
		}, one("pairing/orphan", "root", 2, `message 4: a result for the call "c9", which the answer before it does not have`)},
		{"one id in three turns", func(t *testing.T) *transcripts.History {
			b, root := stranger(t)
			root.did("c1", "Read", `{"file_path":"a"}`, "x").did("c1", "Read", `{"file_path":"b"}`, "y").did("c1", "Read", `{"file_path":"c"}`, "z").said(fine)
			return b.History()
		}, one("pairing/duplicate-id", "root", 2, `the id "c1" is used in 3 turns: 1, 2, 3`)},
		{"arguments that are no JSON", func(t *testing.T) *transcripts.History {
			b, root := stranger(t)
			root.did("c1", "Read", `path=a`, "x").said(fine)
			return b.History()
		}, one("arguments/invalid-json", "root", 1, `call 1 (Read): the arguments are no JSON: "path=a"`)},
		{"arguments that are a list", func(t *testing.T) *transcripts.History {
			b, root := stranger(t)
			root.did("c1", "Read", `["a"]`, "x").did("c2", "List", ``, "x").did("c3", "List", `null`, "x").said(fine)
			return b.History()
		}, one("arguments/invalid-json", "root", 1, `call 1 (Read): the arguments are no JSON object: "[\"a\"]"`)},
		{"a call that was cut off ran", func(t *testing.T) *transcripts.History {
			b, root := stranger(t)
			root.did("c1", "Write", `{"file_path":"a","content":"one`, "wrote a").said(fine)
			return b.History()
		}, one("truncated/executed", "root", 1, `call 1 (Write) of an answer that was cut off ran: "wrote a"`)},
		{"a call that was cut off did not run", func(t *testing.T) *transcripts.History {
			b, root := stranger(t)
			root.did("c1", "Write", `{"file_path":"a","content":"one`, "Error: no JSON").said(fine)
			return b.History()
		}, one("arguments/invalid-json", "root", 1, `call 1 (Write): the arguments break off: "{\"file_path\":\"a\",\"content\":\"one"`)},
		{"a secret", func(t *testing.T) *transcripts.History {
			b, root := stranger(t)
			root.did("c1", "Read", `{"file_path":".env"}`, "the key is "+someKey).said(fine)
			return b.History()
		}, one("secret/present", "root", 2, "a secret (openai) stands in message 3 (tool)")},
	}...) {
		t.Run(c.name, func(t *testing.T) {
			if diff := cmp.Diff(c.want, CheckHistory(c.play(t), CheckOptions{})); diff != "" {
				t.Fatal(diff)
			}
		})
	}
}

type historyCase struct {
	name string
	play func(t *testing.T) *transcripts.History
	want []record.Finding
}

func TestThresholdsAreNamedNumbers(t *testing.T) {
	for text, want := range map[string]string{
		"limit.child-turns=3":                "",
		"limit.child-turn=3":                 `no threshold "limit.child-turn", did you mean limit.child-turns?`,
		"limit.child-turns":                  `limit.child-turns takes a whole number from 0, as in limit.child-turns=0, not ""`,
		"delegation.long-report.words=-1":    `delegation.long-report.words takes a whole number from 0, as in delegation.long-report.words=300, not "-1"`,
		"delegation.long-report.words=three": `delegation.long-report.words takes a whole number from 0, as in delegation.long-report.words=300, not "three"`,
	} {
		err := Thresholds{}.Set(text)
		if want == "" {
			assert.NilError(t, err)
			continue
		}
		assert.Error(t, err, want)
	}
	assert.ErrorContains(t, Thresholds{}.Set("colour=1"), `no threshold "colour"; there are delegation.long-report.words, `)
	h := delegates(t, goodBrief, goodReport, "Done with src/parse.go.", works)
	set := Thresholds{}
	assert.NilError(t, set.Set("limit.child-turns=2"))
	want := one("limit/exceeded", "root/1.1", 3, "expected at most 2 turns, got 3")
	if diff := cmp.Diff(want, CheckHistory(h, CheckOptions{Thresholds: set})); diff != "" {
		t.Fatal(diff)
	}
}

func TestThePageNamesEveryThreshold(t *testing.T) {
	text := page(t, "findings.md")
	for _, known := range AllThresholds() {
		row := fmt.Sprintf("\n| `%s` | %d | %s |\n", known.Name, known.Default, known.Meaning)
		assert.Assert(t, strings.Contains(text, row), "no row %s", row)
	}
}
