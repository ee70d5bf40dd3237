package runtime

import (
	"fmt"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/google/jsonschema-go/jsonschema"
)

// validate holds an object against a schema. The words are our own, made by
// walking schema and value together, because those of the library change from
// run to run; the library has the last word on keywords the walk does not know.
func validate(schema *jsonschema.Schema, resolved *jsonschema.Resolved, object jsontext.Value, tree node) []problem {
	var w walk
	w.value(schema, tree, "")
	if len(w.problems) > 0 {
		return w.problems
	}
	var value any
	if err := json.Unmarshal(object, &value); err != nil {
		return []problem{{"", "must be valid JSON"}}
	}
	if err := resolved.Validate(value); err != nil {
		return []problem{{"", "do not match the schema of the tool"}}
	}
	return nil
}

// walk collects what is wrong with a value.
type walk struct{ problems []problem }

func (w *walk) add(field, format string, args ...any) {
	w.problems = append(w.problems, problem{field, fmt.Sprintf(format, args...)})
}

func (w *walk) value(s *jsonschema.Schema, n node, field string) {
	if s == nil {
		return
	}
	if types := schemaTypes(s); len(types) > 0 && !slices.ContainsFunc(types, n.is) {
		w.add(field, "must be %s", typeWords(types))
		return // anything more would only repeat it
	}
	if len(s.Enum) > 0 && !inEnum(s.Enum, n) {
		w.add(field, "must be one of %s", enumWords(s.Enum))
		return
	}
	switch n.kind {
	case '{':
		w.object(s, n, field)
	case '[':
		w.array(s, n, field)
	case '"':
		w.text(s, n.text, field)
	case '0':
		w.number(s, n.text, field)
	}
}

func (w *walk) object(s *jsonschema.Schema, n node, field string) {
	for _, name := range s.Required {
		if _, ok := n.get(name); !ok {
			w.add(joinField(field, name), "is required")
		}
	}
	closed := s.AdditionalProperties != nil && s.AdditionalProperties.Not != nil
	for _, m := range n.members {
		at := joinField(field, m.name)
		if property, ok := s.Properties[m.name]; ok {
			w.value(property, m.value, at)
		} else if closed {
			w.add(at, "is not a field of this tool")
		} else {
			w.value(s.AdditionalProperties, m.value, at)
		}
	}
}

func (w *walk) array(s *jsonschema.Schema, n node, field string) {
	if s.MinItems != nil && len(n.items) < *s.MinItems {
		w.add(field, "must have at least %d items", *s.MinItems)
	}
	if s.MaxItems != nil && len(n.items) > *s.MaxItems {
		w.add(field, "must have at most %d items", *s.MaxItems)
	}
	for i, item := range n.items {
		w.value(s.Items, item, itemField(field, i))
	}
}

func (w *walk) text(s *jsonschema.Schema, text, field string) {
	length := utf8.RuneCountInString(text)
	switch {
	case s.MinLength != nil && length < *s.MinLength && *s.MinLength == 1:
		w.add(field, "must not be empty")
	case s.MinLength != nil && length < *s.MinLength:
		w.add(field, "must have at least %d characters", *s.MinLength)
	case s.MaxLength != nil && length > *s.MaxLength:
		w.add(field, "must have at most %d characters", *s.MaxLength)
	case s.Pattern == notBlank:
		if trimBlank(text) == "" {
			w.add(field, "must not be blank")
		}
	case s.Pattern != "" && !matches(s.Pattern, text):
		w.add(field, "must match the pattern %s", s.Pattern)
	}
}

// notBlank is the pattern of a text that has to say something. In a schema \S
// knows every blank of Unicode; Go's own \S knows those of ASCII only.
const notBlank = `\S`

// trimBlank cuts the blanks of Unicode off both ends.
func trimBlank(text string) string {
	return strings.TrimFunc(text, func(r rune) bool { return unicode.IsSpace(r) || r == '\ufeff' })
}

func matches(pattern, text string) bool {
	matched, err := regexp.MatchString(pattern, text)
	return err == nil && matched // Register has compiled the pattern before
}

func (w *walk) number(s *jsonschema.Schema, literal, field string) {
	value, err := strconv.ParseFloat(literal, 64)
	switch {
	case err != nil:
		w.add(field, "is out of range")
	case slices.Contains(schemaTypes(s), "integer") && math.Abs(value) > 1<<53:
		w.add(field, "is out of range") // beyond it a float64 no longer knows every integer
	case s.Minimum != nil && value < *s.Minimum:
		w.add(field, "must be at least %s", plain(*s.Minimum))
	case s.Maximum != nil && value > *s.Maximum:
		w.add(field, "must be at most %s", plain(*s.Maximum))
	case s.ExclusiveMinimum != nil && value <= *s.ExclusiveMinimum:
		w.add(field, "must be more than %s", plain(*s.ExclusiveMinimum))
	case s.ExclusiveMaximum != nil && value >= *s.ExclusiveMaximum:
		w.add(field, "must be less than %s", plain(*s.ExclusiveMaximum))
	}
}

func plain(f float64) string { return strconv.FormatFloat(f, 'f', -1, 64) }

func schemaTypes(s *jsonschema.Schema) []string {
	if s.Type != "" {
		return []string{s.Type}
	}
	return s.Types
}

// is reports whether n has the given JSON schema type.
func (n node) is(typ string) bool {
	switch typ {
	case "object":
		return n.kind == '{'
	case "array":
		return n.kind == '['
	case "string":
		return n.kind == '"'
	case "boolean":
		return n.kind == 't' || n.kind == 'f'
	case "null":
		return n.kind == 'n'
	case "number":
		return n.kind == '0'
	case "integer":
		value, err := strconv.ParseFloat(n.text, 64)
		return n.kind == '0' && (err != nil || value == math.Trunc(value)) // err: out of range, said later
	default:
		return false
	}
}

// typeWords names types in a sentence, in the schema's order but null last.
func typeWords(types []string) string {
	words := map[string]string{
		"object": "an object", "array": "an array", "string": "a string",
		"boolean": "true or false", "number": "a number", "integer": "a whole number",
	}
	var parts []string
	for _, typ := range types {
		if typ != "null" {
			parts = append(parts, words[typ])
		}
	}
	if slices.Contains(types, "null") {
		parts = append(parts, "null")
	}
	return strings.Join(parts, " or ")
}

func inEnum(enum []any, n node) bool {
	return slices.ContainsFunc(enum, func(allowed any) bool {
		text, ok := allowed.(string)
		return !ok || n.kind == '"' && n.text == text // others are left to the library
	})
}

func enumWords(enum []any) string {
	parts := make([]string, len(enum))
	for i, allowed := range enum {
		parts[i] = fmt.Sprint(allowed)
	}
	return strings.Join(parts, ", ")
}
