package imports

import (
	"bytes"
	"fmt"
	"iter"
	"slices"

	"github.com/go-json-experiment/json/jsontext"
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

// shapeDepth is how many values are looked into, one inside the other: an array of
// lists, in each a request, in that its body, in that the messages. Each look
// reads its value to the end, so without a bound the look at nested arrays would
// take the square of their depth.
const shapeDepth = 6

// shapeOf looks at the value that text begins with. An object is read up to its
// messages, an array up to the first element that says what it is.
func shapeOf(text []byte) shape { return shapeWithin(text, shapeDepth) }

func shapeWithin(text []byte, depth int) shape {
	s := scan(text, 1)
	switch kind := s.kind(); {
	case depth == 0:
	case kind == '[':
		return arrayShape(s, depth-1)
	case kind == '{':
		return objectShape(s, depth-1)
	}
	return shapeNone
}

func arrayShape(s *scanner, depth int) shape {
	found, seen := shapeNone, 0
	_ = s.array(func() error { // a fault ends the look, no more
		if kind := s.kind(); seen == looks || kind != '[' && kind != '{' {
			return errEnough
		}
		seen++
		switch inner := shapeWithin(after(s), depth); inner {
		case shapeMessage:
			found = shapeMessages
			return errEnough
		case shapeMessages, shapeSession:
			found = shapeSessions
			return errEnough
		}
		return s.skip()
	})
	return found
}

func objectShape(s *scanner, depth int) shape {
	found := shapeNone
	var role string
	_ = s.object(func(name string) error { // a fault ends the look, no more
		switch kind := s.kind(); {
		case isBody(name) && kind == '{':
			if inner := shapeWithin(after(s), depth); inner == shapeSession {
				found = shapeSession
				return errEnough
			}
		case name == "messages" && kind == '[':
			if inner := shapeWithin(after(s), depth); inner == shapeMessages || emptyArray(after(s)) {
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
		out := &held{yield: yield}
		if shapeOf(data) != shapeSessions {
			readValues(out, s, path)
			return
		}
		n := 0
		err := s.array(func() error { // a fault stands in the warnings of the element that it broke
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
		if err == nil {
			out.rest(s)
		}
		out.end(path)
	}
}

// readValues reads the sessions of a text of one value, or of several, one behind
// the other.
func readValues(out *held, s *scanner, path string) {
	for n := 1; ; n++ {
		line := s.next()
		one := readSession(s, path, "", formatOpenAI)
		over := one.broken != nil || s.ended()
		h := one.end()
		switch {
		case h == nil && n == 1 && over:
			out.yield(nil, nothing(path, one.builder.Warnings()))
			return
		case h == nil && one.broken != nil:
			out.warn(s.fault(one.broken))
		case h == nil:
			out.warn(line, "left out, the value holds no message")
		default:
			if n > 1 || !over && isValue(s.kind()) {
				h.Part = fmt.Sprintf("value %d", n)
			}
			if !out.give(h) {
				return
			}
		}
		if over || !isValue(s.kind()) {
			if !over {
				out.rest(s)
			}
			out.end(path)
			return
		}
	}
}

// isValue reports what may hold messages.
func isValue(kind jsontext.Kind) bool { return kind == '[' || kind == '{' }
