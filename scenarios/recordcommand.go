package scenarios

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/tapetree/tapetree/internal/files"
	"github.com/tapetree/tapetree/record"
	"github.com/tapetree/tapetree/record/attribution"
	"github.com/tapetree/tapetree/record/proxy"
	"github.com/tapetree/tapetree/transcripts"
)

// RecordCommandOptions say which program is recorded, and against which model.
type RecordCommandOptions struct {
	Command              Command
	Upstream             *url.URL          // of an OpenAI-compatible API
	AnthropicUpstream    *url.URL          // of the Anthropic API; nil: Upstream gets its requests too
	Transport            http.RoundTripper // nil: net/http's
	IgnoreSessionHeaders bool
	Now                  func() time.Time // nil: time.Now
	OS                   string           // for the header; "": this system
	By                   string           // who records, for the header
	// Replace lets a recording whose program failed, or was ended by a signal,
	// take the place of an older transcript.
	Replace bool
	// Keep refuses a session of a proxy whose golden history is there already,
	// for a place where nobody looks at what changes.
	Keep bool
}

// CommandRecording is what recording a program came to.
type CommandRecording struct {
	Code       int      // the program's exit code
	Transcript string   // path written; "" when nothing was recorded
	Scenario   string   // path written; "" when it was there before
	Kept       string   // where the recording lies, when an older transcript is left as it is
	Because    string   // why it is left
	Other      string   // the command of the scenario, when another one was recorded
	Leftover   string   // an earlier recording that had broken off, kept under this name
	Notes      []string // what the program changes in the answers that it sends back
	File       *transcripts.File
	Replay     *Result // how the new transcript replays; nil when there is none
}

// interruptedCode is from where on an exit code says that a signal ended the
// program.
const interruptedCode = 128

// RecordCommand runs a program with its model calls passing through a recording
// proxy, and writes the transcript, the scenario if there is none, and the
// golden history. A recording in which no model answered with success writes
// nothing: the error holds ErrNothingRecorded and says why, and the result still
// has the program's code. One whose program was ended by a signal, or failed
// where the recorded one had not, takes the place of an older transcript only
// with Replace.
func RecordCommand(ctx context.Context, source Source, name string, o RecordCommandOptions) (*CommandRecording, error) {
	result := &CommandRecording{}
	scenario, isNew, err := commandScenario(source, name, &o, result)
	if err != nil {
		return nil, err
	}
	s, err := openForeign(source, scenario, &o.Command)
	if err != nil {
		return nil, err
	}
	defer s.close()
	if err := s.recordCommand(ctx, source, &o, result); err != nil {
		return result, err
	}
	if result.Transcript == "" {
		return result, nil
	}
	return result, result.settle(ctx, source, scenario, isNew, o.Command.Environ)
}

// commandScenario reads the scenario that a program is recorded for, or makes a
// new one, and gives the options the command of the scenario if they have none.
func commandScenario(source Source, name string, o *RecordCommandOptions, result *CommandRecording) (scenario *Scenario, isNew bool, err error) {
	if scenario, err = source.Load(name); err == nil {
		if scenario.Prompt != "" && scenario.Command == nil {
			return nil, false, fmt.Errorf("%w: %s is a scenario of tapetree's own runner: choose another name for the command", ErrBadInput, scenario.File)
		}
		words, err := source.commandWords(scenario)
		switch {
		case err != nil:
			return nil, false, err
		case o.Command.Args == nil:
			o.Command.Args = words
		case words != nil && !slices.Equal(o.Command.Args, words):
			result.Other = scenario.File + " still has command: " + formatCommand(scenario)
		}
		return scenario, false, nil
	}
	if !errors.Is(err, fs.ErrNotExist) {
		return nil, false, err
	}
	scenario = &Scenario{Name: name, File: source.display(scenarioFolder, name+scenarioEnding), Command: o.Command.Args, Transcript: name, Golden: name}
	parsed, err := Parse(scenario.File, Format(scenario), nil)
	if err != nil {
		return nil, false, fmt.Errorf("%w: this command cannot be kept as a scenario: %w", ErrBadInput, err)
	}
	if !slices.Equal(parsed.Command, scenario.Command) {
		return nil, false, fmt.Errorf("%w: this command cannot be kept as a scenario: its words do not survive the file format", ErrBadInput)
	}
	redact := record.NewRedactor(o.Command.environ())
	if kinds := redact.Find(strings.Join(o.Command.Args, "\n")); len(kinds) > 0 {
		return nil, false, fmt.Errorf("%w: a secret (%s) stands in the command, and would in %s: give it to the command in a variable of the environment", ErrBadInput, strings.Join(kinds, ", "), scenario.File)
	}
	return scenario, true, nil
}

// recordCommand runs the program and puts its recording in place.
func (s *session) recordCommand(ctx context.Context, source Source, o *RecordCommandOptions, result *CommandRecording) error {
	transcript := source.TranscriptPath(s.scenario.Transcript)
	if err := s.startProxied(transcript, o); err != nil {
		return err
	}
	result.Leftover = s.writer.Leftover()
	onward := o.Transport
	if onward == nil {
		onward = proxy.NewTransport()
	}
	seen := newAsked(onward)
	passing, err := proxy.New(proxy.Options{
		Upstream: o.Upstream, AnthropicUpstream: o.AnthropicUpstream, Transport: seen,
		Open: func(string) (*record.Recorder, error) { return s.recorder, nil },
	})
	if err != nil {
		return fmt.Errorf("%w: %w", ErrBadInput, err)
	}
	seen.proxy = passing
	code, ranErr := s.execute(ctx, &o.Command, seen, false, false)
	result.Code = code
	if !seen.answered() {
		return s.nothing(passing, seen, code, ranErr)
	}
	result.Because = s.olderStays(source, o, code, ranErr)
	if ranErr != nil || result.Because != "" && !s.writer.Empty() {
		return errors.Join(ranErr, s.keepAside(result, passing))
	}
	s.recorder.Exited(code)
	result.File, result.Notes, err = s.closeProxied(passing)
	switch {
	case errors.Is(err, transcripts.ErrEmpty):
		return fmt.Errorf("%w: %w", ErrCannotRun, ErrNothingRecorded)
	case err != nil:
		return fmt.Errorf("%w: %w", ErrCannotRun, err)
	}
	result.Transcript = transcript
	return nil
}

// nothing ends a recording in which no model answered with success. What was
// recorded is of no use to anybody, so nothing is left of it.
func (s *session) nothing(passing *proxy.Proxy, seen *asked, code int, ranErr error) error {
	err := s.writer.Discard()
	passing.Close() // there is nothing left to be kept
	switch {
	case err != nil:
		return errors.Join(ranErr, fmt.Errorf("%w: %w", ErrCannotRun, err))
	case ranErr != nil:
		return ranErr
	}
	return fmt.Errorf("%w: %w", ErrCannotRun, seen.why(code))
}

// olderStays says why a recording must not take the place of an older
// transcript; "": it may.
func (s *session) olderStays(source Source, o *RecordCommandOptions, code int, ranErr error) string {
	if _, err := os.Lstat(source.TranscriptPath(s.scenario.Transcript)); err != nil || o.Replace {
		return ""
	}
	old, err := source.transcript(s.scenario.Transcript)
	switch {
	case ranErr != nil:
		return "the command did not come to its end"
	case code >= interruptedCode:
		return "the command was ended by a signal"
	case code != 0 && err == nil && old.End != nil && old.End.Code != nil && *old.End.Code == 0:
		return fmt.Sprintf("the command exited with %d, and the recorded one with 0", code)
	}
	return ""
}

// closeProxied puts the recording in place. The proxy ends what it has begun.
func (s *session) closeProxied(passing *proxy.Proxy) (file *transcripts.File, notes []string, err error) {
	if results := passing.Close(); len(results) > 0 {
		return results[0].File, results[0].Notes, results[0].Err
	}
	file, err = s.recorder.Close() // nothing was asked
	return file, nil, err
}

// keepAside leaves an unfinished recording beside the transcript, which stays.
func (s *session) keepAside(result *CommandRecording, passing *proxy.Proxy) error {
	var err error
	if s.writer.Empty() {
		if _, _, err = s.closeProxied(passing); errors.Is(err, transcripts.ErrEmpty) {
			err = nil
		}
	} else {
		result.Kept, err = s.writer.Keep()
		passing.Close() // its recording is put away already
	}
	if err != nil {
		return fmt.Errorf("%w: %w", ErrCannotRun, err)
	}
	return nil
}

// startProxied begins the recording of a program.
func (s *session) startProxied(transcript string, o *RecordCommandOptions) error {
	now := o.Now
	if now == nil {
		now = time.Now
	}
	if err := os.MkdirAll(filepath.Dir(transcript), 0o755); err != nil {
		return fmt.Errorf("%w: make the transcripts folder %s: %w", ErrCannotRun, filepath.Dir(transcript), files.Reason(err))
	}
	for _, upstream := range []*url.URL{o.Upstream, o.AnthropicUpstream} {
		if upstream != nil {
			s.redact.URL(upstream.String()) // what secret stands in it is known from now on
		}
	}
	// Which models and which upstream answered which client, the recorder says.
	writer, err := transcripts.Create(transcript, transcripts.Header{
		Name: s.scenario.Name, Recorded: now().UTC().Format(time.RFC3339), By: o.By,
		Env: transcripts.Env{OS: systemName(o.OS), Date: now().Format(time.DateOnly)},
	})
	if err != nil {
		return fmt.Errorf("%w: %w", ErrCannotRun, err)
	}
	s.writer = writer
	s.recorder = record.NewRecorder(writer, record.RecorderOptions{
		Fold: s.folder, Redact: s.redact, Now: o.Now,
		Attribute: &attribution.Options{IgnoreSessionHeaders: o.IgnoreSessionHeaders}, NeedsAnswer: true,
	})
	return nil
}

// proxied is the scenario of what came through a proxy: nobody knows the command.
const proxied = `# Recorded through "tapetree proxy". The recorded requests are sent again; with the
# program that sent them: tapetree replay %s -- COMMAND
`

// settle writes the scenario of a new recording, and its golden history by
// sending the recorded requests again: what every later replay is held against
// comes from a replay.
func (c *CommandRecording) settle(ctx context.Context, source Source, scenario *Scenario, isNew bool, environ []string) error {
	if isNew {
		path := source.ScenarioPath(scenario.Name)
		if err := writeScenario(path, scenario); err != nil {
			return err
		}
		c.Scenario = path
	}
	// A cancelled context would cancel the replay too.
	replay := Replay(context.WithoutCancel(ctx), source, scenario.Name, ReplayOptions{Update: true, Environ: environ, goldenOnly: true})
	c.Replay = &replay
	return nil
}
