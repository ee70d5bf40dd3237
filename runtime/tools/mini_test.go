package tools

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"gotest.tools/v3/assert"

	"github.com/tapetree/tapetree/runtime"
)

func mini(t *testing.T, ws *Workspace) map[string]runtime.Tool {
	t.Helper()
	list, err := Mini(ws)
	assert.NilError(t, err)
	byName := make(map[string]runtime.Tool)
	for _, tool := range list {
		byName[tool.Name] = tool
	}
	return byName
}

func TestMiniGivesTheToolsInOrderWithDescriptionEffectAndSchema(t *testing.T) {
	list, err := Mini(newPlace(t, Options{}).Workspace)
	assert.NilError(t, err)
	registry, err := runtime.NewRegistry(list...)
	assert.NilError(t, err)
	assert.DeepEqual(t, registry.Names(), []string{"read_file", "list_files", "edit_file", "run_bash"})
	required := map[string]string{"read_file": "path", "list_files": "", "edit_file": "path old_string new_string", "run_bash": "command"}
	effects := map[string]runtime.Effect{
		"read_file": runtime.EffectRead, "list_files": runtime.EffectRead, "edit_file": runtime.EffectWrite, "run_bash": runtime.EffectExternal,
	}
	for _, tool := range list {
		assert.Equal(t, tool.Effect, effects[tool.Name])
		assert.Assert(t, tool.Description != "" && tool.Description == strings.TrimSpace(tool.Description))
		assert.Equal(t, strings.Join(tool.Schema.Required, " "), required[tool.Name])
		assert.Assert(t, tool.Schema.AdditionalProperties != nil && tool.Schema.AdditionalProperties.Not != nil, tool.Name)
	}
	limit := list[3].Schema.Properties["timeout_seconds"]
	assert.DeepEqual(t, []float64{*limit.Minimum, *limit.Maximum}, []float64{1, 600})
}

// editFile calls edit_file; each edit exchanges one text for another.
func editFile(t *testing.T, tools map[string]runtime.Tool, path, old, new string) string {
	t.Helper()
	return call(t, tools["edit_file"], fmt.Sprintf(`{"path":%q,"old_string":%q,"new_string":%q}`, path, old, new))
}

func readFile(t *testing.T, tools map[string]runtime.Tool, path string) string {
	t.Helper()
	return call(t, tools["read_file"], fmt.Sprintf(`{"path":%q}`, path))
}

const (
	unread  = "Error [tool_error]: cannot edit f: read it first"
	stale   = "Error [tool_error]: cannot edit f: it changed since you read it: read it again"
	edited  = "Edited f: 1 replacement."
	missing = "Error [tool_error]: cannot edit f: not found"
)

func TestMiniEditsOnlyWhatThisAgentHasReadAndAsItWas(t *testing.T) {
	p := newPlace(t, Options{})
	tools := mini(t, p.Workspace)
	assert.Equal(t, editFile(t, tools, "f", "1", "2"), missing)
	p.put(t, "f", "1")
	assert.Equal(t, editFile(t, tools, "f", "1", "2"), unread)
	assert.Equal(t, editFile(t, tools, "f", "no match", "2"), unread, "nothing of what was not read is told")
	assert.Equal(t, readFile(t, tools, "f"), "1")
	assert.Equal(t, editFile(t, tools, "f", "1", "2"), edited)
	assert.Equal(t, editFile(t, tools, "f", "2", "3"), edited, "the agent knows what it wrote")

	p.put(t, "f", "3 by another")
	assert.Equal(t, editFile(t, tools, "f", "3", "4"), stale)
	assert.Equal(t, editFile(t, tools, "f", "3", "4"), stale, "refusing is no reading")
	assert.Equal(t, readFile(t, tools, "f"), "3 by another")
	assert.Equal(t, editFile(t, tools, "f", "3", "4"), edited)

	p.put(t, "f", "5")
	p.put(t, "f", "4 by another")
	assert.Equal(t, editFile(t, tools, "f", "4", "5"), edited, "what is as it was has not changed")
	assert.NilError(t, os.Remove(filepath.Join(p.dir, "f")))
	assert.Equal(t, editFile(t, tools, "f", "5", "6"), missing)
	assert.DeepEqual(t, tree(t, p.dir), map[string]string{".": "folder"})
}

// What shows nothing of a file is no reading of it; a part of it is.
func TestMiniCountsAReadingThatShowedSomething(t *testing.T) {
	p := newPlace(t, Options{})
	p.put(t, "f", "1\n2\n3\n")
	tools := mini(t, p.Workspace)
	call(t, tools["read_file"], `{"path":"f","offset":9}`)
	call(t, tools["list_files"], `{}`)
	assert.Equal(t, editFile(t, tools, "f", "2", "two"), unread)
	call(t, tools["read_file"], `{"path":"f","offset":3}`)
	assert.Equal(t, editFile(t, tools, "f", "2", "two"), edited)
}

// A file goes by its real name, whatever it is called.
func TestMiniKnowsAFileUnderEveryName(t *testing.T) {
	p := newPlace(t, Options{})
	p.put(t, "sub/f", "1")
	p.link(t, "link", "sub")
	tools := mini(t, p.Workspace)
	assert.Equal(t, readFile(t, tools, "link/f"), "1")
	assert.Equal(t, editFile(t, tools, "sub/../sub/f", "1", "2"), "Edited sub/f: 1 replacement.")
	assert.Equal(t, editFile(t, tools, filepath.ToSlash(filepath.Join(p.dir, "sub", "f")), "2", "3"), "Edited sub/f: 1 replacement.")
	assert.Equal(t, editFile(t, tools, "../outside/secret.txt", "s", "x"), "Error [permission_denied]: Writing outside the workspace is forbidden")
}

// A file read by a child counts for no parent and no sibling, an edit of
// another agent's is a change.
func TestEachSetOfMiniToolsHasItsOwnReadRecord(t *testing.T) {
	p := newPlace(t, Options{})
	p.put(t, "f", "1")
	parent, child := mini(t, p.Workspace), mini(t, p.Workspace)
	assert.Equal(t, readFile(t, child, "f"), "1")
	assert.Equal(t, editFile(t, parent, "f", "1", "2"), unread)
	assert.Equal(t, readFile(t, parent, "f"), "1")
	assert.Equal(t, editFile(t, parent, "f", "1", "2"), edited)
	assert.Equal(t, editFile(t, child, "f", "2", "3"), stale)
	assert.Equal(t, editFile(t, parent, "f", "2", "3"), edited)
}

// The other set of tools has no such rule.
func TestStandardEditsWithoutReading(t *testing.T) {
	p := newPlace(t, Options{})
	p.put(t, "f", "1")
	assert.Equal(t, editFile(t, standard(t, p.Workspace), "f", "1", "2"), edited)
}

// Under a stricter policy for children a child has no shell to write with, also
// where the parent may do everything; what only reads still goes.
func TestAReadOnlyChildCannotWriteThroughTheShell(t *testing.T) {
	if !knownShell {
		t.Skip("nothing is allowed in PowerShell")
	}
	p := newPlace(t, Options{})
	for _, mode := range []runtime.Mode{runtime.ModeDefault, runtime.ModeAcceptEdits, runtime.ModeYolo, runtime.ModeReadOnly} {
		policy := &runtime.Permissions{
			Rules:     map[string]runtime.Rule{"run_bash": runtime.RuleAsk},
			Mode:      mode,
			ChildMode: runtime.ModeReadOnly,
			Auto:      map[string]func(string) bool{"run_bash": p.AutoAllowed},
		}
		judge := func(command string) runtime.Judgement {
			child := &runtime.Runner{Agent: runtime.Root.Child(1, 1)}
			judgement, err := policy.Judge(t.Context(), child, runtime.Place{Agent: child.Agent, Turn: 1, Try: 1},
				&runtime.CallRecord{Name: "run_bash", Arguments: fmt.Sprintf(`{"command":%q}`, command)})
			assert.NilError(t, err)
			return judgement
		}
		for _, command := range []string{"ls", "cat a.txt", "git status", "grep -rn x ."} {
			assert.Equal(t, judge(command).Verdict, runtime.VerdictAllow, "%s: %s", mode, command)
		}
		for _, command := range []string{"touch x", "ls > x", "ls; touch x", "find . -delete", "X=1 ls", "cat x | tee y", "git branch x", "sh -c ls"} {
			assert.Equal(t, judge(command).Verdict, runtime.VerdictDeny, "%s: %s", mode, command)
		}
	}
}

func TestEveryDescriptionBelongsToATool(t *testing.T) {
	p := newPlace(t, Options{})
	used := make(map[string]bool)
	for _, tools := range []map[string]runtime.Tool{standard(t, p.Workspace), mini(t, p.Workspace)} {
		for _, tool := range tools {
			used[tool.Description] = true
		}
	}
	entries, err := descriptions.ReadDir("descriptions")
	assert.NilError(t, err)
	for _, entry := range entries {
		text, err := describe(strings.TrimSuffix(entry.Name(), ".md"))
		assert.NilError(t, err)
		assert.Check(t, used[text], entry.Name())
		delete(used, text)
	}
	assert.Equal(t, len(used), 0)
	_, err = describe("fly")
	assert.ErrorContains(t, err, "describe tool fly: ")
}
