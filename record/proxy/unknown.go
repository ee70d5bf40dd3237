package proxy

import (
	"maps"
	"net/http"
	"slices"
	"strings"

	"github.com/tapetree/tapetree/record"
	"github.com/tapetree/tapetree/runtime"
)

// UnknownSession is a session that a client asked for, and that there is not.
type UnknownSession struct {
	Session string // as in the URL; "" is the default session
	Why     string
}

// maxUnknown is how many names of unknown sessions are kept.
const maxUnknown = 256

// Unknown lists the sessions that were asked for and that there are not, by
// name.
func (r *Replay) Unknown() []UnknownSession {
	r.mu.Lock()
	defer r.mu.Unlock()
	var list []UnknownSession
	for _, session := range slices.Sorted(maps.Keys(r.unknown)) {
		list = append(list, UnknownSession{session, r.unknown[session]})
	}
	return list
}

// strange notes a request that belongs to no session. Of the default session,
// which browsers ask too, only requests for a model answer count. The lock is
// held.
func (r *Replay) strange(session string, req *http.Request, why string) {
	if session == "" && !asksModel(req) {
		return
	}
	if _, known := r.unknown[session]; known || len(r.unknown) < maxUnknown {
		r.unknown[session] = why
	}
}

// asksModel reports whether a request is one for a model answer.
func asksModel(req *http.Request) bool {
	_, known := runtime.WireOf(req.URL.Path)
	return known && req.Method == http.MethodPost
}

// beside returns what answers a request that begins no session and belongs to
// none: the probe of the tape that it would be answered from; nil for any other.
func (r *Replay) beside(session string, req *http.Request) *record.Playback {
	r.mu.Lock()
	defer r.mu.Unlock()
	if asksModel(req) || r.closed || r.current[session] != nil {
		return nil
	}
	name, _, _ := strings.Cut(session, "@")
	if session != "" {
		if tape := r.tapes[name]; tape != nil {
			return tape.probe
		}
		return nil
	}
	for _, name := range r.names {
		if probe := r.tapes[name].probe; len(r.names) == 1 || probe.Knows(req.Method, req.URL.Path) {
			return probe
		}
	}
	return nil
}
