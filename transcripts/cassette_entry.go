package transcripts

import (
	"bytes"
	"encoding/base64"
	"errors"
	"fmt"
	"iter"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"
)

// readInteraction reads one interaction of a cassette, and how long it took; 0
// where that is not said.
func readInteraction(n *yaml.Node) (*TrafficEntry, time.Duration, error) {
	request, response := valueIn(n, "request"), valueIn(n, "response")
	switch {
	case n == nil || n.Kind != yaml.MappingNode:
		return nil, 0, errors.New("it is no mapping of request and response")
	case request == nil || request.Kind != yaml.MappingNode:
		return nil, 0, errors.New("it has no request")
	}
	e := &TrafficEntry{Header: headerIn(valueIn(request, "headers")), Response: http.Header{}}
	address := valueIn(request, "uri")
	if address == nil {
		address = valueIn(request, "url")
	}
	var err error
	if e.URL, err = url.Parse(scalar(address)); err != nil || e.URL.Host == "" {
		return nil, 0, errors.New("its request has no url that can be read") // the text of the url may hold a key
	}
	if e.Method = strings.ToUpper(strings.TrimSpace(scalar(valueIn(request, "method")))); e.Method == "" {
		return nil, 0, errors.New("its request has no method")
	}
	if e.Body, err = bodyIn(request); err != nil {
		return nil, 0, fmt.Errorf("%s: the body of its request %w", e.Name(), err)
	}
	e.NoBody = len(e.Body) == 0 && statedLength(request, e.Header) > 0
	plainCoding(e.Header, e.Body)
	if response == nil || response.Kind != yaml.MappingNode {
		return nil, 0, fmt.Errorf("%s: it has no response", e.Name())
	}
	if err := e.readReply(response); err != nil {
		return nil, 0, fmt.Errorf("%s: %w", e.Name(), err)
	}
	took := durationIn(valueIn(response, "duration"))
	e.Wait = took
	return e, took, nil
}

// readReply reads the response.
func (e *TrafficEntry) readReply(response *yaml.Node) error {
	status := valueIn(response, "status")
	code := scalar(valueIn(response, "code"))
	if code == "" {
		code = scalar(valueIn(status, "code"))
	}
	if code == "" {
		code, _, _ = strings.Cut(scalar(status), " ") // "200 OK"
	}
	n, err := strconv.ParseFloat(code, 64)
	if err != nil || n < 100 || n > 999 {
		return errors.New("its response has no status code that can be read")
	}
	e.Status, e.Response = int(n), headerIn(valueIn(response, "headers"))
	if e.Content, err = bodyIn(response); err != nil {
		return fmt.Errorf("the body of its response %w", err)
	}
	if len(e.Content) == 0 && e.Status != http.StatusNoContent && e.Method != http.MethodHead {
		e.Lost = statedLength(response, e.Response)
	}
	finishReply(e)
	return nil
}

// finishReply takes out of a response what is not true of its body any more,
// and says what the body is where nothing else does.
func finishReply(e *TrafficEntry) {
	plainCoding(e.Response, e.Content)
	e.Response.Del("Content-Length")
	e.Response.Del("Transfer-Encoding")
	if kind := e.Response.Get("Content-Type"); strings.Contains(kind, "/") {
		return
	}
	start := bytes.TrimLeft(e.Content, " \r\n")
	switch {
	case len(start) == 0:
	case start[0] == '{' || start[0] == '[':
		e.Response.Set("Content-Type", "application/json")
	case bytes.HasPrefix(start, []byte("data:")), bytes.HasPrefix(start, []byte("event:")), bytes.HasPrefix(start, []byte("id:")), start[0] == ':':
		e.Response.Set("Content-Type", "text/event-stream")
	}
}

// plainCoding takes out of a header that its body is coded, where it is not:
// most programs decode it before they write it down.
func plainCoding(h http.Header, body []byte) {
	if utf8.Valid(body) {
		h.Del("Content-Encoding")
	}
}

// bodyIn reads a body: a text, a text in base64, or what a program took it apart
// into, as YAML.
func bodyIn(of *yaml.Node) ([]byte, error) {
	if parsed := valueIn(of, "parsed_body"); parsed != nil && parsed.Tag != "!!null" {
		return jsonOf(parsed)
	}
	body := valueIn(of, "body")
	switch {
	case body == nil || body.Tag == "!!null":
		if text := scalar(valueIn(of, "base64_body")); text != "" {
			return decode64(text)
		}
		return nil, nil
	case body.Kind == yaml.ScalarNode:
		return bytesIn(body)
	case body.Kind != yaml.MappingNode:
		return jsonOf(body)
	}
	if text := valueIn(body, "base64_string"); text != nil && text.Tag != "!!null" {
		return decode64(text.Value)
	}
	text := valueIn(body, "string")
	switch {
	case text == nil && len(body.Content) > 0 && valueIn(body, "encoding") == nil:
		return jsonOf(body)
	case text == nil || text.Tag == "!!null":
		return nil, nil
	case text.Kind != yaml.ScalarNode:
		return jsonOf(text)
	case strings.EqualFold(scalar(valueIn(body, "encoding")), "base64"):
		return decode64(text.Value)
	}
	return bytesIn(text)
}

// bytesIn is the text of a scalar, decoded where YAML says that it is binary.
func bytesIn(n *yaml.Node) ([]byte, error) {
	if n.Tag == "!!binary" || strings.HasSuffix(n.Tag, "python/bytes") {
		return decode64(n.Value)
	}
	return []byte(n.Value), nil
}

func decode64(text string) ([]byte, error) {
	text = strings.NewReplacer("\r", "", "\n", "", " ", "", "\t", "").Replace(text)
	data, err := base64.RawStdEncoding.DecodeString(strings.TrimRight(text, "="))
	if err != nil {
		return nil, errors.New("is no base64 although it says so")
	}
	return data, nil
}

// statedLength is how long a body was, as far as anything says it.
func statedLength(of *yaml.Node, h http.Header) int64 {
	for _, text := range []string{scalar(valueIn(of, "content_length")), h.Get("Content-Length")} {
		if n, err := strconv.ParseInt(strings.TrimSpace(text), 10, 64); err == nil && n > 0 {
			return n
		}
	}
	return 0
}

// durationIn reads a duration as Go writes it, or nanoseconds.
func durationIn(n *yaml.Node) time.Duration {
	text := scalar(n)
	d, err := time.ParseDuration(text)
	if ns, numberErr := strconv.ParseInt(text, 10, 64); numberErr == nil {
		d, err = time.Duration(ns), nil
	}
	if err != nil || d < 0 || d > longest {
		return 0
	}
	return d
}

// headerIn reads headers, each with one value or a list of them.
func headerIn(n *yaml.Node) http.Header {
	h := http.Header{}
	for name, value := range valuesIn(n) {
		if name = strings.TrimSpace(name); name == "" || name[0] == ':' {
			continue
		}
		values := []*yaml.Node{value}
		if value.Kind == yaml.SequenceNode {
			values = value.Content
		}
		for _, v := range values {
			h.Add(name, strings.TrimSpace(strings.NewReplacer("\r", "", "\n", " ").Replace(scalar(resolved(v)))))
		}
	}
	return h
}

// resolved follows an alias. Nodes cannot name themselves through several: the
// YAML reader sees to that.
func resolved(n *yaml.Node) *yaml.Node {
	for range 8 {
		if n == nil || n.Kind != yaml.AliasNode {
			return n
		}
		n = n.Alias
	}
	return nil
}

// scalar is the text of a scalar, "" of anything else.
func scalar(n *yaml.Node) string {
	if n == nil || n.Kind != yaml.ScalarNode || n.Tag == "!!null" {
		return ""
	}
	return n.Value
}

// valueIn is the value of a key, nil when there is none.
func valueIn(n *yaml.Node, name string) *yaml.Node {
	for key, value := range valuesIn(n) {
		if key == name {
			return value
		}
	}
	return nil
}

// valuesIn gives the keys of a mapping in their order.
func valuesIn(n *yaml.Node) iter.Seq2[string, *yaml.Node] {
	return func(yield func(string, *yaml.Node) bool) {
		if n = resolved(n); n == nil || n.Kind != yaml.MappingNode {
			return
		}
		for i := 0; i+1 < len(n.Content); i += 2 {
			if value := resolved(n.Content[i+1]); value != nil && !yield(n.Content[i].Value, value) {
				return
			}
		}
	}
}
