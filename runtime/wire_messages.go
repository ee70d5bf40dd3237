package runtime

import (
	"strings"

	"github.com/go-json-experiment/json/jsontext"
)

// messagesChatForm gives an Anthropic message as chat messages. Of an assistant
// the text blocks and the calls are one message. Of a user each result of a
// call is a message of the role tool, and the text between two results one of
// the role user, in the order of the blocks. Thinking, images and what the
// server ran by itself have no chat form.
func messagesChatForm(m Message) []Message {
	members, err := membersOf(m.Raw)
	if err != nil {
		return []Message{m}
	}
	blocks, err := elementsOf(memberOf(members, "content"))
	if err != nil {
		if m.Role == RoleAssistant {
			return []Message{assistantMessage(m.Content, "", nil)}
		}
		return []Message{plainMessage(m.Role, m.Content)}
	}
	if m.Role == RoleAssistant {
		return []Message{assistantMessage(m.Content, "", m.Calls)}
	}
	var list []Message
	var text strings.Builder
	said := false
	flush := func() {
		if said {
			list = append(list, plainMessage(m.Role, text.String()))
		}
		text.Reset()
		said = false
	}
	for _, b := range blocks {
		block, err := membersOf(b.value)
		if err != nil {
			continue
		}
		kind, _ := textOf(memberOf(block, "type"))
		if kind == "tool_result" {
			flush()
			id := idOf(memberOf(block, "tool_use_id"))
			list = append(list, ToolMessage(id, textOfContent(memberOf(block, "content"))))
			continue
		}
		said = true
		text.WriteString(partText(b.value, "text"))
	}
	flush()
	if len(list) == 0 { // no block at all
		list = append(list, plainMessage(m.Role, ""))
	}
	return list
}

// parseMessagesItem reads one element of an Anthropic messages list. Calls are
// its tool_use blocks; CallID is that of its first result.
func parseMessagesItem(raw []byte) (Message, error) {
	m, err := ParseMessage(raw)
	if err != nil {
		return m, err
	}
	m.Calls, m.CallID = nil, ""
	members, _ := membersOf(m.Raw)
	blocks, _ := elementsOf(memberOf(members, "content"))
	for _, b := range blocks {
		block, err := membersOf(b.value)
		if err != nil {
			continue
		}
		switch kind, _ := textOf(memberOf(block, "type")); kind {
		case "tool_use":
			m.Calls = append(m.Calls, toolUse(block, b.value))
		case "tool_result":
			if m.CallID == "" {
				m.CallID = idOf(memberOf(block, "tool_use_id"))
			}
		}
	}
	return m, nil
}

// toolUse reads a tool_use block.
func toolUse(block []span, raw jsontext.Value) Call {
	call := Call{ID: idOf(memberOf(block, "id")), Raw: raw}
	call.Name, _ = textOf(memberOf(block, "name"))
	if call.Arguments = argumentsText(memberOf(block, "input")); call.Arguments == "" {
		call.Arguments = "{}"
	}
	return call
}
