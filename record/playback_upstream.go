package record

import (
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/tapetree/tapetree/runtime"
)

// UpstreamError is the error of a request that the upstream did not answer. It
// says where the request went, which a client of a Playback does not know.
type UpstreamError struct {
	URL *url.URL
	Err error
}

// Error implements error.
func (e *UpstreamError) Error() string { return e.Err.Error() }

// Unwrap returns what went wrong.
func (e *UpstreamError) Unwrap() error { return e.Err }

// upstreamKind is the type of the error that a client gets when the upstream of
// PlaybackOptions.Live gave no answer.
const upstreamKind = "tapetree_upstream"

// upstreamNamed writes the address of an upstream: no user, no query, which may
// hold keys. Without one it is just "the upstream".
func upstreamNamed(at *url.URL) string {
	if at == nil || at.Host == "" {
		return "the upstream"
	}
	plain := url.URL{Scheme: at.Scheme, Host: at.Host, Path: at.Path}
	return "the upstream " + plain.String()
}

// unanswered says in words why the upstream gave no answer.
func unanswered(err error) string {
	var at *url.URL
	if failed, ok := errors.AsType[*UpstreamError](err); ok {
		at = failed.URL
	}
	return upstreamNamed(at) + " " + runtime.ConnectWords(err)
}

// unkeptWhy says why an answer of the upstream is not recorded; "": it is.
func (c *liveCall) unkeptWhy(o outcome) string {
	c.shot.mu.Lock()
	defer c.shot.mu.Unlock()
	switch at := upstreamNamed(c.at); {
	case c.shot.status/100 != 2:
		return fmt.Sprintf("%s answered with status %d", at, c.shot.status)
	case o.end == runtime.EndReset, o.end == runtime.EndTimeout:
		return at + " broke its answer off"
	default:
		return ""
	}
}

// lost notes that the upstream gave a request no answer that could be recorded.
func (c *liveCall) lost(why string) {
	p := c.playback
	p.mu.Lock()
	defer p.mu.Unlock()
	if !slices.Contains(p.lost, why) {
		p.lost = append(p.lost, why)
	}
}

// lostNotes say what the upstream did not answer, sorted. The lock is held.
func (p *Playback) lostNotes() []string {
	notes := make([]string, len(p.lost))
	for i, why := range p.lost {
		notes[i] = p.replay.options.Redact.Mask(why) + "; the transcript is unchanged"
		if len(p.fresh) > 0 {
			notes[i] = p.replay.options.Redact.Mask(why) + "; that is not in the transcript"
		}
	}
	slices.SortFunc(notes, strings.Compare)
	return notes
}

// unreachedNow is what a client gets when the upstream gave no answer.
func (p *Playback) unreachedNow(wire runtime.Wire, err error) *delivery {
	d := refusalOf(wire, http.StatusBadGateway, upstreamKind, "tapetree replay: "+p.replay.options.Redact.Mask(unanswered(err)))
	d.header.Del("X-Should-Retry") // the next try may reach it
	d.playback = p
	return d
}
