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
	owners := map[string][]runtime.Path{} // a message to the agents that it is private to
	for i := range agents {
		for text := range privateTo(&agents[i]) {
			owners[text] = append(owners[text], agents[i].path)
		}
	}
	var findings []record.Finding
	for i := range agents {
		a := &agents[i]
		own := privateTo(a)
		a.eachNew(func() {}, func(turn, index int, m *runtime.Message) {
			text := strings.TrimSpace(m.Content)
			if len(text) < distinctive || own[text] {
				return
			}
			for _, owner := range owners[text] {
				if rootOf(owner) == rootOf(a.path) && !given.to(a.path, text) {
					findings = append(findings, record.Finding{Code: leak(a.path, owner), Agent: a.path, Turn: turn,
						Message: fmt.Sprintf("message %d (%s) is one of %s: %s", index+1, m.Role, owner, short(text))})
					return
				}
			}
		}, func(int) {})
	}
	return findings
}

// privateTo returns the messages that belong to one agent: a root's prompt, the
// answers on the way, the results of calls that started nobody. A last answer
// is what goes up.
func privateTo(a *agent) map[string]bool {
	texts := map[string]bool{}
	if a.run == nil {
		return texts
	}
	if a.path.Depth() == 0 {
		texts[strings.TrimSpace(a.run.Prompt)] = true
	}
	for _, turn := range a.run.Turns {
		if turn.Answer != nil && turn.Answer.Message.Content != a.run.Final {
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
