package imports

import (
	"strings"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/tapetree/tapetree/runtime"
)

// spoken collects the blocks of one answer, and makes a message of chat
// completions of them: the texts joined, the calls in order, and what the model
// thought as reasoning_content.
type spoken struct {
	text, thought strings.Builder
	calls         jsontext.Value // the elements of tool_calls
}

// call adds a call. Arguments are JSON text; blank means {}.
func (s *spoken) call(id, name, arguments string) {
	if strings.TrimSpace(arguments) == "" {
		arguments = "{}"
	}
	if len(s.calls) > 0 {
		s.calls = append(s.calls, ',')
	}
	s.calls = append(s.calls, `{"id":`...)
	s.calls = appendText(s.calls, id)
	s.calls = append(s.calls, `,"type":"function","function":{"name":`...)
	s.calls = appendText(s.calls, name)
	s.calls = append(s.calls, `,"arguments":`...)
	s.calls = append(appendText(s.calls, arguments), `}}`...)
}

// message is the answer's message.
func (s *spoken) message() runtime.Message {
	raw := jsontext.Value(`{"role":"assistant","content":`)
	if s.text.Len() == 0 && len(s.calls) > 0 {
		raw = append(raw, `null`...)
	} else {
		raw = appendText(raw, s.text.String())
	}
	if len(s.calls) > 0 {
		raw = append(raw, `,"tool_calls":[`...)
		raw = append(append(raw, s.calls...), ']')
	}
	if s.thought.Len() > 0 {
		raw = append(raw, `,"reasoning_content":`...)
		raw = appendText(raw, s.thought.String())
	}
	m, err := runtime.ParseMessage(append(raw, '}'))
	if err != nil {
		panic("imports: a message of our own cannot be read: " + err.Error())
	}
	return m
}

// told collects the parts of a message to the model that is no answer.
type told struct {
	text   strings.Builder
	parts  jsontext.Value // the elements of content, where there is more than text
	images int
}

// say adds a text.
func (t *told) say(text string) {
	t.text.WriteString(text)
	t.part()
	t.parts = append(t.parts, `{"type":"text","text":`...)
	t.parts = append(appendText(t.parts, text), '}')
}

// show adds a picture.
func (t *told) show(url string) {
	t.images++
	t.part()
	t.parts = append(t.parts, `{"type":"image_url","image_url":{"url":`...)
	t.parts = append(appendText(t.parts, url), `}}`...)
}

func (t *told) part() {
	if len(t.parts) > 0 {
		t.parts = append(t.parts, ',')
	}
}

// message is the message that the parts make up, in the role given.
func (t *told) message(role runtime.Role) runtime.Message {
	raw := jsontext.Value(`{"role":`)
	raw = append(appendText(raw, string(role)), `,"content":`...)
	if t.images > 0 {
		raw = append(append(append(raw, '['), t.parts...), ']')
	} else {
		raw = appendText(raw, t.text.String())
	}
	return runtime.Message{Role: role, Content: t.text.String(), Raw: append(raw, '}')}
}

// longResult in bytes: shorter results are kept whole.
const longResult = 1024

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
