package record

import (
	"regexp"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/tapetree/tapetree/transcripts"
)

// withMarks is e with the placeholders of secrets in its response replaced; e
// itself when there are none.
func withMarks(e *transcripts.Exchange, replace func(mark string) string) *transcripts.Exchange {
	changed := *e
	found := false
	text := func(s string) string {
		if !strings.Contains(s, "{{secret:") {
			return s
		}
		found = true
		return secretMark.ReplaceAllStringFunc(s, replace)
	}
	if e.SSE != nil {
		changed.SSE = make([]string, len(e.SSE))
		for i, block := range e.SSE {
			changed.SSE[i] = text(block)
		}
	}
	if e.Response != nil {
		changed.Response = jsontext.Value(text(string(e.Response)))
	}
	if e.Text != nil {
		whole := text(*e.Text)
		changed.Text = &whole
	}
	if !found {
		return e
	}
	return &changed
}

// liveMark is the placeholder that a recorded secret's counterpart has in this
// session, as far as the client has shown it.
func (p *Playback) liveMark(recorded string) string {
	if sent, ok := p.replay.secrets.sent(recorded); ok {
		return sent
	}
	return recorded
}

// liveSecret is the counterpart itself: what the client once sent comes back to
// it, such as the name of its own session. A secret that it has not shown stays
// a placeholder.
func (p *Playback) liveSecret(recorded string) string {
	sent, ok := p.replay.secrets.sent(recorded)
	if !ok {
		return recorded
	}
	value := p.replay.options.Redact.secret(sent)
	if !plainSecret.MatchString(value) {
		return recorded
	}
	return value
}

// plainSecret is a value that stands in JSON, at any depth, as it is.
var plainSecret = regexp.MustCompile(`^[A-Za-z0-9._~+/=:@-]+$`)
