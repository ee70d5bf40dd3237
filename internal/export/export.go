// Package export writes histories in the formats of other programs. What a
// format has no place for is counted and told, never dropped in silence.
package export

import (
	"bufio"
	"fmt"
	"io"
	"slices"

	"github.com/tapetree/tapetree/internal/requests"
	"github.com/tapetree/tapetree/record"
	"github.com/tapetree/tapetree/runtime"
	"github.com/tapetree/tapetree/transcripts"
)

// Formats lists the formats, in the order of the documentation.
var Formats = []string{"openai", "markdown", "otlp", "junit"}

// Options of an export.
type Options struct {
	// Agents are the agents to write; nil: all, in the format openai the roots.
	// The formats whose unit is the session write an agent with all below it.
	Agents []runtime.Path
	// All writes every agent in the format openai too.
	All bool
	// Contents puts what was said into spans.
	Contents bool
	// Check judges a history, for JUnit.
	Check func(h *transcripts.History) []record.Finding
	// Version is that of the program, as exports name it.
	Version string
}

// Writer takes histories one after another.
type Writer interface {
	History(h *transcripts.History) error
	// Close ends the document.
	Close() error
	// Lost lists what the format had no place for, each kind once.
	Lost() []string
}

// New begins a document in the format of that name, which is one of Formats.
func New(to io.Writer, format string, o Options) Writer {
	out := bufio.NewWriterSize(to, 1<<16)
	base := base{out: out, options: o}
	switch format {
	case "markdown":
		return &markdownWriter{base: base}
	case "otlp":
		return &otlpWriter{base: base}
	case "junit":
		return &junitWriter{base: base}
	default:
		return &openaiWriter{base: base}
	}
}

// base is what the writers share.
type base struct {
	out     *bufio.Writer
	options Options
	lost    []loss
}

// loss is a kind of thing that a format has no place for, and how many of it
// there were.
type loss struct {
	what  string
	count int
}

func (b *base) lose(n int, what string) {
	if n == 0 {
		return
	}
	at := slices.IndexFunc(b.lost, func(l loss) bool { return l.what == what })
	if at < 0 {
		at = len(b.lost)
		b.lost = append(b.lost, loss{what: what})
	}
	b.lost[at].count += n
}

func (b *base) Lost() []string {
	var list []string
	for _, l := range b.lost {
		list = append(list, fmt.Sprintf("%s: %d", l.what, l.count))
	}
	return list
}

// wanted lists the agents of a history that are to be written, in tree order.
func (b *base) wanted(h *transcripts.History) []*runtime.Run {
	var list []*runtime.Run
	h.Walk(func(r *runtime.Run) {
		if b.options.Agents == nil || slices.Contains(b.options.Agents, r.Agent) {
			list = append(list, r)
		}
	})
	return list
}

// roots are the trees that are to be written.
func (b *base) roots(h *transcripts.History) []*runtime.Run {
	if b.options.Agents == nil {
		return h.Roots
	}
	var list []*runtime.Run
	for _, path := range b.options.Agents {
		if run := h.Agent(path); run != nil {
			list = append(list, run)
		}
	}
	return list
}

// sides counts the side conversations that are left out.
func (b *base) sides(h *transcripts.History) {
	paths, _ := requests.Sides(h)
	b.lose(len(paths), "side conversations")
}

// known reports that there is more of an agent than the call that started it.
func known(run *runtime.Run) bool { return len(run.Turns) > 0 || run.History.Len() > 0 }

// failed is the first error of writing.
func (b *base) failed() error {
	_, err := b.out.Write(nil)
	return err
}
