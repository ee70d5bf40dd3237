package cli

import (
	"io"
	"strings"
	"sync"
)

// console is stderr as several goroutines share it. While a question waits for
// its answer, lines are held back so that the question stays the last thing on
// the screen.
type console struct {
	mu   sync.Mutex
	out  io.Writer
	hide func(text string) string // puts *** for known secrets in questions; nil: there are none
	held *strings.Builder         // nil: nothing is held back
}

// line writes one line; a terminal that is gone stops nothing.
func (c *console) line(text string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.held != nil {
		c.held.WriteString(text + "\n")
		return
	}
	_, _ = io.WriteString(c.out, text+"\n")
}

// question writes text and holds back every line until release.
func (c *console) question(text string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.held == nil {
		c.held = &strings.Builder{}
	}
	if c.hide != nil {
		text = c.hide(text)
	}
	_, _ = io.WriteString(c.out, text)
}

// release writes what was held back.
func (c *console) release() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.held != nil {
		_, _ = io.WriteString(c.out, c.held.String())
		c.held = nil
	}
}
