package transcripts

import (
	"fmt"
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/tapetree/tapetree/runtime"
	"gotest.tools/v3/assert"
)

// plainList is a list of user messages with the given texts, long enough that
// writing one anew costs more than a reference.
func plainList(texts ...string) runtime.View {
	var h runtime.History
	for _, text := range texts {
		h.Append(runtime.UserMessage(strings.Repeat(text, 30)))
	}
	return h.View()
}

// asked is an exchange with that list.
func asked(agent runtime.Path, turn int, list runtime.View) *Exchange {
	return &Exchange{
		Agent: agent, Turn: turn, Try: 1, Wire: "chat", Model: "m", Messages: list, Status: 200,
		Response: jsontext.Value(`{"choices":[{"message":{"role":"assistant","content":"ok"}}]}`),
	}
}

// listKeys returns from, edits and add of a line, message texts shortened to
// one letter.
func listKeys(line string) string {
	from := strings.Index(line, `,"from":`)
	if from < 0 {
		from = strings.Index(line, `,"edits":`)
	}
	if from < 0 {
		from = strings.Index(line, `,"add":`)
	}
	keys := line[from+1 : strings.Index(line, `,"sum"`)]
	for letter := 'a'; letter <= 'z'; letter++ {
		message := string(runtime.UserMessage(strings.Repeat(string(letter), 30)).Raw)
		keys = strings.ReplaceAll(keys, message, string(letter))
	}
	return keys
}

func TestListIsWrittenAsWhatChanged(t *testing.T) {
	split := func(s string) []string { return strings.Split(s, "") }
	tests := []struct{ name, before, after, want string }{
		{"grown", "abc", "abcd", `"add":[d]`},
		{"the same", "abc", "abc", `"add":[]`},
		{"one message changed", "abc", "axcd", `"edits":[[1,1,[x]]],"add":[d]`},
		{"two messages changed", "abcdef", "axcyefg", `"edits":[[1,1,[x]],[3,1,[y]]],"add":[g]`},
		{"beginning replaced", "abcdef", "xdefg", `"edits":[[0,3,[x]]],"add":[g]`},
		{"middle dropped", "abcdef", "aefg", `"edits":[[1,3,[]]],"add":[g]`},
		{"end dropped", "abcdef", "abc", `"edits":[[3,3,[]]],"add":[]`},
		{"end replaced", "abcdef", "abcxy", `"edits":[[3,3,[]]],"add":[x,y]`},
		{"message put between", "abcd", "abxcd", `"edits":[[2,0,[x]]],"add":[]`},
		{"nothing in common", "abc", "xy", `"from":"","add":[x,y]`},
		{"emptied", "abc", "", `"from":"","add":[]`},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			after := plainList(split(test.after)...)
			f := &File{Header: Header{Name: "n", By: "tapetree v0"}, Exchanges: []*Exchange{
				asked("root", 1, plainList(split(test.before)...)), asked("root", 2, after),
			}}
			data := f.Encode()
			lines := strings.Split(strings.TrimSpace(string(data)), "\n")
			assert.Equal(t, listKeys(lines[2]), test.want)
			got := mustParse(data)
			assert.Equal(t, string(got.Exchanges[1].Body()), string(f.Exchanges[1].Body()))
			assert.Equal(t, string(got.Encode()), string(data))
		})
	}
}

func TestChangedSystemTextCostsOneSystemLine(t *testing.T) {
	system := func(text string, rest runtime.View) runtime.View {
		var h runtime.History
		h.Append(runtime.SystemMessage(text))
		h.Append(rest.Messages()...)
		return h.View()
	}
	f := &File{Header: Header{Name: "n", By: "tapetree v0"}, Exchanges: []*Exchange{
		asked("root", 1, system("today", plainList("a"))),
		asked("root", 2, system("tomorrow", plainList("a", "b"))),
		asked("root", 3, plainList("a", "b", "c")), // none at all
	}}
	data := f.Encode()
	var got []string
	for _, line := range strings.Split(string(data), "\n") {
		if strings.Contains(line, `"kind":"exchange"`) {
			got = append(got, listKeys(line))
		}
	}
	assert.DeepEqual(t, got, []string{`"add":[a]`, `"add":[b]`, `"add":[c]`})
	for i, x := range mustParse(data).Exchanges {
		assert.Equal(t, string(x.Body()), string(f.Exchanges[i].Body()))
	}
}

func TestListStartsFromAnotherAgentsList(t *testing.T) {
	f := &File{Header: Header{Name: "n", By: "tapetree v0"}, Exchanges: []*Exchange{
		asked("root", 1, plainList("a", "b")),
		asked("root", 2, plainList("a", "b", "c")),
		asked("root", 3, plainList("z")),
		asked("root~compact.1", 1, plainList("a", "b", "c", "s")),
		asked("root~compact.2", 1, plainList("x", "x", "x", "s")), // begins with a try that was not the last
		asked("root/1.1", 1, plainList("a", "b", "d")),
	}}
	f.Exchanges[1].Try = 2
	f.Exchanges = append(f.Exchanges, asked("root", 2, plainList("x", "x", "x")))
	data := f.Encode()
	var got []string
	for _, line := range strings.Split(string(data), "\n") {
		if strings.Contains(line, `"root/1.1"`) || strings.Contains(line, "compact") {
			got = append(got, listKeys(line))
		}
	}
	assert.DeepEqual(t, got, []string{`"from":"root#1","add":[d]`, `"from":"root#2","add":[s]`, `"add":[x,x,x,s]`})
	read := mustParse(data)
	assert.Equal(t, string(read.Encode()), string(data))
	assert.Equal(t, string(read.Exchanges[len(read.Exchanges)-1].Body()), string(f.Exchanges[4].Body()))
}

func TestMessagesAreWrittenByReferenceOnlyWhenEqual(t *testing.T) {
	answer := runtime.Message{Role: runtime.RoleAssistant, Raw: jsontext.Value(`{"role":"assistant","content":"ok"}`)}
	tool := func(id, result string) *Call {
		return &Call{Agent: "root", Turn: 1, Call: 1, ID: id, Name: "t", Verdict: runtime.VerdictAllow, Result: result}
	}
	spaced := runtime.Message{Role: runtime.RoleTool, CallID: "c", Raw: jsontext.Value(`{"role":"tool", "tool_call_id":"c","content":"r"}`)}
	tests := []struct {
		name    string
		message runtime.Message
		call    *Call
		want    string
	}{
		{"answer", answer, tool("c", "r"), `{"echo":1}`},
		{"answer written otherwise", runtime.Message{Role: runtime.RoleAssistant, Raw: jsontext.Value(`{"content":"ok","role":"assistant"}`)}, tool("c", "r"), `{"content":"ok","role":"assistant"}`},
		{"result", runtime.ToolMessage("c", "r"), tool("c", "r"), `{"tool":"1.1"}`},
		{"other result", runtime.ToolMessage("c", "s"), tool("c", "r"), `{"role":"tool","tool_call_id":"c","content":"s"}`},
		{"other id", runtime.ToolMessage("d", "r"), tool("c", "r"), `{"role":"tool","tool_call_id":"d","content":"r"}`},
		{"result written otherwise", spaced, tool("c", "r"), string(spaced.Raw)},
		{"result of another agent", runtime.ToolMessage("c", "r"), &Call{Agent: "root/1.1", Turn: 2, Call: 3, ID: "c", Name: "t", Verdict: "allow", Result: "r"}, `{"tool":"root/1.1#2.3"}`},
		{"result of a turn to come", runtime.ToolMessage("c", "r"), &Call{Agent: "root", Turn: 2, Call: 1, ID: "c", Name: "t", Verdict: "allow", Result: "r"}, `{"role":"tool","tool_call_id":"c","content":"r"}`},
		{"key twice", runtime.Message{Role: runtime.RoleUser, Raw: jsontext.Value(`{"role":"user","a":1,"a":2}`)}, nil, `{"raw":"{\"role\":\"user\",\"a\":1,\"a\":2}"}`},
		{"over several lines", runtime.Message{Role: runtime.RoleUser, Raw: jsontext.Value("{\n\"role\":\"user\"}")}, nil, `{"raw":"{\n\"role\":\"user\"}"}`},
		{"no role", runtime.Message{Raw: jsontext.Value(`{"content":"x"}`)}, nil, `{"raw":"{\"content\":\"x\"}"}`},
		{"no object", runtime.Message{Raw: jsontext.Value(`7`)}, nil, `{"raw":"7"}`},
		{"no UTF-8", runtime.Message{Raw: jsontext.Value("\"\xff\"")}, nil, `{"base64":"Iv8i"}`},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			var h runtime.History
			h.Append(runtime.UserMessage("q"))
			first := h.View()
			h.Append(test.message)
			f := &File{Header: Header{Name: "n", By: "tapetree v0"}, Exchanges: []*Exchange{
				asked("root", 1, first), asked("root", 2, h.View()),
			}}
			if test.call != nil {
				f.Calls = []*Call{test.call}
			}
			data := f.Encode()
			assert.Assert(t, strings.Contains(string(data), fmt.Sprintf(`"add":[%s],"sum"`, test.want)), string(data))
			got := mustParse(data)
			assert.Equal(t, string(got.Exchanges[1].Body()), string(f.Exchanges[1].Body()))
		})
	}
}

func TestResponseKeepsItsBytes(t *testing.T) {
	tests := []struct{ name, body, key string }{
		{"JSON", `{"a": 1}`, "response"},
		{"JSON over several lines", "{\n \"a\": 1}", "text"},
		{"JSON with a final newline", "{}\n", "text"},
		{"key twice", `{"a":1,"a":2}`, "text"},
		{"half a surrogate pair", `{"a":"\ud800"}`, "text"},
		{"HTML", "<p>&amp;</p>", "text"},
		{"nothing", "", "text"},
		{"no UTF-8", "{\"a\":\"\xff\"}", "base64"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			x := asked("root", 1, plainList("a"))
			x.Response = jsontext.Value(test.body)
			f := &File{Header: Header{Name: "n", By: "tapetree v0"}, Exchanges: []*Exchange{x}}
			data := f.Encode()
			assert.Assert(t, strings.Contains(string(data), `"status":200,"`+test.key+`":`), string(data))
			assert.Equal(t, string(mustParse(data).Exchanges[0].Reply().Body), test.body)
		})
	}
}

func TestLinesStandInTreeOrder(t *testing.T) {
	paths := []runtime.Path{
		"root", "root/1.1", "root/1.2", "root/1.2#2", "root/2.1", "root/2.1/1.1", "root/10.1", "root/?1",
		"root~title.1", "root~compact.2", "root~compact.10", "root~judge.1", "root~side.1", "root2", "root2/1.1", "root10",
	}
	f := &File{Header: Header{Name: "n", By: Authored}}
	for _, path := range paths {
		f.Exchanges = append([]*Exchange{asked(path, 1, plainList("a"))}, f.Exchanges...)
	}
	var got []runtime.Path
	for _, x := range mustParse(f.Encode()).Exchanges {
		got = append(got, x.Agent)
	}
	assert.DeepEqual(t, got, paths)
}

func TestAgentPathsAreChecked(t *testing.T) {
	for _, path := range []runtime.Path{
		"", "boss", "root1", "root0", "root/", "root/1", "root/1.0", "root/01.1", "root/1.1#1", "root/?0", "root~compact",
		"root~compact.0", "root~chat.1", "root/1.1~", "~side.1", "root//1.1", "root/1.1.1",
	} {
		_, ok := agentKey(path)
		assert.Assert(t, !ok, path)
	}
}

func TestSecretsAreNumberedInOrderOfAppearance(t *testing.T) {
	n := newSecretNumbers()
	got := n.renumber([]byte(`{{secret:env:9}} {{secret:url:9}} {{secret:env:2}} {{{{secret:env:5}} {{secret:env:9}}`))
	assert.Equal(t, string(got), `{{secret:env:1}} {{secret:url:1}} {{secret:env:2}} {{{{secret:env:5}} {{secret:env:1}}`)
	assert.Equal(t, string(n.renumber([]byte("{{secret:env:2}}"))), "{{secret:env:2}}")
}
