// Package golden renders session trees as golden histories: texts that a
// reviewer reads in a pull request, and that a replay is held against.
//
// A golden history holds what every agent was told, did and got back, in call
// order. It does not hold what differs from run to run (ids, paths, timing) and
// not what the transcript compares already (system text, schemas, model,
// parameters, tokens).
package golden

import (
	"bufio"
	"embed"
	"io"
	"io/fs"
	"strings"

	"github.com/tapetree/tapetree/runtime"
)

//go:embed *.txt
var embedded embed.FS

// Suite is the folder of golden histories inside the binary.
var Suite fs.FS = embedded

// Title is the first line of every golden history. It is the same in all of
// them, because one history may serve several scenarios.
const Title = "# Golden history, in call order; folded texts show their first and last lines. To accept a change: tapetree replay NAME --update"

// Options of a rendering. The zero value renders a golden history with texts
// as they are.
type Options struct {
	Fold      func(string) string // puts placeholders for paths; nil changes nothing
	Normalize func(string) string // applies the volatile rules; nil changes nothing
	Hooks     []HookLine          // hook events that a scenario logs
	Title     string              // the first line; "" means Title
	Full      bool                // fold no text
	System    bool                // write the texts of system messages that stand in a history
	// Foreign says that a program of somebody else's had the session: it answers
	// its calls itself, so they have no verdict, and what a user says to it in
	// between is no reminder of ours.
	Foreign bool
	Notes   func(*runtime.Run) []string
}

// HookLine is one logged hook event: a line of the history at the call it
// belongs to. Call 0 is an event of the whole run: one whose text begins with
// "Stop" stands before the run's end, any other after the prompt. At a call,
// one that begins with "PostToolUse" stands before the result, any other
// before what the call did. Lines of one place keep their order.
type HookLine struct {
	Agent      runtime.Path
	Turn, Call int
	Text       string
}

// Render writes the golden history of a session tree: the same bytes for any
// schedule, LF only, ended by a newline.
func Render(run *runtime.Run, o Options) string {
	if run == nil {
		return RenderAll(nil, o)
	}
	return RenderAll([]*runtime.Run{run}, o)
}

// RenderAll writes the golden history of a session that has several trees, as a
// program that is not ours may have.
func RenderAll(roots []*runtime.Run, o Options) string {
	var out strings.Builder
	_ = WriteAll(&out, roots, o) // it fails where writing does
	return out.String()
}

// WriteAll writes what RenderAll returns to a stream, as it comes. It fails only
// where writing does.
func WriteAll(to io.Writer, roots []*runtime.Run, o Options) error {
	out := bufio.NewWriter(to)
	title := o.Title
	if title == "" {
		title = Title
	}
	w := &writer{out: out, options: o, hooks: map[hookPlace][]string{}, ids: newNames()}
	for _, h := range o.Hooks {
		at := placeOfHook(h)
		w.hooks[at] = append(w.hooks[at], h.Text)
	}
	w.line(0, title)
	if len(roots) == 0 {
		w.line(0, "(no session)")
	}
	for _, root := range roots {
		w.agent(root, 0)
	}
	return out.Flush()
}
