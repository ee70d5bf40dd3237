package doctor

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// longestOrder bounds a rule for things in any order, in bytes: what is longer,
// nobody reads.
const longestOrder = 2000

// orders makes rules for lines and words that come in another order each time:
// any order of exactly these.
func (a *analysis) orders() []Proposal {
	var out []Proposal
	for _, d := range a.open {
		texts := applied(a.base, d.texts())
		columns, ok := lineColumns(texts)
		if !ok || equalTexts(texts) || a.alikeInOrder(d) {
			continue // nothing, or what the program does now
		}
		rules := []string{lineOrder(columns)}
		for i, column := range columns {
			rules = append(rules, wordOrder(column, i == 0, i == len(columns)-1))
		}
		for i, rule := range rules {
			things := "words"
			if i == 0 {
				things = "lines"
			}
			if rule == "" || len(rule) > longestOrder || slices.ContainsFunc(out, func(p Proposal) bool { return p.Rule == rule }) {
				continue
			}
			out = append(out, Proposal{Kind: KindOrder, Rule: rule, Say: "the same " + things + " in another order: any order of these; better, sort them in the program"})
		}
	}
	return out
}

// lineOrder is a rule for the lines from the first to the last that moved, ""
// if they are not the same ones in all versions.
func lineOrder(columns [][]Text) string {
	first, last := -1, -1
	for i, m := range movedLines(columns) {
		if m && !sameThings(columns[i], textWords) {
			if first < 0 {
				first = i
			}
			last = i
		}
	}
	if first < 0 {
		return ""
	}
	versions := make([][]string, len(columns[0]))
	for v := range versions {
		for _, column := range columns[first : last+1] {
			versions[v] = append(versions[v], column[v].Text)
		}
	}
	return anyOrder(versions, "(?m:^)", "\n", "(?m:$)")
}

// wordOrder is a rule for the words of one line from the first to the last that
// moved, "" if they are not the same ones, or something else than one separator
// stands between them.
func wordOrder(column []Text, firstLine, lastLine bool) string {
	if equalTexts(column) || !sameThings(column, textWords) {
		return ""
	}
	words := make([][]string, len(column))
	first, last := -1, -1
	for v, t := range column {
		words[v] = wordsOf(t.Text)
		if len(words[v]) != len(words[0]) {
			return ""
		}
	}
	for i := range words[0] {
		if slices.ContainsFunc(words, func(w []string) bool { return w[i] != words[0][i] }) {
			if first < 0 {
				first = i
			}
			last = i
		}
	}
	versions := make([][]string, len(words))
	for v, w := range words {
		for i := first; i <= last; i++ {
			switch {
			case i%2 == 1: // words stand between what parts them
				versions[v] = append(versions[v], w[i])
			case i == first || i == last || w[i] != words[0][first+1]:
				return ""
			}
		}
	}
	return anyOrder(versions, beforePattern(strings.Join(words[0][:first], ""), firstLine), words[0][first+1],
		afterPattern(strings.Join(words[0][last+1:], ""), lastLine))
}

// anyOrder is a rule for as many things as there are, each one of them, with sep
// between; "" if versions hold other things, or what no rule can hold.
func anyOrder(versions [][]string, before, sep, after string) string {
	things := slices.Sorted(slices.Values(versions[0]))
	if len(things) < 2 || len(things) > 500 {
		return ""
	}
	for _, v := range versions[1:] {
		if !slices.Equal(things, slices.Sorted(slices.Values(v))) {
			return ""
		}
	}
	n := len(things)
	var one []string
	for _, thing := range slices.Compact(things) {
		if !printable(strings.ReplaceAll(thing, "\t", " ")) || strings.ContainsAny(thing, "⟨⟩") {
			return ""
		}
		one = append(one, regexp.QuoteMeta(thing))
	}
	each := "(?:" + strings.Join(one, "|") + ")"
	parted := strings.ReplaceAll(regexp.QuoteMeta(sep), "\n", `\n`)
	return "/" + before + "((?:" + each + parted + "){" + strconv.Itoa(n-1) + "}" + each + ")" + after + "/"
}
