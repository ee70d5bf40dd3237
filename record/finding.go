package record

import "github.com/tapetree/tapetree/runtime"

// Finding is one broken rule: a stable code, where it was broken, and one line
// that says how.
type Finding struct {
	Code    string       `json:"code"`
	Agent   runtime.Path `json:"agent,omitempty"` // "": the whole session
	Turn    int          `json:"turn,omitempty"`  // 0: no turn in particular
	Message string       `json:"message"`
	// Severity is what this one weighs where it is not what its code does.
	Severity string `json:"severity,omitempty"`
}

// Weight is what the finding weighs.
func (f Finding) Weight() string {
	if f.Severity != "" {
		return f.Severity
	}
	return Severity(f.Code)
}

// What a finding weighs. Errors fail a run, warnings only under --strict.
const (
	SeverityError   = "error"
	SeverityWarning = "warning"
	SeverityNotice  = "notice"
)

// The findings of a replay.
const (
	codeMissing    = "replay/missing"     // no recorded exchange or tool line left for what was asked
	codeExtra      = "replay/extra"       // recorded, but never asked for
	codeOrder      = "replay/order"       // asked for, or standing in the file, out of turn order
	codeHistory    = "replay/history"     // the messages sent differ
	codePrompt     = "replay/prompt"      // the system text differs
	codeTools      = "replay/tools"       // schemas, model or parameters differ
	codeToolResult = "replay/tool-result" // a live call differs from its tool line
	codeVerdict    = "replay/verdict"     // a live call was judged otherwise
	codeStop       = "replay/stop"        // an agent ended otherwise
	codePartial    = "replay/partial"     // the recording broke off
	codeFault      = "replay/fault"       // a fault that nothing came of
)

// codes lists every finding there is, with its severity, grouped as in
// docs/findings.md.
var codes = []struct{ code, severity string }{
	{"pairing/unanswered", SeverityError},
	{"pairing/orphan", SeverityError},
	{"pairing/duplicate-id", SeverityError},
	{"pairing/order", SeverityError},
	{"isolation/parent-sees-child", SeverityError},
	{"isolation/child-sees-parent", SeverityError},
	{"isolation/siblings", SeverityError},
	{"recursion/spawned", SeverityError},
	{"sandbox/escaped", SeverityError},
	{"limit/exceeded", SeverityError},
	{"limit/tool-output-as-answer", SeverityError},
	{"truncated/executed", SeverityError},
	{"arguments/invalid-json", SeverityError},
	{"secret/present", SeverityError},
	{codeMissing, SeverityError},
	{codeExtra, SeverityError},
	{codeOrder, SeverityError},
	{codeHistory, SeverityError},
	{codePrompt, SeverityWarning},
	{codeTools, SeverityWarning},
	{codeToolResult, SeverityError},
	{codeVerdict, SeverityError},
	{codeStop, SeverityError},
	{codePartial, SeverityError},
	{codeFault, SeverityWarning},
	{"replay/ambiguous", SeverityError},
	{"replay/command-exit", SeverityError},
	{"replay/stale", SeverityWarning},
	{"golden/missing", SeverityError},
	{"golden/differs", SeverityError},
	{"want/answer", SeverityError},
	{"want/calls", SeverityError},
	{"want/files", SeverityError},
	{"want/absent", SeverityError},
	{"want/budget", SeverityError},
	{"want/verify", SeverityError},
	{"want/judge", SeverityError},
	{"delegation/vague-brief", SeverityWarning},
	{"delegation/long-report", SeverityWarning},
	{"delegation/verbatim-report", SeverityWarning},
	{"delegation/trivial-task", SeverityWarning},
	{"delegation/parallel-writes", SeverityWarning},
	{"delegation/edit-unread", SeverityWarning},
	{"delegation/reader-writes", SeverityWarning},
	{"delegation/hidden-failure", SeverityWarning},
}

var severities = func() map[string]string {
	table := make(map[string]string, len(codes))
	for _, c := range codes {
		table[c.code] = c.severity
	}
	return table
}()

// Codes returns the code of every finding there is, grouped by kind.
func Codes() []string {
	list := make([]string, len(codes))
	for i, c := range codes {
		list[i] = c.code
	}
	return list
}

// IsCode reports whether a finding with this code exists.
func IsCode(code string) bool {
	_, ok := severities[code]
	return ok
}

// Severity returns what a finding with this code weighs. A code that does not
// exist weighs as an error: a slip of ours must not let a run pass.
func Severity(code string) string {
	if severity, ok := severities[code]; ok {
		return severity
	}
	return SeverityError
}
