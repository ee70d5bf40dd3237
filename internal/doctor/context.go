package doctor

import (
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// enoughLetters is how many letters of fixed text tell a random word from
// others.
const enoughLetters = 2

// nearby is fixed text beside a random word, as a regexp.
type nearby struct {
	pattern string
	letters int
	anchor  bool // it reaches to the end of the line
}

// contexts are pairs of what stands before and after a word, from the shortest.
// Fixed text with a digit in it is a result as likely as not, so only the last
// pair, the longest, has some.
func (s *spot) contexts() [][2]string {
	var out [][2]string
	for _, words := range []int{1, 2} {
		before := s.near(words)
		for _, more := range []bool{false, true} {
			after := s.next(more)
			if before.letters >= enoughLetters || after.letters >= enoughLetters || before.anchor && after.anchor {
				out = append(out, [2]string{before.pattern, after.pattern})
			}
		}
	}
	long := [2]string{beforePattern(s.left, s.first), afterPattern(s.right, s.last)}
	if long != [2]string{} { // that would cover every word
		out = append(out, long)
	}
	return out
}

// isParting reports whether a byte stands between words.
func isParting(b byte) bool { return strings.IndexByte(" \t\"'`,;()[]<>=|", b) >= 0 }

// near is the fixed text right before the word: as many words of it as are
// asked for, beginning with the first that has letters.
func (s *spot) near(words int) nearby {
	fixed := s.left[lastVolatile(s.left):]
	if i := strings.LastIndexFunc(fixed, unicode.IsDigit); i >= 0 {
		_, size := utf8.DecodeRuneInString(fixed[i:])
		fixed = fixed[i+size:]
	}
	whole := len(fixed) == len(s.left)
	for i := len(fixed) - 1; i >= max(0, len(fixed)-around); i-- {
		if isParting(fixed[i]) || i > 0 && !isParting(fixed[i-1]) || lettersIn(fixed[i:]) < enoughLetters {
			continue
		}
		if words--; words > 0 {
			continue
		}
		border := ""
		switch {
		case i > 0 && strings.IndexByte("\"'`", fixed[i-1]) >= 0:
			i--
		case isRegexpWord(fixed[i]) && (i > 0 || whole):
			border = `\b`
		}
		return nearby{pattern: border + regexp.QuoteMeta(fixed[i:]), letters: lettersIn(fixed[i:])}
	}
	if whole && len(fixed) <= around {
		return nearby{beforePattern(fixed, s.first), lettersIn(fixed), true}
	}
	from := max(0, len(fixed)-around)
	for from < len(fixed) && from > 0 && (!utf8.RuneStart(fixed[from]) || isWordByte(fixed[from]) && isWordByte(fixed[from-1])) {
		from++
	}
	fixed = strings.TrimLeft(fixed[from:], " \t")
	return nearby{pattern: regexp.QuoteMeta(fixed), letters: lettersIn(fixed)}
}

// next is the fixed text right after the word: the end of the same word if it
// has letters, or with more the next word too.
func (s *spot) next(more bool) nearby {
	fixed := s.right[:firstVolatile(s.right)]
	if i := strings.IndexFunc(fixed, unicode.IsDigit); i >= 0 {
		fixed = fixed[:i]
	}
	whole := len(fixed) == len(s.right)
	end := 0
	for end < len(fixed) && (!isParting(fixed[end]) || more && lettersIn(fixed[:end]) < enoughLetters) {
		end++
	}
	switch {
	case more && end == len(fixed) && whole && end <= around:
		return nearby{regexp.QuoteMeta(fixed) + map[bool]string{true: "$", false: "(?m:$)"}[s.last], lettersIn(fixed), true}
	case end > around:
		return nearby{pattern: afterPattern(fixed[:end], s.last), letters: enoughLetters}
	}
	fixed = strings.TrimRight(fixed[:end], " \t.:!?-_")
	if lettersIn(fixed) == 0 {
		return nearby{}
	}
	return nearby{pattern: regexp.QuoteMeta(fixed), letters: lettersIn(fixed)}
}

func lettersIn(text string) (n int) {
	for _, r := range text {
		if unicode.IsLetter(r) {
			n++
		}
	}
	return n
}

// isRegexpWord reports whether \b of a regexp counts a byte to a word.
func isRegexpWord(b byte) bool {
	return b == '_' || b < utf8.RuneSelf && isWordByte(b)
}

// settle chooses the shortest context in which a rule for the word matches
// nothing but random words in all that was asked, the longest if none is so.
func (s *spot) settle(open []Difference, random map[string]bool) bool {
	all := s.contexts()
	if len(all) == 0 {
		return false
	}
	for _, c := range all {
		s.before, s.after = c[0], c[1]
		if s.onlyRandom(open, random) {
			break
		}
	}
	return true
}

// onlyRandom reports whether the rule matches no other words than random ones.
func (s *spot) onlyRandom(open []Difference, random map[string]bool) bool {
	rule, err := regexp.Compile(s.pattern())
	if err != nil {
		return false
	}
	found := false
	for _, d := range open {
		for _, t := range d.texts() {
			for _, m := range rule.FindAllStringSubmatch(t.Text, -1) {
				if !random[m[1]] {
					return false
				}
				found = found || slices.Contains(s.values, m[1])
			}
		}
	}
	return found
}

// pattern is the rule without its slashes.
func (s *spot) pattern() string {
	class, border := classOf(s.values), ""
	switch {
	case belowTmp.MatchString(s.left) && !strings.ContainsAny(strings.Join(s.values, ""), notInAName):
		class = `[^/\\\s"',;()<>]+`
	case s.after == "" && strings.HasSuffix(class, "}") && (s.right == "" || s.right[0] != 0 && !isRegexpWord(s.right[0])):
		border = `\b` // no longer word begins like this one
	}
	return s.before + "(" + class + ")" + border + s.after
}

// belowTmp is the text before a name in the folder for temporary files, where
// every program and language has names of its own.
var belowTmp = regexp.MustCompile(`\{\{tmp\}\}/[^/\s"]*$`)

const notInAName = `/\ "',;()<>`
