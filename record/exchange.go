package record

import (
	"bytes"
	"compress/gzip"
	"io"
	"mime"
	"net/http"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/tapetree/tapetree/runtime"
	"github.com/tapetree/tapetree/transcripts"
)

// outcome is how an exchange ended: with the end of its body, or, err not "",
// with no response at all.
type outcome struct {
	end runtime.End
	err string
}

// write puts the exchange into the transcript: as a model exchange when the
// context of its request names a place and its body is a chat completion
// request, else as an http line.
func (s *shot) write(o outcome) error {
	r := s.recorder
	ended := r.now()
	if !s.isModelRequest() {
		return s.writeHTTP(o)
	}
	at, _ := runtime.PlaceOf(s.req.Context())
	asked, err := r.thread(at.Agent).read(s.body, r.normal)
	if err != nil {
		return s.writeHTTP(o)
	}
	e := &transcripts.Exchange{
		Agent: at.Agent, Turn: at.Turn, Try: max(1, at.Try), Wire: "chat",
		Model: r.redact.member("model", asked.model), Messages: asked.messages, Tools: asked.tools, Params: asked.params,
	}
	s.fill(e, o)
	failed := r.wrote(r.writer.Exchange(e), "record exchange %s", exchangeName(e))
	r.mu.Lock()
	defer r.mu.Unlock()
	if failed == nil {
		r.exchanges++
		r.times = append(r.times, s.times(e, ended))
	}
	return failed
}

// fill puts the response into e.
func (s *shot) fill(e *transcripts.Exchange, o outcome) {
	if o.err != "" {
		e.Err = o.err
		return
	}
	r := s.recorder
	body, instead := s.decoded()
	e.Status, e.Headers = s.status, r.redact.Headers(s.header)
	switch {
	case instead != "":
		text := r.redact.Text(instead)
		e.Text = &text
	case s.isStream(body):
		s.fillStream(e, body, o.end)
	default:
		e.StreamEnd = brokenEnd(o.end)
		value, text, raw := r.body(body)
		e.Response, e.Text, e.Base64 = value, text, raw
	}
}

// brokenEnd is what is noted of the end of a body that is no stream: only that
// it broke off.
func brokenEnd(end runtime.End) runtime.End {
	if end == runtime.EndEOF {
		return ""
	}
	return end
}

func (s *shot) fillStream(e *transcripts.Exchange, body []byte, end runtime.End) {
	events := runtime.SplitEvents(body)
	blocks := make([]string, len(events))
	for i, event := range events {
		blocks[i] = string(event)
	}
	folded, foldedOver := FoldSSE(s.recorder.fold, blocks)
	redacted, redactedOver := s.recorder.redact.SSE(folded)
	e.SSE, e.Recut = redacted, foldedOver || redactedOver
	if e.SSE == nil {
		e.SSE = []string{}
	}
	e.StreamEnd = end
	if hasDone(events) { // whatever came of the connection afterwards
		e.StreamEnd = runtime.EndDone
	}
}

// hasDone reports whether a stream came to its end mark.
func hasDone(events [][]byte) bool {
	return slices.ContainsFunc(events, func(event []byte) bool {
		_, data, ok := runtime.EventData(event)
		return ok && strings.TrimSpace(data) == "[DONE]" && bytes.ContainsAny(event, "\r\n")
	})
}

// body brings the bytes of a body into the form that transcripts hold: a JSON
// value that can stand on a line as it came, a text, or bytes.
func (r *Recorder) body(body []byte) (value jsontext.Value, text *string, raw []byte) {
	if !utf8.Valid(body) {
		return nil, nil, []byte(r.redact.Text(string(body)))
	}
	normal := normalText(r.fold, r.redact, string(body))
	if isOneLine(normal) {
		return jsontext.Value(normal), nil, nil
	}
	return nil, &normal, nil
}

// isOneLine reports whether text is one JSON value with nothing around it and no
// line end in it.
func isOneLine(text string) bool {
	return text != "" && !strings.ContainsAny(text, "\r\n") && text == strings.TrimSpace(text) &&
		jsontext.Value(text).IsValid()
}

// isStream reports whether the response is an event stream: by its content
// type, or because it begins like one.
func (s *shot) isStream(body []byte) bool {
	start := bytes.TrimSpace(bytes.TrimPrefix(body, []byte("\ufeff")))
	if media, _, err := mime.ParseMediaType(s.header.Get("Content-Type")); err == nil && media == "text/event-stream" {
		return !bytes.HasPrefix(start, []byte("{")) && !bytes.HasPrefix(start, []byte("<"))
	}
	for _, field := range []string{"data:", "event:", ":"} {
		if bytes.HasPrefix(start, []byte(field)) {
			return true
		}
	}
	return false
}

// decoded returns the body without its gzip coding; what of a broken one can be
// read. A body that is too large or has another coding is not kept, for nobody
// can tell whether a secret stands in it: instead is the text in its place.
func (s *shot) decoded() (body []byte, instead string) {
	body = s.received.Bytes()
	if s.large {
		return nil, runtime.UnreadSize(s.recorder.maxBody)
	}
	if len(body) > 0 && strings.EqualFold(strings.TrimSpace(s.header.Get("Content-Encoding")), "gzip") {
		plain, err := gunzip(body, s.recorder.maxBody)
		switch {
		case int64(len(plain)) > s.recorder.maxBody:
			return nil, runtime.UnreadSize(s.recorder.maxBody)
		case err != nil && len(plain) == 0:
			return nil, runtime.UnreadCoding(s.header, nil)
		}
		return plain, runtime.UnreadCoding(nil, plain)
	}
	if len(body) == 0 {
		return body, ""
	}
	return body, runtime.UnreadCoding(s.header, body)
}

// gunzip decodes at most limit bytes and one more.
func gunzip(body []byte, limit int64) ([]byte, error) {
	unzip, err := gzip.NewReader(bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	return io.ReadAll(io.LimitReader(unzip, limit+1))
}

// times gives the clocks of the exchange. Blocks that came in another coding
// have none of their own.
func (s *shot) times(e *transcripts.Exchange, ended time.Time) transcripts.ExchangeTime {
	r := s.recorder
	first := s.first
	if first.IsZero() {
		first = ended
	}
	t := transcripts.ExchangeTime{
		Agent: e.Agent, Turn: e.Turn, Try: e.Try,
		Start: r.since(s.start), First: r.since(first), End: r.since(ended),
	}
	if e.SSE == nil || s.header.Get("Content-Encoding") != "" {
		return t
	}
	length, next := 0, 0
	for _, event := range runtime.SplitEvents(s.received.Bytes()) {
		length += len(event)
		for next < len(s.arrivals)-1 && s.arrivals[next].length < length {
			next++
		}
		t.Blocks = append(t.Blocks, r.since(s.arrivals[next].at))
	}
	return t
}

// writeHTTP writes what is no model exchange as an http line.
func (s *shot) writeHTTP(o outcome) error {
	r := s.recorder
	if s.number == 0 {
		s.number = r.nextRequest()
	}
	line := &httpLine{}
	line.member("kind", quoted("http"))
	line.member("n", jsontext.Value(decimal(s.number)))
	line.member("method", quoted(s.req.Method))
	line.member("path", quoted(r.redact.Text(s.req.URL.Path)))
	if len(s.body) > 0 {
		value, text, raw := r.body(s.body)
		line.body("request", "request", "request", value, text, raw)
	}
	line.member("status", jsontext.Value(decimal(s.status)))
	if o.err != "" {
		line.member("error", quoted(o.err))
		return r.wrote(r.writer.HTTP(&transcripts.HTTP{Raw: line.end()}), "record request %s %s", s.req.Method, s.req.URL.Path)
	}
	line.member("headers", objectOf(r.redact.Headers(s.header)))
	body, instead := s.decoded()
	if instead != "" {
		body = []byte(instead)
	}
	value, text, raw := r.body(body)
	line.body("response", "text", "base64", value, text, raw)
	return r.wrote(r.writer.HTTP(&transcripts.HTTP{Raw: line.end()}), "record request %s %s", s.req.Method, s.req.URL.Path)
}

// isModelRequest reports whether the request stands at a place of the session.
func (s *shot) isModelRequest() bool {
	_, ok := runtime.PlaceOf(s.req.Context())
	return ok && s.req.Method == http.MethodPost && strings.HasSuffix(s.req.URL.Path, "/chat/completions")
}

// nextRequest numbers requests that are no model exchanges, in the order they
// begin.
func (r *Recorder) nextRequest() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.requests++
	return r.requests
}
