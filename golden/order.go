package golden

import (
	"bytes"
	"cmp"
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
)

// readingOrder is how the arguments of well-known tools are best read: what is
// acted on before what is done with it. Other names follow, sorted.
var readingOrder = []string{
	"description", "prompt", "pattern", "command", "path", "offset", "limit", "old_string", "new_string", "replace_all",
	"content", "status", "timeout_seconds",
}

type member struct {
	name  string
	value jsontext.Value
}

// inReadingOrder puts the members of every object of a JSON text into one
// order: some model servers write them in a random one, which says nothing.
// Members that share a name keep their order. What is no JSON comes back as it
// is.
func inReadingOrder(text string) string {
	if !strings.ContainsRune(text, '{') {
		return text
	}
	d := jsontext.NewDecoder(strings.NewReader(text), jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))
	value, err := d.ReadValue()
	if err != nil || strings.TrimSpace(text[d.InputOffset():]) != "" {
		return text
	}
	ordered, err := orderValue(value)
	if err != nil {
		return text
	}
	return string(ordered)
}

func orderValue(value jsontext.Value) (jsontext.Value, error) {
	kind := value.Kind()
	if kind != '{' && kind != '[' {
		return value, nil
	}
	members, err := membersOf(value)
	if err != nil {
		return nil, err
	}
	out := bytes.NewBuffer(value[:1:1])
	if kind == '{' {
		slices.SortStableFunc(members, func(a, b member) int {
			return cmp.Or(cmp.Compare(rank(a.name), rank(b.name)), cmp.Compare(a.name, b.name))
		})
	}
	for i, m := range members {
		if i > 0 {
			out.WriteByte(',')
		}
		if kind == '{' {
			name, err := jsontext.AppendQuote(nil, m.name)
			if err != nil && len(name) == 0 {
				return nil, err
			}
			out.Write(append(name, ':'))
		}
		inner, err := orderValue(m.value)
		if err != nil {
			return nil, err
		}
		out.Write(inner)
	}
	out.WriteByte(map[jsontext.Kind]byte{'{': '}', '[': ']'}[kind])
	return out.Bytes(), nil
}

// membersOf splits an object or array; names are "" in an array.
func membersOf(value jsontext.Value) ([]member, error) {
	d := jsontext.NewDecoder(bytes.NewReader(value), jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))
	if _, err := d.ReadToken(); err != nil {
		return nil, err
	}
	var list []member
	for d.PeekKind() != '}' && d.PeekKind() != ']' {
		var m member
		if value.Kind() == '{' {
			token, err := d.ReadToken()
			if err != nil {
				return nil, err
			}
			m.name = token.String()
		}
		inner, err := d.ReadValue()
		if err != nil {
			return nil, err
		}
		m.value = bytes.Clone(inner)
		list = append(list, m)
	}
	return list, nil
}

func rank(name string) int {
	if i := slices.Index(readingOrder, name); i >= 0 {
		return i
	}
	return len(readingOrder)
}
