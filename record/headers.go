package record

import (
	"maps"
	"net/http"
	"slices"
	"strings"

	"github.com/tapetree/tapetree/transcripts"
)

// keptHeaders are the response headers that a transcript keeps. It is a list
// of what is kept, not of what is dropped, since no list of secret names is
// ever complete. Kept is what a client acts on: how to read the body, when to
// try again, how much it may still ask. Not kept are clocks and random ids
// (date, x-request-id, openai-processing-ms, cf-ray), which would make two
// recordings of one session differ, what describes the server and its owner
// (server, via, openai-organization), and what describes the bytes on the wire
// (content-length, content-encoding, transfer-encoding), which is no longer
// true once a path has become a placeholder.
var keptHeaders = map[string]bool{
	"content-type":   true,
	"retry-after":    true,
	"retry-after-ms": true,
	"openai-version": true,
}

// keptHeaderPrefixes are families of which every member is kept.
var keptHeaderPrefixes = []string{"x-ratelimit-", "ratelimit-", "anthropic-ratelimit-"}

// Headers returns what a transcript keeps of h: lower-case names, sorted, the
// values redacted. Several values of one name are joined by a comma and a
// space.
func (r *Redactor) Headers(h http.Header) []transcripts.Member {
	values := map[string][]string{}
	for _, name := range sortedNames(h) {
		if lower := strings.ToLower(name); keepHeader(lower) {
			values[lower] = append(values[lower], h[name]...)
		}
	}
	var kept []transcripts.Member
	for _, name := range slices.Sorted(maps.Keys(values)) {
		text := r.Text(strings.Join(values[name], ", "))
		kept = append(kept, transcripts.Member{Name: name, Value: quoted(text)})
	}
	return kept
}

func keepHeader(lower string) bool {
	return keptHeaders[lower] || slices.ContainsFunc(keptHeaderPrefixes, func(prefix string) bool {
		return strings.HasPrefix(lower, prefix)
	})
}

// isSecretHeader reports that a request header usually carries a credential.
func isSecretHeader(name string) bool {
	lower := strings.ToLower(name)
	return lower == "cookie" || isSecretName(lower)
}

func sortedNames(h http.Header) []string { return slices.Sorted(maps.Keys(h)) }
