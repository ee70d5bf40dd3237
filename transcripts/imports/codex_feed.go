package imports

import (
	"bytes"
	"strings"
	"time"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/tapetree/tapetree/runtime"
	"github.com/tapetree/tapetree/transcripts"
)

// codexFeed feeds the lines of one thread into the history. An answer is held
// back until the next one begins, because its usage may come after the results
// of its calls.
type codexFeed struct {
	session *codexSession
	agent   *transcripts.AgentBuilder
	thread  *codexThread
	copied  bool // the line at hand is of the parent
	model   string
	before  time.Time

	open     []runtime.Message // the items of the answer at hand
	given    bool              // it was copied from the parent
	thought  strings.Builder
	usage    runtime.Usage
	counted  bool // usage is known
	complete bool // the answer is: what the model says next is another one
	line     int
	sent     time.Time
	done     time.Time
	waiting  []runtime.Message // what came after it
	started  map[string]string // the thread that a call started, by its id
	agents   map[string]*codexThread
}

func (s *codexSession) feed(t *codexThread, to *transcripts.AgentBuilder) {
	delete(s.threads, t.id)
	f := &codexFeed{session: s, agent: to, thread: t, started: map[string]string{}}
	if t.title != "" {
		to.Label(t.title)
	}
	if t.system != "" {
		to.Add(runtime.SystemMessage(t.system))
	}
	to.Reserve(len(t.lines) / 2) // the others are events
	f.links()
	for i, l := range t.lines {
		if i == t.own && i > 0 {
			f.flush()
			to.Copied()
		}
		f.copied = i < t.own
		f.take(l)
	}
	f.flush()
	for _, child := range s.of[t.id] { // those of no visible call
		if s.threads[child.id] != nil {
			s.feed(child, to.Child(""))
		}
	}
}

// links notes which thread each call started, so that a child can be begun right
// behind its call.
func (f *codexFeed) links() {
	for _, l := range f.thread.lines[f.thread.own:] {
		if l.kind == "event_msg" {
			item := members(members(l.payload, "item").of("item"), "type", "id", "tool", "kind", "receiver_thread_ids", "agent_thread_id")
			kind, call := text(item.of("type")), text(item.of("id"))
			switch {
			case kind == "CollabAgentToolCall" && text(item.of("tool")) == "spawn_agent":
				for _, id := range listOf(item.of("receiver_thread_ids")) {
					f.started[text(id)] = call
				}
			case kind == "SubAgentActivity" && text(item.of("kind")) == "started":
				f.started[text(item.of("agent_thread_id"))] = call
			}
			continue
		}
		if l.kind == "response_item" {
			m := members(l.payload, "type", "call_id", "output")
			if output := m.of("output"); text(m.of("type")) == "function_call_output" && output.Kind() == '"' && bytes.Contains(output, []byte("agent_id")) {
				if id := text(members([]byte(text(m.of("output"))), "agent_id").of("agent_id")); id != "" {
					f.started[id] = text(m.of("call_id"))
				}
			}
		}
	}
	f.agents = map[string]*codexThread{}
	prompts := map[string][]*codexThread{}
	for _, child := range f.session.of[f.thread.id] {
		if call := f.started[child.id]; call != "" {
			f.agents[call] = child
		} else if prompt := strings.TrimSpace(child.prompt()); prompt != "" {
			prompts[prompt] = append(prompts[prompt], child)
		}
	}
	if len(prompts) > 0 {
		f.guess(prompts)
	}
}

// guess gives children of which no line names the call to the first call with
// their brief.
func (f *codexFeed) guess(prompts map[string][]*codexThread) {
	for _, l := range f.thread.lines[f.thread.own:] {
		if l.kind != "response_item" {
			continue
		}
		m := members(l.payload, "type", "call_id", "name", "arguments")
		if text(m.of("type")) != "function_call" || !transcripts.Delegates(text(m.of("name"))) {
			continue
		}
		_, prompt := transcripts.Brief(text(m.of("arguments")))
		id := text(m.of("call_id"))
		if told := prompts[prompt]; len(told) > 0 && f.agents[id] == nil {
			f.agents[id], prompts[prompt] = told[0], told[1:]
		}
	}
}

func (f *codexFeed) take(l codexLine) {
	when := at(l.at)
	if !when.IsZero() && f.session.clock.began.IsZero() {
		f.session.clock.began = when
		f.session.builder.Began(when)
	}
	switch l.kind {
	case "session_meta":
	case "response_item":
		f.item(l, when)
		if !when.IsZero() {
			f.before = when
		}
	case "token_usage_record":
		f.count(members(l.payload, "usage").of("usage"))
		f.complete = len(f.open) > 0
	case "event_msg":
		f.event(l.payload)
	case "turn_context":
		if model := text(members(l.payload, "model").of("model")); model != "" {
			f.model = model
		}
	case "compacted":
		f.compacted(l.payload)
	default:
		f.session.lose(strings.TrimSpace(strings.ReplaceAll(l.kind, "_", " ")+" line"), 1)
	}
}

// event takes what the client tells its user. Most of it says again what the
// items say.
func (f *codexFeed) event(payload jsontext.Value) {
	m := members(payload, "type", "info")
	if kind := text(m.of("type")); kind != "token_count" {
		f.session.lose(strings.ReplaceAll(kind, "_", " ")+" event", 1)
		return
	}
	f.count(members(m.of("info"), "last_token_usage").of("last_token_usage"))
}

// count takes the usage of the answer at hand, which may be told twice.
func (f *codexFeed) count(usage jsontext.Value) {
	if f.counted || len(f.open) == 0 || usage.Kind() != '{' {
		return
	}
	m := members(usage, "input_tokens", "cached_input_tokens", "output_tokens", "reasoning_output_tokens")
	f.usage = runtime.Usage{
		Input: count(m.of("input_tokens")), Cached: count(m.of("cached_input_tokens")),
		Output: count(m.of("output_tokens")), Reasoning: count(m.of("reasoning_output_tokens")),
	}
	f.counted = true
}

// item takes one element of the conversation, in the form of the wire Responses.
func (f *codexFeed) item(l codexLine, when time.Time) {
	m := members(l.payload, "type", "summary", "call_id", "output")
	kind := text(m.of("type"))
	switch kind {
	case "reasoning":
		f.think(m.of("summary"))
		return
	case "agent_message":
		f.tell(runtime.UserMessage(codexSaid(l.payload)))
		return
	}
	if kind == "function_call_output" && m.of("output").Kind() == '"' && len(m.of("output")) > 2*longResult {
		if result := text(m.of("output")); len(result) >= longResult {
			f.tell(toolMessage(text(m.of("call_id")), result, false))
			return
		}
	}
	item, err := runtime.WireResponses.ParseItem(l.payload)
	if err != nil {
		f.session.builder.Warn(l.number, notRead(err))
		return
	}
	forms := runtime.WireResponses.ChatForm(item)
	if len(forms) == 0 {
		f.session.lose(strings.ReplaceAll(kind, "_", " ")+" item", 1)
	}
	for _, form := range forms {
		if form.Role != runtime.RoleAssistant {
			f.tell(form)
			continue
		}
		if f.complete || len(f.waiting) > 0 {
			f.flush()
		}
		if len(f.open) == 0 {
			f.line, f.sent, f.given = l.number, f.before, f.copied
		}
		f.open, f.done = append(f.open, form), when
	}
}

// think takes what the model lets be seen of its thoughts.
func (f *codexFeed) think(summary jsontext.Value) {
	if f.complete || len(f.waiting) > 0 {
		f.flush()
	}
	before := f.thought.Len()
	for _, part := range listOf(summary) {
		f.thought.WriteString(text(members(part, "text").of("text")))
	}
	if f.thought.Len() == before {
		f.session.lose("textless reasoning item", 1)
	}
}

// tell takes a message to the model.
func (f *codexFeed) tell(m runtime.Message) {
	if len(f.open) > 0 {
		f.waiting = append(f.waiting, m)
		return
	}
	f.agent.Add(m)
}

// flush puts the answer at hand and what came after it into the history. An
// answer that was copied from the parent is no turn of the thread's own.
func (f *codexFeed) flush() {
	if len(f.open) > 0 {
		f.answer()
	}
	for _, m := range f.waiting {
		f.agent.Add(m)
	}
	f.open, f.waiting, f.usage, f.counted, f.complete = nil, nil, runtime.Usage{}, false, false
	f.thought.Reset()
}

func (f *codexFeed) answer() {
	var said spoken
	for _, part := range f.open {
		said.text.WriteString(part.Content)
		for _, c := range part.Calls {
			said.call(c.ID, c.Name, c.Arguments)
		}
	}
	said.thought.WriteString(f.thought.String())
	m := said.message()
	if f.given {
		f.agent.Add(m)
		return
	}
	answer := &runtime.Answer{Message: m, Usage: f.usage, Model: f.model}
	f.agent.Answer(answer, f.session.clock.spot(f.line, f.sent, f.done))
	for _, c := range m.Calls {
		if child := f.agents[c.ID]; child != nil && f.session.threads[child.id] != nil {
			f.session.feed(child, f.agent.Child(c.ID))
		}
	}
}

// compacted puts a summary in the place of the conversation, or the list that
// the client made of it.
func (f *codexFeed) compacted(payload jsontext.Value) {
	f.flush()
	m := members(payload, "message", "replacement_history")
	summary := text(m.of("message"))
	f.agent.Compact(summary)
	list := listOf(m.of("replacement_history"))
	for _, raw := range list {
		item, err := runtime.WireResponses.ParseItem(raw)
		if err != nil {
			continue
		}
		for _, form := range runtime.WireResponses.ChatForm(item) {
			f.agent.Add(form)
		}
	}
	if len(list) == 0 && summary != "" {
		f.agent.Add(runtime.UserMessage(summary))
	}
}

// codexSaid is the text of a message between agents. Where it is encrypted, it
// is not in the file.
func codexSaid(payload jsontext.Value) string {
	var said strings.Builder
	for _, part := range listOf(members(payload, "content").of("content")) {
		p := members(part, "text", "encrypted_content")
		said.WriteString(text(p.of("text")))
		if sealed := text(p.of("encrypted_content")); !strings.HasPrefix(sealed, "gAAAA") { // how Fernet tokens begin
			said.WriteString(sealed)
		}
	}
	return said.String()
}
