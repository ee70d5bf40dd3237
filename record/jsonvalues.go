package record

import (
	"bytes"

	"github.com/go-json-experiment/json/jsontext"
)

// jsonValue is a value inside a JSON text, and where its bytes stand there.
type jsonValue struct {
	pointer    string // JSON pointer
	start, end int
}

// valuesIn lists all values of a JSON text below its top, an object or array
// before what it holds, in the order of the text; of what is no JSON those
// before the fault that are complete.
func valuesIn(raw []byte) []jsonValue {
	var list []jsonValue
	var open []int // objects and arrays that have not ended, by their place in list
	dec := jsontext.NewDecoder(bytes.NewReader(raw), jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))
	for {
		kind, length := dec.StackIndex(dec.StackDepth())
		isName := kind == '{' && length%2 == 0
		next := dec.PeekKind()
		switch {
		case next == jsontext.KindInvalid:
			return complete(list)
		case isName && next == '"':
			if _, err := dec.ReadToken(); err != nil {
				return complete(list)
			}
		case next == '{' || next == '[':
			if _, err := dec.ReadToken(); err != nil {
				return complete(list)
			}
			open = append(open, len(list))
			list = append(list, jsonValue{start: int(dec.InputOffset()) - 1})
		case next == '}' || next == ']':
			if _, err := dec.ReadToken(); err != nil {
				return complete(list)
			}
			last := open[len(open)-1]
			open = open[:len(open)-1]
			list[last].pointer, list[last].end = string(dec.StackPointer()), int(dec.InputOffset())
		default:
			value, err := dec.ReadValue()
			if err != nil {
				return complete(list)
			}
			end := int(dec.InputOffset())
			list = append(list, jsonValue{string(dec.StackPointer()), end - len(value), end})
		}
	}
}

// complete drops values that have no end and the one at the top.
func complete(list []jsonValue) []jsonValue {
	whole := list[:0]
	for _, v := range list {
		if v.end > 0 && v.pointer != "" {
			whole = append(whole, v)
		}
	}
	return whole
}
