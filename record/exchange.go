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

// write puts the exchange into the transcript: as a model exchange when it is
// known where in the session its request stands and its body can be read, else
// as an http line.
func (s *shot) write(o outcome) error {
	r := s.recorder
	ended := r.now()
	e, asked := s.exchange()
	if asked == nil {
		return s.writeHTTP(o)
	}
	e.Wire, e.Model, e.Messages, e.Tools, e.Params =
		string(asked.wire), r.redact.member("model", asked.model), asked.messages, asked.tools, asked.params
	s.fill(e, o)
	failed := r.wrote(r.writer.Exchange(e), "record exchange %s", exchangeName(e))
	if s.tapped != nil {
		s.watch(int64(s.received.Len()))
		s.settle(e, true)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if failed == nil {
		r.exchanges++
		r.times = append(r.times, s.times(e, ended))
		r.tap.wrote(s)
	}
	return failed
}

// exchange returns an exchange with nothing but its place, and the request; nil
// for what is no model exchange.
func (s *shot) exchange() (*transcripts.Exchange, *request) {
	if s.tapped != nil {
		if s.tapped.asked == nil {
			return nil, nil
		}
		at := s.tapped.exchange.First
		return &transcripts.Exchange{
			Agent: at.Path, Turn: at.Turn, Try: at.Try, Flag: at.Flag, Candidates: at.Candidates,
		}, s.tapped.asked
	}
	at, ok := runtime.PlaceOf(s.req.Context())
	if !ok || !s.isModelRequest() {
		return nil, nil
	}
	asked, err := s.recorder.thread(at.Agent).read(s.body, s.recorder.normal)
	if err != nil {
		return nil, nil
	}
	return &transcripts.Exchange{Agent: at.Agent, Turn: at.Turn, Try: max(1, at.Try)}, asked
}

// wire is the wire of the exchange, as far as it is a model exchange.
func (s *shot) wire() runtime.Wire {
	wire, _ := runtime.WireOf(s.req.URL.Path)
	return wire
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
	if hasDone(s.wire(), events) { // whatever came of the connection afterwards
		e.StreamEnd = runtime.EndDone
	}
}

// endMarks are the kinds of event that end a stream on the wires whose events
// have a kind.
var endMarks = map[runtime.Wire][]string{
	runtime.WireMessages:  {"message_stop"},
	runtime.WireResponses: {"response.completed", "response.incomplete", "response.failed"},
}

// hasDone reports whether a stream came to its end mark.
func hasDone(wire runtime.Wire, events [][]byte) bool {
	return slices.ContainsFunc(events, func(event []byte) bool { return isDone(wire, event) })
}

// isDone reports whether a block is the end mark, and whole.
func isDone(wire runtime.Wire, block []byte) bool {
	kind, data, ok := runtime.EventData(block)
	if !ok || !bytes.ContainsAny(block, "\r\n") {
		return false
	}
	if strings.TrimSpace(data) == "[DONE]" {
		return true
	}
	for _, mark := range endMarks[wire] {
		if kind == mark || kind == "" && strings.Contains(data, `"`+mark+`"`) {
			return true
		}
	}
	return false
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

// decoded returns the response's body without its gzip coding; what of a broken
// one can be read. A body that is too large or has another coding is not kept,
// for nobody can tell whether a secret stands in it: instead is the text in its
// place.
func (s *shot) decoded() (body []byte, instead string) {
	if s.large {
		return nil, runtime.UnreadSize(s.recorder.maxBody)
	}
	return decode(s.header, s.received.Bytes(), s.recorder.maxBody)
}

// decode returns a body of at most limit bytes without its gzip coding, or the
// text in its place.
func decode(h http.Header, body []byte, limit int64) (plain []byte, instead string) {
	if len(body) == 0 {
		return body, ""
	}
	if !strings.EqualFold(strings.TrimSpace(h.Get("Content-Encoding")), "gzip") {
		return body, runtime.UnreadCoding(h, body)
	}
	plain, err := gunzip(body, limit)
	switch {
	case int64(len(plain)) > limit:
		return nil, runtime.UnreadSize(limit)
	case err != nil && len(plain) == 0:
		return nil, runtime.UnreadCoding(h, nil)
	}
	return plain, runtime.UnreadCoding(nil, plain)
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
		value, text, raw := r.body(s.asked())
		line.body("request", "request", "request", value, text, raw)
	}
	line.member("status", jsontext.Value(decimal(s.status)))
	if o.err != "" {
		line.member("error", quoted(o.err))
	} else {
		line.member("headers", objectOf(r.redact.Headers(s.header)))
		value, text, raw := r.body(s.answered())
		line.body("response", "text", "base64", value, text, raw)
		if end := brokenEnd(o.end); end != "" {
			line.member("end", quoted(string(end)))
		}
	}
	return r.wrote(r.writer.HTTP(&transcripts.HTTP{Raw: line.end()}), "record request %s %s", s.req.Method, s.req.URL.Path)
}

// asked returns the request's body without its gzip coding, or the text in its
// place.
func (s *shot) asked() []byte {
	body, instead := decode(s.req.Header, s.body, s.recorder.maxBody)
	if instead != "" {
		return []byte(instead)
	}
	return body
}

// answered returns the response's body, or the text in its place. Secrets and
// paths that are split over the frames of a stream are replaced here.
func (s *shot) answered() []byte {
	body, instead := s.decoded()
	if instead != "" {
		return []byte(instead)
	}
	if !s.isStream(body) {
		return body
	}
	e := &transcripts.Exchange{}
	s.fillStream(e, body, runtime.EndEOF)
	return []byte(strings.Join(e.SSE, ""))
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
