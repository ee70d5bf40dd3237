// Package requests lists what the model was asked for each turn of a history,
// and says what one request changed against the one before.
package requests

import (
	"strings"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/tapetree/tapetree/runtime"
	"github.com/tapetree/tapetree/transcripts"
)

// Request is one request of one agent, in chat form.
type Request struct {
	Agent     runtime.Path
	Turn, Try int
	Line      int // of the file; 0: not known
	// Inferred says that the file holds messages and no requests: what stands
	// before an answer is taken for what was sent.
	Inferred bool
	Sent     runtime.View
	Model    string
	Tools    jsontext.Value // the JSON array of tool definitions; nil: none, or not known
	Params   []runtime.Param
	Exchange *transcripts.Exchange // nil when Inferred
	Answer   *runtime.Answer       // nil when there was none
	Err      error                 // why there was none, where the file says so
	// Before is the request of the same agent before this one, nil for the first.
	Before *Request
}

// Of lists the requests of one agent, or of one side conversation, in the order
// in which they were made: turn by turn, try by try. There are none for an agent
// that is known only by its call, or not at all.
func Of(h *transcripts.History, agent runtime.Path) []*Request {
	list := inferred(h, agent)
	if h.File != nil {
		list = recorded(h.File, agent)
	}
	for i := 1; i < len(list); i++ {
		list[i].Before = list[i-1]
	}
	return list
}

func recorded(f *transcripts.File, agent runtime.Path) []*Request {
	var list []*Request
	var sent func(*transcripts.Exchange) runtime.View
	for _, x := range f.Exchanges {
		if x.Agent != agent {
			continue
		}
		if sent == nil {
			sent = f.ChatForm()
		}
		r := &Request{
			Agent: agent, Turn: x.Turn, Try: x.Try, Line: x.Line, Sent: sent(x), Model: x.Model,
			Tools: x.Tools, Params: x.Params, Exchange: x,
		}
		r.Answer, r.Err = runtime.Decode(x.Reply(), runtime.Dialect{})
		list = append(list, r)
	}
	return list
}

func inferred(h *transcripts.History, agent runtime.Path) []*Request {
	run := h.Agent(agent)
	if run == nil {
		return nil
	}
	var list []*Request
	for i := range run.Turns {
		t := &run.Turns[i]
		if t.Sent.Len() == 0 && t.Answer == nil {
			continue // only room for a child
		}
		r := &Request{
			Agent: agent, Turn: t.Number, Try: len(t.Failed) + 1, Line: h.Spots[transcripts.TurnKey{Agent: agent, Turn: t.Number}].Line,
			Inferred: true, Sent: t.Sent, Answer: t.Answer,
		}
		if t.Answer != nil {
			r.Model = t.Answer.Model
		}
		if r.Model == "" {
			r.Model = run.Model
		}
		list = append(list, r)
	}
	return list
}

// Sides lists the side conversations of a history with the number of their
// exchanges, in the order of the file.
func Sides(h *transcripts.History) (paths []runtime.Path, exchanges map[runtime.Path]int) {
	exchanges = map[runtime.Path]int{}
	if h.File == nil {
		return nil, exchanges
	}
	for _, x := range h.File.Exchanges {
		if strings.Contains(string(x.Agent), "~") {
			if exchanges[x.Agent]++; exchanges[x.Agent] == 1 {
				paths = append(paths, x.Agent)
			}
		}
	}
	return paths, exchanges
}

// ToolNames reads the names of a list of tool definitions of any wire: a tool
// without a name is named by its type.
func ToolNames(tools jsontext.Value) []string {
	names := make([]string, 0)
	for _, tool := range elements(tools) {
		members := fields(tool)
		name := text(members["name"])
		if name == "" {
			function := fields(members["function"])
			name = text(function["name"])
		}
		if name == "" {
			name = text(members["type"])
		}
		names = append(names, name)
	}
	return names
}
