package runtime

import (
	"testing"

	"github.com/google/jsonschema-go/jsonschema"
	"gotest.tools/v3/assert"
)

// TestDefinitions: the tools as the model sees them, in the order registered,
// nothing escaped that needs no escape, the same bytes each time.
func TestDefinitions(t *testing.T) {
	r := registryOf(t, echoTool(t, "b"), echoTool(t, "a"))
	assert.DeepEqual(t, r.Names(), []string{"b", "a"})
	const parameters = `"parameters":{"type":"object","properties":{"text":{"type":"string"}},"additionalProperties":false}}}`
	assert.Equal(t, string(r.Definitions()),
		`[{"type":"function","function":{"name":"b","description":"Gives the text back.",`+parameters+
			`,{"type":"function","function":{"name":"a","description":"Gives the text back.",`+parameters+`]`)

	sample := sampleTool(t)
	sample.Description = "a < b && c"
	one := registryOf(t, sample)
	assert.Equal(t, string(one.Definitions()),
		`[{"type":"function","function":{"name":"sample","description":"a < b && c","parameters":{"type":"object",`+
			`"properties":{"path":{"type":"string","description":"Where <it> is.","minLength":1,"maxLength":9},`+
			`"limit":{"type":"integer","minimum":1,"maximum":100},"big":{"type":["null","integer"]},`+
			`"items":{"type":"array","items":{"type":"object","properties":{"name":{"type":"string","pattern":"^[a-z]+$"},`+
			`"kind":{"type":"string","enum":["file","folder"]}},"required":["name"],"additionalProperties":false},"minItems":1,"maxItems":2},`+
			`"ratio":{"type":"number","exclusiveMinimum":0,"exclusiveMaximum":1},"on":{"type":"boolean"}},`+
			`"required":["path"],"additionalProperties":false}}}]`)

	var none *Registry
	assert.Assert(t, none.Definitions() == nil && none.Names() == nil)
	assert.Assert(t, new(Registry).Definitions() == nil)
}

// TestRegisterRefuses: a registry that would not work is not built.
func TestRegisterRefuses(t *testing.T) {
	good := echoTool(t, "echo")
	for name, tt := range map[string]struct {
		edit func(*Tool)
		want string
	}{
		"name":    {func(t *Tool) { t.Name = "a b" }, `register tool "a b": a name has 1 to 64 letters, digits, - and _`},
		"taken":   {func(*Tool) {}, "register tool echo: the name is taken"},
		"handler": {func(t *Tool) { t.Name, t.Handle = "x", nil }, "register tool x: it has no handler"},
		"schema":  {func(t *Tool) { t.Name, t.Schema = "x", &jsonschema.Schema{Type: "string"} }, "register tool x: the schema must describe an object"},
		"broken": {func(t *Tool) {
			t.Name, t.Schema = "x", &jsonschema.Schema{Type: "object", Types: []string{"null"}}
		}, "register tool x: encode schema: json: error calling MarshalJSON for type *jsonschema.Schema: both Type and Types are set; at most one should be"},
	} {
		t.Run(name, func(t *testing.T) {
			bad := good
			tt.edit(&bad)
			_, err := NewRegistry(good, bad)
			assert.Error(t, err, tt.want)
		})
	}
	bad := good
	bad.Schema = &jsonschema.Schema{Type: "object", Properties: map[string]*jsonschema.Schema{"a": {Pattern: "("}}}
	_, err := NewRegistry(bad)
	assert.ErrorContains(t, err, "register tool echo: resolve schema: ")
}

// TestRegistryKeepsItsSchema: an edit after registration changes neither what
// the model sees nor what validates.
func TestRegistryKeepsItsSchema(t *testing.T) {
	tool := echoTool(t, "echo")
	r := registryOf(t, tool)
	tool.Schema.Properties["text"].MinLength = jsonschema.Ptr(5)
	registered, _ := r.lookup("echo")
	_, refused := registered.arguments(`{"text":"x"}`)
	assert.Assert(t, refused == nil)
}
