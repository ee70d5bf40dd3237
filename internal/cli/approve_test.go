package cli

import (
	"context"
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/tapetree/tapetree/runtime"
	"gotest.tools/v3/assert"
)

func TestParseReply(t *testing.T) {
	tests := []struct {
		line string
		want runtime.Reply
		ok   bool
	}{
		{"y", runtime.Reply{Allow: true}, true},
		{"Yes", runtime.Reply{Allow: true}, true},
		{"a", runtime.Reply{Allow: true, Always: true}, true},
		{"always", runtime.Reply{Allow: true, Always: true}, true},
		{"n", runtime.Reply{}, true},
		{"n, use the test folder", runtime.Reply{Reason: "use the test folder"}, true},
		{"no  not today ", runtime.Reply{Reason: "not today"}, true},
		{"", runtime.Reply{}, false},
		{"yse", runtime.Reply{}, false},
		{"y but not the second", runtime.Reply{Allow: true}, false},
		{"what is this", runtime.Reply{}, false},
	}
	for _, test := range tests {
		got, ok := parseReply(test.line)
		assert.Equal(t, ok, test.ok, test.line)
		if ok {
			assert.Equal(t, got, test.want, test.line)
		}
	}
}

var question = runtime.Question{ID: 1, Agent: "root/1.1", Label: "tidy up", Turn: 1, Call: 1, Tool: "shell", Arguments: "{\"command\":\"rm " + strings.Repeat("x", 200) + "\x1b[2K\"}"}

const asked = "\n↳ root/1.1 [tidy up] wants shell {\"command\":\"rm "

func TestAskShowsTheWholeQuestionAndAsksAgain(t *testing.T) {
	in, typed := io.Pipe()
	var screen strings.Builder
	a := newAsker(in, &console{out: &screen})
	done := make(chan runtime.Reply)
	go func() {
		reply, err := a.Ask(t.Context(), question)
		assert.Check(t, err)
		done <- reply
	}()
	waitFor(t, a.screen, asked)
	_, _ = io.WriteString(typed, "hm\nn too much\n")
	assert.Equal(t, <-done, runtime.Reply{Reason: "too much"})
	assert.Equal(t, screen.String(), asked+strings.Repeat("x", 200)+"‹ESC›[2K\"}\n  [y]es, [n]o, [a]lways shell in this session, or n and a reason:   y, n, a, or n and a reason: ")
}

// waitFor returns once text stands on the screen.
func waitFor(t *testing.T, c *console, text string) {
	t.Helper()
	for t.Context().Err() == nil {
		c.mu.Lock()
		found := strings.Contains(c.out.(*strings.Builder).String(), text)
		c.mu.Unlock()
		if found {
			return
		}
	}
}

func TestWhatWasTypedBeforeTheQuestionAnswersNothing(t *testing.T) {
	in, typed := io.Pipe()
	var screen strings.Builder
	a := newAsker(in, &console{out: &screen})
	_, _ = io.WriteString(typed, "y\ny\n")
	for len(a.lines) < 2 { // both lines are read
	}
	done := make(chan runtime.Reply)
	go func() {
		reply, _ := a.Ask(t.Context(), question)
		done <- reply
	}()
	waitFor(t, a.screen, asked)
	_, _ = io.WriteString(typed, "n\n")
	assert.Equal(t, <-done, runtime.Reply{})
}

func TestAskAtTheEndOfTheInputDenies(t *testing.T) {
	var screen strings.Builder
	a := newAsker(strings.NewReader(""), &console{out: &screen})
	for range 2 {
		reply, err := a.Ask(t.Context(), question)
		assert.NilError(t, err)
		assert.Equal(t, reply, runtime.Reply{Reason: "nobody is there to ask"})
	}
}

func TestAskEndsWithItsContext(t *testing.T) {
	in, _ := io.Pipe()
	a := newAsker(in, &console{out: io.Discard})
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := a.Ask(ctx, question)
	assert.Assert(t, errors.Is(err, context.Canceled))
}

func TestEventsWaitForTheAnswer(t *testing.T) {
	var screen strings.Builder
	c := &console{out: &screen}
	c.line("one")
	c.question("ask? ")
	c.line("two")
	assert.Equal(t, screen.String(), "one\nask? ")
	c.release()
	c.line("three")
	assert.Equal(t, screen.String(), "one\nask? two\nthree\n")
}

func TestNobodyToAskIsSaidOnce(t *testing.T) {
	var stderr strings.Builder
	a := &app{in: strings.NewReader("y\n"), err: &stderr}
	got, err := a.approver("ask", &console{out: io.Discard})
	assert.NilError(t, err)
	assert.Assert(t, got == nil)
	assert.Equal(t, stderr.String(), "stdin is no terminal, so nobody can be asked: what needs approval is denied (--approve all allows it)\n")
	got, err = a.approver("none", nil)
	assert.NilError(t, err)
	assert.Assert(t, got == nil)
	got, err = a.approver("all", nil)
	assert.NilError(t, err)
	reply, err := got.Ask(t.Context(), question)
	assert.NilError(t, err)
	assert.Equal(t, reply, runtime.Reply{Allow: true})
}
