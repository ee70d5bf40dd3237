package cli

import (
	"fmt"

	"github.com/schollz/progressbar/v3"
)

// progress is a line on stderr that tells a person how far a command is. It
// writes nothing where stderr is no terminal, and leaves nothing behind.
type progress struct{ bar *progressbar.ProgressBar }

func (a *app) progress(total int) progress {
	if a.quiet || !isTerminal(a.err) {
		return progress{}
	}
	return progress{progressbar.NewOptions(total,
		progressbar.OptionSetWriter(a.err),
		progressbar.OptionClearOnFinish(),
		progressbar.OptionShowCount(),
		progressbar.OptionSetWidth(20),
		progressbar.OptionSetPredictTime(false),
		progressbar.OptionSetElapsedTime(false),
		progressbar.OptionEnableColorCodes(false),
	)}
}

// nameWidth keeps the bar in its place while names change.
const nameWidth = 40

// doing names what is being worked on.
func (p progress) doing(name string) {
	if p.bar != nil {
		p.bar.Describe(fmt.Sprintf("%-*.*s", nameWidth, nameWidth, name))
	}
}

// did counts one more as finished. A terminal that is gone stops nothing.
func (p progress) did() {
	if p.bar != nil {
		_ = p.bar.Add(1)
	}
}

func (p progress) done() {
	if p.bar != nil {
		_ = p.bar.Clear()
	}
}
