package scenarios

import (
	"fmt"
	"strings"

	"github.com/tapetree/tapetree/record"
	"github.com/tapetree/tapetree/runtime"
	"github.com/tapetree/tapetree/transcripts"
)

// judgeSecrets looks for secrets in all that a transcript holds: each text
// once, where it first stands. A finding says where and of what kind, never
// what.
func judgeSecrets(f *transcripts.File, agents []agent) []record.Finding {
	s := &secrets{redactor: record.NewRedactor(nil), seen: map[string]bool{}}
	s.look("", 0, "the header", f.Header.Upstream, f.Header.Name, strings.Join(f.Header.Models, " "))
	s.members("", 0, "the header", f.Header.Extra)
	for i := range agents {
		a := &agents[i]
		s.answers(a)
		a.eachNew(func() {}, func(turn, index int, m *runtime.Message) {
			s.message(a.path, turn, index, m)
		}, func(int) {})
	}
	for _, e := range f.Exchanges {
		s.exchange(e)
	}
	for _, c := range f.Calls {
		s.look(c.Agent, c.Turn, fmt.Sprintf("call %d (%s)", c.Call, c.Name), c.Arguments, c.Result)
		s.members(c.Agent, c.Turn, fmt.Sprintf("call %d (%s)", c.Call, c.Name), c.Extra)
	}
	for _, h := range f.HTTP {
		s.look("", 0, fmt.Sprintf("the http line %d", h.Line), string(h.Raw))
	}
	return once(s.findings)
}

// judgeSecretsOf does the same for a history of messages, with the lines of its
// file that could not be read.
func judgeSecretsOf(h *transcripts.History, agents []agent) []record.Finding {
	s := &secrets{redactor: record.NewRedactor(nil), seen: map[string]bool{}}
	for i := range agents {
		a := &agents[i]
		a.eachNew(func() {}, func(turn, index int, m *runtime.Message) {
			s.message(a.path, turn, index, m)
		}, func(int) {})
	}
	for _, w := range h.Warnings {
		s.look("", 0, fmt.Sprintf("line %d, which could not be read", w.Line), w.Text)
	}
	return once(s.findings)
}

// message looks at one message of a list: its texts, and the names and ids in it.
func (s *secrets) message(agent runtime.Path, turn, index int, m *runtime.Message) {
	where := fmt.Sprintf("message %d (%s)", index+1, s.redactor.Mask(string(m.Role)))
	s.look(agent, turn, where, string(m.Role), m.Content, m.CallID)
	for _, call := range m.Calls {
		s.look(agent, turn, where, call.ID, call.Name, call.Arguments)
	}
}

type secrets struct {
	redactor *record.Redactor
	seen     map[string]bool // texts looked at
	findings []record.Finding
}

// answers looks at the answers as a decoder puts them together, since a secret
// may be cut into several pieces on the wire.
func (s *secrets) answers(a *agent) {
	if a.run == nil {
		return
	}
	for _, turn := range a.run.Turns {
		if turn.Answer == nil {
			continue
		}
		s.look(a.path, turn.Number, "the answer", turn.Answer.Message.Content, turn.Answer.Refusal)
		for _, call := range turn.Answer.Message.Calls {
			s.look(a.path, turn.Number, "the answer", call.ID, call.Name, call.Arguments)
		}
	}
}

// exchange looks at what is no message: parameters, tools and the response as
// it came.
func (s *secrets) exchange(e *transcripts.Exchange) {
	if isSide(e.Agent) { // no agent's request, which were looked at before
		for i, m := range e.Messages.Messages() {
			s.look(e.Agent, e.Turn, fmt.Sprintf("message %d (%s)", i+1, m.Role), m.Content)
		}
	}
	s.look(e.Agent, e.Turn, "the tools", string(e.Tools))
	for _, p := range e.Params {
		s.look(e.Agent, e.Turn, "the parameters", string(p.Value))
	}
	s.members(e.Agent, e.Turn, "the headers", e.Headers)
	s.members(e.Agent, e.Turn, "the exchange", e.Extra)
	s.look(e.Agent, e.Turn, "the response", string(e.Response), strings.Join(e.SSE, ""), string(e.Base64))
	if e.Text != nil {
		s.look(e.Agent, e.Turn, "the response", *e.Text)
	}
}

func (s *secrets) members(agent runtime.Path, turn int, where string, members []transcripts.Member) {
	for _, m := range members {
		s.look(agent, turn, where, m.Name+"="+string(m.Value))
	}
}

// look reports the secrets in texts that were not looked at before.
func (s *secrets) look(agent runtime.Path, turn int, where string, texts ...string) {
	for _, text := range texts {
		if text == "" || s.seen[text] {
			continue
		}
		s.seen[text] = true
		for _, kind := range s.redactor.Find(text) {
			s.findings = append(s.findings, record.Finding{Code: "secret/present", Agent: agent, Turn: turn, Message: fmt.Sprintf("a secret (%s) stands in %s", kind, where)})
		}
	}
}
