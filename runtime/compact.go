package runtime

import (
	"cmp"
	"context"
	_ "embed"
	"fmt"
	"strings"
)

// bytesPerToken turns bytes of a message into tokens: the usual rule of thumb
// for English text and code. An estimate, the same on every machine.
const bytesPerToken = 4

//go:embed compact.md
var compactPrompt string

// space is how the history of a run stands to its budget.
type space struct {
	sizes []int // folded bytes of each message of the history that was measured
	held  int   // side conversations held so far
	told  bool  // that the budget cannot be kept
}

// bytes is the size of all measured messages.
func (s *space) bytes() int { return sum(s.sizes) }

func sum(sizes []int) int {
	total := 0
	for _, size := range sizes {
		total += size
	}
	return total
}

// measure takes the messages that are new since the last time.
func (l *loop) measure() {
	for _, m := range l.history.View().Messages()[len(l.space.sizes):] {
		l.space.sizes = append(l.space.sizes, len(l.Budget.Fold.FoldJSON(m.Raw)))
	}
}

// fit keeps the next request within the budget: over it, the older part of the
// history gives way to a summary. A stop reason means that ctx ended meanwhile.
func (l *loop) fit(ctx context.Context, turn *Turn) (StopReason, error) {
	if l.Budget.Tokens <= 0 {
		return "", nil
	}
	l.measure()
	before := l.space.bytes() / bytesPerToken
	if before <= l.Budget.Tokens {
		return "", nil
	}
	messages := l.history.View().Messages()
	from, to := droppable(messages, l.space.sizes, l.Budget.Tokens*bytesPerToken)
	if from == to {
		l.tellOver(turn, before)
		return "", nil
	}
	l.space.held++
	done := &Compaction{Side: l.path().Side("compact", l.space.held), Dropped: to - from, Before: before}
	if err := l.summarize(ctx, turn, messages[from:to], done); err != nil {
		return "", err
	}
	if ctx.Err() != nil {
		return StopCancelled, nil
	}
	l.replace(from, to, UserMessage(done.message()))
	l.measure()
	done.After = l.space.bytes() / bytesPerToken
	turn.Compact = done
	l.emitCompact(turn.Number, *done)
	return "", nil
}

// tellOver says, once for a run, that a request goes out over the budget
// because it holds nothing that could be dropped.
func (l *loop) tellOver(turn *Turn, tokens int) {
	if !l.space.told {
		l.space.told = true
		l.emitCompact(turn.Number, Compaction{Before: tokens, After: tokens})
	}
}

func (l *loop) emitCompact(turn int, done Compaction) {
	l.emit(Event{Kind: EventCompact, Turn: turn, Compact: &done})
}

// replace puts one message in the place of a part of the history, which is a
// new list from then on.
func (l *loop) replace(from, to int, summary Message) {
	old := l.history.View().Messages()
	l.history = History{}
	l.history.Append(old[:from]...)
	l.history.Append(summary)
	l.history.Append(old[to:]...)
	l.checked, l.space.sizes = 0, nil
}

// droppable returns the part of a history that a summary can stand for: what
// lies between the first user message and a tail of whole turns. The tail
// begins with a user message or with an assistant message that has calls, so
// that no result is parted from its call; it holds at least the last turn, and
// more of them as long as they take up no more than half of what the beginning
// leaves of the budget. A part without an answer of the model is not worth a
// summary: from == to.
func droppable(messages []Message, sizes []int, budget int) (from, to int) {
	for from < len(messages) && messages[from].Role != RoleUser {
		from++
	}
	from = min(from+1, len(messages))
	last := len(messages) - 1
	for last > from && len(messages[last].Calls) == 0 {
		last--
	}
	room := (budget - sum(sizes[:from])) / 2
	to = from
	for i, tail := last, sum(sizes[last+1:]); i > from; i-- {
		if tail += sizes[i]; tail > room && i < last {
			break
		}
		if messages[i].Role == RoleUser || len(messages[i].Calls) > 0 {
			to = i
		}
	}
	for _, m := range messages[from:max(from, to)] {
		if m.Role == RoleAssistant {
			return from, to
		}
	}
	return from, from
}

// summarize asks for the summary in a side conversation and counts what it
// costs. An upstream that gives none leaves the summary empty.
func (l *loop) summarize(ctx context.Context, turn *Turn, dropped []Message, done *Compaction) error {
	prompt := cmp.Or(l.Budget.Prompt, strings.TrimSpace(compactPrompt))
	var side History
	side.Append(SystemMessage(prompt), UserMessage(l.digest(dropped, len(prompt))))
	answer, _, err := l.ask(ctx, l.request(Place{Agent: done.Side, Turn: 1}, side.View()), func(failed *UpstreamError, cancelled bool) {
		if !cancelled {
			done.Usage = done.Usage.Add(failed.Usage)
			l.failTry(turn, failed)
		}
	})
	if err != nil {
		return err
	}
	if answer != nil {
		done.Usage = done.Usage.Add(answer.Usage)
		l.run.Usage = l.run.Usage.Add(answer.Usage)
		if !answer.Refused() {
			done.Summary = trimBlank(answer.Message.Content)
		}
	}
	return nil
}

// message is what stands in the history for the dropped part.
func (c *Compaction) message() string {
	if c.Summary == "" {
		return fmt.Sprintf("[The history got too long. %d older messages were taken out here, and no summary of them could be made. "+
			"Look again at whatever you need of them.]", c.Dropped)
	}
	return fmt.Sprintf("[The history got too long. This is a summary of %d older messages that stood here.]\n\n%s", c.Dropped, c.Summary)
}
