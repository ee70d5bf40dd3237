package diff

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// Bounds of a comparison by words. A text beyond them is compared by lines, and
// one beyond those as a whole.
const (
	mostWords = 50_000
	mostLines = 200_000
)

// Words compares two texts: by lines, and by words where lines differ. The parts
// of kind same and removed make up the first text, those of kind same and added
// the second. Equal texts have one part; steps counts what it costs.
func Words(a, b string, steps *int) []Part {
	if a == b {
		return onePart(Same, a)
	}
	if strings.Count(a, "\n") > mostLines || strings.Count(b, "\n") > mostLines {
		return append(onePart(Removed, a), onePart(Added, b)...)
	}
	w := &wordWriter{}
	compareLists(splitLines(a), splitLines(b), steps, w.add, func(removed, added []string) {
		left, right := strings.Join(removed, ""), strings.Join(added, "")
		x, y := splitWords(left), splitWords(right)
		if left == "" || right == "" || len(x) > mostWords || len(y) > mostWords {
			w.add(Removed, left)
			w.add(Added, right)
			return
		}
		inner, kept := &wordWriter{}, 0
		compareLists(x, y, steps, func(kind Kind, text string) {
			kept += len(strings.TrimSpace(text))
			inner.add(kind, text)
		}, func(removed, added []string) {
			inner.add(Removed, strings.Join(removed, ""))
			inner.add(Added, strings.Join(added, ""))
		})
		if kept*leastKept < max(len(left), len(right)) { // another text, not an edit of this one
			w.add(Removed, left)
			w.add(Added, right)
			return
		}
		for i := range inner.parts {
			w.add(inner.parts[i].kind, inner.parts[i].text.String())
		}
	})
	return w.smooth()
}

// leastKept: lines of which less than a fourth is kept are no edit of each
// other; their common words would make it hard to read.
const leastKept = 4

func onePart(kind Kind, text string) []Part {
	if text == "" {
		return nil
	}
	return []Part{{kind, text}}
}

// compareLists matches two lists and gives what is equal, and each gap, in order.
func compareLists(a, b []string, steps *int, same func(Kind, string), gap func(removed, added []string)) {
	keys := map[string]int32{}
	number := func(list []string) []int32 {
		numbers := make([]int32, len(list))
		for i, s := range list {
			n, ok := keys[s]
			if !ok {
				n = int32(len(keys))
				keys[s] = n
			}
			numbers[i] = n
		}
		return numbers
	}
	x, y := number(a), number(b)
	to := match(x, y, len(keys), steps)
	i, j := 0, 0
	for n := 0; n <= len(a); n++ {
		end := len(b)
		if n < len(a) {
			if to[n] < 0 {
				continue
			}
			end = int(to[n])
		}
		if i < n || j < end {
			gap(a[i:n], b[j:end])
		}
		if n < len(a) {
			same(Same, a[n])
			i, j = n+1, end+1
		}
	}
}

func splitLines(text string) []string { return strings.SplitAfter(text, "\n") }

// splitWords cuts a text into words, white space, and single other characters.
func splitWords(text string) []string {
	var list []string
	for text != "" {
		r, n := utf8.DecodeRuneInString(text)
		if class := classOf(r); class != 0 {
			for n < len(text) {
				next, size := utf8.DecodeRuneInString(text[n:])
				if classOf(next) != class {
					break
				}
				n += size
			}
		}
		list = append(list, text[:n])
		text = text[n:]
	}
	return list
}

func classOf(r rune) int {
	switch {
	case r == '\n':
		return 0
	case unicode.IsSpace(r):
		return 1
	case unicode.Is(unicode.Han, r) || unicode.Is(unicode.Hiragana, r) || unicode.Is(unicode.Katakana, r):
		return 0
	case r == '_' || unicode.IsLetter(r) || unicode.IsDigit(r):
		return 2
	}
	return 0
}

// wordWriter joins parts of one kind.
type wordWriter struct{ parts []openPart }

type openPart struct {
	kind Kind
	text strings.Builder
}

func (w *wordWriter) add(kind Kind, text string) {
	if text == "" {
		return
	}
	if n := len(w.parts); n == 0 || w.parts[n-1].kind != kind {
		w.parts = append(w.parts, openPart{kind: kind})
	}
	w.parts[len(w.parts)-1].text.WriteString(text)
}

// smooth takes what is equal by a space alone between two changes into them, so
// that a rewritten sentence reads as one, and puts what was removed before what
// was added.
func (w *wordWriter) smooth() []Part {
	var parts []Part
	var removed, added strings.Builder
	flush := func() {
		parts = append(append(parts, onePart(Removed, removed.String())...), onePart(Added, added.String())...)
		removed.Reset()
		added.Reset()
	}
	for i := range w.parts {
		p := &w.parts[i]
		text := p.text.String()
		switch {
		case p.kind == Removed:
			removed.WriteString(text)
		case p.kind == Added:
			added.WriteString(text)
		case removed.Len()+added.Len() > 0 && i+1 < len(w.parts) && len(text) < 3 && strings.TrimSpace(text) == "" && !strings.Contains(text, "\n"):
			removed.WriteString(text)
			added.WriteString(text)
		default:
			flush()
			parts = append(parts, Part{Same, text})
		}
	}
	flush()
	return parts
}
