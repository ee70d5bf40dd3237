package scenarios

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"

	"gotest.tools/v3/assert"
	"gotest.tools/v3/golden"

	"github.com/tapetree/tapetree/record"
	"github.com/tapetree/tapetree/runtime"
)

// TestSuiteInsideTheBinaryHolds replays what is embedded, so a file that is on
// disk and not in the binary shows too.
func TestSuiteInsideTheBinaryHolds(t *testing.T) {
	source := BuiltinSource()
	names, err := source.Names()
	assert.NilError(t, err)
	onDisk, err := DirSource("..").Names()
	assert.NilError(t, err)
	assert.DeepEqual(t, names, onDisk)
	assert.Assert(t, len(names) >= 25, "only %d scenarios", len(names))
	for _, name := range names {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			result := Replay(context.Background(), source, name, ReplayOptions{Environ: []string{}})
			assert.NilError(t, result.Err)
			assert.Equal(t, len(result.Findings), 0, "%v\n%s", result.Findings, strings.Join(result.Details, "\n"))
			assert.Equal(t, result.Status, Pass)
		})
	}
}

// TestGoldensHoldThroughTheGoldenPackageToo: the same bytes, read by a library
// that knows nothing of ours.
func TestGoldensHoldThroughTheGoldenPackageToo(t *testing.T) {
	for _, name := range []string{"isolation-child-starts-fresh", "pairing-duplicate-ids", "boundary-child", "limit-child-thirty-turns"} {
		result := Replay(context.Background(), DirSource(".."), name, ReplayOptions{Environ: []string{}})
		path, err := filepath.Abs(filepath.Join("..", "golden", name+".txt"))
		assert.NilError(t, err)
		golden.Assert(t, result.Golden, path)
	}
}

// TestBoundaryIsNoQuestion: the approver who says yes to everything is never
// asked about a path outside.
func TestBoundaryIsNoQuestion(t *testing.T) {
	for name, asked := range map[string]int{
		"boundary-dotdot": 0, "boundary-dotdot-inside": 0, "boundary-absolute": 0, "boundary-sibling-prefix": 0, "boundary-link": 0,
		"boundary-link-last": 0, "boundary-dangling-link": 0, "boundary-missing-parent": 0, "boundary-edit-and-glob": 0,
		"boundary-child": 1, // the write that stays inside
	} {
		result := Replay(context.Background(), DirSource(".."), name, ReplayOptions{Environ: []string{}})
		assert.Equal(t, result.Status, Pass, name)
		assert.Equal(t, result.Asked, asked, name)
	}
}

// TestThirtyTurnsAreThirtyRequests counts what the model was asked.
func TestThirtyTurnsAreThirtyRequests(t *testing.T) {
	for name, want := range map[string]map[runtime.Path]int{
		"limit-child-thirty-turns":           {"root": 2, "root/1.1": 30},
		"limit-child-answers-in-turn-thirty": {"root": 2, "root/1.1": 30},
		"limit-child-lowered":                {"root": 2, "root/1.1": 2},
		"limit-parent":                       {"root": 3},
		"recursion-registry-with-task":       {"root": 2},
		"recursion-factory-nil":              {"root": 2},
		"empty-answer":                       {"root": 1},
	} {
		result := Replay(context.Background(), DirSource(".."), name, ReplayOptions{Environ: []string{}})
		assert.Equal(t, result.Status, Pass, name)
		got := map[runtime.Path]int{}
		result.Run.Walk(func(run *runtime.Run) { got[run.Agent] = len(run.Turns) })
		assert.DeepEqual(t, got, want)
	}
}

// TestChildHistoryStartsFromTwoMessages and nothing of a child stands in its
// parent but the result.
func TestChildHistoryStartsFromTwoMessages(t *testing.T) {
	result := Replay(context.Background(), DirSource(".."), "isolation-parent-gains-one-pair", ReplayOptions{Environ: []string{}})
	child := result.Run.Children()[0]
	var roles []runtime.Role
	for _, m := range child.Turns[0].Sent.Messages() {
		roles = append(roles, m.Role)
	}
	assert.DeepEqual(t, roles, []runtime.Role{runtime.RoleSystem, runtime.RoleUser})
	roles = nil
	for _, m := range result.Run.History.Messages() {
		roles = append(roles, m.Role)
	}
	assert.DeepEqual(t, roles, []runtime.Role{runtime.RoleSystem, runtime.RoleUser, runtime.RoleAssistant, runtime.RoleTool, runtime.RoleAssistant})
}

// TestSameGoldenAThousandTimes replays the longest scenario of the suite over
// and over, several at once, and wants the same bytes each time.
func TestSameGoldenAThousandTimes(t *testing.T) {
	const name, times, workers = "limit-child-thirty-turns", 1000, 4
	want, err := os.ReadFile(filepath.Join("..", "golden", name+".txt"))
	assert.NilError(t, err)
	var group sync.WaitGroup
	faults := make(chan string, workers)
	for range workers {
		group.Add(1)
		go func() {
			defer group.Done()
			for range times / workers {
				result := Replay(context.Background(), DirSource(".."), name, ReplayOptions{Environ: []string{}})
				if result.Status != Pass || result.Golden != string(want) {
					faults <- fmt.Sprint(result.Status, result.Err, result.Findings)
					return
				}
			}
		}()
	}
	group.Wait()
	close(faults)
	for fault := range faults {
		t.Error(fault)
	}
}

// TestNoSecretInTheSuite re-reads every data file for what looks like a key.
func TestNoSecretInTheSuite(t *testing.T) {
	redactor := record.NewRedactor(nil)
	for _, folder := range []string{"scenarios", "transcripts", "golden"} {
		entries, err := os.ReadDir(filepath.Join("..", folder))
		assert.NilError(t, err)
		for _, entry := range entries {
			if !regexp.MustCompile(`\.(txtar|jsonl|txt)$`).MatchString(entry.Name()) {
				continue
			}
			data, err := os.ReadFile(filepath.Join("..", folder, entry.Name()))
			assert.NilError(t, err)
			assert.DeepEqual(t, redactor.Find(string(data)), []string(nil))
		}
	}
}
