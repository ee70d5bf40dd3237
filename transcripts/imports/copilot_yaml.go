package imports

import (
	"bytes"
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
	"go.yaml.in/yaml/v3"
)

// yamlTries is how often a YAML text that breaks off is cut further back.
const yamlTries = 16

// parseYAML reads a YAML text. Of one that breaks off, or is no YAML from some
// line on, what stands before the list item in which that happens is read; line
// and fault say so then.
func parseYAML(data []byte) (root *yaml.Node, line int, fault string, err error) {
	for range yamlTries {
		var document yaml.Node
		broken := yaml.Unmarshal(data, &document)
		if broken == nil {
			if len(document.Content) == 0 {
				return nil, 0, "", errors.New("it is empty")
			}
			return document.Content[0], line, fault, nil
		}
		at := yamlLine(broken)
		if err == nil {
			err, line = broken, at
			fault = fmt.Sprintf("no YAML from here on (%s); what stands before was read", strings.TrimPrefix(broken.Error(), "yaml: "))
		}
		if data = beforeItem(data, at); data == nil {
			break
		}
	}
	return nil, line, "", err
}

var lineOfError = regexp.MustCompile(`line (\d+)`)

// yamlLine is the line that an error names, 0 for none.
func yamlLine(err error) int {
	found := lineOfError.FindStringSubmatch(err.Error())
	if found == nil {
		return 0
	}
	line, _ := strconv.Atoi(found[1])
	return line
}

// beforeItem cuts a text before the last list item that begins before the given
// line (0: at all); nil when there is none.
func beforeItem(data []byte, line int) []byte {
	end := len(data)
	if line > 0 {
		for at, n := 0, 1; at < len(data); n++ {
			if n > line {
				end = at
				break
			}
			next := bytes.IndexByte(data[at:], '\n')
			if next < 0 {
				break
			}
			at += next + 1
		}
	}
	for end > 0 {
		start := bytes.LastIndexByte(data[:end-1], '\n') + 1
		if bytes.HasPrefix(bytes.TrimLeft(data[start:end], " "), []byte("- ")) && start > 0 {
			return data[:start]
		}
		end = start
	}
	return nil
}

// jsonOf writes a YAML node as JSON: what is no JSON number, truth or null is a
// string. Its size is bounded: names that stand for others can make much of
// little.
func jsonOf(node *yaml.Node, limit int) (jsontext.Value, error) {
	w := yamlWriter{limit: limit}
	if err := w.node(node, 0); err != nil {
		return nil, err
	}
	return w.out, nil
}

type yamlWriter struct {
	out   jsontext.Value
	limit int
}

var errYAMLSize = errors.New("its names stand for too much")

// yamlDepth bounds how deep nodes may stand in each other; JSON readers have the
// like.
const yamlDepth = 1000

func (w *yamlWriter) node(n *yaml.Node, depth int) error {
	if len(w.out) > w.limit || depth > yamlDepth {
		return errYAMLSize
	}
	switch n.Kind {
	case yaml.AliasNode:
		return w.node(n.Alias, depth+1)
	case yaml.MappingNode:
		w.out = append(w.out, '{')
		for i := 0; i+1 < len(n.Content); i += 2 {
			if i > 0 {
				w.out = append(w.out, ',')
			}
			w.text(n.Content[i].Value)
			w.out = append(w.out, ':')
			if err := w.node(n.Content[i+1], depth+1); err != nil {
				return err
			}
		}
		w.out = append(w.out, '}')
	case yaml.SequenceNode:
		w.out = append(w.out, '[')
		for i, element := range n.Content {
			if i > 0 {
				w.out = append(w.out, ',')
			}
			if err := w.node(element, depth+1); err != nil {
				return err
			}
		}
		w.out = append(w.out, ']')
	default:
		w.scalar(n)
	}
	return nil
}

func (w *yamlWriter) scalar(n *yaml.Node) {
	value := jsontext.Value(n.Value)
	switch n.Tag {
	case "!!null":
		w.out = append(w.out, "null"...)
		return
	case "!!bool", "!!int", "!!float":
		if kind := value.Kind(); value.IsValid() && (kind == '0' || kind == 't' || kind == 'f') {
			w.out = append(w.out, value...)
			return
		}
	}
	w.text(n.Value)
}

func (w *yamlWriter) text(s string) {
	w.out, _ = jsontext.AppendQuote(w.out, s) // an error only tells of U+FFFD put in
}

// field returns the value of a member of a mapping, nil if it has none.
func field(n *yaml.Node, name string) *yaml.Node {
	if n == nil || n.Kind != yaml.MappingNode {
		return nil
	}
	for i := 0; i+1 < len(n.Content); i += 2 {
		if n.Content[i].Value == name {
			return n.Content[i+1]
		}
	}
	return nil
}
