package requests

import (
	"bytes"

	"github.com/go-json-experiment/json/jsontext"
)

// A list of tools may be any JSON: what is not of the expected form is empty
// here, and compares by its bytes.

func decoder(raw jsontext.Value) *jsontext.Decoder {
	return jsontext.NewDecoder(bytes.NewReader(raw), jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))
}

// elements returns the elements of a JSON array, none for anything else.
func elements(raw jsontext.Value) []jsontext.Value {
	if raw.Kind() != '[' {
		return nil
	}
	var list []jsontext.Value
	d := decoder(raw)
	if _, err := d.ReadToken(); err != nil {
		return nil
	}
	for d.PeekKind() != ']' {
		value, err := d.ReadValue()
		if err != nil {
			return list
		}
		list = append(list, value.Clone())
	}
	return list
}

// fields returns the members of a JSON object, of a repeated name the last; none
// for anything else.
func fields(raw jsontext.Value) map[string]jsontext.Value {
	if raw.Kind() != '{' {
		return nil
	}
	found := map[string]jsontext.Value{}
	d := decoder(raw)
	if _, err := d.ReadToken(); err != nil {
		return nil
	}
	for d.PeekKind() == '"' {
		name, err := d.ReadToken()
		if err != nil {
			return found
		}
		key := name.String()
		value, err := d.ReadValue()
		if err != nil {
			return found
		}
		found[key] = value.Clone()
	}
	return found
}

// text is the text of a JSON string, "" for anything else.
func text(raw jsontext.Value) string {
	if raw.Kind() != '"' {
		return ""
	}
	token, err := decoder(raw).ReadToken()
	if err != nil {
		return ""
	}
	return token.String()
}

// sameJSON reports whether two values are the same but for the order of members
// and white space.
func sameJSON(a, b jsontext.Value) bool {
	if bytes.Equal(a, b) {
		return true
	}
	x, y := a.Clone(), b.Clone()
	return len(a) > 0 && len(b) > 0 && x.Canonicalize() == nil && y.Canonicalize() == nil && bytes.Equal(x, y)
}
