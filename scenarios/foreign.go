package scenarios

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"github.com/tapetree/tapetree/golden"
	"github.com/tapetree/tapetree/record"
	"github.com/tapetree/tapetree/record/attribution"
	"github.com/tapetree/tapetree/runtime"
	"github.com/tapetree/tapetree/transcripts"
)

// ofOwnRunner refuses what only a program that is not ours has, for a
// transcript of our own runner.
func ofOwnRunner(scenario *Scenario, o ReplayOptions) error {
	switch {
	case o.Command != nil:
		return fmt.Errorf("%w: %s was recorded by tapetree's own runner, which no command stands for: leave out -- %s", ErrBadInput, scenario.Transcript, o.Command.Args[0])
	case scenario.Command != nil:
		return fmt.Errorf("%w: %s has a command, but its transcript was recorded by tapetree's own runner: record it again with `tapetree record %s -- %s`",
			ErrBadInput, scenario.File, scenario.Name, formatCommand(scenario))
	}
	return scenario.needsPrompt()
}

// replayForeign judges a transcript of a program that is not ours: with the
// program, if it may be run, else by its recorded requests.
func (r *Result) replayForeign(ctx context.Context, source Source, scenario *Scenario, tape *transcripts.File, o ReplayOptions) error {
	command, err := source.commandOf(scenario, o)
	if err != nil {
		return err
	}
	if o.Shuffle > 0 {
		r.Notes = append(r.Notes, "no other order of answers: the program is not ours")
	}
	s, err := openForeign(source, scenario, command)
	if err != nil {
		return err
	}
	defer s.close()
	s.tape = tape
	var played *record.PlaybackReport
	if command != nil {
		played, err = r.runCommand(ctx, s, command, o)
	} else {
		played, err = record.Redrive(ctx, tape, s.playbackOptions(o))
		r.Notes = append(r.Notes, "no client ran: the recorded requests were sent again")
	}
	if err != nil {
		return err
	}
	if err := r.judgePlayed(s, played, o); err != nil {
		return err
	}
	r.expect(scenario.Want.Findings)
	if err := r.keepNew(source, scenario, tape, played); err != nil {
		return err
	}
	if r.otherSession(o) {
		return nil
	}
	if code := standing(r.Findings); o.Update && !o.goldenOnly && code != "" {
		way := "record"
		if code == "replay/history" { // there is an answer to everything
			way = "rebase"
		}
		r.Remarks = append(r.Remarks, fmt.Sprintf("%s is not written while %s stands; to accept that: tapetree %s %s",
			source.display(goldenFolder, scenario.Golden+goldenEnding), code, way, s.redact.Mask(recordLine(scenario, o))))
		return nil
	}
	if r.Golden == "" || missed(r.Findings) { // a golden of half a session would only repeat the miss
		return nil
	}
	return r.hold(source, scenario, o)
}

// faults are those of the scenario and of the caller. A recording that is
// replayed for its golden history meets none.
func (o ReplayOptions) faults(scenario *Scenario) []record.Fault {
	if o.goldenOnly && o.drawn == nil {
		return nil
	}
	return append(slices.Clone(scenario.Faults), o.Faults...)
}

// otherSession says that the golden history is not that of this session.
func (r *Result) otherSession(o ReplayOptions) bool {
	if len(o.Faults) == 0 {
		return false
	}
	r.Notes = append(r.Notes, "golden history not compared: --fault makes another session")
	return true
}

// foundLive are the findings of a played session, but for what a live upstream
// has answered in the transcript's place.
func foundLive(played *record.PlaybackReport) []record.Finding {
	return slices.DeleteFunc(slices.Clone(played.Findings), func(f record.Finding) bool {
		return f.Code == "replay/missing" && slices.ContainsFunc(played.New, func(e *transcripts.Exchange) bool {
			return e.Agent == f.Agent && e.Turn == f.Turn
		})
	})
}

// standing is the first finding that says that the session is not the recorded
// one, so that its history is not to be accepted; "" when there is none.
func standing(findings []record.Finding) string {
	for _, f := range findings {
		switch f.Code {
		case "replay/history", "replay/missing", "replay/extra":
			return f.Code
		}
	}
	return ""
}

// recordLine is what `tapetree record` is given to record a program again.
func recordLine(scenario *Scenario, o ReplayOptions) string {
	switch {
	case o.Command != nil:
		return scenario.Name + " -- " + QuoteWords(o.Command.Args)
	case scenario.Command != nil:
		return scenario.Name + " --allow-command"
	default:
		return scenario.Name + " -- COMMAND"
	}
}

// missed reports that something was asked for that is not in the transcript.
func missed(findings []record.Finding) bool {
	return slices.ContainsFunc(findings, func(f record.Finding) bool { return f.Code == "replay/missing" })
}

// commandOf is the program that a replay runs; nil: none, the recorded requests
// are sent again.
func (s Source) commandOf(scenario *Scenario, o ReplayOptions) (*Command, error) {
	switch {
	case o.goldenOnly:
		return nil, nil
	case o.Command != nil:
		return o.Command, nil
	case scenario.Command == nil && len(scenario.Faults)+len(o.Faults) > 0:
		return nil, fmt.Errorf("%w: faults show how a program copes, and none runs here: give it with `tapetree replay %s -- COMMAND`", ErrCannotRun, scenario.Name)
	case scenario.Command == nil:
		return nil, nil
	case !o.AllowCommand:
		return nil, fmt.Errorf("%w: %s runs the command `%s`: read it, then pass --allow-command, or give a command of yours with `tapetree replay %s -- COMMAND`",
			ErrCannotRun, scenario.File, formatCommand(scenario), scenario.Name)
	}
	words, err := s.commandWords(scenario)
	if err != nil {
		return nil, err
	}
	output := prefixed(o.Output, scenario.Name)
	return &Command{Args: words, Stdout: output, Stderr: output, Environ: o.Environ, ended: output.end}, nil
}

// loadFor reads the scenario of a replay. A transcript that a command is given
// for needs none.
func (s Source) loadFor(name string, command *Command) (*Scenario, error) {
	scenario, err := s.Load(name)
	if command == nil || !errors.Is(err, fs.ErrNotExist) {
		return scenario, err
	}
	return &Scenario{Name: name, File: s.display(scenarioFolder, name+scenarioEnding), Transcript: name, Golden: name}, nil
}

// openForeign makes the world of a program that is not ours: the scenario's
// workspace where it brings one, else the folder that the caller is in.
func openForeign(source Source, scenario *Scenario, command *Command) (*session, error) {
	o := LiveOptions{}
	if command != nil {
		o.Environ = command.Environ
		if !scenario.BringsWorkspace() {
			dir, err := command.dir()
			if err != nil {
				return nil, err
			}
			o.Workspace = dir
		}
	}
	return openSession(source, scenario, o)
}

// playbackOptions set up what answers the program.
func (s *session) playbackOptions(o ReplayOptions) record.PlaybackOptions {
	return record.PlaybackOptions{
		ReplayOptions: record.ReplayOptions{
			Fold: s.folder, Redact: s.redact, Volatile: s.volatile, Dialect: runtime.DialectFor(s.tape.Header.Upstream),
			Name: s.redact.Mask(recordLine(s.scenario, o)), Faults: o.faults(s.scenario), Rebase: o.rebase,
		},
		Attribute: attribution.Options{IgnoreSessionHeaders: o.IgnoreSessionHeaders},
		Speed:     o.Speed, Live: o.Live, Strict: o.Strict,
	}
}

// judgePlayed collects every finding of a played session but the golden's, and
// renders its history.
func (r *Result) judgePlayed(s *session, played *record.PlaybackReport, o ReplayOptions) error {
	r.Exchanges, r.Session = len(s.tape.Exchanges), played.Session
	r.Grade = played.Grade
	if len(played.New) == 0 { // what the upstream answered is missed no more
		r.Details = append(r.Details, played.Details...)
	}
	if o.Strict {
		r.Details = append(r.Details, played.Warnings...)
	}
	r.Notes = append(r.Notes, notes(played.Report)...)
	r.Remarks = append(r.Remarks, played.Notes...)
	r.Findings = append(r.Findings, foundLive(played)...)
	roots, err := played.Session.Sessions()
	if err == nil {
		for _, root := range roots {
			root.Walk(func(*runtime.Run) { r.Agents++ })
		}
		r.Golden = golden.RenderAll(roots, golden.Options{Normalize: s.normalize, Foreign: true})
		r.Findings = append(r.Findings, CheckForeign(roots)...)
		r.Findings = append(r.Findings, judgeWants(s.scenario, roots, s.folders, nil, o.Prices)...)
	} else if len(played.Session.Exchanges) > 0 {
		return fmt.Errorf("%w: %w", ErrCannotRun, err)
	}
	r.Findings = append(r.Findings, CheckTape(s.tape, Limits{})...)
	r.Findings = append(r.Findings, ambiguous(s.tape)...)
	r.Findings = append(r.Findings, s.folders.Escaped()...)
	r.Findings = append(r.Findings, stale(s.scenario, s.tape, o)...)
	verify, err := s.verify(o)
	if err != nil {
		return err
	}
	r.Findings = unique(append(r.Findings, verify...))
	return nil
}

// ambiguous reports the agents of a recording that could be others: what was
// sent does not tell.
func ambiguous(tape *transcripts.File) []record.Finding {
	var findings []record.Finding
	seen := map[runtime.Path]bool{}
	for _, e := range tape.Exchanges {
		if e.Flag != "ambiguous" || seen[e.Agent] {
			continue
		}
		seen[e.Agent] = true
		var others []string
		for _, other := range e.Candidates {
			if other != e.Agent {
				others = append(others, string(other))
			}
		}
		message := "nothing that was sent tells which agent this is"
		if len(others) > 0 {
			message = "this agent may as well be " + strings.Join(others, " or ")
		}
		findings = append(findings, record.Finding{Code: "replay/ambiguous", Agent: e.Agent, Turn: e.Turn,
			Message: message + "; the header X-Tapetree-Agent lets a client say it"})
	}
	return findings
}
