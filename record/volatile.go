package record

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// volatileRule replaces what one rule covers by a mark.
type volatileRule struct {
	name     string
	pattern  *regexp.Regexp
	group    int    // what of a match is replaced: 0 the whole of it
	mark     string // what stands in its place
	numbered bool   // distinct values of one text get distinct marks
}

// Volatile is a set of rules that make texts comparable. A nil *Volatile
// changes nothing; any other also covers the environment block of our own
// prompts. It is immutable and safe for concurrent use.
type Volatile struct {
	rules []volatileRule
}

const (
	months = `(?:Jan(?:uary)?|Feb(?:ruary)?|Mar(?:ch)?|Apr(?:il)?|May|June?|July?|Aug(?:ust)?|Sept?(?:ember)?|Oct(?:ober)?|Nov(?:ember)?|Dec(?:ember)?)`
	days   = `(?:Mon|Tues?|Wed(?:nes)?|Thu(?:rs)?|Fri|Sat(?:ur)?|Sun)(?:day)?`
	clock  = `(?:[01]\d|2[0-3]):[0-5]\d(?::[0-6]\d(?:[.,]\d+)?)?`
	// zone names are listed: a level such as INFO may follow a time too.
	zone = `(?: ?(?:Z|UTC|GMT|(?:[ACEMP]|AC|AE|AW|CE|EE|NZ|WE)[SD]?T|BST|HST|IST|JST|KST|MSK|[+-]\d\d:?\d\d)\b)?`
	day  = `(?:0?[1-9]|[12]\d|3[01])`
)

// volatileSets are the named sets, in the order in which they apply: longer
// forms first, so that no set leaves half of what another one covers.
var volatileSets = []struct {
	name  string
	rules []volatileRule
}{
	{"uuids", []volatileRule{
		{pattern: regexp.MustCompile(`(?i)\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b`), mark: "uuid", numbered: true},
	}},
	{"dates", []volatileRule{{mark: "date", pattern: regexp.MustCompile(strings.Join([]string{
		// ISO 8601 and RFC 3339; Go's log
		`\b\d{4}([-/])(?:0[1-9]|1[0-2])[-/](?:0[1-9]|[12]\d|3[01])(?:[T ]` + clock + zone + `)?\b`,
		`\b\d{4}(?:0[1-9]|1[0-2])(?:0[1-9]|[12]\d|3[01])T(?:[01]\d|2[0-3])[0-5]\d[0-6]\dZ?\b`,
		// common log format
		`\b` + day + `/` + months + `/\d{4}:` + clock + zone,
		// RFC 1123, RFC 850
		`\b(?:` + days + `,? )?` + day + `[- ]` + months + `[- ]\d{2}(?:\d{2})?(?: ` + clock + zone + `)?\b`,
		// date(1), ls -l, January 2, 2006
		`\b(?:` + days + `,? )?` + months + ` {1,2}` + day + `(?:st|nd|rd|th)?(?:(?:,? ` + clock + zone + `)?(?:,? {1,2}\d{4})|,? ` + clock + zone + `)\b`,
		`\b` + months + ` {1,2}` + day + `\b`,
		// 11/30/2026, 30.11.2026
		`\b(?:0?[1-9]|[12]\d|3[01])[/.](?:0?[1-9]|[12]\d|3[01])[/.](?:19|20)\d{2}\b`,
		// a time of day with seconds
		`\b(?:[01]\d|2[0-3]):[0-5]\d:[0-6]\d(?:[.,]\d+)?\b`,
	}, "|"))}}},
	{"ports", []volatileRule{
		// A host is needed: main.go:42 is no port.
		{pattern: regexp.MustCompile(`(?:://[^\s/:@"'<>]+|\blocalhost|\b\d{1,3}(?:\.\d{1,3}){3}|\[[0-9a-fA-F:.]*:[0-9a-fA-F:.]*\]):(\d{1,5})\b`), group: 1, mark: "port", numbered: true},
	}},
	{"durations", []volatileRule{{mark: "duration", pattern: regexp.MustCompile(strings.Join([]string{
		// 2m3s, 1h2m, 0m0.003s
		`\b(?:\d+h)?\d+m\d+(?:\.\d+)?s\b|\b\d+h\d+m\b`,
		// 1.23s, 45ms, 0.52 seconds
		`\b\d+(?:\.\d+)?(?:ns|us|µs|μs|ms|s)\b`,
		`\b\d+\.\d+ ?(?:nanoseconds?|microseconds?|milliseconds?|msecs?|ms|secs?|seconds?|minutes?|mins?|hours?)\b`,
	}, "|"))}, {mark: "duration", group: 1, pattern: regexp.MustCompile(
		`\b(?:in|took|after|elapsed:?|Elapsed:?|duration:?|Duration:?) (\d+ ?(?:milliseconds?|ms|secs?|seconds?|minutes?|mins?|hours?))\b`),
	}}},
}

var environmentBlock = volatileRule{
	name: "environment", mark: "environment", group: 1, pattern: regexp.MustCompile(`(?s)<environment>(.*?)</environment>`),
}

// ParseVolatile reads rules: the sets dates, uuids, ports and durations, and
// regexps between slashes, of which the first group, or else the whole match,
// is volatile. Blank rules and comments (#) are passed over. Regexps are known by
// their number among the regexps, from 1. An error names the rule and what is
// allowed.
func ParseVolatile(rules []string) (*Volatile, error) {
	v := &Volatile{rules: []volatileRule{environmentBlock}}
	chosen := map[string]bool{}
	patterns := 0
	for _, text := range rules {
		text = strings.TrimSpace(text)
		switch {
		case text == "" || text[0] == '#':
		case text[0] == '/':
			patterns++
			rule, err := parsePattern(text, patterns)
			if err != nil {
				return nil, err
			}
			v.rules = append(v.rules, rule)
		default:
			if !isVolatileSet(text) {
				return nil, unknownSet(text)
			}
			chosen[text] = true
		}
	}
	for _, set := range volatileSets {
		if chosen[set.name] {
			for _, rule := range set.rules {
				rule.name = set.name
				v.rules = append(v.rules, rule)
			}
		}
	}
	return v, nil
}

// parsePattern reads a regexp, the number-th of its scenario: its own text would
// be a mark that nobody can read.
func parsePattern(text string, number int) (volatileRule, error) {
	if len(text) < 3 || text[len(text)-1] != '/' {
		return volatileRule{}, fmt.Errorf("parse volatile rule %q: a regexp stands between slashes, as in /build [0-9]+/", text)
	}
	pattern, err := regexp.Compile(text[1 : len(text)-1])
	if err != nil {
		return volatileRule{}, fmt.Errorf("parse volatile rule %q: %w (the syntax is RE2)", text, err)
	}
	if pattern.MatchString("") {
		return volatileRule{}, fmt.Errorf("parse volatile rule %q: it matches the empty text, so it would cover nothing or everything; write + for *", text)
	}
	name := "rule " + strconv.Itoa(number)
	return volatileRule{name: name, pattern: pattern, group: min(1, pattern.NumSubexp()), mark: name}, nil
}

func isVolatileSet(name string) bool { return slices.Contains(volatileSetNames(), name) }

func volatileSetNames() []string {
	return []string{"dates", "uuids", "ports", "durations"}
}

func unknownSet(text string) error {
	hint := ""
	best := 3 // more than two letters wrong is another word
	for _, name := range volatileSetNames() {
		if d := editDistance(strings.ToLower(text), name); d < best {
			best, hint = d, fmt.Sprintf("; did you mean %q?", name)
		}
	}
	return fmt.Errorf("parse volatile rule %q: allowed are %s, and /regexp/%s", text, strings.Join(volatileSetNames(), ", "), hint)
}

// editDistance counts the letters to add, drop or change.
func editDistance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			change := diagonal
			if a[i] != b[j] {
				change++
			}
			diagonal = row[j+1]
			row[j+1] = min(change, row[j]+1, diagonal+1)
		}
	}
	return row[len(b)]
}

// Apply replaces what the rules cover by marks such as ⟨date⟩ and counts each
// use under the rule's name, "dates" or "rule 1", in uses, which may be nil. Distinct uuids and
// ports of one text get distinct marks, ⟨uuid 1⟩ and ⟨uuid 2⟩: a text that
// says one of them twice does not equal one that says two.
func (v *Volatile) Apply(text string, uses map[string]int) string {
	if v == nil {
		return text
	}
	for _, rule := range v.rules {
		text = rule.apply(text, uses)
	}
	return text
}

func (rule volatileRule) apply(text string, uses map[string]int) string {
	edits := rule.edits(text, uses)
	if edits == nil {
		return text
	}
	var out strings.Builder
	done := 0
	for _, e := range edits {
		out.WriteString(text[done:e.start])
		out.WriteString(e.mark)
		done = e.end
	}
	out.WriteString(text[done:])
	return out.String()
}

// edits lists what the rule covers, in order, and counts it in uses.
func (rule volatileRule) edits(text string, uses map[string]int) []edit {
	var edits []edit
	numbers := map[string]int{}
	for _, m := range rule.pattern.FindAllStringSubmatchIndex(text, -1) {
		start, end := m[2*rule.group], m[2*rule.group+1]
		if start < 0 || start == end {
			continue
		}
		edits = append(edits, edit{start, end, rule.markFor(text[start:end], numbers)})
		if uses != nil {
			uses[rule.name]++
		}
	}
	return edits
}

// markFor uses brackets that no program prints, so that a mark does not equal
// a text.
func (rule volatileRule) markFor(value string, numbers map[string]int) string {
	if !rule.numbered {
		return "⟨" + rule.mark + "⟩"
	}
	if numbers[value] == 0 {
		numbers[value] = len(numbers) + 1
	}
	return "⟨" + rule.mark + " " + strconv.Itoa(numbers[value]) + "⟩"
}
