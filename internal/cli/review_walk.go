package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/tapetree/tapetree/golden"
)

// The states of an item in a walk.
const (
	undecided = iota
	accepted
	rejected
	skipped
	gone // nothing waits any more
)

// walk is a review of items, one by one.
type walk struct {
	app   *app
	items []*reviewItem
	state []int
	at    int
	steps []walkStep
}

// walkStep is what one key decided.
type walkStep struct {
	items  []int
	memory *golden.Memory // nil: no file was changed
}

const reviewHelp = `a  accept: the new history becomes the golden one; new requests are recorded
r  reject: the new history is removed; requests stay as recorded
s  skip: decide later
A  accept all of this kind: the changes in which the same lines go and come
u  undo the last decision: its files are as they were before
q  quit: decisions made so far stay
?  this help
`

// walk asks about the items one by one. The code is that of listItems.
func (a *app) walk(ctx context.Context, items []*reviewItem, code int) error {
	if len(items) == 0 {
		a.sayNothingWaits(code)
		return nil
	}
	keys := newKeys(a.in)
	w := &walk{app: a, items: items, state: make([]int, len(items))}
	for {
		left := w.next()
		if !left && !w.undoable() {
			return w.say("%s\n", w.sum())
		}
		if err := w.ask(left); err != nil {
			return err
		}
		key, err := keys.read(ctx)
		if err != nil {
			return w.broken(err, left)
		}
		quit, err := w.do(key, left)
		if err != nil || quit {
			return err
		}
	}
}

// ask shows the item and the question or, when none is left, what came of all:
// the last decision can be undone like any other.
func (w *walk) ask(left bool) error {
	if left {
		return w.show()
	}
	return w.say("\n%s\nu undo, q quit > ", w.sum())
}

// undoable reports whether a decision changed any file.
func (w *walk) undoable() bool {
	return slices.ContainsFunc(w.steps, func(s walkStep) bool { return s.memory != nil })
}

// next goes to the next item that is undecided; false at the end.
func (w *walk) next() bool {
	for ; w.at < len(w.items); w.at++ {
		if w.state[w.at] != undecided {
			continue
		}
		if w.items[w.at].pending == nil {
			return true
		}
		if now, err := w.items[w.at].store.Look(w.items[w.at].name); err == nil && now == nil {
			w.state[w.at] = gone
			continue
		}
		return true
	}
	return false
}

// broken ends the walk without a decision: the input has ended, or Ctrl-C came.
func (w *walk) broken(err error, left bool) error {
	switch {
	case errors.Is(err, io.EOF) && !left:
		return w.say("\n")
	case errors.Is(err, io.EOF):
		if err := w.say("\nthe input has ended: %s\n", w.sum()); err != nil {
			return err
		}
		return silent(exitFindings)
	case errors.Is(err, context.Canceled):
		_ = w.say("\n") // what was decided is said on stderr
		return &exitError{exitInterrupted, fmt.Errorf("interrupted: %s", w.sum())}
	default:
		return fmt.Errorf("read an answer: %w", err)
	}
}

// sum counts the decisions.
func (w *walk) sum() string {
	count := [5]int{}
	for _, state := range w.state {
		count[state]++
	}
	text := fmt.Sprintf("%d accepted, %d rejected, %d skipped", count[accepted], count[rejected], count[skipped])
	if count[undecided] > 0 {
		text += fmt.Sprintf(", %d not decided", count[undecided])
	}
	return text
}

func (w *walk) say(format string, args ...any) error {
	_, err := fmt.Fprintf(w.app.out, format, args...)
	return err
}

// show writes the item and the question.
func (w *walk) show() error {
	item := w.items[w.at]
	text := fmt.Sprintf("\n(%d/%d) %s\n", w.at+1, len(w.items), golden.Visible(w.app.secrets().Mask(item.line())))
	text += w.colored(golden.Visible(w.app.secrets().Mask(item.diff())))
	kin := ""
	if n := len(w.kin()); n > 1 {
		kin = fmt.Sprintf(", A all %d of this kind", n)
	}
	return w.say("%sa accept, r reject, s skip%s, u undo, q quit, ? help > ", text, kin)
}

// colored colors a diff where that is wanted.
func (w *walk) colored(diff string) string {
	if !w.app.colored(w.app.out) {
		return diff
	}
	colors := map[byte]string{'-': "\x1b[31m", '+': "\x1b[32m", '@': "\x1b[36m"}
	lines := strings.SplitAfter(diff, "\n")
	for i, line := range lines {
		if line != "" && colors[line[0]] != "" {
			lines[i] = colors[line[0]] + strings.TrimSuffix(line, "\n") + "\x1b[0m\n"
		}
	}
	return strings.Join(lines, "")
}

// kin are the undecided items of the kind of this one.
func (w *walk) kin() []int {
	var list []int
	kind := w.items[w.at].kind()
	for i, item := range w.items {
		if w.state[i] == undecided && item.kind() == kind {
			list = append(list, i)
		}
	}
	return list
}

// do does what a key says.
func (w *walk) do(key string, left bool) (quit bool, err error) {
	if !left && key != "u" && key != "q" {
		return false, w.say("\n%q is no answer\n", key)
	}
	switch key {
	case "a":
		return false, w.decide([]int{w.at}, accepted)
	case "r":
		return false, w.decide([]int{w.at}, rejected)
	case "s":
		return false, w.decide([]int{w.at}, skipped)
	case "A":
		return false, w.decide(w.kin(), accepted)
	case "u":
		return false, w.undo()
	case "q":
		if !left {
			return true, w.say("\n")
		}
		return true, w.say("\n%s\n", w.sum())
	case "?":
		return false, w.say("\n%s", wrapped(reviewHelp, columns(w.app.out)))
	default:
		return false, w.say("\n%q is no answer; ? helps\n", key)
	}
}

// decide takes over a decision on items. What was changed meanwhile is shown
// anew and asked again.
func (w *walk) decide(items []int, state int) error {
	if err := w.say("\n"); err != nil {
		return err
	}
	for _, i := range items {
		if err := w.decideOne(i, state); err != nil {
			return err
		}
	}
	w.joinSteps(items)
	return nil
}

// joinSteps makes what one key decided one step, to be undone as a whole.
func (w *walk) joinSteps(items []int) {
	if len(items) < 2 {
		return
	}
	at := len(w.steps)
	for at > 0 && slices.Contains(items, w.steps[at-1].items[0]) {
		at--
	}
	joined := walkStep{}
	for _, step := range w.steps[at:] {
		joined.items = append(joined.items, step.items...)
		joined.memory = joined.memory.Join(step.memory)
	}
	if len(joined.items) > 0 {
		w.steps = append(w.steps[:at], joined)
	}
}

func (w *walk) decideOne(i, state int) error {
	item := w.items[i]
	step := walkStep{items: []int{i}}
	if state != skipped {
		memory, err := golden.Remember(item.files()...)
		if err != nil {
			return err
		}
		said, err := item.decide(state == accepted)
		switch {
		case errors.Is(err, errGone):
			w.state[i] = gone
			return nil
		case errors.Is(err, golden.ErrMoved):
			return w.lookAgain(i, err)
		case err != nil && item.refused != nil:
			return w.say("%s\n", golden.Visible(w.app.secrets().Mask(err.Error())))
		case err != nil:
			return err
		}
		if err := memory.Changed(); err != nil {
			return err
		}
		step.memory = memory
		if err := w.say("%s\n", golden.Visible(said)); err != nil {
			return err
		}
	}
	w.state[i] = state
	w.steps = append(w.steps, step)
	return nil
}

// lookAgain reads an item that was changed since it was shown.
func (w *walk) lookAgain(i int, moved error) error {
	if err := w.say("%s: look again\n", golden.Visible(moved.Error())); err != nil {
		return err
	}
	err := w.items[i].look()
	if errors.Is(err, errGone) {
		w.state[i] = gone
		return w.say("nothing waits there any more\n")
	}
	return err
}

// undone names what was undone: the item, or how many of each sort.
func (w *walk) undone(items []int) string {
	if len(items) == 1 {
		return w.items[items[0]].line()
	}
	histories := 0
	for _, i := range items {
		if w.items[i].pending != nil {
			histories++
		}
	}
	var parts []string
	switch histories {
	case 0:
	case 1:
		parts = append(parts, "1 history")
	default:
		parts = append(parts, fmt.Sprintf("%d histories", histories))
	}
	if scenarios := len(items) - histories; scenarios > 0 {
		parts = append(parts, "requests of "+plural(scenarios, "scenario"))
	}
	return strings.Join(parts, ", ")
}

// undo takes the last decision back and goes to its item.
func (w *walk) undo() error {
	if len(w.steps) == 0 {
		return w.say("\nnothing to undo\n")
	}
	last := w.steps[len(w.steps)-1]
	if err := last.memory.Undo(); errors.Is(err, golden.ErrMoved) {
		return w.say("\n%s: not undone\n", golden.Visible(err.Error()))
	} else if err != nil {
		return err
	}
	w.steps = w.steps[:len(w.steps)-1]
	for _, i := range last.items {
		w.state[i] = undecided
	}
	for i, state := range w.state { // what had gone with it waits again
		if state == gone {
			w.state[i] = undecided
		}
	}
	w.at = slices.Min(last.items)
	return w.say("\nundone: %s\n", golden.Visible(w.app.secrets().Mask(w.undone(last.items))))
}
