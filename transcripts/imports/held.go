package imports

import "github.com/tapetree/tapetree/transcripts"

// held gives the histories of a file of many to whoever reads them, each one
// later than it comes: what is wrong with the places between two of them stands
// in the warnings of one.
type held struct {
	yield func(*transcripts.History, error) bool
	last  *transcripts.History
	early []transcripts.Warning
	over  bool // the reader wants no more
}

func (h *held) warn(line int, msg string) {
	w := transcripts.Warning{Line: line, Msg: msg}
	if h.last == nil {
		h.early = append(h.early, w)
		return
	}
	h.last.Warnings = append(h.last.Warnings, w)
}

// give takes one more history, and reports whether to go on.
func (h *held) give(history *transcripts.History) bool {
	history.Warnings = append(h.early, history.Warnings...)
	h.early = nil
	if h.last != nil {
		h.over = !h.yield(h.last, nil)
	}
	h.last = history
	return !h.over
}

// behind is what is said of text that follows the value which a file should hold.
const behind = "what stands behind the JSON value, from here on, was left out"

// rest warns of what stands behind a value that was read to its end.
func (h *held) rest(s *scanner) {
	if !h.over && !s.ended() {
		h.warn(s.next(), behind)
	}
}

// end gives the last. A file without a history is an error, with the first thing
// that is wrong.
func (h *held) end(path string) {
	switch {
	case h.over:
	case h.last != nil:
		h.yield(h.last, nil)
	default:
		h.yield(nil, nothing(path, h.early))
	}
}

// only gives the one history of a file.
func only(path string, n *session, yield func(*transcripts.History, error) bool) {
	if h := n.end(); h != nil {
		yield(h, nil)
		return
	}
	yield(nil, nothing(path, n.builder.Warnings()))
}

// nothing is the error of a file of which no message could be read.
func nothing(path string, warnings []transcripts.Warning) error {
	err := &transcripts.SyntaxError{File: path, Msg: "no message in it could be read"}
	if len(warnings) > 0 {
		err.Line, err.Msg = warnings[0].Line, "no message could be read; "+warnings[0].Msg
	}
	return err
}
