package transcripts

import (
	"errors"
	"math"
	"strconv"

	"github.com/go-json-experiment/json/jsontext"
	"go.yaml.in/yaml/v3"
)

// What a body in YAML may be at most: a few aliases can stand for more text than
// any memory holds.
const (
	bodyNodes = 5_000_000
	bodyDepth = 1000
)

// jsonOf writes as JSON what a program took apart into YAML, keys in their
// order.
func jsonOf(n *yaml.Node) ([]byte, error) {
	w := &jsonWriter{left: bodyNodes}
	if err := w.node(n, 0); err != nil {
		return nil, err
	}
	return w.text, nil
}

type jsonWriter struct {
	text []byte
	left int // nodes
}

func (w *jsonWriter) node(n *yaml.Node, depth int) error {
	n = resolved(n)
	w.left--
	switch {
	case n == nil:
		return errors.New("has an alias of an alias")
	case w.left < 0 || depth > bodyDepth:
		return errors.New("is too large or too deep")
	}
	switch n.Kind {
	case yaml.MappingNode:
		w.text = append(w.text, '{')
		for i := 0; i+1 < len(n.Content); i += 2 {
			if i > 0 {
				w.text = append(w.text, ',')
			}
			w.text = append(appendQuote(w.text, n.Content[i].Value), ':')
			if err := w.node(n.Content[i+1], depth+1); err != nil {
				return err
			}
		}
		w.text = append(w.text, '}')
	case yaml.SequenceNode:
		w.text = append(w.text, '[')
		for i, child := range n.Content {
			if i > 0 {
				w.text = append(w.text, ',')
			}
			if err := w.node(child, depth+1); err != nil {
				return err
			}
		}
		w.text = append(w.text, ']')
	default:
		w.scalar(n)
	}
	return nil
}

// scalar writes a value as what YAML takes it for; a number that JSON does not
// have is a text.
func (w *jsonWriter) scalar(n *yaml.Node) {
	switch n.ShortTag() {
	case "!!null":
		w.text = append(w.text, "null"...)
		return
	case "!!bool":
		var truth bool
		if n.Decode(&truth) == nil {
			w.text = strconv.AppendBool(w.text, truth)
			return
		}
	case "!!int", "!!float":
		if value := jsontext.Value(n.Value); value.Kind() == '0' && value.IsValid() {
			w.text = append(w.text, n.Value...)
			return
		}
		var number float64
		if n.Decode(&number) == nil && !math.IsInf(number, 0) && !math.IsNaN(number) {
			w.text = strconv.AppendFloat(w.text, number, 'g', -1, 64)
			return
		}
	}
	w.text = appendQuote(w.text, n.Value)
}
