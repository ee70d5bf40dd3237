package golden

import (
	"github.com/tapetree/tapetree/runtime"
)

// after returns the messages that follow the request of turn i in the history:
// as the next request sent them, or, at the end, as the history holds them.
func (r *runWriter) after(i int) []runtime.Message {
	sent := r.run.Turns[i].Sent.Len()
	at, history := sent, r.run.History
	if i+1 < len(r.run.Turns) {
		if next := &r.run.Turns[i+1]; next.Sent.Len() > sent-shift(next) {
			at, history = sent-shift(next), next.Sent
		}
	}
	if sent == 0 || at < 1 || history.Len() <= at || history.Messages()[at].Role != runtime.RoleAssistant {
		return nil
	}
	return history.Messages()[at:]
}

// shift is by how many messages the history was shorter before the request of
// a turn than after the turn before: one message stands for those that a
// compaction dropped.
func shift(turn *runtime.Turn) int {
	if turn.Compact == nil {
		return 0
	}
	return turn.Compact.Dropped - 1
}

// calls writes the calls of a turn with their results as the history holds
// them. The n-th result stands below the n-th call whatever its id says: where
// the pairing is broken, the numbers differ.
func (r *runWriter) calls(turn *runtime.Turn, after []runtime.Message) {
	var sent []runtime.Call
	var results []runtime.Message
	if len(after) > 0 {
		sent = after[0].Calls
		for _, m := range after[1:] {
			if m.Role != runtime.RoleTool {
				break
			}
			results = append(results, m)
		}
		r.seen = turn.Sent.Len() + 1 + len(results)
		if after[0].Content != r.said {
			r.text(r.depth, "history has instead", r.run.Agent, after[0].Content)
		}
	}
	for n := range max(len(turn.Calls), len(sent), len(results)) {
		r.pair(turn, n, sent, results, len(after) > 0)
	}
}

// pair writes the call at index n, the child it started, and the result that
// stands at its place. Without a known history the records tell the result.
func (r *runWriter) pair(turn *runtime.Turn, n int, sent []runtime.Call, results []runtime.Message, known bool) {
	record := runtime.CallRecord{Number: n + 1}
	if n < len(turn.Calls) {
		record = turn.Calls[n]
	}
	number := ""
	switch {
	case n < len(sent):
		number = r.ids.name(r.run.Agent, sent[n].ID)
		if n >= len(turn.Calls) {
			record.Name, record.Arguments = sent[n].Name, sent[n].Arguments
		}
	case n < len(turn.Calls):
		number = r.ids.name(r.run.Agent, record.ID)
	}
	at := hookPlace{agent: r.run.Agent, turn: turn.Number, call: record.Number}
	if number != "" {
		r.call(number, record.Name, record.Arguments)
		r.hookLines(r.depth+1, at)
	}
	if record.Child != nil {
		r.agent(record.Child, r.depth+1)
	}
	at.after = true
	r.hookLines(r.depth+1, at)
	verdict := record.Verdict.Class()
	if verdict == "" {
		verdict = "not run"
	}
	switch {
	case n < len(results):
		r.text(r.depth, r.ids.name(r.run.Agent, results[n].CallID)+" "+verdict, r.run.Agent, results[n].Content)
	case known || n >= len(turn.Calls):
		r.line(r.depth, number+" has no result")
	default:
		r.text(r.depth, number+" "+verdict, r.run.Agent, record.Result)
	}
}

// call writes one call.
func (r *runWriter) call(number, name, text string) {
	head := number + " " + visible(name)
	if text == "" {
		r.line(r.depth, head+" without arguments")
		return
	}
	args, isJSON := newArguments(text, func(s string) string { return r.clean(r.run.Agent, s) }, r.options.Full)
	if !isJSON {
		r.text(r.depth, head+" with arguments that are no JSON", r.run.Agent, text)
		return
	}
	if measure := args.fold(r.options.Full); measure != "" {
		r.line(r.depth, head+" with "+measure)
		r.lines(r.depth+1, args.lines)
	} else {
		r.line(r.depth, head+" "+args.lines[0])
		r.lines(r.depth, args.lines[1:])
	}
	for _, long := range args.below {
		p := newProse(long.text, r.options.Full)
		p.measure = "" // it stands in the arguments
		r.block(r.depth+1, long.name+" ", p)
	}
}
