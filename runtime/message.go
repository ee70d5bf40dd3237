package runtime

import (
	"slices"

	"github.com/go-json-experiment/json/jsontext"
)

// Role says who wrote a message.
type Role string

// The roles of the chat completions wire.
const (
	RoleSystem    Role = "system"
	RoleUser      Role = "user"
	RoleAssistant Role = "assistant"
	RoleTool      Role = "tool"
)

// Message is one message of a history. Raw is the truth, the very JSON that
// goes to the model; the other fields are read from it for the program's own
// use and are never written back.
type Message struct {
	Role    Role
	Content string // the text; parts joined; "" also for null and absent
	Calls   []Call // an assistant's tool calls, in the order written
	CallID  string // which call a tool message answers
	Raw     jsontext.Value
}

// Call is one tool call as the model wrote it.
type Call struct {
	ID        string
	Name      string
	Arguments string // the text of the arguments; of an object form, its JSON
	Raw       jsontext.Value
}

// SystemMessage, UserMessage and ToolMessage build the messages that the
// runtime itself writes. A tool message always has a content key, also when
// the result is empty.
func SystemMessage(text string) Message {
	return plainMessage(RoleSystem, text)
}

// UserMessage builds a user message.
func UserMessage(text string) Message {
	return plainMessage(RoleUser, text)
}

// ToolMessage builds the result of the call with the given id.
func ToolMessage(callID, result string) Message {
	// Room for the escapes of usual text, so that a long result is copied once.
	raw := make(jsontext.Value, 0, 64+len(callID)+len(result)+len(result)/16)
	raw = append(raw, `{"role":"tool","tool_call_id":`...)
	raw = appendQuote(raw, callID)
	raw = append(raw, `,"content":`...)
	raw = append(appendQuote(raw, result), '}')
	return Message{Role: RoleTool, Content: result, CallID: callID, Raw: raw}
}

func plainMessage(role Role, text string) Message {
	raw := append(jsontext.Value(`{"role":"`), role...)
	raw = append(raw, `","content":`...)
	raw = append(append(raw, quote(text)...), '}')
	return Message{Role: role, Content: text, Raw: raw}
}

// quote writes text as a JSON string, HTML not escaped. Bytes that are no
// UTF-8 become U+FFFD, on every side alike.
func quote(text string) []byte { return appendQuote(nil, text) }

// appendQuote appends what quote writes.
func appendQuote(dst []byte, text string) []byte {
	dst, _ = jsontext.AppendQuote(dst, text) // the error is bad UTF-8, which has been replaced
	return dst
}

// History is the append-only list of messages of one agent. It has one owner;
// others get views. The zero value is an empty history.
type History struct {
	lineage  *lineage
	messages []Message
}

// lineage is the identity of one append-only list: two views of one lineage
// agree on every message that both have.
type lineage struct{ _ byte }

// Append adds messages at the end.
func (h *History) Append(messages ...Message) {
	if h.lineage == nil {
		h.lineage = new(lineage)
	}
	h.messages = append(h.messages, messages...)
}

// Reserve makes room for n more messages. What a list outgrows stays in memory as
// long as one of its views does, so a long list that grows step by step is held
// several times.
func (h *History) Reserve(n int) { h.messages = slices.Grow(h.messages, n) }

// View returns the messages so far; later appends do not change it.
func (h *History) View() View {
	n := len(h.messages)
	return View{lineage: h.lineage, messages: h.messages[:n:n]}
}

// View is an immutable list of messages, usually the beginning of a History.
type View struct {
	lineage  *lineage
	messages []Message
}

// Messages returns the messages; the caller must not change them.
func (v View) Messages() []Message { return v.messages }

// Len is the number of messages.
func (v View) Len() int { return len(v.messages) }

// Head returns the first n messages of v as a view of the same lineage.
func (v View) Head(n int) View {
	return View{lineage: v.lineage, messages: v.messages[:n:n]}
}

// Extends reports, in constant time, that v is known to begin with all
// messages of earlier: both come from one History. False means "not known".
func (v View) Extends(earlier View) bool {
	return v.lineage != nil && v.lineage == earlier.lineage && len(v.messages) >= len(earlier.messages)
}
