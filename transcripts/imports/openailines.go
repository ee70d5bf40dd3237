package imports

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"iter"

	"github.com/tapetree/tapetree/transcripts"
)

// openAILines reads JSONL of OpenAI messages: every line is a history, an array
// of messages or an object with such an array; or every line is a message, and
// the file is one history.
var openAILines = Importer{
	Name: formatOpenAILines, Title: "OpenAI messages, JSONL",
	Detect: func(data []byte) bool { return linesShape(trim(data)) != shapeNone },
	Read:   readOpenAILines,
}

const formatOpenAILines = "openai-jsonl"

// lines gives the lines of data that are not blank, with their numbers, without
// their ends.
func lines(data []byte) iter.Seq2[int, []byte] {
	return func(yield func(int, []byte) bool) {
		for number := 1; len(data) > 0; number++ {
			line, rest, _ := bytes.Cut(data, []byte{'\n'})
			data = rest
			line = bytes.TrimRight(line, "\r")
			if len(bytes.TrimSpace(line)) > 0 && !yield(number, line) {
				return
			}
		}
	}
}

// linesShape looks at the first lines: shapeSession where they are histories,
// shapeMessage where they are messages, shapeNone for anything else, and where
// there is one line that is a history: that is plain JSON.
func linesShape(data []byte) shape {
	found, whole, seen := shapeNone, 0, 0
	for _, line := range lines(data) {
		if seen++; seen > looks || whole > 1 && found != shapeNone {
			break
		}
		of := shapeOf(line)
		if seen == 1 && of != shapeMessage && len(line) == len(bytes.TrimSpace(data)) {
			return shapeNone // all in one line
		}
		if s := scan(line, 1); s.skip() != nil || !s.ended() {
			continue
		}
		if whole++; whole == 1 && seen > 1 && spansLines(data) {
			return shapeNone
		}
		switch {
		case found != shapeNone:
		case of == shapeMessages || of == shapeSession || of == shapeSessions:
			found = shapeSession
		case of == shapeMessage:
			found = shapeMessage
		}
	}
	if seen < 2 && found != shapeMessage {
		return shapeNone
	}
	return found
}

// spansLines reports JSON whose first value goes on over the end of its line, as
// far as that can be said of one that breaks off.
func spansLines(data []byte) bool {
	s := scan(data, 1)
	err := s.skip()
	if err == nil || errors.Is(err, io.ErrUnexpectedEOF) {
		return true
	}
	line, _ := s.fault(err)
	return line > 2
}

func readOpenAILines(path string, data []byte) iter.Seq2[*transcripts.History, error] {
	return func(yield func(*transcripts.History, error) bool) {
		data = trim(data)
		if linesShape(data) == shapeMessage {
			only(path, messageLines(path, data), yield)
			return
		}
		out := &held{yield: yield}
		for number, line := range lines(data) {
			if !lineSession(out, path, number, line) {
				break
			}
		}
		out.end(path)
	}
}

// lineSession reads one line, and reports whether to go on.
func lineSession(out *held, path string, number int, line []byte) bool {
	s := scan(line, number)
	n := readSession(s, path, fmt.Sprintf("line %d", number), formatOpenAILines)
	h := n.end()
	switch {
	case h == nil && n.broken != nil:
		out.warn(number, "left out, the line is no JSON")
	case h == nil:
		out.warn(number, "left out, the line holds no message")
	default:
		if n.broken == nil && !s.ended() {
			h.Warnings = append(h.Warnings, transcripts.Warning{Line: number, Msg: "what stands behind the JSON value was left out"})
		}
		return out.give(h)
	}
	return true
}

// messageLines reads a file whose every line is a message.
func messageLines(path string, data []byte) *session {
	n := newSession(path, "", formatOpenAILines)
	for number, line := range lines(data) {
		s := scan(line, number)
		raw, _, err := s.value()
		if err != nil || !s.ended() {
			n.builder.Warn(number, "left out, the line is no JSON")
			continue
		}
		n.add(raw, transcripts.Spot{Line: number})
	}
	return n
}
