package runtime

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/go-json-experiment/json/jsontext"
)

// Model answers one request, once: no try of its own, no state between calls.
// Complete may be called from several goroutines.
//
// A fault of the upstream is an *UpstreamError, and the loop decides whether to
// try again. Any other error is a fault of ours (a replay miss, a full disk):
// it ends the whole session, parent and children, and reaches the caller.
type Model interface {
	Complete(ctx context.Context, req *Request) (*Answer, error)
}

// Request is what one agent asks its model at one place.
type Request struct {
	Place    Place
	Model    string
	Messages View           // the whole list, the system message first
	Tools    jsontext.Value // the JSON array of tool definitions; nil for none
	Params   []Param        // further members, in the order they are sent
	Stream   bool           // ask for server-sent events, with usage
}

// Param is one further member of a request body, such as temperature.
type Param struct {
	Name  string
	Value jsontext.Value
}

// Body returns the canonical bytes of the request: model, messages, tools,
// params, stream, in this order, every message as its Raw.
func (r *Request) Body() []byte {
	size := 256 + len(r.Tools)
	for _, m := range r.Messages.messages {
		size += len(m.Raw) + 1
	}
	body := make([]byte, 0, size)
	body = append(append(body, `{"model":`...), quote(r.Model)...)
	body = append(body, `,"messages":[`...)
	for i, m := range r.Messages.messages {
		if i > 0 {
			body = append(body, ',')
		}
		body = append(body, m.Raw...)
	}
	body = append(body, ']')
	if len(r.Tools) > 0 {
		body = append(append(body, `,"tools":`...), r.Tools...)
	}
	for _, p := range r.Params {
		body = append(append(body, ','), quote(p.Name)...)
		body = append(append(body, ':'), p.Value...)
	}
	if r.Stream {
		body = append(body, `,"stream":true,"stream_options":{"include_usage":true}`...)
	} else {
		body = append(body, `,"stream":false`...)
	}
	return append(body, '}')
}

// Answer is one complete answer of a model: it was read to its end.
type Answer struct {
	Message Message // the assistant message as it goes back to the provider
	Finish  string  // finish_reason as received; "" when there was none
	Refusal string  // the model's refusal text, if it refused
	Usage   Usage
	Model   string // the model that the upstream says answered
	ID      string // on the wire Responses its id, by which a later request can go on from it; else ""
}

// Usage counts tokens. Input includes Cached, Output includes Reasoning.
type Usage struct {
	Input     int `json:"input"`
	Output    int `json:"output"`
	Cached    int `json:"cached,omitzero"`
	Reasoning int `json:"reasoning,omitzero"`
}

// Add returns the sum of both.
func (u Usage) Add(other Usage) Usage {
	return Usage{
		Input:     u.Input + other.Input,
		Output:    u.Output + other.Output,
		Cached:    u.Cached + other.Cached,
		Reasoning: u.Reasoning + other.Reasoning,
	}
}

// The kinds of an UpstreamError.
const (
	KindStatus    = "status"    // a status that is no success
	KindStream    = "stream"    // an error inside a response of status 200
	KindCut       = "cut"       // the answer broke off
	KindMalformed = "malformed" // what came is no chat completion
	KindDial      = "dial"      // no connection, or it broke before a response
	KindTLS       = "tls"       // no secure connection
	KindTimeout   = "timeout"   // nothing came in time
)

// UpstreamError is a try that gave no complete answer: a status that is no
// success, a failed connect, a stream that broke off or carried an error.
type UpstreamError struct {
	Status     int           // 0: no response at all
	Kind       string        // one of the kinds above
	Text       string        // the upstream's own words, for the person who runs the program; never sent to a model
	Partial    string        // assistant text received before the break
	Usage      Usage         // what the broken answer still reported
	Retry      bool          // worth another try
	RetryAfter time.Duration // what the upstream asked for; 0: nothing
}

// Error is one line; Text has all of the upstream's words.
func (e *UpstreamError) Error() string {
	text := strings.Join(strings.Fields(e.Text), " ")
	if runes := []rune(text); len(runes) > maxErrorLine {
		text = string(runes[:maxErrorLine]) + "…"
	}
	if text == "" {
		text = "without a word"
	}
	if e.Status == 0 {
		return fmt.Sprintf("upstream %s: %s", e.Kind, text)
	}
	return fmt.Sprintf("upstream answered %d (%s): %s", e.Status, e.Kind, text)
}

// maxErrorLine is how many characters of an upstream's words fit on the line of
// an error.
const maxErrorLine = 500
