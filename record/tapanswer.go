package record

import (
	"bytes"
	"errors"
	"regexp"

	"github.com/tapetree/tapetree/runtime"
	"github.com/tapetree/tapetree/transcripts"
)

// catchUp tells the scope what had come of the answer when a later request came.
// A client that has read the end of an answer goes on at once, often before the
// connection has told us of that end; so does one that went away.
func (s *shot) catchUp(seen sight) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.ended || s.tapped.asked == nil:
		return
	case seen.bytes < 0:
		if seen.gone {
			s.give()
		}
		return
	}
	s.watch(seen.bytes)
	final := seen.gone || s.length >= 0 && seen.bytes == s.length
	if final || s.tapped.over {
		s.settle(s.soFar(), final)
	}
}

// givenUp reports whether the client has gone away from a request with the same
// body.
func (s *shot) givenUp(body []byte) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return !s.ended && (s.left || s.req.Context().Err() != nil) && bytes.Equal(s.body, body)
}

// soFar is the exchange with what has come of the response.
func (s *shot) soFar() *transcripts.Exchange {
	e, _ := s.exchange()
	e.Wire = string(s.tapped.asked.wire)
	s.fill(e, outcome{end: runtime.EndEOF})
	return e
}

// watch tells the scope of the calls that have become complete in the first bytes
// of a stream.
func (s *shot) watch(upTo int64) {
	t := s.tapped
	if s.large {
		return
	}
	body, instead := decode(s.header, s.received.Bytes()[:upTo], s.recorder.maxBody)
	if instead != "" || t.settled || len(body) <= t.fed || !s.isStream(body) {
		return
	}
	r := s.recorder
	for _, block := range t.split.Feed(body[t.fed:]) {
		for _, call := range t.reader.Block(block) {
			t.calls++
			call.ID = r.redact.member("id", call.ID)
			call.Name = r.redact.member("name", call.Name)
			call.Arguments = normalText(r.fold, r.redact, call.Arguments)
			t.exchange.Call(t.calls, call)
		}
		t.over = t.over || mayEnd(t.asked.wire, block)
	}
	t.fed = len(body)
}

// lastWords are what the last events of an answer say before the end mark: some
// clients read no further. An error is one too.
var lastWords = regexp.MustCompile(`"(?:finish_reason|stop_reason)"\s*:\s*"|"error"\s*:\s*[{"]`)

// mayEnd reports whether an answer may be whole with this block.
func mayEnd(wire runtime.Wire, block []byte) bool {
	return isDone(wire, block) || bytes.Contains(block, []byte("event: error")) || lastWords.Match(block)
}

// settle tells the scope how the answer ended: e holds it, as far as it came if
// not final. An answer that is not final is settled only by an end of its own.
func (s *shot) settle(e *transcripts.Exchange, final bool) {
	t := s.tapped
	if t.settled {
		return
	}
	answer, err := runtime.Decode(e.Reply(), runtime.Dialect{})
	var up *runtime.UpstreamError
	switch {
	case err == nil:
		s.recorder.tap.answered(t, &answer.Message)
		t.exchange.Done(answer.Message, answer.ID)
	case final || errors.As(err, &up) && up.Kind == runtime.KindStream:
		t.exchange.Failed()
	default:
		return
	}
	t.settled = true
	s.recorder.tap.land(s)
}

// give ends a request that no answer came to.
func (s *shot) give() {
	if t := s.tapped; t != nil && t.asked != nil && !t.settled {
		t.settled = true
		t.exchange.Failed()
		s.recorder.tap.land(s)
	}
}

// answered keeps an answer for the conversation's next request.
func (t *tap) answered(of *tapped, answer *runtime.Message) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if of.told.log == of.exchange.Log { // no later request of the thread is under way
		of.told.answer = answer
	}
}

// wrote notes an exchange that stands in the transcript.
func (t *tap) wrote(s *shot) {
	if t == nil || s.tapped == nil {
		return
	}
	at := s.tapped.exchange.First
	t.mu.Lock()
	defer t.mu.Unlock()
	t.recorded[runtime.Place{Agent: at.Path, Turn: at.Turn, Try: at.Try}] = recorded{s.tapped.exchange, s.tapped.upstream}
}
