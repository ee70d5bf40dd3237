package transcripts

import (
	"slices"

	"github.com/tapetree/tapetree/runtime"
)

// ahead decodes, beside the reading of further lines, the responses that
// echoes will ask for: on a long file that is half of the work.
type ahead struct {
	last  map[runtime.Path]*pending
	queue chan *pending
}

// aheadQueue is how many responses can wait; more are decoded when needed.
const aheadQueue = 4096

func newAhead() *ahead {
	a := &ahead{last: map[runtime.Path]*pending{}, queue: make(chan *pending, aheadQueue)}
	go func() {
		for p := range a.queue {
			_, _ = p.reply() // whoever needs it asks again
		}
	}()
	return a
}

// read takes note of an exchange that was read.
func (a *ahead) read(p *pending) {
	if a == nil {
		return
	}
	before := a.last[p.exchange.Agent]
	a.last[p.exchange.Agent] = p
	if before != nil && slices.ContainsFunc(p.add, func(e entry) bool { return e.echo }) {
		select {
		case a.queue <- before:
		default:
		}
	}
}
