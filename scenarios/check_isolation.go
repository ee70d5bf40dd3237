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

// briefsOf returns what each child was told: the description of its task call,
// trimmed. A call whose arguments cannot be read has none.
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
				if brief, ok := briefIn(call.Arguments); ok {
					briefs[call.Child.Agent] = brief
				}
			}
		}
	}
	return briefs
}

func briefIn(arguments string) (string, bool) {
	var task struct {
		Description *string `json:"description"`
	}
	err := json.Unmarshal([]byte(arguments), &task, jsontext.AllowInvalidUTF8(true))
	if err != nil || task.Description == nil {
		return "", false
	}
	return strings.TrimFunc(*task.Description, func(r rune) bool { return unicode.IsSpace(r) || r == '\ufeff' }), true
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
		if turn.Answer != nil {
			own[ownText{runtime.RoleAssistant, turn.Answer.Message.Content}] = true
		}
		for _, call := range turn.Calls {
			own[ownText{runtime.RoleTool, call.Result}] = true
		}
	}
	return own
}

// isReminder tells what the runtime says to a model of its own accord from the
// other user messages that a recording may have in a turn.
func isReminder(text string) bool { return strings.HasPrefix(text, "Reminder: ") }

// judgeReports holds the result of each call that started a child to what may
// come up: the child's final text or an error of the runtime. What the child
// used or had written before is not among it.
func judgeReports(run *runtime.Run) []record.Finding {
	var findings []record.Finding
	for _, turn := range run.Turns {
		for _, call := range turn.Calls {
			if call.Child == nil || mayComeUp(&call) {
				continue
			}
			finding := record.Finding{Code: "isolation/parent-sees-child", Agent: run.Agent, Turn: turn.Number,
				Message: fmt.Sprintf("call %d: the result is not the final text of %s: expected %s, got %s", call.Number, call.Child.Agent, expectedReport(call.Child), short(call.Result))}
			if last, found := lastResult(call.Child); found && last == call.Result {
				finding.Code = "limit/tool-output-as-answer"
				finding.Message = fmt.Sprintf("call %d: the last tool result of %s stands for its answer: expected %s, got %s", call.Number, call.Child.Agent, expectedReport(call.Child), short(call.Result))
			}
			findings = append(findings, finding)
		}
	}
	return findings
}

// reportErrors are the errors that can be the result of a call that started a
// child.
var reportErrors = []runtime.Code{
	runtime.CodeSubagentConfiguration, runtime.CodeSubagentTurnLimit, runtime.CodeSubagentExecution,
	runtime.CodeInterrupted,
}

func mayComeUp(call *runtime.CallRecord) bool {
	if call.Result == "" && call.Verdict == runtime.VerdictInterrupted {
		return true // a recording that broke off: nothing came up
	}
	if hasCode(call.Result, reportErrors...) {
		return true
	}
	answered := call.Child.Stop == runtime.StopAnswer || call.Child.Stop == "" && call.Child.Final != ""
	return answered && call.Result == call.Child.Final
}

func expectedReport(child *runtime.Run) string {
	if child.Stop == runtime.StopAnswer {
		return short(child.Final)
	}
	return "an error"
}

// hasCode reports whether a tool result is an error with one of the codes.
func hasCode(result string, codes ...runtime.Code) bool {
	for _, code := range codes {
		if strings.HasPrefix(result, "Error ["+string(code)+"]: ") {
			return true
		}
	}
	return false
}

// lastResult is the last tool result that an agent had.
func lastResult(run *runtime.Run) (string, bool) {
	for i := len(run.Turns) - 1; i >= 0; i-- {
		if calls := run.Turns[i].Calls; len(calls) > 0 {
			return calls[len(calls)-1].Result, true
		}
	}
	return "", false
}
