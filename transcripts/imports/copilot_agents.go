package imports

import (
	"strings"

	"github.com/tapetree/tapetree/runtime"
	"github.com/tapetree/tapetree/transcripts"
)

// copilotAgent is an agent and the list that it had last.
type copilotAgent struct {
	agent   *transcripts.AgentBuilder
	list    []copilotMessage
	answers map[string]int // how often it gave each answer
}

// What the client writes in the place of the request for a summary, and how the
// list begins after it.
const (
	copilotCompaction = "${compaction_prompt}"
	copilotSummary    = "Some of the conversation history has been summarized"
)

// place decides whose list a conversation is, and feeds it. Lists of one agent
// begin with the same user message; that of a child is the prompt of the call
// which started it. A list that begins with a summary goes on for the agent that
// was compacted.
func (c *copilotFile) place(list []copilotMessage) {
	first := firstUser(list)
	if n := lastUser(list); n >= 0 && strings.TrimSpace(list[n].Content) == copilotCompaction {
		if last := list[len(list)-1]; last.Role == runtime.RoleAssistant {
			c.summary = last.Content
		}
		c.lose("request for a summary", 1)
		return
	}
	agent, goesOn := c.known(list)
	brief := c.brief(first)
	switch {
	case goesOn:
	case brief != nil:
		brief.taken = true
		agent = c.begin(brief.parent.agent.Child(brief.callID))
	case agent != nil:
	case strings.HasPrefix(first, copilotSummary) && len(c.agents) > 0:
		agent = c.agents[0]
		agent.agent.Compact(c.summary)
		c.summary, agent.list = "", nil
	default:
		agent = c.begin(c.builder.Root())
	}
	c.feed(agent, list)
}

func (c *copilotFile) begin(b *transcripts.AgentBuilder) *copilotAgent {
	agent := &copilotAgent{agent: b, answers: map[string]int{}}
	c.agents = append(c.agents, agent)
	return agent
}

// known returns the agent whose list this is likely to be, of those that began
// with the same user message: the one that it agrees with longest; goesOn reports
// that it agrees with all of what the agent had.
func (c *copilotFile) known(list []copilotMessage) (best *copilotAgent, goesOn bool) {
	longest := -1
	for _, agent := range c.agents {
		if firstUser(agent.list) != firstUser(list) {
			continue
		}
		n := agree(agent.list, list)
		if whole := n == len(agent.list) || n == len(list); n > longest || whole && !goesOn {
			best, longest, goesOn = agent, n, whole
		}
	}
	return best, goesOn
}

// brief returns the oldest call that started an agent with this prompt, of those
// whose agent was not seen yet.
func (c *copilotFile) brief(first string) *copilotBrief {
	for _, b := range c.briefs {
		if !b.taken && b.prompt != "" && b.prompt == first {
			return b
		}
	}
	return nil
}

func agree(a, b []copilotMessage) int {
	n := 0
	for n < min(len(a), len(b)) && a[n].key == b[n].key {
		n++
	}
	return n
}

func firstUser(list []copilotMessage) string {
	for _, m := range list {
		if m.Role == runtime.RoleUser {
			return strings.TrimSpace(m.Content)
		}
	}
	return ""
}

func lastUser(list []copilotMessage) int {
	for n := len(list) - 1; n >= 0; n-- {
		if list[n].Role == runtime.RoleUser {
			return n
		}
	}
	return -1
}

// feed puts a conversation into the history of its agent. Where it does not go on
// from the list before, that begins anew: what both begin with stays, and answers
// that were given before are given once. The last one of a list was given to it,
// whatever else says the same.
func (c *copilotFile) feed(agent *copilotAgent, list []copilotMessage) {
	n := agree(agent.list, list)
	if n == len(list) {
		return
	}
	repeats := map[string]int{}
	if n < len(agent.list) {
		agent.agent.Restart()
		for _, m := range agent.list[:n] {
			agent.agent.Add(m.Message)
			if m.Role == runtime.RoleAssistant {
				repeats[m.key]++
			}
		}
		agent.list = agent.list[:n:n]
	} else {
		for _, m := range agent.list {
			if m.Role == runtime.RoleAssistant {
				repeats[m.key]++
			}
		}
	}
	for i, m := range list[n:] {
		agent.list = append(agent.list, m)
		if m.Role != runtime.RoleAssistant {
			agent.agent.Add(m.Message)
			continue
		}
		last := n+i == len(list)-1 // no other list has it: it was given to this one
		if repeats[m.key]++; repeats[m.key] <= agent.answers[m.key] && !last {
			agent.agent.Add(m.Message)
			continue
		}
		agent.answers[m.key]++
		agent.agent.Answer(&runtime.Answer{Message: m.Message, Model: c.model}, transcripts.Spot{Line: m.line})
		for _, call := range m.Calls {
			if _, prompt := transcripts.Brief(call.Arguments); transcripts.Delegates(call.Name) {
				c.briefs = append(c.briefs, &copilotBrief{parent: agent, callID: call.ID, prompt: strings.TrimSpace(prompt)})
			}
		}
	}
}
