// Package profiles holds the ready-made agents: which tools they have, what is
// asked before a tool runs, how long they may go on, and what they are told.
package profiles

import (
	_ "embed"
	"strings"

	"github.com/tapetree/tapetree/runtime"
	"github.com/tapetree/tapetree/runtime/tools"
)

// Profile describes a parent and its children as data. Build makes it live.
type Profile struct {
	Name        string
	Prompt      string // of the parent, without the environment block
	ChildPrompt string
	Kit         func(*tools.Workspace) ([]runtime.Tool, error) // makes the tools of one agent, with a memory of their own
	Tools       []string                                       // of the parent, in the order the model sees them
	ChildTools  []string
	Task        runtime.TaskStyle
	Parallel    []string // tools whose calls run together when a turn has no others
	Rules       map[string]runtime.Rule
	// Auto says of tools that ask which calls go without a question in a
	// workspace: what a link or a setting there leads to counts too.
	Auto          map[string]func(ws *tools.Workspace, arguments string) bool
	Paths         map[string]runtime.PathArgument // the tools that the boundary binds
	Directory     bool                            // the environment block always names the workspace
	MaxTurns      int                             // of the parent; the default and the most
	ChildMaxTurns int                             // likewise of a child
}

//go:embed p06.md
var p06Prompt string

//go:embed p06_child.md
var p06ChildPrompt string

// P06 has one parent that plans and edits, and children with the same tools
// but task, one after another.
var P06 = Profile{
	Name:        "p06",
	Prompt:      strings.TrimSpace(p06Prompt),
	ChildPrompt: strings.TrimSpace(p06ChildPrompt),
	Kit:         tools.Standard,
	Tools: []string{
		"shell", "read_file", "write_file", "edit_file", "glob", runtime.TodoToolName, runtime.TaskToolName,
	},
	ChildTools: []string{
		"shell", "read_file", "write_file", "edit_file", "glob", runtime.TodoToolName,
	},
	Rules: map[string]runtime.Rule{
		"read_file":          runtime.RuleAllow,
		"glob":               runtime.RuleAllow,
		runtime.TodoToolName: runtime.RuleAllow,
		runtime.TaskToolName: runtime.RuleAllow,
		"shell":              runtime.RuleAsk,
		"write_file":         runtime.RuleAsk,
		"edit_file":          runtime.RuleAsk,
	},
	Paths: map[string]runtime.PathArgument{
		"read_file":  {Argument: "path", Access: runtime.AccessRead},
		"glob":       {Argument: "path", Access: runtime.AccessRead},
		"write_file": {Argument: "path", Access: runtime.AccessWrite},
		"edit_file":  {Argument: "path", Access: runtime.AccessWrite},
	},
	MaxTurns:      50,
	ChildMaxTurns: runtime.MaxChildTurns,
}

//go:embed mini.md
var miniPrompt string

//go:embed mini_child.md
var miniChildPrompt string

// Mini has a parent that edits, and children that look and report, several at
// once.
var Mini = Profile{
	Name:        "mini",
	Prompt:      strings.TrimSpace(miniPrompt),
	ChildPrompt: strings.TrimSpace(miniChildPrompt),
	Kit:         tools.Mini,
	Tools:       []string{"read_file", "list_files", "edit_file", "run_bash", runtime.TaskToolName},
	ChildTools:  []string{"read_file", "list_files", "run_bash"},
	Task:        runtime.TaskBrief,
	Parallel:    []string{"read_file", "list_files", runtime.TaskToolName},
	Rules: map[string]runtime.Rule{
		"read_file":          runtime.RuleAllow,
		"list_files":         runtime.RuleAllow,
		runtime.TaskToolName: runtime.RuleAllow,
		"edit_file":          runtime.RuleAsk,
		"run_bash":           runtime.RuleAsk,
	},
	Auto: map[string]func(*tools.Workspace, string) bool{"run_bash": (*tools.Workspace).AutoAllowed},
	Paths: map[string]runtime.PathArgument{
		"read_file":  {Argument: "path", Access: runtime.AccessRead},
		"list_files": {Argument: "path", Access: runtime.AccessRead},
		"edit_file":  {Argument: "path", Access: runtime.AccessWrite},
	},
	Directory:     true,
	MaxTurns:      50,
	ChildMaxTurns: runtime.MaxChildTurns,
}

// all are the profiles there are, in the order in which they are named.
var all = []Profile{P06, Mini}

// ByName returns the profile of that name.
func ByName(name string) (Profile, bool) {
	for _, p := range all {
		if p.Name == name {
			return p, true
		}
	}
	return Profile{}, false
}

// Names lists the profiles, for messages and completion.
func Names() []string {
	var names []string
	for _, p := range all {
		names = append(names, p.Name)
	}
	return names
}
