package imports

import (
	"github.com/go-json-experiment/json/jsontext"
	"github.com/tapetree/tapetree/runtime"
	"github.com/tapetree/tapetree/transcripts"
)

// element is one message of a list as it stands in the file.
type element struct {
	raw  jsontext.Value
	line int
}

// elements reads an array. What stands before a fault is there.
func elements(s *scanner) (list []element, err error) {
	err = s.array(func() error {
		raw, line, err := s.value()
		if err == nil {
			list = append(list, element{raw, line})
		}
		return err
	})
	return list, err
}

// session is one history of one agent on its way.
type session struct {
	conversation
	losses
	list   []element
	system jsontext.Value // beside the messages, as Anthropic has it
	reply  jsontext.Value // the response beside a request
	broken error          // what broke the reading off
}

func newSession(path, part, format string) *session {
	n := &session{}
	n.begin(path, part, format)
	return n
}

// begin begins the history.
func (n *session) begin(path, part, format string) {
	n.builder = transcripts.NewHistory(path, part, format)
	n.agent = n.builder.Root()
}

// fault notes what broke the reading off; nil is none.
func (n *session) fault(s *scanner, err error) {
	if n.broken = err; err != nil {
		n.builder.Warn(s.fault(err))
	}
}

// rest warns of what stands behind a value that was read to its end.
func (n *session) rest(s *scanner) {
	if n.broken == nil && !s.ended() {
		n.builder.Warn(s.next(), behind)
	}
}

// end gives the history, nil when no message came.
func (n *session) end() *transcripts.History {
	n.flush()
	n.tell(n.builder)
	return n.builder.History()
}

// readSession reads one value that holds messages. A fault in it is a warning.
func readSession(s *scanner, path, part, format string) *session {
	n := newSession(path, part, format)
	var err error
	switch s.kind() {
	case '[':
		n.list, err = elements(s)
	case '{':
		err = n.body(s)
	default:
		_, _, err = s.value()
	}
	n.fault(s, err)
	if n.system != nil {
		n.agent.Add(runtime.SystemItem(n.system))
	}
	n.addAll()
	n.respond()
	return n
}

// addAll puts the messages that were collected into the history.
func (n *session) addAll() {
	n.agent.Reserve(len(n.list))
	for _, e := range n.list {
		n.add(e.raw, transcripts.Spot{Line: e.line})
	}
}

// body reads an object with messages. Of a request around it the model is kept.
func (n *session) body(s *scanner) error {
	return s.object(func(name string) (err error) {
		kind := s.kind()
		switch {
		case name == "messages" && kind == '[':
			n.list, err = elements(s)
		case isBody(name) && kind == '{':
			err = n.body(s)
		case name == "system" && (kind == '"' || kind == '['):
			n.system, _, err = s.value()
		case name == "response" && (kind == '{' || kind == '"'):
			n.reply, _, err = s.value()
		case name == "model" && kind == '"':
			var v jsontext.Value
			v, _, err = s.value()
			n.model = text(v)
		default:
			n.member(name)
			err = s.skip()
		}
		return err
	})
}

// respond takes the response that a log keeps beside the request, as JSON or as
// the text that came. Nobody saw what its calls came to.
func (n *session) respond() {
	if n.reply == nil {
		return
	}
	n.flush()
	body := []byte(n.reply)
	if inner := members(body, "body").of("body"); inner != nil {
		body = inner
	}
	if jsontext.Value(body).Kind() == '"' {
		body = []byte(text(body))
	}
	answer, err := runtime.Decode(&runtime.Response{Status: 200, Body: body, End: runtime.EndDone}, runtime.Dialect{})
	if err != nil {
		n.member("response")
		return
	}
	n.answer(answer, transcripts.Spot{})
	n.builder.Open()
}
