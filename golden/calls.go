package golden

import (
	"slices"

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
	made, uncalled := r.visible(turn.Calls)
	p := &pairs{turn: turn.Number, calls: made, sent: sent, results: results, known: len(after) > 0}
	for n := range max(len(made), len(sent), len(results)) {
		r.pair(p, n)
		uncalled = slices.DeleteFunc(uncalled, func(c runtime.CallRecord) bool {
			more := n < len(made) && c.Number == made[n].Number
			if more {
				r.agent(c.Child, r.depth+1)
			}
			return more
		})
	}
	for _, c := range uncalled {
		r.agent(c.Child, r.depth)
	}
}

// visible parts the calls that a turn made from those that stand for nothing but
// an agent: a program that is not ours may start several by one call, or one by
// none that can be seen.
func (r *runWriter) visible(calls []runtime.CallRecord) (made, uncalled []runtime.CallRecord) {
	for _, c := range calls {
		if r.options.Foreign && c.Child != nil && c.ID == "" && c.Arguments == "" && c.Verdict == runtime.VerdictInterrupted {
			uncalled = append(uncalled, c)
		} else {
			made = append(made, c)
		}
	}
	return made, uncalled
}

// pairs are the calls of one turn: as they were made, as the history has them,
// and the results there. Without a known history the records tell the results.
type pairs struct {
	turn    int
	calls   []runtime.CallRecord
	sent    []runtime.Call
	results []runtime.Message
	known   bool
}

// pair writes the call at index n, the child it started, and the result that
// stands at its place.
func (r *runWriter) pair(p *pairs, n int) {
	record := runtime.CallRecord{Number: n + 1}
	if n < len(p.calls) {
		record = p.calls[n]
	}
	number := ""
	switch {
	case n < len(p.sent):
		number = r.ids.name(r.run.Agent, p.sent[n].ID)
		if n >= len(p.calls) {
			record.Name, record.Arguments = p.sent[n].Name, p.sent[n].Arguments
		}
	case n < len(p.calls):
		number = r.ids.name(r.run.Agent, record.ID)
	}
	at := hookPlace{agent: r.run.Agent, turn: p.turn, call: record.Number}
	if number != "" {
		r.call(number, record.Name, record.Arguments)
		r.hookLines(r.depth+1, at)
	}
	if record.Child != nil {
		r.agent(record.Child, r.depth+1)
	}
	at.after = true
	r.hookLines(r.depth+1, at)
	verdict := r.verdict(&record)
	switch {
	case n < len(p.results):
		r.text(r.depth, r.ids.name(r.run.Agent, p.results[n].CallID)+" "+verdict, r.run.Agent, p.results[n].Content)
	case p.known || n >= len(p.calls) || r.options.Foreign && record.Result == "":
		r.line(r.depth, number+" has no result")
	default:
		r.text(r.depth, number+" "+verdict, r.run.Agent, record.Result)
	}
}

// verdict is the word before a call's result.
func (r *runWriter) verdict(record *runtime.CallRecord) string {
	switch word := record.Verdict.Class(); {
	case word != "":
		return word
	case r.options.Foreign:
		return "result"
	default:
		return "not run"
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
