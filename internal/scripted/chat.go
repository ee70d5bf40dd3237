package scripted

import "fmt"

// chatWire is OpenAI chat completions.
var chatWire = wire{whole: chatWhole, events: chatEvents}

func (a answer) chatCall(i int) string { return fmt.Sprintf("call_%s_%d", a.id, i+1) }

func (a answer) chatFinish() string {
	if len(a.Calls) > 0 {
		return "tool_calls"
	}
	return "stop"
}

func (a answer) chatUsage() object {
	return object{"prompt_tokens", a.input, "completion_tokens", a.output(), "total_tokens", a.input + a.output()}
}

// nullable is a text, or null when there is none.
func nullable(text string) any {
	if text == "" {
		return nil
	}
	return text
}

func chatWhole(a answer) object {
	message := object{"role", "assistant", "content", nullable(a.Text)}
	if len(a.Calls) == 0 {
		message = object{"role", "assistant", "content", a.Text}
	}
	calls := list{}
	for i, call := range a.Calls {
		calls = append(calls, object{"id", a.chatCall(i), "type", "function", "function", object{"name", call.Name, "arguments", string(call.Arguments)}})
	}
	if len(calls) > 0 {
		message = message.with("tool_calls", calls)
	}
	choice := object{"index", 0, "message", message, "finish_reason", a.chatFinish()}
	return object{
		"id", "chatcmpl-" + a.id, "object", "chat.completion", "created", created, "model", a.model,
		"choices", list{choice}, "usage", a.chatUsage(),
	}
}

// chatEvents streams the role, the text word by word, then each call: its name
// first, then its arguments in pieces.
func chatEvents(a answer, usage bool) []event {
	head := object{"id", "chatcmpl-" + a.id, "object", "chat.completion.chunk", "created", created, "model", a.model}
	var events []event
	add := func(delta object, finish any) {
		choice := object{"index", 0, "delta", delta, "finish_reason", finish}
		events = append(events, event{data: encode(head.with("choices", list{choice}))})
	}
	add(object{"role", "assistant", "content", ""}, nil)
	for _, word := range words(a.Text) {
		add(object{"content", word}, nil)
	}
	for i, call := range a.Calls {
		add(object{"tool_calls", list{object{
			"index", i, "id", a.chatCall(i), "type", "function", "function", object{"name", call.Name, "arguments", ""},
		}}}, nil)
		for _, piece := range pieces(string(call.Arguments), a.piece) {
			add(object{"tool_calls", list{object{"index", i, "function", object{"arguments", piece}}}}, nil)
		}
	}
	add(object{}, a.chatFinish())
	if usage {
		events = append(events, event{data: encode(head.with("choices", list{}, "usage", a.chatUsage()))})
	}
	return append(events, event{data: []byte("[DONE]")})
}
