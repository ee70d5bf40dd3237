package imports

import (
	"strings"
	"time"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/tapetree/tapetree/runtime"
	"github.com/tapetree/tapetree/transcripts"
)

// claudeFeed feeds the lines of one agent into the history.
type claudeFeed struct {
	session *claudeSession
	agent   *transcripts.AgentBuilder
	clock   clock

	open     []*claudeLine                        // lines of the answer at hand
	late     []*claudeLine                        // the lines that brought them
	waiting  []runtime.Message                    // results of its calls that came before its end
	after    []runtime.Message                    // what the client added meanwhile
	sent     time.Time                            // when the message before it was written
	before   time.Time                            // when the last message was
	any      bool                                 // a message came
	reported map[string]*transcripts.AgentBuilder // agents whose report is in the result of their call, by its id
	cut      bool                                 // what was said before was compacted
}

func (s *claudeSession) feed(a *claudeAgent, to *transcripts.AgentBuilder) {
	a.fed = true
	if a.title != "" {
		to.Label(a.title)
	}
	f := &claudeFeed{session: s, agent: to, clock: clock{s.first}, reported: map[string]*transcripts.AgentBuilder{}}
	to.Reserve(len(a.lines))
	f.system(a.lines)
	for _, l := range a.lines {
		f.line(l)
	}
	f.flush()
}

// system puts the system prompt first, where a line keeps it: it stands behind
// the first messages.
func (f *claudeFeed) system(lines []*claudeLine) {
	for _, l := range lines {
		if l.kind == "assistant" {
			return
		}
		if l.kind == "attachment" && l.subtype == "prompt_snapshot" && l.content.Kind() == '[' {
			var texts []string
			for _, t := range listOf(l.content) {
				texts = append(texts, text(t))
			}
			f.agent.Add(runtime.SystemMessage(strings.Join(texts, "\n\n")))
			return
		}
	}
}

func (f *claudeFeed) line(l *claudeLine) {
	if l.says() && f.any {
		f.anew(l)
	}
	switch l.kind {
	case "assistant":
		if len(f.open) > 0 && !f.goesOn(l) {
			f.flush()
		}
		if len(f.open) == 0 {
			f.sent = f.before
		}
		f.open = append(f.open, l)
	case "user":
		f.user(l)
	case "attachment":
		f.attachment(l)
	case "system":
		if l.subtype == "compact_boundary" {
			f.flush()
			f.cut = true
		}
	}
	if l.says() {
		f.any, f.before = true, l.at
	}
}

// anew begins the list again where the line begins it: with a summary of what
// was compacted, or with a conversation of its own, as after /clear.
func (f *claudeFeed) anew(l *claudeLine) {
	switch {
	case l.summary:
		f.flush()
		f.agent.Compact(l.words())
	case f.cut || l.fresh:
		f.flush()
		f.agent.Restart()
	}
	f.cut = false
}

// goesOn reports that a line is one more part of the answer at hand.
func (f *claudeFeed) goesOn(l *claudeLine) bool {
	last := f.open[len(f.open)-1]
	return l.id != "" && l.id == last.id && (l.request == "" || last.request == "" || l.request == last.request)
}

// user takes a line that tells the model something. Results come before all else
// that the line says; they may come while the answer with their calls goes on.
func (f *claudeFeed) user(l *claudeLine) {
	var more told
	if l.content.Kind() == '"' {
		f.flush()
		f.agent.Add(runtime.UserMessage(text(l.content)))
		return
	}
	said := false
	var results []runtime.Message
	for _, block := range listOf(l.content) {
		b := members(block, "type", "text", "source", "tool_use_id", "content", "is_error")
		switch kind := text(b.of("type")); kind {
		case "tool_result":
			results = append(results, toolMessage(idText(b.of("tool_use_id")), f.result(b.of("content")), isTrue(b.of("is_error"))))
		case "text":
			said = true
			more.say(text(b.of("text")))
		case "image":
			if url := imageURL(b.of("source")); url != "" {
				said = true
				more.show(url)
				continue
			}
			f.session.lose("missing picture", 1)
		default:
			f.session.lose(kind+" block", 1)
		}
	}
	if len(f.open) > 0 && !said {
		f.waiting = append(f.waiting, results...)
		f.late = append(f.late, l)
		return
	}
	f.flush()
	f.report(l)
	for _, m := range results {
		f.agent.Add(m)
	}
	if said || len(results) == 0 {
		f.agent.Add(more.message(runtime.RoleUser))
	}
}

// result is the text of what a call gave.
func (f *claudeFeed) result(content jsontext.Value) string {
	if content.Kind() == '"' {
		return text(content)
	}
	var all strings.Builder
	for _, part := range listOf(content) {
		p := members(part, "type", "text")
		if kind := text(p.of("type")); kind == "text" {
			all.WriteString(text(p.of("text")))
		} else {
			f.session.lose("tool result "+kind, 1)
		}
	}
	return all.String()
}

// imageURL is a picture as chat completions have it, "" of one that is not in
// the file.
func imageURL(source jsontext.Value) string {
	s := members(source, "type", "media_type", "data", "url")
	if text(s.of("type")) == "base64" && s.of("data") != nil {
		return "data:" + text(s.of("media_type")) + ";base64," + text(s.of("data"))
	}
	return text(s.of("url"))
}

// attachment takes what the client puts between the messages, where the line
// holds the very text. Of a command that was typed ahead that is the prompt; all
// else is no word of the user's, also where it is sent as one.
func (f *claudeFeed) attachment(l *claudeLine) {
	var said told
	for _, part := range listOf(l.rendered) {
		said.say(text(members(part, "content").of("content")))
	}
	role := runtime.RoleSystem
	switch {
	case said.words() != "" && l.subtype != "queued_command":
	case l.subtype == "queued_command" && l.prompt.Kind() == '"':
		role = runtime.RoleUser
		said.say(text(l.prompt))
	case l.subtype == "prompt_snapshot" && l.content != nil:
		return // see system
	default:
		f.session.lose(strings.TrimSpace(l.subtype+" attachment"), 1)
		return
	}
	m := said.message(role)
	if len(f.open) > 0 { // it stands behind the results
		f.after = append(f.after, m)
		return
	}
	f.agent.Add(m)
}

// flush ends the answer at hand, and gives its results behind it.
func (f *claudeFeed) flush() {
	if len(f.open) > 0 {
		f.answer(f.open)
	}
	for _, m := range f.waiting {
		f.agent.Add(m)
	}
	for _, m := range f.after {
		f.agent.Add(m)
	}
	for _, l := range f.late {
		f.report(l)
	}
	f.open, f.waiting, f.after, f.late = nil, nil, nil, nil
}

// report ends an agent of which the session's file holds what it did and not
// what it said at the end: that is the result of its call.
func (f *claudeFeed) report(l *claudeLine) {
	ids, _ := l.answers()
	if len(ids) != 1 || f.reported[ids[0]] == nil || l.result.Kind() != '{' {
		return
	}
	r := members(l.result, "status", "content", "isAsync")
	if status := text(r.of("status")); (status == "completed" || status == "") && !isTrue(r.of("isAsync")) {
		f.reported[ids[0]].Ended(f.result(r.of("content")))
	}
}

// answer puts an answer together of the lines that it is written on. The usage
// counts once; the last line has it whole.
func (f *claudeFeed) answer(lines []*claudeLine) {
	var said spoken
	answer := &runtime.Answer{}
	for _, l := range lines {
		f.blocks(&said, l)
		if l.usage.Kind() == '{' {
			answer.Usage = claudeUsage(l.usage)
		}
		if l.stop != "" {
			answer.Finish = l.stop
		}
		if l.model != "" && l.model != "<synthetic>" { // words of the client, as of a failed request
			answer.Model = l.model
		}
	}
	answer.Message = said.message()
	first, last := lines[0], lines[len(lines)-1]
	f.agent.Answer(answer, f.clock.spot(first.number, f.sent, last.at))
	for _, c := range answer.Message.Calls {
		prompt := ""
		if transcripts.Delegates(c.Name) {
			_, prompt = transcripts.Brief(c.Arguments)
		}
		for _, child := range f.session.children(c.ID, prompt) {
			if !child.fed {
				to := f.agent.Child(c.ID)
				f.session.feed(child, to)
				if !child.apart {
					f.reported[c.ID] = to
				}
			}
		}
	}
}

func (f *claudeFeed) blocks(said *spoken, l *claudeLine) {
	if l.content.Kind() == '"' {
		said.text.WriteString(text(l.content))
		return
	}
	for _, block := range listOf(l.content) {
		b := members(block, "type", "text", "thinking", "id", "name", "input")
		switch kind := text(b.of("type")); kind {
		case "text":
			said.text.WriteString(text(b.of("text")))
		case "thinking":
			thought := text(b.of("thinking"))
			if thought == "" {
				f.session.lose("textless thinking block", 1)
			}
			said.thought.WriteString(thought)
		case "tool_use":
			said.call(idText(b.of("id")), text(b.of("name")), compact(b.of("input")))
		default:
			f.session.lose(kind+" block", 1)
		}
	}
}

// claudeUsage reads the usage of an answer. What came from a cache, and what was
// written to one, is input too.
func claudeUsage(v jsontext.Value) runtime.Usage {
	m := members(v, "input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens", "output_tokens")
	cached := count(m.of("cache_read_input_tokens"))
	return runtime.Usage{
		Input:  count(m.of("input_tokens")) + count(m.of("cache_creation_input_tokens")) + cached,
		Output: count(m.of("output_tokens")), Cached: cached,
	}
}
