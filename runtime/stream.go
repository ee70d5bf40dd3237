package runtime

import (
	"bytes"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
)

// streamDecoder puts an answer together from the blocks of an event stream, or
// from one whole JSON response.
type streamDecoder struct {
	dialect Dialect
	status  int
	wire    wireDecoder // nil: chat completions

	message assistantText
	finish  string
	model   string
	id      string
	usage   Usage
	done    bool // [DONE] was seen, or the event that ends the stream
	err     *UpstreamError
}

// over reports that nothing that still comes can change the answer.
func (s *streamDecoder) over() bool { return s.done || s.err != nil }

// block takes one block of an event stream.
func (s *streamDecoder) block(block []byte) {
	if s.over() {
		return
	}
	event, data, ok := EventData(bytes.ToValidUTF8(block, []byte("\ufffd")))
	data = strings.TrimSpace(data)
	if bare := bytes.TrimSpace(block); !ok && len(bare) > 0 && bare[0] == '{' { // OpenAI's errors have come without "data:"
		data, ok = string(bytes.ToValidUTF8(bare, []byte("\ufffd"))), true
	}
	failed := strings.EqualFold(event, "error")
	switch {
	case data == "[DONE]" && !failed:
		s.done = true
	case failed:
		s.errorEvent(data)
	case !ok || data == "" || data[0] == ':': // ": ping" as data is a comment that went astray
	default:
		s.data(event, data)
	}
}

// data takes the data of one event.
func (s *streamDecoder) data(event, data string) {
	members, err := membersOf([]byte(data))
	switch {
	case err == nil && isBareError(members):
		s.err = s.fail(KindStream, errorText(jsontext.Value(data)), passingError(jsontext.Value(data)))
	case err == nil && s.wire != nil:
		s.wire.event(s, event, members)
	case err == nil:
		s.chunk(members, false)
	case event != "" && event != "message": // a kind of event that is none of ours
	case cutJSON(err): // the connection broke, or the upstream is broken
		s.err = s.fail(KindCut, "the stream broke off inside an event: "+rawText([]byte(data)), true)
	default:
		s.err = s.malformed("an event that is no JSON object: " + rawText([]byte(data)))
	}
}

// errorEvent takes the data of an event called error.
func (s *streamDecoder) errorEvent(data string) {
	value := jsontext.Value(data)
	members, err := membersOf(value)
	if err != nil {
		s.err = s.fail(KindStream, rawText(value), false)
		return
	}
	if inner := memberOf(members, "error"); hasError(inner) {
		value = inner
	}
	s.err = s.fail(KindStream, errorText(value), passingError(value))
}

// eventKind returns what kind of event this is: its type, or else the name of its
// block. It reports false for one that tells of an error, which it takes.
func (s *streamDecoder) eventKind(name string, members []span) (string, bool) {
	kind, _ := textOf(memberOf(members, "type"))
	if kind == "" {
		kind = name
	}
	return kind, !s.failed(members)
}

// failed takes the error among the members of an event or a response, and
// reports whether there is one.
func (s *streamDecoder) failed(members []span) bool {
	failure := memberOf(members, "error")
	if !hasError(failure) {
		return false
	}
	s.err = s.fail(KindStream, failureText(failure, members), passingError(failure))
	return true
}

// chunk takes the members of one chunk, or of a whole response.
func (s *streamDecoder) chunk(members []span, whole bool) {
	if model, _ := textOf(memberOf(members, "model")); model != "" {
		s.model = model
	}
	s.usageOf(memberOf(members, "usage"))
	if groq, err := membersOf(memberOf(members, "x_groq")); err == nil && isNull(memberOf(members, "usage")) {
		s.usageOf(memberOf(groq, "usage"))
	}
	choice := choiceOf(memberOf(members, "choices"))
	if choice != nil {
		s.choice(choice, whole)
	}
	for _, from := range [][]span{members, choice} {
		if failure := memberOf(from, "error"); s.err == nil && hasError(failure) {
			s.err = s.fail(KindStream, failureText(failure, from), passingError(failure))
		}
	}
	if s.err == nil && s.finish == "error" {
		s.err = s.fail(KindStream, "finish_reason is error", true)
	}
}

// choiceOf returns the members of the choice that counts, nil for none: the one
// with index 0, or the first without an index.
func choiceOf(v jsontext.Value) []span {
	choices, err := elementsOf(v)
	if err != nil {
		return nil
	}
	for _, c := range choices {
		members, err := membersOf(c.value)
		if index := memberOf(members, "index"); err == nil && (isNull(index) || string(index) == "0") {
			return members
		}
	}
	return nil
}

// choice takes one choice.
func (s *streamDecoder) choice(choice []span, whole bool) {
	if finish, _ := textOf(memberOf(choice, "finish_reason")); finish != "" {
		s.finish = finish
	}
	s.usageOf(memberOf(choice, "usage"))
	message := memberOf(choice, "delta")
	if whole || isNull(message) {
		message = s.wholeMessage(choice, whole)
	}
	if isNull(message) {
		return
	}
	members, err := membersOf(message)
	if err == nil {
		err = s.message.add(members, whole || isNull(memberOf(choice, "delta")))
	}
	if err != nil && s.err == nil {
		s.err = s.malformed("read message: " + err.Error())
	}
}

// wholeMessage returns a choice's message. In a stream it counts only when
// nothing came in deltas, for some servers repeat all of it at the end.
func (s *streamDecoder) wholeMessage(choice []span, whole bool) jsontext.Value {
	if !whole && !s.message.empty() {
		return nil
	}
	return memberOf(choice, "message")
}

// end closes the stream and returns the answer. A stream without an end, that
// is without [DONE] and without a finish_reason, was cut off.
func (s *streamDecoder) end(end End) (*Answer, error) {
	if s.err == nil && !s.done && s.finish == "" && end != EndDone {
		last := "finish_reason and [DONE]"
		if s.wire != nil {
			last = s.wire.lastEvent()
		}
		kind, text := KindCut, "the stream ended without "+last
		if end == EndTimeout {
			kind, text = KindTimeout, "the stream went silent without "+last
		}
		s.err = s.fail(kind, text, true)
	}
	if s.wire != nil {
		if err := s.wire.answerParts().message(&s.message); err != nil && s.err == nil {
			s.err = s.malformed("read answer: " + err.Error())
		}
	}
	if s.err != nil {
		s.err.Partial, s.err.Usage = s.message.text(), s.usage
		return nil, s.err
	}
	message, err := s.message.message(s.dialect)
	if err != nil {
		failed := s.malformed(err.Error())
		failed.Partial, failed.Usage = s.message.text(), s.usage
		return nil, failed
	}
	return &Answer{
		Message: message,
		Finish:  s.finish,
		Refusal: s.message.refusal(),
		Usage:   s.usage,
		Model:   s.model,
		ID:      s.id,
	}, nil
}

func (s *streamDecoder) malformed(text string) *UpstreamError {
	return s.fail(KindMalformed, text, false)
}

func (s *streamDecoder) fail(kind, text string, retry bool) *UpstreamError {
	return &UpstreamError{Status: s.status, Kind: kind, Text: text, Retry: retry}
}

func (s *streamDecoder) usageOf(v jsontext.Value) {
	if usage, ok := parseUsage(v); ok {
		s.usage = usage
	}
}
