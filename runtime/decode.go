package runtime

import (
	"bytes"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/go-json-experiment/json/jsontext"
)

// End says how a streamed response ended.
type End string

// The ends of a stream.
const (
	EndDone         End = "done"          // data: [DONE]
	EndEOF          End = "eof"           // closed in order, without [DONE]
	EndReset        End = "reset"         // broken off
	EndTimeout      End = "timeout"       // nothing more came in time
	EndClientClosed End = "client-closed" // we stopped reading
)

// Response is a response as it came over the wire or from a transcript.
type Response struct {
	Wire   Wire // "": WireChat
	Status int  // 0: none came; Err says why
	Header http.Header
	Body   []byte
	Stream bool   // Body is an event stream
	End    End    // of a stream
	Err    string // of status 0: dial, tls or timeout
}

// Decode turns a response into an Answer or an *UpstreamError. It is the one
// decoder of live sessions and of replays, depends on nothing but its arguments
// and never fails in another way.
func Decode(r *Response, d Dialect) (*Answer, error) {
	switch {
	case r.Status == 0:
		return nil, connectError(r.Err, r.Err)
	case r.Status < 200 || r.Status > 299:
		return nil, statusError(r)
	case isStream(r.Stream, r.Body):
		s := streamDecoder{dialect: d, status: r.Status, wire: newWireDecoder(r.Wire)}
		for _, block := range SplitEvents(r.Body) {
			s.block(block)
		}
		return s.end(r.End)
	default:
		return decodeWhole(r, d)
	}
}

// isStream tells an event stream from JSON. What the body begins with counts
// for more than what the header said: servers send JSON errors as event
// streams, and event streams as JSON.
func isStream(said bool, body []byte) bool {
	start := bytes.TrimSpace(bytes.TrimPrefix(body, []byte("\ufeff")))
	if len(start) > 0 && (start[0] == '{' || start[0] == '[' || start[0] == '<') {
		return false
	}
	for _, field := range []string{"data:", "event:", "id:", "retry:", ":"} {
		if bytes.HasPrefix(start, []byte(field)) {
			return true
		}
	}
	return said
}

// decodeWhole reads a JSON response.
func decodeWhole(r *Response, d Dialect) (*Answer, error) {
	s := streamDecoder{dialect: d, status: r.Status, wire: newWireDecoder(r.Wire)}
	s.readWhole(r.Body)
	return s.end(EndDone)
}

// readWhole takes a JSON response; what is wrong with it is in s.err.
func (s *streamDecoder) readWhole(body []byte) {
	body = bytes.TrimPrefix(bytes.ToValidUTF8(body, []byte("\ufffd")), []byte("\ufeff"))
	members, err := membersOf(body)
	switch {
	case err != nil && cutJSON(err):
		s.err = s.fail(KindCut, rawText(body), true)
	case err != nil:
		if !s.errorList(body) {
			s.err = s.malformed(rawText(body))
		}
	default:
		missing := s.wholeAnswer(members)
		if s.err == nil && missing != "" {
			s.err = s.malformed("no " + missing + " in the response: " + rawText(body))
		}
	}
}

// errorList takes a list that holds an error, which is how Gemini wraps its
// errors, and reports whether body is one.
func (s *streamDecoder) errorList(body []byte) bool {
	list, err := elementsOf(body)
	if err != nil || len(list) == 0 {
		return false
	}
	inner, err := membersOf(list[0].value)
	if err != nil || !hasError(memberOf(inner, "error")) {
		return false
	}
	s.chunk(inner, true)
	return s.err != nil
}

// wholeAnswer takes the members of a JSON response and names the one that is
// missing for it to be an answer, "" for none.
func (s *streamDecoder) wholeAnswer(members []span) (missing string) {
	if s.wire != nil {
		return s.wire.whole(s, members)
	}
	s.chunk(members, true)
	if memberOf(members, "choices").Kind() != '[' {
		return "choices"
	}
	return ""
}

// connectError is the error of a try that got no response.
func connectError(kind, text string) *UpstreamError {
	if kind == "" {
		kind, text = KindDial, "no response"
	}
	return &UpstreamError{Kind: kind, Text: text, Retry: true}
}

// statusError is the error of a response whose status is no success. Its text
// is the body as it is, for upstreams give their reasons in many shapes.
func statusError(r *Response) *UpstreamError {
	text := rawText(bytes.ToValidUTF8(r.Body, []byte("\ufffd")))
	if to := headerOf(r.Header, "Location"); to != "" && r.Status < 400 {
		text = strings.TrimSpace("redirected to " + to + " " + text)
	}
	if text == "" {
		text = http.StatusText(r.Status)
	}
	return &UpstreamError{
		Status:     r.Status,
		Kind:       KindStatus,
		Text:       text,
		Retry:      retryable(r.Status),
		RetryAfter: retryAfter(r.Header),
	}
}

// retryable reports a status that another try may not meet again.
func retryable(status int) bool {
	switch status {
	case http.StatusRequestTimeout, http.StatusConflict, http.StatusTooManyRequests:
		return true
	default:
		return status >= 500 && status <= 599
	}
}

// maxRetryAfter bounds what an upstream can ask for.
const maxRetryAfter = 24 * time.Hour

// retryAfter reads how long the upstream asks to wait: retry-after-ms (Azure),
// or Retry-After in seconds or as a date, which counts from the response's own
// Date. 0 when nothing is asked for or understood.
func retryAfter(h http.Header) time.Duration {
	if ms, err := strconv.ParseFloat(headerOf(h, "Retry-After-Ms"), 64); err == nil {
		return boundedWait(ms / 1000)
	}
	text := headerOf(h, "Retry-After")
	if seconds, err := strconv.ParseFloat(text, 64); err == nil {
		return boundedWait(seconds)
	}
	until, err := http.ParseTime(text)
	if err != nil {
		return 0
	}
	now, err := http.ParseTime(headerOf(h, "Date"))
	if err != nil {
		return 0
	}
	return boundedWait(until.Sub(now).Seconds())
}

func boundedWait(seconds float64) time.Duration {
	switch {
	case !(seconds > 0): // also NaN
		return 0
	case seconds > maxRetryAfter.Seconds():
		return maxRetryAfter
	default:
		return time.Duration(seconds * float64(time.Second))
	}
}

// headerOf returns the first value of a header, whatever the case of its name.
func headerOf(h http.Header, name string) string {
	if value := h.Get(name); value != "" {
		return value
	}
	for key, values := range h {
		if strings.EqualFold(key, name) && len(values) > 0 {
			return values[0]
		}
	}
	return ""
}

// maxErrorText bounds the upstream's words in an error, in bytes.
const maxErrorText = 16 << 10

// rawText is a body as it stands in an error.
func rawText(body []byte) string {
	text := strings.TrimSpace(string(body))
	if len(text) <= maxErrorText {
		return text
	}
	return fmt.Sprintf("%s… (%d bytes)", strings.ToValidUTF8(text[:maxErrorText], ""), len(text))
}

// errorText returns the provider's message in an error value of any shape, else
// the value's JSON.
func errorText(v jsontext.Value) string {
	if text, ok := textOf(v); ok {
		return text
	}
	if members, err := membersOf(v); err == nil {
		for _, name := range []string{"message", "error", "detail"} {
			if text, ok := textOf(memberOf(members, name)); ok && text != "" {
				return text
			}
		}
	}
	return rawText(strictJSON(v))
}

// failureText returns the provider's message where its error is the value of
// one member among others: a code or a mere true has its message beside it.
func failureText(failure jsontext.Value, beside []span) string {
	message, _ := textOf(memberOf(beside, "message"))
	switch kind := failure.Kind(); {
	case message == "" || kind == '{' || kind == '[':
		return errorText(failure)
	case kind == 't':
		return message
	default:
		return errorText(failure) + ": " + message
	}
}

// isBareError reports an event that is an error all by itself, without a member
// "error": vLLM's {"object":"error"}, FastAPI's detail, DashScope's code and
// message. Chunks of a completion have choices or usage, and no such text.
func isBareError(members []span) bool {
	for _, name := range []string{"choices", "usage", "error"} {
		if !isNull(memberOf(members, name)) {
			return false
		}
	}
	for _, name := range []string{"object", "type"} {
		if kind, _ := textOf(memberOf(members, name)); kind == "error" {
			return true
		}
	}
	message, _ := textOf(memberOf(members, "message"))
	return message != "" || hasError(memberOf(members, "detail")) || hasError(memberOf(members, "errors"))
}

// hasError reports that the value of a member "error" tells of an error.
func hasError(v jsontext.Value) bool {
	switch v.Kind() {
	case '"':
		text, _ := textOf(v)
		return text != ""
	case '{':
		members, err := membersOf(v)
		return err == nil && len(members) > 0
	case '[':
		elements, err := elementsOf(v)
		return err == nil && len(elements) > 0
	case '0':
		return string(v) != "0"
	default:
		return v.Kind() == 't'
	}
}

// passing are the codes and types of errors inside a response that another try
// may not meet again.
var passing = map[string]bool{
	"rate_limit_exceeded": true, "rate_limit_error": true, "server_error": true, "internal_server_error": true,
	"internal_error": true, "api_error": true, "overloaded": true, "overloaded_error": true, "timeout": true,
	"service_unavailable": true, "engine_overloaded_error": true, "unavailable": true, "resource_exhausted": true,
}

// passingError reports whether an error inside a response is worth another try:
// by the status or by the word it gives.
func passingError(v jsontext.Value) bool {
	if status, err := strconv.Atoi(string(v)); err == nil {
		return retryable(status)
	}
	members, err := membersOf(v)
	if err != nil {
		return false
	}
	for _, name := range []string{"code", "status", "status_code", "type"} {
		value := memberOf(members, name)
		text, isText := textOf(value)
		if !isText {
			text = string(value)
		}
		if status, err := strconv.Atoi(text); err == nil {
			return retryable(status)
		}
		if passing[strings.ToLower(text)] {
			return true
		}
	}
	return false
}

// asUpstream returns the UpstreamError in err's chain.
func asUpstream(err error) (*UpstreamError, bool) {
	var up *UpstreamError
	ok := errors.As(err, &up)
	return up, ok
}
