package runtime

import (
	"bytes"
	"slices"
)

// AnswerReader reads an event stream while it arrives and knows at any time
// which calls are complete. It is for those who watch an answer pass; Decode
// gives the answer itself, and its calls begin with those that were seen here.
// It looks at every byte once.
type AnswerReader struct {
	decoder streamDecoder
	given   map[*slot]bool
	scans   map[*slot]*slotScan
}

// slotScan is how far a call's arguments have been looked at.
type slotScan struct {
	scan objectScan
	seen int
}

// NewAnswerReader returns a reader for a stream of the given wire.
func NewAnswerReader(w Wire) *AnswerReader {
	r := &AnswerReader{given: map[*slot]bool{}, scans: map[*slot]*slotScan{}}
	r.decoder.wire = newWireDecoder(w)
	r.decoder.message.callsOnly = true
	return r
}

// Block takes one block of the stream (see Splitter) and returns the calls, in
// the order of the answer, that it completed: those whose arguments are a whole
// JSON object, or which a later call or the end of the answer follows. A call
// is held back until all that stand before it are complete. After an error in
// the stream nothing comes any more.
func (r *AnswerReader) Block(block []byte) []Call {
	if r.decoder.over() {
		return nil
	}
	r.decoder.block(block)
	return r.complete()
}

// Whole returns the calls of a response of status 200 that is no event stream;
// none if it is no answer.
func (r *AnswerReader) Whole(body []byte) []Call {
	r.decoder.readWhole(body)
	r.decoder.done = true
	return r.complete()
}

// complete returns the calls that are complete and were not given out.
func (r *AnswerReader) complete() []Call {
	if r.decoder.err != nil {
		return nil
	}
	over := r.decoder.done || r.decoder.finish != ""
	if r.decoder.wire != nil {
		return r.decoder.wire.answerParts().newCalls(over)
	}
	var calls []Call
	slots := r.decoder.message.calls.ordered()
	for i, s := range slots {
		if r.given[s] {
			continue
		}
		if s.name == "" || !over && (s.index > i || !r.ended(s)) {
			break
		}
		r.given[s] = true
		delete(r.scans, s)
		calls = append(calls, s.call())
	}
	return calls
}

// ended reports that nothing more can come to the arguments of s: they are a
// whole object, or another call is being written. Of some arguments that
// breaks off, and of none, that is not known while others may only have been
// announced.
func (r *AnswerReader) ended(s *slot) bool {
	at := r.scans[s]
	if at == nil {
		at = &slotScan{}
		r.scans[s] = at
	}
	at.scan.feed(s.args.escaped[at.seen:])
	at.seen = len(s.args.escaped)
	if at.scan.whole(&s.args) {
		return true
	}
	all := r.decoder.message.calls.slots
	later := all[slices.Index(all, s)+1:]
	if !slices.ContainsFunc(later, func(next *slot) bool { return len(bytes.TrimSpace(next.args.escaped)) > 0 }) {
		return false
	}
	return at.scan.broken || !at.scan.begun
}
