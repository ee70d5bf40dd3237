package scenarios

import (
	"fmt"
	"regexp"

	"github.com/tapetree/tapetree/record"
	"github.com/tapetree/tapetree/runtime"
)

// made is one call that a run made.
type made struct {
	agent     runtime.Path
	turn      int
	tool      string
	arguments string
}

// judgeCalls compares the calls of every agent, each agent for itself, with the
// wanted ones. strict: the same calls in the same order. unordered: the same
// calls. subset: no call but wanted ones. superset: every wanted call, and any
// others. A wanted line stands for one call.
func judgeCalls(want *CallsWant, session trees, fold func(string) string) []record.Finding {
	if want == nil {
		return nil
	}
	calls := map[runtime.Path][]made{}
	wanted := map[runtime.Path][]CallWant{}
	var agents []runtime.Path // in tree order, then those that did not run
	session.walk(func(r *runtime.Run) {
		agents = append(agents, r.Agent)
		calls[r.Agent] = nil
		for _, turn := range r.Turns {
			for _, c := range turn.Calls {
				calls[r.Agent] = append(calls[r.Agent], made{r.Agent, turn.Number, c.Name, fold(c.Arguments)})
			}
		}
	})
	for _, c := range want.Calls {
		if _, ran := calls[c.Agent]; !ran && wanted[c.Agent] == nil {
			agents = append(agents, c.Agent)
		}
		wanted[c.Agent] = append(wanted[c.Agent], c)
	}
	var findings []record.Finding
	for _, agent := range agents {
		if want.Mode == "strict" {
			findings = append(findings, inOrder(agent, wanted[agent], calls[agent])...)
		} else {
			findings = append(findings, anyOrder(agent, want.Mode, wanted[agent], calls[agent])...)
		}
	}
	return findings
}

// inOrder reports the first place where an agent's calls part from the wanted.
func inOrder(agent runtime.Path, wanted []CallWant, calls []made) []record.Finding {
	for i := range max(len(wanted), len(calls)) {
		switch {
		case i >= len(calls):
			return []record.Finding{notMade(agent, wanted[i])}
		case i >= len(wanted):
			return []record.Finding{notWanted(calls[i])}
		case !wanted[i].matches(calls[i]):
			return []record.Finding{{Code: "want/calls", Agent: agent, Turn: calls[i].turn,
				Message: fmt.Sprintf("call %d: expected %s (line %d), got %s", i+1, wanted[i].show(), wanted[i].Line, calls[i].show())}}
		}
	}
	return nil
}

// anyOrder pairs wanted lines with calls so that as many as possible have a
// partner, whatever the order of the lines, and reports the rest.
func anyOrder(agent runtime.Path, mode string, wanted []CallWant, calls []made) []record.Finding {
	partner := make([]int, len(calls)) // of each call its wanted line, -1 for none
	for i := range partner {
		partner[i] = -1
	}
	var findings []record.Finding
	for w := range wanted {
		if !findPartner(w, wanted, calls, partner, make([]bool, len(calls))) && mode != "subset" {
			findings = append(findings, notMade(agent, wanted[w]))
		}
	}
	for i, w := range partner {
		if w < 0 && mode != "superset" {
			findings = append(findings, notWanted(calls[i]))
		}
	}
	return findings
}

// findPartner finds a call for wanted line w, moving other lines to other calls
// where that makes room (an augmenting path of a bipartite matching).
func findPartner(w int, wanted []CallWant, calls []made, partner []int, seen []bool) bool {
	for i := range calls {
		if seen[i] || !wanted[w].matches(calls[i]) {
			continue
		}
		seen[i] = true
		if partner[i] < 0 || findPartner(partner[i], wanted, calls, partner, seen) {
			partner[i] = w
			return true
		}
	}
	return false
}

func notMade(agent runtime.Path, c CallWant) record.Finding {
	return record.Finding{Code: "want/calls", Agent: agent, Message: fmt.Sprintf("expected %s (line %d), got no such call", c.show(), c.Line)}
}

func notWanted(c made) record.Finding {
	return record.Finding{Code: "want/calls", Agent: c.agent, Turn: c.turn, Message: fmt.Sprintf("expected no further call, got %s", c.show())}
}

// matches reports whether a call is the wanted one: the tool, and arguments
// that are the same JSON value but for the patterns in it.
func (c CallWant) matches(call made) bool {
	if c.Tool != call.tool {
		return false
	}
	if c.Arguments == "" || c.Arguments == anything {
		return true
	}
	if expression, isPattern := pattern(c.Arguments); isPattern {
		re, err := regexp.Compile(expression)
		return err == nil && re.MatchString(call.arguments)
	}
	wanted, ok1 := decodeValue(c.Arguments)
	got, ok2 := decodeValue(call.arguments)
	return ok1 && ok2 && wanted.match(got, false)
}

func (c CallWant) show() string {
	if c.Arguments == "" {
		return c.Tool
	}
	return c.Tool + " " + plain(c.Arguments)
}

func (c made) show() string {
	if c.arguments == "" {
		return c.tool
	}
	return c.tool + " " + plain(c.arguments)
}

// plain is a text of one line for a message, unquoted where it can be.
func plain(text string) string {
	quoted := short(text)
	if quoted == fmt.Sprintf("%q", text) && !hasControl(text) {
		return text
	}
	return quoted
}

func hasControl(text string) bool {
	for _, r := range text {
		if r < ' ' || r == 0x7f || r == '\ufffd' {
			return true
		}
	}
	return false
}
