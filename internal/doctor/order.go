package doctor

import (
	"slices"
	"strings"
	"unicode"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// inOtherOrder reports whether all versions hold the same things, in more than
// one order: elements of a list, lines, or words.
func inOtherOrder(texts []Text) bool {
	if equalTexts(texts) {
		return false
	}
	for _, split := range []func(Text) []string{listElements, textLines, textWords} {
		if sameThings(texts, split) {
			return true
		}
	}
	return false
}

func sameThings(texts []Text, split func(Text) []string) bool {
	first := slices.Sorted(slices.Values(split(texts[0])))
	if len(first) < 2 {
		return false
	}
	for _, t := range texts[1:] {
		if !slices.Equal(first, slices.Sorted(slices.Values(split(t)))) {
			return false
		}
	}
	return true
}

func listElements(t Text) []string {
	var elements []jsontext.Value
	if t.Kind != '[' || json.Unmarshal([]byte(t.Text), &elements) != nil {
		return nil
	}
	out := make([]string, len(elements))
	for i, e := range elements {
		if e.Canonicalize() != nil {
			return nil
		}
		out[i] = string(e)
	}
	return out
}

func textLines(t Text) []string {
	if t.Kind != '"' {
		return nil
	}
	return strings.Split(t.Text, "\n")
}

func textWords(t Text) []string {
	if t.Kind != '"' {
		return nil
	}
	return strings.FieldsFunc(t.Text, func(r rune) bool { return unicode.IsSpace(r) || strings.ContainsRune(",;{}[]()", r) })
}

// orderedThings is a word for what came in another order.
func orderedThings(pointer string, texts []Text) string {
	switch {
	case pointer == "/tools":
		return "tools"
	case texts[0].Kind == '[':
		return "elements"
	case sameThings(texts, textLines):
		return "lines"
	default:
		return "words"
	}
}

// movedLines tells which lines stand at another place in another version: all
// versions of such a column are lines that every version has among those that
// differ, or the words of one line in another order.
func movedLines(columns [][]Text) []bool {
	counts := make([]map[string]int, len(columns[0]))
	for v := range counts {
		counts[v] = map[string]int{}
		for _, column := range columns {
			if !equalTexts(column) {
				counts[v][column[v].Text]++
			}
		}
	}
	moved := make([]bool, len(columns))
	for i, column := range columns {
		if equalTexts(column) {
			continue
		}
		moved[i] = sameThings(column, textWords) || !slices.ContainsFunc(column, func(t Text) bool {
			return slices.ContainsFunc(counts, func(of map[string]int) bool { return of[t.Text] != counts[0][t.Text] || of[t.Text] == 0 })
		})
	}
	return moved
}

// orderOf tells what of a text stands in another order: "" nothing; and whether
// that is all that differs.
func orderOf(pointer string, texts []Text) (things string, all bool) {
	if inOtherOrder(texts) {
		return orderedThings(pointer, texts), true
	}
	columns, ok := lineColumns(texts)
	if !ok {
		return "", false
	}
	moved, rest := 0, 0
	for i, m := range movedLines(columns) {
		switch {
		case m && sameThings(columns[i], textWords):
			moved, things = moved+1, "words"
		case m:
			moved, things = moved+1, "lines"
		case !equalTexts(columns[i]):
			rest++
		}
	}
	return things, moved > 0 && rest == 0
}

// alikeInOrder reports whether the runs have one order, and the recording
// another.
func (a *analysis) alikeInOrder(d Difference) bool {
	texts := applied(a.sets, d.texts())
	if equalTexts(texts[1:]) {
		return true
	}
	columns, ok := lineColumns(texts)
	if !ok {
		return false
	}
	for i, m := range movedLines(columns) {
		if m && !equalTexts(columns[i][1:]) {
			return false
		}
	}
	return true
}

// orderEvidence narrows a difference down to the lines from the first to the
// last that moved.
func (a *analysis) orderEvidence(d Difference) Difference {
	shown, ok := lineColumns(d.texts())
	columns, ok2 := lineColumns(applied(a.sets, d.texts()))
	if !ok || !ok2 || len(shown) != len(columns) {
		return d
	}
	first, last := movedSpan(movedLines(columns))
	if first < 0 {
		return d
	}
	joined := make([]Text, len(shown[0]))
	for v := range joined {
		var part []string
		for _, column := range shown[first : last+1] {
			part = append(part, column[v].Text)
		}
		joined[v] = Text{'"', strings.Join(part, "\n")}
	}
	d.Recorded, d.Runs = joined[0], joined[1:]
	return d
}

// movedSpan is the first and the last line that moved, -1 if none did.
func movedSpan(moved []bool) (first, last int) {
	first, last = slices.Index(moved, true), -1
	for i, m := range moved {
		if m {
			last = i
		}
	}
	return first, last
}

// lineColumns puts the lines of all versions side by side.
func lineColumns(texts []Text) (columns [][]Text, ok bool) {
	for _, t := range texts {
		lines := textLines(t)
		if lines == nil || columns != nil && len(lines) != len(columns) {
			return nil, false
		}
		if columns == nil {
			columns = make([][]Text, len(lines))
		}
		for i, line := range lines {
			columns[i] = append(columns[i], Text{'"', line})
		}
	}
	return columns, true
}

// changedPart is a word for the part of a request that a pointer leads to.
func changedPart(pointer string) string {
	switch {
	case pointer == "/model":
		return "the model"
	case pointer == "/tools" || strings.HasPrefix(pointer, "/tools/"):
		return "the tools"
	case pointer == "/messages/0" || strings.HasPrefix(pointer, "/messages/0/"):
		return "the prompt"
	case pointer == "/messages" || strings.HasPrefix(pointer, "/messages/"):
		return "the conversation"
	default:
		return "a parameter"
	}
}
