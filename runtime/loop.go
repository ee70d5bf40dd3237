package runtime

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"
)

// maxTries is how often one turn asks: once, and twice more after a fault that
// is worth it.
const maxTries = 3

// loop is one run of a Runner: what changes while it goes on.
type loop struct {
	*Runner
	run     *Run
	history History
	ids     map[string]bool // every call id in the history
	stale   int             // turns since the last todo_write
	written string          // the last text the model wrote
	checked int             // messages of the history whose pairing was checked
	space   space           // how the history stands to the budget
}

// fault marks an error of ours on its way up through task handlers, so that
// none of them takes it for a failure of the child.
type fault struct{ error }

func (f *fault) Unwrap() error { return f.error }

// begin checks the runner, writes the first messages and fires
// UserPromptSubmit. A stop reason means that the run ends before its first
// request.
func (l *loop) begin(ctx context.Context) (StopReason, error) {
	if l.Model == nil {
		return "", fmt.Errorf("run agent %s: it has no model", l.path())
	}
	if l.MaxTurns < 1 {
		return "", fmt.Errorf("run agent %s: MaxTurns is %d, must be at least 1", l.path(), l.MaxTurns)
	}
	if l.System != "" {
		l.history.Append(SystemMessage(l.System))
	}
	l.history.Append(UserMessage(l.run.Prompt))
	block := l.fireHooks(ctx, HookEvent{Kind: HookUserPromptSubmit, Prompt: l.run.Prompt})
	switch {
	case ctx.Err() != nil:
		return StopCancelled, nil
	case block != nil:
		return StopRefused, nil
	default:
		return "", nil
	}
}

// turns goes from turn to turn until one ends the run.
func (l *loop) turns(ctx context.Context) (StopReason, error) {
	for number := 1; number <= l.MaxTurns; number++ {
		l.emit(Event{Kind: EventTurnStart, Turn: number})
		if ctx.Err() != nil {
			return StopCancelled, nil
		}
		turn := &Turn{Number: number}
		stop, err := l.turn(ctx, turn)
		l.run.Turns = append(l.run.Turns, *turn)
		if stop != "" || err != nil {
			return stop, err
		}
	}
	return StopTurnLimit, nil
}

// turn asks the model once, with the tries it takes, and acts on the answer.
// No stop reason means that the run goes on.
func (l *loop) turn(ctx context.Context, turn *Turn) (StopReason, error) {
	l.remind(turn)
	if stop, err := l.fit(ctx, turn); stop != "" || err != nil {
		return stop, err
	}
	if err := l.checkPairing(turn.Number); err != nil {
		return "", err
	}
	turn.Sent = l.history.View()
	place, failed, err := l.askTurn(ctx, turn)
	switch {
	case err != nil:
		return "", err
	case failed != nil:
		l.run.Status = failed.Status
		return StopUpstreamError, nil
	case turn.Answer == nil:
		return StopCancelled, nil
	}
	ids := l.keep(turn)
	l.emit(Event{Kind: EventAnswer, Turn: turn.Number, Answer: turn.Answer})
	if len(turn.Answer.Message.Calls) == 0 {
		return l.end(ctx, turn.Answer), nil
	}
	before := l.todoVersion()
	if err := l.answerCalls(ctx, place, turn, ids); err != nil {
		return "", err
	}
	l.stale++
	if l.todoVersion() != before {
		l.stale = 0
	}
	if ctx.Err() != nil {
		return StopCancelled, nil
	}
	return "", nil
}

// keep puts the answer into the history, its usage into the account, and
// returns the ids of its calls as they now stand.
func (l *loop) keep(turn *Turn) []string {
	answer := turn.Answer
	l.run.Usage = l.run.Usage.Add(answer.Usage)
	l.wrote(answer.Message.Content)
	message, ids := l.repairIDs(turn.Number, answer.Message)
	l.history.Append(message)
	return ids
}

// end classifies an answer without calls by its content. What the provider
// gives as the reason counts only where content cannot tell.
func (l *loop) end(ctx context.Context, answer *Answer) StopReason {
	switch {
	case ctx.Err() != nil:
		return StopCancelled
	case answer.Refused():
		if strings.TrimSpace(answer.Message.Content) == "" {
			l.wrote(answer.Refusal)
		}
		return StopRefused
	case answer.Cut():
		return StopTruncated
	case strings.TrimSpace(answer.Message.Content) == "":
		return StopEmpty
	default:
		l.run.Final = answer.Message.Content
		return StopAnswer
	}
}

func (l *loop) wrote(text string) {
	if strings.TrimSpace(text) != "" {
		l.written = text
	}
}

// remind puts the reminder of a stale plan before the turn's request.
func (l *loop) remind(turn *Turn) {
	if l.path().Depth() > 0 {
		return
	}
	if turn.Reminder = l.Todo.reminder(l.stale); turn.Reminder != "" {
		l.history.Append(UserMessage(turn.Reminder))
		l.emit(Event{Kind: EventReminder, Turn: turn.Number, Text: turn.Reminder})
	}
}

func (l *loop) todoVersion() int {
	if l.Todo == nil {
		return 0
	}
	return l.Todo.version()
}

// askTurn sends the turn's request. It sets the turn's answer, or returns the
// last fault, or neither when ctx ended.
func (l *loop) askTurn(ctx context.Context, turn *Turn) (Place, *UpstreamError, error) {
	req := l.request(Place{Agent: l.path(), Turn: turn.Number}, turn.Sent)
	req.Tools = l.Tools.Definitions()
	answer, failed, err := l.ask(ctx, req, func(failed *UpstreamError, cancelled bool) {
		l.wrote(failed.Partial)
		if cancelled {
			l.run.Usage = l.run.Usage.Add(failed.Usage)
		} else {
			turn.Failed = append(turn.Failed, FailedTry{Status: failed.Status, Kind: failed.Kind})
			l.failTry(turn, failed)
		}
	})
	turn.Answer = answer
	return req.Place, failed, err
}

// request is what every request of this agent has, also one of a side
// conversation.
func (l *loop) request(place Place, messages View) *Request {
	return &Request{Place: place, Model: l.ModelName, Messages: messages, Params: l.Params, Stream: l.Stream}
}

// ask sends a request, again after faults worth it, each time as the next try
// of its place. It returns the answer, or the last fault, or neither when ctx
// ended. It notes each fault, also one that came with the end of ctx.
func (l *loop) ask(ctx context.Context, req *Request, note func(failed *UpstreamError, cancelled bool)) (*Answer, *UpstreamError, error) {
	for {
		req.Place.Try++
		answer, err := l.complete(At(ctx, req.Place), *req)
		if err == nil {
			return answer, nil, nil
		}
		failed, isUpstream := errors.AsType[*UpstreamError](err)
		cancelled := ctx.Err() != nil
		if cancelled && (isUpstream || isContextError(err)) {
			if isUpstream {
				note(failed, true)
			}
			return nil, nil, nil
		}
		if !isUpstream {
			return nil, nil, fmt.Errorf("ask model for %s turn %d: %w", req.Place.Agent, req.Place.Turn, err)
		}
		note(failed, false)
		if !failed.Retry || req.Place.Try == maxTries {
			return nil, failed, nil
		}
		if !l.wait(ctx, req.Place.Try+1, failed.RetryAfter) {
			return nil, nil, nil
		}
	}
}

// complete is one try. A model that crashes is a fault of ours.
func (l *loop) complete(ctx context.Context, req Request) (answer *Answer, err error) {
	defer func() {
		if crash := recover(); crash != nil {
			answer, err = nil, fmt.Errorf("the model client crashed: %v", crash)
		}
	}()
	answer, err = l.Model.Complete(ctx, &req)
	if err == nil && answer == nil {
		err = errors.New("the model client gave no answer")
	}
	return answer, err
}

// failTry counts what a failed try cost and tells of it.
func (l *loop) failTry(turn *Turn, failed *UpstreamError) {
	l.run.Usage = l.run.Usage.Add(failed.Usage)
	l.emit(Event{Kind: EventTryFailed, Turn: turn.Number, Err: failed})
}

// wait waits before the given try and reports false when ctx ended.
func (l *loop) wait(ctx context.Context, try int, asked time.Duration) bool {
	if l.Backoff == nil {
		return ctx.Err() == nil
	}
	timer := time.NewTimer(l.Backoff(try, asked))
	defer timer.Stop()
	select {
	case <-timer.C:
		return ctx.Err() == nil
	case <-ctx.Done():
		return false
	}
}

func isContextError(err error) bool {
	return errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded)
}
