package runtime

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/google/jsonschema-go/jsonschema"
)

// Checker is what a type of arguments implements for rules that a schema
// cannot say. Each text returned refuses the call as invalid_arguments; it
// begins with the field's name and a colon, and is the same for the same
// value.
type Checker interface {
	Problems() []string
}

// NewTool makes a tool whose arguments are the struct T. The schema is inferred
// from T: `json` tags name the fields, omitzero or omitempty makes one
// optional, `jsonschema` tags describe them. Every struct is closed to unknown
// fields, and null is refused for all but pointers. What inference cannot say
// (an enum, a minLength) is set in the Schema of the tool that is returned,
// before it is registered.
func NewTool[T any](name, description string, effect Effect, handle func(ctx context.Context, call Invocation, args T) (string, error)) (Tool, error) {
	schema, err := jsonschema.For[T](nil)
	if err != nil {
		return Tool{}, fmt.Errorf("infer schema of tool %s: %w", name, err)
	}
	if schema.Type != "object" {
		return Tool{}, fmt.Errorf("infer schema of tool %s: arguments must be a struct", name)
	}
	refuseNullArrays(schema)
	return Tool{
		Name:        name,
		Description: description,
		Effect:      effect,
		Schema:      schema,
		fits: func(object jsontext.Value) []problem {
			_, problems := decodeInto[T](object)
			return problems
		},
		Handle: func(ctx context.Context, call Invocation) (string, error) {
			args, problems := decodeInto[T](call.Arguments)
			if len(problems) > 0 {
				return "", refusal(problems)
			}
			return handle(ctx, call, args)
		},
	}, nil
}

// refuseNullArrays takes back the null that inference allows for slices.
func refuseNullArrays(s *jsonschema.Schema) {
	if s == nil {
		return
	}
	if slices.Equal(s.Types, []string{"null", "array"}) {
		s.Type, s.Types = "array", nil
	}
	refuseNullArrays(s.Items)
	refuseNullArrays(s.AdditionalProperties)
	for _, property := range s.Properties {
		refuseNullArrays(property)
	}
}

// DecodeArguments reads what a model wrote as arguments into T, as a tool made
// by NewTool[T] does but for the rules of its schema: for policies that judge a
// call before it runs. The error is a *ToolError with code invalid_arguments.
func DecodeArguments[T any](text string) (T, error) {
	object, _, problems := decodeArguments(text)
	if len(problems) > 0 {
		return *new(T), refusal(problems)
	}
	args, problems := decodeInto[T](object)
	if len(problems) > 0 {
		return *new(T), refusal(problems)
	}
	return args, nil
}

// decodeInto reads an object that has passed the schema. What still does not
// fit the Go type (a number too large for its field) is a problem of the
// arguments as well.
func decodeInto[T any](object jsontext.Value) (T, []problem) {
	var args T
	err := json.Unmarshal(object, &args, json.RejectUnknownMembers(true), json.WithUnmarshalers(wholeNumbers))
	if err != nil {
		return args, []problem{{"", "do not fit the tool"}}
	}
	var problems []problem
	if checker, ok := any(args).(Checker); ok {
		for _, text := range checker.Problems() {
			problems = append(problems, splitProblem(text))
		}
	}
	return args, problems
}

// splitProblem parts "field: text" again, so that all problems sort alike.
func splitProblem(text string) problem {
	field, rest, found := strings.Cut(text, ": ")
	if !found {
		return problem{"", text}
	}
	return problem{field, rest}
}

// wholeNumbers reads 3.0 and 3e0 as the integer they are in JSON schema.
var wholeNumbers = json.UnmarshalFromFunc(func(dec *jsontext.Decoder, into *int) error {
	if dec.PeekKind() != '0' {
		return errors.ErrUnsupported
	}
	token, err := dec.ReadToken()
	if err != nil {
		return err
	}
	value, err := strconv.ParseFloat(token.String(), 64)
	if err != nil || math.Abs(value) > 1<<53 || float64(int(value)) != value {
		return fmt.Errorf("%s is no whole number in range", token.String())
	}
	*into = int(value)
	return nil
})
