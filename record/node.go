package record

import (
	"bytes"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
)

// node is one JSON value, in a form that two of can be walked side by side.
type node struct {
	kind    jsontext.Kind
	text    string // a string's value, a number's digits
	members []member
	elems   []*node
}

type member struct {
	name  string
	value *node
}

// parseNode reads one JSON value strictly; an error is a *jsontext error.
func parseNode(raw []byte) (*node, error) {
	dec := jsontext.NewDecoder(bytes.NewReader(raw))
	n, err := readNode(dec)
	if err != nil {
		return nil, err
	}
	if _, err := dec.ReadToken(); err != io.EOF {
		return nil, fmt.Errorf("read JSON value: data after its end")
	}
	return n, nil
}

func readNode(dec *jsontext.Decoder) (*node, error) {
	token, err := dec.ReadToken()
	if err != nil {
		return nil, err
	}
	n := &node{kind: token.Kind()}
	switch n.kind {
	case jsontext.KindString, jsontext.KindNumber:
		n.text = token.String()
	case jsontext.KindBeginObject:
		return n, n.readMembers(dec)
	case jsontext.KindBeginArray:
		return n, n.readElems(dec)
	}
	return n, nil
}

func (n *node) readMembers(dec *jsontext.Decoder) error {
	for dec.PeekKind() != jsontext.KindEndObject {
		name, err := dec.ReadToken()
		if err != nil {
			return err
		}
		key := name.String()
		value, err := readNode(dec)
		if err != nil {
			return err
		}
		n.members = append(n.members, member{key, value})
	}
	_, err := dec.ReadToken()
	return err
}

func (n *node) readElems(dec *jsontext.Decoder) error {
	for dec.PeekKind() != jsontext.KindEndArray {
		value, err := readNode(dec)
		if err != nil {
			return err
		}
		n.elems = append(n.elems, value)
	}
	_, err := dec.ReadToken()
	return err
}

// member returns the value of the named member, or nil.
func (n *node) member(name string) *node {
	for _, m := range n.members {
		if m.name == name {
			return m.value
		}
	}
	return nil
}

// isScalarEqual reports whether two values that are no objects or arrays are
// the same value; 1.0 is 1.
func (n *node) isScalarEqual(other *node) bool {
	if n.text == other.text || n.kind != jsontext.KindNumber {
		return n.text == other.text
	}
	a, aerr := strconv.ParseFloat(n.text, 64)
	b, berr := strconv.ParseFloat(other.text, 64)
	return aerr == nil && berr == nil && a == b
}

// show writes the value for a person: strings quoted, the rest as JSON.
func (n *node) show() string {
	var b strings.Builder
	n.write(&b)
	return b.String()
}

func (n *node) write(b *strings.Builder) {
	switch n.kind {
	case jsontext.KindString:
		quoted, _ := jsontext.AppendQuote(nil, n.text) // errs only on bad UTF-8, which no decoded value holds
		b.Write(quoted)
	case jsontext.KindNumber:
		b.WriteString(n.text)
	case jsontext.KindNull:
		b.WriteString("null")
	case jsontext.KindTrue:
		b.WriteString("true")
	case jsontext.KindFalse:
		b.WriteString("false")
	case jsontext.KindBeginObject:
		b.WriteByte('{')
		for i, m := range n.members {
			if i > 0 {
				b.WriteByte(',')
			}
			(&node{kind: jsontext.KindString, text: m.name}).write(b)
			b.WriteByte(':')
			m.value.write(b)
		}
		b.WriteByte('}')
	case jsontext.KindBeginArray:
		b.WriteByte('[')
		for i, e := range n.elems {
			if i > 0 {
				b.WriteByte(',')
			}
			e.write(b)
		}
		b.WriteByte(']')
	}
}

// pointer appends one step to a JSON pointer.
func pointer(base, step string) string {
	return base + "/" + strings.NewReplacer("~", "~0", "/", "~1").Replace(step)
}

// textAt is the string or number that members and positions lead to; "" when
// there is none.
func (n *node) textAt(steps ...string) string {
	for _, step := range steps {
		if n == nil {
			return ""
		}
		if at, err := strconv.Atoi(step); err == nil && n.kind == jsontext.KindBeginArray {
			if at >= len(n.elems) {
				return ""
			}
			n = n.elems[at]
			continue
		}
		n = n.member(step)
	}
	if n == nil {
		return ""
	}
	return n.text
}
