package scenarios

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/tapetree/tapetree/internal/prices"
	"github.com/tapetree/tapetree/runtime"
	"github.com/tapetree/tapetree/transcripts"
)

// approvals reads lines `[AGENT#TURN.CALL] allow|deny|always [REASON]`.
func (p *parser) approvals(_, body string, line int) error {
	err := p.entries(body, line, func(text string, line int) error {
		a, err := readApproval(text)
		if err != nil {
			return p.errorf(line, "approvals: %v", err)
		}
		for _, before := range p.s.Approvals {
			if a.Agent != "" && before.Agent == a.Agent && before.Turn == a.Turn && before.Call == a.Call {
				return p.errorf(line, "approvals: %s is answered already (line %d)", formatPlace(a.Agent, a.Turn, a.Call), before.Line)
			}
		}
		a.Line = line
		p.s.Approvals = append(p.s.Approvals, a)
		return nil
	})
	if err == nil && len(p.s.Approvals) == 0 {
		err = p.errorf(line, "approvals: no line; write one answer a line, as in: root#1.1 allow")
	}
	return err
}

func readApproval(text string) (a Approval, err error) {
	word, rest := cutWord(text)
	if strings.Contains(word, "#") {
		if a.Agent, a.Turn, a.Call, err = parsePlace(word); err != nil {
			return a, err
		}
		if a.Call == 0 {
			return a, fmt.Errorf("%q names no call; a question belongs to one, as in %s.1", word, word)
		}
		word, rest = cutWord(rest)
	}
	if word == "" {
		return a, fmt.Errorf("%q has no answer; write allow, deny or always after the place", text)
	}
	if err := oneOf("answer", word, "allow", "deny", "always"); err != nil {
		return a, err
	}
	if rest != "" && word != "deny" {
		return a, fmt.Errorf("%q: only deny takes a reason", text)
	}
	a.Reply = runtime.Reply{Allow: word != "deny", Always: word == "always", Reason: rest}
	return a, nil
}

// cutWord cuts the first word off a text.
func cutWord(text string) (word, rest string) {
	text = strings.TrimSpace(text)
	if at := strings.IndexAny(text, " \t"); at >= 0 {
		return text[:at], strings.TrimSpace(text[at:])
	}
	return text, ""
}

var (
	hookEvents  = []string{"UserPromptSubmit", "PreToolUse", "PostToolUse", "Stop"}
	hookActions = []string{"log", "block", "fail", "panic", "timeout"}
)

// hooks reads lines `EVENT [TOOL] ACTION [TEXT]`.
func (p *parser) hooks(_, body string, line int) error {
	err := p.entries(body, line, func(text string, line int) error {
		rule, err := readHook(text)
		if err != nil {
			return p.errorf(line, "hooks: %v", err)
		}
		rule.Line = line
		p.s.Hooks = append(p.s.Hooks, rule)
		return nil
	})
	if err == nil && len(p.s.Hooks) == 0 {
		err = p.errorf(line, "hooks: no line; write one hook a line, as in: PreToolUse * log")
	}
	return err
}

func readHook(text string) (rule HookRule, err error) {
	event, rest := cutWord(text)
	if err := oneOf("event", event, hookEvents...); err != nil {
		return rule, err
	}
	rule.Event = event
	word, after := cutWord(rest)
	if ofTool := strings.HasSuffix(event, "ToolUse"); ofTool {
		rule.Tool = "*"
		if word != "*" && !slices.Contains(hookActions, word) {
			if err := oneOf("tool or action", word, append(slices.Clone(knownTools), hookActions...)...); err != nil {
				return rule, err
			}
			rule.Tool = word
		}
		if word == "*" || rule.Tool != "*" {
			word, after = cutWord(after)
		}
	}
	if word == "" {
		return rule, fmt.Errorf("%q has no action (known: %s)", text, strings.Join(hookActions, ", "))
	}
	if err := oneOf("action", word, hookActions...); err != nil {
		return rule, err
	}
	rule.Action, rule.Text = word, after
	switch {
	case word == "block" && after == "":
		return rule, fmt.Errorf("%q needs a reason after block", text)
	case word != "block" && after != "":
		return rule, fmt.Errorf("%q: %s takes no text", text, word)
	}
	return rule, nil
}

func (p *parser) wantAnswer(_, body string, line int) error {
	return p.setAnswer(oneLess(body), line)
}

func (p *parser) wantAnswer64(_, body string, line int) error {
	answer, err := p.text64(body, line)
	if err != nil {
		return err
	}
	return p.setAnswer(answer, line)
}

func (p *parser) setAnswer(answer string, line int) error {
	if expression, isPattern := pattern(answer); isPattern {
		if _, err := regexp.Compile(expression); err != nil {
			return p.errorf(line, "want/answer: %v", err)
		}
	}
	if wrong := checkPatterns(answer); wrong != nil {
		return p.errorf(line, "want/answer: %v", wrong)
	}
	p.s.Want.Answer = &answer
	return nil
}

var callModes = []string{"strict", "unordered", "subset", "superset"}

// wantCalls reads an optional first line `mode: MODE` and lines
// `AGENT TOOL [ARGUMENTS]`.
func (p *parser) wantCalls(_, body string, line int) error {
	want := &CallsWant{Mode: callModes[0]}
	first := true
	p.s.Want.Calls = want
	return p.entries(body, line, func(text string, line int) error {
		mode, hasMode := strings.CutPrefix(text, "mode:")
		if hasMode {
			want.Mode = strings.TrimSpace(mode)
			if !first {
				return p.errorf(line, "want/calls: the mode goes on the first line")
			}
			if err := oneOf("mode", want.Mode, callModes...); err != nil {
				return p.errorf(line, "want/calls: %v", err)
			}
		} else {
			call, err := readCallWant(text)
			if err != nil {
				return p.errorf(line, "want/calls: %v", err)
			}
			call.Line = line
			want.Calls = append(want.Calls, call)
		}
		first = false
		return nil
	})
}

func readCallWant(text string) (CallWant, error) {
	word, rest := cutWord(text)
	agent, err := runtime.ParsePath(word)
	if transcripts.IsAgent(runtime.Path(word)) { // that of a program that is not ours may look otherwise
		agent, err = runtime.Path(word), nil
	}
	if err != nil {
		return CallWant{}, err
	}
	tool, arguments := cutWord(rest)
	if tool == "" {
		return CallWant{}, fmt.Errorf("%q names no tool; write AGENT TOOL [ARGUMENTS]", text)
	}
	if expression, isPattern := pattern(arguments); isPattern {
		if _, err := regexp.Compile(expression); err != nil {
			return CallWant{}, err
		}
	} else if arguments != "" && arguments != anything {
		if !jsontext.Value(arguments).IsValid() {
			return CallWant{}, fmt.Errorf("the arguments %s are no JSON value, no _ and no /regexp/", arguments)
		}
		if err := checkPatterns(arguments); err != nil {
			return CallWant{}, err
		}
	}
	return CallWant{Agent: agent, Tool: tool, Arguments: arguments}, nil
}

// wantBudget reads lines `turns: N`, `calls: N`, `tokens: N`, `cost: DOLLARS`.
func (p *parser) wantBudget(_, body string, line int) error {
	budget := &Budget{}
	fields := map[string]*int{"turns": &budget.Turns, "calls": &budget.Calls, "tokens": &budget.Tokens}
	seen := map[string]bool{}
	p.s.Want.Budget = budget
	err := p.entries(body, line, func(text string, line int) (err error) {
		key, value, found := strings.Cut(text, ":")
		value = strings.TrimSpace(value)
		switch {
		case !found:
			return p.errorf(line, "want/budget: %q is no limit, as in turns: 12", text)
		case seen[key]:
			return p.errorf(line, "want/budget: %s is there twice", key)
		case key == "cost":
			budget.Cost, err = wantedCost(value)
		default:
			if err := oneOf("limit", key, "turns", "calls", "tokens", "cost"); err != nil {
				return p.errorf(line, "want/budget: %v", err)
			}
			*fields[key], err = positive(value)
		}
		if err != nil {
			return p.errorf(line, "want/budget: %s: %v", key, err)
		}
		seen[key] = true
		return nil
	})
	if err == nil && *budget == (Budget{}) {
		err = p.errorf(line, "want/budget: no limit; write one a line, as in turns: 12")
	}
	return err
}

// wantedCost reads a sum of dollars that is not nothing.
func wantedCost(value string) (prices.Amount, error) {
	cost, err := prices.Dollars(value)
	if err == nil && cost == 0 {
		err = errors.New("0 is no limit; write the most dollars that the session may cost, as in cost: 0.25")
	}
	return cost, err
}
