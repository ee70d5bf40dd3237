package cli

import (
	"errors"
	"fmt"
	"strings"
	"sync"
	"unicode/utf8"

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
// under their parent and named by path and label. It keeps the last upstream
// error, which the end of a run does not carry.
type watcher struct {
	screen *console
	quiet  bool
	hide   func(text string) string // puts *** for secrets; nil: there are none

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
	if text := eventText(e); text != "" {
		w.screen.line(strings.Repeat("  ", e.Agent.Depth()) + speaker(e.Agent, e.Label) + " " + text)
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
		return "← " + clip(e.Call.Name, 40) + " " + e.Call.Verdict.Class() + ": " + clip(e.Call.Result, eventWidth)
	case runtime.EventReminder:
		return "is reminded: " + clip(e.Text, eventWidth)
	case runtime.EventRunEnd:
		if e.Run != nil {
			return fmt.Sprintf("ends: %s after %s, %d input and %d output tokens", firstOf(string(e.Run.Stop), "broken off"), plural(len(e.Run.Turns), "turn"), e.Run.Tree.Input, e.Run.Tree.Output)
		}
	}
	return ""
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
	return clip(arguments, eventWidth)
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
