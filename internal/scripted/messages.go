package scripted

import "fmt"

// messagesWire is Anthropic Messages.
var messagesWire = wire{whole: messagesWhole, events: messagesEvents}

func (a answer) toolUse(i int) string { return fmt.Sprintf("toolu_%s_%d", a.id, i+1) }

func (a answer) stopReason() string {
	if len(a.Calls) > 0 {
		return "tool_use"
	}
	return "end_turn"
}

func messagesWhole(a answer) object {
	content := list{}
	if a.Text != "" {
		content = append(content, object{"type", "text", "text", a.Text})
	}
	for i, call := range a.Calls {
		content = append(content, object{"type", "tool_use", "id", a.toolUse(i), "name", call.Name, "input", call.Arguments})
	}
	return a.message(content, a.stopReason(), a.output())
}

func (a answer) message(content list, stop any, output int) object {
	return object{
		"id", "msg_" + a.id, "type", "message", "role", "assistant", "model", a.model, "content", content,
		"stop_reason", stop, "stop_sequence", nil, "usage", object{"input_tokens", a.input, "output_tokens", output},
	}
}

func messagesEvents(a answer, _ bool) []event {
	var events []event
	add := func(name string, members ...any) {
		events = append(events, event{name: name, data: encode(append(object{"type", name}, members...))})
	}
	add("message_start", "message", a.message(list{}, nil, 1))
	index := 0
	if a.Text != "" {
		add("content_block_start", "index", index, "content_block", object{"type", "text", "text", ""})
		add("ping")
		for _, word := range words(a.Text) {
			add("content_block_delta", "index", index, "delta", object{"type", "text_delta", "text", word})
		}
		add("content_block_stop", "index", index)
		index++
	}
	for i, call := range a.Calls {
		add("content_block_start", "index", index, "content_block", object{"type", "tool_use", "id", a.toolUse(i), "name", call.Name, "input", object{}})
		for _, piece := range pieces(string(call.Arguments), a.piece) {
			add("content_block_delta", "index", index, "delta", object{"type", "input_json_delta", "partial_json", piece})
		}
		add("content_block_stop", "index", index)
		index++
	}
	add("message_delta", "delta", object{"stop_reason", a.stopReason(), "stop_sequence", nil}, "usage", object{"output_tokens", a.output()})
	add("message_stop")
	return events
}
