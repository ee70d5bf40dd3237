package runtime

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"fmt"
	"io"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"
	"go.yaml.in/yaml/v3"
	"gotest.tools/v3/assert"
)

const corpus = "../../shared/data"

// understood is one row of testdata/understood.json, which
// testdata/understand.py wrote without any of our code: what one recorded
// response says. Texts stand as LENGTH:HASH.
type understood struct {
	Status    int         `json:"status"`
	Outcome   string      `json:"outcome"` // "answer" or the Kind of an UpstreamError
	Text      string      `json:"text"`
	Usage     [4]int      `json:"usage"` // input, output, cached, reasoning
	Finish    string      `json:"finish"`
	Model     string      `json:"model"`
	Reasoning string      `json:"reasoning"`
	Refusal   string      `json:"refusal"`
	Calls     [][3]string `json:"calls"` // id, name, arguments
}

// TestRecordedResponsesAreUnderstood holds the decoder against what an
// independent program understood of the cassettes of ten projects.
func TestRecordedResponsesAreUnderstood(t *testing.T) {
	index, err := os.ReadFile(filepath.Join(corpus, "INDEX.md"))
	if err != nil {
		t.Skipf("no recorded responses at %s", corpus)
	}
	data, err := os.ReadFile("testdata/understood.json")
	assert.NilError(t, err)
	var table map[string][]understood
	assert.NilError(t, json.Unmarshal(data, &table, json.RejectUnknownMembers(true)))
	files := listedExchanges(string(index))
	assert.Equal(t, len(files), len(table))
	exchanges := 0
	for _, file := range files {
		t.Run(file, func(t *testing.T) {
			var got []understood
			for _, r := range recordedResponses(t, filepath.Join(corpus, file)) {
				got = append(got, understand(t, r))
			}
			assert.DeepEqual(t, got, table[file])
			exchanges += len(got)
		})
	}
	t.Logf("%d responses of %d files", exchanges, len(files))
}

// listedExchanges returns the files that the index calls exchanges of chat
// completions.
func listedExchanges(index string) []string {
	var files []string
	for line := range strings.Lines(index) {
		cells := strings.Split(line, "|")
		if len(cells) < 6 {
			continue
		}
		if kind := strings.TrimSpace(cells[4]); kind == "exchange" || kind == "exchange-body" {
			files = append(files, strings.Trim(strings.TrimSpace(cells[1]), "`"))
		}
	}
	return files
}

func understand(t *testing.T, r *Response) understood {
	a, err := Decode(r, Dialect{})
	if err != nil {
		up, ok := asUpstream(err)
		assert.Assert(t, ok, "%v", err)
		return understood{Status: r.Status, Outcome: up.Kind, Text: marked(up.Partial), Usage: usageRow(up.Usage)}
	}
	checkMessage(t, a)
	members, err := membersOf(a.Message.Raw)
	assert.NilError(t, err)
	reasoning, _ := textOf(memberOf(members, "reasoning_content"))
	other, _ := textOf(memberOf(members, "reasoning"))
	row := understood{
		Status: r.Status, Outcome: "answer", Text: marked(a.Message.Content), Usage: usageRow(a.Usage), Finish: a.Finish,
		Model: marked(a.Model), Reasoning: marked(reasoning + other), Refusal: marked(a.Refusal), Calls: [][3]string{},
	}
	for _, c := range a.Message.Calls {
		row.Calls = append(row.Calls, [3]string{marked(c.ID), marked(c.Name), marked(c.Arguments)})
	}
	return row
}

func usageRow(u Usage) [4]int { return [4]int{u.Input, u.Output, u.Cached, u.Reasoning} }

// marked stands for a text: its length in bytes and the head of its hash.
func marked(text string) string {
	sum := sha256.Sum256([]byte(text))
	return fmt.Sprintf("%d:%x", len(text), sum[:6])
}

// recordedResponses reads the responses of one file: a go-vcr or vcrpy
// cassette, an httprr trace, or a body alone.
func recordedResponses(t *testing.T, file string) []*Response {
	data, err := os.ReadFile(file)
	assert.NilError(t, err)
	switch {
	case strings.HasSuffix(file, ".yaml"):
		return cassetteResponses(t, data)
	case strings.HasSuffix(file, ".httprr"):
		return traceResponses(t, data)
	case strings.HasSuffix(file, ".chunks.txt"):
		var stream []byte
		for line := range bytes.Lines(data) {
			if line = bytes.TrimSpace(line); len(line) > 0 {
				stream = fmt.Appendf(stream, "data: %s\n\n", line)
			}
		}
		return []*Response{{Status: 200, Body: stream, Stream: true, End: EndEOF}}
	default:
		return []*Response{{Status: 200, Body: data, Stream: strings.HasSuffix(file, ".sse"), End: EndEOF}}
	}
}

func cassetteResponses(t *testing.T, data []byte) []*Response {
	return responsesTo(t, data, func(address string) bool { return isChat(t, address) })
}

// responsesTo returns the responses of a cassette to requests for the addresses
// that are wanted.
func responsesTo(t *testing.T, data []byte, wanted func(address string) bool) []*Response {
	var cassette struct {
		Interactions []struct {
			Request struct {
				URL string `yaml:"url"` // go-vcr
				URI string `yaml:"uri"` // vcrpy
			}
			Response struct {
				Code   int       // go-vcr
				Status yaml.Node // vcrpy: a map with code; go-vcr: a text
				Body   yaml.Node // go-vcr: a text; vcrpy: a map with string
				Parsed any       `yaml:"parsed_body"`
			}
		}
	}
	assert.NilError(t, yaml.Unmarshal(data, &cassette))
	var found []*Response
	for _, one := range cassette.Interactions {
		if !wanted(one.Request.URL + one.Request.URI) {
			continue
		}
		r := &Response{Status: one.Response.Code, End: EndEOF}
		var body string
		if r.Status == 0 {
			var status struct{ Code int }
			assert.NilError(t, one.Response.Status.Decode(&status))
			r.Status = status.Code
		}
		switch {
		case one.Response.Parsed != nil:
			parsed, err := json.Marshal(one.Response.Parsed)
			assert.NilError(t, err)
			body = string(parsed)
		case one.Response.Body.Kind == yaml.MappingNode:
			var vcrpy struct{ String string }
			assert.NilError(t, one.Response.Body.Decode(&vcrpy))
			body = vcrpy.String
		default:
			assert.NilError(t, one.Response.Body.Decode(&body))
		}
		r.Body = unzipped(t, []byte(body))
		found = append(found, r)
	}
	return found
}

// traceResponses reads an httprr trace: a line, then for each exchange the two
// lengths, the request and the response as they went over the wire.
func traceResponses(t *testing.T, data []byte) []*Response {
	var found []*Response
	_, rest, _ := bytes.Cut(data, []byte("\n"))
	for len(rest) > 0 {
		lengths, after, _ := bytes.Cut(rest, []byte("\n"))
		var sent, received int
		_, err := fmt.Sscanf(string(lengths), "%d %d", &sent, &received)
		assert.NilError(t, err)
		request, response := after[:sent], after[sent:sent+received]
		rest = after[sent+received:]
		if !isChat(t, strings.Fields(string(request))[1]) {
			continue
		}
		head, body, _ := bytes.Cut(response, []byte("\r\n\r\n"))
		status, err := strconv.Atoi(strings.Fields(string(head))[1])
		assert.NilError(t, err)
		assert.Assert(t, !bytes.Contains(bytes.ToLower(head), []byte("transfer-encoding")))
		found = append(found, &Response{Status: status, Body: unzipped(t, body), End: EndEOF})
	}
	return found
}

func isChat(t *testing.T, address string) bool {
	u, err := url.Parse(address)
	assert.NilError(t, err)
	return strings.HasSuffix(u.Path, "chat/completions")
}

func unzipped(t *testing.T, body []byte) []byte {
	if !bytes.HasPrefix(body, []byte("\x1f\x8b")) {
		return body
	}
	z, err := gzip.NewReader(bytes.NewReader(body))
	assert.NilError(t, err)
	body, err = io.ReadAll(z)
	assert.NilError(t, err)
	return body
}
