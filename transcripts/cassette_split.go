package transcripts

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"regexp"

	"github.com/go-json-experiment/json/jsontext"
	"go.yaml.in/yaml/v3"
)

// interactionsLine begins the list of interactions, a block sequence.
var interactionsLine = regexp.MustCompile(`^["']?interactions["']?\s*:\s*(?:&\S+\s*)?(?:#.*)?$`)

// emptyList is a list without interactions.
var emptyList = regexp.MustCompile(`^["']?interactions["']?\s*:\s*\[\s*\]`)

// splitYAML finds where each interaction stands, so that a file is never held
// whole as nodes and a fault in one interaction leaves the others. The items of a
// block sequence begin with a dash in one and the same column, and no line within
// one can stand there (YAML 1.2, 8.2.1).
func (c *cassette) splitYAML(text []byte) (found bool) {
	s := &yamlSplitter{cassette: c}
	at, number := 0, 0
	for at < len(text) {
		end := len(text)
		if n := bytes.IndexByte(text[at:], '\n'); n >= 0 {
			end = at + n + 1
		}
		number++
		s.line(bytes.TrimRight(text[at:end], "\r\n"), c.base+at, number)
		at = end
	}
	s.close(c.base + len(text))
	return s.found
}

type yamlSplitter struct {
	cassette *cassette
	found    bool
	inList   bool
	indent   int // of the dashes; -1: no item yet
	open     bool
}

// line takes one line, which begins at an offset of the file.
func (s *yamlSplitter) line(line []byte, at, number int) {
	bare := bytes.TrimLeft(line, " ")
	indent := len(line) - len(bare)
	switch {
	case !s.inList:
		if indent == 0 && interactionsLine.Match(line) {
			s.found, s.inList, s.indent = true, true, -1
		} else if indent == 0 && emptyList.Match(line) {
			s.found, s.cassette.empty = true, true
		}
	case len(bare) == 0, bare[0] == '#' && (s.indent < 0 || indent <= s.indent):
	case isDash(bare) && (s.indent < 0 || indent == s.indent):
		s.close(at)
		if s.indent < 0 {
			s.cassette.compact = indent == 0
		}
		s.indent, s.open = indent, true
		s.cassette.items = append(s.cassette.items, item{from: at, line: number})
	case s.indent < 0 || indent <= s.indent:
		s.close(at)
		s.inList = false
		if indent == 0 && interactionsLine.Match(line) {
			s.inList, s.indent = true, -1
		}
	}
}

func isDash(bare []byte) bool {
	return bare[0] == '-' && (len(bare) == 1 || bare[1] == ' ')
}

// close ends the interaction that is open.
func (s *yamlSplitter) close(at int) {
	if s.open {
		s.cassette.items[len(s.cassette.items)-1].to = at
		s.open = false
	}
}

// splitJSON does the same for JSON, as vcrpy writes it. What follows a fault
// cannot be read.
func (c *cassette) splitJSON(text []byte) (found bool) {
	dec := jsontext.NewDecoder(bytes.NewReader(text), harJSON...)
	err := c.walkJSON(dec, &found)
	if found {
		c.json = true
		c.countLines()
	}
	if found && err != nil && !errors.Is(err, io.EOF) {
		c.traffic.Torn = &SyntaxError{File: c.traffic.Path, Line: 1 + bytes.Count(text[:min(int(harOffset(err)), len(text))], []byte("\n")),
			Msg: fmt.Sprintf("breaks off in interaction %d: %s; no later one can be read", len(c.items)+1, harReason(err))}
	}
	return found
}

func (c *cassette) walkJSON(dec *jsontext.Decoder, found *bool) error {
	if _, err := dec.ReadToken(); err != nil {
		return err
	}
	for dec.PeekKind() == '"' {
		name, err := dec.ReadToken()
		if err != nil {
			return err
		}
		if name.String() != "interactions" || dec.PeekKind() != '[' {
			if err := dec.SkipValue(); err != nil {
				return err
			}
			continue
		}
		*found, c.empty = true, true
		if _, err := dec.ReadToken(); err != nil {
			return err
		}
		for dec.PeekKind() != ']' {
			raw, err := dec.ReadValue()
			if err != nil {
				return err
			}
			to := c.base + int(dec.InputOffset())
			c.items = append(c.items, item{from: to - len(raw), to: to})
		}
		if _, err := dec.ReadToken(); err != nil {
			return err
		}
	}
	_, err := dec.ReadToken()
	return err
}

// countLines gives the items of a JSON file their lines.
func (c *cassette) countLines() {
	line, at := 1, 0
	for i := range c.items {
		line += bytes.Count(c.data[at:c.items[i].from], []byte("\n"))
		c.items[i].line, at = line, c.items[i].from
	}
}

// jsonNode reads JSON as YAML nodes: YAML is said to hold JSON, but its reader
// does not take the escapes of JSON.
func jsonNode(text []byte) (*yaml.Node, error) {
	dec := jsontext.NewDecoder(bytes.NewReader(text), harJSON...)
	return nextNode(dec)
}

func nextNode(dec *jsontext.Decoder) (*yaml.Node, error) {
	token, err := dec.ReadToken()
	if err != nil {
		return nil, errors.New(harReason(err))
	}
	switch token.Kind() {
	case '{', '[':
		n := &yaml.Node{Kind: yaml.MappingNode, Tag: "!!map"}
		if token.Kind() == '[' {
			n.Kind, n.Tag = yaml.SequenceNode, "!!seq"
		}
		for dec.PeekKind() != '}' && dec.PeekKind() != ']' {
			child, err := nextNode(dec)
			if err != nil {
				return nil, err
			}
			n.Content = append(n.Content, child)
		}
		_, err := dec.ReadToken()
		return n, err
	case '"':
		return &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Value: token.String()}, nil
	case 'n':
		return &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!null", Value: "null"}, nil
	case '0':
		return &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!float", Value: token.String()}, nil
	default:
		return &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!bool", Value: token.String()}, nil
	}
}
