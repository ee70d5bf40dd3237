// Package benchdata makes a large session out of nothing, always the same one,
// for benchmarks: a parent, its children, and many turns with long and distinct
// tool results.
package benchdata

import (
	"bytes"
	"context"
	"fmt"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/tapetree/tapetree/runtime"
	"github.com/tapetree/tapetree/transcripts"
)

// Shape says how large a session is.
type Shape struct {
	Children int // of the root, one for each of its first turns
	Turns    int // of every agent; the last one gives the answer
	Result   int // bytes of each tool result
}

// Standard is the session that figures are given for: 330 exchanges, 30 turns
// of a parent and each of its ten children, with tool results of 4 KB.
var Standard = Shape{Children: 10, Turns: 30, Result: 4096}

// Agent is one agent of the session and every request it makes, in order.
type Agent struct {
	Path     runtime.Path
	Requests []*runtime.Request
}

// Session is a recorded session and the requests that led to it.
type Session struct {
	File   *transcripts.File
	Agents []Agent // the root first
}

const model = "bench-model"

var tools = jsontext.Value(`[{"type":"function","function":{"name":"read_file","description":"Reads a file.","parameters":{"type":"object","properties":{"path":{"type":"string"}},"required":["path"],"additionalProperties":false}}},{"type":"function","function":{"name":"task","description":"Hands work to a subagent.","parameters":{"type":"object","properties":{"description":{"type":"string"}},"required":["description"],"additionalProperties":false}}}]`)

// New makes a session of the given shape. It panics if a response of its own
// cannot be decoded.
func New(shape Shape) *Session {
	s := &Session{File: &transcripts.File{
		Path: "bench.jsonl",
		Header: transcripts.Header{
			Name: "bench", Profile: "p06", Models: []string{model}, Upstream: "https://bench.example/v1",
			Env: transcripts.Env{OS: "linux", Date: "2026-01-01"}, Recorded: "2026-01-01T00:00:00Z", By: "tapetree bench",
		},
		Timing: &transcripts.Timing{},
		End:    &transcripts.End{},
	}}
	s.agent(shape, runtime.Root)
	for n := 1; n <= shape.Children; n++ {
		s.agent(shape, runtime.Root.Child(n, 1))
	}
	s.File.End.Exchanges = len(s.File.Exchanges)
	return s
}

// agent plays one agent: each turn calls a tool, the last one answers.
func (s *Session) agent(shape Shape, path runtime.Path) {
	agent := Agent{Path: path}
	var history runtime.History
	history.Append(runtime.SystemMessage("You are an agent of a benchmark."), runtime.UserMessage("Work on "+string(path)+"."))
	for turn := 1; turn <= shape.Turns; turn++ {
		req := &runtime.Request{
			Place: runtime.Place{Agent: path, Turn: turn, Try: 1},
			Model: model, Messages: history.View(), Tools: tools,
		}
		agent.Requests = append(agent.Requests, req)
		call := s.call(shape, path, turn)
		response := responseOf(path, turn, call)
		s.File.Exchanges = append(s.File.Exchanges, &transcripts.Exchange{
			Agent: path, Turn: turn, Try: 1, Wire: "chat", Model: model, Messages: req.Messages, Tools: tools,
			Params: []runtime.Param{{Name: "stream", Value: jsontext.Value("false")}},
			Status: 200, Response: response,
		})
		answer, err := runtime.Decode(&runtime.Response{Status: 200, Body: response}, runtime.Dialect{})
		if err != nil {
			panic(fmt.Sprintf("benchdata: decode own response: %v", err))
		}
		history.Append(answer.Message)
		if call != nil {
			s.File.Calls = append(s.File.Calls, call)
			history.Append(runtime.ToolMessage(call.ID, call.Result))
		}
	}
	s.Agents = append(s.Agents, agent)
	s.File.End.Stops = append(s.File.End.Stops, transcripts.Stop{Agent: path, Reason: runtime.StopAnswer})
}

// call is what an agent asks for in a turn; nil in its last.
func (s *Session) call(shape Shape, path runtime.Path, turn int) *transcripts.Call {
	if turn == shape.Turns {
		return nil
	}
	call := &transcripts.Call{
		Agent: path, Turn: turn, Call: 1, ID: fmt.Sprintf("call_%s_%d", strings.NewReplacer("/", "_", ".", "_").Replace(string(path)), turn),
		Name: "read_file", Arguments: fmt.Sprintf(`{"path":"src/file%d.go"}`, turn), Verdict: runtime.VerdictAllow,
		Result: text(shape.Result, fmt.Sprintf("%s turn %d", path, turn)),
	}
	if path == runtime.Root && turn <= shape.Children {
		call.Child = path.Child(turn, 1)
		call.Name, call.Arguments = "task", fmt.Sprintf(`{"description":"Work on %s."}`, call.Child)
		call.Result = answerText(call.Child)
	}
	return call
}

func answerText(path runtime.Path) string { return "All done in " + string(path) + "." }

// text is size bytes of lines that no other place has.
func text(size int, place string) string {
	var b bytes.Buffer
	for line := 1; b.Len() < size; line++ {
		fmt.Fprintf(&b, "%s, line %d: func work%d() error { return nil }\n", place, line, line)
	}
	return string(b.Bytes()[:size])
}

func responseOf(path runtime.Path, turn int, call *transcripts.Call) jsontext.Value {
	message, finish := fmt.Sprintf(`{"role":"assistant","content":%s}`, quote(answerText(path))), "stop"
	if call != nil {
		message = fmt.Sprintf(`{"role":"assistant","content":null,"tool_calls":[{"id":%s,"type":"function","function":{"name":%s,"arguments":%s}}]}`,
			quote(call.ID), quote(call.Name), quote(call.Arguments))
		finish = "tool_calls"
	}
	return jsontext.Value(fmt.Sprintf(`{"id":"chatcmpl-%s-%d","object":"chat.completion","created":1767225600,"model":%s,"choices":[{"index":0,"message":%s,"finish_reason":%s}],"usage":{"prompt_tokens":%d,"completion_tokens":20,"total_tokens":%d}}`,
		path, turn, quote(model), message, quote(finish), 1000*turn, 1000*turn+20))
}

func quote(text string) string {
	quoted, err := jsontext.AppendQuote(nil, text)
	if err != nil {
		panic(fmt.Sprintf("benchdata: quote own text: %v", err))
	}
	return string(quoted)
}

// Ask sends every request of the agent to m, in order.
func (a *Agent) Ask(ctx context.Context, m runtime.Model) error {
	for _, req := range a.Requests {
		if _, err := m.Complete(ctx, req); err != nil {
			return fmt.Errorf("ask %s turn %d: %w", req.Place.Agent, req.Place.Turn, err)
		}
	}
	return nil
}
