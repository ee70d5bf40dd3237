package runtime

import (
	"bytes"
	"errors"
	"io"
	"sync"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/tapetree/tapetree/internal/jsonspan"
)

// What others send is read tolerantly: of a name written twice the last value
// counts, as in every JSON library that the senders use. What we keep of it is
// made strict by strictJSON, because transcripts are read strictly.
var tolerant = []jsontext.Options{jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true)}

// span is one member of an object or one element of an array, and where its
// value starts in the text it was read from.
type span struct {
	name  string // "" for an element
	value jsontext.Value
	start int
}

var errNotObject = errors.New("not a JSON object")

// membersOf returns the members of the object raw in the order written,
// repeated names included.
func membersOf(raw []byte) ([]span, error) {
	return spansOf(raw, '{', errNotObject)
}

// elementsOf returns the elements of the array raw.
func elementsOf(raw []byte) ([]span, error) {
	return spansOf(raw, '[', errors.New("not a JSON array"))
}

// decoders are kept for the next value: most are small, and a decoder is not.
var decoders = sync.Pool{New: func() any { return jsontext.NewDecoder(bytes.NewReader(nil)) }}

func release(d *jsontext.Decoder) {
	d.Reset(bytes.NewReader(nil)) // so that it does not hold the value
	decoders.Put(d)
}

func spansOf(raw []byte, open jsontext.Kind, wrongKind error) ([]span, error) {
	if spans, ok := quickSpans(raw, byte(open)); ok {
		return spans, nil
	}
	return nil, spansFault(raw, open, wrongKind)
}

// quickSpans cuts an object or an array up. It does not say what is wrong with
// others.
func quickSpans(raw []byte, open byte) (spans []span, ok bool) {
	i := jsonspan.Space(raw, 0)
	if i == len(raw) || raw[i] != open {
		return nil, false
	}
	i = jsonspan.Space(raw, i+1)
	if i == len(raw) {
		return nil, false
	}
	end := raw[i] == open+2 // '}' and ']' come two after '{' and '['
	for !end {
		var s span
		if open == '{' {
			quoted, value, ok := jsonspan.Name(raw, i)
			if !ok {
				return nil, false
			}
			s.name, i = nameOf(quoted), value
		}
		s.start = i
		if i, ok = jsonspan.Skip(raw, i); !ok {
			return nil, false
		}
		s.value = raw[s.start:i:i]
		spans = append(spans, s)
		switch i = jsonspan.Space(raw, i); {
		case i == len(raw) || raw[i] != ',' && raw[i] != open+2:
			return nil, false
		case raw[i] == ',':
			i = jsonspan.Space(raw, i+1)
		default:
			end = true
		}
	}
	return spans, jsonspan.Space(raw, i+1) == len(raw)
}

// usualNames are those of the members of messages: their text need not be made
// anew each time.
var usualNames = func() map[string]string {
	names := map[string]string{}
	for _, name := range []string{
		"role", "content", "type", "text", "id", "name", "arguments", "function", "tool_calls", "tool_call_id", "function_call", "refusal",
		"reasoning_content", "call_id", "output", "input", "index", "message", "choices", "usage", "model", "finish_reason", "extra", "agent",
	} {
		names[name] = name
	}
	return names
}()

func nameOf(quoted jsontext.Value) string {
	if name, ok := usualNames[string(quoted[1:len(quoted)-1])]; ok {
		return name
	}
	return jsonspan.Text(quoted)
}

// spansFault says why a text is no object or array.
func spansFault(raw []byte, open jsontext.Kind, wrongKind error) error {
	d := decoders.Get().(*jsontext.Decoder)
	defer release(d)
	d.Reset(bytes.NewBuffer(raw), tolerant...)
	kind := d.PeekKind()
	if _, err := d.ReadValue(); err != nil {
		return err
	}
	if kind != open {
		return wrongKind
	}
	return errors.New("text after the end of the JSON value")
}

// memberOf returns the last member called name, nil if there is none.
func memberOf(spans []span, name string) jsontext.Value {
	for i := len(spans) - 1; i >= 0; i-- {
		if spans[i].name == name {
			return spans[i].value
		}
	}
	return nil
}

// textOf returns the text of a JSON string, and whether v is one.
func textOf(v jsontext.Value) (string, bool) {
	if v.Kind() != '"' || len(v) < 2 {
		return "", false
	}
	return jsonspan.Text(v), true
}

// isNull reports an absent value or null.
func isNull(v jsontext.Value) bool { return len(v) == 0 || v.Kind() == 'n' }

// strictJSON returns v without the white space between its tokens, and as strict
// JSON: repeated names and broken surrogates are resolved. The bytes of strings
// and numbers that are sound stay as they came.
func strictJSON(v jsontext.Value) jsontext.Value {
	v = v.Clone()
	if !v.IsValid() {
		return mend(v)
	}
	if err := v.Compact(); err != nil {
		return mend(v)
	}
	return v
}

// mend writes v anew, part by part.
func mend(v jsontext.Value) jsontext.Value {
	switch v.Kind() {
	case '{':
		return mendObject(v)
	case '[':
		elements, err := elementsOf(v)
		if err != nil {
			return jsontext.Value("null")
		}
		var mended []jsontext.Value
		for _, e := range elements {
			mended = append(mended, mend(e.value))
		}
		return arrayOf(mended)
	case '"':
		text, _ := textOf(v)
		return quote(text)
	default:
		return bytes.TrimSpace(v)
	}
}

// arrayOf writes an array.
func arrayOf(values []jsontext.Value) jsontext.Value {
	out := jsontext.Value{'['}
	for i, v := range values {
		if i > 0 {
			out = append(out, ',')
		}
		out = append(out, v...)
	}
	return append(out, ']')
}

// latest returns the members without those that the same name replaces later.
func latest(members []span) []span {
	last := make(map[string]int, len(members))
	for i, m := range members {
		last[m.name] = i
	}
	if len(last) == len(members) {
		return members
	}
	var kept []span
	for i, m := range members {
		if last[m.name] == i {
			kept = append(kept, m)
		}
	}
	return kept
}

// mendObject keeps of each name the last value.
func mendObject(v jsontext.Value) jsontext.Value {
	members, err := membersOf(v)
	if err != nil {
		return jsontext.Value("null")
	}
	out := jsontext.Value{'{'}
	for _, m := range latest(members) {
		out = appendMember(out, m.name, mend(m.value))
	}
	return append(out, '}')
}

// appendMember adds a member to the object that out has begun.
func appendMember(out jsontext.Value, name string, value []byte) jsontext.Value {
	if out[len(out)-1] != '{' {
		out = append(out, ',')
	}
	out = append(append(out, quote(name)...), ':')
	return append(out, value...)
}

// cutJSON reports that text breaks off inside a JSON value: with more text it
// could be one.
func cutJSON(err error) bool {
	return err == io.EOF || errors.Is(err, io.ErrUnexpectedEOF)
}
