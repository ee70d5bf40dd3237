package transcripts

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"github.com/tapetree/tapetree/runtime"
)

// AgentBuilder collects what one agent was told, said and got back.
type AgentBuilder struct {
	builder *HistoryBuilder
	run     *runtime.Run
	list    runtime.History
	open    openCalls[callAt]
	calls   map[string]callAt // the latest call with each id
	others  []otherChild
	wrote   string
	ended   string // what the agent said at its end, where no answer holds it

	compactions int
	compact     *runtime.Compaction // which the next turn begins with
}

// callAt is where a call stands: indices into run.Turns and its Calls.
type callAt struct{ turn, call int }

// otherChild is a child that no call of its own has room for: the second of one
// call, or one of no visible call.
type otherChild struct {
	run  *runtime.Run
	turn int // the index of the turn under which it stands
	call int // the number of the call, 0 for none
}

// Path names the agent.
func (a *AgentBuilder) Path() runtime.Path { return a.run.Agent }

// Label sets the agent's short title.
func (a *AgentBuilder) Label(title string) {
	if title = strings.TrimSpace(title); title != "" {
		a.run.Label = title
	}
}

// Reserve makes room for n more messages and answers: see runtime.History.
func (a *AgentBuilder) Reserve(n int) { a.list.Reserve(n) }

// Add puts a message into the agent's list that is not its own: system, user, a
// tool result. A result is taken for that of the oldest open call of the latest
// answer that has an open call with its id.
func (a *AgentBuilder) Add(m runtime.Message) {
	a.list.Append(m)
	switch m.Role {
	case runtime.RoleTool:
		if at, ok := a.open.take(m.CallID); ok {
			a.run.Turns[at.turn].Calls[at.call].Result = m.Content
		}
	case runtime.RoleUser:
		if len(a.run.Turns) == 0 {
			a.run.Prompt = m.Content
		}
	}
}

// Answer puts an answer of the agent's model into its list, as one more turn,
// and returns the turn's number.
func (a *AgentBuilder) Answer(answer *runtime.Answer, at Spot) int {
	number := len(a.run.Turns) + 1
	t := runtime.Turn{Number: number, Sent: a.list.View(), Answer: answer}
	if a.compact != nil {
		a.compact.After = tokensOf(t.Sent.Messages())
		t.Compact, a.compact = a.compact, nil
	}
	for i, c := range answer.Message.Calls {
		t.Calls = append(t.Calls, runtime.CallRecord{Number: i + 1, ID: c.ID, Name: c.Name, Arguments: c.Arguments})
		place := callAt{number - 1, i}
		a.open.put(c.ID, number, place)
		if a.calls == nil {
			a.calls = map[string]callAt{}
		}
		a.calls[c.ID] = place
	}
	if strings.TrimSpace(answer.Message.Content) != "" {
		a.wrote = answer.Message.Content
	}
	a.run.Turns = append(a.run.Turns, t)
	a.run.Model = cmp.Or(a.run.Model, answer.Model)
	a.run.Usage = a.run.Usage.Add(answer.Usage)
	a.list.Append(answer.Message)
	a.builder.history.Spots[TurnKey{a.run.Agent, number}] = at
	return number
}

// Copied says that what the list holds so far is a copy of the parent's history,
// with which the agent was begun by intent.
func (a *AgentBuilder) Copied() {
	h := a.builder.history
	if h.Copied == nil {
		h.Copied = map[runtime.Path]int{}
	}
	h.Copied[a.run.Agent] = a.list.View().Len()
}

// Restart begins the agent's list anew, as a client does that puts a summary in
// the place of what was said, or a plan in that of the talk about it. What was
// put into the old list after its last answer stands in a turn without answer.
// Calls stay open: their results may come later.
func (a *AgentBuilder) Restart() {
	view := a.list.View()
	answered := 0
	if n := len(a.run.Turns); n > 0 && view.Extends(a.run.Turns[n-1].Sent) {
		answered = a.run.Turns[n-1].Sent.Len()
		if a.run.Turns[n-1].Answer != nil {
			answered++
		}
	}
	if view.Len() > answered {
		a.run.Turns = append(a.run.Turns, runtime.Turn{Number: len(a.run.Turns) + 1, Sent: view})
	}
	a.list = runtime.History{}
}

// Compact begins the list anew as Restart does, with a summary in the place of
// what was said. The caller adds the summary as the message that it is; summary
// is its text.
func (a *AgentBuilder) Compact(summary string) {
	before := a.list.View()
	a.compactions++
	a.compact = &runtime.Compaction{
		Side:    a.run.Agent.Side(compactWord, a.compactions),
		Dropped: before.Len(), Summary: summary, Before: tokensOf(before.Messages()),
	}
	a.Restart()
}

// Ended notes with which text the agent ended, for a file that does not hold its
// last answer among its messages.
func (a *AgentBuilder) Ended(final string) { a.ended = strings.TrimSpace(final) }

// Child begins the agent that the agent's latest call with this id started. A
// call that has a child already starts one more, PATH/2.1#2; without such a call
// the child is one of no visible call, PATH/?1. A child that is told nothing is
// an agent known only by its call.
func (a *AgentBuilder) Child(callID string) *AgentBuilder {
	at, ok := a.calls[callID]
	if !ok {
		return a.Stray()
	}
	call := &a.run.Turns[at.turn].Calls[at.call]
	path := a.run.Agent.Child(at.turn+1, call.Number)
	a.builder.started[path]++
	n := a.builder.started[path]
	if n > 1 {
		path += runtime.Path("#" + strconv.Itoa(n))
	}
	child := a.builder.agent(path)
	title, prompt := Brief(call.Arguments)
	child.Label(title)
	child.run.Prompt = prompt
	if n == 1 {
		call.Child = child.run
	} else {
		a.others = append(a.others, otherChild{child.run, at.turn, call.Number})
	}
	return child
}

// Stray begins a child of no visible call.
func (a *AgentBuilder) Stray() *AgentBuilder {
	path := a.run.Agent + "/?"
	a.builder.started[path]++
	child := a.builder.agent(path + runtime.Path(strconv.Itoa(a.builder.started[path])))
	a.others = append(a.others, otherChild{child.run, max(len(a.run.Turns)-1, 0), 0})
	return child
}

// finish settles how the agent ended, and puts the children in their places.
func (a *AgentBuilder) finish() {
	a.run.History = a.list.View()
	if n := len(a.run.Turns); n > 0 {
		last := &a.run.Turns[n-1]
		a.run.Stop = stopOf(last, nil)
		if a.ended != "" && a.run.Stop != runtime.StopAnswer {
			a.run.Stop, a.run.Final = runtime.StopAnswer, a.ended
		} else if a.run.Stop == runtime.StopAnswer {
			a.run.Final = last.Answer.Message.Content
		} else {
			a.run.Partial = a.wrote
		}
	}
	if len(a.others) > 0 && len(a.run.Turns) == 0 {
		a.run.Turns = []runtime.Turn{{Number: 1}}
	}
	slices.SortStableFunc(a.others, func(x, y otherChild) int { return cmp.Compare(x.turn, y.turn) })
	for i := 0; i < len(a.others); {
		n := i + 1
		for n < len(a.others) && a.others[n].turn == a.others[i].turn {
			n++
		}
		addRecords(&a.run.Turns[a.others[i].turn], a.others[i:n])
		i = n
	}
	a.others = nil
}

// addRecords gives children records of their own: behind the call that they
// share, and those of no visible call at the end.
func addRecords(t *runtime.Turn, children []otherChild) {
	for _, c := range children {
		t.Calls = append(t.Calls, runtime.CallRecord{
			Number: c.call, Name: runtime.TaskToolName, Verdict: runtime.VerdictInterrupted, Child: c.run,
		})
	}
	slices.SortStableFunc(t.Calls, func(x, y runtime.CallRecord) int {
		return cmp.Compare(uint(x.Number-1), uint(y.Number-1)) // 0 comes last
	})
}
