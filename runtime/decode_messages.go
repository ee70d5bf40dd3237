package runtime

import (
	"github.com/go-json-experiment/json/jsontext"
)

// messagesDecoder reads answers of the Anthropic Messages wire. Its events tell
// of blocks, each under an index: started, its pieces, stopped.
type messagesDecoder struct {
	parts answerParts
	usage jsontext.Value // all that was told so far
}

func (d *messagesDecoder) answerParts() *answerParts { return &d.parts }

func (d *messagesDecoder) lastEvent() string { return "stop_reason and message_stop" }

func (d *messagesDecoder) event(s *streamDecoder, name string, members []span) {
	kind, ok := s.eventKind(name, members)
	if !ok {
		return
	}
	switch kind {
	case "message_start":
		if inner, err := membersOf(memberOf(members, "message")); err == nil {
			d.message(s, inner)
		}
	case "content_block_start":
		d.block(d.part(members, true), memberOf(members, "content_block"))
	case "content_block_delta":
		if inner, err := membersOf(memberOf(members, "delta")); err == nil {
			d.piece(d.part(members, false), inner)
		}
	case "content_block_stop":
		d.part(members, false).ended = true
	case "message_delta":
		if inner, err := membersOf(memberOf(members, "delta")); err == nil {
			d.stopReason(s, inner)
		}
		d.usageOf(s, memberOf(members, "usage"))
	case "message_stop":
		s.done = true
	case "message", "":
		if !isNull(memberOf(members, "content")) { // the whole answer in one event
			d.whole(s, members)
		}
	}
}

// whole takes a whole message.
func (d *messagesDecoder) whole(s *streamDecoder, members []span) (missing string) {
	if s.failed(members) {
		return ""
	}
	d.message(s, members)
	for _, p := range d.parts.parts {
		p.ended = true
	}
	s.done = true
	if content := memberOf(members, "content"); content.Kind() != '[' && content.Kind() != '"' {
		return "content"
	}
	return ""
}

// message takes a message, whole or as it stands at its start.
func (d *messagesDecoder) message(s *streamDecoder, members []span) {
	if model, _ := textOf(memberOf(members, "model")); model != "" {
		s.model = model
	}
	d.stopReason(s, members)
	d.usageOf(s, memberOf(members, "usage"))
	content := memberOf(members, "content")
	if text, ok := textOf(content); ok {
		d.parts.at(0).given = text
	}
	blocks, _ := elementsOf(content)
	for i, block := range blocks {
		d.block(d.parts.at(i), block.value)
	}
}

func (d *messagesDecoder) stopReason(s *streamDecoder, members []span) {
	if reason, _ := textOf(memberOf(members, "stop_reason")); reason != "" {
		s.finish = reason
	}
}

// part returns the part of an event's index; without an index the latest. A block
// that starts under an index that was used is a new part.
func (d *messagesDecoder) part(members []span, starts bool) *answerPart {
	if index := indexOf(memberOf(members, "index")); index >= 0 {
		p := d.parts.at(index)
		if starts && p.begun {
			p = d.parts.add(index)
		}
		return p
	}
	last := d.parts.last()
	switch {
	case last == nil:
		return d.parts.at(0)
	case starts:
		return d.parts.at(last.index + 1)
	default:
		return last
	}
}

// block takes a block, whole or as it starts. What the server runs by itself is
// no call.
func (d *messagesDecoder) block(p *answerPart, raw jsontext.Value) {
	p.begun = true
	members, err := membersOf(raw)
	if err != nil {
		return
	}
	switch kind, _ := textOf(memberOf(members, "type")); kind {
	case "text", "":
		p.given, _ = textOf(memberOf(members, "text"))
	case "tool_use":
		p.call = true
		p.callID = idOf(memberOf(members, "id"))
		p.name, _ = textOf(memberOf(members, "name"))
		p.given = argumentsText(memberOf(members, "input"))
	default:
		p.silent = true
	}
}

// piece takes a piece of a block.
func (d *messagesDecoder) piece(p *answerPart, delta []span) {
	for _, name := range []string{"text", "partial_json"} {
		piece := memberOf(delta, name)
		if piece.Kind() != '"' || p.silent {
			continue
		}
		if len(p.text.escaped) == 0 && name == "text" && p.given != "" { // the block began with text
			p.text.add(quote(p.given))
		}
		p.text.add(piece)
	}
}

// usageOf takes a usage object. In a stream each tells totals of some kinds of
// tokens; the last total of each kind counts.
func (d *messagesDecoder) usageOf(s *streamDecoder, v jsontext.Value) {
	if v.Kind() != '{' {
		return
	}
	if d.usage == nil {
		d.usage = jsontext.Value("{}")
	}
	d.usage = mergeObjects(d.usage, v)
	members, err := membersOf(d.usage)
	if err != nil || len(members) == 0 {
		return
	}
	cached := tokens(memberOf(members, "cache_read_input_tokens"))
	s.usage = Usage{
		Input:  tokens(memberOf(members, "input_tokens")) + tokens(memberOf(members, "cache_creation_input_tokens")) + cached,
		Output: tokens(memberOf(members, "output_tokens")),
		Cached: cached,
	}
}
