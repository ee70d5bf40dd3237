package scenarios

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"slices"
	"strings"

	"github.com/tapetree/tapetree/golden"
	"github.com/tapetree/tapetree/internal/files"
	"github.com/tapetree/tapetree/internal/prices"
	"github.com/tapetree/tapetree/record"
	"github.com/tapetree/tapetree/transcripts"
)

// RebaseOptions are the caller's wishes for a rebase. The zero value suits a
// scenario of our own runner.
type RebaseOptions struct {
	Environ    []string // whose secret values are replaced; nil: os.Environ()
	ChildJobs  int      // children of one turn at once; 0: runtime.DefaultChildJobs
	AllowShell bool     // shell=live runs, unconfined
	Prices     *prices.Table

	Command      *Command // the program of a foreign transcript; nil: the scenario's own, if AllowCommand is set
	AllowCommand bool
	Output       io.Writer // takes what the scenario's own command writes; nil: nobody does
	Offline      bool      // the command runs in a network of its own
}

// Rebase is what keeping a scenario's responses and recording its requests anew
// comes to. Nothing is written before Write.
type Rebase struct {
	Name       string
	Transcript string // its path
	Before     []byte // the transcript as it is
	After      []byte // as it would be; equal to Before when no request changed
	Changes    []record.Change
	Golden     string  // the path of the golden history
	Diff       string  // what the rebased session changes in it, as golden.Compare writes it; "": nothing
	Replay     *Result // of the rebased transcript, which is not held against the golden history; nil when nothing changed

	history string
	stored  string
	missing bool // there is no golden history yet
}

// RefusedError says why the responses of a recording cannot be kept.
type RefusedError struct {
	Name, Why string
	Record    string // what `tapetree record` is given to record it again
}

// Error implements error.
func (e *RefusedError) Error() string {
	return fmt.Sprintf("rebase %s: %s; nothing is written: record it again with `tapetree record %s`", e.Name, e.Why, e.Record)
}

// ErrNoCommand is in the error of a rebase of a program's recording that no
// program is given for.
var ErrNoCommand = errors.New("no program runs here")

// ErrMeant is in the error of a rebase of a scenario that demands findings about
// its requests.
var ErrMeant = errors.New("its requests are meant to differ")

// Changed reports whether any request of the scenario is another one now.
func (p *Rebase) Changed() bool { return !bytes.Equal(p.Before, p.After) }

// PlanRebase runs a scenario with its recorded responses and finds what its
// transcript and golden history would be with the requests it sends now. No
// model is asked. A *RefusedError says that the responses do not fit any more:
// one is missing, or one is left over.
func PlanRebase(ctx context.Context, source Source, name string, o RebaseOptions) (*Rebase, error) {
	scenario, err := source.loadFor(name, o.Command)
	if err != nil {
		return nil, err
	}
	p := &Rebase{Name: name, Transcript: source.display(transcriptFolder, scenario.Transcript+transcriptEnding),
		Golden: source.display(goldenFolder, scenario.Golden+goldenEnding)}
	p.Before, err = files.Read(source.Transcripts, scenario.Transcript+transcriptEnding, files.TranscriptLimit)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("%w: transcript %s is missing: record it with `tapetree record %s`", ErrCannotRun, p.Transcript, name)
	}
	if err != nil {
		return nil, fmt.Errorf("read transcript %s: %w", p.Transcript, err)
	}
	tape, err := transcripts.Parse(p.Transcript, p.Before)
	if err != nil {
		return nil, err
	}
	if code := slices.IndexFunc(scenario.Want.Findings, isDrift); code >= 0 {
		return nil, fmt.Errorf("%w: %s demands %s, so %w: nothing to rebase", ErrBadInput, scenario.File, scenario.Want.Findings[code], ErrMeant)
	}
	var rebased *record.Rebased
	if tape.Foreign() {
		rebased, err = rebaseForeign(ctx, source, scenario, tape, o)
	} else {
		rebased, err = rebaseOwn(ctx, source, scenario, tape, o)
	}
	if err != nil {
		return nil, err
	}
	p.After, p.Changes = p.Before, rebased.Changes
	if len(rebased.Changes) == 0 {
		return p, nil
	}
	p.After = []byte(golden.WithLineEnds(string(rebased.File.Encode()), string(p.Before)))
	return p, p.verify(ctx, source, scenario, tape.Foreign(), o)
}

// isDrift reports whether a finding says that the session is not the recorded
// one.
func isDrift(code string) bool {
	switch code {
	case "replay/history", "replay/prompt", "replay/tools", "replay/tool-result", "replay/verdict", "replay/stop", "replay/missing", "replay/extra":
		return true
	}
	return false
}

// rebaseOwn runs a scenario of our own runner.
func rebaseOwn(ctx context.Context, source Source, scenario *Scenario, tape *transcripts.File, o RebaseOptions) (*record.Rebased, error) {
	wishes := ReplayOptions{Environ: o.Environ, ChildJobs: o.ChildJobs, AllowShell: o.AllowShell, Command: o.Command, goldenOnly: true, rebase: true}
	if err := ofOwnRunner(scenario, wishes); err != nil {
		return nil, err
	}
	s, err := newReplaySession(source, scenario, tape, wishes)
	if err != nil {
		return nil, err
	}
	defer s.close()
	if err := s.run(ctx); err != nil {
		return nil, err
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	rebased, err := s.replayer.Rebased()
	if err != nil {
		return nil, &RefusedError{scenario.Name, err.Error(), scenario.Name}
	}
	return rebased, nil
}

// rebaseForeign runs the program of a foreign transcript.
func rebaseForeign(ctx context.Context, source Source, scenario *Scenario, tape *transcripts.File, o RebaseOptions) (*record.Rebased, error) {
	wishes := ReplayOptions{Environ: o.Environ, Command: o.Command, AllowCommand: o.AllowCommand, Output: o.Output, Offline: o.Offline}
	if o.Command == nil && (scenario.Command == nil || !o.AllowCommand) {
		way := fmt.Sprintf("`tapetree rebase %s -- COMMAND`", scenario.Name)
		if scenario.Command != nil {
			way += ", or --allow-command for the one in " + scenario.File
		}
		return nil, fmt.Errorf("%w: %s was recorded from a program, whose requests are known when it runs: give it with %s", ErrNoCommand, tape.Path, way)
	}
	command, err := source.commandOf(scenario, wishes)
	if err != nil {
		return nil, err
	}
	s, err := openForeign(source, scenario, command)
	if err != nil {
		return nil, err
	}
	defer s.close()
	s.tape = tape
	wishes.goldenOnly, wishes.rebase = true, true // no faults
	r := &Result{Name: scenario.Name}
	played, err := r.runCommand(ctx, s, command, wishes)
	if err != nil {
		return nil, err
	}
	rebased, err := played.Rebased()
	if err != nil {
		return nil, &RefusedError{scenario.Name, err.Error(), s.redact.Mask(recordLine(scenario, wishes))}
	}
	if i := slices.IndexFunc(r.Findings, func(f record.Finding) bool { return f.Code == "replay/command-exit" }); i >= 0 {
		return nil, &RefusedError{scenario.Name, r.Findings[i].Message, s.redact.Mask(recordLine(scenario, wishes))}
	}
	return rebased, nil
}

// verify replays the rebased transcript: a session that is another one each time
// is not written.
func (p *Rebase) verify(ctx context.Context, source Source, scenario *Scenario, foreign bool, o RebaseOptions) error {
	source.Transcripts = overlay{source.Transcripts, scenario.Transcript + transcriptEnding, p.After}
	r := Replay(ctx, source, p.Name, ReplayOptions{
		Environ: o.Environ, ChildJobs: o.ChildJobs, AllowShell: o.AllowShell, Prices: o.Prices, goldenOnly: foreign, dry: true,
	})
	if r.Err != nil {
		return r.Err
	}
	if i := slices.IndexFunc(r.Findings, func(f record.Finding) bool { return isDrift(f.Code) }); i >= 0 {
		f := r.Findings[i]
		return fmt.Errorf("%w: rebase %s: run twice, the session is not the same: %s %s; a volatile rule says what may differ (docs/scenarios.md); nothing is written", ErrCannotRun, p.Name, f.Code, f.Message)
	}
	p.Replay, p.history = &r, r.Golden
	stored, err := source.storedGolden().Read(scenario.Golden)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		p.missing = true
	case err != nil:
		return err
	}
	p.stored = stored
	p.Diff = golden.Compare(stored, p.history, 0)
	return nil
}

// storedGolden is where golden histories are read, and nothing is written.
func (s Source) storedGolden() golden.Store {
	return golden.Store{FS: s.Goldens, Dir: s.display(goldenFolder, "")}
}

// RewritesGolden reports whether Write writes the golden history.
func (p *Rebase) RewritesGolden() bool { return p.Diff != "" || p.missing && p.Changed() }

// Write puts the transcript and, where it is another one, the golden history in
// place: each is the old file or the new one, whatever happens. A transcript that
// is not what was planned for is left, with golden.ErrMoved.
func (p *Rebase) Write() error {
	if !p.Changed() {
		return nil
	}
	now, err := files.ReadPath(p.Transcript, files.TranscriptLimit)
	if err != nil {
		return fmt.Errorf("read transcript %s: %w", p.Transcript, err)
	}
	if !bytes.Equal(now, p.Before) {
		return fmt.Errorf("%w: %s", golden.ErrMoved, p.Transcript)
	}
	if stored, err := files.ReadPath(p.Golden, files.Limit); err == nil && string(stored) != p.stored {
		return fmt.Errorf("%w: %s", golden.ErrMoved, p.Golden)
	}
	if err := transcripts.Replace(files.Target(p.Transcript), p.After); err != nil {
		return fmt.Errorf("%w: write transcript %s: %w", ErrCannotRun, p.Transcript, files.Reason(err))
	}
	if !p.RewritesGolden() {
		return nil
	}
	if err := golden.Write(p.Golden, p.history); err != nil {
		return fmt.Errorf("%w: %w", ErrCannotRun, err)
	}
	return nil
}

// Files are the files that Write may change.
func (p *Rebase) Files() []string {
	return []string{p.Transcript, p.Golden, p.Golden + ".new"}
}

// Drifts reports whether a replay found requests, results or stops that are not
// the recorded ones.
func (r *Result) Drifts() bool {
	return slices.ContainsFunc(r.Findings, func(f record.Finding) bool { return isDrift(f.Code) })
}

// Kind names what a rebase changes in its requests, wherever it stands: two
// scenarios of one kind drift by the same edit. It is "" when nothing changed.
func (p *Rebase) Kind() string {
	var parts []string
	for _, c := range p.Changes {
		parts = append(parts, strings.Join([]string{c.What, c.Old, c.New}, "\x00"))
	}
	slices.Sort(parts)
	return strings.Join(slices.Compact(parts), "\x01")
}
