package transcripts

import (
	"bytes"
	"errors"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"
)

// The formats of cassettes, as Traffic.Format has them.
const (
	FormatGoVCR = "go-vcr" // versions 1 to 4
	FormatXVCR  = "x-vcr"  // charmbracelet/x/vcr: go-vcr 4, and few headers
	FormatVCRPy = "vcrpy"  // as YAML and as JSON
)

// OpenCassette reads the index of a cassette of go-vcr, x/vcr or vcrpy, in YAML
// or JSON; path is how messages name it, and data stays in use. An interaction
// that cannot be read is a warning. The error of a file that is no cassette is a
// *SyntaxError.
func OpenCassette(path string, data []byte) (*Traffic, error) {
	c := &cassette{traffic: &Traffic{Path: path, Word: "interaction"}, data: data}
	c.traffic.read = c.read
	text := bytes.TrimPrefix(data, []byte("\ufeff"))
	c.base = len(data) - len(text)
	found := false
	if trimmed := bytes.TrimLeft(text, " \t\r\n"); bytes.HasPrefix(trimmed, []byte("{")) {
		found = c.splitJSON(text)
	}
	if !found && !c.json {
		found = c.splitYAML(text)
		if len(c.items) == 0 && !c.empty {
			if err := c.loadWhole(); err != nil {
				return nil, &SyntaxError{File: path, Line: c.faultLine(err, 1), Msg: "is no cassette: " + yamlReason(err)}
			}
			found = c.listed
		}
	}
	if !found {
		return nil, &SyntaxError{File: path, Msg: "is no cassette: it has no list of interactions"}
	}
	c.index()
	return c.traffic, nil
}

// cassette is where the interactions of a file stand.
type cassette struct {
	traffic *Traffic
	data    []byte
	base    int    // of the text behind the byte order mark
	items   []item // of a file that could be split
	json    bool
	compact bool         // the list stands as far to the left as its name
	empty   bool         // there is a list without interactions
	whole   []*yaml.Node // the interactions of a file that had to be read whole; nil: it had not
	listed  bool         // reading it whole found a list
	failed  error        // of reading it whole
	tried   bool         // to read it whole
}

// item is the text of one interaction.
type item struct{ from, to, line int }

// index reads every interaction once.
func (c *cassette) index() {
	var took []time.Duration
	n := max(len(c.items), len(c.whole))
	for i := range n {
		line := c.lineOf(i)
		node, err := c.node(i)
		if err != nil {
			c.traffic.warn(i+1, c.faultLine(err, line), "%s", yamlReason(err))
			continue
		}
		e, duration, err := readInteraction(node)
		if err != nil {
			c.traffic.warn(i+1, line, "%s", err)
			continue
		}
		if c.traffic.Format == "" {
			c.traffic.Format = c.formatOf(node)
		}
		c.traffic.began(e.Response)
		e.Number, e.Line = i+1, line
		if i < len(c.items) {
			e.from, e.to = int64(c.items[i].from), int64(c.items[i].to)
		}
		c.traffic.Entries, took = append(c.traffic.Entries, e.TrafficIndex), append(took, duration)
	}
	if c.traffic.Format == "" {
		c.traffic.Format = FormatGoVCR
	}
	c.traffic.inSequence(took)
}

func (c *cassette) read(at TrafficIndex) (*TrafficEntry, error) {
	node, err := c.node(at.Number - 1)
	if err != nil {
		return nil, errors.New(yamlReason(err))
	}
	e, _, err := readInteraction(node)
	return e, err
}

func (c *cassette) lineOf(i int) int {
	if i < len(c.items) {
		return c.items[i].line
	}
	return c.whole[i].Line
}

// node parses one interaction. One that refers to another's text needs the whole
// file.
func (c *cassette) node(i int) (*yaml.Node, error) {
	if i >= len(c.items) {
		return c.whole[i], nil
	}
	text := c.data[c.items[i].from:c.items[i].to]
	if c.json {
		return jsonNode(text)
	}
	var document yaml.Node
	err := yaml.Unmarshal(text, &document)
	if err != nil && strings.Contains(err.Error(), "unknown anchor") {
		if err := c.loadWhole(); err == nil && i < len(c.whole) && len(c.whole) == len(c.items) {
			return c.whole[i], nil
		}
	}
	if err != nil {
		return nil, err
	}
	if len(document.Content) != 1 || document.Content[0].Kind != yaml.SequenceNode || len(document.Content[0].Content) != 1 {
		return nil, errors.New("it is no mapping of request and response")
	}
	return document.Content[0].Content[0], nil
}

// loadWhole reads all documents of the file.
func (c *cassette) loadWhole() error {
	if c.tried {
		return c.failed
	}
	c.tried = true
	decoder := yaml.NewDecoder(bytes.NewReader(c.data[c.base:]))
	for {
		var document yaml.Node
		if err := decoder.Decode(&document); err != nil {
			if err.Error() != "EOF" && c.whole == nil {
				c.failed = err
			}
			return c.failed
		}
		if len(document.Content) == 0 {
			continue
		}
		if list := valueIn(document.Content[0], "interactions"); list != nil && list.Kind == yaml.SequenceNode {
			c.listed = true
			for _, n := range list.Content {
				c.whole = append(c.whole, resolved(n))
			}
		}
	}
}

// formatOf tells the formats apart by an interaction: vcrpy has a uri where
// go-vcr has a url. x/vcr is go-vcr with another indentation, and keeps three
// headers.
func (c *cassette) formatOf(n *yaml.Node) string {
	request := valueIn(n, "request")
	if valueIn(request, "uri") != nil {
		return FormatVCRPy
	}
	if !c.compact || valueIn(n, "id") == nil {
		return FormatGoVCR
	}
	headers := valueIn(request, "headers")
	if headers == nil || len(headers.Content) == 0 {
		return FormatGoVCR
	}
	for _, list := range []*yaml.Node{headers, valueIn(valueIn(n, "response"), "headers")} {
		for name := range valuesIn(list) {
			if !slices.Contains(xvcrHeaders, strings.ToLower(name)) {
				return FormatGoVCR
			}
		}
	}
	return FormatXVCR
}

// xvcrHeaders are the headers that x/vcr keeps (its hooks.go).
var xvcrHeaders = []string{"accept", "content-type", "user-agent"}

var yamlPlace = regexp.MustCompile(`^(?:yaml: )?(?:line (\d+): )?`)

// yamlReason is what is wrong with a text, without the line, which counts from
// the beginning of the interaction.
func yamlReason(err error) string {
	text := err.Error()
	return strings.ReplaceAll(text[len(yamlPlace.FindString(text)):], "\n", " ")
}

// faultLine is the line of a fault in a text that begins at a line.
func (c *cassette) faultLine(err error, begins int) int {
	if m := yamlPlace.FindStringSubmatch(err.Error()); m[1] != "" && !c.json {
		n, _ := strconv.Atoi(m[1]) // digits
		return begins + max(n-1, 0)
	}
	return begins
}
