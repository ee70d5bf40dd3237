package runtime

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"gotest.tools/v3/assert"
)

// script is a Model that answers from a list per agent and holds every request
// to what must be true of all of them: the system message first, every call
// answered once and in order, nothing of another agent's words, ids unique.
type script struct {
	t     testing.TB
	steps map[Path][]step // the answers of each agent's tries, in order

	mu       sync.Mutex
	requests map[Path][]Request
}

// step is what one try gives; act, if set, runs first.
type step struct {
	act    func()
	answer *Answer
	err    error
}

func newScript(t testing.TB) *script {
	return &script{t: t, steps: make(map[Path][]step), requests: make(map[Path][]Request)}
}

// on adds the steps of one agent.
func (s *script) on(agent Path, steps ...step) *script {
	s.steps[agent] = append(s.steps[agent], steps...)
	return s
}

func (s *script) Complete(ctx context.Context, req *Request) (*Answer, error) {
	place, ok := PlaceOf(ctx)
	assert.Check(s.t, ok && place == req.Place, "the context carries the request's place")
	s.check(req)
	s.mu.Lock()
	agent := req.Place.Agent
	at := len(s.requests[agent])
	s.requests[agent] = append(s.requests[agent], *req)
	s.mu.Unlock()
	if at >= len(s.steps[agent]) {
		return nil, fmt.Errorf("the script of %s has %d steps", agent, len(s.steps[agent]))
	}
	next := s.steps[agent][at]
	if next.act != nil {
		next.act()
	}
	return next.answer, next.err
}

func (s *script) check(req *Request) {
	messages := req.Messages.Messages()
	assert.Check(s.t, len(messages) >= 2 && messages[0].Role == RoleSystem && messages[1].Role == RoleUser,
		"%s begins with system and user", req.Place.Agent)
	assert.Check(s.t, pairedText(messages) == "", "%s: %s", req.Place.Agent, pairedText(messages))
	for _, m := range messages {
		for other := range s.steps {
			mark := fmt.Sprintf("<private %s>", other)
			assert.Check(s.t, other == req.Place.Agent || !strings.Contains(string(m.Raw), mark),
				"%s sees words of %s", req.Place.Agent, other)
		}
	}
}

// pairedText says what is wrong with the pairing of calls and results.
func pairedText(messages []Message) string {
	seen := make(map[string]bool)
	var open []string
	for i, m := range messages {
		if m.Role == RoleTool {
			if len(open) == 0 || open[0] != m.CallID {
				return fmt.Sprintf("message %d answers %q, open are %q", i, m.CallID, open)
			}
			open = open[1:]
			continue
		}
		if len(open) > 0 {
			return fmt.Sprintf("message %d stands before the results of %q", i, open)
		}
		for _, call := range m.Calls {
			if call.ID == "" || seen[call.ID] {
				return fmt.Sprintf("message %d has the id %q again", i, call.ID)
			}
			seen[call.ID] = true
			open = append(open, call.ID)
		}
	}
	if len(open) > 0 {
		return fmt.Sprintf("unanswered: %q", open)
	}
	return ""
}

// saying is an answer of text alone.
func saying(text string) step { return step{answer: answering("stop", text)} }

// calling is an answer of calls, each "ID NAME ARGUMENTS" ("-" is an empty id).
func calling(calls ...string) step { return step{answer: answering("tool_calls", "", calls...)} }

// answering makes an answer with the given finish_reason, through the decoder
// of messages.
func answering(finish, text string, calls ...string) *Answer {
	raw := []byte(`{"role":"assistant","content":`)
	if text == "" && len(calls) > 0 {
		raw = append(raw, "null"...)
	} else {
		raw = append(raw, quote(text)...)
	}
	for i, call := range calls {
		parts := strings.SplitN(call, " ", 3)
		if parts[0] == "-" {
			parts[0] = ""
		}
		raw = append(raw, []string{`,"tool_calls":[`, ","}[min(i, 1)]...)
		raw = fmt.Appendf(raw, `{"id":%s,"type":"function","function":{"name":%s,"arguments":%s}}`,
			quote(parts[0]), quote(parts[1]), quote(parts[2]))
	}
	if len(calls) > 0 {
		raw = append(raw, ']')
	}
	message, err := ParseMessage(append(raw, '}'))
	if err != nil {
		panic(err)
	}
	return &Answer{Message: message, Finish: finish, Usage: Usage{Input: 10, Output: 1}}
}

// failing is a try that fails.
func failing(status int, kind string, retry bool) step {
	return step{err: &UpstreamError{Status: status, Kind: kind, Text: "upstream words", Retry: retry}}
}

// echoTool gives its text back.
func echoTool(t testing.TB, name string) Tool {
	type arguments struct {
		Text string `json:"text,omitzero"`
	}
	tool, err := NewTool(name, "Gives the text back.", EffectRead,
		func(_ context.Context, _ Invocation, args arguments) (string, error) { return "echo " + args.Text, nil })
	assert.NilError(t, err)
	return tool
}

// funcTool is a tool without arguments that runs f.
func funcTool(t testing.TB, name string, f func(ctx context.Context) (string, error)) Tool {
	tool, err := NewTool(name, "Runs.", EffectExternal,
		func(ctx context.Context, _ Invocation, _ struct{}) (string, error) { return f(ctx) })
	assert.NilError(t, err)
	return tool
}

func registryOf(t testing.TB, tools ...Tool) *Registry {
	r, err := NewRegistry(tools...)
	assert.NilError(t, err)
	return r
}

// runnerOf is a root with an echo tool, ready for the script.
func runnerOf(s *script, tools ...Tool) *Runner {
	return &Runner{
		Model: s, ModelName: "m", System: "system of root", MaxTurns: 10,
		Tools: registryOf(s.t, append([]Tool{echoTool(s.t, "echo")}, tools...)...),
	}
}

// outcomes renders the calls of a run, one line each.
func outcomes(run *Run) []string {
	var lines []string
	for _, turn := range run.Turns {
		for _, c := range turn.Calls {
			lines = append(lines, fmt.Sprintf("%d.%d %s %s %s: %s", turn.Number, c.Number, c.ID, c.Name, c.Verdict, c.Result))
		}
	}
	return lines
}

// requestsOf returns the requests that an agent made.
func (s *script) requestsOf(agent Path) []Request {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.requests[agent])
}

// recorder collects events as lines.
type eventLog struct {
	mu    sync.Mutex
	lines []string
}

func (l *eventLog) observe(e Event) {
	l.mu.Lock()
	defer l.mu.Unlock()
	line := fmt.Sprintf("%s %s [%s] %d", e.Kind, e.Agent, e.Label, e.Turn)
	if e.Call != nil {
		line += fmt.Sprintf(" %d %s %s", e.Call.Number, e.Call.Name, e.Call.Verdict)
	}
	if e.Text != "" {
		line += " " + e.Text
	}
	if e.Err != nil {
		line += " err=" + e.Err.Error()
	}
	if e.Run != nil {
		line += " stop=" + string(e.Run.Stop)
	}
	l.lines = append(l.lines, line)
}
