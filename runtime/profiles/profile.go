// Package profiles holds the ready-made agents: which tools they have, what is
// asked before a tool runs, how long they may go on, and what they are told.
package profiles

import (
	_ "embed"
	"strings"

	"github.com/tapetree/tapetree/runtime"
)

// Profile describes a parent and its children as data. Build makes it live.
type Profile struct {
	Name          string
	Prompt        string // of the parent, without the environment block
	ChildPrompt   string
	Tools         []string // of the parent, in the order the model sees them
	ChildTools    []string
	Rules         map[string]runtime.Rule
	Paths         map[string]runtime.PathArgument // the tools that the boundary binds
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

// ByName returns the profile of that name.
func ByName(name string) (Profile, bool) {
	if name == P06.Name {
		return P06, true
	}
	return Profile{}, false
}

// Names lists the profiles, for messages and completion.
func Names() []string { return []string{P06.Name} }
