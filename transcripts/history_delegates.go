package transcripts

import (
	"strings"
	"unicode"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/tapetree/tapetree/runtime"
)

// delegating holds the names of the tools that start an agent, as delegateName
// writes them: in lower case, letters and digits only. A tool that hands the
// conversation itself over (transfer_to_…) starts none, and neither does one
// that only asks after an agent.
var delegating = map[string]bool{
	"task":                   true, // this runtime; opencode, qwen-code, deepagents, Copilot; Claude Code's Task
	"agent":                  true, // Claude Code's Agent
	"dispatchagent":          true, // Claude Code before that
	"spawnagent":             true, // Codex
	"spawnagents":            true,
	"spawnsubagent":          true,
	"subagent":               true, // pi
	"subagents":              true,
	"runsubagent":            true, // Copilot in VS Code
	"usesubagents":           true, // Cline
	"newtask":                true, // Cline, Roo Code
	"transfertask":           true, // cagent
	"runbackgroundagent":     true, // cagent
	"delegateworktocoworker": true, // crewAI
	"askquestiontocoworker":  true, // crewAI
	"delegatetask":           true,
	"delegatetaskto":         true,
	"delegatetasktomember":   true, // agno
	"delegatetasktomembers":  true, // agno
	"transfertasktomember":   true, // agno before that
	"delegatetoagent":        true, // Gemini CLI
	"invokeagent":            true, // Gemini CLI
	"launchagent":            true,
	"startagent":             true,
	"runagent":               true,
	"callagent":              true,
	"callsubagent":           true,
	"createsubagent":         true,
	"sessionsspawn":          true, // OpenClaw
	"delegate":               true,
}

// delegateName folds the ways to write one name into one: Delegate work to
// coworker, delegate_work_to_coworker, runSubagent.
func delegateName(name string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsLetter(r) || unicode.IsDigit(r) {
			return unicode.ToLower(r)
		}
		return -1
	}, name)
}

// Delegates reports whether a call of the tool with this name starts an agent.
// The name is all there is to go by in a history; the table of names is
// delegating.
func Delegates(name string) bool { return delegating[delegateName(name)] }

// Where the tools of delegating have their brief and their title; the first
// that is there and not blank counts.
var (
	promptKeys = []string{"prompt", "task", "message", "question", "instructions", "instruction", "input", "query", "request", "objective", "goal", "content", "description"}
	titleKeys  = []string{"description", "title", "name", "task_name", "label", "coworker", "agent_name", "agentName", "agent", "subagent_type", "agent_type", "member_id", "agent_id", "role"}
)

// Brief reads what a delegating call tells the agent that it starts: a short
// title, and the prompt. Each is "" when the arguments have none; of arguments
// that break off, what stands before counts.
func Brief(arguments string) (title, prompt string) {
	d := jsontext.NewDecoder(strings.NewReader(arguments), jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))
	if d.PeekKind() != '{' {
		return "", ""
	}
	texts := map[string]string{}
	_, err := d.ReadToken()
	for err == nil && d.PeekKind() == '"' {
		var name jsontext.Token
		if name, err = d.ReadToken(); err != nil {
			break
		}
		key := name.String()
		var value jsontext.Value
		if value, err = d.ReadValue(); err == nil && value.Kind() == '"' {
			texts[key] = strings.TrimSpace(unquote(value))
		}
	}
	return firstText(texts, titleKeys), firstText(texts, promptKeys)
}

func firstText(texts map[string]string, keys []string) string {
	for _, key := range keys {
		if text := texts[key]; text != "" {
			return text
		}
	}
	return ""
}

// nameAgents hangs a run without turns under every call that starts an agent of
// which nothing else is known. A call that was not allowed to run started none.
func nameAgents(run *runtime.Run) {
	for i := range run.Turns {
		t := &run.Turns[i]
		for j := range t.Calls {
			c := &t.Calls[j]
			switch {
			case c.Child != nil:
				nameAgents(c.Child)
			case Delegates(c.Name) && (c.Verdict == "" || c.Verdict.Class() == "allowed"):
				title, prompt := Brief(c.Arguments)
				path := run.Agent.Child(t.Number, c.Number)
				if title == "" {
					title = string(path)
				}
				c.Child = &runtime.Run{Agent: path, Label: title, Prompt: prompt}
			}
		}
	}
}
