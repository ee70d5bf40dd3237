package tools

import (
	"bytes"
	"regexp"
	"strings"
	"unicode/utf8"

	"github.com/tapetree/tapetree/runtime"
)

// segmentBytes is how much of a text without a line end is folded at once, and
// so the memory that a line of any length takes.
const segmentBytes = 64 << 10

// segments cuts a stream of bytes into pieces of folded text: whole lines, or
// parts of a line that is too long to hold. Bytes that are no UTF-8 become
// U+FFFD here, so that everything behind counts and cuts what a model will see.
// A path of the machine that lies across two parts of one such long line is
// not folded.
type segments struct {
	fold    *runtime.Folder
	emit    func(text string)
	pending []byte
}

// Write takes the next bytes; it never fails.
func (s *segments) Write(data []byte) (int, error) {
	for rest := data; len(rest) > 0; {
		n := min(len(rest), segmentBytes)
		s.pending = append(s.pending, rest[:n]...)
		rest = rest[n:]
		if end := bytes.LastIndexByte(s.pending, '\n'); end >= 0 {
			s.flush(end + 1)
		} else if len(s.pending) >= segmentBytes {
			s.flush(partEnd(s.pending))
		}
	}
	return len(data), nil
}

// Close emits what is left.
func (s *segments) Close() { s.flush(len(s.pending)) }

func (s *segments) flush(n int) {
	if n == 0 {
		return
	}
	s.emit(s.fold.Fold(strings.ToValidUTF8(string(s.pending[:n]), "\uFFFD")))
	s.pending = append(s.pending[:0], s.pending[n:]...)
}

// partEnd is where a part of a long line ends: behind a blank near the end, so
// that words stay whole, else at a rune boundary.
func partEnd(part []byte) int {
	if blank := bytes.LastIndexAny(part[len(part)-maxPath:], " \t\r"); blank >= 0 {
		return len(part) - maxPath + blank + 1
	}
	end := len(part)
	for back := 1; back < utf8.UTFMax && back < end; back++ {
		if utf8.RuneStart(part[end-back]) {
			if !utf8.FullRune(part[end-back:]) {
				return end - back
			}
			break
		}
	}
	return end
}

// placeholder finds what a cut must not part: our words for paths, with the
// braces that mark a literal one.
var placeholder = regexp.MustCompile(`\{{2,}(?:workspace|tmp|home)\}\}`)

// placeholderReach is how far from a cut a placeholder is looked for, in bytes.
const placeholderReach = 64

// cutBefore returns the last place at or before n where text may be cut: at a
// rune boundary and in no placeholder.
func cutBefore(text string, n int) int {
	for n > 0 && n < len(text) && !utf8.RuneStart(text[n]) {
		n--
	}
	if start, _, inside := placeholderAround(text, n); inside {
		return start
	}
	return n
}

// cutAfter returns the first place at or after n where text may be cut.
func cutAfter(text string, n int) int {
	for n > 0 && n < len(text) && !utf8.RuneStart(text[n]) {
		n++
	}
	if _, end, inside := placeholderAround(text, n); inside {
		return end
	}
	return n
}

func placeholderAround(text string, n int) (start, end int, inside bool) {
	from := max(0, n-placeholderReach)
	window := text[from:min(len(text), n+placeholderReach)]
	for _, span := range placeholder.FindAllStringIndex(window, -1) {
		if start, end := from+span[0], from+span[1]; start < n && n < end {
			return start, end, true
		}
	}
	return 0, 0, false
}
