package tools

import (
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"
	"gotest.tools/v3/assert"

	"github.com/tapetree/tapetree/runtime"
)

func standard(t *testing.T, ws *Workspace) map[string]runtime.Tool {
	t.Helper()
	list, err := Standard(ws)
	assert.NilError(t, err)
	byName := make(map[string]runtime.Tool)
	for _, tool := range list {
		byName[tool.Name] = tool
	}
	return byName
}

func call(t *testing.T, tool runtime.Tool, arguments string) string {
	t.Helper()
	got, err := tool.Handle(t.Context(), runtime.Invocation{Arguments: jsontext.Value(arguments)})
	return told(t, got, err)
}

func TestStandardGivesTheToolsInOrderWithDescriptionAndEffect(t *testing.T) {
	list, err := Standard(newPlace(t, Options{}).Workspace)
	assert.NilError(t, err)
	registry, err := runtime.NewRegistry(list...)
	assert.NilError(t, err)
	assert.DeepEqual(t, registry.Names(), []string{"shell", "read_file", "write_file", "edit_file", "glob"})
	var effects []runtime.Effect
	for _, tool := range list {
		effects = append(effects, tool.Effect)
		assert.Assert(t, tool.Description != "" && tool.Description == strings.TrimSpace(tool.Description))
	}
	assert.DeepEqual(t, effects, []runtime.Effect{
		runtime.EffectExternal, runtime.EffectRead, runtime.EffectWrite, runtime.EffectWrite, runtime.EffectRead,
	})
}

func TestTheSchemaOfEachToolIsClosedAndNamesWhatIsRequired(t *testing.T) {
	for name, want := range map[string]string{
		"shell":      "command",
		"read_file":  "path",
		"write_file": "path content",
		"edit_file":  "path old_string new_string",
		"glob":       "pattern",
	} {
		schema := standard(t, newPlace(t, Options{}).Workspace)[name].Schema
		assert.Equal(t, strings.Join(schema.Required, " "), want)
		assert.Assert(t, schema.AdditionalProperties != nil && schema.AdditionalProperties.Not != nil, name)
	}
}

func TestTheToolsWorkTogether(t *testing.T) {
	p := newPlace(t, Options{})
	tools := standard(t, p.Workspace)
	steps := []struct{ tool, arguments, want string }{
		{"write_file", `{"path":"a/b.txt","content":"1\n2\n3\n"}`, "Created a/b.txt: 6 bytes."},
		{"glob", `{"pattern":"**/*.txt"}`, "a/b.txt"},
		{"glob", `{"pattern":"*","path":"a"}`, "a/b.txt"},
		{"edit_file", `{"path":"a/b.txt","old_string":"2","new_string":"two"}`, "Edited a/b.txt: 1 replacement."},
		{"edit_file", `{"path":"a/b.txt","old_string":"\n","new_string":";\n","replace_all":true}`, "Edited a/b.txt: 3 replacements."},
		{"read_file", `{"path":"a/b.txt","offset":2,"limit":1}`, "two;\n[lines 2-2 of 3; go on with offset 3]"},
		{"read_file", `{"path":"../outside/secret.txt"}`, forbidden},
		{"write_file", `{"path":"../outside/x","content":""}`, "Error [permission_denied]: Writing outside the workspace is forbidden"},
		{"edit_file", `{"path":"/etc/passwd","old_string":"a","new_string":"b"}`, "Error [permission_denied]: Writing outside the workspace is forbidden"},
		{"glob", `{"pattern":"../*"}`, forbidden},
	}
	for _, step := range steps {
		assert.Equal(t, call(t, tools[step.tool], step.arguments), step.want)
	}
	assert.DeepEqual(t, tree(t, p.dir), map[string]string{".": "folder", "a": "folder", "a/b.txt": "1;\ntwo;\n3;\n"})
}

// TestEachSetOfToolsRemembersItsOwnReading is case 4.10 through the tools: each set of tools remembers what its own agent
// has read.
func TestEachSetOfToolsRemembersItsOwnReading(t *testing.T) {
	p := newPlace(t, Options{})
	p.put(t, "f", "1")
	parent, child := standard(t, p.Workspace), standard(t, p.Workspace)
	assert.Equal(t, call(t, parent["read_file"], `{"path":"f"}`), "1")
	assert.Equal(t, call(t, child["read_file"], `{"path":"f"}`), "1")
	assert.Equal(t, call(t, child["edit_file"], `{"path":"f","old_string":"1","new_string":"2"}`), "Edited f: 1 replacement.")
	assert.Equal(t, call(t, parent["write_file"], `{"path":"f","content":"1b"}`),
		"Replaced f: 2 bytes. It had changed since you read it, and that change is gone.")
	assert.Equal(t, call(t, standard(t, p.Workspace)["write_file"], `{"path":"f","content":"3"}`), "Replaced f: 1 byte.")
}
