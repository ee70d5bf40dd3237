package runtime

import (
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// Edit replaces the bytes [Start, End) of a text by New.
type Edit struct {
	Start, End int
	New        string
}

// ApplyEdits makes edits that are sorted and do not overlap. Without edits it
// returns text itself.
func ApplyEdits(text string, edits []Edit) string {
	if len(edits) == 0 {
		return text
	}
	var out strings.Builder
	out.Grow(len(text))
	done := 0
	for _, e := range edits {
		out.WriteString(text[done:e.Start])
		out.WriteString(e.New)
		done = e.End
	}
	out.WriteString(text[done:])
	return out.String()
}

// Spot is a text to find edits in, and where it stands.
type Spot struct {
	Text   string
	Member string // the JSON member whose value the text is; "" elsewhere
	Number bool   // the text is a JSON number; an edit turns it into a string
}

// Editor finds edits in texts that may be JSON.
type Editor struct {
	// Maybe says cheaply, on a text that may still hold JSON escapes, that
	// Find could find something; nil means always.
	Maybe func(text string) bool
	// Find returns the edits of one text, sorted and not overlapping.
	Find func(Spot) []Edit
	// Reversible edits that would turn a text into JSON that was none are
	// given to Keep, which returns those that may be made all the same.
	Keep func(edits []Edit) []Edit
}

// Edits returns the edits of text. Where text is JSON, or the beginning of
// JSON, they are found in each of its strings as decoded, and in JSON inside a
// string in turn; their New is escaped for every level, so what was JSON stays
// JSON and no byte outside a found span changes. Any other text is searched as
// it stands.
func (e Editor) Edits(spot Spot) []Edit {
	if e.Maybe != nil && !e.Maybe(spot.Text) {
		return nil
	}
	scan := scanJSON(spot.Text)
	if !scan.ok {
		found := e.Find(spot)
		if e.Keep != nil && len(found) > 0 && scanJSON(ApplyEdits(spot.Text, found)).ok {
			return e.Keep(found)
		}
		return found
	}
	var all []Edit
	for _, s := range scan.spans {
		all = append(all, e.inside(spot.Text, s)...)
	}
	return all
}

// inside returns the edits of one string or number of a JSON text.
func (e Editor) inside(text string, s jsonSpan) []Edit {
	inner := text[s.start:s.end]
	if s.number {
		found := e.Find(Spot{Text: inner, Member: s.member, Number: true})
		if len(found) == 0 {
			return nil
		}
		return []Edit{{s.start, s.end, `"` + escapeJSON(found[0].New) + `"`}}
	}
	if e.Maybe != nil && !e.Maybe(inner) {
		return nil
	}
	edits := StringEdits(inner, e.Edits(Spot{Text: UnescapeJSON(inner), Member: s.member}))
	for i := range edits {
		edits[i].Start += s.start
		edits[i].End += s.start
	}
	return edits
}

// StringEdits carries edits of a decoded JSON string over to inner, the
// string as written without its quotes.
func StringEdits(inner string, edits []Edit) []Edit {
	raw, decoded := 0, 0
	seek := func(to int) int {
		for decoded < to && raw < len(inner) {
			text, n := jsonUnit(inner[raw:], to-decoded)
			raw += n
			decoded += text
		}
		return raw
	}
	moved := make([]Edit, 0, len(edits))
	for _, e := range edits {
		start := seek(e.Start)
		moved = append(moved, Edit{start, seek(e.End), escapeJSON(e.New)})
	}
	return moved
}

// jsonUnit measures what stands at the front of s: up to limit plain bytes, or
// one escape. It returns the lengths decoded and as written.
func jsonUnit(s string, limit int) (decoded, written int) {
	if s[0] != '\\' {
		n := strings.IndexByte(s, '\\')
		if n < 0 {
			n = len(s)
		}
		return min(n, limit), min(n, limit)
	}
	r, n := jsonEscape(s)
	if n == 0 { // a torn escape at the end of a beginning of JSON
		return 1, 1
	}
	return utf8.RuneLen(r), n
}

// jsonEscape decodes the escape at the front of s; n is 0 where it is none.
func jsonEscape(s string) (r rune, n int) {
	if len(s) < 2 {
		return 0, 0
	}
	if s[1] != 'u' {
		at := strings.IndexByte(`"\/bfnrt`, s[1])
		if at < 0 {
			return 0, 0
		}
		return rune("\"\\/\b\f\n\r\t"[at]), 2
	}
	r, ok := hex4(s[2:])
	if !ok {
		return 0, 0
	}
	if !utf16.IsSurrogate(r) {
		return r, 6
	}
	if len(s) >= 12 && s[6] == '\\' && s[7] == 'u' {
		if low, ok := hex4(s[8:]); ok {
			if pair := utf16.DecodeRune(r, low); pair != utf8.RuneError {
				return pair, 12
			}
		}
	}
	return utf8.RuneError, 6
}

func hex4(s string) (r rune, ok bool) {
	if len(s) < 4 {
		return 0, false
	}
	for _, c := range []byte(s[:4]) {
		switch {
		case '0' <= c && c <= '9':
			r = r<<4 | rune(c-'0')
		case 'a' <= c|0x20 && c|0x20 <= 'f':
			r = r<<4 | rune(c|0x20-'a'+10)
		default:
			return 0, false
		}
	}
	return r, true
}

// UnescapeJSON decodes the inside of a JSON string. Bytes that are no UTF-8
// and torn escapes stay as they are.
func UnescapeJSON(inner string) string {
	if strings.IndexByte(inner, '\\') < 0 {
		return inner
	}
	var out strings.Builder
	out.Grow(len(inner))
	for inner != "" {
		n := strings.IndexByte(inner, '\\')
		if n < 0 {
			n = len(inner)
		}
		out.WriteString(inner[:n])
		inner = inner[n:]
		if inner == "" {
			break
		}
		if r, n := jsonEscape(inner); n > 0 {
			out.WriteRune(r)
			inner = inner[n:]
		} else {
			out.WriteByte(inner[0])
			inner = inner[1:]
		}
	}
	return out.String()
}

// escapeJSON writes text as it stands inside a JSON string, changing only what
// must be: quotes, backslashes and control characters.
func escapeJSON(text string) string {
	if strings.IndexFunc(text, func(r rune) bool { return r < 0x20 || r == '"' || r == '\\' }) < 0 {
		return text
	}
	const digits = "0123456789abcdef"
	var out strings.Builder
	for i := range len(text) {
		switch c := text[i]; {
		case c == '"' || c == '\\':
			out.WriteByte('\\')
			out.WriteByte(c)
		case c == '\n':
			out.WriteString(`\n`)
		case c < 0x20:
			out.WriteString(`\u00`)
			out.WriteByte(digits[c>>4])
			out.WriteByte(digits[c&15])
		default:
			out.WriteByte(c)
		}
	}
	return out.String()
}
