package runtime

import (
	"context"
	_ "embed"
	"fmt"
	"strings"

	"github.com/google/jsonschema-go/jsonschema"
)

//go:embed task.md
var taskDescription string

type taskArguments struct {
	Description string `json:"description"`
}

// plainTool is the tool of TaskPlain.
func (o *TaskOptions) plainTool() (Tool, error) {
	tool, err := NewTool(TaskToolName, strings.TrimSpace(taskDescription), EffectExternal,
		func(ctx context.Context, call Invocation, args taskArguments) (string, error) {
			description := trimBlank(args.Description)
			return o.run(ctx, call, description, description)
		})
	if err != nil {
		return Tool{}, err
	}
	demandText(tool.Schema, "description")
	return tool, nil
}

// demandText refuses blank values of the named string properties.
func demandText(schema *jsonschema.Schema, names ...string) {
	for _, name := range names {
		property := schema.Properties[name]
		property.MinLength, property.Pattern = jsonschema.Ptr(1), notBlank
	}
}

var errSubagentExecution = &ToolError{CodeSubagentExecution, "Subagent execution failed"}

// plainReport turns the end of a child into the result of its call. Nothing of
// a failure's inside goes to the parent.
func (o *TaskOptions) plainReport(run *Run) (string, error) {
	switch run.Stop {
	case StopAnswer:
		return run.Final, nil
	case StopTurnLimit:
		return "", &ToolError{CodeSubagentTurnLimit,
			fmt.Sprintf("Subagent exceeded max_turns=%d without a final answer", o.MaxTurns)}
	case StopCancelled:
		return "", errInterrupted
	case StopTruncated, StopRefused, StopEmpty, StopUpstreamError:
		return "", errSubagentExecution
	default:
		return "", unknownStop(run)
	}
}
