package runtime

import (
	"cmp"
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
)

// wireDecoder reads the events of one wire into the parts of an answer.
type wireDecoder interface {
	// event takes one event of a stream; name is its event line, "" for none.
	event(s *streamDecoder, name string, members []span)
	// whole takes a JSON response and names the member that is missing for it to
	// be an answer, "" for none.
	whole(s *streamDecoder, members []span) (missing string)
	// answerParts returns what was read so far.
	answerParts() *answerParts
	// lastEvent names the event that ends a stream.
	lastEvent() string
}

// newWireDecoder returns the decoder of a wire; nil for chat completions, which
// streamDecoder reads itself.
func newWireDecoder(w Wire) wireDecoder {
	switch w {
	case WireResponses:
		return &responsesDecoder{}
	case WireMessages:
		return &messagesDecoder{}
	default:
		return nil
	}
}

// answerPart is one item or block of an answer: a text, a call, or what is
// neither.
type answerPart struct {
	index   int
	id      string // of the item, where there is one beside the call's
	call    bool
	begun   bool // its first event came
	silent  bool // neither text nor call
	free    bool // the call's input is free text, see freeInput
	callID  string
	name    string
	text    jsonText // the text, or the call's arguments or input, in pieces
	given   string   // the same given at once; it counts where no piece came
	refusal jsonText
	ended   bool // nothing more comes

	scan    objectScan
	scanned int
}

// answerParts are the parts of one answer, in the order of their indexes.
type answerParts struct {
	parts  []*answerPart
	passed int // how many parts newCalls has been through
}

// at returns the part with an index, of several the latest; a new one if there
// is none.
func (a *answerParts) at(index int) *answerPart {
	if i := a.after(index); i > 0 && a.parts[i-1].index == index {
		return a.parts[i-1]
	}
	return a.add(index)
}

// add makes a part. Servers have given one index to several: then they stand in
// the order in which they began.
func (a *answerParts) add(index int) *answerPart {
	p := &answerPart{index: index}
	a.parts = slices.Insert(a.parts, a.after(index), p)
	return p
}

// after is where the parts with a higher index begin.
func (a *answerParts) after(index int) int {
	if last := a.last(); last == nil || last.index <= index {
		return len(a.parts)
	}
	i, _ := slices.BinarySearchFunc(a.parts, index+1, func(p *answerPart, index int) int {
		return cmp.Compare(p.index, index)
	})
	return i
}

// last returns the part with the highest index, nil if there is none.
func (a *answerParts) last() *answerPart {
	if len(a.parts) == 0 {
		return nil
	}
	return a.parts[len(a.parts)-1]
}

// body is the part's text, arguments or input.
func (p *answerPart) body() string {
	if len(p.text.escaped) > 0 {
		return p.text.String()
	}
	return p.given
}

// arguments are those of a call as chat completions have them.
func (p *answerPart) arguments() string {
	if p.free {
		return freeInput(p.body())
	}
	return p.body()
}

// freeInput is the argument object of a call whose input is free text.
func freeInput(text string) string {
	return `{"input":` + string(quote(text)) + `}`
}

// chatCall gives the part as a call of chat completions.
func (p *answerPart) chatCall() Call {
	return chatCall(p.callID, p.name, p.arguments())
}

// chatCall is a call in its canonical form.
func chatCall(id, name, arguments string) Call {
	s := slot{id: id, name: name}
	text := quote(arguments)
	s.args.add(text)
	return s.call()
}

// whole reports that the arguments are complete: the part ended, or they are a
// whole object. Text that was looked at is not looked at again.
func (p *answerPart) whole() bool {
	if p.ended || p.free {
		return p.ended
	}
	p.scan.feed(p.text.escaped[p.scanned:])
	p.scanned = len(p.text.escaped)
	return p.scan.whole(&p.text)
}

// newCalls returns the calls that became complete since it was last asked: no
// call before one that stands earlier in the answer. Over says that the answer
// has ended.
func (a *answerParts) newCalls(over bool) []Call {
	var calls []Call
	for ; a.passed < len(a.parts); a.passed++ {
		p := a.parts[a.passed]
		if !over && (p.index > a.passed || p.call && (p.name == "" || !p.whole())) {
			break
		}
		if p.call {
			calls = append(calls, p.chatCall())
		}
	}
	return calls
}

// message adds the parts to an assistant message of chat completions.
func (a *answerParts) message(m *assistantText) error {
	members, err := membersOf(a.canonical().Raw)
	if err != nil {
		return err
	}
	return m.add(members, true)
}

// canonical gives the parts as one message of chat completions.
func (a *answerParts) canonical() Message {
	m := Message{Role: RoleAssistant}
	var text, refusal strings.Builder
	for _, p := range a.parts {
		if p.call {
			m.Calls = append(m.Calls, p.chatCall())
			continue
		}
		text.WriteString(p.body())
		refusal.WriteString(p.refusal.String())
	}
	m.Content = text.String()
	raw := appendMember(jsontext.Value{'{'}, "role", quote(string(RoleAssistant)))
	if m.Content == "" && len(m.Calls) > 0 {
		raw = appendMember(raw, "content", []byte("null"))
	} else {
		raw = appendMember(raw, "content", quote(m.Content))
	}
	if len(m.Calls) > 0 {
		raw = appendMember(raw, "tool_calls", callList(m.Calls))
	}
	if refusal.Len() > 0 {
		raw = appendMember(raw, "refusal", quote(refusal.String()))
	}
	m.Raw = append(raw, '}')
	return m
}
