package scenarios

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/tapetree/tapetree/internal/suggest"
)

// Threshold is a number that a finding of CheckHistory begins at.
type Threshold struct {
	Name    string // as --set has it
	Default int
	Meaning string
}

// thresholds are all there are. The report's length is that of the contract for
// reports (300 words, 600 characters of a script without spaces); the others
// were chosen so that files of real agents show few findings, each of them true.
var thresholds = []Threshold{
	{"delegation.long-report.words", 300, "words that a report may have"},
	{"delegation.long-report.characters", 600, "Chinese, Japanese and Korean characters that a report may have"},
	{"delegation.vague-brief.words", 4, "words from which on a brief that names nothing is long enough"},
	{"delegation.verbatim-report.percent", 60, "share of a report, in percent, that stands in the child's tool results, from which on it is copied"},
	{"delegation.verbatim-report.bytes", 400, "bytes from which on a report is judged for that"},
	{"delegation.trivial-task.calls", 1, "calls of a child up to which its task was trivial"},
	{"isolation.canary.bytes", 80, "bytes from which on a text of one agent in another's history is a leak"},
	{"limit.parent-turns", 0, "turns that a root may have; 0: what the profile says, none for other agents"},
	{"limit.child-turns", 0, "turns that a child may have; 0: likewise"},
}

// Thresholds are the numbers that somebody set; what is not among them has its
// documented value.
type Thresholds map[string]int

// AllThresholds lists them with their documented values.
func AllThresholds() []Threshold { return thresholds }

// get returns a threshold. It panics for a name that is none: a slip of ours.
func (t Thresholds) get(name string) int {
	if n, set := t[name]; set {
		return n
	}
	for _, known := range thresholds {
		if known.Name == name {
			return known.Default
		}
	}
	panic("scenarios: no threshold " + name)
}

// Set takes NAME=NUMBER.
func (t Thresholds) Set(text string) error {
	name, value, found := strings.Cut(text, "=")
	var names []string
	for _, known := range thresholds {
		names = append(names, known.Name)
		if known.Name != name {
			continue
		}
		n, err := strconv.Atoi(value)
		if !found || err != nil || n < 0 {
			return fmt.Errorf("%s takes a whole number from 0, as in %s=%d, not %q", name, name, known.Default, value)
		}
		t[name] = n
		return nil
	}
	if nearest := suggest.Nearest(name, names); nearest != "" {
		return fmt.Errorf("no threshold %q, did you mean %s?", name, nearest)
	}
	return fmt.Errorf("no threshold %q; there are %s", name, strings.Join(names, ", "))
}
