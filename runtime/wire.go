package runtime

import (
	"strings"

	"github.com/go-json-experiment/json/jsontext"
)

// Wire is the form in which a client and a model provider talk.
type Wire string

// The wires that are understood. All else passes through unread.
const (
	WireChat      Wire = "chat"      // OpenAI chat completions, and what is compatible
	WireResponses Wire = "responses" // OpenAI Responses
	WireMessages  Wire = "messages"  // Anthropic Messages
)

// WireOf returns the wire that a POST to an URL path speaks; false for a path
// that asks for no model answer.
func WireOf(path string) (Wire, bool) {
	path = strings.TrimRight(path, "/")
	switch {
	case strings.HasSuffix(path, "/chat/completions"):
		return WireChat, true
	case strings.HasSuffix(path, "/responses"):
		return WireResponses, true
	case strings.HasSuffix(path, "/v1/messages"), path == "/messages":
		return WireMessages, true
	}
	return "", false
}

// Known reports whether w is a wire of this program.
func (w Wire) Known() bool {
	return w == WireChat || w == WireResponses || w == WireMessages
}

// List is the member of a request body that holds the conversation.
func (w Wire) List() string {
	if w == WireResponses {
		return "input"
	}
	return "messages"
}

// System is the member of a request body that holds the system text beside the
// conversation; "" where it is a message like the others.
func (w Wire) System() string {
	switch w {
	case WireResponses:
		return "instructions"
	case WireMessages:
		return "system"
	default:
		return ""
	}
}

// ParseItem reads one element of a conversation in the wire's own form. Raw is
// the element as it came; of the other fields those are set that it has. Text
// that is no JSON object of the wire is an error; for Responses a bare string,
// the short form of one user message, is none.
func (w Wire) ParseItem(raw []byte) (Message, error) {
	switch w {
	case WireResponses:
		return parseResponsesItem(raw)
	case WireMessages:
		return parseMessagesItem(raw)
	default:
		return ParseMessage(raw)
	}
}

// ChatForm gives an element of a conversation as chat messages, which is what
// attribution, histories and checks read: none, one or several. Calls and
// results of other wires become calls and results of chat completions; what
// has no chat form keeps its role and its text. For WireChat it is m itself.
func (w Wire) ChatForm(m Message) []Message {
	switch w {
	case WireResponses:
		return responsesChatForm(m)
	case WireMessages:
		return messagesChatForm(m)
	default:
		return []Message{m}
	}
}

// SystemItem gives the value of the body member System as a message: of a
// string the same as SystemMessage, of blocks one whose content they are.
func SystemItem(value jsontext.Value) Message {
	raw := append(jsontext.Value(`{"role":"system","content":`), value...)
	raw = append(raw, '}')
	return Message{Role: RoleSystem, Content: textOfContent(value), Raw: raw}
}
