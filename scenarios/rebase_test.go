package scenarios

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"gotest.tools/v3/assert"
)

// TestRebaseOfTheSuiteChangesNothing: every recording of our own runner holds
// the requests that are sent today, to the byte; programs have to be given.
func TestRebaseOfTheSuiteChangesNothing(t *testing.T) {
	names, err := BuiltinSource().Names()
	assert.NilError(t, err)
	programs := 0
	for _, name := range names {
		plan, err := PlanRebase(context.Background(), BuiltinSource(), name, RebaseOptions{Environ: []string{}})
		if errors.Is(err, ErrNoCommand) {
			programs++
			continue
		}
		assert.NilError(t, err, name)
		assert.Equal(t, len(plan.Changes), 0, "%s: %+v", name, plan.Changes)
		assert.Equal(t, string(plan.After), string(plan.Before), name)
		assert.Assert(t, !plan.Changed() && !plan.RewritesGolden() && plan.Kind() == "", name)
	}
	assert.Equal(t, programs, 8)
}

// suiteCopy copies a scenario of the suite with its files, the scenario edited.
func suiteCopy(t *testing.T, name string, edit func(scenario string) string) Source {
	t.Helper()
	dir := t.TempDir()
	for _, file := range []string{"scenarios/" + name + ".txtar", "transcripts/" + name + ".jsonl", "golden/" + name + ".txt"} {
		data, err := os.ReadFile(filepath.Join("..", filepath.FromSlash(file)))
		assert.NilError(t, err)
		if strings.HasPrefix(file, "scenarios/") {
			data = []byte(edit(string(data)))
		}
		path := filepath.Join(dir, filepath.FromSlash(file))
		assert.NilError(t, os.MkdirAll(filepath.Dir(path), 0o755))
		assert.NilError(t, os.WriteFile(path, data, 0o644))
	}
	return DirSource(dir)
}

// changedLines are the lines of after that before has not.
func changedLines(before, after []byte) []string {
	old := strings.Split(string(before), "\n")
	var changed []string
	for _, line := range strings.Split(string(after), "\n") {
		if !slices.Contains(old, line) {
			changed = append(changed, line)
		}
	}
	return changed
}

// TestRebaseOfTheSuiteWithAnotherPromptChangesSystemLinesAlone: the prompt of
// parent and child is another one in every scenario of our own runner.
func TestRebaseOfTheSuiteWithAnotherPromptChangesSystemLinesAlone(t *testing.T) {
	names, err := BuiltinSource().Names()
	assert.NilError(t, err)
	edited := 0
	for _, name := range names {
		if strings.HasPrefix(name, "client-") {
			continue
		}
		scenario, err := BuiltinSource().Load(name)
		assert.NilError(t, err)
		if scenario.Transcript != name || scenario.Golden != name || scenario.ContextBudget > 0 { // a shorter prompt is summed up later
			continue
		}
		for _, section := range []string{"system", "child-system"} {
			if section == "system" && scenario.System != nil || section == "child-system" && scenario.ChildSystem != nil {
				continue
			}
			source := suiteCopy(t, name, func(text string) string {
				return strings.TrimSuffix(text, "\n") + "\n-- " + section + " --\nBe brief.\n"
			})
			plan, err := PlanRebase(context.Background(), source, name, RebaseOptions{Environ: []string{}})
			assert.NilError(t, err, "%s %s", name, section)
			if !plan.Changed() {
				assert.Equal(t, section, "child-system", name) // no child
				continue
			}
			edited++
			assert.Equal(t, len(plan.Changes), 1, "%s %s: %+v", name, section, plan.Changes)
			assert.Equal(t, plan.Changes[0].What, "system text")
			assert.Equal(t, plan.Changes[0].New, "Be brief.")
			changed := changedLines(plan.Before, plan.After)
			assert.Equal(t, len(changed), 1, "%s %s: %v", name, section, changed)
			assert.Assert(t, strings.HasPrefix(changed[0], `{"kind":"system",`), changed[0])
			assert.Equal(t, plan.Diff, "", name)
			assert.NilError(t, plan.Write())
			again := Replay(context.Background(), source, name, ReplayOptions{Strict: true, Environ: []string{}})
			assert.Equal(t, again.Status, Pass, "%s %s: %+v %v", name, section, again.Findings, again.Err)
		}
	}
	assert.Assert(t, edited > 120, "%d", edited)
}
