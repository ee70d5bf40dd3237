package transcripts

import (
	"fmt"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/tapetree/tapetree/runtime"
)

// session plays a made-up session and keeps it as a File: what a recorder
// would, without one.
type session struct {
	file *File
}

func newSession(name, by string) *session {
	return &session{file: &File{Header: Header{
		Name: name, Profile: "p06", Models: []string{"m1"}, Upstream: "https://host/v1",
		Env: Env{OS: "linux", Date: "2026-01-02"}, Recorded: "2026-01-02T03:04:05Z", By: by,
	}}}
}

// agent is one agent of a made-up session.
type agent struct {
	session *session
	path    runtime.Path
	turn    int
	history runtime.History
}

func (s *session) agent(path runtime.Path, system, prompt string) *agent {
	a := &agent{session: s, path: path}
	a.history.Append(runtime.SystemMessage(system), runtime.UserMessage(prompt))
	return a
}

const someTools = `[{"type":"function","function":{"name":"task"}}]`

// answers adds an exchange answered by a JSON body and takes the answer into
// the history.
func (a *agent) answers(message string) *Exchange {
	a.turn++
	body := fmt.Sprintf(`{"id":"x","choices":[{"index":0,"message":%s,"finish_reason":"stop"}],`+
		`"usage":{"prompt_tokens":10,"completion_tokens":2}}`, message)
	x := &Exchange{
		Agent: a.path, Turn: a.turn, Try: 1, Wire: "chat", Model: "m1",
		Messages: a.history.View(), Tools: jsontext.Value(someTools),
		Params: []runtime.Param{{Name: "stream", Value: jsontext.Value("false")}},
		Status: 200, Headers: []Member{{"content-type", jsontext.Value(`"application/json"`)}},
		Response: jsontext.Value(body),
	}
	a.session.file.Exchanges = append(a.session.file.Exchanges, x)
	answer, err := runtime.Decode(x.Reply(), runtime.Dialect{})
	if err != nil {
		panic(err)
	}
	a.history.Append(answer.Message)
	return x
}

// asks is an answer with calls, each "NAME ARGUMENTS".
func (a *agent) asks(calls ...string) *Exchange {
	var list []string
	for i, call := range calls {
		name, arguments, _ := strings.Cut(call, " ")
		list = append(list, fmt.Sprintf(`{"id":"c%d-%d","type":"function","function":{"name":%q,"arguments":%q}}`,
			a.turn+1, i+1, name, arguments))
	}
	return a.answers(`{"role":"assistant","content":null,"tool_calls":[` + strings.Join(list, ",") + `]}`)
}

// gets adds the tool line of a call of the last turn and its result.
func (a *agent) gets(number int, call, result string, child runtime.Path) *Call {
	name, arguments, _ := strings.Cut(call, " ")
	c := &Call{
		Agent: a.path, Turn: a.turn, Call: number, ID: fmt.Sprintf("c%d-%d", a.turn, number),
		Name: name, Arguments: arguments, Verdict: runtime.VerdictAllow, Result: result, Child: child,
	}
	a.session.file.Calls = append(a.session.file.Calls, c)
	a.history.Append(runtime.ToolMessage(c.ID, result))
	return c
}

// sampleSession is a parent with two children, a failed try, a stream, a side
// conversation that ends in a compaction, and everything else that a line can
// say.
func sampleSession(by string) *File {
	s := newSession("sample", by)
	root := s.agent("root", "You are the parent. <b>&", "Look at both files.")
	root.asks(`task {"description":"read a"}`, `task {"description":"read b"}`)
	for i, letter := range []string{"a", "b"} {
		path := runtime.Root.Child(1, i+1)
		child := s.agent(path, "You are a child.", "read "+letter)
		child.asks(fmt.Sprintf(`read_file {"path":%q}`, letter))
		child.gets(1, fmt.Sprintf(`read_file {"path":%q}`, letter), "text of "+letter+"\n{{secret:env:"+fmt.Sprint(7-i)+"}}", "")
		child.answers(`{"role":"assistant","content":"It says ` + letter + `."}`)
		root.gets(i+1, fmt.Sprintf(`task {"description":"read %s"}`, letter), "It says "+letter+".", path)
	}
	root.failsOnce()
	root.streams("Both ", "say something.")
	root.history.Append(runtime.UserMessage("Go on."))
	root.compacts()
	root.answers(`{"role":"assistant","content":"Done."}`)
	f := s.file
	f.HTTP = []*HTTP{{Raw: jsontext.Value(`{"kind":"http","n":1,"method":"GET","path":"/v1/models","status":200,"response":{"data":[]}}`)}}
	f.Timing = &Timing{
		Exchanges: []ExchangeTime{{Agent: "root", Turn: 1, Try: 1, Start: 0.5, First: 1.25, End: 3, Blocks: []float64{1.25, 3}}},
		Order:     []string{"+root#1.1", "+root#1.2", "-root#1.2", "-root#1.1"},
	}
	f.End = &End{Exchanges: len(f.Exchanges), Stops: []Stop{
		{"root/1.1", runtime.StopAnswer}, {"root", runtime.StopAnswer}, {"root/1.2", runtime.StopAnswer},
	}}
	return f
}

// failsOnce adds a first try that got no answer.
func (a *agent) failsOnce() {
	text := "<html>too many\nrequests</html>"
	a.session.file.Exchanges = append(a.session.file.Exchanges, &Exchange{
		Agent: a.path, Turn: a.turn + 1, Try: 1, Wire: "chat", Model: "m1", Messages: a.history.View(),
		Tools: jsontext.Value(someTools), Status: 429, Text: &text,
		Headers: []Member{{"retry-after", jsontext.Value(`"1"`)}},
	})
}

// streams adds the second try of a turn, answered by a stream.
func (a *agent) streams(pieces ...string) {
	a.turn++
	var blocks []string
	for _, piece := range pieces {
		blocks = append(blocks, fmt.Sprintf("data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":%q}}]}\n\n", piece))
	}
	blocks = append(blocks, ": not UTF-8 \xff\n\n", "data: {\"choices\":[{\"delta\":{},\"finish_reason\":\"stop\"}]}\n\n", "data: [DONE]\n\n")
	x := &Exchange{
		Agent: a.path, Turn: a.turn, Try: 2, Wire: "chat", Model: "m1", Messages: a.history.View(),
		Tools: jsontext.Value(someTools), Status: 200, SSE: blocks, StreamEnd: runtime.EndDone, Recut: true,
		Params: []runtime.Param{{Name: "stream", Value: jsontext.Value("true")}},
		Extra:  []Member{{"mark", jsontext.Value(`"twin"`)}},
	}
	a.session.file.Exchanges = append(a.session.file.Exchanges, x)
	answer, err := runtime.Decode(x.Reply(), runtime.Dialect{})
	if err != nil {
		panic(err)
	}
	a.history.Append(answer.Message)
}

// compacts asks for a summary in a side conversation and puts it in place of
// the older messages.
func (a *agent) compacts() {
	list := a.history.View().Messages()
	side := a.session.agent(a.path+"~compact.1", "You summarise.", "")
	side.history = runtime.History{}
	side.history.Append(runtime.SystemMessage("You summarise."))
	side.history.Append(list[1:]...)
	side.history.Append(runtime.UserMessage("Summarise."))
	side.answers(`{"role":"assistant","content":"A summary."}`)
	a.history = runtime.History{}
	a.history.Append(list[0], runtime.UserMessage("A summary."))
	a.history.Append(list[len(list)-2:]...)
}

// mustParse parses what must be right.
func mustParse(data []byte) *File {
	f, err := Parse("test.jsonl", data)
	if err != nil {
		panic(err.Error() + "\n" + string(data))
	}
	return f
}
