package runtime

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
)

// answerCalls gives every call of a turn its one result and puts the results
// into the history in call order. Also after a fault of ours each call has a
// result, so that the history stays paired.
func (l *loop) answerCalls(ctx context.Context, place Place, turn *Turn, ids []string) error {
	asked := turn.Answer.Message.Calls
	turn.Calls = make([]CallRecord, len(asked))
	for i, call := range asked {
		turn.Calls[i] = CallRecord{Number: i + 1, ID: ids[i], Name: call.Name, Arguments: call.Arguments}
	}
	cut := turn.Answer.Cut()
	var ours error
	if !cut && l.runTogether(turn.Calls) {
		ours = l.answerTogether(ctx, place, turn.Calls)
	} else {
		ours = l.answerInTurn(ctx, place, turn.Calls, cut)
	}
	for _, record := range turn.Calls {
		l.history.Append(ToolMessage(record.ID, record.Result))
	}
	return ours
}

// answerInTurn answers one call after another. After a fault of ours none of
// the rest begins.
func (l *loop) answerInTurn(ctx context.Context, place Place, calls []CallRecord, cut bool) (ours error) {
	for i := range calls {
		record := &calls[i]
		if ours == nil {
			ours = l.answerCall(ctx, place, record, cut)
		}
		if ours != nil {
			record.refuse(VerdictInterrupted, errInterrupted)
		}
	}
	return ours
}

// answerCall gives one call its verdict and result. An error is a fault of
// ours, and leaves the call without an end event.
func (l *loop) answerCall(ctx context.Context, place Place, record *CallRecord, cut bool) error {
	l.emitCall(EventCallStart, place, record)
	var err error
	switch {
	case ctx.Err() != nil:
		record.refuse(VerdictInterrupted, errInterrupted)
	case cut:
		record.refuse(VerdictCut, &ToolError{CodeTruncatedCall, "The call was cut off and was not run"})
	default:
		err = l.decide(ctx, place, record)
	}
	if err == nil {
		l.emitCall(EventCallEnd, place, record)
	}
	return err
}

// decide takes the outcome from tape, or goes through the steps; each step
// that refuses ends it.
func (l *loop) decide(ctx context.Context, place Place, record *CallRecord) error {
	if l.Tape != nil && record.Name != TaskToolName { // a child runs, whatever its calls do
		verdict, result, taped, err := l.Tape.Outcome(place, *record)
		if err != nil {
			return fmt.Errorf("answer call %d.%d of %s from tape: %w", place.Turn, record.Number, place.Agent, err)
		}
		if taped {
			record.Verdict, record.Result = verdict, result
			l.replayTodo(record)
			return nil
		}
	}
	tool, known := l.Tools.lookup(record.Name)
	if !known {
		record.refuse(VerdictUnknown, &ToolError{CodeUnknownTool, "Unknown tool: " + record.Name})
		return nil
	}
	arguments, refused := tool.arguments(record.Arguments)
	if refused != nil {
		record.refuse(VerdictInvalid, refused)
		return nil
	}
	if allowed, err := l.permit(ctx, place, record); !allowed || err != nil {
		return err
	}
	return l.handle(ctx, place, record, tool, arguments)
}

// permit asks PreToolUse and then the policy. Not allowed without an error
// means that the record has its refusal.
func (l *loop) permit(ctx context.Context, place Place, record *CallRecord) (bool, error) {
	block := l.fireHooks(ctx, record.hookEvent(HookPreToolUse, place))
	switch {
	case ctx.Err() != nil:
		record.refuse(VerdictInterrupted, errInterrupted)
		return false, nil
	case block != nil:
		record.refuse(VerdictBlocked, &ToolError{CodeHookBlocked, block.reason})
		return false, nil
	case l.Policy == nil:
		record.Verdict = VerdictAllow
		return true, nil
	}
	judgement, err := l.Policy.Judge(ctx, l.Runner, place, record)
	if ctx.Err() != nil && (err == nil || isContextError(err)) {
		record.refuse(VerdictInterrupted, errInterrupted)
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("judge call %d.%d of %s: %w", place.Turn, record.Number, place.Agent, err)
	}
	switch judgement.Verdict {
	case VerdictAllow, VerdictAskAllow:
		record.Verdict = judgement.Verdict
		return true, nil
	case VerdictDeny, VerdictAskDeny:
		record.refuse(judgement.Verdict, &ToolError{CodePermissionDenied, judgement.Reason})
		return false, nil
	default:
		return false, fmt.Errorf("judge call %d.%d of %s: the policy gave verdict %q", place.Turn, record.Number, place.Agent, judgement.Verdict)
	}
}

// handle runs the tool, when the gate lets it, and, unless the call was
// interrupted, PostToolUse, which cannot take back what was done.
func (l *loop) handle(ctx context.Context, place Place, record *CallRecord, tool Tool, arguments jsontext.Value) error {
	leave, err := l.enter(ctx, place, record, tool)
	if leave == nil {
		return err
	}
	result, err := invoke(ctx, tool, Invocation{
		Arguments: arguments, Place: place, Call: record.Number, Runner: l.Runner, record: record,
	})
	leave()
	ours, isFault := errors.AsType[*fault](err)
	refused, isRefusal := asToolError(err)
	switch {
	case isFault:
		return ours
	case ctx.Err() != nil && !tool.settles, isContextError(err):
		record.refuse(VerdictInterrupted, errInterrupted)
		return nil
	case isRefusal:
		record.refuse(verdictOf(refused.Code, record), refused)
	case err != nil:
		return fmt.Errorf("run call %d.%d of %s (%s): %w", place.Turn, record.Number, place.Agent, record.Name, err)
	default:
		record.Result = result
	}
	if record.Verdict != VerdictInterrupted {
		l.fireHooks(ctx, record.hookEvent(HookPostToolUse, place))
	}
	return nil
}

// enter waits at the gate with a call that can change something; the others,
// and task, whose child's calls wait there themselves, go on at once. No leave
// without an error means that the record has its refusal.
func (l *loop) enter(ctx context.Context, place Place, record *CallRecord, tool Tool) (leave func(), err error) {
	if l.Gate == nil || tool.Effect == EffectRead || tool.Name == TaskToolName {
		return func() {}, nil
	}
	leave, err = l.Gate.Enter(ctx, place, *record)
	switch {
	case err == nil && leave != nil:
		return leave, nil
	case err == nil:
		return func() {}, nil
	case ctx.Err() != nil && isContextError(err):
		record.refuse(VerdictInterrupted, errInterrupted)
		return nil, nil
	default:
		return nil, fmt.Errorf("wait for the turn of call %d.%d of %s (%s): %w", place.Turn, record.Number, place.Agent, record.Name, err)
	}
}

// verdictOf is the verdict of a call that the handler itself refused: the file
// tools hold to the boundary again when they open a file, and a task whose
// child was cancelled did not come to its end either.
func verdictOf(code Code, record *CallRecord) Verdict {
	if record.Child != nil && record.Child.Stop == StopCancelled {
		return VerdictInterrupted
	}
	switch code {
	case CodePermissionDenied:
		return VerdictDeny
	case CodeInvalidArguments:
		return VerdictInvalid
	case CodeInterrupted:
		return VerdictInterrupted
	default:
		return record.Verdict
	}
}

// replayTodo keeps the root's plan true when todo_write is answered from tape.
func (l *loop) replayTodo(record *CallRecord) {
	if l.Todo != nil && record.Name == TodoToolName && record.Verdict.Class() == "allowed" &&
		!strings.HasPrefix(record.Result, "Error [") {
		l.Todo.replay(record.Arguments)
	}
}

// refuse ends a call with an error for the model.
func (c *CallRecord) refuse(verdict Verdict, err *ToolError) {
	c.Verdict, c.Result = verdict, err.Error()
}

func (c *CallRecord) hookEvent(kind HookKind, place Place) HookEvent {
	return HookEvent{
		Kind: kind, Turn: place.Turn, Call: c.Number,
		Tool: c.Name, Arguments: c.Arguments, Result: c.Result,
	}
}

// emitCall shows the observer the call as it is now, never the live record.
func (l *loop) emitCall(kind EventKind, place Place, record *CallRecord) {
	seen := *record
	l.emit(Event{Kind: kind, Turn: place.Turn, Call: &seen})
}
