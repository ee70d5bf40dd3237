package runtime

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"sync"
)

// Rule is what a profile says about one tool.
type Rule string

// The rules. A tool without a rule asks.
const (
	RuleAllow Rule = "allow"
	RuleAsk   Rule = "ask"
	RuleDeny  Rule = "deny"
)

// PathArgument says which argument of a tool is a path and what the tool does
// with it. An absent or empty argument is the workspace itself.
type PathArgument struct {
	Argument string
	Access   Access
}

// Permissions is the Policy of a session. It judges by tool name, arguments
// and boundary, never by a tool's declared effect. One object serves the
// parent and all its children; set the fields before the first run. Safe for
// concurrent use.
type Permissions struct {
	Rules    map[string]Rule
	Paths    map[string]PathArgument // the file tools; checked before anything else
	Boundary Boundary                // needed when Paths names a tool
	Mode     Mode                    // "" means ModeDefault
	Approver Approver                // nil: nobody is there to ask
	// Auto judges calls of tools that ask: true lets a call go without a
	// question, in every mode, so it must be true only of calls that change
	// nothing. It gets the arguments as the model wrote them. One that crashes
	// lets nothing go.
	Auto map[string]func(arguments string) bool
	// ChildMode, if set, is the mode of every agent but the root where it is
	// stricter than Mode. A looser one changes nothing: what the root would not
	// get, a child does not get either.
	ChildMode Mode

	mu     sync.Mutex
	always map[string]bool // tools the user allowed for the session
	asked  int             // questions so far
	turn   chan struct{}   // holds one token: who has it may ask
}

// Reasons of denials that no person gave.
const (
	reasonNobody   = "nobody is there to ask"
	reasonReadOnly = "the session is read-only"
	reasonChildren = "subagents are read-only"
	reasonRule     = "this tool is switched off"
	reasonUser     = "the user said no"
)

func denied(verdict Verdict, reason string) Judgement {
	return Judgement{Verdict: verdict, Reason: "Denied: " + reason}
}

// Judge decides on one well-formed call. The boundary comes first, whatever
// the mode. An error is the context's, or a fault of ours that ends the
// session.
func (p *Permissions) Judge(ctx context.Context, runner *Runner, place Place, call *CallRecord) (Judgement, error) {
	refused, err := p.checkBoundary(call)
	if err != nil || refused != "" {
		return Judgement{Verdict: VerdictDeny, Reason: refused}, err
	}
	switch cmp.Or(p.Rules[call.Name], RuleAsk) {
	case RuleAllow:
		return Judgement{Verdict: VerdictAllow}, nil
	case RuleDeny:
		return denied(VerdictDeny, reasonRule), nil
	}
	mode, err := p.modeFor(place.Agent)
	switch {
	case err != nil:
		return Judgement{}, fmt.Errorf("judge call of %s: %w", call.Name, err)
	case p.goesByItself(call),
		mode == ModeYolo,
		mode == ModeAcceptEdits && p.Paths[call.Name].Access == AccessWrite:
		return Judgement{Verdict: VerdictAllow}, nil
	case mode == ModeReadOnly && mode != p.Mode:
		return denied(VerdictDeny, reasonChildren), nil
	case mode == ModeReadOnly: // before what the user allowed for the session
		return denied(VerdictDeny, reasonReadOnly), nil
	case p.remembered(call.Name):
		return Judgement{Verdict: VerdictAllow}, nil
	case p.Approver == nil:
		return denied(VerdictDeny, reasonNobody), nil
	}
	return p.ask(ctx, runner, place, call)
}

// checkBoundary returns the text of the denial, "" when the call stays inside.
func (p *Permissions) checkBoundary(call *CallRecord) (string, error) {
	rule, ok := p.Paths[call.Name]
	if !ok {
		return "", nil
	}
	if p.Boundary == nil {
		return "", fmt.Errorf("judge call of %s: the policy has no workspace boundary", call.Name)
	}
	_, tree, problems := decodeArguments(call.Arguments)
	path, _ := tree.get(rule.Argument)
	// Arguments were validated before; what still cannot be read is not let out.
	if len(problems) > 0 || path.text != "" && !p.Boundary.Inside(path.text) {
		return string(rule.Access) + " outside the workspace is forbidden", nil
	}
	return "", nil
}

// strictness orders the modes, the strictest first.
var strictness = []Mode{ModeReadOnly, ModeDefault, ModeAcceptEdits, ModeYolo}

// modeFor returns the mode that holds for agent: that of the session, and for a
// child the stricter of it and ChildMode. A mode that is unknown is a fault of
// ours and lets nothing pass.
func (p *Permissions) modeFor(agent Path) (Mode, error) {
	mode := cmp.Or(p.Mode, ModeDefault)
	children := cmp.Or(p.ChildMode, mode)
	for _, known := range []Mode{mode, children} {
		if !slices.Contains(strictness, known) {
			return "", fmt.Errorf("the policy has the unknown mode %q", known)
		}
	}
	if agent.Depth() > 0 && slices.Index(strictness, children) < slices.Index(strictness, mode) {
		return children, nil
	}
	return mode, nil
}

// goesByItself asks the tool's Auto.
func (p *Permissions) goesByItself(call *CallRecord) (allowed bool) {
	auto := p.Auto[call.Name]
	if auto == nil {
		return false
	}
	defer func() {
		if recover() != nil {
			allowed = false
		}
	}()
	return auto(call.Arguments)
}

func (p *Permissions) remembered(tool string) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.always[tool]
}

// ask puts one question to the user while every other agent's question waits.
func (p *Permissions) ask(ctx context.Context, runner *Runner, place Place, call *CallRecord) (Judgement, error) {
	turn := p.askingTurn()
	select {
	case turn <- struct{}{}:
		defer func() { <-turn }()
	case <-ctx.Done():
		return Judgement{}, ctx.Err()
	}
	if ctx.Err() != nil { // select may have taken either way
		return Judgement{}, ctx.Err()
	}
	if p.remembered(call.Name) { // the question before this one settled it
		return Judgement{Verdict: VerdictAllow}, nil
	}
	question := p.question(runner, place, call)
	seen := *call
	runner.emit(Event{Kind: EventAsk, Turn: place.Turn, Call: &seen, Text: question.String()})
	reply, err := p.reply(ctx, question)
	switch {
	case ctx.Err() != nil:
		return Judgement{}, ctx.Err()
	case err != nil:
		return Judgement{}, fmt.Errorf("ask about call %d.%d of %s: %w", place.Turn, call.Number, place.Agent, err)
	case !reply.Allow:
		return denied(VerdictAskDeny, cmp.Or(reply.Reason, reasonUser)), nil
	}
	if reply.Always {
		p.remember(call.Name)
	}
	return Judgement{Verdict: VerdictAskAllow}, nil
}

func (p *Permissions) askingTurn() chan struct{} {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.turn == nil {
		p.turn = make(chan struct{}, 1)
	}
	return p.turn
}

func (p *Permissions) remember(tool string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.always == nil {
		p.always = make(map[string]bool)
	}
	p.always[tool] = true
}

func (p *Permissions) question(runner *Runner, place Place, call *CallRecord) Question {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.asked++
	return Question{
		ID: p.asked, Agent: place.Agent, Label: runner.label(), Identity: runner.Identity,
		Turn: place.Turn, Call: call.Number, Tool: call.Name, Arguments: call.Arguments,
	}
}

// reply waits for the user, but not longer than ctx: an approver that does not
// look at ctx is left behind.
func (p *Permissions) reply(ctx context.Context, question Question) (Reply, error) {
	type answer struct {
		reply Reply
		err   error
	}
	done := make(chan answer, 1)
	go func() {
		got := answer{err: fmt.Errorf("the approver crashed")}
		defer func() {
			if crash := recover(); crash != nil {
				got.err = fmt.Errorf("the approver crashed: %v", crash)
			}
			done <- got
		}()
		reply, err := p.Approver.Ask(ctx, question)
		got = answer{reply, err}
	}()
	select {
	case got := <-done:
		return got.reply, got.err
	case <-ctx.Done():
		return Reply{}, ctx.Err()
	}
}

// String is the question as a person reads it.
func (q Question) String() string {
	return fmt.Sprintf("Allow %s %s for %s (%s)?", q.Tool, q.Arguments, q.Agent, q.Label)
}
