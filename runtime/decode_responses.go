package runtime

import (
	"strings"

	"github.com/go-json-experiment/json/jsontext"
)

// responsesDecoder reads answers of the Responses wire. Its events tell of
// items, each under an output_index: added, its pieces, done; the last event
// repeats the whole response. What came in pieces is put together; an item
// that is given whole when it is done, or only in the last event, counts as it
// stands there.
type responsesDecoder struct {
	parts answerParts
	ids   map[string]*answerPart // by the id of the item
}

func (d *responsesDecoder) answerParts() *answerParts { return &d.parts }

func (d *responsesDecoder) lastEvent() string { return "response.completed" }

func (d *responsesDecoder) event(s *streamDecoder, name string, members []span) {
	kind, ok := s.eventKind(name, members)
	if !ok {
		return
	}
	response := memberOf(members, "response")
	switch kind {
	case "response.created", "response.in_progress", "response.queued":
		if inner, err := membersOf(response); err == nil {
			d.about(s, inner)
		}
	case "response.completed", "response.incomplete", "response.failed", "response.cancelled", "response.done":
		d.last(s, strings.TrimPrefix(kind, "response."), response)
	case "response.output_item.added":
		d.item(d.part(members, true), memberOf(members, "item"), false)
	case "response.output_item.done":
		d.item(d.part(members, false), memberOf(members, "item"), true)
	case "":
		if memberOf(members, "output").Kind() == '[' { // the whole answer in one event
			d.whole(s, members)
		}
	default:
		d.piece(kind, members)
	}
}

// last takes the event that ends the stream.
func (d *responsesDecoder) last(s *streamDecoder, word string, response jsontext.Value) {
	s.done = true
	inner, err := membersOf(response)
	if err != nil {
		inner = nil
	}
	if status, _ := textOf(memberOf(inner, "status")); status == "" {
		inner = append(inner, span{name: "status", value: quote(word)})
	}
	d.whole(s, inner)
}

// whole takes a whole response. Items that a stream has told of before, found by
// their ids or else by their places, stay as they are if they were complete.
func (d *responsesDecoder) whole(s *streamDecoder, members []span) (missing string) {
	d.about(s, members)
	if s.failed(members) {
		return ""
	}
	output := memberOf(members, "output")
	items, _ := elementsOf(output)
	for i, item := range items {
		p := d.ids[itemID(item.value)]
		switch {
		case p != nil:
		case i < len(d.parts.parts):
			p = d.parts.parts[i]
		case i > 0:
			p = d.parts.add(d.parts.last().index + 1)
		default:
			p = d.parts.add(0)
		}
		if !p.ended {
			d.item(p, item.value, true)
		}
	}
	status, _ := textOf(memberOf(members, "status"))
	switch status {
	case "failed", "cancelled":
		s.err = s.fail(KindStream, "the response has the status "+status, status == "failed")
		return ""
	case "queued", "in_progress":
		s.err = s.malformed("the response is not finished: " + status)
		return ""
	case "incomplete":
		details, _ := membersOf(memberOf(members, "incomplete_details"))
		if s.finish, _ = textOf(memberOf(details, "reason")); s.finish == "" {
			s.finish = status
		}
	default:
		s.finish = status
	}
	s.done = true
	if output.Kind() != '[' {
		return "output"
	}
	return ""
}

// about takes what a response says of itself.
func (d *responsesDecoder) about(s *streamDecoder, members []span) {
	if id, _ := textOf(memberOf(members, "id")); id != "" {
		s.id = id
	}
	if model, _ := textOf(memberOf(members, "model")); model != "" {
		s.model = model
	}
	if usage, ok := responsesUsage(memberOf(members, "usage")); ok {
		s.usage = usage
	}
}

// part returns the part that an event tells of: that of its item's id, else of
// its output_index, else the latest. An item that is added with a new id is a new
// part, also under an index that was used (ollama gives all calls one).
func (d *responsesDecoder) part(members []span, added bool) *answerPart {
	id, _ := textOf(memberOf(members, "item_id"))
	if id == "" {
		id = itemID(memberOf(members, "item"))
	}
	if p := d.ids[id]; p != nil {
		return p
	}
	last := d.parts.last()
	index := indexOf(memberOf(members, "output_index"))
	var p *answerPart
	switch {
	case index >= 0:
		p = d.parts.at(index)
	case last == nil:
		p = d.parts.at(0)
	case added || last.ended:
		p = d.parts.at(last.index + 1)
	default:
		p = last
	}
	if p.begun && (added || p.ended && p.id != "" && id != "") {
		p = d.parts.add(p.index)
	}
	p.begun = true
	d.name(p, id)
	return p
}

// itemID is the id of an item, "" if it has none.
func itemID(raw jsontext.Value) string {
	members, err := membersOf(raw)
	if err != nil {
		return ""
	}
	id, _ := textOf(memberOf(members, "id"))
	return id
}

// name notes the id of an item.
func (d *responsesDecoder) name(p *answerPart, id string) {
	if id == "" {
		return
	}
	if d.ids == nil {
		d.ids = map[string]*answerPart{}
	}
	d.ids[id], p.id = p, id
}

// item takes an item as it stands when it is added, or when it is done.
func (d *responsesDecoder) item(p *answerPart, raw jsontext.Value, done bool) {
	members, err := membersOf(raw)
	if err != nil {
		return
	}
	p.ended = p.ended || done
	kind, _ := textOf(memberOf(members, "type"))
	if call, ok := itemCall(kind, members); ok {
		p.call, p.free = true, call.free
		p.callID, p.name = call.id, call.name
		if done || call.text != "" {
			p.given = call.text
		}
		if done && p.given != "" {
			p.text = jsonText{}
		}
		return
	}
	if kind != "message" && (kind != "" || isNull(memberOf(members, "content"))) {
		return
	}
	text, refusal := itemText(memberOf(members, "content"))
	if text != "" {
		p.given = text
		if done {
			p.text = jsonText{}
		}
	}
	if refusal != "" && len(p.refusal.escaped) == 0 {
		p.refusal.add(quote(refusal))
	}
}

// pieces are the events that bring a piece of an item, and those that bring all
// of it once more, with the member that holds it.
var pieces = map[string]string{
	"response.output_text.delta":             "delta",
	"response.output_text.done":              "text",
	"response.function_call_arguments.delta": "delta",
	"response.function_call_arguments.done":  "arguments",
	"response.custom_tool_call_input.delta":  "delta",
	"response.custom_tool_call_input.done":   "input",
	"response.refusal.delta":                 "delta",
	"response.refusal.done":                  "refusal",
}

// piece takes such an event; others tell nothing that an answer is made of. A
// text that is given at once counts where no piece of it came.
func (d *responsesDecoder) piece(kind string, members []span) {
	value := memberOf(members, pieces[kind])
	if value.Kind() != '"' {
		return
	}
	p := d.part(members, false)
	if p.ended {
		return
	}
	text := &p.text
	switch {
	case strings.HasPrefix(kind, "response.refusal."):
		text = &p.refusal
	case strings.HasPrefix(kind, "response.function_call_arguments."):
		p.call = true
	case strings.HasPrefix(kind, "response.custom_tool_call_input."):
		p.call, p.free = true, true
	}
	done := strings.HasSuffix(kind, ".done")
	if !done || len(text.escaped) == 0 {
		text.add(value)
	}
	p.ended = done && p.call
}

// responsesUsage reads a usage object of the Responses wire; false when v tells
// nothing.
func responsesUsage(v jsontext.Value) (Usage, bool) {
	members, err := membersOf(v)
	if err != nil || len(members) == 0 {
		return Usage{}, false
	}
	input, _ := membersOf(memberOf(members, "input_tokens_details"))
	output, _ := membersOf(memberOf(members, "output_tokens_details"))
	return Usage{
		Input:     tokens(memberOf(members, "input_tokens")),
		Output:    tokens(memberOf(members, "output_tokens")),
		Cached:    tokens(memberOf(input, "cached_tokens")),
		Reasoning: tokens(memberOf(output, "reasoning_tokens")),
	}, true
}
