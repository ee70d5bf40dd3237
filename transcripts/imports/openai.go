package imports

import (
	"bytes"
	"fmt"
	"iter"
	"slices"

	"github.com/tapetree/tapetree/transcripts"
)

// openAI reads the messages of chat completions as programs write them down: a
// JSON array of messages, an object with such an array under "messages" (a
// request body, with its model and tools, is one), or an array of either.
var openAI = Importer{Name: formatOpenAI, Title: "OpenAI messages", Detect: isOpenAI, Read: readOpenAI}

const formatOpenAI = "openai"

// shape is what a JSON value that holds messages looks like from outside.
type shape int

const (
	shapeNone     shape = iota
	shapeMessage        // one message
	shapeMessages       // an array of messages
	shapeSession        // an object with messages
	shapeSessions       // an array of arrays or objects with messages
)

// looks is how many elements of an array, or lines of a file, are looked at
// before it is decided that they are something else.
const looks = 8

// shapeOf looks at the value that text begins with. An object is read up to its
// messages, an array up to the first element that says what it is.
func shapeOf(text []byte) shape {
	s := scan(text, 1)
	switch s.d.PeekKind() {
	case '[':
		if _, err := s.d.ReadToken(); err != nil {
			return shapeNone
		}
		for range looks {
			if kind := s.d.PeekKind(); kind != '[' && kind != '{' {
				return shapeNone
			}
			switch inner := shapeOf(after(s)); inner {
			case shapeMessage:
				return shapeMessages
			case shapeMessages, shapeSession:
				return shapeSessions
			}
			if s.skip() != nil {
				return shapeNone
			}
		}
	case '{':
		return objectShape(s)
	}
	return shapeNone
}

func objectShape(s *scanner) shape {
	found := shapeNone
	var role string
	_ = s.object(func(name string) error { // a fault ends the look, no more
		switch kind := s.d.PeekKind(); {
		case isBody(name) && kind == '{':
			if inner := shapeOf(after(s)); inner == shapeSession {
				found = shapeSession
				return errEnough
			}
		case name == "messages" && kind == '[':
			if inner := shapeOf(after(s)); inner == shapeMessages || emptyArray(after(s)) {
				found = shapeSession
				return errEnough
			}
		case name == "role" && kind == '"':
			v, _, err := s.value()
			role = text(v)
			return err
		case name == "type" && kind == '"':
			v, _, err := s.value()
			if kind := text(v); kind == "function_call" || kind == "function_call_output" {
				role = "item"
			}
			return err
		}
		return s.skip()
	})
	if found == shapeNone && isRole(role) {
		return shapeMessage
	}
	return found
}

var errEnough = fmt.Errorf("seen enough")

func emptyArray(text []byte) bool {
	return bytes.HasPrefix(bytes.TrimLeft(bytes.TrimPrefix(text, []byte("[")), " \t\r\n"), []byte("]"))
}

// isBody names the members under which logs and batch files keep a request.
func isBody(name string) bool { return name == "body" || name == "request" }

func isRole(role string) bool {
	return slices.Contains([]string{"system", "developer", "user", "assistant", "tool", "function", "item"}, role)
}

func isOpenAI(data []byte) bool {
	switch shapeOf(trim(data)) {
	case shapeMessages, shapeSession, shapeSessions:
		return true
	default:
		return false
	}
}

func readOpenAI(path string, data []byte) iter.Seq2[*transcripts.History, error] {
	return func(yield func(*transcripts.History, error) bool) {
		data = trim(data)
		s := scan(data, 1)
		if shapeOf(data) != shapeSessions {
			only(path, readSession(s, path, "", formatOpenAI), yield)
			return
		}
		out := &held{yield: yield}
		n := 0
		_ = s.array(func() error { // a fault stands in the warnings of the element that it broke
			n++
			line := s.next()
			one := readSession(s, path, fmt.Sprintf("element %d", n), formatOpenAI)
			h := one.end()
			switch {
			case h != nil && !out.give(h):
				return errEnough
			case h == nil && one.broken != nil:
				out.warn(s.fault(one.broken))
			case h == nil:
				out.warn(line, "left out, no messages")
			}
			return one.broken
		})
		out.end(path)
	}
}
