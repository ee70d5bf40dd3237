package golden

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Bounds of what is shown in full.
const (
	wideLine  = 160 // characters of a line; a longer one loses its middle
	lineHead  = 100 // characters kept of the beginning of such a line
	lineTail  = 40  // and of its end
	fullLines = 5   // lines of a text; a longer one keeps its first and last two
	keptLines = 2
)

// The marks of what cannot be seen. A text that holds a mark itself has it
// written as an escape, so no two texts look the same.
const (
	markTab      = '⇥'
	markNewline  = '↵' // only where a text ends with a newline, or with several
	markTrailing = '␠' // a space at the end of a line
	markOpen     = '‹'
)

// names of invisible characters that have a common one.
var invisible = map[rune]string{'\r': "CR", 0: "NUL", 0x1b: "ESC", 0xa0: "NBSP", 0xfeff: "BOM"}

// visible writes one line of text (without newline) so that every character
// can be seen: ‹CR›, ‹U+200B›, ‹xFF› for a byte that is no UTF-8.
func visible(line string) string {
	if isPlain(line) {
		return line
	}
	var out strings.Builder
	body := strings.TrimRight(line, " ")
	for rest := body; rest != ""; {
		r, size := utf8.DecodeRuneInString(rest)
		switch {
		case r == utf8.RuneError && size == 1:
			fmt.Fprintf(&out, "‹x%02X›", rest[0])
		case r == '\t':
			out.WriteRune(markTab)
		case invisible[r] != "":
			out.WriteString("‹" + invisible[r] + "›")
		case isHidden(r) || isMark(r):
			fmt.Fprintf(&out, "‹U+%04X›", r)
		default:
			out.WriteRune(r)
		}
		rest = rest[size:]
	}
	out.WriteString(strings.Repeat(string(markTrailing), len(line)-len(body)))
	return out.String()
}

// isPlain reports whether line is printable ASCII without a space at its end:
// the usual case, which needs no look at each character.
func isPlain(line string) bool {
	for i := range len(line) {
		if line[i] < ' ' || line[i] > '~' {
			return false
		}
	}
	return !strings.HasSuffix(line, " ")
}

func isMark(r rune) bool {
	return r == markTab || r == markNewline || r == markTrailing || r == markOpen
}

// isHidden reports whether r leaves no ink of its own although it stands in a
// class of printable characters, or stands in none.
func isHidden(r rune) bool {
	switch {
	case r == ' ':
		return false
	case !unicode.IsPrint(r):
		return true
	case r == 0x034f, r == 0x115f, r == 0x1160, r == 0x2800, r == 0x3164, r == 0xffa0:
		return true // joiners, fillers and a blank that count as marks, letters or symbols
	default:
		return unicode.Is(unicode.Variation_Selector, r)
	}
}

// prose is a text made ready to be shown.
type prose struct {
	head, tail []string // visible lines; tail only where lines between are left out
	left       int      // how many lines are left out
	measure    string   // "12 lines, 340 characters, hash 1a2b3c4d"; "" when all is shown
}

// newProse cuts text into visible lines. A newline at the very end of the text
// is shown as a mark at the end of its last line.
func newProse(text string, full bool) prose {
	body := strings.TrimRight(text, "\n")
	lines := strings.Split(body, "\n")
	ending := strings.Repeat(string(markNewline), len(text)-len(body))
	p := prose{head: lines}
	if !full && len(lines) > fullLines {
		p.head, p.tail = lines[:keptLines:keptLines], lines[len(lines)-keptLines:]
		p.left = len(lines) - 2*keptLines
	}
	cut := p.left > 0
	for _, part := range [][]string{p.head, p.tail} {
		for i, line := range part {
			line = visible(line)
			if !full {
				short, isCut := shorten(line)
				line, cut = short, cut || isCut
			}
			part[i] = line
		}
	}
	if len(p.tail) > 0 {
		p.tail[len(p.tail)-1] += ending
	} else {
		p.head[len(p.head)-1] += ending
	}
	if cut {
		p.measure = measure(text, len(lines))
	}
	return p
}

// measure says of a folded text what its shown lines do not tell.
func measure(text string, lines int) string {
	sum := sha256.Sum256([]byte(text))
	return fmt.Sprintf("%s, %s, hash %s", count(lines, "line"), count(utf8.RuneCountInString(text), "character"), hex.EncodeToString(sum[:4]))
}

// shorten takes the middle out of a line that is too wide to read.
func shorten(line string) (string, bool) {
	if len(line) <= wideLine || utf8.RuneCountInString(line) <= wideLine {
		return line, false
	}
	runes := []rune(line)
	left := len(runes) - lineHead - lineTail
	return fmt.Sprintf("%s ‹… %s …› %s", string(runes[:lineHead]), count(left, "character"), string(runes[len(runes)-lineTail:])), true
}

func count(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}
