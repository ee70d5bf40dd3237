package export

import (
	"bytes"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/tapetree/tapetree/internal/requests"
	"github.com/tapetree/tapetree/runtime"
	"github.com/tapetree/tapetree/transcripts"
)

// openaiWriter writes the messages of agents in the form of chat completions. An
// agent alone is an array; with more of them, each is a line that names it.
// Messages are written as they were sent, byte for byte.
type openaiWriter struct {
	base
	first *agentMessages // waits until it is known whether more follow
	more  bool
}

type agentMessages struct {
	part string
	run  *runtime.Run
}

func (w *openaiWriter) History(h *transcripts.History) error {
	w.sides(h)
	agents := w.wanted(h)
	if w.options.Agents == nil && !w.options.All {
		w.lose(len(agents)-len(h.Roots), "agents below the root, which --agent all writes too")
		agents = h.Roots
	}
	for _, run := range agents {
		if !known(run) {
			w.lose(1, "agents known only by their calls")
			continue
		}
		w.losses(h, run)
		next := &agentMessages{h.Part, run}
		if w.first == nil && !w.more {
			w.first = next
			continue
		}
		if w.first != nil {
			w.line(w.first)
			w.first, w.more = nil, true
		}
		w.line(next)
	}
	for _, run := range agents {
		if w.more && known(run) && run.Agent.Depth() > 0 {
			w.lose(1, "agents below others, which only their paths tell")
		}
	}
	return w.failed()
}

func (w *openaiWriter) Close() error {
	switch {
	case w.first != nil:
		w.messages(w.first.run, "\n  ", "\n")
		_ = w.out.WriteByte('\n')
	case !w.more:
		_, _ = w.out.WriteString("[]\n")
	}
	return w.out.Flush()
}

// line writes one agent as a line.
func (w *openaiWriter) line(a *agentMessages) {
	head := []byte{'{'}
	if a.part != "" {
		head = append(appendText(append(head, `"session":`...), a.part), ',')
	}
	head = append(appendText(append(head, `"agent":`...), string(a.run.Agent)), `,"messages":`...)
	_, _ = w.out.Write(head)
	w.messages(a.run, "", "")
	_, _ = w.out.WriteString("}\n")
}

// messages writes the list of one agent, each message after before.
func (w *openaiWriter) messages(run *runtime.Run, before, end string) {
	_ = w.out.WriteByte('[')
	for i, m := range list(run) {
		if i > 0 {
			_ = w.out.WriteByte(',')
		}
		_, _ = w.out.WriteString(before)
		_, _ = w.out.Write(raw(m, before == ""))
	}
	_, _ = w.out.WriteString(end)
	_ = w.out.WriteByte(']')
}

// losses counts what an agent's one list does not tell.
func (w *openaiWriter) losses(h *transcripts.History, run *runtime.Run) {
	for i := range run.Turns {
		w.lose(len(run.Turns[i].Failed), "tries that gave no answer")
	}
	compacted := 0
	for _, r := range requests.Of(h, run.Agent) {
		if r.Before == nil || r.Sent.Extends(r.Before.Sent) {
			continue
		}
		changes := r.Changes()
		compacted += changes.Count(requests.Compacted) + changes.Count(requests.Dropped)
	}
	w.lose(compacted, "messages that a later request no longer had")
}

// list is the list of messages that an agent ended with.
func list(run *runtime.Run) []runtime.Message {
	if run.History.Len() > 0 {
		return run.History.Messages()
	}
	for i := len(run.Turns) - 1; i >= 0; i-- {
		if t := &run.Turns[i]; t.Sent.Len() > 0 || t.Answer != nil {
			messages := t.Sent.Messages()
			if t.Answer != nil {
				messages = append(messages[:len(messages):len(messages)], t.Answer.Message)
			}
			return messages
		}
	}
	return nil
}

// raw is a message as it was sent. Line breaks between its tokens become spaces
// where it has to stand on one line.
func raw(m runtime.Message, oneLine bool) []byte {
	switch {
	case !m.Raw.IsValid(jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true)):
		return made(m)
	case oneLine && bytes.ContainsAny(m.Raw, "\r\n"):
		return bytes.ReplaceAll(bytes.ReplaceAll(m.Raw, []byte{'\r'}, []byte{' '}), []byte{'\n'}, []byte{' '})
	default:
		return m.Raw
	}
}

// made is a message built from what was read of it, where its raw form is no
// JSON.
func made(m runtime.Message) []byte {
	out := appendText([]byte(`{"role":`), string(m.Role))
	out = appendText(append(out, `,"content":`...), m.Content)
	if m.CallID != "" {
		out = appendText(append(out, `,"tool_call_id":`...), m.CallID)
	}
	for i, c := range m.Calls {
		if i == 0 {
			out = append(out, `,"tool_calls":[`...)
		} else {
			out = append(out, ',')
		}
		out = appendText(append(out, `{"id":`...), c.ID)
		out = appendText(append(out, `,"type":"function","function":{"name":`...), c.Name)
		out = append(appendText(append(out, `,"arguments":`...), c.Arguments), "}}"...)
	}
	if len(m.Calls) > 0 {
		out = append(out, ']')
	}
	return append(out, '}')
}

// appendText appends a JSON string; bytes that are no UTF-8 become U+FFFD.
func appendText(dst []byte, text string) []byte {
	dst, _ = jsontext.AppendQuote(dst, text) // the error is bad UTF-8, which has been replaced
	return dst
}
