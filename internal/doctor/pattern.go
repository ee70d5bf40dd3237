package doctor

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// around is how many bytes of the text around a word a rule holds on either
// side: enough to tell it from its neighbours, little enough to be read.
const around = 24

// patterns finds words that differ where everything around them is the same,
// and makes a rule of the text around them.
func (a *analysis) patterns() []Proposal {
	found := map[string]*spot{} // by what stands around
	var order []*spot
	for _, d := range a.open {
		texts := applied(a.sets, d.texts())
		columns, ok := lineColumns(texts)
		if equalTexts(texts) || inOtherOrder(texts) || !ok {
			continue
		}
		moved := movedLines(columns)
		for i, column := range columns {
			if moved[i] {
				continue
			}
			for _, s := range spots(column, i == 0, i == len(columns)-1) {
				key := s.before + "\x00" + s.after
				if found[key] == nil {
					found[key] = s
					order = append(order, s)
				} else {
					found[key].values = append(found[key].values, s.values...)
				}
			}
		}
	}
	var out []Proposal
	for _, s := range order {
		out = append(out, Proposal{Kind: s.kind, Rule: "/" + s.pattern() + "/", Say: s.say()})
	}
	return out
}

// spot is one word that differs, and the text around it, as a regexp.
type spot struct {
	kind          Kind
	before, after string
	values        []string
}

func (s *spot) say() string {
	if s.kind == KindPath {
		return "a path of a machine (recorded with --workspace, it would have been {{workspace}})"
	}
	return "a word that is another one each time"
}

func (s *spot) pattern() string { return s.before + "(" + classOf(s.values) + ")" + s.after }

// spots finds the words that differ in versions of one line: those that differ
// between the runs, and paths, which differ between machines.
func spots(column []Text, first, last bool) []*spot {
	words := make([][]string, len(column))
	for i, t := range column {
		words[i] = wordsOf(t.Text)
		if len(words[i]) != len(words[0]) {
			return oneSpot(column, first, last)
		}
	}
	var out []*spot
	for i := range words[0] {
		versions := make([]string, len(words))
		for v := range words {
			versions[v] = words[v][i]
		}
		if same(versions) {
			continue
		}
		before, after := strings.Join(words[0][:i], ""), strings.Join(words[0][i+1:], "")
		s := spotOf(versions, cutAtDifference(words, i, -1, before), cutAtDifference(words, i, 1, after), first, last)
		if s == nil {
			return nil // the line cannot be made equal
		}
		out = append(out, s)
	}
	return out
}

// cutAtDifference cuts the text beside word i at the next word that differs
// too: a rule must not hold what changes.
func cutAtDifference(words [][]string, i, step int, beside string) string {
	length := 0
	for j := i + step; j >= 0 && j < len(words[0]); j += step {
		for v := range words {
			if words[v][j] != words[0][j] {
				if step < 0 {
					return "\x00" + beside[len(beside)-length:]
				}
				return beside[:length] + "\x00"
			}
		}
		length += len(words[0][j])
	}
	return beside
}

// oneSpot takes lines of other numbers of words: what is between their common
// beginning and end, if that is one word.
func oneSpot(column []Text, first, last bool) []*spot {
	versions := make([]string, len(column))
	for i, t := range column {
		versions[i] = t.Text
	}
	if s := spotOf(versions, "", "", first, last); s != nil {
		return []*spot{s}
	}
	return nil
}

// spotOf narrows versions of a text down to what differs in whole words. A text
// that begins or ends with a NUL has more that differs there; one that does not
// begins or ends its line.
func spotOf(versions []string, before, after string, first, last bool) *spot {
	head, tail := commonEnds(versions)
	whole := versions[0]
	before += whole[:head]
	after = whole[len(whole)-tail:] + after
	s := &spot{kind: KindToken, before: beforePattern(before, first), after: afterPattern(after, last)}
	for _, v := range versions {
		value := v[head : len(v)-tail]
		if value == "" || len(value) > longestWord || strings.ContainsAny(value, " \t⟨⟩") || !printable(value) {
			return nil
		}
		s.values = append(s.values, value)
	}
	if same(versions[1:]) {
		if !isPath(versions) {
			return nil
		}
		s.kind = KindPath
	}
	if s.before == "" && s.after == "" {
		return nil // it would cover every word
	}
	return s
}

// longestWord is the longest random word: a signed token has a few hundred
// bytes.
const longestWord = 2048

// isPath reports whether all versions are paths.
func isPath(versions []string) bool {
	return !slices.ContainsFunc(versions, func(v string) bool { return !pathForm.MatchString(v) })
}

var pathForm = regexp.MustCompile(`(?:^|:)(?:/|~/|\\\\|[A-Za-z]:[\\/]|\{\{(?:workspace|tmp|home)\}\}/)[^/\\]`)

func same(versions []string) bool {
	return !slices.ContainsFunc(versions, func(v string) bool { return v != versions[0] })
}

// commonEnds is how much all versions have in common at both ends, cut back to
// where a word ends: letters that two random words share by chance belong to
// them.
func commonEnds(versions []string) (head, tail int) {
	shortest := len(versions[0])
	for _, v := range versions {
		shortest = min(shortest, len(v))
	}
	agree := func(at func(v string) byte) bool {
		return !slices.ContainsFunc(versions, func(v string) bool { return at(v) != at(versions[0]) })
	}
	for head < shortest && agree(func(v string) byte { return v[head] }) {
		head++
	}
	for tail < shortest-head && agree(func(v string) byte { return v[len(v)-1-tail] }) {
		tail++
	}
	for head > 0 && isWordByte(versions[0][head-1]) {
		head--
	}
	for tail > 0 && isWordByte(versions[0][len(versions[0])-tail]) {
		tail--
	}
	return head, tail
}

// isWordByte reports whether a byte is part of a random word. Bytes of longer
// characters are, so that none is cut.
func isWordByte(b byte) bool {
	return b >= utf8.RuneSelf || '0' <= b && b <= '9' || 'a' <= b|0x20 && b|0x20 <= 'z'
}

var wordBorder = regexp.MustCompile("[^\\s\"'`,;()\\[\\]{}<>=|]+")

// wordsOf cuts a line into words and what stands between them, which joined are
// the line.
func wordsOf(line string) []string {
	var words []string
	done := 0
	for _, m := range wordBorder.FindAllStringIndex(line, -1) {
		words = append(words, line[done:m[0]], line[m[0]:m[1]])
		done = m[1]
	}
	return append(words, line[done:])
}

// beforePattern is the end of the text before a word as a regexp: at most
// around bytes of what is fixed, from where a word begins.
func beforePattern(text string, first bool) string {
	fixed := text[lastVolatile(text):]
	if len(fixed) == len(text) && len(text) <= around {
		return map[bool]string{true: "^", false: "(?m:^)"}[first] + regexp.QuoteMeta(fixed)
	}
	if len(fixed) > around {
		from := len(fixed) - around
		for from < len(fixed) && (!utf8.RuneStart(fixed[from]) || isWordByte(fixed[from]) && isWordByte(fixed[from-1])) {
			from++
		}
		fixed = fixed[from:]
	}
	return regexp.QuoteMeta(strings.TrimLeft(fixed, " \t"))
}

// afterPattern is the same of the text after a word, of which less is needed.
func afterPattern(text string, last bool) string {
	fixed := text[:firstVolatile(text)]
	if len(fixed) == len(text) && len(text) <= around/2 {
		return regexp.QuoteMeta(fixed) + map[bool]string{true: "$", false: "(?m:$)"}[last]
	}
	if len(fixed) > around/2 {
		to := around / 2
		for to > 0 && (!utf8.RuneStart(fixed[to]) || isWordByte(fixed[to]) && isWordByte(fixed[to-1])) {
			to--
		}
		fixed = fixed[:to]
	}
	return regexp.QuoteMeta(strings.TrimRight(fixed, " \t"))
}

// lastVolatile is where the fixed text at the end of text begins: after the
// last mark of a rule and the last character that is not printed.
func lastVolatile(text string) int {
	i := strings.LastIndexFunc(text, isVolatileRune)
	if i < 0 {
		return 0
	}
	_, size := utf8.DecodeRuneInString(text[i:])
	return i + size
}

func firstVolatile(text string) int {
	if i := strings.IndexFunc(text, isVolatileRune); i >= 0 {
		return i
	}
	return len(text)
}

func isVolatileRune(r rune) bool {
	return r == '⟨' || r == '⟩' || r == utf8.RuneError || !unicode.IsPrint(r) && r != '\t'
}

func printable(text string) bool {
	return utf8.ValidString(text) && !strings.ContainsFunc(text, func(r rune) bool { return !unicode.IsPrint(r) })
}

// classOf is the narrowest simple regexp that all values match.
func classOf(values []string) string {
	class := ""
	for _, kind := range []struct{ class, ok string }{
		{"[0-9]", `^[0-9]+$`}, {"[0-9a-f]", `^[0-9a-f]+$`}, {"[0-9A-F]", `^[0-9A-F]+$`}, {"[a-z]", `^[a-z]+$`}, {"[A-Z]", `^[A-Z]+$`},
		{"[0-9a-z]", `^[0-9a-z]+$`}, {"[0-9A-Z]", `^[0-9A-Z]+$`}, {"[0-9A-Za-z]", `^[0-9A-Za-z]+$`}, {"[0-9A-Za-z_-]", `^[0-9A-Za-z_-]+$`},
		{"[0-9A-Za-z_./+=-]", `^[0-9A-Za-z_./+=-]+$`},
	} {
		ok := regexp.MustCompile(kind.ok)
		if !slices.ContainsFunc(values, func(v string) bool { return !ok.MatchString(v) }) {
			class = kind.class
			break
		}
	}
	if class == "" {
		class = `[^\s"']`
		if slices.ContainsFunc(values, func(v string) bool { return strings.ContainsAny(v, `"'`) }) {
			class = `\S`
		}
	}
	shortest, longest := runeCount(values)
	enough := 6
	if class == "[0-9]" { // a counter grows
		enough = 10
	}
	if shortest == longest && shortest >= enough && shortest <= 1000 && !strings.Contains(class, "-]") {
		return fmt.Sprintf("%s{%d}", class, shortest)
	}
	return class + "+"
}

func runeCount(values []string) (shortest, longest int) {
	for i, v := range values {
		n := utf8.RuneCountInString(v)
		if i == 0 || n < shortest {
			shortest = n
		}
		longest = max(longest, n)
	}
	return shortest, longest
}
