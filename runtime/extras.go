package runtime

import (
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
)

// extras are the members that nobody here knows, in the order received. What a
// provider put into its answer must go back to it: reasoning_content,
// extra_content with its thought signatures, reasoning_details.
type extras struct {
	list   []*extra
	byName map[string]*extra
}

// extra is one such member, put together from the deltas of a stream.
type extra struct {
	name   string
	last   jsontext.Value   // the last value that was no null; null if all were
	text   *jsonText        // of a member whose texts are joined
	values []jsontext.Value // the elements of a list
	isList bool
}

// add takes one more value of the member name: texts of reasoning and refusal
// are joined, lists appended, objects merged, of all else the last value counts.
// Null changes nothing that is there.
func (x *extras) add(name string, v jsontext.Value) {
	e := x.byName[name]
	if e == nil {
		e = &extra{name: name, last: jsontext.Value("null")}
		x.list = append(x.list, e)
		if x.byName == nil {
			x.byName = map[string]*extra{}
		}
		x.byName[name] = e
	}
	switch {
	case v.Kind() == 'n':
	case v.Kind() == '"' && joined[name]:
		if e.text == nil {
			e.text = new(jsonText)
		}
		e.text.add(v)
	case v.Kind() == '[':
		e.isList = true
		elements, _ := elementsOf(v)
		for _, element := range elements {
			e.values = append(e.values, strictJSON(element.value))
		}
	case v.Kind() == '{' && e.last.Kind() == '{':
		e.last = mergeObjects(e.last, strictJSON(v))
	default:
		e.last = strictJSON(v)
	}
}

// mergeObjects returns a with the members of b: of a name that both have the
// value in b counts, unless it is null; two objects are merged in turn.
func mergeObjects(a, b jsontext.Value) jsontext.Value {
	left, _ := membersOf(a)
	right, _ := membersOf(b)
	out := jsontext.Value{'{'}
	for _, m := range left {
		value := m.value
		switch newer := memberOf(right, m.name); {
		case value.Kind() == '{' && newer.Kind() == '{':
			value = mergeObjects(value, newer)
		case !isNull(newer):
			value = newer
		}
		out = appendMember(out, m.name, value)
	}
	for _, m := range right {
		if memberOf(left, m.name) == nil {
			out = appendMember(out, m.name, m.value)
		}
	}
	return append(out, '}')
}

// joined are the members whose texts are pieces of one text in a stream.
// Signatures and ids beside them come whole.
var joined = map[string]bool{
	"reasoning": true, "reasoning_content": true, "reasoning_text": true,
	"thinking": true, "thinking_content": true, "thought": true, "refusal": true,
}

// value returns the value of the member name, nil if there is none.
func (x *extras) value(name string) jsontext.Value {
	if e := x.byName[name]; e != nil {
		return e.value()
	}
	return nil
}

// write adds all members to the object that out has begun.
func (x *extras) write(out jsontext.Value) jsontext.Value {
	for _, e := range x.list {
		out = appendMember(out, e.name, e.value())
	}
	return out
}

// drop forgets the members whose name is of the given kind.
func (x *extras) drop(kind func(name string) bool) {
	x.list = slices.DeleteFunc(x.list, func(e *extra) bool { return kind(e.name) })
}

func isReasoning(name string) bool { return strings.HasPrefix(name, "reasoning") }

func (e *extra) value() jsontext.Value {
	switch {
	case e.text != nil:
		return quote(e.text.String())
	case e.isList:
		return arrayOf(e.values)
	default:
		return e.last
	}
}
