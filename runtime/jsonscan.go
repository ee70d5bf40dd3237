package runtime

import "strings"

// jsonSpan is the inside of one string of a JSON text, or one of its numbers.
type jsonSpan struct {
	start, end int
	member     string // whose value it is; "" for names and array elements
	number     bool
}

// jsonScan is what one pass over a text found.
type jsonScan struct {
	ok    bool // an object or array, several of them, or the beginning of one
	spans []jsonSpan
	open  string // what would close the text: empty unless it breaks off inside a string
	torn  int    // where a torn escape at the end begins, else the length
}

// jsonState says what may come next.
type jsonState byte

const (
	wantValue jsonState = iota
	wantValueOrEnd
	wantName
	wantNameOrEnd
	wantColon
	wantCommaOrEnd
)

// jsonScanner reads JSON that may break off at any byte. encoding packages
// give up on such text; the arguments of a call that was cut off, and the
// pieces of a stream, are just that.
type jsonScanner struct {
	text   string
	at     int
	state  jsonState
	stack  []byte // the closers of what is open
	member []string
	out    jsonScan
}

// scanJSON reads text as JSON objects and arrays. Strings and numbers alone
// do not count: a text that happens to be quoted is a text.
func scanJSON(text string) jsonScan {
	front := strings.TrimLeft(text, " \t\r\n")
	if front == "" || front[0] != '{' && front[0] != '[' {
		return jsonScan{}
	}
	s := jsonScanner{text: text}
	s.out.torn = len(text)
	for s.at < len(text) {
		if !s.step() {
			return jsonScan{}
		}
	}
	s.out.ok = true
	return s.out
}

func (s *jsonScanner) step() bool {
	switch c := s.text[s.at]; c {
	case ' ', '\t', '\r', '\n':
		s.at++
		return true
	case '{', '[':
		return s.openContainer(c)
	case '}', ']':
		return s.closeContainer(c)
	case ':':
		s.at++
		ok := s.state == wantColon
		s.state = wantValue
		return ok
	case ',':
		return s.comma()
	case '"':
		return s.str()
	default:
		return s.literal()
	}
}

func (s *jsonScanner) value() bool {
	return s.state == wantValue || s.state == wantValueOrEnd
}

func (s *jsonScanner) openContainer(c byte) bool {
	if !s.value() {
		return false
	}
	s.at++
	if c == '{' {
		s.stack = append(s.stack, '}')
		s.state = wantNameOrEnd
	} else {
		s.stack = append(s.stack, ']')
		s.state = wantValueOrEnd
	}
	s.member = append(s.member, "")
	return true
}

func (s *jsonScanner) closeContainer(c byte) bool {
	top := len(s.stack) - 1
	if top < 0 || s.stack[top] != c {
		return false
	}
	empty := s.state == wantNameOrEnd || s.state == wantValueOrEnd
	if s.state != wantCommaOrEnd && !empty {
		return false
	}
	s.at++
	s.stack, s.member = s.stack[:top], s.member[:top]
	s.after()
	return true
}

func (s *jsonScanner) comma() bool {
	if s.state != wantCommaOrEnd {
		return false
	}
	s.at++
	s.state = wantValue
	if s.stack[len(s.stack)-1] == '}' {
		s.state = wantName
	}
	return true
}

// after sets what may follow a value: at the top, another value.
func (s *jsonScanner) after() {
	s.state = wantCommaOrEnd
	if len(s.stack) == 0 {
		s.state = wantValue
	}
}

func (s *jsonScanner) str() bool {
	isName := s.state == wantName || s.state == wantNameOrEnd
	if len(s.stack) == 0 || !isName && !s.value() {
		return false
	}
	start := s.at + 1
	end, closed, ok := s.stringEnd(start)
	if !ok {
		return false
	}
	top := len(s.stack) - 1
	span := jsonSpan{start: start, end: end}
	if !isName {
		span.member = s.member[top]
	}
	s.out.spans = append(s.out.spans, span)
	s.at = end
	if !closed {
		if !isName {
			s.out.open = `"` + reversed(s.stack)
		}
		return true
	}
	s.at++
	if isName {
		s.member[top] = UnescapeJSON(s.text[start:end])
		s.state = wantColon
		return true
	}
	s.after()
	return true
}

// stringEnd finds the closing quote. A string that breaks off ends with the
// text; its torn escape, if any, is noted.
func (s *jsonScanner) stringEnd(from int) (end int, closed, ok bool) {
	for i := from; i < len(s.text); {
		switch c := s.text[i]; {
		case c == '"':
			return i, true, true
		case c < 0x20:
			return 0, false, false
		case c != '\\':
			i++
		default:
			n := escapeLength(s.text[i:])
			if n == 0 {
				return 0, false, false
			}
			if i+n > len(s.text) {
				s.out.torn = i
				return len(s.text), false, true
			}
			i += n
		}
	}
	return len(s.text), false, true
}

// escapeLength is how long the escape at the front of s is when whole, 0 when
// it can be none.
func escapeLength(s string) int {
	if len(s) < 2 {
		return 2
	}
	if s[1] != 'u' {
		if strings.IndexByte(`"\/bfnrt`, s[1]) < 0 {
			return 0
		}
		return 2
	}
	for _, c := range []byte(s[2:min(6, len(s))]) {
		if !('0' <= c && c <= '9' || 'a' <= c|0x20 && c|0x20 <= 'f') {
			return 0
		}
	}
	return 6
}

// literal reads true, false, null or a number; at the end of the text also a
// beginning of one.
func (s *jsonScanner) literal() bool {
	if len(s.stack) == 0 || !s.value() {
		return false
	}
	start := s.at
	for s.at < len(s.text) && isLiteral(s.text[s.at]) {
		s.at++
	}
	word := s.text[start:s.at]
	if word == "" {
		return false
	}
	if strings.IndexByte("-0123456789", word[0]) >= 0 {
		if strings.Trim(word, "-+.eE0123456789") != "" {
			return false
		}
		s.out.spans = append(s.out.spans, jsonSpan{start, s.at, s.member[len(s.stack)-1], true})
		s.after()
		return true
	}
	for _, known := range []string{"true", "false", "null"} {
		if word == known || s.at == len(s.text) && strings.HasPrefix(known, word) {
			s.after()
			return true
		}
	}
	return false
}

func isLiteral(c byte) bool {
	return 'a' <= c && c <= 'z' || '0' <= c && c <= '9' || c == '-' || c == '+' || c == '.' || c == 'E'
}

func reversed(stack []byte) string {
	out := make([]byte, 0, len(stack))
	for i := len(stack) - 1; i >= 0; i-- {
		out = append(out, stack[i])
	}
	return string(out)
}

// CloseJSON returns text, the beginning of JSON that breaks off inside the
// string of a value, with that string and all that is open closed; a torn
// escape is dropped. It reports false for any other text.
func CloseJSON(text string) (string, bool) {
	scan := scanJSON(text)
	if !scan.ok || scan.open == "" {
		return "", false
	}
	return text[:scan.torn] + scan.open, true
}
