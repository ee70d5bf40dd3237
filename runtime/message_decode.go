package runtime

import (
	"bytes"
	"errors"
	"fmt"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
)

// ParseMessage reads one chat message of any role, as this program or another
// wrote it. Raw is raw itself, without white space around it. Unknown roles and
// members are kept; text that is no JSON object or has no role is an error.
func ParseMessage(raw []byte) (Message, error) {
	raw = bytes.TrimSpace(raw)
	members, err := membersOf(raw)
	if err != nil {
		return Message{}, fmt.Errorf("read message: %w", err)
	}
	role, ok := textOf(memberOf(members, "role"))
	if !ok || role == "" {
		return Message{}, errors.New("read message: it has no role")
	}
	m := Message{Role: Role(role), Raw: raw}
	m.Content = textOfContent(memberOf(members, "content"))
	m.CallID = idOf(memberOf(members, "tool_call_id"))
	calls, err := rawCalls(members)
	if err != nil {
		return Message{}, fmt.Errorf("read message: %w", err)
	}
	for _, call := range calls {
		m.Calls = append(m.Calls, parseCall(call))
	}
	return m, nil
}

// rawCalls returns the JSON of each call of a message: its tool_calls, one
// object written without a list included, else the older function_call.
func rawCalls(members []span) ([]jsontext.Value, error) {
	list := memberOf(members, "tool_calls")
	if list.Kind() == '{' {
		return []jsontext.Value{list}, nil
	}
	var calls []jsontext.Value
	if !isNull(list) {
		elements, err := elementsOf(list)
		if err != nil {
			return nil, fmt.Errorf("tool_calls: %w", err)
		}
		for _, e := range elements {
			if e.value.Kind() != '{' {
				return nil, fmt.Errorf("tool_calls: a call that is %w", errNotObject)
			}
			calls = append(calls, e.value)
		}
	}
	if old := memberOf(members, "function_call"); len(calls) == 0 && isFunctionCall(old) {
		calls = append(calls, old)
	}
	return calls, nil
}

// isFunctionCall reports a function_call that says something: Snowflake fills
// the member in with two empty texts.
func isFunctionCall(v jsontext.Value) bool {
	if v.Kind() != '{' {
		return false
	}
	call := parseCall(v)
	return call.Name != "" || call.Arguments != ""
}

// parseCall reads one element of tool_calls, or a function_call.
func parseCall(raw jsontext.Value) Call {
	members, _ := membersOf(raw) // rawCalls has seen that it is an object
	call := Call{Raw: raw}
	call.ID = idOf(memberOf(members, "id"))
	function := members
	if inner, err := membersOf(memberOf(members, "function")); err == nil {
		function = inner
	}
	call.Name, _ = textOf(memberOf(function, "name"))
	call.Arguments = argumentsText(memberOf(function, "arguments"))
	return call
}

// argumentsText returns the text of arguments in whatever form they came.
func argumentsText(v jsontext.Value) string {
	if isNull(v) {
		return ""
	}
	if text, ok := textOf(v); ok {
		return text
	}
	compact := v.Clone()
	if err := compact.Compact(tolerant...); err != nil {
		return string(v)
	}
	return string(compact)
}

// textOfContent returns the text of a message's content: a string, or the text
// parts of a list joined.
func textOfContent(v jsontext.Value) string {
	if text, ok := textOf(v); ok {
		return text
	}
	parts, err := elementsOf(v)
	if err != nil {
		return ""
	}
	var text strings.Builder
	for _, part := range parts {
		text.WriteString(partText(part.value, "text"))
	}
	return text.String()
}

// partText returns the text of one part of a list of content if it is of the
// given type; the type names the member that holds the text.
func partText(part jsontext.Value, kind string) string {
	members, err := membersOf(part)
	if err != nil {
		return ""
	}
	if got, _ := textOf(memberOf(members, "type")); got != kind {
		return ""
	}
	text, _ := textOf(memberOf(members, kind))
	return text
}

// WithCallIDs returns m with the ids of its calls replaced, in Raw and in
// Calls, and nothing else changed: ids[i] is the new id of call i. The runtime
// repairs empty and repeated ids with it. An id that the message does not have
// is put in front. It panics if the numbers differ.
func (m Message) WithCallIDs(ids []string) Message {
	if len(ids) != len(m.Calls) {
		panic(fmt.Sprintf("WithCallIDs: %d ids for %d calls", len(ids), len(m.Calls)))
	}
	members, err := membersOf(m.Raw)
	list := memberOf(members, "tool_calls")
	if err != nil || list.Kind() != '[' {
		return m
	}
	elements, _ := elementsOf(list)
	calls := make([]Call, len(ids))
	var out jsontext.Value
	done := 0 // how much of list is in out
	for i, e := range elements {
		raw := withID(e.value, ids[i])
		out = append(append(out, list[done:e.start]...), raw...)
		done = e.start + len(e.value)
		calls[i] = m.Calls[i]
		calls[i].ID, calls[i].Raw = ids[i], raw
	}
	out = append(out, list[done:]...)
	m.Raw = splice(m.Raw, members, "tool_calls", out)
	m.Calls = calls
	return m
}

// withID returns the call raw with its id replaced.
func withID(raw jsontext.Value, id string) jsontext.Value {
	members, _ := membersOf(raw)
	if memberOf(members, "id") != nil {
		return splice(raw, members, "id", quote(id))
	}
	out := appendMember(jsontext.Value{'{'}, "id", quote(id))
	if len(members) > 0 {
		out = append(out, ',')
	}
	return append(out, raw[1:]...)
}

// splice returns the object raw with the value of the member name, the last of
// that name, replaced.
func splice(raw jsontext.Value, members []span, name string, value []byte) jsontext.Value {
	for i := len(members) - 1; i >= 0; i-- {
		if m := members[i]; m.name == name {
			out := append(raw[:m.start:m.start], value...)
			return append(out, raw[m.start+len(m.value):]...)
		}
	}
	return raw
}
