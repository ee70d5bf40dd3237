package record

import (
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"

	"github.com/tapetree/tapetree/runtime"
	"github.com/tapetree/tapetree/transcripts"
)

// recordedTimes are the clocks of one exchange.
type recordedTimes = transcripts.ExchangeTime

// bodyOf is the recorded body with the paths of this machine in place of
// placeholders, block by block.
func bodyOf(fold *runtime.Folder, e *transcripts.Exchange) []string {
	if e.SSE != nil {
		for _, block := range e.SSE {
			if fold != nil && strings.Contains(block, "{{") {
				return ExpandSSE(fold, e.SSE)
			}
		}
		return e.SSE
	}
	body := expandReply(fold, e).Body
	if len(body) == 0 {
		return nil
	}
	return []string{string(body)}
}

// tornEnd says how the body of an exchange broke off; "": it did not.
func tornEnd(e *transcripts.Exchange) runtime.End {
	switch e.StreamEnd {
	case runtime.EndReset, runtime.EndTimeout, runtime.EndClientClosed:
		return e.StreamEnd
	default:
		return ""
	}
}

// headOf is the head of a recorded response. The bodies of transcripts have no
// coding, so that nothing is said of one; the length is that of the whole body.
// Without clocks a client need not wait before it tries again.
func headOf(e *transcripts.Exchange, clocks bool) http.Header {
	h := e.Reply().Header
	for _, name := range []string{"Retry-After", "Retry-After-Ms"} {
		if h.Get(name) != "" && !clocks {
			h.Set(name, "0")
		}
	}
	if h.Get("Content-Type") == "" {
		switch {
		case e.SSE != nil:
			h.Set("Content-Type", "text/event-stream")
		case e.Response != nil:
			h.Set("Content-Type", "application/json")
		}
	}
	return h
}

// withLength says how long a body is that comes whole.
func (d *delivery) withLength() *delivery {
	if len(d.blocks) == 1 && d.torn == "" && d.header.Get("Content-Type") != "text/event-stream" {
		d.header.Set("Content-Length", strconv.Itoa(len(d.blocks[0])))
	}
	return d
}

// missKind is the type of the error that a request without an exchange gets.
const missKind = "tapetree_replay_miss"

// refusal is an error of ours in the shape of a wire, which no client is to try
// again.
func refusal(wire runtime.Wire, status int, message string) *delivery {
	return refusalOf(wire, status, missKind, message)
}

// refusalOf is refusal with another type of error.
func refusalOf(wire runtime.Wire, status int, kind, message string) *delivery {
	d := &delivery{
		status: status,
		header: http.Header{"Content-Type": {"application/json"}, "X-Should-Retry": {"false"}},
		blocks: []string{string(errorBody(wire, kind, kind, message)) + "\n"},
	}
	return d.withLength()
}

// missed is the answer to a request with no exchange left.
func (p *Playback) missed(wire runtime.Wire, err error) *delivery {
	message := err.Error()
	if miss, ok := errors.AsType[*missError](err); ok {
		message = miss.forClient()
	}
	return refusal(wire, http.StatusBadRequest, message)
}

// Finished reports whether every recorded exchange has been asked for.
func (p *Playback) Finished() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.started && p.left == 0
}

// Begins says how well a model request to path fits the first request of a root
// of the recording: 0 not at all, more the better. It takes no part in the
// session.
func (p *Playback) Begins(path string, body []byte) int {
	best := 0
	p.look(path, body, func(o *opening, rank int) {
		if !strings.ContainsAny(string(o.agent), "/~") {
			best = max(best, rank)
		}
	})
	return best
}

// Awaits reports whether a model request to path is the first one of an agent
// that has not begun yet.
func (p *Playback) Awaits(path string, body []byte) bool {
	awaits := false
	p.look(path, body, func(o *opening, rank int) { awaits = awaits || !o.claimed && rank > 0 })
	return awaits
}

// look holds a request against all openings.
func (p *Playback) look(path string, body []byte, see func(o *opening, rank int)) {
	wire, known := runtime.WireOf(path)
	if !known {
		return
	}
	parsed, err := parseRequest(nil, wire, body, p.replay.normal)
	if err != nil {
		return
	}
	asked := parsed.keep(&thread{})
	asked.model = p.replay.options.Redact.member("model", asked.model)
	l := likenessOf(p.replay.options.Volatile, asked)
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, o := range p.placing.openings {
		if wireOf(o.exchange) == wire {
			see(o, o.rank(l))
		}
	}
}

// Knows reports whether the recording holds an answer for a path that asks for
// no model.
func (p *Playback) Knows(method, path string) bool {
	p.others.mu.Lock()
	defer p.others.mu.Unlock()
	return len(p.others.lines[p.others.key(method, path)]) > 0
}

// unkept enters a finding for each answer that the recording could not keep: a
// client gets words of ours in its place.
func (p *Playback) unkept() {
	for _, e := range p.replay.file.Exchanges {
		if e.Text != nil && runtime.IsUnread(*e.Text) {
			p.replay.ledger.add(placeOf(e), codePartial, fmt.Sprintf("the answer of %s was not kept: %s", exchangeName(e), *e.Text), "")
		}
	}
	for key, lines := range p.others.lines {
		for _, line := range lines {
			if text := line.exchange.Text; text != nil && runtime.IsUnread(*text) {
				p.replay.ledger.add(place{}, codePartial, fmt.Sprintf("an answer of %s was not kept: %s", key, *text), "")
			}
		}
	}
}
