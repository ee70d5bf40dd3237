package attribution

import (
	"github.com/tapetree/tapetree/runtime"
)

// The flags of labels.
const (
	FlagTwin      = "twin"      // it may be exchanged with its twins: calls of one turn with one brief, one request asked twice
	FlagAmbiguous = "ambiguous" // it may belong elsewhere
)

// relation says how a thread came to be.
type relation int

const (
	isRoot    relation = iota // nobody started it, as far as can be seen
	isChild                   // a call started it
	isSide                    // a side conversation of owner
	isUnknown                 // a child of owner, of no call that can be seen
	isForeign                 // a child of the session with the id in parent
)

// origin is where a thread comes from.
type origin struct {
	relation relation
	call     *call   // of isChild
	owner    *thread // of isSide and isUnknown
}

// thread is one conversation.
type thread struct {
	number  Thread
	origin  origin
	word    string // what kind of side conversation it is or would be
	first   *identity
	named   runtime.Path // by its client; "" for none
	session string
	parent  string
	tools   bool // it began with tools
	aside   bool // it began by asking for the title or the summary of a conversation
	opening *opening
	turns   []*turn

	draw []*call // the calls it may come from, if there are several
	flag string

	twin *thread // whose turn asked the same before; nil: none

	doubt int // from this turn on it may be what rival is; 0: no doubt
	rival *thread
}

// identity is the part of a place that never changes once given out.
type identity struct {
	path  runtime.Path
	turns int
}

// turn is one answer and the tries it took.
type turn struct {
	thread *thread
	n      int
	first  int // its number in First
	tries  []*Exchange
}

// last is the newest try.
func (t *turn) last() *Exchange { return t.tries[len(t.tries)-1] }

// failed reports that there was no answer and none is on its way.
func (t *turn) failed() bool { return t.last().state == stateFailed }

// silent reports an answer without text and calls, which clients do not send
// back.
func (t *turn) silent() bool {
	x := t.last()
	return x.state == stateDone && x.text == "" && len(x.calls) == 0
}

// newest returns the newest turn, nil for none.
func (t *thread) newest() *turn {
	if len(t.turns) == 0 {
		return nil
	}
	return t.turns[len(t.turns)-1]
}

// after returns the turns after turn n that got an answer or may still get one.
func (t *thread) after(n int) []*turn {
	var later []*turn
	for _, u := range t.turns[n:] {
		if !u.failed() {
			later = append(later, u)
		}
	}
	return later
}

// agent is the agent whose side conversation t is, or t itself.
func (t *thread) agent() *thread {
	for t.origin.relation == isSide {
		t = t.origin.owner
	}
	return t
}

// call is one tool call that was seen whole.
type call struct {
	x        *Exchange
	n        int
	id, name string
	strings  []string // its argument's texts, squashed, longest first
	answered bool     // its result was seen, or its agent went on without
	result   bool     // its result was seen
	dead     bool     // the answer it stands in failed
	since    int      // how many threads there were when it came
	children []*thread
	fits     []fit
}

// fit says that a thread's last text is in the call's result.
type fit struct {
	thread *thread
	sure   bool // by the session's id, not by the text alone
}

func (c *call) turn() *turn     { return c.x.turn }
func (c *call) thread() *thread { return c.x.turn.thread }

// over reports a call that starts no child any more: it has a result and a
// child.
func (c *call) over() bool { return c.answered && len(c.children) > 0 }

// flagged reports that it is not sure that the call's children are its own.
func (c *call) flagged() bool {
	for _, t := range c.children {
		if t.flag != "" {
			return true
		}
	}
	return false
}

// state is how far an exchange is.
type state int

const (
	stateOpen state = iota
	stateDone
	stateFailed
)
