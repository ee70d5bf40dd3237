package runtime

import (
	stdjson "encoding/json" // jsonschema-go writes a schema through it, and only a schema
	"fmt"
	"regexp"
	"slices"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/google/jsonschema-go/jsonschema"
)

// Registry holds the tools of one agent, in the order they were registered.
// Register all of them before the first run: a registry is not changed while
// an agent uses it. The zero value is an empty registry.
type Registry struct {
	tools       []Tool
	index       map[string]int
	definitions jsontext.Value // the closed JSON array; nil while empty
}

// NewRegistry returns a registry of the given tools; the errors are those of
// Register.
func NewRegistry(tools ...Tool) (*Registry, error) {
	r := new(Registry)
	for _, tool := range tools {
		if err := r.Register(tool); err != nil {
			return nil, err
		}
	}
	return r, nil
}

// toolName is what every provider takes for a function name.
var toolName = regexp.MustCompile(`^[a-zA-Z0-9_-]{1,64}$`)

// Register adds t. It refuses a name that is taken or that providers would
// refuse, a tool without handler, and a schema that is not one of an object.
func (r *Registry) Register(t Tool) error {
	switch {
	case !toolName.MatchString(t.Name):
		return fmt.Errorf("register tool %q: a name has 1 to 64 letters, digits, - and _", t.Name)
	case r.has(t.Name):
		return fmt.Errorf("register tool %s: the name is taken", t.Name)
	case t.Handle == nil:
		return fmt.Errorf("register tool %s: it has no handler", t.Name)
	case t.Schema == nil || t.Schema.Type != "object":
		return fmt.Errorf("register tool %s: the schema must describe an object", t.Name)
	}
	definition, err := define(t)
	if err != nil {
		return fmt.Errorf("register tool %s: %w", t.Name, err)
	}
	// A copy: what the model is shown cannot change behind the registry's back.
	t.Schema = t.Schema.CloneSchemas()
	if t.resolved, err = t.Schema.Resolve(nil); err != nil {
		return fmt.Errorf("register tool %s: resolve schema: %w", t.Name, err)
	}
	if r.index == nil {
		r.index = make(map[string]int)
	}
	r.index[t.Name] = len(r.tools)
	r.tools = append(r.tools, t)
	r.definitions = appendElement(r.definitions, definition)
	return nil
}

// Names returns the names in registration order.
func (r *Registry) Names() []string {
	if r == nil {
		return nil
	}
	names := make([]string, len(r.tools))
	for i, tool := range r.tools {
		names[i] = tool.Name
	}
	return names
}

// Definitions returns the JSON array of tool definitions that requests carry,
// in registration order, encoded once; nil when there is no tool. The caller
// must not change it.
func (r *Registry) Definitions() jsontext.Value {
	if r == nil {
		return nil
	}
	return r.definitions
}

func (r *Registry) has(name string) bool {
	_, ok := r.lookup(name)
	return ok
}

// lookup returns the tool of that name; a nil registry has none.
func (r *Registry) lookup(name string) (Tool, bool) {
	if r == nil {
		return Tool{}, false
	}
	at, ok := r.index[name]
	if !ok {
		return Tool{}, false
	}
	return r.tools[at], true
}

// define writes the definition of one tool as the wire wants it.
func define(t Tool) (jsontext.Value, error) {
	schema, err := encodeSchema(t.Schema)
	if err != nil {
		return nil, err
	}
	raw := append(jsontext.Value(`{"type":"function","function":{"name":`), quote(t.Name)...)
	raw = append(append(raw, `,"description":`...), quote(t.Description)...)
	raw = append(append(raw, `,"parameters":`...), schema...)
	return append(raw, "}}"...), nil
}

// encodeSchema writes a schema in its own key order, HTML not escaped.
func encodeSchema(s *jsonschema.Schema) (jsontext.Value, error) {
	escaped, err := stdjson.Marshal(s)
	if err != nil {
		return nil, fmt.Errorf("encode schema: %w", err)
	}
	plain, err := jsontext.AppendFormat(nil, escaped)
	if err != nil {
		return nil, fmt.Errorf("encode schema: %w", err)
	}
	return plain, nil
}

// appendElement returns a new JSON array: list with one more element.
func appendElement(list, element jsontext.Value) jsontext.Value {
	if len(list) == 0 {
		return slices.Concat(jsontext.Value("["), element, jsontext.Value("]"))
	}
	return slices.Concat(list[:len(list)-1], jsontext.Value(","), element, jsontext.Value("]"))
}
