package imports

import (
	"github.com/go-json-experiment/json/jsontext"
	"github.com/tapetree/tapetree/internal/jsonspan"
)

// found are the members of an object that were asked for, as written, each once.
// A list is quicker than a map: there are few, and many objects.
type found []member

type member struct {
	name  string
	value jsontext.Value
}

// of returns a member, nil of one that is not there.
func (f found) of(name string) jsontext.Value {
	for i := range f {
		if f[i].name == name {
			return f[i].value
		}
	}
	return nil
}

// put adds a member; of a name that is written twice the last counts.
func (f found) put(name string, value jsontext.Value) found {
	for i := range f {
		if f[i].name == name {
			f[i].value = value
			return f
		}
	}
	return append(f, member{name, value})
}

// members returns the members of an object that are asked for, as written; of
// text that is no object, none. What stands before a fault counts.
func members(raw []byte, names ...string) found {
	s := scanner{text: raw}
	if s.kind() != '{' {
		return nil
	}
	list, _ := s.members(names)
	return list
}

// members reads an object, of which it keeps the members that are asked for.
func (s *scanner) members(names []string) (list found, err error) {
	err = s.inside('{', func() error {
		quoted, err := s.name()
		if err != nil {
			return err
		}
		s.at = jsonspan.Space(s.text, s.at)
		from := s.at
		if err := s.skip(); err != nil {
			return err
		}
		for _, name := range names {
			if jsonspan.Is(quoted, name) {
				if list == nil {
					list = make(found, 0, min(len(names), 8))
				}
				list = list.put(name, s.text[from:s.at:s.at])
				break
			}
		}
		return nil
	})
	return list, err
}

// idText returns an id: a text, or a number as its digits.
func idText(v jsontext.Value) string {
	if v.Kind() == '0' {
		return string(v)
	}
	return jsonspan.Text(v)
}

// text returns the text of a JSON string, "" of all else.
func text(v jsontext.Value) string { return jsonspan.Text(v) }
