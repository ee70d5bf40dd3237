package scenarios

import (
	"strings"

	"github.com/tapetree/tapetree/runtime"
)

// privateTexts are all texts of a session that belong to one agent: what it was
// asked or reminded of, its answers on the way, the results of its calls. Not
// among them are what goes from agent to agent anyway (briefs and final texts)
// and the runtime's own error texts, which are the same for all.
type privateTexts struct {
	texts []privateText
	whole map[string][]int // a text to its numbers in texts
	begin map[string][]int // the first bytes of a distinctive text to its numbers
}

type privateText struct {
	owner runtime.Path
	text  string
}

func newPrivateTexts(agents []agent, briefs map[runtime.Path]string) *privateTexts {
	p := &privateTexts{whole: map[string][]int{}, begin: map[string][]int{}}
	public := map[string]bool{"": true}
	for _, brief := range briefs {
		public[strings.TrimSpace(brief)] = true
	}
	for _, a := range agents {
		if a.run != nil && a.path != runtime.Root {
			public[strings.TrimSpace(a.run.Final)] = true
		}
		if a.run != nil {
			addPartials(public, a.run)
		}
	}
	for _, a := range agents {
		if a.run == nil {
			continue
		}
		add := func(text string) {
			text = strings.TrimSpace(text)
			if !public[text] && !strings.HasPrefix(text, "Error [") {
				p.add(a.path, text)
			}
		}
		if a.path == runtime.Root {
			add(a.run.Prompt)
		}
		for _, turn := range a.run.Turns {
			if isReminder(turn.Reminder) {
				add(turn.Reminder)
			}
			if turn.Answer != nil && turn.Answer.Message.Content != a.run.Final {
				add(turn.Answer.Message.Content)
			}
			for _, call := range turn.Calls {
				add(call.Result)
			}
		}
	}
	return p
}

// addPartials adds what children with a report form had written before they
// failed: it goes up in their reports.
func addPartials(public map[string]bool, run *runtime.Run) {
	for _, turn := range run.Turns {
		for _, call := range turn.Calls {
			if call.Child != nil && call.Child.Partial != "" && taskOf(call.Arguments).reports {
				public[strings.TrimSpace(call.Child.Partial)] = true
			}
		}
	}
}

func (p *privateTexts) add(owner runtime.Path, text string) {
	for _, n := range p.whole[text] {
		if p.texts[n].owner == owner {
			return
		}
	}
	n := len(p.texts)
	p.texts = append(p.texts, privateText{owner, text})
	p.whole[text] = append(p.whole[text], n)
	if len(text) >= distinctive {
		p.begin[text[:distinctive]] = append(p.begin[text[:distinctive]], n)
	}
}

// in returns the first text, in tree order, that content equals or contains and
// that is another's: not seer's, and not one that seer has of its own (had).
// The cost is linear in content, whatever the number of texts.
func (p *privateTexts) in(content string, seer runtime.Path, had func(text string) bool) (owner runtime.Path, text string, found bool) {
	content = strings.TrimSpace(content)
	first := -1
	take := func(n int) {
		t := p.texts[n]
		if (first < 0 || n < first) && t.owner != seer && !had(t.text) {
			first = n
		}
	}
	for _, n := range p.whole[content] {
		take(n)
	}
	for i := 0; i+distinctive <= len(content); i++ {
		for _, n := range p.begin[content[i:i+distinctive]] {
			if strings.HasPrefix(content[i:], p.texts[n].text) {
				take(n)
			}
		}
	}
	if first < 0 {
		return "", "", false
	}
	return p.texts[first].owner, p.texts[first].text, true
}
