package scenarios

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"sync"

	"github.com/tapetree/tapetree/record"
	"github.com/tapetree/tapetree/record/proxy"
	"github.com/tapetree/tapetree/transcripts"
)

// Proxied keeps the recordings of a long-running proxy: a transcript, a scenario
// and a golden history for each session that ends.
type Proxied struct {
	source  Source
	options RecordCommandOptions
	main    string // the name of the default session

	mu   sync.Mutex
	open map[string]*proxiedSession
}

type proxiedSession struct {
	*session
	isNew bool
}

// NewProxied keeps what a proxy records, the default session under the name
// main.
func NewProxied(source Source, main string, o RecordCommandOptions) *Proxied {
	return &Proxied{source: source, options: o, main: main, open: map[string]*proxiedSession{}}
}

// Proxy passes requests on and records them. A session's result, and what could
// not be kept of it, is given to ended.
func (p *Proxied) Proxy(strict bool, ended func(name string, r *CommandRecording, err error)) (*proxy.Proxy, error) {
	passing, err := proxy.New(proxy.Options{
		Upstream: p.options.Upstream, AnthropicUpstream: p.options.AnthropicUpstream, Transport: p.options.Transport,
		Strict: strict, Open: p.begin,
		Ended: func(result proxy.Result) {
			r, err := p.end(result)
			ended(p.nameOf(result.Session), r, err)
		},
	})
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrBadInput, err)
	}
	return passing, nil
}

func (p *Proxied) nameOf(session string) string { return firstWord(session, p.main) }

// begin opens the recording of a session.
func (p *Proxied) begin(session string) (*record.Recorder, error) {
	name := p.nameOf(session)
	if !validName.MatchString(name) {
		return nil, &record.RefusedError{Text: fmt.Sprintf("%q is no name for a recording; use lower-case letters, digits, dots, - and _", name)}
	}
	scenario, err := p.source.Load(name)
	isNew := errors.Is(err, fs.ErrNotExist)
	switch {
	case isNew:
		scenario = &Scenario{Name: name, File: p.source.display(scenarioFolder, name+scenarioEnding), Transcript: name, Golden: name}
	case err != nil:
		return nil, err
	case scenario.Prompt != "" && scenario.Command == nil:
		return nil, &record.RefusedError{Text: scenario.File + " is a scenario of tapetree's own runner: choose another name for the session"}
	}
	if path := p.source.GoldenPath(scenario.Golden); p.options.Keep && isThere(path) {
		return nil, &record.RefusedError{Text: path + " would be written anew, and is refused because CI is set: choose another name for the session"}
	}
	s, err := openForeign(p.source, scenario, &p.options.Command)
	if err != nil {
		return nil, err
	}
	if err := s.startProxied(p.source.TranscriptPath(scenario.Transcript), &p.options); err != nil {
		s.close()
		return nil, err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.open[session] = &proxiedSession{s, isNew}
	return s.recorder, nil
}

// end keeps what a session has recorded.
func (p *Proxied) end(result proxy.Result) (*CommandRecording, error) {
	p.mu.Lock()
	s := p.open[result.Session]
	delete(p.open, result.Session)
	p.mu.Unlock()
	if s == nil {
		return nil, result.Err // it could not begin
	}
	defer s.close()
	r := &CommandRecording{Leftover: s.writer.Leftover(), Notes: result.Notes, File: result.File}
	switch {
	case errors.Is(result.Err, transcripts.ErrEmpty):
		return r, fmt.Errorf("%w: %w", ErrCannotRun, result.Err)
	case result.Err != nil:
		return r, fmt.Errorf("%w: %w", ErrCannotRun, result.Err)
	}
	r.Transcript = p.source.TranscriptPath(s.scenario.Transcript)
	return r, r.settle(context.Background(), p.source, s.scenario, s.isNew, p.options.Command.Environ)
}

func isThere(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}
