package record

import (
	"maps"
	"net/url"
	"slices"
	"strings"

	"github.com/tapetree/tapetree/record/attribution"
	"github.com/tapetree/tapetree/runtime"
	"github.com/tapetree/tapetree/transcripts"
)

// places are the final places of the recorded exchanges, by their first ones.
// Tries that left no exchange, because the client gave them up before an answer
// came, are not counted.
func (t *tap) places() map[runtime.Place]attribution.Place {
	t.mu.Lock()
	defer t.mu.Unlock()
	final := make(map[runtime.Place]attribution.Place, len(t.recorded))
	for first, r := range t.recorded {
		final[first] = t.scope.Place(r.exchange)
	}
	order := slices.SortedFunc(maps.Keys(final), func(a, b runtime.Place) int {
		return sortKey(final[a]).compare(sortKey(final[b]))
	})
	var last attribution.Place
	for _, first := range order {
		at := final[first]
		if at.Path == last.Path && at.Turn == last.Turn {
			at.Try = last.Try + 1
		} else {
			at.Try = 1
		}
		final[first], last = at, at
	}
	return final
}

func sortKey(p attribution.Place) place { return place{Agent: p.Path, Turn: p.Turn, Try: p.Try} }

// describe puts into the header what it does not say yet: the models, the client,
// and where the first agent and others asked. exchanges are in tree order, firsts
// their first places.
func (t *tap) describe(h *transcripts.Header, exchanges []*transcripts.Exchange, firsts map[*transcripts.Exchange]runtime.Place) {
	t.mu.Lock()
	defer t.mu.Unlock()
	noModels, noUpstream := h.Models == nil, h.Upstream == ""
	if h.Client == "" {
		h.Client = t.recorder.redact.Text(t.client)
	}
	for _, e := range exchanges {
		if noModels && !slices.Contains(h.Models, e.Model) {
			h.Models = append(h.Models, e.Model)
		}
		upstream := t.recorded[firsts[e]].upstream
		switch {
		case !noUpstream || upstream == "":
		case h.Upstream == "":
			h.Upstream = upstream
		case h.SubUpstream == "" && upstream != h.Upstream:
			h.SubUpstream = upstream
		}
	}
}

// upstreamOf is the base URL of a model request, without secrets.
func (r *Recorder) upstreamOf(u *url.URL) string {
	base := *u
	base.RawPath = ""
	base.Path = strings.TrimRight(base.Path, "/")
	for _, ending := range []string{"/chat/completions", "/responses", "/messages"} {
		base.Path = strings.TrimSuffix(base.Path, ending)
	}
	return r.redact.URL(base.String())
}

// EchoNotes says what the client changes in the answers that it sends back, one
// line for each agent and kind of change, sorted. Without Attribute there are
// none.
func (r *Recorder) EchoNotes() []string {
	if r.tap == nil {
		return nil
	}
	r.tap.mu.Lock()
	defer r.tap.mu.Unlock()
	return r.tap.echoes.notes(r.tap.scope.Threads())
}
