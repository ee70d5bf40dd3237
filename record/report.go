package record

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/tapetree/tapetree/runtime"
	"github.com/tapetree/tapetree/transcripts"
)

// Report is what a replay found.
type Report struct {
	Grade         Grade     // the worst of all requests; "" when none was answered
	Findings      []Finding // replay/* only, in tree order
	Details       []string  // of findings that are errors: reports of at most 12 lines each, in tree order
	Warnings      []string  // the same of warnings, which are one line each unless the caller is strict
	Exchanges     int       // in the transcript
	Used          int       // of those
	VerdictsLive  int       // calls that were really judged
	VerdictsTotal int       // calls that ended
	VolatileUses  map[string]int
	SecretTaped   int // live calls answered from tape because their arguments hold a secret's placeholder
}

// Report sums the replay up. It is complete once the session has ended; the
// same session gives the same report in any order of events.
func (r *Replayer) Report() *Report {
	notes := slices.Clone(r.wholeNotes())
	for _, n := range r.faults.idle() {
		n.finding.Message = r.options.Redact.Mask(n.finding.Message)
		n.detail = n.finding.Message
		notes = append(notes, n)
	}
	used := 0
	for _, agent := range r.agentPaths() {
		t := r.agents[agent]
		t.mu.Lock()
		notes = append(notes, r.unused(t)...)
		notes = append(notes, t.historyNote()...)
		for _, u := range t.used {
			if u {
				used++
			}
		}
		t.mu.Unlock()
	}
	if !r.foreign {
		notes = append(notes, r.unusedCalls()...)
		notes = append(notes, r.stopNotes()...)
	}

	r.ledger.mu.Lock()
	defer r.ledger.mu.Unlock()
	report := &Report{
		Grade:         r.ledger.grade,
		Exchanges:     len(r.file.Exchanges),
		Used:          used,
		VerdictsTotal: len(r.ledger.verdicts),
		VolatileUses:  maps.Clone(r.ledger.uses),
		SecretTaped:   r.ledger.secret,
	}
	for _, live := range r.ledger.verdicts {
		if live {
			report.VerdictsLive++
		}
	}
	for _, n := range merged(sorted(append(notes, r.ledger.notes...))) {
		report.Findings = append(report.Findings, n.finding)
		switch {
		case n.detail == "":
		case Severity(n.finding.Code) == "warning":
			report.Warnings = append(report.Warnings, n.detail)
		default:
			report.Details = append(report.Details, n.detail)
		}
	}
	return report
}

func (r *Replayer) agentPaths() []runtime.Path {
	paths := make([]runtime.Path, 0, len(r.agents))
	for path := range r.agents {
		paths = append(paths, path)
	}
	slices.SortFunc(paths, comparePaths)
	return paths
}

// wholeNotes are the findings about the recording itself.
func (r *Replayer) wholeNotes() []note {
	end := r.file.End
	message := ""
	switch {
	case end == nil:
		message = fmt.Sprintf("the recording broke off after %s; record it again: tapetree record %s",
			counted(len(r.file.Exchanges), "exchange"), r.options.Name)
	case end.Exchanges != len(r.file.Exchanges):
		message = fmt.Sprintf("the end line counts %s, the file holds %d; record it again: tapetree record %s",
			counted(end.Exchanges, "exchange"), len(r.file.Exchanges), r.options.Name)
	default:
		return nil
	}
	return []note{{finding: Finding{Code: codePartial, Message: message}}}
}

// unused lists what an agent never asked for. The agent's lock is held.
func (r *Replayer) unused(t *agentTape) []note {
	var left []*transcripts.Exchange
	for i, e := range t.exchanges {
		if !t.used[i] && !r.brokenOffByUser(t, e) {
			left = append(left, e)
		}
	}
	if len(left) == 0 {
		return nil
	}
	message := fmt.Sprintf("exchange %s was never asked for", exchangeName(left[0]))
	if n := len(left); n > 1 {
		message = fmt.Sprintf("%s from %s to %s were never asked for",
			counted(n, "exchange"), exchangeName(left[0]), exchangeName(left[n-1]))
	}
	at := placeOf(left[0])
	return []note{{at: at, finding: Finding{Code: codeExtra, Agent: at.Agent, Turn: at.Turn, Message: message}}}
}

// brokenOffByUser reports whether e is the request during which the recorded
// session was interrupted, or a failed try before it: a replay that is
// interrupted there asks neither.
func (r *Replayer) brokenOffByUser(t *agentTape, e *transcripts.Exchange) bool {
	if r.recordedStop(baseOf(e.Agent)) != runtime.StopCancelled {
		return false
	}
	if e.StreamEnd == runtime.EndClientClosed {
		return true
	}
	_, failed := runtime.Decode(e.Reply(), r.options.Dialect)
	return failed != nil && e.Turn == t.exchanges[len(t.exchanges)-1].Turn
}

// CutOff reports whether the recorded session was interrupted before the
// request at a place had its whole answer.
func (r *Replayer) CutOff(at runtime.Place) bool {
	if r.recordedStop(baseOf(at.Agent)) != runtime.StopCancelled {
		return false
	}
	t := r.agents[at.Agent]
	if t == nil {
		return true
	}
	i, found := t.index[[2]int{at.Turn, max(1, at.Try)}]
	return !found || t.exchanges[i].StreamEnd == runtime.EndClientClosed
}

// CutOffIn returns the try of a turn during which, or before which, the recorded
// session was interrupted; 0 for a turn that was answered or never asked for.
func (r *Replayer) CutOffIn(agent runtime.Path, turn int) int {
	t := r.agents[agent]
	if t == nil || r.recordedStop(agent) != runtime.StopCancelled {
		return 0
	}
	try := 1
	for ; ; try++ {
		i, found := t.index[[2]int{turn, try}]
		if !found {
			break
		}
		e := t.exchanges[i]
		if e.StreamEnd == runtime.EndClientClosed {
			return try
		}
		if _, failed := runtime.Decode(e.Reply(), r.options.Dialect); failed == nil {
			return 0
		}
	}
	if try == 1 {
		return 0
	}
	return try
}

// BrokenOff is what a request comes to that is interrupted at ended, the end of
// its context, where the recorded one was: the same error, with what the
// recorded answer had said until then.
func (r *Replayer) BrokenOff(ended error, req *runtime.Request) error {
	at := place{Agent: req.Place.Agent, Turn: req.Place.Turn, Try: max(1, req.Place.Try)}
	t := r.agents[at.Agent]
	if t == nil || !r.CutOff(req.Place) {
		return ended
	}
	t.mu.Lock()
	i, found := t.index[[2]int{at.Turn, at.Try}]
	unused := found && !t.used[i]
	t.mu.Unlock()
	if !unused {
		return ended
	}
	e, err := r.take(t, at, askedBy(req))
	if err != nil {
		return ended
	}
	_, err = runtime.Decode(expandReply(r.options.Fold, e), r.dialect(at.Agent))
	if failed, ok := errors.AsType[*runtime.UpstreamError](err); ok && failed.Partial != "" {
		return fmt.Errorf("%w: %w", ended, failed)
	}
	return ended
}

func (r *Replayer) recordedStop(agent runtime.Path) runtime.StopReason {
	if r.file.End == nil {
		return ""
	}
	for _, stop := range r.file.End.Stops {
		if stop.Agent == agent {
			return stop.Reason
		}
	}
	return ""
}

// maxDetail is how many lines one report may have.
const maxDetail = 12

// detail writes the report of one finding: where, the nearest exchange, what
// differs, and what would accept it: a rebase, which keeps the responses.
func (r *Replayer) detail(at place, what string, nearest *transcripts.Exchange, found []difference) string {
	return r.detailBy("rebase", at, what, nearest, found)
}

// missDetail is detail of a finding that only a new recording mends: there is
// nothing to answer with.
func (r *Replayer) missDetail(at place, what string, nearest *transcripts.Exchange, found []difference) string {
	return r.detailBy("record", at, what, nearest, found)
}

func (r *Replayer) detailBy(command string, at place, what string, nearest *transcripts.Exchange, found []difference) string {
	lines := []string{headline(at) + ": " + what}
	if nearest != nil {
		lines = append(lines, fmt.Sprintf("  nearest: exchange %s (%s:%d)", exchangeName(nearest), r.file.Path, nearest.Line))
	}
	shown := found
	if len(lines)+3*len(found)+1 > maxDetail {
		shown = found[:2]
	}
	for _, d := range shown {
		recorded, sent := d.shorten(160)
		lines = append(lines, "  "+cmp.Or(d.pointer, "/"), "    recorded: "+recorded, "    sent:     "+sent)
	}
	if rest := len(found) - len(shown); rest > 0 {
		lines = append(lines, fmt.Sprintf("  and %s, the next at %s", counted(rest, "more difference"), found[len(shown)].pointer))
	}
	lines = append(lines, "  to accept it: tapetree "+command+" "+r.options.Name)
	return strings.Join(lines, "\n")
}

func headline(at place) string {
	text := fmt.Sprintf("%s turn %d", at.Agent, at.Turn)
	if at.Try > 1 {
		text += fmt.Sprintf(" try %d", at.Try)
	}
	if at.Call > 0 {
		text += fmt.Sprintf(" call %d", at.Call)
	}
	return text
}

// summary writes differences in one line: the first, and how many more.
func summary(found []difference) string {
	recorded, sent := found[0].shorten(60)
	text := fmt.Sprintf("%s: recorded %s, sent %s", cmp.Or(found[0].pointer, "/"), recorded, sent)
	if n := len(found) - 1; n > 0 {
		text += ", and " + counted(n, "more difference")
	}
	return text
}

// shorten cuts both texts to limit bytes, around the place where they part.
func (d difference) shorten(limit int) (recorded, sent string) {
	if len(d.recorded) <= limit && len(d.sent) <= limit {
		return window(d.recorded, 0, limit), window(d.sent, 0, limit)
	}
	part := d.part
	if part == nil {
		n := partBytes(d.recorded, d.sent)
		part = &parting{n, n}
	}
	before := min(limit/4, part.recorded, part.sent)
	return window(d.recorded, part.recorded-before, limit), window(d.sent, part.sent-before, limit)
}

// window cuts limit bytes out of text at rune borders, and marks the cuts.
func window(text string, from, limit int) string {
	from = min(from, len(text))
	for from > 0 && from < len(text) && !utf8.RuneStart(text[from]) {
		from--
	}
	to := min(len(text), from+limit)
	for to < len(text) && to > from && !utf8.RuneStart(text[to]) {
		to--
	}
	out := text[from:to]
	if from > 0 {
		out = "…" + out
	}
	if to < len(text) {
		out += "…"
	}
	return strings.ReplaceAll(out, "\n", `\n`)
}
