package export

import (
	"github.com/go-json-experiment/json/jsontext"
	"github.com/tapetree/tapetree/runtime"
)

// The messages as the conventions' schemas gen-ai-input-messages.json and
// gen-ai-output-messages.json have them: a role, and parts of a type each.

func inputMessages(list []runtime.Message) []byte {
	out := []byte{'['}
	for i, m := range list {
		if i > 0 {
			out = append(out, ',')
		}
		out = append(appendMessage(out, m), '}')
	}
	return append(out, ']')
}

func outputMessages(a *runtime.Answer) []byte {
	out := appendMessage([]byte{'['}, a.Message)
	return append(appendText(append(out, `,"finish_reason":`...), finishOf(a.Finish)), "}]"...)
}

// finishOf puts a finish reason into the words of the conventions, as far as
// they have one.
func finishOf(finish string) string {
	switch finish {
	case "tool_calls", "function_call", "tool_use":
		return "tool_call"
	case "end_turn", "stop_sequence", "completed", "":
		return "stop"
	case "max_tokens", "max_output_tokens":
		return "length"
	case "refusal":
		return "content_filter"
	default:
		return finish
	}
}

// appendMessage appends a message without its closing brace.
func appendMessage(out []byte, m runtime.Message) []byte {
	out = appendText(append(out, `{"role":`...), string(m.Role))
	out = append(out, `,"parts":[`...)
	parts := 0
	next := func() {
		if parts++; parts > 1 {
			out = append(out, ',')
		}
	}
	switch {
	case m.Role == runtime.RoleTool:
		next()
		out = appendText(append(out, `{"type":"tool_call_response","id":`...), m.CallID)
		out = append(appendText(append(out, `,"response":`...), m.Content), '}')
	case m.Content != "":
		next()
		out = append(appendText(append(out, `{"type":"text","content":`...), m.Content), '}')
	}
	for _, c := range m.Calls {
		next()
		out = appendText(append(out, `{"type":"tool_call","id":`...), c.ID)
		out = appendText(append(out, `,"name":`...), c.Name)
		out = append(append(append(out, `,"arguments":`...), argumentsValue(c.Arguments)...), '}')
	}
	return append(out, ']')
}

// argumentsValue are a call's arguments as JSON; as a text where they are none.
func argumentsValue(text string) []byte {
	if value := jsontext.Value(text); value.IsValid() {
		return value
	}
	return appendText(nil, text)
}

// textParts is a system text as the conventions have it.
func textParts(text string) []byte {
	return append(appendText([]byte(`[{"type":"text","content":`), text), "}]"...)
}
