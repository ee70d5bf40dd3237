package imports

import (
	"strings"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/tapetree/tapetree/runtime"
)

// spoken collects the blocks of one answer, and makes a message of chat
// completions of them: the texts joined, the calls in order, and what the model
// thought as reasoning_content.
type spoken struct {
	text, thought strings.Builder
	calls         jsontext.Value // the elements of tool_calls
	list          []runtime.Call
	ends          []int // of each call in calls
	odd           bool  // a text is no UTF-8: what stands in the JSON is another one
}

// call adds a call. Arguments are JSON text; blank means {}.
func (s *spoken) call(id, name, arguments string) {
	if strings.TrimSpace(arguments) == "" {
		arguments = "{}"
	}
	s.odd = s.odd || !utf8.ValidString(id) || !utf8.ValidString(name) || !utf8.ValidString(arguments)
	s.list = append(s.list, runtime.Call{ID: id, Name: name, Arguments: arguments})
	if len(s.calls) > 0 {
		s.calls = append(s.calls, ',')
	}
	s.calls = append(s.calls, `{"id":`...)
	s.calls = appendText(s.calls, id)
	s.calls = append(s.calls, `,"type":"function","function":{"name":`...)
	s.calls = appendText(s.calls, name)
	s.calls = append(s.calls, `,"arguments":`...)
	s.calls = append(appendText(s.calls, arguments), `}}`...)
	s.ends = append(s.ends, len(s.calls))
}

// message is the answer's message.
func (s *spoken) message() runtime.Message {
	raw := make(jsontext.Value, 0, 96+len(s.calls)+(s.text.Len()+s.thought.Len())*17/16)
	raw = append(raw, `{"role":"assistant","content":`...)
	if s.text.Len() == 0 && len(s.calls) > 0 {
		raw = append(raw, `null`...)
	} else {
		raw = appendText(raw, s.text.String())
	}
	calls := 0 // where they begin
	if len(s.calls) > 0 {
		raw = append(raw, `,"tool_calls":[`...)
		calls = len(raw)
		raw = append(append(raw, s.calls...), ']')
	}
	if s.thought.Len() > 0 {
		raw = append(raw, `,"reasoning_content":`...)
		raw = appendText(raw, s.thought.String())
	}
	raw = append(raw, '}')
	if content := s.text.String(); !s.odd && utf8.ValidString(content) {
		return s.given(raw, calls, content)
	}
	m, err := runtime.ParseMessage(raw)
	if err != nil {
		panic("imports: a message of our own cannot be read: " + err.Error())
	}
	return m
}

// given is the message whose JSON is raw, with its calls from an offset on, made
// without reading it again.
func (s *spoken) given(raw jsontext.Value, calls int, content string) runtime.Message {
	from := 0
	for i, end := range s.ends {
		s.list[i].Raw = raw[calls+from : calls+end : calls+end]
		from = end + 1 // the comma
	}
	return runtime.Message{Role: runtime.RoleAssistant, Content: content, Calls: s.list, Raw: raw}
}

// told collects the parts of a message to the model that is no answer.
type told struct {
	texts  []string
	parts  []toldPart
	images int
}

// toldPart is a text, or the address of a picture.
type toldPart struct {
	text  string
	image bool
}

// say adds a text.
func (t *told) say(text string) {
	t.texts = append(t.texts, text)
	t.parts = append(t.parts, toldPart{text: text})
}

// show adds a picture.
func (t *told) show(url string) {
	t.images++
	t.parts = append(t.parts, toldPart{url, true})
}

// words is all text.
func (t *told) words() string { return strings.Join(t.texts, "") }

// message is the message that the parts make up, in the role given.
func (t *told) message(role runtime.Role) runtime.Message {
	words := t.words()
	raw := make(jsontext.Value, 0, 64+len(words)+len(words)/16)
	raw = append(raw, `{"role":`...)
	raw = append(appendText(raw, string(role)), `,"content":`...)
	if t.images > 0 {
		raw = append(t.list(append(raw, '[')), ']')
	} else {
		raw = appendText(raw, words)
	}
	return runtime.Message{Role: role, Content: words, Raw: append(raw, '}')}
}

// list appends the parts as the elements of content.
func (t *told) list(raw jsontext.Value) jsontext.Value {
	for i, part := range t.parts {
		if i > 0 {
			raw = append(raw, ',')
		}
		if part.image {
			raw = append(raw, `{"type":"image_url","image_url":{"url":`...)
			raw = append(appendText(raw, part.text), `}}`...)
			continue
		}
		raw = append(raw, `{"type":"text","text":`...)
		raw = append(appendText(raw, part.text), '}')
	}
	return raw
}

// longResult in bytes: shorter results are kept whole.
const longResult = 256

// toolMessage is the result of a call. That it failed is kept beside it.
//
// A long result that did not fail is kept without its JSON, which would say the
// same once more: of a session of 100 MB that is 100 MB.
func toolMessage(id, result string, failed bool) runtime.Message {
	if !failed && len(result) >= longResult {
		return runtime.Message{Role: runtime.RoleTool, Content: result, CallID: id}
	}
	m := runtime.ToolMessage(id, result)
	if failed {
		m.Raw = append(m.Raw[:len(m.Raw)-1], `,"is_error":true}`...)
	}
	return m
}

// appendText appends a text as a JSON string. Bytes that are no UTF-8 become
// U+FFFD.
func appendText(dst jsontext.Value, text string) jsontext.Value {
	dst, _ = jsontext.AppendQuote(dst, text)
	return dst
}

// compact is a JSON value on one line, as text; "" of none.
func compact(v jsontext.Value) string {
	if len(v) == 0 {
		return ""
	}
	if text := text(v); v.Kind() == '"' {
		return text
	}
	v = v.Clone()
	if v.Compact(lenient...) != nil {
		return string(v)
	}
	return string(v)
}

// listOf returns the elements of an array; none of what is no array.
func listOf(v jsontext.Value) []jsontext.Value {
	if v.Kind() != '[' {
		return nil
	}
	s := scan(v, 1)
	var list []jsontext.Value
	_ = s.array(func() error { // a value that was read whole has no fault
		e, _, err := s.value()
		if err == nil {
			list = append(list, e)
		}
		return err
	})
	return list
}

// count reads a number of tokens; 0 of what is none.
func count(v jsontext.Value) int {
	if v.Kind() != '0' {
		return 0
	}
	n := 0
	for _, c := range v {
		if c < '0' || c > '9' {
			return 0
		}
		if n = n*10 + int(c-'0'); n > 1<<31-1 {
			return 1<<31 - 1
		}
	}
	return n
}
