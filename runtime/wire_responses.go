package runtime

import (
	"bytes"
	"errors"
	"fmt"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
)

// parseResponsesItem reads one element of a Responses input list. A message has
// its role; a call of the model has the role assistant and one of Calls, a
// result the role tool and the CallID; items that are neither (reasoning,
// searches that the server made, references) have no role.
func parseResponsesItem(raw []byte) (Message, error) {
	raw = bytes.TrimSpace(raw)
	if text, ok := textOf(raw); ok {
		if !jsontext.Value(raw).IsValid(tolerant...) {
			return Message{}, errors.New("read item: not valid JSON")
		}
		return Message{Role: RoleUser, Content: text, Raw: raw}, nil
	}
	members, err := membersOf(raw)
	if err != nil {
		return Message{}, fmt.Errorf("read item: %w", err)
	}
	m := Message{Raw: raw}
	kind, _ := textOf(memberOf(members, "type"))
	role, _ := textOf(memberOf(members, "role"))
	if kind == "" && role == "" {
		return Message{}, errors.New("read item: it has neither type nor role")
	}
	if call, ok := itemCall(kind, members); ok {
		m.Role = RoleAssistant
		m.Calls = []Call{{ID: call.id, Name: call.name, Arguments: call.arguments(), Raw: raw}}
		return m, nil
	}
	if id, ok := itemResult(kind, members); ok {
		m.Role, m.CallID = RoleTool, id
		m.Content, _ = itemText(memberOf(members, "output"))
		return m, nil
	}
	m.Role = Role(role)
	if role != "" {
		m.Content, _ = itemText(memberOf(members, "content"))
	}
	return m, nil
}

// responsesChatForm gives an item as chat messages; none for one without role.
func responsesChatForm(m Message) []Message {
	switch {
	case m.Role == "":
		return nil
	case m.Role == RoleTool:
		return []Message{ToolMessage(m.CallID, m.Content)}
	case m.Role == RoleAssistant:
		refusal := ""
		if members, err := membersOf(m.Raw); err == nil {
			_, refusal = itemText(memberOf(members, "content"))
		}
		return []Message{assistantMessage(m.Content, refusal, m.Calls)}
	default:
		return []Message{plainMessage(m.Role, m.Content)}
	}
}

// assistantMessage builds the canonical message of an assistant from its text
// and calls.
func assistantMessage(text, refusal string, calls []Call) Message {
	a := answerParts{}
	if text != "" || refusal != "" {
		p := a.at(0)
		p.given = text
		p.refusal.add(quote(refusal))
	}
	for i, call := range calls {
		p := a.at(i + 1)
		p.call, p.callID, p.name, p.given = true, call.ID, call.Name, call.Arguments
	}
	return a.canonical()
}

// MergeAssistant joins messages of an assistant that are parts of one answer
// into its canonical message: their texts joined, their calls in order.
func MergeAssistant(parts []Message) Message {
	if len(parts) == 1 {
		return parts[0]
	}
	var text, refusal strings.Builder
	var calls []Call
	for _, m := range parts {
		text.WriteString(m.Content)
		calls = append(calls, m.Calls...)
		if members, err := membersOf(m.Raw); err == nil {
			refused, _ := textOf(memberOf(members, "refusal"))
			refusal.WriteString(refused)
		}
	}
	return assistantMessage(text.String(), refusal.String(), calls)
}

// responsesCall is a call as an item tells of it.
type responsesCall struct {
	id, name string
	text     string // the arguments, or free text
	free     bool
}

func (c responsesCall) arguments() string {
	if c.free {
		return freeInput(c.text)
	}
	if strings.TrimSpace(c.text) == "" {
		return "{}"
	}
	return c.text
}

// itemCall reads an item that is a call which the client answers: a function, a
// custom tool, or one of the built-in tools that run at the client (shell,
// computer, patches), which have a call_id. What the server runs by itself is
// none.
func itemCall(kind string, members []span) (responsesCall, bool) {
	id, hasID := textOf(memberOf(members, "call_id"))
	if !strings.HasSuffix(kind, "_call") || !hasID && kind != "function_call" && kind != "custom_tool_call" {
		return responsesCall{}, false
	}
	if !hasID { // an empty one stays empty: results of such calls pair by occurrence
		id, _ = textOf(memberOf(members, "id"))
	}
	call := responsesCall{id: id}
	call.name, _ = textOf(memberOf(members, "name"))
	if call.name == "" && kind != "function_call" && kind != "custom_tool_call" {
		call.name = strings.TrimSuffix(kind, "_call")
	}
	if kind == "custom_tool_call" {
		call.free = true
		call.text = argumentsText(memberOf(members, "input"))
		return call, true
	}
	for _, name := range []string{"arguments", "action", "operation", "input"} {
		if call.text = argumentsText(memberOf(members, name)); call.text != "" {
			break
		}
	}
	return call, true
}

// itemResult reads an item that is the result of a call, and returns which.
func itemResult(kind string, members []span) (callID string, ok bool) {
	callID, ok = textOf(memberOf(members, "call_id"))
	return callID, ok && strings.HasSuffix(kind, "_output")
}

// itemText returns the text of an item's content or output, and the text with
// which the model refused: a string, or the texts of parts joined.
func itemText(v jsontext.Value) (text, refusal string) {
	if text, ok := textOf(v); ok {
		return text, ""
	}
	parts, err := elementsOf(v)
	if err != nil {
		return "", ""
	}
	var said, refused strings.Builder
	for _, part := range parts {
		members, err := membersOf(part.value)
		if err != nil {
			continue
		}
		text, _ := textOf(memberOf(members, "text"))
		said.WriteString(text)
		text, _ = textOf(memberOf(members, "refusal"))
		refused.WriteString(text)
	}
	return said.String(), refused.String()
}
