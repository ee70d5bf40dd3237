package transcripts

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"sync"

	"github.com/go-json-experiment/json/jsontext"
)

// line is one line of a file, cut into the members of its object. Its methods
// take members out by name and note the first fault; what nobody took is
// unknown and kept.
type line struct {
	file    string
	number  int
	text    []byte // without line end
	members []member
	torn    bool // the text merely breaks off
	lean    bool // texts may take the place of their JSON: see inPlace
	err     error
}

// member is one member of a line's object; text[from:to] is the member with
// the comma before it.
type member struct {
	Member
	from, to int
	taken    bool
}

// decoder is a strict decoder that is used again.
type decoder struct {
	jsontext.Decoder
	buffer bytes.Buffer
}

var decoders = sync.Pool{New: func() any { return new(decoder) }}

func openDecoder(text []byte) *decoder {
	d := decoders.Get().(*decoder)
	d.buffer = *bytes.NewBuffer(text)
	d.Reset(&d.buffer)
	return d
}

// close gives the decoder back; it must not keep the text alive.
func (d *decoder) close() {
	d.buffer = bytes.Buffer{}
	d.Reset(&d.buffer)
	decoders.Put(d)
}

// scan cuts text, strictly: one object, no name twice at any depth, UTF-8,
// nothing after it.
func scan(file string, number int, text []byte) (*line, error) {
	l := &line{file: file, number: number, text: text, members: make([]member, 0, 16)}
	dec := openDecoder(text)
	defer dec.close()
	token, err := dec.ReadToken()
	if err != nil {
		return l, l.broken(err)
	}
	if token.Kind() != '{' {
		fault := l.fault("a line must be a JSON object, not %s", kindName(token.Kind()))
		fault.Fix = damaged
		return l, fault
	}
	for dec.PeekKind() == '"' {
		from := int(dec.InputOffset())
		name, err := dec.ReadToken()
		if err != nil {
			return l, l.broken(err)
		}
		text := name.String()
		value, err := dec.ReadValue()
		if err != nil {
			return l, l.broken(err)
		}
		to := int(dec.InputOffset())
		l.members = append(l.members, member{
			Member: Member{Name: text, Value: l.text[to-len(value) : to : to]},
			from:   from, to: to,
		})
	}
	if _, err := dec.ReadToken(); err != nil {
		return l, l.broken(err)
	}
	if _, err := dec.ReadToken(); !errors.Is(err, io.EOF) {
		fault := l.fault("data after the object")
		fault.Fix = damaged
		return l, fault
	}
	return l, nil
}

// damaged is what a line is that no writer of transcripts wrote; editing seldom
// mends it.
const damaged = "restore the file, or record it again"

// broken puts a syntax fault into our words.
func (l *line) broken(err error) error {
	fault := l.damage(err)
	fault.Fix = damaged
	return fault
}

func (l *line) damage(err error) *SyntaxError {
	var syntax *jsontext.SyntacticError
	at := len(l.text)
	cause := err
	if errors.As(err, &syntax) {
		at, cause = int(syntax.ByteOffset), syntax.Err
	}
	switch {
	case errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, io.EOF):
		l.torn = true
		return l.fault("the line breaks off after %d bytes", len(l.text))
	case errors.Is(err, jsontext.ErrDuplicateName):
		return l.fault("key %q stands twice in one object", syntax.JSONPointer.LastToken())
	case cause != nil && strings.Contains(cause.Error(), "UTF-8"):
		return l.fault("not UTF-8 near byte %d", at+1)
	default:
		return l.fault("not valid JSON near byte %d: %v", at+1, cause)
	}
}

// fault returns an error at this line.
func (l *line) fault(format string, args ...any) *SyntaxError {
	return &SyntaxError{File: l.file, Line: l.number, Msg: fmt.Sprintf(format, args...)}
}

// failed notes a fault; the first one stays.
func (l *line) failed(format string, args ...any) {
	if l.err == nil {
		l.err = l.fault(format, args...)
	}
}

// find returns the member of that name without taking it.
func (l *line) find(name string) *member {
	for i := range l.members {
		if l.members[i].Name == name {
			return &l.members[i]
		}
	}
	return nil
}

// has reports whether the line has the key.
func (l *line) has(name string) bool { return l.find(name) != nil }

// value takes a member; nil when it is absent.
func (l *line) value(name string) jsontext.Value {
	m := l.find(name)
	if m == nil {
		return nil
	}
	m.taken = true
	return m.Value
}

// need takes a member that must be there.
func (l *line) need(name string) jsontext.Value {
	value := l.value(name)
	if value == nil {
		l.failed("key %q is missing", name)
	}
	return value
}

// of checks the type of a value that may be absent.
func (l *line) of(name string, value jsontext.Value, kind jsontext.Kind) bool {
	if value == nil {
		return false
	}
	if value.Kind() != kind {
		l.failed("key %q must be %s, not %s", name, kindName(kind), kindName(value.Kind()))
		return false
	}
	return true
}

// needString and optString take a string.
func (l *line) needString(name string) string { return l.asString(name, l.need(name)) }
func (l *line) optString(name string) string  { return l.asString(name, l.value(name)) }

func (l *line) asString(name string, value jsontext.Value) string {
	if !l.of(name, value, '"') {
		return ""
	}
	return unquote(value)
}

// needCount takes a whole number that is at least min.
func (l *line) needCount(name string, min int) int { return l.asCount(name, l.need(name), min) }

// needInt takes a whole number, also one below 0.
func (l *line) needInt(name string) int {
	value := l.need(name)
	n, err := strconv.Atoi(string(value))
	if value != nil && err != nil {
		l.failed("key %q must be a whole number, not %s", name, shorten(value))
	}
	return n
}

// optCount takes a whole number from 1; absent gives 1.
func (l *line) optCount(name string) int {
	value := l.value(name)
	if value == nil {
		return 1
	}
	return l.asCount(name, value, 1)
}

func (l *line) asCount(name string, value jsontext.Value, min int) int {
	if value == nil {
		return min
	}
	n, err := strconv.Atoi(string(value))
	if err != nil || n < min {
		l.failed("key %q must be a whole number from %d, not %s", name, min, shorten(value))
		return min
	}
	return n
}

// optTrue takes a flag that is true or absent.
func (l *line) optTrue(name string) bool {
	value := l.value(name)
	if value != nil && value.Kind() != 't' {
		l.failed("key %q must be true or absent, not %s", name, shorten(value))
	}
	return value != nil
}

// optStrings takes a list of strings; absent gives nil.
func (l *line) optStrings(name string) []string {
	value := l.value(name)
	if !l.of(name, value, '[') {
		return nil
	}
	list := []string{}
	for _, element := range elements(value) {
		if element.Kind() != '"' {
			l.failed("key %q must hold strings only, not %s", name, kindName(element.Kind()))
			return nil
		}
		list = append(list, unquote(element))
	}
	return list
}

// optObject takes an object's members in order; absent gives nil.
func (l *line) optObject(name string) []Member {
	value := l.value(name)
	if !l.of(name, value, '{') {
		return nil
	}
	return objectMembers(value)
}

// extra returns what nobody took, in order.
func (l *line) extra() []Member {
	var rest []Member
	for _, m := range l.members {
		if !m.taken {
			rest = append(rest, m.Member)
		}
	}
	return rest
}

// elements cuts a valid JSON array. The values share its bytes.
func elements(array jsontext.Value) []jsontext.Value {
	list := []jsontext.Value{}
	dec := openDecoder(array)
	defer dec.close()
	if _, err := dec.ReadToken(); err != nil {
		return list
	}
	for {
		value, err := dec.ReadValue()
		if err != nil { // the closing bracket
			return list
		}
		to := int(dec.InputOffset())
		list = append(list, array[to-len(value):to:to])
	}
}

// objectMembers cuts a valid JSON object. The values share its bytes.
func objectMembers(object jsontext.Value) []Member {
	var list []Member
	dec := openDecoder(object)
	defer dec.close()
	if _, err := dec.ReadToken(); err != nil {
		return list
	}
	for {
		name, err := dec.ReadToken()
		if err != nil || name.Kind() != '"' {
			return list
		}
		text := name.String()
		value, err := dec.ReadValue()
		if err != nil {
			return list
		}
		to := int(dec.InputOffset())
		list = append(list, Member{Name: text, Value: object[to-len(value) : to : to]})
	}
}

// unquote returns the text of a valid JSON string.
func unquote(value jsontext.Value) string {
	if len(value) < 2 {
		return ""
	}
	if bytes.IndexByte(value, '\\') < 0 {
		return string(value[1 : len(value)-1])
	}
	text, _ := jsontext.AppendUnquote(make([]byte, 0, len(value)), value) // valid, the scanner has seen it
	return string(text)
}

// kindName names a JSON type for a person.
func kindName(kind jsontext.Kind) string {
	switch kind {
	case '{':
		return "an object"
	case '[':
		return "an array"
	case '"':
		return "a string"
	case '0':
		return "a number"
	case 'n':
		return "null"
	case 't', 'f':
		return "true or false"
	default:
		return "something else"
	}
}

// shorten cuts a value to what fits into a message.
func shorten(value []byte) string {
	const most = 40
	if len(value) <= most {
		return string(value)
	}
	return strings.ToValidUTF8(string(value[:most]), "") + "…"
}

// stringOf returns a string's text, "" for anything else.
func stringOf(value jsontext.Value) string {
	if value.Kind() != '"' {
		return ""
	}
	return unquote(value)
}

// membersOf returns an object's members, none for anything else.
func membersOf(value jsontext.Value) []Member {
	if value.Kind() != '{' {
		return nil
	}
	return objectMembers(value)
}
