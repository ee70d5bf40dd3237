package doctor

import (
	"fmt"
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/tapetree/tapetree/runtime"
	"github.com/tapetree/tapetree/transcripts"
	"gotest.tools/v3/assert"
)

// asked is one request: its messages as JSON, and what else it says.
type asked struct {
	agent    runtime.Path
	turn     int
	model    string
	tools    string
	params   []runtime.Param
	messages []string
}

func file(t *testing.T, requests ...asked) *transcripts.File {
	t.Helper()
	f := &transcripts.File{}
	for _, r := range requests {
		var h runtime.History
		for _, raw := range r.messages {
			m, err := runtime.ParseMessage([]byte(raw))
			assert.NilError(t, err)
			h.Append(m)
		}
		e := &transcripts.Exchange{Agent: r.agent, Turn: r.turn, Try: 1, Model: r.model, Params: r.params, Messages: h.View()}
		if r.tools != "" {
			e.Tools = jsontext.Value(r.tools)
		}
		f.Exchanges = append(f.Exchanges, e)
	}
	return f
}

func user(text string) string { return fmt.Sprintf(`{"role":"user","content":%q}`, text) }

func calling(id, arguments string) string {
	return fmt.Sprintf(`{"role":"assistant","content":null,"tool_calls":[{"id":%q,"type":"function","function":{"name":"f","arguments":%q}}]}`, id, arguments)
}

// shown gives differences one a line: place, places, the versions.
func shown(differences []Difference) string {
	var out []string
	for _, d := range differences {
		var versions []string
		for _, v := range d.texts() {
			if v.Kind == 0 {
				versions = append(versions, "-")
			} else {
				versions = append(versions, v.Text)
			}
		}
		out = append(out, fmt.Sprintf("%s#%d %s x%d: %s", d.Agent, d.Turn, d.Pointer, d.Places, strings.Join(versions, " | ")))
	}
	return strings.Join(out, "\n")
}

func TestWhatIsCollected(t *testing.T) {
	ask := func(messages ...string) asked { return asked{agent: "root", turn: 1, model: "m", messages: messages} }
	again := func(a asked, messages ...string) asked {
		a.turn, a.messages = a.turn+1, append(a.messages[:len(a.messages):len(a.messages)], messages...)
		return a
	}
	for _, c := range []struct {
		name          string
		recorded, run []asked
		second        []asked
		want          string
	}{
		{"all the same", []asked{ask(user("a"))}, []asked{ask(user("a"))}, []asked{ask(user("a"))}, ""},
		{"another form of the same JSON", []asked{ask(`{"role":"user","content":"a"}`)}, []asked{ask(`{"content":"a", "role":"user"}`)}, []asked{ask(user("a"))}, ""},
		{"a text", []asked{ask(user("a"))}, []asked{ask(user("b"))}, []asked{ask(user("c"))}, "root#1 /messages/0/content x1: a | b | c"},
		{"a text that later requests repeat", []asked{ask(user("a")), again(ask(user("a")), user("x"))},
			[]asked{ask(user("b")), again(ask(user("b")), user("x"))}, []asked{ask(user("c")), again(ask(user("c")), user("x"))},
			"root#1 /messages/0/content x2: a | b | c"},
		{"ids, and arguments as the JSON they hold", []asked{ask(calling("1", `{"a":1,"b":"x"}`))},
			[]asked{ask(calling("2", `{"b":"y", "a":1}`))}, []asked{ask(calling("3", `{"b":"z", "a":1}`))},
			"root#1 /messages/0/tool_calls/0/function/arguments#/b x1: x | y | z"},
		{"arguments that are no JSON", []asked{ask(calling("1", `{"a`))}, []asked{ask(calling("1", `{"b`))}, []asked{ask(calling("1", `{"b`))},
			`root#1 /messages/0/tool_calls/0/function/arguments x1: {"a | {"b | {"b`},
		{"a message more", []asked{ask(user("a"))}, []asked{ask(user("a"), user("b"))}, []asked{ask(user("a"))},
			`root#1 /messages/1 x1: - | {"role":"user","content":"b"} | -`},
		{"a list of another length", []asked{{agent: "root", turn: 1, tools: `[1]`}}, []asked{{agent: "root", turn: 1, tools: `[1,2]`}}, []asked{{agent: "root", turn: 1}},
			"root#1 /tools x1: [1] | [1,2] | -"},
		{"a list in another order", []asked{{agent: "root", turn: 1, tools: `[1,{"a":2}]`}}, []asked{{agent: "root", turn: 1, tools: `[{"a":2},1]`}}, []asked{{agent: "root", turn: 1, tools: `[1,{"a":2}]`}},
			`root#1 /tools x1: [1,{"a":2}] | [{"a":2},1] | [1,{"a":2}]`},
		{"one element of a list", []asked{{agent: "root", turn: 1, tools: `[1,{"a/b":2}]`}}, []asked{{agent: "root", turn: 1, tools: `[1,{"a/b":3}]`}}, []asked{{agent: "root", turn: 1, tools: `[1,{"a/b":2}]`}},
			`root#1 /tools/1/a~1b x1: 2 | 3 | 2`},
		{"model and parameters", []asked{{agent: "root", turn: 1, model: "m", params: []runtime.Param{{Name: "seed", Value: jsontext.Value("1")}}}},
			[]asked{{agent: "root", turn: 1, model: "n", params: []runtime.Param{{Name: "seed", Value: jsontext.Value("2")}}}}, []asked{{agent: "root", turn: 1, model: "n"}},
			"root#1 /model x1: m | n | n\nroot#1 /seed x1: 1 | 2 | -"},
		{"requests that are missing", []asked{ask(user("a")), {agent: "root/1.1", turn: 1}}, []asked{ask(user("a"))}, []asked{ask(user("a")), {agent: "root/1.1", turn: 1}, {agent: "root/1.1", turn: 2}},
			"root/1.1#1  x1: a request | - | a request\nroot/1.1#2  x1: - | - | a request"},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := Collect(file(t, c.recorded...), file(t, c.run...), file(t, c.second...))
			assert.Equal(t, shown(got), c.want)
		})
	}
}
