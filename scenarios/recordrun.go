package scenarios

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/tapetree/tapetree/internal/files"
)

// Recorded is what recording one scenario came to: the live run, the files
// written, and how the new transcript replays.
type Recorded struct {
	*Recording
	Scenario string // path written; "" when it was there before
	Replay   *Result
}

// Record runs an existing scenario against a real model, writes its transcript
// and, by replaying that, its golden history. A run that does not come to its
// end never takes the place of an older transcript.
func Record(ctx context.Context, source Source, name string, o LiveOptions) (*Recorded, error) {
	scenario, err := source.Load(name)
	if err != nil {
		return nil, err
	}
	if o.Workspace != "" {
		o.hide = ownFiles(source, o.Workspace)
	}
	return recordAndReplay(ctx, source, scenario, false, o)
}

// RecordNew does the same for a session that has no scenario yet, and writes
// the scenario too. With snapshot set, the workspace as it was before is kept
// below the scenarios folder, so that file tools run for real in a replay.
func RecordNew(ctx context.Context, source Source, scenario *Scenario, snapshot bool, o LiveOptions) (*Recorded, error) {
	if err := checkNew(source, scenario); err != nil {
		return nil, err
	}
	copied := ""
	o.hide = ownFiles(source, o.Workspace)
	kept := ""
	if snapshot {
		kept = o.Workspace
	}
	if err := noSecrets(scenario, kept, o.hide, o.redactor()); err != nil {
		return nil, err
	}
	if snapshot {
		scenario.Workspace = scenario.Name + snapshotEnding
		copied = filepath.Join(source.Dir, scenarioFolder, scenario.Workspace)
		if err := copyWorkspace(o.Workspace, copied, o.hide); err != nil {
			return nil, fmt.Errorf("%w: %w", ErrCannotRun, err)
		}
	}
	result, err := recordAndReplay(ctx, source, scenario, true, o)
	if copied != "" && (result == nil || result.Scenario == "") {
		os.RemoveAll(copied) // nothing refers to it
	}
	return result, err
}

// ErrBadInput marks what the caller gave wrongly, where no file has a place to
// point at.
var ErrBadInput = errors.New("bad input")

// checkNew refuses a name that is taken and a scenario that its file format
// cannot hold, before anything is run.
func checkNew(source Source, scenario *Scenario) error {
	for _, path := range []string{
		source.ScenarioPath(scenario.Name), source.TranscriptPath(scenario.Name),
		filepath.Join(source.Dir, scenarioFolder, scenario.Name+snapshotEnding),
	} {
		if _, err := os.Lstat(path); err == nil {
			return fmt.Errorf("%w: %s is there already: choose another name, or record it again with `tapetree record %s`", ErrBadInput, path, scenario.Name)
		}
	}
	scenario.File = source.display(scenarioFolder, scenario.Name+scenarioEnding)
	parsed, err := Parse(scenario.File, Format(scenario), nil)
	if err != nil {
		return fmt.Errorf("%w: this session cannot be kept as a scenario: %w", ErrBadInput, err)
	}
	if parsed.Prompt != scenario.Prompt {
		return fmt.Errorf("%w: this session cannot be kept as a scenario: its prompt does not survive the file format", ErrBadInput)
	}
	return nil
}

// recordAndReplay records a scenario, then replays the transcript: its golden
// history is what every later replay is held against, so it comes from one.
func recordAndReplay(ctx context.Context, source Source, scenario *Scenario, isNew bool, o LiveOptions) (*Recorded, error) {
	o.isNew = isNew
	live, err := Live(ctx, source, scenario, source.TranscriptPath(scenario.Transcript), o)
	if live == nil || live.Transcript == "" {
		return &Recorded{Recording: live}, err
	}
	result := &Recorded{Recording: live}
	if isNew {
		scenario.Interrupt = live.Interrupt
		path := source.ScenarioPath(scenario.Name)
		if writeErr := writeScenario(path, scenario); writeErr != nil {
			return result, errors.Join(err, writeErr)
		}
		result.Scenario = path
	}
	// A cancelled context would cancel the replay too.
	replay := Replay(context.WithoutCancel(ctx), source, scenario.Name, ReplayOptions{Update: true, Environ: o.Environ, goldenOnly: true})
	result.Replay = &replay
	return result, err
}

func writeScenario(path string, scenario *Scenario) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return fmt.Errorf("%w: make the scenarios folder: %w", ErrCannotRun, files.Reason(err))
	}
	data := Format(scenario)
	if len(data) == 0 {
		data = fmt.Appendf(nil, proxied, scenario.Name)
	}
	if err := os.WriteFile(path, data, 0o644); err != nil {
		return fmt.Errorf("%w: write scenario %s: %w", ErrCannotRun, path, files.Reason(err))
	}
	return nil
}
