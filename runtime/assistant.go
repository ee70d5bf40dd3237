package runtime

import (
	"strings"

	"github.com/go-json-experiment/json/jsontext"
)

// assistantText collects an assistant message, from one JSON object or from the
// deltas of a stream, and writes its canonical form: role, content, tool_calls,
// then the members that nobody here knows, in the order received.
type assistantText struct {
	content contentText
	extra   extras
	calls   callSlots

	callsOnly bool // only the calls are asked for: text is not collected
}

// add takes the members of a message or of a delta. In a whole message every
// element of tool_calls is a call of its own; in a delta it is a fragment.
func (a *assistantText) add(members []span, whole bool) error {
	for _, m := range latest(members) {
		switch m.name {
		case "role", "tool_calls", "function_call":
			continue
		}
		if a.callsOnly && (m.name != "content" || !a.empty()) {
			continue
		}
		switch m.name {
		case "content":
			a.content.add(m.value, whole)
		default:
			a.extra.add(m.name, m.value)
		}
	}
	fragments, err := rawCalls(members)
	if err != nil {
		return err
	}
	for _, fragment := range fragments {
		if err := a.calls.add(fragment, whole); err != nil {
			return err
		}
	}
	return nil
}

// empty reports that nothing came yet that a message is made of.
func (a *assistantText) empty() bool {
	return len(a.content.text.escaped) == 0 && len(a.content.parts) == 0 && len(a.calls.slots) == 0
}

// text is the text so far.
func (a *assistantText) text() string {
	_, text := a.content.value()
	return text
}

// refusal is the text with which the model refused.
func (a *assistantText) refusal() string {
	text, _ := textOf(a.extra.value("refusal"))
	if text != "" {
		return text
	}
	var parts strings.Builder
	for _, part := range a.content.parts {
		parts.WriteString(partText(part, "refusal"))
	}
	return parts.String()
}

// message writes the canonical message. It fails if a call has no name.
func (a *assistantText) message(d Dialect) (Message, error) {
	made, err := a.calls.finish()
	if err != nil {
		return Message{}, err
	}
	m := Message{Role: RoleAssistant, Calls: made}
	raw := appendMember(jsontext.Value{'{'}, "role", quote(string(RoleAssistant)))
	value, text := a.content.value()
	m.Content = text
	m.CallID, _ = textOf(a.extra.value("tool_call_id")) // some give it back; it means nothing here
	if m.Content == "" && len(made) > 0 && len(a.content.parts) == 0 {
		value = d.noText()
	}
	if value != nil {
		raw = appendMember(raw, "content", value)
	}
	if len(made) > 0 {
		raw = appendMember(raw, "tool_calls", callList(made))
	}
	if d.DropReasoning {
		a.extra.drop(isReasoning)
	}
	raw = a.extra.write(raw)
	m.Raw = append(raw, '}')
	return m, nil
}

// noText is the content of a message with calls and no text; nil for none.
func (d Dialect) noText() jsontext.Value {
	switch d.Content {
	case ContentEmpty:
		return jsontext.Value(`""`)
	case ContentAbsent:
		return nil
	default:
		return jsontext.Value("null")
	}
}

func callList(made []Call) jsontext.Value {
	var raws []jsontext.Value
	for _, call := range made {
		raws = append(raws, call.Raw)
	}
	return arrayOf(raws)
}

// jsonText is a text that arrives in pieces, each a JSON string. The pieces are
// joined before their escapes are read, for a provider may cut between the two
// halves of a surrogate pair.
type jsonText struct{ escaped []byte }

func (t *jsonText) add(piece jsontext.Value) {
	t.escaped = append(t.escaped, piece[1:len(piece)-1]...)
}

func (t *jsonText) String() string {
	whole := append(append([]byte{'"'}, t.escaped...), '"')
	text, _ := jsontext.AppendUnquote(nil, whole) // half a pair becomes U+FFFD
	return string(text)
}

// contentText collects a message's content: text, or a list of parts as Mistral
// sends it, or in a stream both by turns.
type contentText struct {
	seen  bool // text, be it ""
	text  jsonText
	parts []jsontext.Value
}

func (c *contentText) add(v jsontext.Value, whole bool) {
	switch v.Kind() {
	case '"':
		c.seen = true
		c.text.add(v)
	case '[':
		c.flush()
		elements, _ := elementsOf(v)
		for _, e := range elements {
			if whole {
				c.parts = append(c.parts, strictJSON(e.value))
			} else {
				c.parts = appendPart(c.parts, strictJSON(e.value))
			}
		}
	}
}

// flush makes the text so far a part.
func (c *contentText) flush() {
	if len(c.text.escaped) == 0 {
		return
	}
	part := appendMember(jsontext.Value{'{'}, "type", []byte(`"text"`))
	part = append(appendMember(part, "text", quote(c.text.String())), '}')
	c.parts = appendPart(c.parts, part)
	c.text = jsonText{}
}

// value is the content as it goes back, and its text.
func (c *contentText) value() (jsontext.Value, string) {
	switch {
	case c.parts != nil:
		c.flush()
		value := arrayOf(c.parts)
		return value, textOfContent(value)
	case c.seen:
		text := c.text.String()
		return quote(text), text
	default:
		return jsontext.Value("null"), ""
	}
}

// appendPart adds a part to the list, or to its last part when both are pieces
// of one: of the same type, with one further member of the same name, which is
// text in both or a list in both.
func appendPart(parts []jsontext.Value, part jsontext.Value) []jsontext.Value {
	if len(parts) > 0 {
		if joined := joinParts(parts[len(parts)-1], part); joined != nil {
			parts[len(parts)-1] = joined
			return parts
		}
	}
	return append(parts, part)
}

func joinParts(a, b jsontext.Value) jsontext.Value {
	left, errA := membersOf(a)
	right, errB := membersOf(b)
	if errA != nil || errB != nil || len(left) != 2 || len(right) != 2 {
		return nil
	}
	kind, name := memberOf(left, "type"), left[0].name
	if name == "type" {
		name = left[1].name
	}
	old, more := memberOf(left, name), memberOf(right, name)
	if kind == nil || string(kind) != string(memberOf(right, "type")) || more == nil || old.Kind() != more.Kind() {
		return nil
	}
	switch old.Kind() {
	case '"':
		text := append(append([]byte(nil), old[:len(old)-1]...), more[1:]...)
		return splice(a, left, name, text)
	case '[':
		return splice(a, left, name, joinLists(old, more))
	default:
		return nil
	}
}

func joinLists(a, b jsontext.Value) jsontext.Value {
	left, _ := elementsOf(a)
	right, _ := elementsOf(b)
	var parts []jsontext.Value
	for _, e := range append(left, right...) {
		parts = appendPart(parts, e.value)
	}
	return arrayOf(parts)
}
