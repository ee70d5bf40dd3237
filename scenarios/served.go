package scenarios

import (
	"errors"
	"fmt"
	"io/fs"

	"github.com/tapetree/tapetree/golden"
	"github.com/tapetree/tapetree/record"
	"github.com/tapetree/tapetree/record/proxy"
)

// Served is a scenario of a foreign transcript that a server answers from, for
// clients that run by themselves.
type Served struct {
	session *session
	options ReplayOptions
	environ []string
	left    []string // sections that cannot be judged here
}

// OpenServed reads what is served under a name: a scenario, or a transcript that
// has none. Close it in the end.
func OpenServed(source Source, name string, o ReplayOptions) (*Served, error) {
	command := &Command{Environ: o.Environ}
	scenario, err := source.loadFor(name, command)
	if err != nil {
		return nil, err
	}
	tape, err := source.transcript(scenario.Transcript)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, fmt.Errorf("%w: transcript %s is missing: record it with `tapetree record %s`",
			ErrCannotRun, source.display(transcriptFolder, scenario.Transcript+transcriptEnding), recordLine(scenario, o))
	case err != nil:
		return nil, err
	case !tape.Foreign():
		return nil, fmt.Errorf("%w: %s was recorded by tapetree's own runner, which needs no server: `tapetree replay %s`", ErrBadInput, tape.Path, name)
	}
	s := &Served{options: o, environ: command.environ()}
	apart := *scenario
	apart.Files, apart.Links, apart.FIFOs, apart.Outside, apart.Workspace = nil, nil, nil, nil, ""
	for _, section := range []struct {
		name  string
		given bool
		drop  func()
	}{
		{"want/files", apart.Want.Files != nil, func() { apart.Want.Files = nil }},
		{"want/absent", apart.Want.Absent != nil, func() { apart.Want.Absent = nil }},
		{"want/verify", apart.Want.Verify != "", func() { apart.Want.Verify = "" }},
	} {
		if section.given {
			section.drop()
			s.left = append(s.left, section.name+" is not judged: the client works in a folder of its own")
		}
	}
	if s.session, err = openForeign(source, &apart, command); err != nil {
		return nil, err
	}
	s.session.tape = tape
	return s, nil
}

// Foreign reports whether the transcript of a scenario was recorded by a program
// that is not ours. One that cannot be read was not.
func (s Source) Foreign(name string) bool {
	scenario, err := s.Load(name)
	if err != nil {
		return false
	}
	tape, err := s.transcript(scenario.Transcript)
	return err == nil && tape.Foreign()
}

// Close removes what OpenServed made.
func (s *Served) Close() { s.session.close() }

// Tape is what the server plays.
func (s *Served) Tape() proxy.Tape {
	return proxy.Tape{Name: s.session.scenario.Name, File: s.session.tape}
}

// Playback sets up one session.
func (s *Served) Playback() record.PlaybackOptions {
	options := s.session.playbackOptions(s.options)
	options.Redact = record.NewRedactor(s.environ)
	return options
}

// Judge judges one session that has ended, under the given name. It may be
// called from several goroutines.
func (s *Served) Judge(source Source, name string, played *record.PlaybackReport) Result {
	r := Result{Name: name, Status: Pass, Remarks: s.left}
	err := r.judgePlayed(s.session, played, s.options)
	if err == nil {
		r.expect(s.session.scenario.Want.Findings)
		if r.Golden != "" && !missed(r.Findings) {
			err = r.compare(source, s.session.scenario)
		}
	}
	if err != nil {
		r.Status, r.Err = Error, err
	} else if failing(r.Findings, s.options.Strict) {
		r.Status = Fail
	}
	r.Session = nil // a server lives long
	return r
}

// compare holds the history against the golden one and writes nothing: sessions
// that end at once would write the same file.
func (r *Result) compare(source Source, scenario *Scenario) error {
	return r.holdIn(golden.Store{FS: source.Goldens, Dir: source.display(goldenFolder, "")}, scenario, ReplayOptions{})
}
