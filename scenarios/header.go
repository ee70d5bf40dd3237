package scenarios

import (
	"fmt"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/tapetree/tapetree/internal/suggest"
	"github.com/tapetree/tapetree/runtime"
	"github.com/tapetree/tapetree/runtime/profiles"
)

// header is one `key: value` line that a scenario can have.
type header struct {
	key string
	// set reads a value that is not empty; its error says what was wrong with
	// it, without file, line and key.
	set func(s *Scenario, value string) error
	// get writes the value back, "" when it is what a file without the line has.
	get func(s *Scenario) string
	// inherit takes the value of the defaults; nil for a header that belongs to
	// one scenario.
	inherit func(s, defaults *Scenario)
}

// headers are all header lines, in the order in which Format writes them.
var headers = []header{
	{"profile", setProfile, func(s *Scenario) string { return unless(s.Profile, "p06") }, func(s, d *Scenario) { s.Profile = d.Profile }},
	{"transcript", setName(func(s *Scenario) *string { return &s.Transcript }), func(s *Scenario) string { return unless(s.Transcript, s.Name) }, nil},
	{"golden", setName(func(s *Scenario) *string { return &s.Golden }), func(s *Scenario) string { return unless(s.Golden, s.Name) }, nil},
	{"model", setModel, func(s *Scenario) string { return s.Model }, func(s, d *Scenario) { s.Model = d.Model }},
	{"sub-model", setSubModel, func(s *Scenario) string { return s.SubModel }, func(s, d *Scenario) { s.SubModel = d.SubModel }},
	{"max-turns", setMaxTurns, func(s *Scenario) string { return number(s.MaxTurns) }, func(s, d *Scenario) { s.MaxTurns = d.MaxTurns }},
	{"child-max-turns", setChildMaxTurns, func(s *Scenario) string { return number(s.ChildMaxTurns) }, func(s, d *Scenario) { s.ChildMaxTurns = d.ChildMaxTurns }},
	{"approve", setApprove, func(s *Scenario) string { return s.Approve }, func(s, d *Scenario) { s.Approve = d.Approve }},
	{"mode", setMode, func(s *Scenario) string { return unless(string(s.Mode), string(runtime.ModeDefault)) }, func(s, d *Scenario) { s.Mode = d.Mode }},
	{"child-policy", setChildPolicy, func(s *Scenario) string { return string(s.ChildPolicy) }, func(s, d *Scenario) { s.ChildPolicy = d.ChildPolicy }},
	{"context-budget", setContextBudget, func(s *Scenario) string { return number(s.ContextBudget) }, func(s, d *Scenario) { s.ContextBudget = d.ContextBudget }},
	{"output-tokens", setOutputTokens, func(s *Scenario) string { return number(s.OutputTokens) }, func(s, d *Scenario) { s.OutputTokens = d.OutputTokens }},
	{"tools", setTools, formatTools, func(s, d *Scenario) { s.Tools = d.Tools }},
	{"workspace", setWorkspace, func(s *Scenario) string { return s.Workspace }, nil},
	{"command", setCommand, formatCommand, nil},
	{"timeout", setDuration(func(s *Scenario) *time.Duration { return &s.Timeout }), func(s *Scenario) string { return formatDuration(s.Timeout) }, func(s, d *Scenario) { s.Timeout = d.Timeout }},
	{"tags", setTags, func(s *Scenario) string { return strings.Join(s.Tags, ", ") }, func(s, d *Scenario) { s.Tags = d.Tags }},
	{"max-age", setDuration(func(s *Scenario) *time.Duration { return &s.MaxAge }), func(s *Scenario) string { return formatDuration(s.MaxAge) }, func(s, d *Scenario) { s.MaxAge = d.MaxAge }},
	{"volatile", setVolatile, func(*Scenario) string { return "" /* written as a section */ }, func(*Scenario, *Scenario) { /* added, see complete */ }},
	{"interrupt", setInterrupt, formatInterrupt, nil},
	{"fixture", setFixtures, formatFixtures, nil},
}

// headersOfDefaults are those that can stand in _defaults.txtar.
func headersOfDefaults() []header {
	return slices.DeleteFunc(slices.Clone(headers), func(h header) bool { return h.inherit == nil })
}

// header reads the lines before the first section: empty lines, comments and
// `key: value` lines with the keys of known.
func (p *parser) header(comment []byte, known []header) error {
	line := 0
	for text := range strings.Lines(string(comment)) {
		line++
		text = strings.TrimRight(text, " \t\n")
		if text == "" || strings.HasPrefix(text, "#") {
			continue
		}
		key, value, found := strings.Cut(text, ":")
		if !found {
			return p.errorf(line, "%q is no header line (key: value), no comment (# ...) and no section marker (-- NAME --)", text)
		}
		if err := p.headerLine(line, key, strings.TrimSpace(value), known); err != nil {
			return err
		}
	}
	return nil
}

func (p *parser) headerLine(line int, key, value string, known []header) error {
	at := slices.IndexFunc(known, func(h header) bool { return h.key == key })
	if at < 0 {
		if slices.ContainsFunc(headers, func(h header) bool { return h.key == key }) {
			return p.errorf(line, "header %q belongs to one scenario, not to the defaults of all", key)
		}
		return p.errorf(line, "unknown header %q%s", key, didYouMean(key, headerKeys(known)))
	}
	if first := p.lines["header "+key]; first > 0 {
		return p.errorf(line, "header %q is there already (line %d)", key, first)
	}
	p.lines["header "+key] = line
	if value == "" {
		return p.errorf(line, "header %q needs a value", key)
	}
	if err := known[at].set(p.s, value); err != nil {
		return p.errorf(line, "%s: %v", key, err)
	}
	return nil
}

func headerKeys(known []header) []string {
	var keys []string
	for _, h := range known {
		keys = append(keys, h.key)
	}
	return keys
}

// didYouMean is the end of a message about an unknown word.
func didYouMean(word string, known []string) string {
	if nearest := suggest.Nearest(word, known); nearest != "" {
		return fmt.Sprintf(" (did you mean %q?)", nearest)
	}
	return fmt.Sprintf(" (known: %s)", strings.Join(known, ", "))
}

// unless is value, or "" when it is the one that need not be written.
func unless(value, implied string) string {
	if value == implied {
		return ""
	}
	return value
}

func number(n int) string {
	if n == 0 {
		return ""
	}
	return strconv.Itoa(n)
}

// oneOf checks that value is one of the known words.
func oneOf(what, value string, known ...string) error {
	if slices.Contains(known, value) {
		return nil
	}
	return fmt.Errorf("unknown %s %q%s", what, value, didYouMean(value, known))
}

// list cuts a comma list; its words are not empty and each is there once.
func list(value string) ([]string, error) {
	var words []string
	for word := range strings.SplitSeq(value, ",") {
		word = strings.TrimSpace(word)
		if word == "" {
			return nil, fmt.Errorf("%q has an empty word; write words with a comma between them", value)
		}
		if slices.Contains(words, word) {
			return nil, fmt.Errorf("%q is there twice", word)
		}
		words = append(words, word)
	}
	return words, nil
}

func setProfile(s *Scenario, value string) error {
	s.Profile = value
	return oneOf("profile", value, profiles.Names()...)
}

func setName(field func(*Scenario) *string) func(*Scenario, string) error {
	return func(s *Scenario, value string) error {
		*field(s) = value
		if !validName.MatchString(value) {
			return fmt.Errorf("%q is no name; use lower-case letters, digits, dots, - and _, as in [a-z0-9][a-z0-9._-]*", value)
		}
		return nil
	}
}

func setModel(s *Scenario, value string) error {
	s.Model = value
	return nil
}

func setMaxTurns(s *Scenario, value string) (err error) {
	s.MaxTurns, err = atMost(value, most().Parent, "the parent")
	return err
}

func setChildMaxTurns(s *Scenario, value string) (err error) {
	s.ChildMaxTurns, err = atMost(value, most().Child, "a child")
	return err
}

// atMost reads a number of turns that an agent can be given.
func atMost(value string, most int, who string) (int, error) {
	n, err := positive(value)
	if err == nil && n > most {
		err = fmt.Errorf("%d is too many; %s has at most %d turns", n, who, most)
	}
	return n, err
}

func positive(value string) (int, error) {
	n, err := strconv.Atoi(value)
	if err != nil || n < 1 || strconv.Itoa(n) != value {
		return 0, fmt.Errorf("%q is no whole number from 1", value)
	}
	return n, nil
}

func setApprove(s *Scenario, value string) error {
	s.Approve = value
	return oneOf("answer", value, "all", "none", "script", "tape")
}

func setMode(s *Scenario, value string) error {
	s.Mode = runtime.Mode(value)
	return oneOf("mode", value, modeNames...)
}

// modeNames are the modes that a session, or its children, can be in.
var modeNames = []string{string(runtime.ModeDefault), string(runtime.ModeAcceptEdits), string(runtime.ModeYolo), string(runtime.ModeReadOnly)}

// setTools reads `live`, `tape` or a list of NAME=live|tape; a list may begin
// with one of the two words as the rule for all other tools.
func setTools(s *Scenario, value string) error {
	words, err := list(value)
	if err != nil {
		return err
	}
	s.Tools = map[string]bool{}
	for _, word := range words {
		name, how, named := strings.Cut(word, "=")
		if !named {
			name, how = "*", word
		} else if err := oneOf("tool", name, knownTools...); err != nil {
			return err
		}
		if err := oneOf("way", how, "live", "tape"); err != nil {
			return fmt.Errorf("%q: %w", word, err)
		}
		if _, twice := s.Tools[name]; twice {
			return fmt.Errorf("%q: a rule for %s is there already", word, cmpOr(name == "*", "all tools", name))
		}
		if how == "tape" && (name == runtime.TaskToolName || name == runtime.TodoToolName) {
			return fmt.Errorf("%q: %s changes the runner's own state (%s) and is always live", word, name,
				cmpOr(name == runtime.TaskToolName, "its children", "its todo list"))
		}
		s.Tools[name] = how == "live"
	}
	return nil
}

func cmpOr(condition bool, yes, no string) string {
	if condition {
		return yes
	}
	return no
}

func formatTools(s *Scenario) string {
	var words []string
	for name, live := range s.Tools {
		how := cmpOr(live, "live", "tape")
		words = append(words, cmpOr(name == "*", "*", name+"=")+how)
	}
	slices.Sort(words) // "*" is before all letters
	return strings.TrimPrefix(strings.Join(words, ", "), "*")
}

func setWorkspace(s *Scenario, value string) error {
	s.Workspace = value
	if wrong := checkPath(value); wrong != "" {
		return fmt.Errorf("%q: %s", value, wrong)
	}
	return nil
}

func setTags(s *Scenario, value string) (err error) {
	s.Tags, err = list(value)
	for _, tag := range s.Tags {
		if !validName.MatchString(tag) {
			return fmt.Errorf("%q is no tag; use lower-case letters, digits, dots, - and _", tag)
		}
	}
	return err
}

var wholeDays = regexp.MustCompile(`^[1-9][0-9]*d$`)

// setDuration reads whole days (90d) or what Go calls a duration (12h, 1m30s).
func setDuration(field func(*Scenario) *time.Duration) func(*Scenario, string) error {
	return func(s *Scenario, value string) error {
		duration, err := time.ParseDuration(value)
		if wholeDays.MatchString(value) {
			var n int64
			n, err = strconv.ParseInt(strings.TrimSuffix(value, "d"), 10, 64)
			duration = time.Duration(n) * 24 * time.Hour
			if n > int64(math.MaxInt64/(24*time.Hour)) {
				err = strconv.ErrRange
			}
		}
		if err != nil || duration <= 0 {
			return fmt.Errorf("%q is no length of time, as in 90d, 12h, 1m30s", value)
		}
		*field(s) = duration
		return nil
	}
}

func formatDuration(d time.Duration) string {
	const day = 24 * time.Hour
	switch {
	case d == 0:
		return ""
	case d%day == 0:
		return strconv.FormatInt(int64(d/day), 10) + "d"
	}
	text := d.String()
	if strings.HasSuffix(text, "m0s") {
		text = strings.TrimSuffix(text, "0s")
	}
	if strings.HasSuffix(text, "h0m") {
		text = strings.TrimSuffix(text, "0m")
	}
	return text
}

var volatileSets = []string{"dates", "uuids", "ports", "durations"}

// setVolatile takes the names of rule sets; a regexp may hold a comma and so
// stands in the section.
func setVolatile(s *Scenario, value string) error {
	words, err := list(value)
	if err != nil {
		return err
	}
	for _, word := range words {
		if strings.HasPrefix(word, "/") {
			return fmt.Errorf("%q: a regexp goes on a line of its own in the volatile section", word)
		}
		if err := oneOf("set", word, volatileSets...); err != nil {
			return err
		}
	}
	s.Volatile = union(s.Volatile, words)
	return nil
}

var fixtureKinds = []string{"child-has-task", "factory-nil", "factory-error", "hook-block", "hook-panic", "hook-timeout"}

func setFixtures(s *Scenario, value string) error {
	words, err := list(value)
	if err != nil {
		return err
	}
	for _, word := range words {
		kind, tool, hasTool := strings.Cut(word, "=")
		if err := oneOf("fixture", kind, fixtureKinds...); err != nil {
			return err
		}
		switch ofHook := strings.HasPrefix(kind, "hook-"); {
		case ofHook && !hasTool:
			return fmt.Errorf("%q needs a tool, as in %s=shell", word, kind)
		case !ofHook && hasTool:
			return fmt.Errorf("%q: %s takes no tool", word, kind)
		case ofHook:
			if err := oneOf("tool", tool, knownTools...); err != nil {
				return err
			}
		}
		s.Fixtures = append(s.Fixtures, Fixture{Kind: kind, Tool: tool})
	}
	return nil
}

func formatFixtures(s *Scenario) string {
	var words []string
	for _, f := range s.Fixtures {
		words = append(words, f.Kind+cmpOr(f.Tool == "", "", "=")+f.Tool)
	}
	return strings.Join(words, ", ")
}
