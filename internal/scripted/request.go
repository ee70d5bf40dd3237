package scripted

import (
	"bytes"
	"errors"
	"net/http"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// question is what the server reads of a request for an answer.
type question struct {
	body    []byte
	stream  bool
	usage   bool // chat completions: a last chunk with the tokens is wanted
	offered map[string]bool
}

// read takes from a body what decides the answer. A body that is no JSON
// object with a model in it is an error, as it is for a real server.
func read(body []byte) (question, error) {
	var raw struct {
		Model   string `json:"model"`
		Stream  bool   `json:"stream"`
		Options struct {
			Usage bool `json:"include_usage"`
		} `json:"stream_options"`
		Tools []struct {
			Name     string `json:"name"`
			Function struct {
				Name string `json:"name"`
			} `json:"function"`
		} `json:"tools"`
	}
	err := json.Unmarshal(body, &raw, jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))
	if err != nil {
		return question{}, errors.New("the body is no request: " + err.Error())
	}
	if raw.Model == "" {
		return question{}, errors.New("the request names no model")
	}
	q := question{body: body, stream: raw.Stream, usage: raw.Options.Usage, offered: map[string]bool{}}
	for _, tool := range raw.Tools {
		q.offered[tool.Name+tool.Function.Name] = true
	}
	return q, nil
}

// pick finds the reply to a request and the marker that led to it, "" for the
// default.
func (s *Server) pick(q question) (Reply, string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for i := len(s.script.Rules) - 1; i >= 0; i-- {
		rule := s.script.Rules[i]
		if !bytes.Contains(q.body, []byte(rule.Marker)) || !q.offers(rule.Reply.Calls) {
			continue
		}
		if rule.Reply.Times > 0 {
			if s.failed[i] == rule.Reply.Times {
				continue
			}
			s.failed[i]++
		}
		return rule.Reply, rule.Marker
	}
	return s.script.Default, ""
}

// offers reports whether a request offers the tools of all calls.
func (q question) offers(calls []Call) bool {
	for _, call := range calls {
		if !q.offered[call.Name] {
			return false
		}
	}
	return true
}

// failure is the error a client gets, in the form of its wire.
func failure(anthropic bool, status int, message string) object {
	kind := map[int]string{
		http.StatusUnauthorized: "authentication_error", http.StatusNotFound: "not_found_error", http.StatusTooManyRequests: "rate_limit_error",
	}[status]
	if kind == "" {
		kind = "invalid_request_error"
		if status >= 500 {
			kind = "api_error"
		}
	}
	if anthropic {
		return object{"type", "error", "error", object{"type", kind, "message", message}}
	}
	return object{"error", object{"message", message, "type", kind, "param", nil, "code", nil}}
}

// words cuts a text into the pieces in which it is streamed: each word with
// the space after it. No text has no pieces.
func words(text string) []string {
	return slices.DeleteFunc(strings.SplitAfter(text, " "), func(word string) bool { return word == "" })
}

// pieces cuts the text of arguments into pieces of n bytes or a little less,
// never inside a character. n 0 leaves it whole.
func pieces(text string, n int) []string {
	if n <= 0 || len(text) <= n {
		return []string{text}
	}
	var cut []string
	piece := ""
	for _, c := range text {
		if piece != "" && len(piece)+len(string(c)) > n {
			cut = append(cut, piece)
			piece = ""
		}
		piece += string(c)
	}
	return append(cut, piece)
}
