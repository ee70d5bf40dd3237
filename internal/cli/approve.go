package cli

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"

	"github.com/tapetree/tapetree/golden"
	"github.com/tapetree/tapetree/runtime"
)

// approver picks who answers questions: everybody's yes, nobody, or the person
// at the terminal. Where that person cannot be asked it says so once.
func (a *app) approver(mode string, screen *console) (runtime.Approver, error) {
	switch mode {
	case "all":
		return yes{}, nil
	case "none":
		return nil, nil
	case "ask":
	default:
		return nil, usagef("--approve is ask, all or none, not %q", mode)
	}
	if !isTerminal(a.in) {
		a.say("stdin is no terminal, so nobody can be asked: what needs approval is denied (--approve all allows it)")
		return nil, nil
	}
	return newAsker(a.in, screen), nil
}

// yes allows every question.
type yes struct{}

func (yes) Ask(context.Context, runtime.Question) (runtime.Reply, error) {
	return runtime.Reply{Allow: true}, nil
}

// asker asks the person at the terminal, one question at a time. What was
// typed before a question stood on the screen answers nothing.
type asker struct {
	screen *console
	turn   sync.Mutex
	lines  chan string // closed at the end of the input
}

func newAsker(in io.Reader, screen *console) *asker {
	a := &asker{screen: screen, lines: make(chan string, typedAhead)}
	go func() {
		defer close(a.lines)
		reader := bufio.NewReader(in)
		for {
			line, err := reader.ReadString('\n')
			if line != "" {
				a.lines <- line
			}
			if err != nil {
				return
			}
		}
	}()
	return a
}

// typedAhead is how many lines that nobody asked for are read, to be dropped.
const typedAhead = 256

// errCannotAsk denies when the terminal is gone.
var errCannotAsk = errors.New("the terminal is closed")

// Ask shows the question and waits for an answer that can be understood.
func (a *asker) Ask(ctx context.Context, q runtime.Question) (runtime.Reply, error) {
	a.turn.Lock()
	defer a.turn.Unlock()
	defer a.screen.release()
	a.dropTyped()
	a.screen.question(questionText(q))
	for {
		line, err := a.read(ctx)
		if errors.Is(err, errCannotAsk) {
			a.screen.question("\n")
			return runtime.Reply{Reason: "nobody is there to ask"}, nil
		}
		if err != nil {
			a.screen.question("\n")
			return runtime.Reply{}, err
		}
		if reply, ok := parseReply(line); ok {
			return reply, nil
		}
		a.screen.question("  y, n, a, or n and a reason: ")
	}
}

// dropTyped throws away the lines that came before the question.
func (a *asker) dropTyped() {
	for {
		select {
		case _, ok := <-a.lines:
			if !ok {
				return
			}
		default:
			return
		}
	}
}

func (a *asker) read(ctx context.Context) (string, error) {
	select {
	case line, ok := <-a.lines:
		if !ok {
			return "", errCannotAsk
		}
		return strings.TrimSpace(line), nil
	case <-ctx.Done():
		return "", ctx.Err()
	}
}

// questionText shows who asks for what, and what can be answered. The arguments
// stand there in full: nothing is approved unseen.
func questionText(q runtime.Question) string {
	return fmt.Sprintf("\n%s wants %s %s\n  [y]es, [n]o, [a]lways %s in this session, or n and a reason: ",
		speaker(q.Agent, q.Label), golden.Visible(q.Tool), golden.Visible(readable(q.Arguments)), golden.Visible(q.Tool))
}

// parseReply reads an answer: y, n, a, or n followed by a reason. Anything
// else is asked again, so that a slip allows and denies nothing.
func parseReply(line string) (runtime.Reply, bool) {
	word, rest, _ := strings.Cut(line, " ")
	reason := strings.TrimSpace(rest)
	switch strings.ToLower(strings.TrimRight(word, ",:;")) {
	case "y", "yes":
		return runtime.Reply{Allow: true}, reason == ""
	case "a", "always":
		return runtime.Reply{Allow: true, Always: true}, reason == ""
	case "n", "no":
		return runtime.Reply{Reason: reason}, true
	default:
		return runtime.Reply{}, false
	}
}
