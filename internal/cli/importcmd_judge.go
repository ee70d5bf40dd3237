package cli

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"github.com/tapetree/tapetree/record"
	"github.com/tapetree/tapetree/runtime"
	"github.com/tapetree/tapetree/scenarios"
	"github.com/tapetree/tapetree/transcripts"
)

// sayImported names what could not be read or kept. Warnings are said also with
// --quiet.
func (a *app) sayImported(h *transcripts.Traffic, imported *record.TrafficImport) {
	for _, warning := range h.Warnings {
		a.warnImported(warning.In(h.Path))
	}
	for _, warning := range imported.Warnings {
		a.warnImported(warning.In(h.Path))
	}
	a.sayLost("left out, as no part of a session:", imported.LeftOut)
}

func (a *app) warnImported(text string) {
	fmt.Fprintf(a.err, "warning: %s\n", oneLine(a.secrets().Mask(text)))
}

// sayLost lists what a transcript does not hold.
func (a *app) sayLost(title string, lost []string) {
	if len(lost) > 0 {
		a.say("%s", title)
	}
	for _, left := range lost {
		a.say("  %s", oneLine(a.secrets().Mask(left)))
	}
}

// judgeTraffic writes scenarios and golden histories, and says how each
// transcript replays.
func (a *app) judgeTraffic(ctx context.Context, source scenarios.Source, h *transcripts.Traffic, imported *record.TrafficImport, names map[string]string) error {
	code := exitOK
	if imported.Hidden > 0 {
		code = exitFindings
		fmt.Fprintf(a.err, "warning: %s: turns of agents are hidden: of %s for a model answer the file does not hold what was asked\n", oneLine(h.Path), plural(imported.Hidden, "request"))
	}
	for _, f := range imported.Transcripts {
		found, err := a.judgeImported(ctx, source, f, names[f.Path], h.Path)
		if err != nil {
			return err
		}
		code = worse(code, found)
	}
	if h.Torn != nil {
		return &exitError{exitFindings, h.Torn}
	}
	return silent(code)
}

// judgeImported writes the scenario and the golden history of a transcript, and
// returns the code for how it replays.
func (a *app) judgeImported(ctx context.Context, source scenarios.Source, f *transcripts.File, name, from string) (int, error) {
	a.say("wrote %s: %s of %s", f.Path, plural(len(f.Exchanges), "exchange"), plural(countAgents(f), "agent"))
	if err := a.importedScenario(source, f, name, from); err != nil {
		return exitOK, err
	}
	result := scenarios.ReplayTape(ctx, source, name, true)
	if result.Wrote != "" {
		a.say("wrote %s", result.Wrote)
	}
	switch result.Status {
	case scenarios.Error:
		return exitOK, fmt.Errorf("imported, but %s cannot be replayed: %w", f.Path, result.Err)
	case scenarios.Pass:
		a.say("replay it with: tapetree replay %s%s", name, a.dirFlag())
		return exitOK, nil
	}
	fmt.Fprintf(a.err, "imported, but the replay has findings; look at it with `tapetree replay %s%s`:\n", name, a.dirFlag())
	for _, f := range reported(result).Findings {
		fmt.Fprintf(a.err, "  %s\n", oneLine(a.secrets().Mask(f.String())))
	}
	return exitFindings, nil
}

// importedScenario writes the scenario of an imported transcript, unless there
// is one.
func (a *app) importedScenario(source scenarios.Source, f *transcripts.File, name, from string) error {
	path := source.ScenarioPath(name)
	if _, err := os.Lstat(path); err == nil {
		return nil
	}
	comment := fmt.Sprintf("# Imported from %s.\n", oneLine(filepath.Base(from)))
	if !f.Foreign() {
		run, err := f.Session()
		if err != nil {
			return err
		}
		comment += string(scenarios.Format(&scenarios.Scenario{Profile: f.Header.Profile, Prompt: run.Prompt}))
	}
	if err := writeFile(path, []byte(comment)); err != nil {
		return err
	}
	a.say("wrote %s", path)
	return nil
}

func countAgents(f *transcripts.File) int {
	agents := map[runtime.Path]bool{}
	for _, e := range f.Exchanges {
		agents[e.Agent] = true
	}
	return len(agents)
}
