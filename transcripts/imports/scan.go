package imports

import (
	"bytes"
	"errors"
	"fmt"
	"io"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/tapetree/tapetree/internal/jsonspan"
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
	text    []byte
	at      int // where the next value, or what stands before it, begins
	line    int // the line of text[:counted], from 1
	counted int
}

// scan begins to walk through text, the first line of which has the given number.
func scan(text []byte, line int) *scanner { return &scanner{text: text, line: line} }

// lineAt returns the line of an offset, which must not be before the one asked
// for last.
func (s *scanner) lineAt(offset int) int {
	if offset > s.counted {
		s.line += bytes.Count(s.text[s.counted:offset], []byte{'\n'})
		s.counted = offset
	}
	return s.line
}

// kind is what the next value begins as, 0 where none does.
func (s *scanner) kind() jsontext.Kind {
	s.at = jsonspan.Space(s.text, s.at)
	return jsontext.Value(s.text[s.at:min(s.at+1, len(s.text))]).Kind()
}

// next is the line in which the next value begins.
func (s *scanner) next() int {
	s.kind()
	return s.lineAt(s.at)
}

// after is the text from the value that comes next.
func after(s *scanner) []byte {
	s.kind()
	return s.text[s.at:]
}

// value reads the next value whole, and returns the line in which it begins.
func (s *scanner) value() (jsontext.Value, int, error) {
	from := jsonspan.Space(s.text, s.at)
	if err := s.skip(); err != nil {
		return nil, 0, err
	}
	return s.text[from:s.at:s.at], s.lineAt(from), nil
}

// skip reads the next value and forgets it.
func (s *scanner) skip() error {
	s.at = jsonspan.Space(s.text, s.at)
	end, ok := jsonspan.Skip(s.text, s.at)
	if !ok {
		return s.broken()
	}
	s.at = end
	return nil
}

// array reads an array; each must read one element.
func (s *scanner) array(each func() error) error {
	return s.inside('[', func() error { return each() })
}

// object reads an object; each must read the value of one member.
func (s *scanner) object(each func(name string) error) error {
	return s.inside('{', func() error {
		name, err := s.name()
		if err != nil {
			return err
		}
		return each(jsonspan.Text(name))
	})
}

// name reads the name of a member, and leaves it quoted.
func (s *scanner) name() (jsontext.Value, error) {
	name, at, ok := jsonspan.Name(s.text, s.at)
	if !ok {
		return nil, s.broken()
	}
	s.at = at
	return name, nil
}

// inside reads what stands in the brackets of an array or an object; each must
// read one element or member.
func (s *scanner) inside(open jsontext.Kind, each func() error) error {
	if s.kind() != open {
		return s.broken()
	}
	s.at++
	for first := true; ; first = false {
		switch kind := s.kind(); {
		case kind == open+2: // '}' and ']' come two after '{' and '[', and may not follow a comma
			s.at++
			return nil
		case first:
		case s.at < len(s.text) && s.text[s.at] == ',':
			s.at++
			if s.kind() == open+2 {
				return s.broken()
			}
		default:
			return s.broken()
		}
		if err := each(); err != nil {
			return err
		}
	}
}

// broken is the error of the first place that is no JSON.
func (s *scanner) broken() error {
	d := jsontext.NewDecoder(bytes.NewBuffer(s.text), lenient...)
	for {
		if err := d.SkipValue(); err != nil {
			return err
		}
	}
}

// ended reports whether nothing but white space is left.
func (s *scanner) ended() bool { return len(bytes.TrimSpace(s.text[s.at:])) == 0 }

// fault says what is wrong with the text, and in which line. The rest of a text
// that is no JSON cannot be read.
func (s *scanner) fault(err error) (int, string) {
	var syntax *jsontext.SyntacticError
	offset := s.at
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
