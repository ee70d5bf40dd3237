package record

import (
	"strings"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"
)

// parting is where two shown texts begin to differ, in bytes of each.
type parting struct{ recorded, sent int }

// partBytes is where two texts part as they are.
func partBytes(recorded, sent string) int {
	n := 0
	for n < min(len(recorded), len(sent)) && recorded[n] == sent[n] {
		n++
	}
	return n
}

// edit is a part of a text and what stands for it when texts are compared.
type edit struct {
	start, end int
	mark       string
}

// traced is a text as it is compared, and where each of its bytes stands in the
// text as it is.
type traced struct {
	text   string
	origin []int // one more than bytes: the end
}

func trace(text string) traced {
	origin := make([]int, len(text)+1)
	for i := range origin {
		origin[i] = i
	}
	return traced{text, origin}
}

// with applies edits, which stand in order.
func (t traced) with(edits []edit) traced {
	if len(edits) == 0 {
		return t
	}
	var text strings.Builder
	var origin []int
	done := 0
	for _, e := range edits {
		text.WriteString(t.text[done:e.start])
		origin = append(origin, t.origin[done:e.start]...)
		text.WriteString(e.mark)
		for range len(e.mark) {
			origin = append(origin, t.origin[e.start])
		}
		done = e.end
	}
	text.WriteString(t.text[done:])
	return traced{text.String(), append(origin, t.origin[done:]...)}
}

// compared is a text in the form in which texts are compared: the numbers of
// secrets and what the rules cover are not seen in it.
func (d *diff) compared(text string) traced {
	t := trace(text)
	var marks []edit
	for _, m := range secretMark.FindAllStringIndex(text, -1) {
		marks = append(marks, edit{m[0], m[1], kindOfSecret(text[m[0]:m[1]])})
	}
	t = t.with(marks)
	if d.rules == nil {
		return t
	}
	for _, rule := range d.rules.rules {
		t = t.with(rule.edits(t.text, nil))
	}
	return t
}

// partTexts is where two strings part in their shown forms. What a rule covers is
// no place to part, unless nothing else is one.
func (d *diff) partTexts(at, recorded, sent string) *parting {
	p, found := d.partArguments(at, recorded, sent)
	if !found {
		r, s := d.compared(recorded), d.compared(sent)
		if n := partBytes(r.text, s.text); n < max(len(r.text), len(s.text)) {
			p = parting{r.origin[n], s.origin[n]}
		} else {
			n := partBytes(recorded, sent)
			p = parting{n, n}
		}
	}
	return &parting{shownAt(recorded, p.recorded), shownAt(sent, p.sent)}
}

// partArguments is where the arguments of a call part that are JSON: at the value
// that differs, wherever the order of members puts it.
func (d *diff) partArguments(at, recorded, sent string) (parting, bool) {
	if !argumentsPlace.MatchString(at) {
		return parting{}, false
	}
	r, rerr := parseNode([]byte(recorded))
	s, serr := parseNode([]byte(sent))
	if rerr != nil || serr != nil {
		return parting{}, false
	}
	inner := &diff{rules: d.rules, ids: &pairs{}, secrets: &pairs{}, uses: map[string]int{}}
	inner.values(at+"#", r, s)
	if len(inner.found) == 0 || inner.found[0].part == nil {
		return parting{}, false
	}
	first := inner.found[0]
	i, j := strings.Index(recorded, first.recorded), strings.Index(sent, first.sent)
	if i < 0 || j < 0 { // written with other escapes
		return parting{}, false
	}
	return parting{i + first.part.recorded, j + first.part.sent}, true
}

// shownAt is where byte i of a string stands when the string is shown.
func shownAt(text string, i int) int {
	for i > 0 && i < len(text) && !utf8.RuneStart(text[i]) {
		i--
	}
	quoted, _ := jsontext.AppendQuote(nil, text[:i]) // errs only on bad UTF-8, which it replaces
	return len(quoted) - 1
}
