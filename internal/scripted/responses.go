package scripted

import "fmt"

// responsesWire is OpenAI Responses.
var responsesWire = wire{whole: responsesWhole, events: responsesEvents}

// response is the envelope, which the stream repeats at its start and its end.
func (a answer) response(status string, output list, usage any) object {
	return object{
		"id", "resp_" + a.id, "object", "response", "created_at", created, "status", status, "error", nil, "incomplete_details", nil,
		"instructions", nil, "metadata", object{}, "model", a.model, "output", output, "parallel_tool_calls", true,
		"temperature", 1, "tool_choice", "auto", "tools", list{}, "top_p", 1, "usage", usage,
	}
}

func (a answer) responsesUsage() object {
	return object{
		"input_tokens", a.input, "input_tokens_details", object{"cached_tokens", 0},
		"output_tokens", a.output(), "output_tokens_details", object{"reasoning_tokens", 0}, "total_tokens", a.input + a.output(),
	}
}

func outputText(text string) object {
	return object{"type", "output_text", "text", text, "annotations", list{}, "logprobs", list{}}
}

func (a answer) outputMessage(status string, content list) object {
	return object{"id", "msg_" + a.id, "type", "message", "status", status, "role", "assistant", "content", content}
}

func (a answer) functionCall(i int, status, arguments string) object {
	return object{
		"id", fmt.Sprintf("fc_%s_%d", a.id, i+1), "type", "function_call", "status", status,
		"arguments", arguments, "call_id", a.chatCall(i), "name", a.Calls[i].Name,
	}
}

func (a answer) outputs() list {
	output := list{}
	if a.Text != "" {
		output = append(output, a.outputMessage("completed", list{outputText(a.Text)}))
	}
	for i, call := range a.Calls {
		output = append(output, a.functionCall(i, "completed", string(call.Arguments)))
	}
	return output
}

func responsesWhole(a answer) object {
	return a.response("completed", a.outputs(), a.responsesUsage())
}

func responsesEvents(a answer, _ bool) []event {
	var events []event
	add := func(name string, members ...any) {
		data := append(object{"type", name, "sequence_number", len(events)}, members...)
		events = append(events, event{name: name, data: encode(data)})
	}
	add("response.created", "response", a.response("in_progress", list{}, nil))
	add("response.in_progress", "response", a.response("in_progress", list{}, nil))
	index := 0
	if a.Text != "" {
		a.textEvents(add)
		index++
	}
	for i, call := range a.Calls {
		item := fmt.Sprintf("fc_%s_%d", a.id, i+1)
		add("response.output_item.added", "output_index", index, "item", a.functionCall(i, "in_progress", ""))
		for _, piece := range pieces(string(call.Arguments), a.piece) {
			add("response.function_call_arguments.delta", "item_id", item, "output_index", index, "delta", piece)
		}
		add("response.function_call_arguments.done", "item_id", item, "output_index", index, "arguments", string(call.Arguments))
		add("response.output_item.done", "output_index", index, "item", a.functionCall(i, "completed", string(call.Arguments)))
		index++
	}
	add("response.completed", "response", responsesWhole(a))
	return events
}

// textEvents streams the text, which is the first output.
func (a answer) textEvents(add func(name string, members ...any)) {
	at := []any{"item_id", "msg_" + a.id, "output_index", 0, "content_index", 0}
	inside := func(name string, members ...any) {
		add(name, append(at[:len(at):len(at)], members...)...)
	}
	add("response.output_item.added", "output_index", 0, "item", a.outputMessage("in_progress", list{}))
	inside("response.content_part.added", "part", outputText(""))
	for _, word := range words(a.Text) {
		inside("response.output_text.delta", "delta", word, "logprobs", list{})
	}
	inside("response.output_text.done", "text", a.Text, "logprobs", list{})
	inside("response.content_part.done", "part", outputText(a.Text))
	add("response.output_item.done", "output_index", 0, "item", a.outputMessage("completed", list{outputText(a.Text)}))
}
