package scenarios

import (
	"fmt"
	"strings"
	"unicode"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/tapetree/tapetree/record"
	"github.com/tapetree/tapetree/runtime"
)

// distinctive is the length in bytes from which on a text found inside another
// message is taken for a leak. Shorter texts ("ok", a file name) turn up
// anywhere; of those only a message that is nothing else counts.
const distinctive = 24

// judgeIsolation looks for what one agent has of another beside the two flows
// that there are: the brief down, the final text up. The form of both is known
// for sessions of our own runner only (formal).
func judgeIsolation(agents []agent, formal bool) []record.Finding {
	var findings []record.Finding
	briefs := briefsOf(agents)
	private := newPrivateTexts(agents, briefs)
	for i := range agents {
		a := &agents[i]
		if brief, started := briefs[a.path]; started && formal && len(a.requests) > 0 {
			findings = append(findings, judgeStart(a, brief)...)
		}
		findings = append(findings, judgeForeign(a, briefs[a.path], private)...)
		if a.run != nil && formal {
			findings = append(findings, judgeReports(a.run)...)
		}
	}
	return findings
}

// briefsOf returns what each child was told, trimmed: the prompt of its task
// call, or, of a task that has none, the description. A call whose arguments
// cannot be read has none.
func briefsOf(agents []agent) map[runtime.Path]string {
	briefs := map[runtime.Path]string{}
	for _, a := range agents {
		if a.run == nil {
			continue
		}
		for _, turn := range a.run.Turns {
			for _, call := range turn.Calls {
				if call.Child == nil {
					continue
				}
				if task := taskOf(call.Arguments); task.brief != nil {
					briefs[call.Child.Agent] = trimBlank(*task.brief)
				}
			}
		}
	}
	return briefs
}

// task is what the arguments of a task call say.
type task struct {
	title   string  // "" where the description is the brief
	brief   *string // nil: cannot be read
	reports bool    // the result is a report with statistics, also of a child that failed
}

func taskOf(arguments string) task {
	var args struct {
		Description *string `json:"description"`
		Prompt      *string `json:"prompt"`
	}
	err := json.Unmarshal([]byte(arguments), &args, jsontext.AllowInvalidUTF8(true))
	switch {
	case err != nil:
		return task{}
	case args.Prompt == nil:
		return task{brief: args.Description}
	case args.Description == nil:
		return task{brief: args.Prompt, reports: true}
	}
	return task{title: *args.Description, brief: args.Prompt, reports: true}
}

// trimBlank is what the runtime takes off briefs and reports.
func trimBlank(text string) string {
	return strings.TrimFunc(text, func(r rune) bool { return unicode.IsSpace(r) || r == '\ufeff' })
}

// judgeStart holds a child's first request to its form: the system text and the
// brief, nothing of the parent.
func judgeStart(a *agent, brief string) []record.Finding {
	first := a.requests[0]
	messages := first.messages.Messages()
	wrong := ""
	switch {
	case len(messages) != 2 || messages[0].Role != runtime.RoleSystem || messages[1].Role != runtime.RoleUser:
		wrong = "the first request: expected a system and a user message, got " + rolesOf(messages)
	case messages[1].Content != brief:
		wrong = fmt.Sprintf("the first request: expected the brief %s, got %s", short(brief), short(messages[1].Content))
	default:
		return nil
	}
	return []record.Finding{{Code: "isolation/child-sees-parent", Agent: a.path, Turn: first.turn, Message: wrong}}
}

// rolesOf lists the roles of up to five messages.
func rolesOf(messages []runtime.Message) string {
	const most = 5
	var roles []string
	for i, m := range messages {
		if i == most {
			roles = append(roles, fmt.Sprintf("... (%d messages)", len(messages)))
			break
		}
		roles = append(roles, string(m.Role))
	}
	if len(roles) == 0 {
		return "no message"
	}
	return strings.Join(roles, ", ")
}

// judgeForeign looks at each message of an agent that is not of its own making
// (its answers, the results of its calls, the reminders and the prompt that its
// run was given) for a text that is private to another.
func judgeForeign(a *agent, brief string, private *privateTexts) []record.Finding {
	own := ownTexts(a, brief)
	var findings []record.Finding
	a.eachNew(func() {}, func(turn, index int, m *runtime.Message) {
		if m.Content == "" || own[ownText{m.Role, m.Content}] {
			return
		}
		owner, text, found := private.in(m.Content, a.path, func(text string) bool {
			return own[ownText{runtime.RoleAssistant, text}] || own[ownText{runtime.RoleTool, text}]
		})
		if found {
			findings = append(findings, record.Finding{Code: leak(a.path, owner), Agent: a.path, Turn: turn,
				Message: fmt.Sprintf("message %d (%s) has a text of %s: %s", index+1, m.Role, owner, short(text))})
		}
	}, func(int) {})
	return findings
}

// leak is the code for a text of owner that seer has.
func leak(seer, owner runtime.Path) string {
	switch {
	case strings.HasPrefix(string(owner), string(seer)+"/"):
		return "isolation/parent-sees-child"
	case strings.HasPrefix(string(seer), string(owner)+"/"):
		return "isolation/child-sees-parent"
	default:
		return "isolation/siblings"
	}
}

// ownText is a text that an agent may send, in the role it may send it in.
type ownText struct {
	role runtime.Role
	text string
}

func ownTexts(a *agent, brief string) map[ownText]bool {
	own := map[ownText]bool{{runtime.RoleUser, brief}: true}
	if a.run == nil {
		return own
	}
	if a.path.Depth() == 0 {
		own[ownText{runtime.RoleUser, a.run.Prompt}] = true
	}
	for _, turn := range a.run.Turns {
		if a.path.Depth() == 0 && isReminder(turn.Reminder) { // a child is never reminded
			own[ownText{runtime.RoleUser, turn.Reminder}] = true
		}
		if text, ok := summaryIn(&turn); ok {
			own[ownText{runtime.RoleUser, text}] = true
		}
		if turn.Answer != nil {
			own[ownText{runtime.RoleAssistant, turn.Answer.Message.Content}] = true
		}
		for _, call := range turn.Calls {
			own[ownText{runtime.RoleTool, call.Result}] = true
		}
	}
	return own
}

// summaryIn is the message of a turn's request that stands for the older part of
// the history.
func summaryIn(turn *runtime.Turn) (string, bool) {
	if turn.Compact == nil || turn.Compact.Summary == "" {
		return "", false
	}
	for _, m := range turn.Sent.Messages() {
		if m.Role == runtime.RoleUser && strings.HasSuffix(m.Content, turn.Compact.Summary) {
			return m.Content, true
		}
	}
	return "", false
}

// isReminder tells what the runtime says to a model of its own accord from the
// other user messages that a recording may have in a turn.
func isReminder(text string) bool { return strings.HasPrefix(text, "Reminder: ") }

// hasCode reports whether a tool result is an error with one of the codes.
func hasCode(result string, codes ...runtime.Code) bool {
	for _, code := range codes {
		if strings.HasPrefix(result, "Error ["+string(code)+"]: ") {
			return true
		}
	}
	return false
}
