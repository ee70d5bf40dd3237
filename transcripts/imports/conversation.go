package imports

import (
	"bytes"
	"cmp"
	"fmt"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/tapetree/tapetree/runtime"
	"github.com/tapetree/tapetree/transcripts"
)

// conversation feeds the messages of one agent, as their JSON comes, into a
// history.
type conversation struct {
	builder *transcripts.HistoryBuilder
	agent   *transcripts.AgentBuilder
	model   string            // that the file names for all answers
	open    []runtime.Message // items of one answer, on the wire Responses
	at      transcripts.Spot  // of the first of them
}

// add puts one message into the list. What is no message is a warning. Messages
// of chat completions may have their calls and results in blocks of content, as
// Anthropic has them, or may be items of the wire Responses.
func (c *conversation) add(raw jsontext.Value, at transcripts.Spot) {
	m, err := runtime.ParseMessage(raw)
	c.take(m, err, raw, at)
}

// take is add for a message that was parsed already.
func (c *conversation) take(m runtime.Message, err error, raw jsontext.Value, at transcripts.Spot) {
	switch {
	case err != nil && raw.Kind() == '{' && bytes.Contains(raw, []byte(`"type"`)):
		c.item(raw, at)
	case err != nil:
		c.builder.Warn(at.Line, notRead(err))
	case hasTyped(raw):
		c.item(raw, at)
	case len(m.Calls) == 0 && hasBlocks(raw):
		c.blocks(raw, m, at)
	default:
		c.put(m, at)
	}
}

// notRead says that a message was left out, and why.
func notRead(err error) string {
	return fmt.Sprintf("left out, no message: %s", strings.TrimPrefix(err.Error(), "read message: "))
}

// put puts a message into the list by its role.
func (c *conversation) put(m runtime.Message, at transcripts.Spot) {
	c.flush()
	switch m.Role {
	case runtime.RoleAssistant:
		c.answer(&runtime.Answer{Message: m, Refusal: refusal(m.Raw)}, at)
	case "function": // how results were called when an answer had one call at most
		m.Role = runtime.RoleTool
		c.agent.Add(m)
	default:
		c.agent.Add(m)
	}
}

func (c *conversation) answer(answer *runtime.Answer, at transcripts.Spot) {
	answer.Model = cmp.Or(answer.Model, c.model)
	c.agent.Answer(answer, at)
}

// refusal is the text with which the model refused, "" if it did not.
func refusal(raw jsontext.Value) string {
	if !bytes.Contains(raw, []byte(`"refusal"`)) {
		return ""
	}
	return text(members(raw, "refusal").of("refusal"))
}

// hasBlocks reports content that holds calls or results as Anthropic has them.
func hasBlocks(raw jsontext.Value) bool {
	return bytes.Contains(raw, []byte(`"tool_use"`)) || bytes.Contains(raw, []byte(`"tool_result"`))
}

// hasTyped reports content whose parts are typed as on the wire Responses.
func hasTyped(raw jsontext.Value) bool {
	if !bytes.Contains(raw, []byte(`"output_text"`)) && !bytes.Contains(raw, []byte(`"input_text"`)) {
		return false
	}
	parts, _ := elements(scan(members(raw, "content").of("content"), 1))
	for _, part := range parts {
		if kind := text(members(part.raw, "type").of("type")); kind == "output_text" || kind == "input_text" {
			return true
		}
	}
	return false
}

func (c *conversation) blocks(raw jsontext.Value, m runtime.Message, at transcripts.Spot) {
	item, err := runtime.WireMessages.ParseItem(raw)
	if err != nil {
		c.put(m, at)
		return
	}
	for _, form := range runtime.WireMessages.ChatForm(item) {
		c.put(form, at)
	}
}

// item takes an element of a list of the wire Responses. The elements of one
// answer are one message.
func (c *conversation) item(raw jsontext.Value, at transcripts.Spot) {
	item, err := runtime.WireResponses.ParseItem(raw)
	if err != nil {
		c.builder.Warn(at.Line, notRead(err))
		return
	}
	for _, form := range runtime.WireResponses.ChatForm(item) {
		if form.Role != runtime.RoleAssistant {
			c.put(form, at)
			continue
		}
		if len(c.open) == 0 {
			c.at = at
		}
		c.open = append(c.open, form)
	}
}

// merged is the answer that the open items make up, nil for none.
func (c *conversation) merged() *runtime.Answer {
	if len(c.open) == 0 {
		return nil
	}
	m := runtime.MergeAssistant(c.open)
	c.open = nil
	return &runtime.Answer{Message: m, Refusal: refusal(m.Raw)}
}

func (c *conversation) flush() {
	if answer := c.merged(); answer != nil {
		c.answer(answer, c.at)
	}
}

// losses counts what a file holds and a history has no place for.
type losses struct {
	kinds []string
	count map[string]int
	other []strange
}

// strange are lines that are of no kind that the format has.
type strange struct {
	kind  string
	first int // line
	count int
}

// stray counts a line of another format: what it is, and where it stands.
func (l *losses) stray(kind string, line int) {
	for i := range l.other {
		if l.other[i].kind == kind {
			l.other[i].count++
			return
		}
	}
	l.other = append(l.other, strange{kind, line, 1})
}

// strayKind says what a line is that has no type of the format at hand.
func strayKind(raw []byte) string {
	switch {
	case bytes.HasPrefix(raw, []byte(`{"kind":"`)):
		return "line of a tapetree transcript"
	case shapeOf(raw) != shapeNone:
		return "line of OpenAI messages"
	default:
		return "line without a type"
	}
}

// lossKinds is how many kinds of things are told apart: the kinds come from the
// file.
const lossKinds = 100

// lose counts one thing of a kind, such as "info object"; members of what was
// read are their name and the word member.
func (l *losses) lose(kind string, n int) {
	if l.count == nil {
		l.count = map[string]int{}
	}
	if len(l.kinds) >= lossKinds && l.count[kind] == 0 {
		kind = "other thing"
	}
	if l.count[kind] == 0 && n > 0 {
		l.kinds = append(l.kinds, kind)
	}
	l.count[kind] += n
}

func (l *losses) member(name string) { l.lose(fmt.Sprintf("%q member", name), 1) }

func (l *losses) tell(b *transcripts.HistoryBuilder) {
	for _, o := range l.other {
		if o.count == 1 {
			b.Warn(o.first, "left out, a "+o.kind)
		} else {
			b.Warn(o.first, fmt.Sprintf("left out, %d such: a %s", o.count, o.kind))
		}
	}
	for _, kind := range l.kinds {
		plural := "s"
		if l.count[kind] == 1 {
			plural = ""
		}
		b.Lost(fmt.Sprintf("%d %s%s", l.count[kind], kind, plural))
	}
}
