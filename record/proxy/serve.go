package proxy

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"slices"
	"strings"
	"sync"

	"github.com/tapetree/tapetree/record"
	"github.com/tapetree/tapetree/transcripts"
)

// Tape is a transcript that a Replay serves under a name.
type Tape struct {
	Name string // letters, digits and . _ -
	File *transcripts.File
}

// ReplayOptions sets up a Replay.
type ReplayOptions struct {
	Tapes []Tape
	// Playback gives the options of a new session of a tape. A Redactor, if
	// there is one, is to be new each time. nil: the zero options.
	Playback func(name string) record.PlaybackOptions
	// Ended, if not nil, is given the report of every session when it is over,
	// in place of Close. It is called from several goroutines, outside any lock.
	Ended func(SessionReport)
}

// SessionReport is what came of one session.
type SessionReport struct {
	Session string // as in the URL: NAME or NAME@ID; "" is the default session
	Tape    string
	Run     int // from 1: a session that was played to its end begins anew
	*record.PlaybackReport
}

// Replay answers clients from transcripts, several sessions at once. The session
// NAME plays the tape NAME, the session NAME@ID plays it beside all others. The
// default session plays the only tape, or the one that begins with its first
// request. A session begins with a request for a model answer; others before it
// are answered as far as they were recorded. A session whose exchanges have all been asked for begins anew with
// the next first request.
type Replay struct {
	options ReplayOptions
	tapes   map[string]*tapeEntry
	names   []string // sorted

	mu       sync.Mutex
	current  map[string]*playing // by session
	finished []*playing          // that may still be asked, the oldest first
	reports  []SessionReport     // not yet given to Ended
	unknown  map[string]string   // why sessions that were asked for are none
	closed   bool
}

// tapeEntry is one tape, with a playback that serves nobody: it tells which
// requests begin the tape.
type tapeEntry struct {
	Tape
	probe *record.Playback
}

// playing is one run of a session.
type playing struct {
	session, tape string
	run           int
	playback      *record.Playback
	active        int  // requests under way
	over          bool // no request comes any more
}

// maxFinished is how many sessions that are played to their end wait for one
// more request. What waits longer is summed up and forgotten.
const maxFinished = 64

// NewReplay prepares the tapes. It fails when there is none, or two have one
// name.
func NewReplay(o ReplayOptions) (*Replay, error) {
	if len(o.Tapes) == 0 {
		return nil, errors.New("serve: no transcript given")
	}
	if o.Playback == nil {
		o.Playback = func(string) record.PlaybackOptions { return record.PlaybackOptions{} }
	}
	r := &Replay{options: o, tapes: map[string]*tapeEntry{}, current: map[string]*playing{}, unknown: map[string]string{}}
	for _, tape := range o.Tapes {
		if !sessionName.MatchString(tape.Name) || strings.Contains(tape.Name, "@") {
			return nil, fmt.Errorf("serve: transcript name %q: must be of letters, digits and . _ -", tape.Name)
		}
		if r.tapes[tape.Name] != nil {
			return nil, fmt.Errorf("serve: two transcripts are named %s", tape.Name)
		}
		probe, err := record.NewPlayback(tape.File, o.Playback(tape.Name))
		if err != nil {
			return nil, fmt.Errorf("serve %s: %w", tape.Name, err)
		}
		r.tapes[tape.Name] = &tapeEntry{tape, probe}
		r.names = append(r.names, tape.Name)
	}
	slices.Sort(r.names)
	return r, nil
}

// SessionCount implements Sessions.
func (r *Replay) SessionCount() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return len(r.current)
}

// ServeSession implements Sessions.
func (r *Replay) ServeSession(session string, w http.ResponseWriter, req *http.Request) {
	body, err := io.ReadAll(req.Body)
	if err != nil {
		unread(w, req, err)
		return
	}
	req.Body = io.NopCloser(bytes.NewReader(body))
	if probe := r.beside(session, req); probe != nil {
		probe.ServeHTTP(w, req)
		return
	}
	p, refused := r.enter(session, req, body)
	r.tell()
	if refused != nil {
		WriteError(w, req, refused.status, "unknown_session", refused.text)
		return
	}
	defer r.tell()
	defer r.leave(p)
	p.playback.ServeHTTP(w, req)
}

// unread answers a request whose body did not come, or was too large.
func unread(w http.ResponseWriter, req *http.Request, err error) {
	if large, ok := errors.AsType[*http.MaxBytesError](err); ok {
		tooLarge(w, req, large.Limit)
		return
	}
	WriteError(w, req, http.StatusBadRequest, "unreadable_body", "the request's body did not come whole")
}

// refused says why a request belongs to no session.
type refused struct {
	status int
	text   string
}

// enter finds the run of a session that a request belongs to, or begins one.
func (r *Replay) enter(session string, req *http.Request, body []byte) (*playing, *refused) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.closed {
		return nil, &refused{http.StatusServiceUnavailable, "the server is stopping"}
	}
	p := r.current[session]
	tape, why := r.tapeFor(session, p, req, body)
	if why != nil {
		r.strange(session, req, why.text)
		return nil, why
	}
	if tape != "" {
		next, err := r.begin(session, tape, p)
		if err != nil {
			return nil, &refused{http.StatusInternalServerError, err.Error()}
		}
		p = next
	}
	p.active++
	r.finished = slices.DeleteFunc(r.finished, func(f *playing) bool { return f == p })
	return p, nil
}

// tapeFor names the tape that a new run of a session is to play; "" when the
// request belongs to the present run. The lock is held.
func (r *Replay) tapeFor(session string, p *playing, req *http.Request, body []byte) (string, *refused) {
	isModel := asksModel(req)
	name, _, _ := strings.Cut(session, "@")
	if session == "" && len(r.names) == 1 {
		name = r.names[0]
	}
	switch {
	case name != "" && r.tapes[name] == nil:
		return "", &refused{http.StatusNotFound, fmt.Sprintf("there is no transcript %s; there are: %s", name, strings.Join(r.names, ", "))}
	case name != "" && p == nil:
		return name, nil
	case name != "":
		if isModel && p.playback.Finished() && r.tapes[name].probe.Begins(req.URL.Path, body) > 0 {
			return name, nil
		}
		return "", nil
	}
	return r.defaultTape(p, isModel, req, body)
}

// defaultTape is tapeFor for the default session of several tapes.
func (r *Replay) defaultTape(p *playing, isModel bool, req *http.Request, body []byte) (string, *refused) {
	if p != nil && (!isModel || p.playback.Awaits(req.URL.Path, body)) {
		return "", nil
	}
	best, most := "", 0
	for _, name := range r.names {
		probe := r.tapes[name].probe
		fit := probe.Begins(req.URL.Path, body)
		if fit > most {
			best, most = name, fit
		}
	}
	if p == nil && best == "" {
		return "", &refused{http.StatusNotFound,
			"no transcript begins with this request; name one in the path, as in /s/NAME/v1; there are: " + strings.Join(r.names, ", ")}
	}
	return best, nil
}

// begin starts a run of a session in the place of the one before. The lock is
// held.
func (r *Replay) begin(session, tape string, before *playing) (*playing, error) {
	playback, err := record.NewPlayback(r.tapes[tape].File, r.options.Playback(tape))
	if err != nil {
		return nil, err
	}
	p := &playing{session: session, tape: tape, run: 1, playback: playback}
	r.current[session] = p
	if before != nil {
		p.run = before.run + 1
		before.over = true
		r.finished = slices.DeleteFunc(r.finished, func(f *playing) bool { return f == before })
		if before.active == 0 {
			r.sumUp(before)
		}
	}
	return p, nil
}

// leave ends a request.
func (r *Replay) leave(p *playing) {
	r.mu.Lock()
	defer r.mu.Unlock()
	p.active--
	switch {
	case p.active > 0 || r.closed && !p.over:
	case p.over:
		r.sumUp(p)
	case p.playback.Finished():
		r.finished = append(r.finished, p)
		if len(r.finished) > maxFinished {
			oldest := r.finished[0]
			r.finished = r.finished[1:]
			delete(r.current, oldest.session)
			oldest.over = true
			r.sumUp(oldest)
		}
	}
}

// sumUp closes a run that no request comes to any more. The lock is held.
func (r *Replay) sumUp(p *playing) {
	report, err := p.playback.Close()
	if err != nil { // Close of a playback does not fail; were it to, no run may pass for that
		report = &record.PlaybackReport{Report: &record.Report{Findings: []record.Finding{{Code: "replay/partial", Message: err.Error()}}}}
	}
	r.reports = append(r.reports, SessionReport{Session: p.session, Tape: p.tape, Run: p.run, PlaybackReport: report})
}

// tell gives Ended the reports that it has not had.
func (r *Replay) tell() {
	if r.options.Ended == nil {
		return
	}
	r.mu.Lock()
	reports := r.reports
	r.reports = nil
	r.mu.Unlock()
	for _, report := range reports {
		r.options.Ended(report)
	}
}

// Close ends all sessions, also those under way, and returns a report for each
// run that Ended was not given, by session and run.
func (r *Replay) Close() []SessionReport {
	defer r.tell()
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.closed {
		r.closed = true
		for _, session := range slices.Sorted(maps.Keys(r.current)) {
			r.sumUp(r.current[session])
		}
		clear(r.current)
	}
	slices.SortFunc(r.reports, func(a, b SessionReport) int {
		if c := strings.Compare(a.Session, b.Session); c != 0 {
			return c
		}
		return a.Run - b.Run
	})
	if r.options.Ended != nil {
		return nil
	}
	return r.reports
}
