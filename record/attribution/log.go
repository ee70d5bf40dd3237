package attribution

import (
	"strings"

	"github.com/tapetree/tapetree/runtime"
)

// Log is what is remembered of the conversation of one request, so that the
// next one of its thread is read from where it goes on. It is immutable.
type Log struct{ tail *node }

// node is one message of a conversation and, by prev, all before it. Nodes are
// shared by the requests that have them in common.
type node struct {
	prev  *node
	n     int // messages up to this one
	role  runtime.Role
	text  string // of a user or system message
	value sum    // of the conversation, should it end here
	group *node  // the last assistant message up to here
	open  bool   // nothing but system texts follows group
	head  sum    // value before the first assistant message
	setup sum    // of the system texts in front
	begun bool   // there is more than system texts

	// Of an assistant message: what it says together with those right before
	// it, and value and group before those.
	said    spoken
	before  sum
	earlier *node
}

// roleOf sorts messages into system, user, assistant and, for all that answers
// a call, tool.
func roleOf(m runtime.Message) runtime.Role {
	switch m.Role {
	case runtime.RoleSystem, "developer":
		return runtime.RoleSystem
	case runtime.RoleUser, runtime.RoleAssistant:
		return m.Role
	default:
		return runtime.RoleTool
	}
}

// add returns the conversation prev (nil: an empty one) and one more message.
func add(prev *node, m runtime.Message) *node {
	was := node{}
	if prev != nil {
		was = *prev
	}
	n := &node{prev: prev, n: was.n + 1, role: roleOf(m), value: was.value, group: was.group, head: was.head, setup: was.setup}
	n.begun = was.begun || n.role != runtime.RoleSystem
	switch n.role {
	case runtime.RoleSystem:
		n.text, n.open = m.Content, was.open
		if !n.begun {
			n.setup = digest(string(was.setup[:]), m.Content)
		}
	case runtime.RoleUser:
		n.text = m.Content
		n.value = digest(string(was.value[:]), "user", strings.TrimSpace(m.Content))
	case runtime.RoleAssistant:
		n.before, n.earlier = was.value, was.group
		if was.open {
			n.before, n.earlier, n.said = was.group.before, was.group.earlier, was.group.said
		}
		n.said = n.said.and(m)
		said := n.said.digest()
		n.value = digest(string(n.before[:]), string(said[:]))
		n.group, n.open = n, true
		return n
	default:
		n.value = digest(string(was.value[:]), "tool")
	}
	if n.group == nil {
		n.head = n.value
	}
	return n
}

// read returns the conversation of a request and how many messages had to be
// read for it.
func read(r *Request) (*node, int) {
	var tail *node
	known := min(r.Known, len(r.Messages))
	if r.Base != nil {
		for tail = r.Base.tail; tail != nil && tail.n > known; tail = tail.prev {
		}
	}
	done := 0
	if tail != nil {
		done = tail.n
	}
	for _, m := range r.Messages[done:] {
		tail = add(tail, m)
	}
	return tail, len(r.Messages) - done
}
