package cli

import (
	"fmt"
	"strconv"

	"github.com/schollz/progressbar/v3"
	"github.com/tapetree/tapetree/golden"
)

// progress is a line on stderr that tells a person how far a command is. It
// writes nothing where stderr is no terminal, and leaves nothing behind.
type progress struct {
	bar  *progressbar.ProgressBar
	name int // characters of a name
}

func (a *app) progress(total int) progress {
	if a.quiet || !isTerminal(a.err) {
		return progress{}
	}
	bar, name := progressWidths(columns(a.err), total)
	return progress{progressbar.NewOptions(total,
		progressbar.OptionSetWriter(a.err),
		progressbar.OptionClearOnFinish(),
		progressbar.OptionShowCount(),
		progressbar.OptionSetWidth(bar),
		progressbar.OptionSetPredictTime(false),
		progressbar.OptionSetElapsedTime(false),
		progressbar.OptionEnableColorCodes(false),
	), name}
}

// progressWidths are how many characters the bar and the name before it get, so
// that the line does not wrap: 40 for the name where there is room, which keeps the
// bar in its place while names change.
func progressWidths(columns, total int) (bar, name int) {
	bar, name = 20, 40
	if columns == 0 {
		return bar, name
	}
	rest := len(" 100% || (/) ") + 2*len(strconv.Itoa(total)) + 1
	if columns < bar+2*rest {
		bar = max(1, min(10, columns-rest))
	}
	if name = min(name, columns-bar-rest); name < 5 { // nothing could be told by it
		name = 0
	}
	return bar, name
}

// doing names what is being worked on.
func (p progress) doing(name string) {
	if p.bar != nil && p.name > 0 {
		p.bar.Describe(fmt.Sprintf("%-*.*s", p.name, p.name, golden.Visible(name)))
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
