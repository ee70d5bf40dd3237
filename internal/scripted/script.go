// Package scripted is a model server whose answers are written down in a
// script. It speaks chat completions, Responses and Anthropic Messages, as
// JSON and as an event stream, so that clients and agents of any kind can be
// run for real without a model.
package scripted

import (
	"bytes"
	"errors"
	"fmt"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// Script says what the model answers. The last rule whose marker stands
// anywhere in the body of a request decides, unless its reply does not apply
// (see Reply); if none is left, Default is the answer. A marker that a reply
// itself brings into the conversation, in an argument or in its text, leads to
// the next rule, so a script is read from top to bottom.
type Script struct {
	Model   string // the one model of the server, "scripted" if empty
	Default Reply
	Rules   []Rule
}

// Rule is one line of a script.
type Rule struct {
	Marker string
	Reply  Reply
}

// Reply is one answer: text, calls, or both, or a failure.
//
// A reply with a call of a tool that the request does not offer does not
// apply: the request for a title, which holds the same prompt and no tools,
// gets the answer of an earlier rule. A failure applies Times times and then
// no more.
type Reply struct {
	Text  string `json:"text,omitzero"`
	Calls []Call `json:"calls,omitzero"`

	Status     int    `json:"status,omitzero"`      // a failure: 400 to 599
	Message    string `json:"message,omitzero"`     // of a failure; a text of ours if empty
	RetryAfter string `json:"retry-after,omitzero"` // of a failure: that header
	Times      int    `json:"times,omitzero"`       // of a failure: 0 for always
}

// Call is one tool call of a reply.
type Call struct {
	Name      string         `json:"name"`
	Arguments jsontext.Value `json:"arguments"` // an object, sent as it is written
}

// UnmarshalJSONFrom reads a reply, of which a bare string is the short form.
func (r *Reply) UnmarshalJSONFrom(d *jsontext.Decoder) error {
	if d.PeekKind() == '"' {
		return json.UnmarshalDecode(d, &r.Text)
	}
	type plain Reply
	return json.UnmarshalDecode(d, (*plain)(r))
}

// UnmarshalJSONFrom reads a rule: a list of marker and reply.
func (r *Rule) UnmarshalJSONFrom(d *jsontext.Decoder) error {
	if d.PeekKind() != '[' {
		return errNoRule
	}
	if _, err := d.ReadToken(); err != nil {
		return err
	}
	for _, part := range []any{&r.Marker, &r.Reply} {
		if d.PeekKind() == ']' {
			return errNoRule
		}
		if err := json.UnmarshalDecode(d, part); err != nil {
			return err
		}
	}
	if end, err := d.ReadToken(); err != nil || end.Kind() != ']' {
		return errNoRule
	}
	return nil
}

var errNoRule = errors.New("a rule is a list of two: [marker, reply]")

// ParseScript reads a script file:
//
//	{"model":"scripted","default":"Nothing to do.","rules":[
//	  ["FIRSTJOB",{"calls":[{"name":"read_file","arguments":{"path":"notes-one.txt"}}]}],
//	  ["notes-one.txt","The notes say hello."],
//	  ["BUSYJOB",{"status":429,"retry-after":"1","times":1}]]}
//
// An error names the file and what is wrong: the JSON with its place, a rule
// with its number, counted from 1.
func ParseScript(name string, data []byte) (*Script, error) {
	var raw struct {
		Model   string `json:"model"`
		Default Reply  `json:"default"`
		Rules   []Rule `json:"rules"`
	}
	err := json.Unmarshal(data, &raw, json.RejectUnknownMembers(true))
	if err != nil {
		return nil, fmt.Errorf("%s:%d: %w", name, lineOf(data, err), err)
	}
	s := Script(raw)
	if s.Model == "" {
		s.Model = "scripted"
	}
	if err := s.Default.check(); err != nil {
		return nil, fmt.Errorf("%s: default: %w", name, err)
	}
	if s.Default.Status != 0 || len(s.Default.Calls) > 0 {
		return nil, fmt.Errorf("%s: default: must be a text, it is what remains when no rule applies", name)
	}
	for i, rule := range s.Rules {
		if err := rule.check(); err != nil {
			return nil, fmt.Errorf("%s: rule %d: %w", name, i+1, err)
		}
	}
	return &s, nil
}

// lineOf gives the line of data at which decoding failed.
func lineOf(data []byte, err error) int {
	offset := int64(0)
	var syntax *jsontext.SyntacticError
	var semantic *json.SemanticError
	switch {
	case errors.As(err, &syntax):
		offset = syntax.ByteOffset
	case errors.As(err, &semantic):
		offset = semantic.ByteOffset
	}
	return 1 + bytes.Count(data[:min(offset, int64(len(data)))], []byte("\n"))
}

// escaped are the characters that one JSON writer or another writes as an
// escape, so that a marker with one is not found in a request as it came.
const escaped = "\"\\/<>&"

func (r Rule) check() error {
	if r.Marker == "" {
		return errors.New("the marker is empty")
	}
	for _, c := range r.Marker {
		if c < ' ' || c > '~' || strings.ContainsRune(escaped, c) {
			return fmt.Errorf("the marker %q holds %q, which a request may hold as an escape", r.Marker, c)
		}
	}
	return r.Reply.check()
}

func (r Reply) check() error {
	failure := r.Message != "" || r.RetryAfter != "" || r.Times != 0
	switch {
	case r.Status == 0 && failure:
		return errors.New("message, retry-after and times need a status")
	case r.Status != 0 && (r.Status < 400 || r.Status > 599):
		return fmt.Errorf("status %d is no failure, 400 to 599 are", r.Status)
	case r.Status != 0 && (r.Text != "" || len(r.Calls) > 0):
		return errors.New("a reply with a status has no text and no calls")
	case r.Times < 0:
		return fmt.Errorf("times is %d, must be positive", r.Times)
	}
	for i, call := range r.Calls {
		if call.Name == "" {
			return fmt.Errorf("call %d has no name", i+1)
		}
		if call.Arguments.Kind() != '{' {
			return fmt.Errorf("call %d: arguments must be an object", i+1)
		}
	}
	return nil
}
