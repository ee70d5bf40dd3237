package diff

import (
	"cmp"
	"regexp"
	"strings"

	"github.com/tapetree/tapetree/runtime"
	"github.com/tapetree/tapetree/transcripts"
)

// Delegations is each child of a session held against its parent.
type Delegations struct {
	Version  int          `json:"version"`
	History  string       `json:"history"`
	Children []Delegation `json:"children"`
}

// State says how far a delegation can be told.
type State string

// The states of a delegation.
const (
	Answered   State = "answered"
	Unanswered State = "unanswered" // the call has no result
	Unknown    State = "unknown"    // nothing is told of the child but its call
	Stray      State = "stray"      // no visible call started the child
)

// Delegation is one call that started an agent.
type Delegation struct {
	State  State  `json:"state"`
	Parent string `json:"parent"`
	Child  string `json:"child"`
	Label  string `json:"label,omitempty"`
	Turn   int    `json:"turn"` // of the parent
	Call   int    `json:"call"`
	Tool   string `json:"tool,omitempty"`
	// Brief is what the call says; First what the child was told first, system
	// texts apart. BriefKept: First holds the brief whole.
	Brief     string `json:"brief"`
	First     string `json:"first"`
	BriefKept bool   `json:"briefKept"`
	BriefDiff []Part `json:"briefDiff,omitempty"` // where it is not kept
	// Report is the child's last text, Result what the parent got. ReportKept:
	// Result holds the report whole.
	Report     string `json:"report"`
	Result     string `json:"result"`
	ReportKept bool   `json:"reportKept"`
	ReportDiff []Part `json:"reportDiff,omitempty"` // where the two are not equal
	// ReportExtra: Result says more than the report and the lines that the client
	// is known to add.
	ReportExtra bool `json:"reportExtra,omitempty"`
	// Unseen are the results that the child got and the parent did not.
	Unseen       []Unseen `json:"unseen"`
	UnseenBytes  int      `json:"unseenBytes"`
	UnseenTokens int      `json:"unseenTokens"` // estimated: four bytes a token
	// Leaks are texts of such results that the parent was sent word for word
	// without having been reported.
	Leaks []Leak `json:"leaks,omitempty"`
}

// Unseen is one tool result of a child.
type Unseen struct {
	Turn      int    `json:"turn"`
	Tool      string `json:"tool"`
	Arguments string `json:"arguments"`
	Bytes     int    `json:"bytes"`
	Tokens    int    `json:"tokens"`
}

// Leak is a text of a child's result in a message that its parent was sent.
type Leak struct {
	Turn    int    `json:"turn"`    // of the child
	Tool    string `json:"tool"`    // whose result it is from
	Message int    `json:"message"` // of the parent, from 1, system texts apart
	Text    string `json:"text"`
}

// Holds reports that every child was told what its call says, that its report
// came back, and that nothing else did but what clients are known to add.
func (d *Delegations) Holds() bool {
	for i := range d.Children {
		c := &d.Children[i]
		if c.State == Unanswered || c.State == Unknown || c.State == Answered && (!c.BriefKept || !c.ReportKept || c.ReportExtra) || len(c.Leaks) > 0 {
			return false
		}
	}
	return true
}

// bytesPerToken is the rule of thumb for English and code.
const bytesPerToken = 4

// ParentChild holds the children of a session against their parents.
func ParentChild(h *transcripts.History, o Options) *Delegations {
	d := &Delegations{Version: Version, History: h.Name(), Children: []Delegation{}}
	p := &parentChild{cleaner: newCleaner(o), to: d}
	for _, root := range h.Roots {
		p.agent(root)
	}
	return d
}

type parentChild struct {
	*cleaner
	to *Delegations
}

func (p *parentChild) agent(run *runtime.Run) {
	var children []*runtime.Run
	for i := range run.Turns {
		turn := &run.Turns[i]
		for j := range turn.Calls {
			c := &turn.Calls[j]
			if c.Child == nil {
				continue
			}
			children = append(children, c.Child)
			if at := p.options.Agent; at == "" || at == c.Child.Agent || at == run.Agent || strings.HasPrefix(string(c.Child.Agent), string(at)+"/") {
				d := p.delegation(run, turn, c)
				p.to.Children = append(p.to.Children, d)
			}
		}
	}
	p.leaks(run)
	for _, child := range children {
		p.agent(child)
	}
}

func (p *parentChild) delegation(run *runtime.Run, turn *runtime.Turn, c *runtime.CallRecord) Delegation {
	child := c.Child
	d := Delegation{State: Answered, Parent: string(run.Agent), Child: string(child.Agent), Label: child.Label, Turn: turn.Number, Call: c.Number, Tool: c.Name, Unseen: []Unseen{}}
	told := len(child.Turns) > 0 || child.History.Len() > 0
	stray := c.ID == "" && c.Arguments == "" && c.Verdict == runtime.VerdictInterrupted // see transcripts: an agent that no call of its own has room for
	switch {
	case stray:
		d.State, d.Tool = Stray, ""
	case c.Result == "" && c.Verdict == "":
		d.State = Unanswered
	case !told:
		d.State = Unknown
	}
	_, brief := transcripts.Brief(c.Arguments)
	d.Brief, d.Result = p.text(brief), p.text(c.Result)
	first := true
	type asked struct {
		runtime.Call
		turn int
	}
	names := map[string]asked{}
	tell(child, func(s said) {
		switch {
		case first && s.role == string(runtime.RoleUser):
			d.First, first = p.text(s.text), false
		case s.role == string(runtime.RoleAssistant):
			ids := callIDs(&s)
			for i, call := range s.calls {
				names[ids[i]] = asked{call, s.turn}
			}
		case s.role == string(runtime.RoleTool):
			call := names[s.answers]
			n := len(s.text)
			d.Unseen = append(d.Unseen, Unseen{Turn: cmp.Or(call.turn, s.turn), Tool: call.Name, Arguments: p.text(p.arguments(call.Arguments)), Bytes: n, Tokens: n / bytesPerToken})
			d.UnseenBytes += n
			d.UnseenTokens += n / bytesPerToken
		}
	})
	d.Report = p.text(child.Final)
	if d.Report == "" {
		d.Report = p.text(child.Partial)
	}
	d.BriefKept = strings.Contains(d.First, strings.TrimSpace(d.Brief))
	d.ReportKept = strings.Contains(d.Result, strings.TrimSpace(d.Report))
	d.ReportExtra = d.State == Answered && d.ReportKept && extra(p.clean(c.Result), p.clean(cmp.Or(child.Final, child.Partial)))
	if d.State == Answered && !d.BriefKept {
		d.BriefDiff = Words(d.Brief, d.First, p.options.Steps)
	}
	if d.State == Answered && d.Report != d.Result {
		d.ReportDiff = Words(d.Report, d.Result, p.options.Steps)
	}
	return d
}

// clientFooter is what a client puts behind a report: Claude Code the agent's id
// and what it used. Source: the results of its sessions.
var clientFooter = regexp.MustCompile(`^(\s*agentId: [^\n<]*)?(\s*<usage>[^<]*</usage>)?\s*$`)

// extra reports that a result says more than the report in it.
func extra(result, report string) bool {
	before, after, found := strings.Cut(result, strings.TrimSpace(report))
	return found && (strings.TrimSpace(before) != "" || !clientFooter.MatchString(after))
}

func (p *parentChild) text(text string) string {
	text = p.clean(text)
	if !p.options.Full && len(text) > mostText {
		text = begin(text)
	}
	return strings.ToValidUTF8(text, "\uFFFD")
}
