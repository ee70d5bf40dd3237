package requests

import (
	"slices"

	"github.com/tapetree/tapetree/runtime"
)

// Kind says what became of messages between two requests.
type Kind string

// The kinds of changes.
const (
	Added     Kind = "added"
	Dropped   Kind = "dropped"
	Cut       Kind = "cut"       // the same message, shortened
	Compacted Kind = "compacted" // a message in the place of several
	Edited    Kind = "edited"    // the same place, otherwise
)

// Change is one difference between the messages of two requests.
type Change struct {
	Kind Kind
	// Old are the indices of messages of the request before, New those of this
	// one; each ascends. Added has no Old, Dropped no New, Cut and Edited one of
	// each, Compacted one New.
	Old, New []int
	// Answer says of an added message that it is the answer to the request
	// before.
	Answer bool
}

// Changes is what a request changed against the one before.
type Changes struct {
	First    bool // there is none before: everything is new
	Kept     int  // messages that stand in both
	Messages []Change
	System   bool // the system text at the head was put in place of another
	Model    bool
	Tools    ToolChange
	Params   []ParamChange
}

// ToolChange says which tools of a list are others.
type ToolChange struct {
	Added, Dropped []string // names
	Schema         []string // names of tools that are defined otherwise
	Order          bool     // the same tools in another order
}

// Any reports that the lists differ.
func (c ToolChange) Any() bool {
	return len(c.Added)+len(c.Dropped)+len(c.Schema) > 0 || c.Order
}

// ParamChange is a parameter with another value; "" stands for absent.
type ParamChange struct{ Name, Old, New string }

// Any reports that something besides added messages is another.
func (c *Changes) Any() bool {
	return len(c.Messages) > 0 || c.System || c.Model || c.Tools.Any() || len(c.Params) > 0
}

// Count says how many messages a kind concerns: of a compaction those that it
// stands for.
func (c *Changes) Count(kind Kind) int {
	n := 0
	for _, change := range c.Messages {
		switch {
		case change.Kind != kind:
		case kind == Added:
			n += len(change.New)
		default:
			n += len(change.Old)
		}
	}
	return n
}

// Changes compares a request with the one before it. It takes time linear in
// both lists, up to a logarithm, and constant time for what is known to stand in
// both.
func (r *Request) Changes() *Changes {
	if r.Before == nil {
		c := &Changes{First: true}
		for i := range r.Sent.Messages() {
			c.Messages = append(c.Messages, Change{Kind: Added, New: []int{i}})
		}
		return c
	}
	c := &Changes{Model: r.Model != r.Before.Model, Tools: toolChange(r.Before.Tools, r.Tools), Params: paramChanges(r.Before.Params, r.Params)}
	old, list := r.Before.Sent.Messages(), r.Sent.Messages()
	at := 0
	if r.Sent.Extends(r.Before.Sent) {
		at = len(old)
	} else {
		for at < min(len(old), len(list)) && Alike(old[at], list[at]) {
			at++
		}
	}
	c.Kept = at
	if at == 0 && len(old) > 0 && len(list) > 0 && old[0].Role == runtime.RoleSystem && list[0].Role == runtime.RoleSystem {
		c.System, at = true, 1
	}
	c.align(old, list, at)
	c.answer(r.Before.Answer, list)
	return c
}

// answer marks the added message that the request before was answered with.
func (c *Changes) answer(answer *runtime.Answer, list []runtime.Message) {
	if answer == nil {
		return
	}
	for i := range c.Messages {
		change := &c.Messages[i]
		if change.Kind == Added && says(list[change.New[0]], answer.Message) {
			change.Answer = true
			return
		}
	}
}

// says reports that m is an answer as it goes back. Ids of calls may have been
// mended on the way.
func says(m, answer runtime.Message) bool {
	return m.Role == runtime.RoleAssistant && m.Content == answer.Content &&
		slices.EqualFunc(m.Calls, answer.Calls, func(x, y runtime.Call) bool {
			return x.Name == y.Name && x.Arguments == y.Arguments
		})
}

// Alike reports whether two messages say the same; their bytes need not be
// equal.
func Alike(a, b runtime.Message) bool {
	return a.Role == b.Role && a.CallID == b.CallID && a.Content == b.Content &&
		slices.EqualFunc(a.Calls, b.Calls, func(x, y runtime.Call) bool {
			return x.ID == y.ID && x.Name == y.Name && x.Arguments == y.Arguments
		}) && len(other(a)) == len(other(b))
}

// other is the raw form of a message of which the program reads nothing: an
// image, say. It is compared by its length, for ids in it differ.
func other(m runtime.Message) []byte {
	if m.Content == "" && len(m.Calls) == 0 {
		return m.Raw
	}
	return nil
}
