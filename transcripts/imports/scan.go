package imports

import (
	"bytes"
	"errors"
	"fmt"
	"io"

	"github.com/go-json-experiment/json/jsontext"
)

// lenient reads what other programs wrote: of a name that is written twice the
// last counts, and bytes that are no UTF-8 are read as U+FFFD.
var lenient = []jsontext.Options{jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true)}

var byteOrderMark = []byte("\ufeff")

// trim takes off the byte order mark that some editors put in front.
func trim(data []byte) []byte { return bytes.TrimPrefix(data, byteOrderMark) }

// scanner walks through JSON text once, value by value; what it gives shares the
// memory of the text.
type scanner struct {
	text []byte
	d    *jsontext.Decoder
	line int // the line of text[:at], from 1
	at   int
}

// scan begins to walk through text, the first line of which has the given number.
func scan(text []byte, line int) *scanner {
	return &scanner{text: text, d: jsontext.NewDecoder(bytes.NewBuffer(text), lenient...), line: line}
}

// lineAt returns the line of an offset, which must not be before the one asked
// for last.
func (s *scanner) lineAt(offset int) int {
	if offset > s.at {
		s.line += bytes.Count(s.text[s.at:offset], []byte{'\n'})
		s.at = offset
	}
	return s.line
}

// next is the line in which the next value begins.
func (s *scanner) next() int { return s.lineAt(len(s.text) - len(after(s))) }

// after is the text from the value that comes next.
func after(s *scanner) []byte {
	return bytes.TrimLeft(s.text[s.d.InputOffset():], " \t\r\n:,")
}

// value reads the next value whole, and returns the line in which it begins.
func (s *scanner) value() (jsontext.Value, int, error) {
	v, err := s.d.ReadValue()
	if err != nil {
		return nil, 0, err
	}
	end := int(s.d.InputOffset())
	from := end - len(v)
	return s.text[from:end:end], s.lineAt(from), nil
}

// array reads an array; each must read one element.
func (s *scanner) array(each func() error) error {
	if _, err := s.d.ReadToken(); err != nil {
		return err
	}
	for {
		switch s.d.PeekKind() {
		case ']':
			_, err := s.d.ReadToken()
			return err
		case 0:
			return s.broken()
		}
		if err := each(); err != nil {
			return err
		}
	}
}

// object reads an object; each must read the value of one member.
func (s *scanner) object(each func(name string) error) error {
	if _, err := s.d.ReadToken(); err != nil {
		return err
	}
	for {
		switch s.d.PeekKind() {
		case '}':
			_, err := s.d.ReadToken()
			return err
		case '"':
		default:
			return s.broken()
		}
		name, err := s.d.ReadToken()
		if err != nil {
			return err
		}
		if err := each(name.String()); err != nil {
			return err
		}
	}
}

// broken is the error of a place where no value begins.
func (s *scanner) broken() error {
	if _, err := s.d.ReadValue(); err != nil {
		return err
	}
	return errors.New("a value stands where a name must")
}

// skip reads the next value and forgets it.
func (s *scanner) skip() error { return s.d.SkipValue() }

// ended reports whether nothing but white space is left.
func (s *scanner) ended() bool {
	return s.d.PeekKind() == 0 && len(bytes.TrimSpace(s.text[s.d.InputOffset():])) == 0
}

// fault says what is wrong with the text, and in which line. The rest of a text
// that is no JSON cannot be read.
func (s *scanner) fault(err error) (int, string) {
	var syntax *jsontext.SyntacticError
	offset := int(s.d.InputOffset())
	if errors.As(err, &syntax) {
		offset = int(syntax.ByteOffset)
	}
	line := s.lineAt(min(offset, len(s.text)))
	switch {
	case errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, io.EOF):
		return line, "the text breaks off here; what stands before was read"
	case syntax != nil && syntax.Err != nil:
		return line, fmt.Sprintf("no JSON from here on (%v); what stands before was read", syntax.Err)
	default:
		return line, fmt.Sprintf("no JSON from here on (%v); what stands before was read", err)
	}
}

// members returns the members of an object that are asked for, as written; of
// text that is no object, none.
func members(raw []byte, names ...string) map[string]jsontext.Value {
	found := map[string]jsontext.Value{}
	s := scan(raw, 1)
	if s.d.PeekKind() != '{' {
		return found
	}
	_ = s.object(func(name string) error { // what stands before a fault counts
		v, _, err := s.value()
		for _, n := range names {
			if n == name && err == nil {
				found[name] = v
			}
		}
		return err
	})
	return found
}

// text returns the text of a JSON string, "" of all else.
func text(v jsontext.Value) string {
	if v.Kind() != '"' {
		return ""
	}
	unquoted, _ := jsontext.AppendUnquote(nil, v) // an error only tells of U+FFFD put in
	return string(unquoted)
}
