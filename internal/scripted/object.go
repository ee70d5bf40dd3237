package scripted

import (
	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// object is a JSON object whose members stay in the order they are written in,
// which is that of real servers: name, value, name, value.
type object []any

// MarshalJSONTo writes the object.
func (o object) MarshalJSONTo(e *jsontext.Encoder) error {
	if err := e.WriteToken(jsontext.BeginObject); err != nil {
		return err
	}
	for _, part := range o {
		if err := json.MarshalEncode(e, part); err != nil {
			return err
		}
	}
	return e.WriteToken(jsontext.EndObject)
}

// list is a JSON list; an empty one is [], not null.
type list []any

// with is a copy of o with more members at its end.
func (o object) with(members ...any) object {
	return append(o[:len(o):len(o)], members...)
}

// encode gives v as JSON. What is passed here is built of texts, numbers and
// valid JSON, so it cannot fail.
func encode(v any) []byte {
	data, err := json.Marshal(v)
	if err != nil {
		panic("scripted: " + err.Error())
	}
	return data
}
