package transcripts

import (
	"cmp"
	"errors"
	"slices"
	"strings"

	"github.com/tapetree/tapetree/runtime"
)

// runBuilder builds one agent's run turn by turn.
type runBuilder struct {
	run    *runtime.Run
	calls  []*Call     // tool lines not yet used, in order
	sides  []sideTries // compactions not yet placed, in order
	sent   func(*Exchange) runtime.View
	failed *runtime.UpstreamError
	wrote  string // the last text the model wrote
}

// turn adds the turn whose tries are given.
func (b *runBuilder) turn(tries []*Exchange) error {
	last := tries[len(tries)-1]
	b.strays(last.Turn)
	t := runtime.Turn{Number: last.Turn, Sent: b.sent(last)}
	if len(b.run.Turns) == 0 {
		b.run.Model = last.Model
		b.run.Prompt = lastUserText(t.Sent.Messages())
	} else {
		b.settle(&t)
		if err := b.compact(&t); err != nil {
			return err
		}
	}
	b.failed = nil
	for _, x := range tries {
		answer, err := x.decoded()
		if err == nil {
			t.Answer, t.Sent = answer, b.sent(x)
			b.run.Usage = b.run.Usage.Add(answer.Usage)
			b.write(answer.Message.Content)
			if answer.Refused() && strings.TrimSpace(answer.Message.Content) == "" {
				b.write(answer.Refusal)
			}
			b.failed = nil
			continue
		}
		var failed *runtime.UpstreamError
		if !errors.As(err, &failed) {
			return err
		}
		b.failed = failed
		t.Failed = append(t.Failed, runtime.FailedTry{Status: failed.Status, Kind: failed.Kind})
		b.run.Usage = b.run.Usage.Add(failed.Usage)
		b.write(failed.Partial)
	}
	t.Calls = b.callsOf(&t)
	b.run.Turns = append(b.run.Turns, t)
	return nil
}

func (b *runBuilder) write(text string) {
	if strings.TrimSpace(text) != "" {
		b.wrote = text
	}
}

// callsOf returns the calls of a turn: its tool lines, and for those of the
// answer that have none, what the answer says of them.
func (b *runBuilder) callsOf(t *runtime.Turn) []runtime.CallRecord {
	var records []runtime.CallRecord
	known := map[int]bool{}
	for len(b.calls) > 0 && b.calls[0].Turn == t.Number {
		records = append(records, recordOf(b.calls[0]))
		known[b.calls[0].Call] = true
		b.calls = b.calls[1:]
	}
	if t.Answer == nil {
		return records
	}
	for i, call := range t.Answer.Message.Calls {
		if !known[i+1] {
			records = append(records, runtime.CallRecord{
				Number: i + 1, ID: call.ID, Name: call.Name, Arguments: call.Arguments,
			})
		}
	}
	slices.SortStableFunc(records, func(a, b runtime.CallRecord) int { return cmp.Compare(a.Number, b.Number) })
	return records
}

func recordOf(c *Call) runtime.CallRecord {
	return runtime.CallRecord{
		Number: c.Call, ID: c.ID, Name: c.Name, Arguments: c.Arguments, Verdict: c.Verdict, Result: c.Result,
	}
}

// settle reads from the next turn's request, after its last answer, what became
// of the turn before: the results of calls without tool line, and a reminder.
func (b *runBuilder) settle(next *runtime.Turn) {
	before := &b.run.Turns[len(b.run.Turns)-1]
	fresh := next.Sent.Messages()
	for i, m := range slices.Backward(fresh) {
		if m.Role == runtime.RoleAssistant {
			fresh = fresh[i+1:]
			break
		}
	}
	results := map[string][]string{}
	var reminders []string
	for _, m := range fresh {
		switch m.Role {
		case runtime.RoleTool:
			results[m.CallID] = append(results[m.CallID], m.Content)
		case runtime.RoleUser:
			reminders = append(reminders, m.Content)
		}
	}
	next.Reminder = strings.Join(reminders, "\n")
	for i := range before.Calls {
		c := &before.Calls[i]
		given := results[c.ID]
		if len(given) == 0 {
			continue
		}
		if c.Verdict == "" {
			c.Result = given[0]
		}
		results[c.ID] = given[1:]
	}
}

// strays keeps tool lines of turns before the given one that have no exchange.
func (b *runBuilder) strays(before int) {
	for len(b.calls) > 0 && b.calls[0].Turn < before {
		c := b.calls[0]
		b.calls = b.calls[1:]
		n := len(b.run.Turns)
		if n == 0 || b.run.Turns[n-1].Number != c.Turn {
			b.run.Turns = append(b.run.Turns, runtime.Turn{Number: c.Turn})
			n++
		}
		b.run.Turns[n-1].Calls = append(b.run.Turns[n-1].Calls, recordOf(c))
	}
}

// finish settles why the agent ended and what its history is. Without a
// recorded stop reason it is read from the last turn.
func (b *runBuilder) finish(stop runtime.StopReason) {
	run := b.run
	var last *runtime.Turn
	for i := range run.Turns {
		if run.Turns[i].Sent.Len() > 0 {
			last = &run.Turns[i]
		}
	}
	if last != nil {
		run.History = history(last)
	}
	run.Stop = stop
	if stop == "" {
		run.Stop = stopOf(last, b.failed)
	}
	if run.Stop == runtime.StopAnswer && last != nil && last.Answer != nil {
		run.Final = last.Answer.Message.Content
	} else {
		run.Partial = b.wrote
	}
	if run.Stop == runtime.StopUpstreamError && b.failed != nil {
		run.Status = b.failed.Status
	}
}

// stopOf judges an end that was not recorded, as the runtime would have.
func stopOf(last *runtime.Turn, failed *runtime.UpstreamError) runtime.StopReason {
	switch {
	case failed != nil:
		return runtime.StopUpstreamError
	case last == nil || last.Answer == nil || len(last.Answer.Message.Calls) > 0:
		return runtime.StopCancelled
	case last.Answer.Refused():
		return runtime.StopRefused
	case last.Answer.Cut():
		return runtime.StopTruncated
	case strings.TrimSpace(last.Answer.Message.Content) == "":
		return runtime.StopEmpty
	default:
		return runtime.StopAnswer
	}
}

// history is the last request's list, the answer, and the results of its
// calls that have a tool line.
func history(last *runtime.Turn) runtime.View {
	if last.Answer == nil {
		return last.Sent
	}
	var h runtime.History
	h.Append(last.Sent.Messages()...)
	h.Append(repaired(last))
	for _, c := range last.Calls {
		if c.Verdict != "" {
			h.Append(runtime.ToolMessage(c.ID, c.Result))
		}
	}
	return h.View()
}

// repaired is the answer's message with the call ids that its tool lines have.
func repaired(last *runtime.Turn) runtime.Message {
	m := last.Answer.Message
	ids := make([]string, len(m.Calls))
	changed := false
	for i, call := range m.Calls {
		ids[i] = call.ID
		for _, c := range last.Calls {
			if c.Number == i+1 && c.ID != call.ID {
				ids[i], changed = c.ID, true
			}
		}
	}
	if !changed {
		return m
	}
	return m.WithCallIDs(ids)
}

// lastUserText is the text of the last user message.
func lastUserText(messages []runtime.Message) string {
	for _, m := range slices.Backward(messages) {
		if m.Role == runtime.RoleUser {
			return m.Content
		}
	}
	return ""
}
