package runtime

import (
	"context"
	"testing"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/google/jsonschema-go/jsonschema"
	"gotest.tools/v3/assert"
)

type sampleArguments struct {
	Path  string       `json:"path" jsonschema:"Where <it> is."`
	Limit int          `json:"limit,omitzero"`
	Big   *int         `json:"big,omitzero"`
	Items []sampleItem `json:"items,omitzero"`
	Ratio float64      `json:"ratio,omitzero"`
	On    bool         `json:"on,omitzero"`
}

type sampleItem struct {
	Name string `json:"name"`
	Kind string `json:"kind,omitzero"`
}

func (a sampleArguments) Problems() []string {
	if a.Path == "forbidden" {
		return []string{"path: must not be forbidden"}
	}
	return nil
}

func sampleTool(t testing.TB) Tool {
	tool, err := NewTool("sample", "A sample.", EffectRead,
		func(_ context.Context, call Invocation, _ sampleArguments) (string, error) {
			return string(call.Arguments), nil
		})
	assert.NilError(t, err)
	tool.Schema.Properties["path"].MinLength = jsonschema.Ptr(1)
	tool.Schema.Properties["path"].MaxLength = jsonschema.Ptr(9)
	tool.Schema.Properties["limit"].Minimum = jsonschema.Ptr(1.0)
	tool.Schema.Properties["limit"].Maximum = jsonschema.Ptr(100.0)
	tool.Schema.Properties["ratio"].ExclusiveMinimum = jsonschema.Ptr(0.0)
	tool.Schema.Properties["ratio"].ExclusiveMaximum = jsonschema.Ptr(1.0)
	tool.Schema.Properties["items"].MinItems = jsonschema.Ptr(1)
	tool.Schema.Properties["items"].MaxItems = jsonschema.Ptr(2)
	item := tool.Schema.Properties["items"].Items
	item.Properties["kind"].Enum = []any{"file", "folder"}
	item.Properties["name"].Pattern = "^[a-z]+$"
	r, err := NewRegistry(tool)
	assert.NilError(t, err)
	registered, _ := r.lookup("sample")
	return registered
}

// TestArguments: case 1.22 (nothing means {}), case 1.23 (a decoder that never
// guesses) and case 3.08 (unknown fields are named); every text is our own, sorted,
// and names each field.
func TestArguments(t *testing.T) {
	tool := sampleTool(t)
	for _, tt := range []struct{ name, text, want, refused string }{
		{"whole", `{"path":"a","limit":2,"items":[{"name":"x","kind":"file"}]}`, `{"path":"a","limit":2,"items":[{"name":"x","kind":"file"}]}`, ""},
		{"blanks around", " {\"path\":\"a\"}\n", `{"path":"a"}`, ""},
		{"3.0 is a whole number", `{"path":"a","limit":3.0}`, `{"path":"a","limit":3.0}`, ""},
		{"null for a pointer", `{"path":"a","big":null}`, `{"path":"a","big":null}`, ""},
		{"case 1.22: empty", "", "", "path: is required"},
		{"case 1.22: blank", "  \n", "", "path: is required"},
		{"case 1.22: null", "null", "", "path: is required"},
		{"case 1.23: list", "[1]", "", "arguments: must be a JSON object, not an array"},
		{"case 1.23: string", `"{\"path\":\"a\"}"`, "", "arguments: must be a JSON object, not a string"},
		{"case 1.23: number", "7", "", "arguments: must be a JSON object, not a number"},
		{"case 1.23: true", "true", "", "arguments: must be a JSON object, not true or false"},
		{"case 1.23: key twice", `{"path":"a","path":"b"}`, "", "path: is given more than once"},
		{"case 1.23: nested key twice", `{"path":"a","items":[{"name":"x","name":"x"}]}`, "", "items[0].name: is given more than once"},
		{"case 1.23: key twice, once escaped", `{"path":"a","p\u0061th":"b"}`, "", "path: is given more than once"},
		{"trailing data", `{"path":"a"}{}`, "", "arguments: must be one JSON object with nothing after it"},
		{"trailing word", `{"path":"a"} x`, "", "arguments: must be one JSON object with nothing after it"},
		{"no JSON", `}{`, "", "arguments: must be valid JSON"},
		{"bad UTF-8", "{\"path\":\"\xff\"}", "", "arguments: must be valid JSON"},
		{"case 3.08: unknown", `{"path":"a","pth":"b"}`, "", "pth: is not a field of this tool"},
		{"unknown, nested, odd name", `{"path":"a","items":[{"name":"x","a b":1}]}`, "", `items[0]."a b": is not a field of this tool`},
		{"wrong case", `{"Path":"a"}`, "", "Path: is not a field of this tool; path: is required"},
		{"all at once, sorted", `{"zz":1,"limit":"x","aa":1}`, "", "aa: is not a field of this tool; limit: must be a whole number; path: is required; zz: is not a field of this tool"},
		{"null is no string", `{"path":null}`, "", "path: must be a string"},
		{"null is no list", `{"path":"a","items":null}`, "", "items: must be an array"},
		{"wrong type of a pointer", `{"path":"a","big":"x"}`, "", "big: must be a whole number or null"},
		{"no whole number", `{"path":"a","limit":1.5}`, "", "limit: must be a whole number"},
		{"too large for a number", `{"path":"a","big":1e999}`, "", "big: is out of range"},
		{"too large for a whole number", `{"path":"a","big":90071992547409930}`, "", "big: is out of range"},
		{"below", `{"path":"a","limit":0}`, "", "limit: must be at least 1"},
		{"above", `{"path":"a","limit":101}`, "", "limit: must be at most 100"},
		{"at the open lower bound", `{"path":"a","ratio":0}`, "", "ratio: must be more than 0"},
		{"at the open upper bound", `{"path":"a","ratio":1}`, "", "ratio: must be less than 1"},
		{"empty", `{"path":""}`, "", "path: must not be empty"},
		{"long", `{"path":"äöüäöüäöüä"}`, "", "path: must have at most 9 characters"},
		{"too few", `{"path":"a","items":[]}`, "", "items: must have at least 1 items"},
		{"too many", `{"path":"a","items":[{"name":"a"},{"name":"b"},{"name":"c"}]}`, "", "items: must have at most 2 items"},
		{"enum", `{"path":"a","items":[{"name":"x","kind":"link"}]}`, "", "items[0].kind: must be one of file, folder"},
		{"pattern", `{"path":"a","items":[{"name":"X"}]}`, "", "items[0].name: must match the pattern ^[a-z]+$"},
		{"bool", `{"path":"a","on":1}`, "", "on: must be true or false"},
		{"own rule", `{"path":"forbidden"}`, "", "path: must not be forbidden"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			for range 3 { // the same words each time
				got, refused := tool.arguments(tt.text)
				if tt.refused != "" {
					assert.Equal(t, refused.Error(), "Error [invalid_arguments]: "+tt.refused)
					continue
				}
				assert.Assert(t, refused == nil)
				assert.Equal(t, string(got), tt.want)
			}
		})
	}
}

// TestNothingMeansEmpty is the other half of case 1.22: a tool that needs
// nothing runs.
func TestNothingMeansEmpty(t *testing.T) {
	for _, text := range []string{"", " ", "null", "{}"} {
		s := newScript(t).on(Root, calling("a echo "+text), saying("done"))
		run, err := runnerOf(s).Run(t.Context(), "go")
		assert.NilError(t, err)
		assert.DeepEqual(t, outcomes(run), []string{"1.1 a echo allow: echo "})
	}
}

// TestLibraryHasLastWord: a keyword that our own walk does not know still
// refuses.
func TestLibraryHasLastWord(t *testing.T) {
	tool := echoTool(t, "echo")
	tool.Schema.Properties["text"].Not = &jsonschema.Schema{Pattern: "bad"}
	r := registryOf(t, tool)
	registered, _ := r.lookup("echo")
	_, refused := registered.arguments(`{"text":"bad"}`)
	assert.Error(t, refused, "Error [invalid_arguments]: arguments: do not match the schema of the tool")
}

// TestMapsStayOpen: a map of T takes any key, with values of T.
func TestMapsStayOpen(t *testing.T) {
	type arguments struct {
		Env map[string]string `json:"env"`
	}
	tool, err := NewTool("env", "", EffectRead, func(_ context.Context, _ Invocation, a arguments) (string, error) {
		return a.Env["A"], nil
	})
	assert.NilError(t, err)
	registered, _ := registryOf(t, tool).lookup("env")
	_, refused := registered.arguments(`{"env":{"A":1,"B":"x"}}`)
	assert.Error(t, refused, "Error [invalid_arguments]: env.A: must be a string")
	_, refused = registered.arguments(`{"env":{"A":"1"}}`)
	assert.Assert(t, refused == nil)
}

// TestNewToolErrors: what cannot be described is refused when it is built.
func TestNewToolErrors(t *testing.T) {
	_, err := NewTool("x", "", EffectRead, func(context.Context, Invocation, int) (string, error) { return "", nil })
	assert.Error(t, err, "infer schema of tool x: arguments must be a struct")
	_, err = NewTool("x", "", EffectRead, func(context.Context, Invocation, struct{ C chan int }) (string, error) { return "", nil })
	assert.ErrorContains(t, err, "infer schema of tool x: ")
}

// FuzzArguments: the decoder never panics, and what it lets through is one
// object that strict JSON reads too.
func FuzzArguments(f *testing.F) {
	for _, seed := range []string{
		"", " ", "null", "{}", `{"path":"a"}`, `{"path":"a","path":"b"}`, `{"path":"a","items":[{"name":"x"}]}`,
		`{"path":"# Ti`, `[1]`, `"x"`, `{"path":1e999}`, `{"a":{"a":{"a":[]}}}`, "{\"\xff\":1}", `{} {}`,
	} {
		f.Add(seed)
	}
	tool := sampleTool(f)
	f.Fuzz(func(t *testing.T, text string) {
		object, refused := tool.arguments(text)
		if refused != nil {
			again, same := tool.arguments(text)
			assert.Assert(t, again == nil && same.Error() == refused.Error())
			return
		}
		assert.Assert(t, object.Kind() == '{' && object.IsValid())
		once, refused := tool.arguments(string(object))
		assert.Assert(t, refused == nil && string(once) == string(object))
		var compact jsontext.Value = object.Clone()
		assert.NilError(t, compact.Compact())
	})
}
