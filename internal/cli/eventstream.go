package cli

import (
	"errors"
	"fmt"
	"io"
	"sync"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/tapetree/tapetree/internal/prices"
	"github.com/tapetree/tapetree/runtime"
)

// eventStream writes the events of a session as they happen, one JSON object a
// line, and the result as the last line. docs/run-events.schema.json describes
// them.
type eventStream struct {
	mu  sync.Mutex
	out io.Writer
	err error // the first failed write; nothing is written after it
}

// eventLine is one event.
type eventLine struct {
	Event   runtime.EventKind `json:"event"`
	Agent   runtime.Path      `json:"agent"`
	Depth   int               `json:"depth"`
	Label   string            `json:"label"`
	Turn    int               `json:"turn,omitzero"`
	Text    string            `json:"text,omitzero"`
	Error   string            `json:"error,omitzero"`
	Status  int               `json:"status,omitzero"`
	Call    *callPart         `json:"call,omitzero"`
	Model   string            `json:"model,omitzero"`
	Finish  string            `json:"finish,omitzero"`
	Dropped int               `json:"dropped,omitzero"`
	Stop    string            `json:"stop,omitzero"`
	Turns   int               `json:"turns,omitzero"`
	Usage   *runtime.Usage    `json:"usage,omitzero"`
	Tree    *runtime.Usage    `json:"tree,omitzero"`
}

// callPart is the call of an event; verdict and result stand at its end only.
type callPart struct {
	Number    int          `json:"number"`
	ID        string       `json:"id"`
	Name      string       `json:"name"`
	Arguments string       `json:"arguments"`
	Verdict   string       `json:"verdict,omitzero"`
	Result    *string      `json:"result,omitzero"`
	Child     runtime.Path `json:"child,omitzero"` // the agent that the call started
}

// observe is the runtime.Observer.
func (s *eventStream) observe(e runtime.Event) {
	line := eventLine{Event: e.Kind, Agent: e.Agent, Depth: e.Agent.Depth(), Label: e.Label, Turn: e.Turn, Text: e.Text}
	if e.Err != nil {
		line.Error = e.Err.Error()
	}
	if upstream, ok := errors.AsType[*runtime.UpstreamError](e.Err); ok {
		line.Status = upstream.Status
	}
	if c := e.Call; c != nil {
		line.Call = &callPart{Number: c.Number, ID: c.ID, Name: c.Name, Arguments: c.Arguments}
		if e.Kind == runtime.EventCallEnd {
			line.Call.Verdict, line.Call.Result = string(c.Verdict), &c.Result
			if c.Child != nil {
				line.Call.Child = c.Child.Agent
			}
		}
	}
	if a := e.Answer; a != nil {
		line.Text, line.Model, line.Finish, line.Usage = a.Message.Content, a.Model, a.Finish, &a.Usage
	}
	if c := e.Compact; c != nil {
		line.Text, line.Dropped, line.Usage = c.Summary, c.Dropped, &c.Usage
	}
	if r := e.Run; r != nil {
		line.Text, line.Model, line.Stop, line.Turns = firstOf(r.Final, r.Partial), r.Model, string(r.Stop), len(r.Turns)
		line.Usage, line.Tree = &r.Usage, &r.Tree
	}
	s.write(line)
}

// resultLine is the last line.
type resultLine struct {
	Event   string        `json:"event"` // "result"
	Stop    string        `json:"stop"`  // "" when the session could not be run to an end
	Error   string        `json:"error,omitzero"`
	Final   string        `json:"final"`
	Partial string        `json:"partial,omitzero"`
	Turns   int           `json:"turns"`
	Agents  int           `json:"agents"`
	Own     runtime.Usage `json:"own"`
	Tree    runtime.Usage `json:"tree"`
	Context contextPart   `json:"context"`
	Models  []modelPart   `json:"models"`
}

// contextPart holds the tokens of the largest requests: the root's, and those
// of its children added up.
type contextPart struct {
	Root     int `json:"root"`
	Children int `json:"children"`
}

// modelPart is what was used of one model. Cost is in dollars, and missing
// where no price is known.
type modelPart struct {
	Model  string         `json:"model"`
	Agents int            `json:"agents"`
	Usage  runtime.Usage  `json:"usage"`
	Cost   jsontext.Value `json:"cost,omitzero"`
}

// result writes the last line and returns the first failed write.
func (s *eventStream) result(run *runtime.Run, failed error, table *prices.Table) error {
	line := resultLine{Event: "result", Models: []modelPart{}}
	if failed != nil {
		line.Error = failed.Error()
	}
	if run != nil {
		line.Stop, line.Final, line.Partial, line.Turns = string(run.Stop), run.Final, run.Partial, len(run.Turns)
		line.Own, line.Tree, line.Context.Root = run.Usage, run.Tree, prices.Context(run)
		run.Walk(func(r *runtime.Run) {
			line.Agents++
			if r != run {
				line.Context.Children += prices.Context(r)
			}
		})
		for _, u := range prices.ByModel(run) {
			part := modelPart{Model: u.Model, Agents: u.Agents, Usage: u.Usage}
			if cost, known := table.Cost(u.Model, u.Usage); known {
				part.Cost = jsontext.Value(cost.Decimal())
			}
			line.Models = append(line.Models, part)
		}
	}
	s.write(line)
	if s.err != nil {
		return fmt.Errorf("write events to stdout: %w", s.err)
	}
	return nil
}

func (s *eventStream) write(line any) {
	// What a model or an upstream sent may be no UTF-8.
	data, err := json.Marshal(line, jsontext.AllowInvalidUTF8(true))
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.err == nil && err == nil {
		_, err = s.out.Write(append(data, '\n'))
	}
	if s.err == nil {
		s.err = err
	}
}
