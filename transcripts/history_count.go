package transcripts

import (
	"unsafe"

	"github.com/tapetree/tapetree/runtime"
)

// Counts says how much a history holds.
type Counts struct {
	Agents     int `json:"agents"`
	Messages   int `json:"messages"`
	Calls      int `json:"calls"`
	Unanswered int `json:"unanswered"`
	Orphaned   int `json:"orphaned"`
}

// Count counts what the history holds. Side conversations count nothing. It
// takes time linear in the lists that agents sent, where a list that goes on
// from the one before costs what it adds.
//
// Agents are all that the history names, also those known only by their call.
//
// Messages are those of every agent's lists, each once, the system message and
// the answers included. An agent has one list a request, and one at the end.
// What a later list repeats is not counted again: a message counts as often as
// it occurs in that one of its agent's lists in which it occurs most often. Two
// messages are the same if role, text, calls and the answered id are. An answer
// and what the next list holds in its place are one message, also where the
// client changed it.
//
// Calls are the tool calls of the counted messages. Unanswered are those that no
// result follows in any list that has them; where the file ends with an agent's
// answer and does not hold what came after it (see Answered), the calls of that
// answer are not unanswered. Orphaned are the counted tool results that answer
// no call of any list that has them. Results and calls pair by id; the calls of
// one id pair by occurrence.
func (h *History) Count() Counts {
	var c Counts
	h.Walk(func(run *runtime.Run) {
		c.Agents++
		a := agentCount{keyed: !chained(run), seen: map[messageKey][]*countedMessage{}, used: map[messageKey]int{}}
		a.run(run)
		c.Messages += len(a.all)
		for _, m := range a.all {
			c.Calls += len(m.answered)
			if m.result && !m.answers {
				c.Orphaned++
			}
			if m == a.last && !h.Answered {
				continue
			}
			for _, answered := range m.answered {
				if !answered {
					c.Unanswered++
				}
			}
		}
	})
	return c
}

// countedMessage is one message that counts.
type countedMessage struct {
	answered []bool // which of its calls have a result
	result   bool   // it is a tool result
	answers  bool   // and answers a call
}

// agentCount counts the messages of one agent, list by list.
type agentCount struct {
	keyed bool // lists repeat messages, so they must be known again
	all   []*countedMessage
	seen  map[messageKey][]*countedMessage // in all lists, in order
	keys  keyring

	view   runtime.View      // the list before
	list   []*countedMessage // its messages
	used   map[messageKey]int
	open   openCalls[countedCall]
	answer *runtime.Turn   // whose answer is in no list yet
	last   *countedMessage // the agent's last answer, if nothing was sent after it
}

type countedCall struct {
	message *countedMessage
	call    int
}

// chained reports that every list of the agent goes on from the one before.
func chained(run *runtime.Run) bool {
	var before runtime.View
	for i := range run.Turns {
		sent := run.Turns[i].Sent
		if sent.Len() == 0 {
			continue
		}
		if before.Len() > 0 && !sent.Extends(before) {
			return false
		}
		before = sent
	}
	return before.Len() == 0 || run.History.Len() == 0 || goesOn(run.History, before)
}

// goesOn reports that view begins with the very messages of before.
func goesOn(view, before runtime.View) bool {
	if view.Extends(before) {
		return true
	}
	list, old := view.Messages(), before.Messages()
	if len(list) < len(old) {
		return false
	}
	for i := range old {
		if storage(old[i]) == nil || storage(old[i]) != storage(list[i]) {
			return false
		}
	}
	return true
}

func storage(m runtime.Message) *byte {
	if len(m.Raw) > 0 {
		return &m.Raw[0]
	}
	if m.Content != "" { // a long result that is kept without its JSON
		return unsafe.StringData(m.Content)
	}
	return nil
}

func (a *agentCount) run(run *runtime.Run) {
	for i := range run.Turns {
		t := &run.Turns[i]
		if t.Sent.Len() > 0 {
			a.request(t.Sent)
		}
		if t.Answer != nil {
			a.answer = t
		}
	}
	ends := a.answer
	if run.History.Len() > 0 {
		a.request(run.History)
	}
	a.unsent()
	if ends == nil || len(run.Turns) == 0 || ends != &run.Turns[len(run.Turns)-1] {
		a.last = nil
	}
}

// request takes the list of one more request.
func (a *agentCount) request(view runtime.View) {
	list := view.Messages()
	if !a.keyed || len(a.list) > 0 && view.Extends(a.view) {
		rest := list[a.view.Len():]
		if a.answer != nil && (len(rest) == 0 || rest[0].Role != runtime.RoleAssistant) {
			a.unsent()
		}
		for _, m := range rest {
			a.add(m, nil)
		}
		a.view, a.answer = view, nil
		return
	}
	echo, at := a.unsent(), a.view.Len()
	before := a.list
	a.list, a.used, a.open = nil, map[messageKey]int{}, openCalls[countedCall]{}
	same := true // as the list before, so far
	for i, m := range list {
		var known *countedMessage
		if same && i == at && echo != nil && m.Role == runtime.RoleAssistant {
			known = echo
		}
		got := a.add(m, known)
		same = same && i < len(before) && got == before[i]
	}
	a.view = view
}

// unsent counts the answer that no list holds yet, and returns it.
func (a *agentCount) unsent() *countedMessage {
	if a.answer == nil {
		return nil
	}
	m := a.add(repaired(a.answer), nil)
	a.answer = nil
	return m
}

// add puts a message at the end of the current list. known is what it was
// counted as before; nil: that is to be found out.
func (a *agentCount) add(m runtime.Message, known *countedMessage) *countedMessage {
	if known == nil {
		known = a.counted(m)
	} else if key, n := a.occurrence(m); n == len(a.seen[key]) {
		a.seen[key] = append(a.seen[key], known) // it may read otherwise than before
	}
	a.list = append(a.list, known)
	switch {
	case m.Role == runtime.RoleAssistant:
		a.last = known
		for i, c := range m.Calls {
			if i < len(known.answered) {
				a.open.put(c.ID, len(a.list), countedCall{known, i})
			}
		}
	case known.result:
		if c, ok := a.open.take(m.CallID); ok {
			c.message.answered[c.call] = true
			known.answers = true
		}
	}
	return known
}

// counted returns what a message of the current list counts as.
func (a *agentCount) counted(m runtime.Message) *countedMessage {
	var key messageKey
	if a.keyed {
		var n int
		if key, n = a.occurrence(m); n < len(a.seen[key]) {
			return a.seen[key][n]
		}
	}
	made := &countedMessage{result: isResult(m)}
	if m.Role == runtime.RoleAssistant {
		made.answered = make([]bool, len(m.Calls))
	}
	a.all = append(a.all, made)
	if a.keyed {
		a.seen[key] = append(a.seen[key], made)
	}
	return made
}

// occurrence returns how often the current list held the message before.
func (a *agentCount) occurrence(m runtime.Message) (messageKey, int) {
	key := a.keys.of(m)
	n := a.used[key]
	a.used[key] = n + 1
	return key, n
}

// roleFunction is how results were called before there were several calls in an
// answer. They name no call: there was only one.
const roleFunction runtime.Role = "function"

func isResult(m runtime.Message) bool { return m.Role == runtime.RoleTool || m.Role == roleFunction }
