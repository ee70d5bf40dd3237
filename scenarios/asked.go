package scenarios

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/tapetree/tapetree/record/proxy"
	"github.com/tapetree/tapetree/runtime"
)

// asked watches what a recorded program asks and what its upstream says, so that
// a recording in which no model answered can say why. It stands before the proxy
// and behind it. Its methods may be called from several goroutines.
type asked struct {
	proxy *proxy.Proxy
	next  http.RoundTripper

	mu       sync.Mutex
	requests int            // that came to us
	statuses map[int]int    // of answers to requests for a model, and how many of each
	failed   map[string]int // what got no answer, by address and reason
	canceled int            // what the program gave up before it was answered
}

// forModel marks the context of a request for a model.
type forModel struct{}

func newAsked(next http.RoundTripper) *asked {
	return &asked{next: next, statuses: map[int]int{}, failed: map[string]int{}}
}

// ServeSession implements proxy.Sessions: all sessions of a program are one, as
// it was given one address.
func (a *asked) ServeSession(_ string, w http.ResponseWriter, r *http.Request) {
	a.mu.Lock()
	a.requests++
	a.mu.Unlock()
	if _, model := runtime.WireOf(r.URL.Path); model && r.Method == http.MethodPost {
		r = r.WithContext(context.WithValue(r.Context(), forModel{}, true))
	}
	a.proxy.ServeSession("", w, r)
}

// SessionCount implements proxy.Sessions.
func (a *asked) SessionCount() int { return a.proxy.SessionCount() }

// RoundTrip implements http.RoundTripper.
func (a *asked) RoundTrip(r *http.Request) (*http.Response, error) {
	response, err := a.next.RoundTrip(r)
	if r.Context().Value(forModel{}) == nil {
		return response, err
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	switch {
	case err == nil:
		a.statuses[response.StatusCode]++
	case r.Context().Err() != nil:
		a.canceled++
	default:
		a.failed[fmt.Sprintf("%s could not be reached (%s)", plainURL(&url.URL{Scheme: r.URL.Scheme, Host: r.URL.Host}), runtime.ConnectKind(err))]++
	}
	return response, err
}

// CloseIdleConnections lets go of connections that nobody uses any more.
func (a *asked) CloseIdleConnections() {
	if idle, ok := a.next.(interface{ CloseIdleConnections() }); ok {
		idle.CloseIdleConnections()
	}
}

// answered reports whether a model answered a request.
func (a *asked) answered() bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	for status := range a.statuses {
		if status >= 200 && status < 300 {
			return true
		}
	}
	return false
}

// why says why there is nothing to keep of a program that ended with code.
func (a *asked) why(code int) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	var reasons []string
	if len(a.statuses) > 0 {
		var codes []string
		count := 0
		for _, status := range slices.Sorted(maps.Keys(a.statuses)) {
			codes = append(codes, strconv.Itoa(status))
			count += a.statuses[status]
		}
		reasons = append(reasons, "the upstream answered "+strings.Join(codes, ", ")+" to "+allOf(count, a.requests))
	}
	for _, reason := range slices.Sorted(maps.Keys(a.failed)) {
		reasons = append(reasons, "the upstream "+reason+" for "+allOf(a.failed[reason], a.requests))
	}
	if len(reasons) > 0 {
		return &nothingRecorded{strings.Join(reasons, ", and ") + ": nothing is written"}
	}
	reason := fmt.Sprintf("of what the program asked (%s) nothing was a request for a model that could be sent on", requests(a.requests))
	switch {
	case a.canceled > 0:
		reason = "the program gave up before the upstream answered"
	case a.requests > 0:
	case code >= interruptedCode:
		reason = "the command was ended by a signal before it asked for anything"
	case code != 0:
		reason = fmt.Sprintf("the command exited with %d before it asked for anything", code)
	default:
		reason = "the program asked nothing of our address; does its client read OPENAI_BASE_URL? docs/clients.md says what each reads"
	}
	return &nothingRecorded{ErrNothingRecorded.Error() + ": " + reason}
}

func requests(n int) string {
	if n == 1 {
		return "1 request"
	}
	return fmt.Sprintf("%d requests", n)
}

// allOf is n requests out of all that came.
func allOf(n, all int) string {
	switch {
	case n == 1 && all == 1:
		return "the only request"
	case n == all:
		return "all " + requests(n)
	}
	return requests(n)
}

// nothingRecorded says why nothing was recorded. It is ErrNothingRecorded.
type nothingRecorded struct{ text string }

func (e *nothingRecorded) Error() string { return e.text }

// Is makes it an error that holds ErrNothingRecorded.
func (e *nothingRecorded) Is(target error) bool { return errors.Is(ErrNothingRecorded, target) }

// plainURL is an address without what may be secret in it.
func plainURL(u *url.URL) string {
	plain := *u
	plain.User, plain.RawQuery, plain.ForceQuery, plain.Fragment, plain.RawFragment = nil, "", false, "", ""
	return plain.String()
}
