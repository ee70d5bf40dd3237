package cli

import (
	"strings"
	"testing"
	"time"

	"github.com/tapetree/tapetree/runtime"
	"gotest.tools/v3/assert"
)

// A terminal of 30 columns and 6 rows on which two children run.
func TestLiveLinesStandBelowTheEventsAndGoAway(t *testing.T) {
	now := time.Unix(1000, 0)
	var screen strings.Builder
	written := func() string {
		defer screen.Reset()
		return screen.String()
	}
	c := &console{out: &screen}
	w := &watcher{screen: c, titles: &titles{}, status: &children{now: func() time.Time { return now }}}
	c.live = &liveLines{lines: w.status.lines, size: func() (int, int) { return 30, 6 }}
	send := func(agent runtime.Path, label string, e runtime.Event) {
		e.Agent, e.Label = agent, label
		w.observe(e)
	}
	const erase1, erase2 = "\x1b[1A\r\x1b[J", "\x1b[2A\r\x1b[J"

	send("root", "root", runtime.Event{Kind: runtime.EventCallStart, Call: &runtime.CallRecord{Name: "task"}})
	assert.Equal(t, written(), "root → task {}\n") // no child yet
	send("root/1.1", "a long title", runtime.Event{Kind: runtime.EventRunStart})
	send("root/1.1", "a long title", runtime.Event{Kind: runtime.EventTurnStart, Turn: 1})
	c.refresh()
	assert.Equal(t, written(), wrapOff+"  … [a long title] turn 1, 0…\n"+wrapOn)
	send("root/1.2", "b", runtime.Event{Kind: runtime.EventRunStart})
	send("root/1.2", "b", runtime.Event{Kind: runtime.EventAnswer, Answer: &runtime.Answer{Usage: runtime.Usage{Input: 3, Output: 4}}})
	send("root/1.2", "b", runtime.Event{Kind: runtime.EventCompact, Compact: &runtime.Compaction{Dropped: 2, Before: 900, After: 300, Usage: runtime.Usage{Input: 5}}})
	assert.Equal(t, written(), erase1+"  ↳ [b] compacts 2 messages: about 900 tokens become 300\n"+wrapOff+"  … [a long title] turn 1, 0…\n  … [b] turn 1, 12 tokens, 0…\n"+wrapOn)

	c.question("\nask? ")
	assert.Equal(t, written(), erase2+"\nask? ")
	now = now.Add(90 * time.Second)
	c.refresh() // not while a question waits
	send("root/1.1", "a long title", runtime.Event{Kind: runtime.EventRunEnd, Run: &runtime.Run{Stop: runtime.StopEmpty}})
	assert.Equal(t, written(), "")
	c.release()
	assert.Equal(t, written(), "  ↳ [a long title] ends: empty after 0 turns, 0 input and 0 output tokens\n"+wrapOff+"  … [b] turn 1, 12 tokens, 9…\n"+wrapOn)

	for _, agent := range []runtime.Path{"root/1.3", "root/1.4", "root/1.5"} {
		send(agent, "b", runtime.Event{Kind: runtime.EventRunStart})
	}
	c.refresh() // no more than half the screen
	assert.Equal(t, written(), erase1+wrapOff+"  … [b] turn 1, 12 tokens, 9…\n  … [b root/1.3] turn 1, 0 t…\n  … and 2 more\n"+wrapOn)
	c.end()
	c.refresh()
	c.line("after")
	assert.Equal(t, written(), "\x1b[3A\r\x1b[Jafter\n")
}

func TestLiveLinesAreForTerminalsOnly(t *testing.T) {
	a := &app{env: func(string) string { return "" }}
	assert.Assert(t, a.newLiveLines(&strings.Builder{}, nil) == nil)
}

func TestAChildsWordsAreNotShown(t *testing.T) {
	var screen strings.Builder
	w := &watcher{screen: &console{out: &screen}, titles: &titles{}}
	send := func(agent runtime.Path, e runtime.Event) {
		e.Agent, e.Label = agent, "look"
		w.observe(e)
	}
	for _, agent := range []runtime.Path{"root/1.1", "root/1.2"} {
		send(agent, runtime.Event{Kind: runtime.EventRunStart, Text: "the brief"})
		send(agent, runtime.Event{Kind: runtime.EventAnswer, Answer: &runtime.Answer{Message: runtime.Message{Content: "its words", Calls: []runtime.Call{{}}}}})
		send(agent, runtime.Event{Kind: runtime.EventCallStart, Call: &runtime.CallRecord{Name: "run_bash", Arguments: `{"command":"a \u003e b\u202e"}`}})
		send(agent, runtime.Event{Kind: runtime.EventCallEnd, Call: &runtime.CallRecord{Name: "run_bash", Verdict: runtime.VerdictAllow, Result: "its output"}})
	}
	send("root/1.1", runtime.Event{Kind: runtime.EventCallEnd, Call: &runtime.CallRecord{Name: "run_bash", Verdict: runtime.VerdictAskDeny, Result: "Error [permission_denied]: Denied: no"}})
	send("root/1.1", runtime.Event{Kind: runtime.EventCallEnd, Call: &runtime.CallRecord{Name: "read_file", Verdict: runtime.VerdictAllow, Result: "Error [tool_error]: no file"}})
	assert.Equal(t, screen.String(), `  ↳ [look] run_bash {"command":"a > b‹U+202E›"}
  ↳ [look root/1.2] run_bash {"command":"a > b‹U+202E›"}
  ↳ [look] run_bash denied: Error [permission_denied]: Denied: no
  ↳ [look] read_file failed: Error [tool_error]: no file
`)
}

func TestReadableLeavesWhatIsNoJSON(t *testing.T) {
	for text, want := range map[string]string{
		`{"a":"\u003c\u0026\u00e9\n"}`: `{"a":"<&é\n"}`,
		`{"a": 1.0}`:                   `{"a":1.0}`,
		`{"a":`:                        `{"a":`,
		`{"a":1,"a":2}`:                `{"a":1,"a":2}`,
		``:                             ``,
	} {
		assert.Equal(t, readable(text), want)
	}
}
