package cli

import (
	"errors"
	"fmt"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/tapetree/tapetree/golden"
	"github.com/tapetree/tapetree/runtime"
)

// eventWidth is how many characters of a text an event line shows: what fits a
// terminal beside the agent's name.
const (
	eventWidth = 100
	labelWidth = 24 // of an agent's label, which stands in every line of it
)

// watcher prints the events of a session, one line each, children indented
// under their parent. It keeps the last upstream error, which the end of a run
// does not carry.
type watcher struct {
	screen *console
	quiet  bool
	hide   func(text string) string // puts *** for secrets; nil: there are none
	titles *titles                  // names children by title and leaves their words out; nil: by path and label, with their words
	status *children                // nil: nobody looks at live lines

	mu       sync.Mutex
	upstream *runtime.UpstreamError
}

// observe is the runtime.Observer.
func (w *watcher) observe(e runtime.Event) {
	var upstream *runtime.UpstreamError
	if e.Kind == runtime.EventTryFailed && errors.As(e.Err, &upstream) {
		w.mu.Lock()
		w.upstream = upstream
		w.mu.Unlock()
	}
	if w.quiet {
		return
	}
	if w.hide != nil {
		e = hidden(e, w.hide)
	}
	name, text := speaker(e.Agent, e.Label), eventText(e)
	if w.titles != nil && e.Agent.Depth() > 0 {
		title := w.titles.of(e.Agent, e.Label)
		name, text = "↳ "+title, childText(e)
		w.status.observe(e, title)
	}
	if w.titles != nil && e.Kind == runtime.EventCallEnd && e.Call.Child != nil {
		text = "← " + w.titles.of(e.Call.Child.Agent, e.Call.Child.Label) + " " + resultText(e.Call)
	}
	if text != "" {
		w.screen.line(strings.Repeat("  ", e.Agent.Depth()) + name + " " + text)
	}
}

// lastUpstream returns what the upstream last answered instead of an answer.
func (w *watcher) lastUpstream() *runtime.UpstreamError {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.upstream
}

// speaker names an agent: its path and, for a child, its label.
func speaker(agent runtime.Path, label string) string {
	if label == "" || agent == runtime.Root || label == string(agent) {
		return string(agent)
	}
	return fmt.Sprintf("↳ %s [%s]", agent, shortLabel(label))
}

// shortLabel is the beginning of a label, in one line.
func shortLabel(label string) string {
	runes := []rune(clip(label, 8*len(label)))
	if len(runes) <= labelWidth {
		return string(runes)
	}
	return string(runes[:labelWidth-1]) + "…"
}

// eventText is what an event has to say; "" for one that has nothing to say.
func eventText(e runtime.Event) string {
	switch e.Kind {
	case runtime.EventTryFailed:
		return "failed: " + clip(e.Err.Error(), 2*eventWidth)
	case runtime.EventAnswer:
		if text := e.Answer.Message.Content; text != "" && len(e.Answer.Message.Calls) > 0 {
			return "says: " + clip(text, eventWidth)
		}
	case runtime.EventCallStart:
		return "→ " + clip(e.Call.Name, 40) + " " + argumentLine(e.Call.Arguments)
	case runtime.EventHook:
		return hookText(e)
	case runtime.EventCallEnd:
		return "← " + clip(e.Call.Name, 40) + " " + resultText(e.Call)
	case runtime.EventCompact:
		return compactText(e.Compact)
	case runtime.EventReminder:
		return "is reminded: " + clip(e.Text, eventWidth)
	case runtime.EventRunEnd:
		if e.Run != nil {
			return fmt.Sprintf("ends: %s after %s, %d input and %d output tokens", firstOf(string(e.Run.Stop), "broken off"), plural(len(e.Run.Turns), "turn"), e.Run.Tree.Input, e.Run.Tree.Output)
		}
	}
	return ""
}

// childText is what an event of a child that is named by its title has to say:
// its calls, and what went wrong, but none of its words.
func childText(e runtime.Event) string {
	switch e.Kind {
	case runtime.EventAnswer:
		return ""
	case runtime.EventCallStart:
		return clip(e.Call.Name, 40) + " " + argumentLine(e.Call.Arguments)
	case runtime.EventCallEnd:
		if e.Call.Verdict.Class() != "allowed" {
			return clip(e.Call.Name, 40) + " " + resultText(e.Call)
		}
		if strings.HasPrefix(e.Call.Result, "Error [") {
			return clip(e.Call.Name, 40) + " failed: " + clip(e.Call.Result, eventWidth)
		}
		return ""
	}
	return eventText(e)
}

// resultText is how a call was judged and the beginning of its result.
func resultText(c *runtime.CallRecord) string {
	return c.Verdict.Class() + ": " + clip(c.Result, eventWidth)
}

// compactText tells of a history that was shortened. The summary is the
// model's, for itself.
func compactText(c *runtime.Compaction) string {
	switch {
	case c == nil:
		return ""
	case c.Dropped == 0:
		return fmt.Sprintf("is over its context budget with about %s, of which none can be dropped", plural(c.Before, "token"))
	default:
		return fmt.Sprintf("compacts %s: about %d tokens become %d", plural(c.Dropped, "message"), c.Before, c.After)
	}
}

// hookText tells of a hook only where it stopped or failed something.
func hookText(e runtime.Event) string {
	if e.Err == nil {
		return ""
	}
	return "hook " + clip(e.Text, 40) + ": " + clip(e.Err.Error(), eventWidth)
}

// argumentLine shows a call's arguments in one line.
func argumentLine(arguments string) string {
	if strings.TrimSpace(arguments) == "" {
		return "{}"
	}
	return clip(readable(arguments), eventWidth)
}

// readable is a call's arguments without the escapes that JSON does not need,
// such as \u003e for >; text that is no JSON as it is. What cannot be seen is
// for golden.Visible to show.
func readable(arguments string) string {
	value := jsontext.Value(strings.Clone(arguments))
	if err := value.Format(jsontext.PreserveRawStrings(false), jsontext.EscapeForHTML(false)); err != nil {
		return arguments
	}
	return string(value)
}

// clip shows a text in one line of at most width characters, nothing in it
// hidden, with the number of characters left out.
func clip(text string, width int) string {
	line := strings.ReplaceAll(golden.Visible(strings.TrimRight(text, "\n ")), "\n", " ↵ ")
	left := utf8.RuneCountInString(line) - width
	if left <= 0 {
		return line
	}
	return fmt.Sprintf("%s… (%d more)", string([]rune(line)[:width]), left)
}

func plural(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}
