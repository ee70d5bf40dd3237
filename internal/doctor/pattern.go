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
	var found []*spot
	random := map[string]bool{} // what differs, in any version
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
				found = append(found, s)
				for _, v := range s.values {
					random[v] = true
				}
			}
		}
	}
	return a.settled(found, random)
}

// settled makes one rule of all words that have the same text around them.
func (a *analysis) settled(found []*spot, random map[string]bool) []Proposal {
	var order []*spot
	for _, s := range gather(found, func(s *spot) [3]string { return [3]string{s.left, s.right} }) {
		if s.settle(a.open, random) {
			order = append(order, s)
		}
	}
	order = gather(order, func(s *spot) [3]string {
		return [3]string{s.before, s.after, map[bool]string{true: "tmp"}[belowTmp.MatchString(s.left)]}
	})
	var out []Proposal
	for _, s := range order {
		out = append(out, Proposal{Kind: s.kind, Rule: "/" + s.pattern() + "/", Say: s.say()})
	}
	return out
}

// gather joins spots of one key, in the order of the first of each.
func gather(spots []*spot, key func(*spot) [3]string) []*spot {
	var out []*spot
	of := map[[3]string]*spot{}
	for _, s := range spots {
		if first := of[key(s)]; first != nil {
			first.values = append(first.values, s.values...)
			continue
		}
		of[key(s)] = s
		out = append(out, s)
	}
	return out
}

// spot is one word that differs.
type spot struct {
	kind          Kind
	left, right   string // the text beside it on its line; a NUL ends it at what differs too
	first, last   bool   // the line is the first, the last of its text
	values        []string
	before, after string // what a rule holds of the text beside it, as regexps
}

func (s *spot) say() string {
	if s.kind == KindPath {
		return "a path of a machine (recorded with --workspace, it would have been {{workspace}})"
	}
	return "a word that is another one each time"
}

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
	s := &spot{kind: KindToken, left: before + whole[:head], right: whole[len(whole)-tail:] + after, first: first, last: last}
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

// classOf is a regexp that all values match, and others of their making: what a
// few samples did not show, the next may hold. Only hex digits of one length
// have a length, where there are enough to tell them from other words.
func classOf(values []string) string {
	all := func(pattern string) bool {
		ok := regexp.MustCompile(pattern)
		return !slices.ContainsFunc(values, func(v string) bool { return !ok.MatchString(v) })
	}
	distinct := slices.Compact(slices.Sorted(slices.Values(values)))
	length := len(distinct[0])
	equal := !slices.ContainsFunc(distinct, func(v string) bool { return len(v) != length })
	hex := equal && length <= 1000 && length*len(distinct) >= enoughHex
	switch {
	case all(`^[0-9]+$`):
		return "[0-9]+"
	case hex && all(`^[0-9a-f]+$`):
		return fmt.Sprintf("[0-9a-f]{%d}", length)
	case hex && all(`^[0-9A-F]+$`):
		return fmt.Sprintf("[0-9A-F]{%d}", length)
	case all(`^[0-9A-Za-z_./+=-]+$`):
		more := ""
		for _, r := range "./+=" {
			if strings.ContainsRune(strings.Join(distinct, ""), r) {
				more += string(r)
			}
		}
		return "[0-9A-Za-z_" + more + "-]+"
	case all(`^[^"']+$`):
		return `[^\s"']+`
	default:
		return `\S+`
	}
}

// enoughHex is how many letters and digits in all, every one of them a hex
// digit, are no accident.
const enoughHex = 12
