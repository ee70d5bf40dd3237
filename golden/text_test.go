package golden

import (
	"fmt"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"

	"gotest.tools/v3/assert"
)

// case 6.13: both sides of a difference must not look the same.
func TestVisibleShowsWhatCannotBeSeen(t *testing.T) {
	tests := []struct{ name, line, want string }{
		{"plain", "plain text", "plain text"},
		{"other scripts", "日本語 é ✓ हिन्दी", "日本語 é ✓ हिन्दी"},
		{"tab", "a\tb\t", "a⇥b⇥"},
		{"spaces at the end", "a b  ", "a b␠␠"},
		{"only spaces", "  ", "␠␠"},
		{"carriage return", "a\r", "a‹CR›"},
		{"control characters", "\x00\x1b[31m\x7f", "‹NUL›‹ESC›[31m‹U+007F›"},
		{"byte order mark, no-break space", "\ufeffa\u00a0b", "‹BOM›a‹NBSP›b"},
		{"zero width, bidirectional, soft hyphen", "a\u200bb\u202ec\u00ad", "a‹U+200B›b‹U+202E›c‹U+00AD›"},
		{"variation selector, filler, blank braille", "✔\ufe0f\u3164\u2800", "✔‹U+FE0F›‹U+3164›‹U+2800›"},
		{"bytes that are no UTF-8", "a\xff\xc3(", "a‹xFF›‹xC3›("},
		{"a real replacement character", "\ufffd", "\ufffd"},
		{"the marks themselves", "⇥↵␠‹CR›", "‹U+21E5›‹U+21B5›‹U+2420›‹U+2039›CR›"},
		{"line and paragraph separator", "a\u2028b\u2029", "a‹U+2028›b‹U+2029›"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) { assert.Equal(t, visible(test.line), test.want) })
	}
}

func TestProseFoldsLongTexts(t *testing.T) {
	wide := strings.Repeat("x", 100) + strings.Repeat("é", 61)
	tests := []struct {
		name, text string
		want       prose
	}{
		{"empty", "", prose{head: []string{""}}},
		{"one line", "a", prose{head: []string{"a"}}},
		{"ended by a newline", "a\n", prose{head: []string{"a↵"}}},
		{"ended by several", "a\n\n", prose{head: []string{"a↵↵"}}},
		{"nothing but newlines", "\n\n", prose{head: []string{"↵↵"}}},
		{"five lines in full", "1\n2\n3\n4\n5", prose{head: []string{"1", "2", "3", "4", "5"}}},
		{"six lines folded", "1\n2\n3\n4\n5\n6\n", prose{head: []string{"1", "2"}, left: 2, tail: []string{"5", "6↵"}, measure: "6 lines, 12 characters, hash c5d16152"}},
		{"160 characters in full", wide[:len(wide)-2], prose{head: []string{wide[:len(wide)-2]}}},
		{"161 lose their middle", wide, prose{head: []string{strings.Repeat("x", 100) + " ‹… 21 characters …› " + strings.Repeat("é", 40)}, measure: "1 line, 161 characters, hash 55e9263e"}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			got := newProse(test.text, false)
			assert.Equal(t, fmt.Sprintf("%+v", got), fmt.Sprintf("%+v", test.want))
		})
	}
}

func TestProseOfChangedTextDiffersWhereverTheChangeIs(t *testing.T) {
	text := numbered(50)
	want := fmt.Sprintf("%+v", newProse(text, false))
	for i := range len(text) {
		changed := text[:i] + string(text[i]^1) + text[i+1:]
		assert.Assert(t, fmt.Sprintf("%+v", newProse(changed, false)) != want, "change at byte %d does not show", i)
	}
}

func TestFullProseOfHugeTextKeepsAll(t *testing.T) {
	text := strings.Repeat("x", 1<<20)
	assert.Equal(t, newProse(text, true).head[0], text)
}

// FuzzVisible holds that a text can be read back from what is shown of it: no
// two texts look the same.
func FuzzVisible(f *testing.F) {
	for _, seed := range []string{"", "a b ", "‹CR›\r", "⇥\t", "\xff\xfe", "↵\n\n", "\u200b␠ ", "\ufffd", "a\n b \nc"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		shown := newProse(text, true)
		assert.Equal(t, unseen(t, strings.Join(shown.head, "\n")), text)
		short := newProse(text, false)
		for _, line := range append(short.head, short.tail...) {
			assert.Assert(t, utf8.ValidString(line) && !strings.ContainsAny(line, "\r\n"), "%q", line)
		}
	})
}

// unseen is the inverse of visible, and of the mark of a last newline.
func unseen(t *testing.T, shown string) string {
	t.Helper()
	byName := map[string]string{}
	for r, name := range invisible {
		byName[name] = string(r)
	}
	var out strings.Builder
	for shown != "" {
		r, size := utf8.DecodeRuneInString(shown)
		shown = shown[size:]
		switch r {
		case markTab:
			out.WriteByte('\t')
		case markNewline:
			out.WriteByte('\n')
		case markTrailing:
			out.WriteByte(' ')
		case markOpen:
			name, rest, ok := strings.Cut(shown, "›")
			assert.Assert(t, ok)
			shown = rest
			out.WriteString(escaped(t, name, byName))
		default:
			out.WriteRune(r)
		}
	}
	return out.String()
}

func escaped(t *testing.T, name string, byName map[string]string) string {
	t.Helper()
	if text, ok := byName[name]; ok {
		return text
	}
	digits, isRune := strings.CutPrefix(name, "U+")
	if !isRune {
		digits = strings.TrimPrefix(name, "x")
	}
	n, err := strconv.ParseUint(digits, 16, 32)
	assert.NilError(t, err)
	if isRune {
		return string(rune(n))
	}
	return string([]byte{byte(n)})
}
