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
	live *liveLines               // nil: none, as where out is no terminal
}

// line writes one line; a terminal that is gone stops nothing.
func (c *console) line(text string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.held != nil {
		c.held.WriteString(text + "\n")
		return
	}
	c.above(text + "\n")
}

// above writes text above the live lines.
func (c *console) above(text string) {
	_, _ = io.WriteString(c.out, c.live.erase()+text+c.live.draw())
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
	_, _ = io.WriteString(c.out, c.live.erase()+text)
}

// release writes what was held back.
func (c *console) release() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.held != nil {
		c.above(c.held.String())
		c.held = nil
	}
}

// refresh draws the live lines anew, unless a question stands there.
func (c *console) refresh() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.held == nil && c.live != nil {
		c.above("")
	}
}

// end takes the live lines away for good.
func (c *console) end() {
	c.mu.Lock()
	defer c.mu.Unlock()
	_, _ = io.WriteString(c.out, c.live.erase())
	c.live = nil
}
