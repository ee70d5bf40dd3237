package scenarios

import (
	"fmt"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/tapetree/tapetree/record"
	"github.com/tapetree/tapetree/runtime"
)

// judgeStrangers looks for messages of one agent among those of another of the
// same tree, in a session whose program we do not know. What it hands down in
// the arguments of a call, what it gives as the result of one, and what its
// prompts and environment texts happen to contain is its own business: only a
// whole message that is another agent's counts, such as a history that a child
// begins with.
func judgeStrangers(agents []agent) []record.Finding {
	given := givenTexts(agents)
	standing := standingTexts(agents)
	owners := map[string][]runtime.Path{} // a message to the agents that it is private to
	for i := range agents {
		for text := range privateTo(&agents[i]) {
			owners[text] = append(owners[text], agents[i].path)
		}
	}
	var findings []record.Finding
	for i := range agents {
		a := &agents[i]
		own := ownOf(a)
		restarted := false
		a.eachNew(func() { restarted = true }, func(turn, index int, m *runtime.Message) {
			text := strings.TrimSpace(m.Content)
			if len(text) < distinctive || own[text] && (restarted || !before(a, turn, m)) || index < a.copied && !restarted {
				return
			}
			for _, owner := range owners[text] {
				if owner != a.path && rootOf(owner) == rootOf(a.path) && !given.to(a.path, text) && standing[owner] != text && !a.forkedOf(owner) {
					findings = append(findings, record.Finding{Code: leak(a.path, owner), Agent: a.path, Turn: turn,
						Message: fmt.Sprintf("message %d (%s) is one of %s: %s", index+1, m.Role, owner, short(text))})
					return
				}
			}
		}, func(int) {})
	}
	return findings
}

// before reports that a message is an answer or a result, and stands in the
// first request of a child: it has not said or done anything yet, so the message
// is not its own, also where it says the same later.
func before(a *agent, turn int, m *runtime.Message) bool {
	return a.path.Depth() > 0 && a.run != nil && turn == a.run.Turns[0].Number && (m.Role == runtime.RoleAssistant || m.Role == runtime.RoleTool)
}

// forkedOf reports that an agent began with a copy of what another had said and
// done until then, by intent.
func (a *agent) forkedOf(owner runtime.Path) bool {
	return a.copied > 0 && strings.HasPrefix(string(a.path), string(owner)+"/")
}

// standingTexts are the tool results that went up in the place of an answer, by
// the child: a finding of its own.
func standingTexts(agents []agent) map[runtime.Path]string {
	texts := map[runtime.Path]string{}
	for _, a := range agents {
		if a.run == nil {
			continue
		}
		for i := range a.run.Turns {
			for j := range a.run.Turns[i].Calls {
				if call := &a.run.Turns[i].Calls[j]; standsForAnswer(call) {
					texts[call.Child.Agent] = strings.TrimSpace(call.Result)
				}
			}
		}
	}
	return texts
}

// ownOf are the messages that an agent has of its own: those private to it, and
// every answer of its model.
func ownOf(a *agent) map[string]bool {
	texts := privateTo(a)
	if a.run == nil {
		return texts
	}
	for _, turn := range a.run.Turns {
		if turn.Answer != nil {
			texts[strings.TrimSpace(turn.Answer.Message.Content)] = true
		}
		for _, call := range turn.Calls {
			if call.Child == nil {
				texts[strings.TrimSpace(call.Result)] = true
			}
		}
	}
	return texts
}

// privateTo returns the messages that belong to one agent: a root's prompt, the
// answers on the way, the results of calls that started nobody. A last answer
// is what goes up, whatever else it is.
func privateTo(a *agent) map[string]bool {
	texts := map[string]bool{}
	if a.run == nil {
		return texts
	}
	if a.path.Depth() == 0 {
		texts[strings.TrimSpace(a.run.Prompt)] = true
	}
	for _, turn := range a.run.Turns {
		if turn.Answer != nil {
			texts[strings.TrimSpace(turn.Answer.Message.Content)] = true
		}
		for _, call := range turn.Calls {
			if call.Child == nil {
				texts[strings.TrimSpace(call.Result)] = true
			}
		}
	}
	delete(texts, strings.TrimSpace(a.run.Final))
	return texts
}

// given are the texts in the arguments of the calls that started agents.
type given map[runtime.Path]string

func givenTexts(agents []agent) given {
	g := given{}
	for _, a := range agents {
		if a.run == nil {
			continue
		}
		for _, turn := range a.run.Turns {
			for _, call := range turn.Calls {
				if call.Child != nil {
					g[call.Child.Agent] = textsOf(call.Arguments)
				}
			}
		}
	}
	return g
}

// to reports whether an agent was given a text by the call that started it, or
// one above it by its own.
func (g given) to(agent runtime.Path, text string) bool {
	for path := string(agent); path != ""; {
		if strings.Contains(g[runtime.Path(path)], text) {
			return true
		}
		cut := strings.LastIndexByte(path, '/')
		if cut < 0 {
			return false
		}
		path = path[:cut]
	}
	return false
}

// textsOf joins the strings in a JSON text, or returns a text that is none.
func textsOf(arguments string) string {
	var texts []string
	d := jsontext.NewDecoder(strings.NewReader(arguments), jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))
	for {
		token, err := d.ReadToken()
		if err != nil {
			break
		}
		if token.Kind() == '"' {
			texts = append(texts, token.String())
		}
	}
	if len(texts) == 0 {
		return arguments
	}
	return strings.Join(texts, "\n")
}

// rootOf is the tree that an agent belongs to.
func rootOf(path runtime.Path) string {
	root, _, _ := strings.Cut(string(path), "/")
	return root
}
