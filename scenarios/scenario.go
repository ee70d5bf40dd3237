package scenarios

import (
	"time"

	"github.com/tapetree/tapetree/internal/prices"
	"github.com/tapetree/tapetree/record"
	"github.com/tapetree/tapetree/runtime"
)

// Scenario is one parsed scenarios/NAME.txtar: what to run and what must come
// out. Header values that the file leaves out take the defaults of
// _defaults.txtar, then those named here.
type Scenario struct {
	File string // as named in messages
	Name string

	Profile       string          // default "p06"
	Transcript    string          // the transcript's name; default Name
	Golden        string          // the golden's name; default Name
	Model         string          // "": the transcript's first model
	SubModel      string          // of the children; "": the parent's. Profiles with settings for children only, as the next three
	ChildPolicy   runtime.Mode    // the mode of the children, which can only be stricter; "": the parent's
	ContextBudget int             // tokens that an agent's request may hold; 0: no budget
	OutputTokens  int             // the most tokens of one answer; 0: no limit
	MaxTurns      int             // 0: the profile's
	ChildMaxTurns int             // 0: the profile's
	Approve       string          // all, none, script (also what an approvals section means), tape; "": tape where the tool line has a verdict, else none
	Mode          runtime.Mode    // default ModeDefault
	Tools         map[string]bool // tool name to live (true) or tape (false); "*" is the rule for all others
	Workspace     string          // a directory below the scenario's folder
	Command       []string        // a program that is the agent, and its arguments; nil: the agent is our own runner
	Timeout       time.Duration   // of one run; 0: none
	MaxAge        time.Duration   // of the transcript; 0: none
	Tags          []string
	Interrupt     *Interrupt
	Fixtures      []Fixture

	Prompt      string  // "" where Command, or the program that was recorded, knows what to do
	System      *string // nil: the profile's
	ChildSystem *string
	Files       []File   // work/ and work64/
	Links       []Link   // link/
	FIFOs       []string // fifo/
	Outside     []File   // outside/
	Approvals   []Approval
	Volatile    []string       // header `volatile:` words and the lines of the section
	Faults      []record.Fault // what goes wrong with answers on purpose
	Hooks       []HookRule

	Want Want
}

// Interrupt is where the session is cancelled: before the turn's request, or,
// with Call not 0, when that call begins.
type Interrupt struct {
	Agent      runtime.Path
	Turn, Call int
}

// Fixture is a deliberate fault of the composition: Kind is child-has-task,
// factory-nil, factory-error, hook-block, hook-panic or hook-timeout, and Tool
// is set for the hook ones.
type Fixture struct{ Kind, Tool string }

// File is one file to be made, at a slash-separated path.
type File struct {
	Path string
	Data []byte
}

// Link is one symbolic link; {{outside}} and {{workspace}} in Target are
// expanded when it is made.
type Link struct{ Path, Target string }

// Approval is one line of the approvals section: the answer to the question of
// the call at the place, or, with Agent "", to the next question that no other
// line names. The form is `[AGENT#TURN.CALL] allow|deny|always [REASON]`.
type Approval struct {
	Line       int
	Agent      runtime.Path
	Turn, Call int
	Reply      runtime.Reply
}

// HookRule is one line of the hooks section: `EVENT [TOOL] ACTION [TEXT]`,
// where EVENT is a hook event, TOOL a tool name or * (tool events only, * when
// left out), and ACTION is log (the event becomes a line of the golden
// history), block REASON, fail, panic or timeout. Only block has a TEXT.
type HookRule struct {
	Line   int
	Event  string
	Tool   string
	Action string
	Text   string
}

// Want is what must come out. A nil or empty field demands nothing.
type Want struct {
	Answer   *string // exact text, /regexp/, or JSON subset
	Calls    *CallsWant
	Files    []File   // exact bytes in the workspace afterwards
	Absent   []string // paths that must not exist
	Budget   *Budget
	Verify   string   // a shell command that must exit 0 in the workspace
	Findings []string // codes that must appear; a finding listed here does not fail the scenario
}

// CallsWant is the want/calls section. Each agent's calls are judged for
// themselves, those of agents that no line names too: strict wants the same
// calls in the same order, unordered the same calls, subset no call but these,
// superset these and any others.
type CallsWant struct {
	Mode  string // strict (default), unordered, subset, superset
	Calls []CallWant
}

// CallWant is one expected call. Arguments is "" or _ (any), /regexp/ (of their
// text), or JSON with exactly their members, in which the string "_" matches
// any value and a string "/regexp/" what the regexp matches.
type CallWant struct {
	Line      int
	Agent     runtime.Path
	Tool      string
	Arguments string
}

// Budget limits a whole session tree; 0 sets no limit.
type Budget struct {
	Turns, Calls, Tokens int
	Cost                 prices.Amount
}

// BringsWorkspace reports whether the scenario makes files to work on, or copies
// them; file tools run for real in its replay then.
func (s *Scenario) BringsWorkspace() bool {
	return len(s.Files)+len(s.Links)+len(s.FIFOs)+len(s.Outside) > 0 || s.Workspace != ""
}
