package record

import (
	"context"
	"fmt"
	"strings"

	"github.com/tapetree/tapetree/runtime"
	"github.com/tapetree/tapetree/transcripts"
)

// Outcome answers a call from its tool line when its tool does not run live, or
// when its arguments hold a secret that only the recording knew. A call that
// started an agent always runs: the agent has exchanges of its own.
func (r *Replayer) Outcome(p runtime.Place, c runtime.CallRecord) (runtime.Verdict, string, bool, error) {
	at := place{Agent: p.Agent, Turn: p.Turn, Call: c.Number}
	if _, isChild := r.agents[p.Agent.Child(p.Turn, c.Number)]; isChild {
		return "", "", false, nil
	}
	live := r.options.Live != nil && r.options.Live(c.Name)
	if live && !HasSecret(c.Arguments) {
		return "", "", false, nil
	}
	t := r.useCall(at)
	if t == nil {
		message := fmt.Sprintf("no tool line for call %s (%s)", callName(at), c.Name)
		r.breakOff()
		r.ledger.add(at, codeMissing, message, r.missDetail(at, message, nil, nil))
		return "", "", false, fmt.Errorf("replay call %s (%s) of %s: %w", callName(at), c.Name, r.file.Path, ErrMissing)
	}
	r.compareCall(at, t.line, &c)
	r.mu.Lock()
	r.taped[at] = true
	r.mu.Unlock()
	if live {
		r.ledger.mu.Lock()
		r.ledger.secret++
		r.ledger.mu.Unlock()
	}
	return t.line.Verdict, string(r.options.Fold.ExpandJSON([]byte(t.line.Result))), true, nil
}

// useCall marks the tool line at a place as used; nil when there is none.
func (r *Replayer) useCall(at place) *callTape {
	r.mu.Lock()
	defer r.mu.Unlock()
	t := r.calls[at]
	if t != nil {
		t.used = true
	}
	return t
}

// Observe compares live verdicts and results with the tool lines, and why each
// agent stopped.
func (r *Replayer) Observe(e runtime.Event) {
	switch e.Kind {
	case runtime.EventCallEnd:
		r.callEnded(place{Agent: e.Agent, Turn: e.Turn, Call: e.Call.Number}, e.Call)
	case runtime.EventRunEnd:
		r.mu.Lock()
		defer r.mu.Unlock()
		if e.Run.Stop == "" { // a fault of ours, which the caller hears of
			r.broken = true
			return
		}
		r.stops[e.Agent] = e.Run.Stop
	}
}

func (r *Replayer) callEnded(at place, call *runtime.CallRecord) {
	r.mu.Lock()
	taped := r.taped[at]
	r.mu.Unlock()
	r.ledger.mu.Lock()
	r.ledger.verdicts[at] = !taped
	r.ledger.mu.Unlock()
	if taped {
		return
	}
	t := r.useCall(at)
	if t == nil {
		message := fmt.Sprintf("no tool line for call %s (%s)", callName(at), call.Name)
		r.ledger.add(at, codeMissing, message, r.missDetail(at, message, nil, nil))
		return
	}
	r.compareCall(at, t.line, call)
	r.compareVerdict(at, t.line, call)
	r.compareResult(at, t.line, call)
}

// compareCall holds what the model asked for against the tool line.
func (r *Replayer) compareCall(at place, line *transcripts.Call, call *runtime.CallRecord) {
	d := r.callDiff()
	if line.Name != call.Name {
		d.add("name", line.Name, call.Name)
	}
	recorded, sent := line.Arguments, r.normalText(call.Arguments)
	if recorded != sent {
		if same, ok := d.arguments("arguments", recorded, sent); !ok && !d.plain(recorded, sent) || ok && !same {
			d.add("arguments", recorded, sent)
		}
	}
	if len(d.found) > 0 {
		r.rebase.call(at, line, ChangedArguments, line.Name+" "+line.Arguments, call.Name+" "+sent, func(line *transcripts.Call) {
			line.Name, line.Arguments, line.ID = call.Name, sent, r.options.Redact.member("id", call.ID)
		})
	}
	r.settleCall(at, "the call differs from its tool line", d)
}

// compareVerdict compares how the call was judged; a line without a verdict
// demands none.
func (r *Replayer) compareVerdict(at place, line *transcripts.Call, call *runtime.CallRecord) {
	if line.Verdict == "" || line.Verdict.Class() == call.Verdict.Class() {
		return
	}
	r.mu.Lock()
	known := r.asked[at]
	r.mu.Unlock()
	if known {
		return
	}
	found := []difference{{"verdict", string(line.Verdict), string(call.Verdict), nil}}
	r.rebase.call(at, line, ChangedVerdict, string(line.Verdict), string(call.Verdict), func(line *transcripts.Call) {
		line.Verdict = call.Verdict
	})
	r.ledger.add(at, codeVerdict, callName(at)+" "+summary(found), r.detail(at, "the call was judged otherwise", nil, found))
}

// compareResult compares what the call gave, and the agent it started.
func (r *Replayer) compareResult(at place, line *transcripts.Call, call *runtime.CallRecord) {
	d := r.callDiff()
	recorded, got := line.Result, r.normalText(call.Result)
	switch {
	case recorded == got:
		if got != call.Result {
			d.uses[usePlaceholders]++
		}
	case !d.plain(recorded, got):
		d.add("result", recorded, got)
	}
	var child runtime.Path
	if call.Child != nil {
		child = call.Child.Agent
	}
	if len(d.found) > 0 {
		r.rebase.call(at, line, ChangedResult, recorded, got, func(line *transcripts.Call) { line.Result = r.rebase.knownText(&r.secrets, got) })
	}
	if line.Child != child {
		r.rebase.call(at, line, ChangedResult, orAbsent(string(line.Child)), orAbsent(string(child)), func(line *transcripts.Call) { line.Child = child })
		d.add("child", orAbsent(string(line.Child)), orAbsent(string(child)))
	}
	r.settleCall(at, "the live result differs from the tool line", d)
}

func orAbsent(text string) string {
	if text == "" {
		return absent
	}
	return text
}

func (r *Replayer) callDiff() *diff {
	return &diff{rules: r.options.Volatile, ids: &pairs{}, secrets: &r.secrets, uses: map[string]int{}}
}

func (r *Replayer) settleCall(at place, what string, d *diff) {
	if len(d.found) == 0 {
		r.ledger.used(d.uses)
		return
	}
	r.ledger.add(at, codeToolResult, callName(at)+" "+summary(d.found), r.detail(at, what, nil, d.found))
}

// normalText brings a live text into the form that transcripts hold.
func (r *Replayer) normalText(text string) string {
	return normalText(r.options.Fold, r.options.Redact, text)
}

// normalText folds and redacts a text; where it is JSON it stays JSON.
func normalText(fold *runtime.Folder, redact *Redactor, text string) string {
	return string(redact.JSON(fold.FoldJSON([]byte(text))))
}

// unusedCalls lists tool lines of used turns that no call came to.
func (r *Replayer) unusedCalls() []note {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.broken {
		return nil
	}
	var notes []note
	for at, t := range r.calls {
		if t.used || !r.turnUsed(at) {
			continue
		}
		message := fmt.Sprintf("the tool line of call %s (%s) was never used", callName(at), t.line.Name)
		notes = append(notes, note{at: at, finding: Finding{Code: codeExtra, Agent: at.Agent, Turn: at.Turn, Message: message}})
	}
	return notes
}

// turnUsed reports whether the turn of a call was played, or was never recorded;
// the calls of a turn that was passed over are not listed one by one.
func (r *Replayer) turnUsed(at place) bool {
	t := r.agents[at.Agent]
	if t == nil {
		return true
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	known := false
	for i, e := range t.exchanges {
		if e.Turn == at.Turn {
			known = true
			if t.used[i] {
				return true
			}
		}
	}
	return !known
}

// stopNotes lists agents that ended otherwise than recorded.
func (r *Replayer) stopNotes() []note {
	if r.file.End == nil {
		return nil
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	var notes []note
	add := func(agent runtime.Path, message string) {
		notes = append(notes, note{at: place{Agent: agent, Turn: lastTurn}, finding: Finding{Code: codeStop, Agent: agent, Message: message}})
	}
	recorded := map[runtime.Path]bool{}
	for _, stop := range r.file.End.Stops {
		recorded[stop.Agent] = true
		if got, ended := r.stops[stop.Agent]; ended && got != stop.Reason {
			add(stop.Agent, fmt.Sprintf("recorded stop %s, now %s", stop.Reason, got))
		} else if !ended && !r.broken {
			add(stop.Agent, fmt.Sprintf("recorded stop %s, now the agent did not end", stop.Reason))
		}
	}
	for agent, got := range r.stops {
		if !recorded[agent] {
			add(agent, fmt.Sprintf("no stop recorded, now %s", got))
		}
	}
	return notes
}

// lastTurn sorts what concerns an agent's end after all its turns.
const lastTurn = 1 << 30

// Approver gives back the recorded person's answers.
func (r *Replayer) Approver() runtime.Approver { return tapeApprover{r} }

type tapeApprover struct{ r *Replayer }

// Ask answers from the tool line of the call in question. A question the
// recording has no answer to is denied and becomes a finding.
func (a tapeApprover) Ask(ctx context.Context, q runtime.Question) (runtime.Reply, error) {
	if err := ctx.Err(); err != nil {
		return runtime.Reply{}, err
	}
	at := place{Agent: q.Agent, Turn: q.Turn, Call: q.Call}
	verdict := runtime.Verdict("")
	t := a.r.calls[at]
	if t != nil {
		verdict = t.line.Verdict
	}
	switch {
	case verdict == runtime.VerdictAskAllow,
		verdict == runtime.VerdictAllow && a.r.allow[q.Tool]: // "allow for this session" had settled it
		return runtime.Reply{Allow: true}, nil
	case verdict.Class() == "denied":
		return runtime.Reply{Reason: denialReason(t.line.Result)}, nil
	}
	a.r.mu.Lock()
	a.r.asked[at] = true
	a.r.mu.Unlock()
	found := []difference{{"verdict", orAbsent(string(verdict)), "a question to the user", nil}}
	message := fmt.Sprintf("%s asks the user about %s, and the recording holds no answer", callName(at), q.Tool)
	a.r.ledger.add(at, codeVerdict, message, a.r.missDetail(at, "a question without a recorded answer", nil, found))
	return runtime.Reply{Reason: "no recorded answer"}, nil
}

// denialReason reads the reason out of a recorded denial.
func denialReason(result string) string {
	_, reason, ok := strings.Cut(result, "Denied: ")
	if !ok {
		return ""
	}
	return reason
}
