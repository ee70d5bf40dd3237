package runtime

import (
	"context"
	_ "embed"
	"fmt"
	"strings"
)

//go:embed task_brief.md
var taskBriefDescription string

type briefArguments struct {
	Description string `json:"description" jsonschema:"A short title of the task: 3 to 10 words or characters. The user sees it; the subagent does not."`
	Prompt      string `json:"prompt" jsonschema:"The whole brief: all that the subagent will know."`
}

// briefTool is the tool of TaskBrief.
func (o *TaskOptions) briefTool() (Tool, error) {
	tool, err := NewTool(TaskToolName, strings.TrimSpace(taskBriefDescription), EffectExternal,
		func(ctx context.Context, call Invocation, args briefArguments) (string, error) {
			return o.run(ctx, call, trimBlank(args.Description), trimBlank(args.Prompt))
		})
	if err != nil {
		return Tool{}, err
	}
	demandText(tool.Schema, "description", "prompt")
	tool.settles = true
	return tool, nil
}

// briefReport turns the end of a child into the result of its call: its report,
// or how far it came and why no further, each with what it cost.
func briefReport(run *Run) (string, error) {
	switch run.Stop {
	case StopAnswer:
		return paragraphs(run.Final, statistics(run)), nil
	case StopTurnLimit, StopTruncated, StopRefused, StopEmpty, StopCancelled:
		return "", incomplete(string(run.Stop), run)
	case StopUpstreamError:
		reason := string(run.Stop)
		if run.Status != 0 {
			reason = fmt.Sprintf("%s %d", reason, run.Status)
		}
		return "", incomplete(reason, run)
	default:
		return "", unknownStop(run)
	}
}

// incomplete is the result of a child that gave no answer: why, what it had
// written, what it cost.
func incomplete(reason string, run *Run) *ToolError {
	return &ToolError{CodeSubagentIncomplete,
		paragraphs("Subagent did not finish: "+reason, run.Partial, statistics(run))}
}

// statistics is the last line of every report. A title of several lines is
// written on one.
func statistics(run *Run) string {
	messages := 0
	for _, m := range run.History.Messages() {
		if m.Role != RoleSystem {
			messages++
		}
	}
	return fmt.Sprintf("(subagent \"%s\": %d messages, %d input tokens, %d output tokens)",
		strings.Join(strings.Fields(run.Label), " "), messages, run.Usage.Input, run.Usage.Output)
}

// paragraphs joins texts with a blank line, leaving out what is blank.
func paragraphs(texts ...string) string {
	var kept []string
	for _, text := range texts {
		if text = trimBlank(text); text != "" {
			kept = append(kept, text)
		}
	}
	return strings.Join(kept, "\n\n")
}
