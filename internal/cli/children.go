package cli

import (
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/tapetree/tapetree/runtime"
)

// children are the running children of a session, for the live lines.
type children struct {
	now func() time.Time

	mu      sync.Mutex
	running []*child
}

// child is one that runs.
type child struct {
	agent  runtime.Path
	name   string
	start  time.Time
	turn   int
	tokens int
}

func (k *child) spend(u runtime.Usage) { k.tokens += u.Input + u.Output }

// observe keeps the list. name is what lines call the agent.
func (c *children) observe(e runtime.Event, name string) {
	if c == nil || e.Agent.Depth() == 0 {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	at := slices.IndexFunc(c.running, func(k *child) bool { return k.agent == e.Agent })
	switch {
	case e.Kind == runtime.EventRunStart:
		c.running = append(c.running, &child{agent: e.Agent, name: name, start: c.now()})
	case at < 0:
	case e.Kind == runtime.EventTurnStart:
		c.running[at].turn = e.Turn
	case e.Kind == runtime.EventAnswer:
		c.running[at].spend(e.Answer.Usage)
	case e.Kind == runtime.EventCompact && e.Compact != nil:
		c.running[at].spend(e.Compact.Usage)
	case e.Kind == runtime.EventRunEnd:
		c.running = slices.Delete(c.running, at, at+1)
	}
}

// lines has one line for each running child, in the order in which they began.
func (c *children) lines() []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	now := c.now()
	var lines []string
	for _, k := range c.running {
		lines = append(lines, fmt.Sprintf("  … %s turn %d, %d tokens, %d s", k.name, max(k.turn, 1), k.tokens, int(now.Sub(k.start).Seconds())))
	}
	return lines
}
