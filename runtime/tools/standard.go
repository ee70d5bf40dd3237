package tools

import (
	"context"
	"embed"
	"fmt"
	"strings"

	"github.com/google/jsonschema-go/jsonschema"

	"github.com/tapetree/tapetree/runtime"
)

// descriptions holds what each tool is to the model, in NAME.md.
//
//go:embed descriptions/*.md
var descriptions embed.FS

type shellArguments struct {
	Command        string `json:"command" jsonschema:"What to run, as typed into a shell."`
	TimeoutSeconds int    `json:"timeout_seconds,omitzero" jsonschema:"Time limit in seconds; 120 if left out."`
}

type readArguments struct {
	Path   string `json:"path" jsonschema:"The file."`
	Offset int    `json:"offset,omitzero" jsonschema:"First line to read, counted from 1; 1 if left out."`
	Limit  int    `json:"limit,omitzero" jsonschema:"How many lines to read; 2000 if left out."`
}

type writeArguments struct {
	Path    string `json:"path" jsonschema:"The file; missing folders are made."`
	Content string `json:"content" jsonschema:"All that the file is to hold."`
}

type editArguments struct {
	Path       string `json:"path" jsonschema:"The file; it must exist."`
	OldString  string `json:"old_string" jsonschema:"The exact text to replace, with enough around it to be unique."`
	NewString  string `json:"new_string" jsonschema:"The text to put there."`
	ReplaceAll bool   `json:"replace_all,omitzero" jsonschema:"Replace every place where old_string stands."`
}

type globArguments struct {
	Pattern string `json:"pattern" jsonschema:"For example *.go or src/**/*.md."`
	Path    string `json:"path,omitzero" jsonschema:"The folder to start from; the workspace if left out."`
}

// Standard returns the tools of one agent that work in ws: shell, read_file,
// write_file, edit_file and glob, in this order. Each call returns new tools
// that remember on their own what their agent has read; the workspace and its
// file locks are shared. It fails only if a schema cannot be inferred or a description is
// missing.
func Standard(ws *Workspace) ([]runtime.Tool, error) {
	seen := new(reads)
	return built(
		func() (runtime.Tool, error) { return shellTool(ws) },
		func() (runtime.Tool, error) { return readTool(ws, seen) },
		func() (runtime.Tool, error) { return writeTool(ws, seen) },
		func() (runtime.Tool, error) { return editTool(ws, seen) },
		func() (runtime.Tool, error) { return globTool(ws) },
	)
}

// built returns the tools, or the first failure.
func built(builders ...func() (runtime.Tool, error)) ([]runtime.Tool, error) {
	var tools []runtime.Tool
	for _, build := range builders {
		tool, err := build()
		if err != nil {
			return nil, err
		}
		tools = append(tools, tool)
	}
	return tools, nil
}

// newTool is runtime.NewTool with the description that goes by the tool's name.
func newTool[T any](
	name string, effect runtime.Effect, handle func(context.Context, runtime.Invocation, T) (string, error),
) (runtime.Tool, error) {
	description, err := describe(name)
	if err != nil {
		return runtime.Tool{}, err
	}
	return runtime.NewTool(name, description, effect, handle)
}

// describe returns the text of a file in descriptions.
func describe(file string) (string, error) {
	text, err := descriptions.ReadFile("descriptions/" + file + ".md")
	if err != nil {
		return "", fmt.Errorf("describe tool %s: %w", file, err)
	}
	return strings.TrimSpace(string(text)), nil
}

func shellTool(ws *Workspace) (runtime.Tool, error) { return commandTool("shell", ws.Shell) }

// commandTool makes a tool that runs the text of a command.
func commandTool(name string, run func(ctx context.Context, command string, seconds int) (string, error)) (runtime.Tool, error) {
	tool, err := newTool(name, runtime.EffectExternal,
		func(ctx context.Context, _ runtime.Invocation, args shellArguments) (string, error) {
			return run(ctx, args.Command, args.TimeoutSeconds)
		})
	if err == nil {
		limit := tool.Schema.Properties["timeout_seconds"]
		limit.Minimum, limit.Maximum = jsonschema.Ptr(1.0), jsonschema.Ptr(MaxLimit.Seconds())
	}
	return tool, err
}

func readTool(ws *Workspace, seen *reads) (runtime.Tool, error) {
	tool, err := newTool("read_file", runtime.EffectRead,
		func(ctx context.Context, _ runtime.Invocation, args readArguments) (string, error) {
			return ws.readFile(ctx, seen, args.Path, args.Offset, args.Limit)
		})
	if err == nil {
		tool.Schema.Properties["offset"].Minimum = jsonschema.Ptr(1.0)
		tool.Schema.Properties["limit"].Minimum = jsonschema.Ptr(1.0)
	}
	return tool, err
}

func writeTool(ws *Workspace, seen *reads) (runtime.Tool, error) {
	return newTool("write_file", runtime.EffectWrite,
		func(ctx context.Context, _ runtime.Invocation, args writeArguments) (string, error) {
			return ws.writeFile(ctx, seen, args.Path, args.Content)
		})
}

func editTool(ws *Workspace, seen *reads) (runtime.Tool, error) {
	tool, err := newTool("edit_file", runtime.EffectWrite,
		func(ctx context.Context, _ runtime.Invocation, args editArguments) (string, error) {
			return ws.editFile(ctx, seen, args.Path, args.OldString, args.NewString, args.ReplaceAll)
		})
	if err == nil {
		tool.Schema.Properties["old_string"].MinLength = jsonschema.Ptr(1)
	}
	return tool, err
}

func globTool(ws *Workspace) (runtime.Tool, error) {
	return newTool("glob", runtime.EffectRead,
		func(ctx context.Context, _ runtime.Invocation, args globArguments) (string, error) {
			return ws.Glob(ctx, args.Pattern, args.Path)
		})
}
