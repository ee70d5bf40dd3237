package golden

import (
	"strings"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"
)

// Bounds of what is shown of a call's arguments.
const (
	wideString = 120 // characters of a string; a longer one is folded below the call
	fullBreaks = 2   // newlines in a string; one with more is folded below the call
	fullShape  = 24  // lines of arguments that are broken over lines; longer ones keep their ends
	keptShape  = 4
	deepShape  = 6 // levels that are broken over lines
)

// arguments is what a call was given, made ready to be shown.
type arguments struct {
	lines []string // JSON with long strings replaced by what they measure
	below []longString
}

// longString is a string of the arguments that is shown below the call.
type longString struct {
	name string // the member's name
	text string
}

// newArguments reads the text of a call's arguments; clean is applied to every
// string in it. It reports false for a text that is no JSON.
func newArguments(text string, clean func(string) string, full bool) (arguments, bool) {
	text = inReadingOrder(text)
	d := jsontext.NewDecoder(strings.NewReader(text), jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))
	a := &argumentReader{decoder: d, clean: clean, full: full}
	node, err := a.value("")
	if err != nil {
		return arguments{}, false
	}
	if _, err := d.ReadToken(); err == nil || strings.TrimSpace(text[d.InputOffset():]) != "" {
		return arguments{}, false
	}
	return arguments{lines: node.lines(0), below: a.below}, true
}

// fold leaves out what is too long to read and says what the whole measures;
// "" when nothing is left out.
func (a *arguments) fold(full bool) string {
	whole, cut := strings.Join(a.lines, "\n"), false
	if full {
		return ""
	}
	if n := len(a.lines); n > fullShape {
		kept := append([]string{}, a.lines[:keptShape]...)
		kept = append(kept, "⋮ "+count(n-2*keptShape, "line"))
		a.lines, cut = append(kept, a.lines[n-keptShape:]...), true
	}
	for i, line := range a.lines {
		short, isCut := shorten(line)
		a.lines[i], cut = short, cut || isCut
	}
	if !cut {
		return ""
	}
	return measure(whole, strings.Count(whole, "\n")+1)
}

type argumentReader struct {
	decoder *jsontext.Decoder
	clean   func(string) string
	full    bool
	below   []longString
}

// node is one JSON value: a scalar's text, or the members of an object or
// array, with their names in front.
type node struct {
	text        string
	open, close string
	members     []node
	name        string // `"key": `, as it is shown; "" in an array
}

func (a *argumentReader) value(name string) (node, error) {
	token, err := a.decoder.ReadToken()
	if err != nil {
		return node{}, err
	}
	switch token.Kind() {
	case '{':
		return a.members(node{open: "{", close: "}"}, name)
	case '[':
		return a.members(node{open: "[", close: "]"}, name)
	case '"':
		return node{text: a.text(name, token.String())}, nil
	default:
		return node{text: token.String()}, nil
	}
}

// members reads the rest of an object or array whose first token is read.
func (a *argumentReader) members(n node, name string) (node, error) {
	for a.decoder.PeekKind() != '}' && a.decoder.PeekKind() != ']' {
		label := ""
		if n.open == "{" {
			token, err := a.decoder.ReadToken()
			if err != nil {
				return n, err
			}
			name = token.String()
			label = quoted(a.clean(name)) + ": "
		}
		member, err := a.value(name)
		if err != nil {
			return n, err
		}
		member.name = label
		n.members = append(n.members, member)
	}
	_, err := a.decoder.ReadToken()
	return n, err
}

// text shows a string in its place, or puts a long one below the call.
func (a *argumentReader) text(name, value string) string {
	value = a.clean(value)
	if a.full || utf8.RuneCountInString(value) <= wideString && strings.Count(value, "\n") <= fullBreaks {
		return quoted(value)
	}
	a.below = append(a.below, longString{name: visible(name), text: value})
	return "‹" + measure(value, len(strings.Split(strings.TrimRight(value, "\n"), "\n"))) + "›"
}

// quoted writes text as a JSON string in which every character can be seen.
func quoted(text string) string {
	if !utf8.ValidString(text) {
		return `"` + visible(text) + `"`
	}
	raw, _ := jsontext.AppendQuote(nil, text) // fails for bad UTF-8 only
	return visible(string(raw))
}

// lines shows a value in one line, or, where that is too wide, one member a
// line, down to deepShape levels.
func (n node) lines(depth int) []string {
	if one := n.line(); depth == deepShape || len(n.members) == 0 || utf8.RuneCountInString(one) <= wideLine {
		return []string{one}
	}
	lines := []string{n.open}
	for i, member := range n.members {
		inner := member.lines(depth + 1)
		inner[0] = member.name + inner[0]
		if i < len(n.members)-1 {
			inner[len(inner)-1] += ","
		}
		for _, line := range inner {
			lines = append(lines, "  "+line)
		}
	}
	return append(lines, n.close)
}

func (n node) line() string {
	if n.open == "" {
		return n.text
	}
	parts := make([]string, len(n.members))
	for i, member := range n.members {
		parts[i] = member.name + member.line()
	}
	return n.open + strings.Join(parts, ", ") + n.close
}
