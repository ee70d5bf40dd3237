package runtime

import (
	"bytes"
	"strings"
)

// SplitEvents cuts the bytes of a server-sent event stream into blocks: each
// event as received, with its line ends and its blank line; the last may be a
// torn tail. The blocks joined are the input, always.
func SplitEvents(stream []byte) [][]byte {
	var s Splitter
	blocks := s.Feed(stream)
	if rest := s.Rest(); rest != nil {
		blocks = append(blocks, rest)
	}
	return blocks
}

// Splitter cuts an event stream into blocks while it arrives. Lines end in LF,
// CRLF or CR and may be of any length. How the input is cut into pieces makes
// no difference to the blocks. The zero value is ready.
type Splitter struct {
	buf     []byte // received, not yet given out
	line    int    // where the line that is being read starts in buf
	scanned int    // how much of buf has been looked at
}

// Feed takes the next piece of the stream and returns the blocks that it
// finished. A blank line that ends in CR at the end of a piece is held back
// until the next byte or Rest, for an LF may belong to it. The blocks stay
// valid and do not share memory with piece.
func (s *Splitter) Feed(piece []byte) [][]byte {
	s.buf = append(s.buf, piece...)
	var blocks [][]byte
	start := 0 // of the block that is being read
	for {
		end, next, ok := s.nextLine()
		if !ok {
			break
		}
		blank := end == s.line
		s.line, s.scanned = next, next
		if blank {
			blocks = append(blocks, s.buf[start:next:next])
			start = next
		}
	}
	if start > 0 {
		s.buf = bytes.Clone(s.buf[start:])
		s.line -= start
		s.scanned -= start
	}
	return blocks
}

// nextLine returns where the line that is being read ends, without and with
// its line end; false when it is not known yet.
func (s *Splitter) nextLine() (end, next int, ok bool) {
	at := bytes.IndexAny(s.buf[s.scanned:], "\r\n")
	if at < 0 {
		s.scanned = len(s.buf)
		return 0, 0, false
	}
	end = s.scanned + at
	switch {
	case s.buf[end] == '\n':
		return end, end + 1, true
	case end+1 == len(s.buf): // CR: an LF may follow
		s.scanned = end
		return 0, 0, false
	case s.buf[end+1] == '\n':
		return end, end + 2, true
	default:
		return end, end + 1, true
	}
}

// Rest ends the stream and returns what is left: a block whose blank line was
// held back, or a torn tail; nil when there is nothing. The Splitter is then as
// new.
func (s *Splitter) Rest() []byte {
	rest := s.buf
	*s = Splitter{}
	if len(rest) == 0 {
		return nil
	}
	return rest
}

// EventData reads one block: the event's name and its data, the data lines
// joined by LF. ok is false for a block without a data line, such as a comment;
// its name still counts. Exactly one blank after the colon is dropped, and a
// byte order mark in front.
func EventData(block []byte) (event, data string, ok bool) {
	text := strings.TrimPrefix(string(block), "\ufeff")
	var joined strings.Builder
	for text != "" {
		var line string
		line, text = cutLine(text)
		field, value, _ := strings.Cut(line, ":")
		value = strings.TrimPrefix(value, " ")
		switch field {
		case "event":
			event = value
		case "data":
			if ok {
				joined.WriteByte('\n')
			}
			joined.WriteString(value)
			ok = true
		}
	}
	return event, joined.String(), ok
}

// cutLine returns the first line of text without its line end, and what follows.
func cutLine(text string) (line, rest string) {
	end := strings.IndexAny(text, "\r\n")
	if end < 0 {
		return text, ""
	}
	rest = text[end+1:]
	if text[end] == '\r' {
		rest = strings.TrimPrefix(rest, "\n")
	}
	return text[:end], rest
}
