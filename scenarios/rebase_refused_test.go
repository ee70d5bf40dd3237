package scenarios

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tapetree/tapetree/golden"
	"github.com/tapetree/tapetree/transcripts"
	"gotest.tools/v3/assert"
)

// TestRebaseOfWhatElseAScenarioSays: every part of a request is recorded anew,
// and nothing but that.
func TestRebaseOfWhatElseAScenarioSays(t *testing.T) {
	for _, test := range []struct {
		scenario, header string
		what             []string
		lines            int // that differ
	}{
		{"isolation-siblings", "model: another", []string{"model"}, 6},
		{"mini-survey-with-children", "output-tokens: 4321", []string{"parameters"}, 11},
		{"mini-survey-with-children", "sub-model: another", []string{"model"}, 9},
	} {
		t.Run(test.scenario+" "+test.header, func(t *testing.T) {
			source := suiteCopy(t, test.scenario, func(text string) string { return test.header + "\n" + text })
			plan, err := PlanRebase(context.Background(), source, test.scenario, RebaseOptions{Environ: []string{}})
			assert.NilError(t, err)
			var what []string
			for _, c := range plan.Changes {
				what = append(what, c.What)
			}
			assert.DeepEqual(t, what, test.what)
			assert.Equal(t, len(changedLines(plan.Before, plan.After)), test.lines)
			assert.NilError(t, plan.Write())
			again := Replay(context.Background(), source, test.scenario, ReplayOptions{Strict: true, Environ: []string{}})
			assert.Equal(t, again.Status, Pass, "%+v %v", again.Findings, again.Err)
		})
	}
}

// TestRebaseKeepsCompactions: the summaries are conversations of their own.
func TestRebaseKeepsCompactions(t *testing.T) {
	const name = "mini-compaction-twice"
	data, err := os.ReadFile("../transcripts/" + name + ".jsonl")
	assert.NilError(t, err)
	tape, err := transcripts.Parse(name, data)
	assert.NilError(t, err)
	prompt, _, _ := strings.Cut(tape.Exchanges[0].Messages.Messages()[0].Content, "\n\nWork")
	prompt, _, _ = strings.Cut(prompt, "\n\n{{")
	edited := "B" + prompt[1:] // as long as before, so that it is summed up at the same turns
	source := suiteCopy(t, name, func(text string) string {
		return strings.TrimSuffix(text, "\n") + "\n-- system --\n" + edited + "\n"
	})
	plan, err := PlanRebase(context.Background(), source, name, RebaseOptions{Environ: []string{}})
	assert.NilError(t, err)
	changed := changedLines(plan.Before, plan.After)
	assert.Equal(t, len(changed), 1, "%v", changed)
	assert.Equal(t, plan.Diff, "")
}

// TestRebaseRefusesByName what it cannot do, and writes nothing.
func TestRebaseRefusesByName(t *testing.T) {
	const name = "isolation-siblings"
	edit := func(old, new string) func(source Source) {
		return func(source Source) {
			data, err := os.ReadFile(source.TranscriptPath(name))
			assert.NilError(t, err)
			assert.Assert(t, strings.Contains(string(data), old), old)
			assert.NilError(t, os.WriteFile(source.TranscriptPath(name), []byte(strings.Replace(string(data), old, new, 1)), 0o644))
		}
	}
	for _, test := range []struct {
		name, scenario string
		bend           func(source Source)
		want           string
	}{
		{"a demanded drift", "-- want/findings --\nreplay/history\n", nil,
			"bad input: SCENARIO demands replay/history, so its requests are meant to differ: nothing to rebase"},
		{"no transcript", "", func(source Source) { assert.NilError(t, os.Remove(source.TranscriptPath(name))) },
			"could not run: transcript TRANSCRIPT is missing: record it with `tapetree record isolation-siblings`"},
		{"a recording that broke off", "", edit(`{"kind":"end"`, `{"kind":"end`),
			"TRANSCRIPT:16: "},
		{"a response that is left over", "-- want/budget --\nturns: 9\n", edit(`{"kind":"exchange","agent":"root","turn":2,`, `{"kind":"exchange","agent":"root","turn":3,`),
			"rebase isolation-siblings: replay/missing: root turn 2: no exchange left: the agent asks once more than was recorded; nothing is written: record it again with `tapetree record isolation-siblings`"},
	} {
		t.Run(test.name, func(t *testing.T) {
			source := suiteCopy(t, name, func(text string) string { return text + test.scenario })
			if test.bend != nil {
				test.bend(source)
			}
			_, err := PlanRebase(context.Background(), source, name, RebaseOptions{Environ: []string{}})
			assert.Assert(t, err != nil)
			got := strings.NewReplacer(source.ScenarioPath(name), "SCENARIO", source.TranscriptPath(name), "TRANSCRIPT").Replace(err.Error())
			assert.Assert(t, strings.HasPrefix(got, test.want), got)
		})
	}
}

// TestRebaseMakesUpNoAnswerOfAPerson: nobody is there to be asked.
func TestRebaseMakesUpNoAnswerOfAPerson(t *testing.T) {
	const name = "isolation-file-outlives-child"
	source := suiteCopy(t, name, func(text string) string { return strings.Replace(text, "approve: all", "approve: tape", 1) })
	data, err := os.ReadFile(source.TranscriptPath(name))
	assert.NilError(t, err)
	data = bytes.ReplaceAll(data, []byte(`"verdict":"ask-allow"`), []byte(`"verdict":"invalid"`))
	assert.NilError(t, os.WriteFile(source.TranscriptPath(name), data, 0o644))
	_, err = PlanRebase(context.Background(), source, name, RebaseOptions{Environ: []string{}})
	assert.Error(t, err, "rebase "+name+": replay/verdict: root#3.1 asks the user, and the recording holds no answer; nothing is written: record it again with `tapetree record "+name+"`")
}

// TestRebaseLeavesWhatMoved: a file that somebody changed since it was planned
// for is not overwritten.
func TestRebaseLeavesWhatMoved(t *testing.T) {
	const name = "isolation-siblings"
	for _, path := range []func(Source) string{
		func(s Source) string { return s.TranscriptPath(name) }, func(s Source) string { return s.GoldenPath(name) },
	} {
		source := suiteCopy(t, name, func(text string) string { return text + "-- child-system --\nBe brief.\n" })
		plan, err := PlanRebase(context.Background(), source, name, RebaseOptions{Environ: []string{}})
		assert.NilError(t, err)
		assert.NilError(t, os.WriteFile(path(source), []byte("mine\n"), 0o644))
		before, err := os.ReadFile(source.TranscriptPath(name))
		assert.NilError(t, err)
		assert.Assert(t, errors.Is(plan.Write(), golden.ErrMoved))
		after, err := os.ReadFile(source.TranscriptPath(name))
		assert.NilError(t, err)
		assert.Assert(t, bytes.Equal(before, after))
	}
}

func TestUnreferencedFiles(t *testing.T) {
	const name = "isolation-siblings"
	source := suiteCopy(t, name, func(text string) string { return text })
	for file, text := range map[string]string{
		"golden/old.txt": golden.Title + "\n", "golden/notes.txt": "# mine\n", "golden/empty.txt.new": "",
		"golden/" + name + ".txt.new": golden.Title + "\n", "transcripts/old.jsonl": `{"kind":"header"}`, "transcripts/list.jsonl": `{"role":"user"}`,
		"transcripts/old.jsonl.partial": `{"kind":"header"}`,
	} {
		assert.NilError(t, os.WriteFile(filepath.Join(source.Dir, file), []byte(text), 0o644))
	}
	list, err := FindUnreferenced(source)
	assert.NilError(t, err)
	for i := range list {
		list[i].Path = filepath.ToSlash(strings.TrimPrefix(list[i].Path, source.Dir+string(filepath.Separator)))
	}
	assert.DeepEqual(t, list, []Unreferenced{
		{"golden/empty.txt.new", "it is no golden history"},
		{"golden/notes.txt", "it is no golden history"},
		{"golden/old.txt", ""},
		{"transcripts/list.jsonl", "it is no transcript"},
		{"transcripts/old.jsonl", ""},
	})
	assert.NilError(t, os.WriteFile(filepath.Join(source.Dir, "scenarios", "broken.txtar"), []byte("no: such\n"), 0o644))
	_, err = FindUnreferenced(source)
	assert.ErrorContains(t, err, "what it refers to is not known: ")
}
