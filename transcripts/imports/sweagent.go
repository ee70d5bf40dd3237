package imports

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"iter"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/tapetree/tapetree/runtime"
	"github.com/tapetree/tapetree/transcripts"
)

// sweAgent reads the trajectories of SWE-agent: the messages of all agents under
// "history", each with the name of its agent, the answered calls under
// "tool_call_ids". Of several attempts each is a history of its own.
var sweAgent = Importer{Name: formatSWEAgent, Title: "SWE-agent trajectory", Detect: isSWEAgent, Read: readSWEAgent}

const formatSWEAgent = "swe-agent"

func isSWEAgent(data []byte) bool {
	data = trim(data)
	s := scan(data, 1)
	return s.kind() == '{' && bytes.Contains(data, []byte(`"history"`)) && hasHistory(s, 0)
}

// hasHistory looks for a list of messages under "history", also in attempts.
func hasHistory(s *scanner, depth int) bool {
	found := false
	_ = s.object(func(name string) error { // a fault ends the look, no more
		kind := s.kind()
		switch {
		case name == "history" && kind == '[' && shapeOf(after(s)) == shapeMessages:
			found = true
			return errEnough
		case name == "attempts" && kind == '[' && depth == 0:
			return s.array(func() error {
				if s.kind() == '{' && hasHistory(scan(after(s), 1), 1) {
					found = true
					return errEnough
				}
				return s.skip()
			})
		}
		return s.skip()
	})
	return found
}

// isCutSWEAgent reports a trajectory that breaks off before its messages: the
// steps stand before them.
func isCutSWEAgent(data []byte) bool {
	s := scan(data, 1)
	if s.kind() != '{' || !bytes.Contains(data, []byte(`"trajectory"`)) {
		return false
	}
	steps := false
	err := s.object(func(name string) error {
		if name == "trajectory" && s.kind() == '[' {
			steps = true
		}
		return s.skip()
	})
	return steps && errors.Is(err, io.ErrUnexpectedEOF)
}

// sweRun is one attempt as the file has it.
type sweRun struct {
	losses
	list   []element
	broken error
}

func readSWEAgent(path string, data []byte) iter.Seq2[*transcripts.History, error] {
	return func(yield func(*transcripts.History, error) bool) {
		s := scan(trim(data), 1)
		var attempts []*sweRun
		whole := &sweRun{}
		whole.broken = whole.read(s, &attempts)
		if len(attempts) == 0 {
			n := whole.session(s, path, "")
			n.rest(s)
			only(path, n, yield)
			return
		}
		out := &held{yield: yield}
		for i, run := range attempts { // what stands beside them repeats the best
			part := fmt.Sprintf("attempt %d", i+1)
			if h := run.session(s, path, part).end(); h == nil {
				out.warn(0, part+" has no messages")
			} else if !out.give(h) {
				break
			}
		}
		if last := attempts[len(attempts)-1]; whole.broken != nil && last.broken == nil && !out.over {
			out.warn(s.fault(whole.broken))
		}
		if whole.broken == nil {
			out.rest(s)
		}
		out.end(path)
	}
}

// read reads one attempt, or a file with several.
func (r *sweRun) read(s *scanner, attempts *[]*sweRun) error {
	return s.object(func(name string) (err error) {
		kind := s.kind()
		switch {
		case name == "history" && kind == '[':
			r.list, err = elements(s)
		case name == "trajectory" && kind == '[':
			err = s.array(func() error {
				r.lose("trajectory step", 1)
				return s.skip()
			})
		case name == "attempts" && kind == '[' && attempts != nil:
			err = s.array(func() error {
				if s.kind() != '{' {
					return s.skip()
				}
				run := &sweRun{}
				*attempts = append(*attempts, run)
				run.broken = run.read(s, nil)
				return run.broken
			})
		default:
			r.member(name)
			err = s.skip()
		}
		return err
	})
}

func (r *sweRun) session(s *scanner, path, part string) *session {
	n := newSession(path, part, formatSWEAgent)
	n.losses = r.losses
	agents := sweAgents{root: n}
	for _, e := range r.list {
		agents.add(e)
	}
	agents.flush()
	n.fault(s, r.broken)
	return n
}

// sweAgents are the agents whose messages one list holds. The first is the root;
// nothing says which step of it started another.
type sweAgents struct {
	root   *session
	name   string // of the root
	others map[string]*conversation
	order  []*conversation
}

func (a *sweAgents) of(name string) *conversation {
	if a.name == "" {
		a.name = name
		a.root.agent.Label(name)
	}
	if name == a.name || name == "" {
		return &a.root.conversation
	}
	if a.others == nil {
		a.others = map[string]*conversation{}
	}
	c := a.others[name]
	if c == nil {
		c = &conversation{builder: a.root.builder, agent: a.root.agent.Stray()}
		c.agent.Label(name)
		a.others[name] = c
		a.order = append(a.order, c)
	}
	return c
}

func (a *sweAgents) flush() {
	for _, c := range a.order {
		c.flush()
	}
}

// add puts one message into the list of its agent.
func (a *sweAgents) add(e element) {
	more := members(e.raw, "agent", "is_demo", "tool_call_ids")
	c := a.of(text(more.of("agent")))
	at := transcripts.Spot{Line: e.line}
	m, err := runtime.ParseMessage(e.raw)
	ids := callIDs(more.of("tool_call_ids"))
	switch {
	case err != nil:
		c.builder.Warn(e.line, notRead(err))
	case m.Role == runtime.RoleTool, saysTrue(more.of("is_demo")): // a demonstration is part of the prompt, also its answers
		a.results(c, m, ids)
	default:
		c.take(m, nil, e.raw, at)
	}
}

// results adds a message that is no answer, a result as that of every call that it names: the API wants
// one of each.
func (a *sweAgents) results(c *conversation, m runtime.Message, ids []string) {
	c.flush()
	if m.Role != runtime.RoleTool || m.CallID != "" || len(ids) == 0 {
		c.agent.Add(m)
		return
	}
	for _, id := range ids {
		m.CallID = id
		c.agent.Add(m)
	}
}

// callIDs reads a list of ids, or one.
func callIDs(v jsontext.Value) []string {
	if v.Kind() == '"' {
		return []string{text(v)}
	}
	if v.Kind() != '[' {
		return nil
	}
	list, _ := elements(scan(v, 1))
	var ids []string
	for _, e := range list {
		ids = append(ids, idText(e.raw))
	}
	return ids
}

// saysTrue reports true, also as Python prints it into a string.
func saysTrue(v jsontext.Value) bool {
	return v.Kind() == 't' || text(v) == "True" || text(v) == "true"
}
