package runtime

// objectScan finds out, while the text of some arguments arrives, when it is a
// whole JSON object. It looks at every byte once.
type objectScan struct {
	// Of the JSON string whose pieces arrive.
	escape int  // 1 after a backslash, 2 to 5 inside the digits of \u
	unit   rune // those digits

	// Of the text in it.
	depth   int
	begun   bool
	inText  bool
	escaped bool
	closed  bool
	broken  bool // no object, or something follows it

	checked, valid bool
}

// feed takes the next escaped bytes of the text.
func (s *objectScan) feed(piece []byte) {
	for _, c := range piece {
		switch {
		case s.escape == 0 && c == '\\':
			s.escape = 1
		case s.escape == 0:
			s.char(c)
		case s.escape == 1 && c == 'u':
			s.escape, s.unit = 2, 0
		case s.escape == 1:
			s.escape = 0
			s.char(unescaped(c))
		default:
			s.unit = s.unit<<4 | rune(hexDigit(c))
			s.escape++
			if s.escape == 6 {
				s.escape = 0
				s.char(byte(min(s.unit, 0x80))) // all that is no ASCII is alike here
			}
		}
	}
}

// unescaped is what stands for a backslash and c in a JSON string.
func unescaped(c byte) byte {
	switch c {
	case 'n', 'r', 't', 'b', 'f':
		return ' '
	default:
		return c
	}
}

func hexDigit(c byte) byte {
	switch {
	case c >= 'a':
		return c - 'a' + 10
	case c >= 'A':
		return c - 'A' + 10
	default:
		return c - '0'
	}
}

// char takes the next byte of the text itself.
func (s *objectScan) char(c byte) {
	switch {
	case s.broken:
	case s.inText && s.escaped:
		s.escaped = false
	case s.inText:
		s.escaped = c == '\\'
		s.inText = c != '"'
	case c == ' ' || c == '\t' || c == '\r' || c == '\n':
	case s.closed || !s.begun && c != '{':
		s.broken = true
	case c == '"':
		s.inText = true
	case c == '{' || c == '[':
		s.begun = true
		s.depth++
	case c == '}' || c == ']':
		s.depth--
		s.closed = s.depth == 0
	}
}

// whole reports that the text fed so far, which is text, is a whole object.
func (s *objectScan) whole(text *jsonText) bool {
	if !s.closed || s.broken {
		return false
	}
	if !s.checked { // the brackets agree in number; whether it is JSON is asked once
		s.checked, s.valid = true, ArgumentsState(text.String()) == ArgumentsComplete
	}
	return s.valid
}
