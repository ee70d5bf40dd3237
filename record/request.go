package record

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"
	"sync"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/tapetree/tapetree/runtime"
	"github.com/tapetree/tapetree/transcripts"
)

// thread is what one agent sent last. A request that begins with the same
// bytes is read from where it goes on, so that recording a session costs what
// its requests add.
type thread struct {
	mu      sync.Mutex
	list    []byte // the conversation as sent, from after the opening bracket
	ends    []int  // where each of its elements ends in list
	system  int    // 1: history begins with a system text that stands beside the list
	history runtime.History
	chat    []runtime.Message // history in chat form, see runtime.Wire.ChatForm
	chats   []int             // how much of chat the first elements of list are, system text included

	toolsSent, tools []byte // the last tool list as sent, and in placeholder form
}

// request is a body, taken apart and in placeholder form.
type request struct {
	wire     runtime.Wire
	model    string
	messages runtime.View // in the wire's own form
	tools    jsontext.Value
	params   []runtime.Param
}

// errNoChat says that a body is no request of its wire.
var errNoChat = errors.New("no request for a model answer")

// read takes a chat completion request apart, strictly, and keeps it for the
// next one. An error means that the body is to be kept as something else.
func (t *thread) read(body []byte, normal func([]byte) []byte) (*request, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	p, err := parseRequest(t, runtime.WireChat, body, normal)
	if err != nil {
		return nil, err
	}
	return p.keep(t), nil
}

// bodyParser reads one body in three steps: the members up to the
// conversation, the conversation, the members after it.
type bodyParser struct {
	base    *thread // the last request of the thread that this one may go on from
	normal  func([]byte) []byte
	seen    map[string]bool
	request *request
	system  *runtime.Message // the system text that stands beside the list

	text      []byte // the conversation, from after the opening bracket
	known     int    // how many elements base has too
	ends      []int  // where each element ends in text, the known ones first
	added     []runtime.Message
	toolsSent []byte
	tools     []byte
}

// parseRequest takes a body apart without changing base, which may be nil. The
// caller holds base's lock, then calls keep with base or another thread.
func parseRequest(base *thread, wire runtime.Wire, body []byte, normal func([]byte) []byte) (*bodyParser, error) {
	if base == nil {
		base = &thread{}
	}
	p := &bodyParser{base: base, normal: normal, seen: map[string]bool{}, request: &request{wire: wire}}
	rest, err := p.members(body)
	if err == nil && rest != nil {
		rest, err = p.conversation(rest)
		if err == nil {
			_, err = p.members(rest)
		}
	}
	switch {
	case err != nil:
		return nil, fmt.Errorf("read request body: %w", err)
	case !p.seen["model"] || !p.seen[wire.List()]:
		return nil, errNoChat
	}
	return p, nil
}

// members reads the members of the object that body begins with. At the
// conversation it stops and returns what stands after the bracket that opens
// it; nil when it read to the end.
func (p *bodyParser) members(body []byte) ([]byte, error) {
	dec := jsontext.NewDecoder(bytes.NewBuffer(body))
	if token, err := dec.ReadToken(); err != nil || token.Kind() != '{' {
		return nil, errors.Join(errNoChat, err)
	}
	for dec.PeekKind() == '"' {
		token, err := dec.ReadToken()
		if err != nil {
			return nil, err
		}
		name := token.String()
		if p.seen[name] {
			return nil, fmt.Errorf("member %q stands twice", name)
		}
		p.seen[name] = true
		if name == p.request.wire.List() && dec.PeekKind() == '[' {
			at := int(dec.InputOffset())
			return body[at+bytes.IndexByte(body[at:], '[')+1:], nil
		}
		value, err := dec.ReadValue()
		if err != nil {
			return nil, err
		}
		if err := p.member(name, value); err != nil {
			return nil, err
		}
	}
	if _, err := dec.ReadToken(); err != nil {
		return nil, err
	}
	if _, err := dec.ReadToken(); !errors.Is(err, io.EOF) {
		return nil, errors.New("data after the object")
	}
	return nil, nil
}

func (p *bodyParser) member(name string, value jsontext.Value) error {
	switch {
	case name == "model":
		text, err := parseNode(value)
		if err != nil || text.kind != jsontext.KindString {
			return errNoChat
		}
		p.request.model = text.text
	case name == p.request.wire.List():
		return p.bareText(value)
	case name == "tools":
		p.toolsSent, p.tools = p.base.toolsSent, p.base.tools
		if !bytes.Equal(p.toolsSent, value) {
			p.toolsSent = bytes.Clone(value)
			p.tools = bytes.Clone(p.normal(value))
		}
		p.request.tools = p.tools
	case name == p.request.wire.System() && isSystemValue(value):
		system := runtime.SystemItem(bytes.Clone(p.normal(value)))
		p.system = &system
		p.request.params = append(p.request.params, runtime.Param{Name: name, Value: transcripts.SystemReference})
	default:
		p.request.params = append(p.request.params, runtime.Param{Name: name, Value: bytes.Clone(p.normal(value))})
	}
	return nil
}

// isSystemValue reports whether a system text can stand for itself: a text or
// blocks.
func isSystemValue(value jsontext.Value) bool {
	return value.Kind() == '"' || value.Kind() == '['
}

// bareText reads a conversation that is one text, the short form of Responses.
func (p *bodyParser) bareText(value jsontext.Value) error {
	if value.Kind() != '"' || p.request.wire != runtime.WireResponses {
		return errNoChat
	}
	m, err := p.request.wire.ParseItem(bytes.Clone(p.normal(value)))
	if err != nil {
		return err
	}
	p.added = []runtime.Message{m}
	p.text, p.ends = value, []int{len(value)}
	return nil
}

// conversation reads the list that goes on in text, and returns what follows
// it, as the text of an object.
func (p *bodyParser) conversation(text []byte) ([]byte, error) {
	p.known = p.base.known(text)
	from := 0
	if p.known > 0 {
		from = p.base.ends[p.known-1]
	}
	list, comma := text[from:], false
	if p.known > 0 {
		list, comma = cutComma(list)
	}
	dec := jsontext.NewDecoder(bytes.NewBuffer(append([]byte{'['}, list...)))
	if _, err := dec.ReadToken(); err != nil {
		return nil, err
	}
	if p.known > 0 && comma == (dec.PeekKind() == ']') {
		return nil, errors.New("messages that no single comma parts")
	}
	skipped := len(text) - len(list) - 1 // the decoder's offset 0 in text
	p.ends = p.base.ends[:p.known:p.known]
	for dec.PeekKind() != ']' {
		raw, err := dec.ReadValue()
		if err != nil {
			return nil, err
		}
		m, err := p.request.wire.ParseItem(bytes.Clone(p.normal(raw)))
		if err != nil {
			return nil, err
		}
		p.added = append(p.added, m)
		p.ends = append(p.ends, skipped+int(dec.InputOffset()))
	}
	if _, err := dec.ReadToken(); err != nil {
		return nil, err
	}
	p.text = text
	rest, comma := cutComma(list[int(dec.InputOffset())-1:])
	if comma == bytes.HasPrefix(bytes.TrimLeft(rest, " \t\r\n"), []byte{'}'}) {
		return nil, errors.New("members that no single comma parts")
	}
	return append([]byte{'{'}, rest...), nil
}

// known is how many elements of the last request a list begins with.
func (t *thread) known(text []byte) int {
	same := sameBytes(text, t.list)
	n := 0
	for n < len(t.ends) && t.ends[n] <= same {
		n++
	}
	return n
}

// sameBytes is how many bytes a and b begin with alike.
func sameBytes(a, b []byte) int {
	a, b = a[:min(len(a), len(b))], b[:min(len(a), len(b))]
	n := 0
	for stretch := len(a); stretch > 0; {
		if bytes.Equal(a[n:n+stretch], b[n:n+stretch]) {
			n += stretch
			stretch = min(stretch, len(a)-n)
		} else if stretch = stretch / 2; stretch == 0 {
			break
		}
	}
	return n
}

// listText returns a request's conversation from after its opening bracket to
// the end of the body; nil when it has none that is a list.
func listText(wire runtime.Wire, body []byte) []byte {
	dec := jsontext.NewDecoder(bytes.NewBuffer(body))
	if token, err := dec.ReadToken(); err != nil || token.Kind() != '{' {
		return nil
	}
	for dec.PeekKind() == '"' {
		name, err := dec.ReadToken()
		if err != nil {
			return nil
		}
		if name.String() == wire.List() {
			if dec.PeekKind() != '[' {
				return nil
			}
			at := int(dec.InputOffset())
			return body[at+bytes.IndexByte(body[at:], '[')+1:]
		}
		if dec.SkipValue() != nil {
			return nil
		}
	}
	return nil
}

// chatForm gives the whole conversation as chat messages, system text first,
// and how many of them base's last request has too, byte for byte.
func (p *bodyParser) chatForm() (messages []runtime.Message, known int) {
	if p.sameSystem() {
		known = p.base.chatLen(p.known)
		messages = p.base.chat[:known:known]
	} else {
		if p.system != nil {
			messages = append(messages, *p.system)
		}
		messages = append(messages, p.base.chat[p.base.system:p.base.chatLen(p.known)]...)
	}
	for _, m := range p.added {
		messages = append(messages, p.request.wire.ChatForm(m)...)
	}
	return messages, known
}

// chatLen is how many chat messages the first n elements of the list are, the
// system text included.
func (t *thread) chatLen(n int) int {
	if n == 0 {
		return t.system
	}
	return t.chats[n-1]
}

// sameSystem reports whether base has the same system text beside its list.
func (p *bodyParser) sameSystem() bool {
	if p.system == nil {
		return p.base.system == 0
	}
	return p.base.system == 1 && bytes.Equal(p.base.chat[0].Raw, p.system.Raw)
}

// keep makes the request the last one of t, which is base or a thread that
// goes on from base's beginning. Elements that were changed or left out begin a
// new lineage.
func (p *bodyParser) keep(t *thread) *request {
	base := p.base
	chat, _ := p.chatForm()
	if t != base || p.known < len(base.ends) || !p.sameSystem() {
		t.begin(p)
	} else {
		t.history.Append(p.added...)
		from, to := 0, 0
		if p.known > 0 {
			from = p.ends[p.known-1]
		}
		if len(p.ends) > 0 {
			to = p.ends[len(p.ends)-1]
		}
		t.list = append(t.list[:from], p.text[from:to]...)
	}
	chats := base.chats[:p.known:p.known]
	if shift := count(p.system) - base.system; shift != 0 {
		chats = slices.Clone(chats)
		for i := range chats {
			chats[i] += shift
		}
	}
	at := count(p.system)
	if p.known > 0 {
		at = chats[p.known-1]
	}
	for _, m := range p.added {
		at += len(p.request.wire.ChatForm(m))
		chats = append(chats, at)
	}
	t.ends, t.chat, t.chats, t.system = p.ends, chat, chats, count(p.system)
	if p.toolsSent != nil {
		t.toolsSent, t.tools = p.toolsSent, p.tools
	}
	p.request.messages = t.history.View()
	return p.request
}

// begin starts t's list anew with the elements that the request shares with
// base, and what is new.
func (t *thread) begin(p *bodyParser) {
	shared := p.base.history.View().Messages()[p.base.system:][:p.known]
	t.history = runtime.History{}
	if p.system != nil {
		t.history.Append(*p.system)
	}
	t.history.Append(shared...)
	t.history.Append(p.added...)
	to := 0
	if len(p.ends) > 0 {
		to = p.ends[len(p.ends)-1]
	}
	t.list = bytes.Clone(p.text[:to])
}

// cutComma removes white space and one comma from the front.
func cutComma(text []byte) ([]byte, bool) {
	text = bytes.TrimLeft(text, " \t\r\n")
	return bytes.CutPrefix(text, []byte{','})
}
