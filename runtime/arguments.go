package runtime

import (
	"bytes"
	"cmp"
	"errors"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
)

// problem is one reason why arguments are refused: the field, as a path like
// todos[0].status ("" for the arguments as a whole), and what is wrong.
type problem struct{ field, text string }

// refusal makes the one result text of all problems, sorted by field. It is
// the same for the same arguments, whatever order a map gave them in.
func refusal(problems []problem) *ToolError {
	slices.SortFunc(problems, func(a, b problem) int {
		return cmp.Or(cmp.Compare(a.field, b.field), cmp.Compare(a.text, b.text))
	})
	lines := make([]string, 0, len(problems))
	for _, p := range slices.Compact(problems) {
		lines = append(lines, cmp.Or(p.field, "arguments")+": "+p.text)
	}
	return &ToolError{Code: CodeInvalidArguments, Message: strings.Join(lines, "; ")}
}

// arguments reads what the model wrote as the arguments of t and returns the
// one JSON object that the handler gets, or why the call is refused.
func (t *Tool) arguments(text string) (jsontext.Value, *ToolError) {
	object, tree, problems := decodeArguments(text)
	if len(problems) == 0 {
		problems = validate(t.Schema, t.resolved, object, tree)
	}
	if len(problems) == 0 && t.fits != nil {
		problems = t.fits(object)
	}
	if len(problems) > 0 {
		return nil, refusal(problems)
	}
	return object, nil
}

// decodeArguments is the one decoder of arguments. Nothing, blanks and null
// mean {}; everything else must be exactly one JSON object without a key
// given twice, at any depth.
func decodeArguments(text string) (jsontext.Value, node, []problem) {
	raw := strings.TrimSpace(text)
	if raw == "" || raw == "null" {
		raw = "{}"
	}
	tree, err := parseNode(raw)
	switch {
	case errors.Is(err, errTrailing):
		return nil, node{}, []problem{{"", "must be one JSON object with nothing after it"}}
	case err != nil:
		return nil, node{}, []problem{{"", "must be valid JSON"}}
	case tree.kind != '{':
		return nil, node{}, []problem{{"", "must be a JSON object, not " + kindWord(tree.kind)}}
	}
	return jsontext.Value(raw), tree, tree.duplicates("", nil)
}

// node is one value of the arguments. Unlike a map it still knows of keys that
// were given twice.
type node struct {
	kind    jsontext.Kind
	text    string // a string's value, a number's literal
	members []member
	items   []node
}

type member struct {
	name  string
	value node
}

var errTrailing = errors.New("data after the value")

// parseNode reads exactly one JSON value.
func parseNode(raw string) (node, error) {
	dec := jsontext.NewDecoder(bytes.NewBufferString(raw), jsontext.AllowDuplicateNames(true))
	n, err := readNode(dec)
	if err != nil {
		return node{}, err
	}
	if _, err := dec.ReadToken(); err != io.EOF {
		return node{}, errTrailing
	}
	return n, nil
}

// readNode reads the next value; the decoder itself limits the depth.
func readNode(dec *jsontext.Decoder) (node, error) {
	token, err := dec.ReadToken()
	if err != nil {
		return node{}, err
	}
	n := node{kind: token.Kind()}
	switch n.kind {
	case '"', '0':
		n.text = token.String()
	case '[':
		for dec.PeekKind() != ']' {
			item, err := readNode(dec)
			if err != nil {
				return node{}, err
			}
			n.items = append(n.items, item)
		}
		_, err = dec.ReadToken()
	case '{':
		for dec.PeekKind() != '}' {
			name, err := dec.ReadToken()
			if err != nil {
				return node{}, err
			}
			m := member{name: name.String()} // before the next token: it may reuse the buffer
			if m.value, err = readNode(dec); err != nil {
				return node{}, err
			}
			n.members = append(n.members, m)
		}
		_, err = dec.ReadToken()
	}
	return n, err
}

// duplicates appends a problem for each key that one object gives twice.
func (n node) duplicates(field string, problems []problem) []problem {
	seen := make(map[string]bool, len(n.members))
	for _, m := range n.members {
		if seen[m.name] {
			problems = append(problems, problem{joinField(field, m.name), "is given more than once"})
		}
		seen[m.name] = true
		problems = m.value.duplicates(joinField(field, m.name), problems)
	}
	for i, item := range n.items {
		problems = item.duplicates(itemField(field, i), problems)
	}
	return problems
}

// get returns the member of that name.
func (n node) get(name string) (node, bool) {
	for _, m := range n.members {
		if m.name == name {
			return m.value, true
		}
	}
	return node{}, false
}

// joinField names a member; a name that could be mistaken for something else
// is quoted, so that no text of the model stands bare in ours.
func joinField(field, name string) string {
	if !toolName.MatchString(name) {
		name = string(quote(name))
	}
	if field == "" {
		return name
	}
	return field + "." + name
}

func itemField(field string, i int) string {
	return field + "[" + strconv.Itoa(i) + "]"
}

// kindWord names a kind of JSON value in a sentence.
func kindWord(kind jsontext.Kind) string {
	switch kind {
	case '{':
		return "an object"
	case '[':
		return "an array"
	case '"':
		return "a string"
	case '0':
		return "a number"
	case 'n':
		return "null"
	default:
		return "true or false"
	}
}
