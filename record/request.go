package record

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"sync"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/tapetree/tapetree/runtime"
)

// thread is what one agent sent last. A request that begins with the same
// bytes is read from where it goes on, so that recording a session costs what
// its requests add.
type thread struct {
	mu      sync.Mutex
	list    []byte // the messages as sent, from after the opening bracket
	ends    []int  // where each message ends in list
	history runtime.History

	toolsSent, tools []byte // the last tool list as sent, and in placeholder form
}

// request is a body, taken apart and in placeholder form.
type request struct {
	model    string
	messages runtime.View
	tools    jsontext.Value
	params   []runtime.Param
}

// errNoChat says that a body is no chat completion request.
var errNoChat = errors.New("no chat completion request")

// read takes a body apart, strictly. An error means that the body is to be kept
// as something else.
func (t *thread) read(body []byte, normal func([]byte) []byte) (*request, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	p := &bodyParser{thread: t, normal: normal, seen: map[string]bool{}, request: &request{}}
	rest, err := p.members(body)
	if err == nil && rest != nil {
		rest, err = p.messages(rest)
		if err == nil {
			_, err = p.members(rest)
		}
	}
	switch {
	case err != nil:
		return nil, fmt.Errorf("read request body: %w", err)
	case !p.seen["model"] || !p.seen["messages"]:
		return nil, errNoChat
	}
	return p.request, nil
}

// bodyParser reads one body in three steps: the members up to the messages,
// the messages, the members after them.
type bodyParser struct {
	*thread
	normal  func([]byte) []byte
	seen    map[string]bool
	request *request
}

// members reads the members of the object that body begins with. At the
// messages it stops and returns what stands after the bracket that opens them;
// nil when it read to the end.
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
		if name == "messages" && dec.PeekKind() == '[' {
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
	switch name {
	case "model":
		text, err := parseNode(value)
		if err != nil || text.kind != jsontext.KindString {
			return errNoChat
		}
		p.request.model = text.text
	case "messages":
		return errNoChat
	case "tools":
		if !bytes.Equal(p.toolsSent, value) {
			p.toolsSent = bytes.Clone(value)
			p.tools = bytes.Clone(p.normal(value))
		}
		p.request.tools = p.tools
	default:
		p.request.params = append(p.request.params, runtime.Param{Name: name, Value: bytes.Clone(p.normal(value))})
	}
	return nil
}

// messages reads the list that goes on in text, and returns what follows it, as
// the text of an object.
func (p *bodyParser) messages(text []byte) ([]byte, error) {
	known := p.known(text)
	from := 0
	if known > 0 {
		from = p.ends[known-1]
	}
	list, comma := text[from:], false
	if known > 0 {
		list, comma = cutComma(list)
	}
	dec := jsontext.NewDecoder(bytes.NewBuffer(append([]byte{'['}, list...)))
	if _, err := dec.ReadToken(); err != nil {
		return nil, err
	}
	if known > 0 && comma == (dec.PeekKind() == ']') {
		return nil, errors.New("messages that no single comma parts")
	}
	skipped := len(text) - len(list) - 1 // the decoder's offset 0 in text
	var added []runtime.Message
	ends := p.ends[:known:known]
	for dec.PeekKind() != ']' {
		raw, err := dec.ReadValue()
		if err != nil {
			return nil, err
		}
		m, err := runtime.ParseMessage(bytes.Clone(p.normal(raw)))
		if err != nil {
			return nil, err
		}
		added = append(added, m)
		ends = append(ends, skipped+int(dec.InputOffset()))
	}
	if _, err := dec.ReadToken(); err != nil {
		return nil, err
	}
	p.keep(text, known, ends, added)
	rest, comma := cutComma(list[int(dec.InputOffset())-1:])
	if comma == bytes.HasPrefix(bytes.TrimLeft(rest, " \t\r\n"), []byte{'}'}) {
		return nil, errors.New("members that no single comma parts")
	}
	return append([]byte{'{'}, rest...), nil
}

// known is how many messages of the last request this one begins with.
func (p *bodyParser) known(text []byte) int {
	same := len(p.list)
	if !bytes.HasPrefix(text, p.list) {
		same = 0
		for same < min(len(text), len(p.list)) && text[same] == p.list[same] {
			same++
		}
	}
	n := 0
	for n < len(p.ends) && p.ends[n] <= same {
		n++
	}
	return n
}

// keep notes the list for the next request. Messages that were changed or left
// out begin a new lineage.
func (p *bodyParser) keep(text []byte, known int, ends []int, added []runtime.Message) {
	if known < len(p.ends) {
		old := p.history.View().Messages()[:known]
		p.history = runtime.History{}
		p.history.Append(old...)
	}
	p.history.Append(added...)
	from, to := 0, 0
	if known > 0 {
		from = p.ends[known-1]
	}
	if len(ends) > 0 {
		to = ends[len(ends)-1]
	}
	p.list = append(p.list[:from], text[from:to]...)
	p.ends = ends
	p.request.messages = p.history.View()
}

// cutComma removes white space and one comma from the front.
func cutComma(text []byte) ([]byte, bool) {
	text = bytes.TrimLeft(text, " \t\r\n")
	return bytes.CutPrefix(text, []byte{','})
}
