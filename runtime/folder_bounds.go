package runtime

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// pathStarts reports that an absolute path may begin at text[at:], so that it
// is no end of a longer one.
func pathStarts(text string, at int) bool {
	if at == 0 {
		return true
	}
	before := text[:at]
	last, size := utf8.DecodeLastRuneInString(before)
	switch last {
	case '/':
		return strings.HasSuffix(before, "://")
	case '\\', '.', '~', '}', ')', '_':
		return false
	case '+', '-', '@': // a diff line, curl's @FILE; not name-/tmp
		r, _ := utf8.DecodeLastRuneInString(before[:at-size])
		return at == size || !inName(r)
	}
	return !inName(last) || afterEscape(before) || afterFlag(before)
}

// pathEnds reports that a path may end at text[:at], so that it is no
// beginning of a longer component. Dots and dashes count as the text's own
// when no name goes on behind them.
func pathEnds(text string, at int) bool {
	rest := text[at:]
	if rest == "" || rest[0] == '/' || rest[0] == '\\' {
		return true
	}
	if rest[0] == '~' {
		return false
	}
	r, _ := utf8.DecodeRuneInString(strings.TrimLeft(rest, ".-+@"))
	return !inName(r)
}

// inName reports that r usually belongs to a file name. Scripts written
// without spaces are left out: there a path stands in the middle of prose.
func inName(r rune) bool {
	if r < utf8.RuneSelf {
		return r == '_' || r == '~' || unicode.IsLetter(r) || unicode.IsDigit(r)
	}
	if unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Hangul, unicode.Thai) {
		return false
	}
	return r != utf8.RuneError && (unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.IsMark(r))
}

// afterEscape reports that before ends with the letter of an escape, as in
// text that quotes JSON (a backslash and n) or is coloured for a terminal.
func afterEscape(before string) bool {
	n := len(before)
	if n >= 2 && before[n-2] == '\\' && strings.IndexByte("nrtbf", before[n-1]) >= 0 {
		return true
	}
	if before[n-1] != 'm' {
		return false
	}
	colour := strings.TrimRight(before[:n-1], "0123456789;")
	return strings.HasSuffix(colour, "\x1b[")
}

// afterFlag reports that before ends with a one-letter option, as in
// cc -I/tmp/ws.
func afterFlag(before string) bool {
	n := len(before)
	if n < 2 || before[n-2] != '-' {
		return false
	}
	return n == 2 || strings.IndexByte(" \t\n\"'=", before[n-3]) >= 0
}
