package runtime

import (
	"context"
	"errors"
	"fmt"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/google/jsonschema-go/jsonschema"
)

// Code is the stable name of a tool error, as a model sees it.
type Code string

// Every code a tool result can carry.
const (
	CodeUnknownTool           Code = "unknown_tool"
	CodeInvalidArguments      Code = "invalid_arguments"
	CodePermissionDenied      Code = "permission_denied"
	CodeHookBlocked           Code = "hook_blocked"
	CodeTruncatedCall         Code = "truncated_call"
	CodeInterrupted           Code = "interrupted"
	CodeToolError             Code = "tool_error"
	CodeSubagentConfiguration Code = "subagent_configuration_error"
	CodeSubagentTurnLimit     Code = "subagent_turn_limit"
	CodeSubagentExecution     Code = "subagent_execution_error"
	CodeSubagentIncomplete    Code = "subagent_incomplete"
)

// ToolError is a failure that the model is told of: content, not an error of
// ours. Its text is our own word for the kind of failure, never an operating
// system's, and names workspace-relative paths only.
type ToolError struct {
	Code    Code
	Message string
}

// Error gives the text of the tool result: "Error [code]: message".
func (e *ToolError) Error() string { return fmt.Sprintf("Error [%s]: %s", e.Code, e.Message) }

// Failed returns a ToolError with code tool_error.
func Failed(format string, args ...any) *ToolError {
	return &ToolError{Code: CodeToolError, Message: fmt.Sprintf(format, args...)}
}

// Effect declares what a tool can change. It is information for people and
// reports; no permission depends on it.
type Effect string

// The effects.
const (
	EffectRead     Effect = "read"
	EffectWrite    Effect = "write"
	EffectExternal Effect = "external"
)

// Tool is one tool of a registry. Schema is both what the model sees and what
// validates. Handle gets arguments that passed it, as one JSON object.
//
// An error that is a *ToolError becomes the result's text; a context error
// becomes interrupted; any other error is a fault of ours and ends the session.
type Tool struct {
	Name        string
	Description string
	Effect      Effect
	Schema      *jsonschema.Schema
	Handle      func(ctx context.Context, call Invocation) (string, error)

	resolved *jsonschema.Resolved           // set by Registry.Register
	fits     func(jsontext.Value) []problem // set by NewTool: what the schema cannot say
	settles  bool                           // its result stands also when the context has ended: it says what was left undone
}

// Invocation is one call of one tool: its arguments, where it stands, and the
// runner that makes it.
type Invocation struct {
	Arguments jsontext.Value
	Place     Place
	Call      int
	Runner    *Runner
	record    *CallRecord // where task hangs its child
}

// Interrupted is the result of a call that was cancelled before its end.
var errInterrupted = &ToolError{Code: CodeInterrupted, Message: "Interrupted before it finished"}

// asToolError returns the ToolError in err's chain.
func asToolError(err error) (*ToolError, bool) {
	var te *ToolError
	ok := errors.As(err, &te)
	return te, ok
}
