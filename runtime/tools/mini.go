package tools

import (
	"context"

	"github.com/tapetree/tapetree/runtime"
)

type listArguments struct {
	Path string `json:"path,omitzero" jsonschema:"The folder; the workspace if left out."`
}

// Mini returns the tools of one agent that must read before it edits:
// read_file, list_files, edit_file and run_bash, in this order. Each call
// returns new tools with a read record of their own, so a file that one agent
// has read counts for no other. It fails only if a schema cannot be inferred or
// a description is missing.
func Mini(ws *Workspace) ([]runtime.Tool, error) {
	seen := &reads{required: true}
	return built(
		func() (runtime.Tool, error) { return readTool(ws, seen) },
		func() (runtime.Tool, error) { return listTool(ws) },
		func() (runtime.Tool, error) { return editReadTool(ws, seen) },
		func() (runtime.Tool, error) { return commandTool("run_bash", ws.Bash) },
	)
}

func listTool(ws *Workspace) (runtime.Tool, error) {
	return newTool("list_files", runtime.EffectRead,
		func(ctx context.Context, _ runtime.Invocation, args listArguments) (string, error) {
			return ws.ListFiles(ctx, args.Path)
		})
}

// editReadTool is edit_file with a description that tells the rule of seen.
func editReadTool(ws *Workspace, seen *reads) (runtime.Tool, error) {
	tool, err := editTool(ws, seen)
	if err == nil {
		tool.Description, err = describe("edit_file_read")
	}
	return tool, err
}
