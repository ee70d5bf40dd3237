package scenarios

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/tapetree/tapetree/record"
	"github.com/tapetree/tapetree/runtime"
	"github.com/tapetree/tapetree/transcripts"
)

// delegation judges how one agent passes work to others.
type delegation struct {
	history    *transcripts.History
	run        *runtime.Run
	thresholds Thresholds
	failed     failedResults
	findings   []record.Finding
}

// judgeDelegation looks for work that is badly passed on, from what can be
// counted: delegation/*.
func judgeDelegation(h *transcripts.History, agents []agent, t Thresholds) []record.Finding {
	var findings []record.Finding
	failed := failuresOf(agents)
	for i := range agents {
		run := agents[i].run
		if run == nil || len(run.Children()) == 0 {
			continue
		}
		d := &delegation{history: h, run: run, thresholds: t, failed: failed}
		for i := range run.Turns {
			turn := &run.Turns[i]
			for j := range turn.Calls {
				if turn.Calls[j].Child != nil && turn.Calls[j].Number > 0 { // else nobody delegated
					d.handed(turn, &turn.Calls[j])
				}
			}
			d.parallelWrites(turn)
		}
		d.editUnread()
		d.hiddenFailures()
		findings = append(findings, d.findings...)
	}
	return findings
}

func (d *delegation) report(code string, agent runtime.Path, turn int, format string, args ...any) {
	d.findings = append(d.findings, record.Finding{Code: "delegation/" + code, Agent: agent, Turn: turn, Message: fmt.Sprintf(format, args...)})
}

// handed judges one call that started an agent.
func (d *delegation) handed(turn *runtime.Turn, call *runtime.CallRecord) {
	child := call.Child
	_, brief := transcripts.Brief(call.Arguments)
	brief = cmp.Or(brief, child.Prompt)
	if why := vague(brief, d.thresholds.get("delegation.vague-brief.words")); why != "" && call.Arguments != "" {
		d.report("vague-brief", d.run.Agent, turn.Number, "call %d: the brief %s", call.Number, why)
	}
	text := cmp.Or(trimBlank(child.Final), reportBody(call.Result))
	d.longReport(turn.Number, call, text)
	if len(child.Turns) == 0 {
		return
	}
	if child.Final != "" {
		d.verbatim(turn.Number, call)
		if n := callsOf(child); n <= d.thresholds.get("delegation.trivial-task.calls") {
			d.report("trivial-task", d.run.Agent, turn.Number, "call %d: %s needed %s", call.Number, child.Agent, amount(n, "call"))
		}
	}
	d.readerWrites(call, brief)
}

// reportBody is a result without the line of statistics that our runner adds.
func reportBody(result string) string {
	body, _, _ := cutLast(result, "\n\n(subagent \"")
	return trimBlank(body)
}

func (d *delegation) longReport(turn int, call *runtime.CallRecord, text string) {
	words, signs := length(text)
	limit, signLimit := d.thresholds.get("delegation.long-report.words"), d.thresholds.get("delegation.long-report.characters")
	switch {
	case words > limit:
		d.report("long-report", d.run.Agent, turn, "call %d: the report has %d words, %d are enough", call.Number, words, limit)
	case signs > signLimit:
		d.report("long-report", d.run.Agent, turn, "call %d: the report has %d Chinese, Japanese or Korean characters, %d are enough", call.Number, signs, signLimit)
	}
}

// verbatim measures how much of a report stands in the results of the child's
// own tools.
func (d *delegation) verbatim(turn int, call *runtime.CallRecord) {
	text := trimBlank(call.Child.Final)
	if len(text) < max(1, d.thresholds.get("delegation.verbatim-report.bytes")) {
		return
	}
	index := newShingles([]incomingText{{text: text}}, shingleSize)
	copied := make([]bool, len(text))
	eachResult(call.Child, func(result string) {
		index.scan(result, func(start int, place shinglePlace) int {
			begin, end := index.widen(result, start, place)
			at := int(place.offset) - (start - begin)
			for i := range end - begin {
				copied[at+i] = true
			}
			return end
		})
	})
	n := 0
	for _, c := range copied {
		if c {
			n++
		}
	}
	if percent := n * 100 / len(text); percent >= d.thresholds.get("delegation.verbatim-report.percent") {
		d.report("verbatim-report", d.run.Agent, turn, "call %d: %d percent of the report is copied from the tool results of %s", call.Number, percent, call.Child.Agent)
	}
}

// eachResult visits the results of an agent's own tools.
func eachResult(run *runtime.Run, visit func(result string)) {
	for i := range run.Turns {
		for j := range run.Turns[i].Calls {
			if run.Turns[i].Calls[j].Child == nil {
				visit(run.Turns[i].Calls[j].Result)
			}
		}
	}
}

// callsOf is how many calls a child made.
func callsOf(run *runtime.Run) int {
	n := 0
	for _, turn := range run.Turns {
		n += len(turn.Calls)
	}
	return n
}

func amount(n int, noun string) string {
	switch n {
	case 0:
		return "no " + noun
	case 1:
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}

// parallelWrites finds files that children of one turn wrote both. Where the
// file says when they ran, those that ran one after another are none.
func (d *delegation) parallelWrites(turn *runtime.Turn) {
	writers := map[string][]*runtime.Run{}
	var order []string
	for _, call := range turn.Calls {
		if call.Child == nil {
			continue
		}
		for _, path := range d.writtenBy(call.Child) {
			if writers[path] == nil {
				order = append(order, path)
			}
			writers[path] = append(writers[path], call.Child)
		}
	}
	for _, path := range order {
		list := writers[path]
		for i := 1; i < len(list); i++ {
			if d.overlap(list[i-1], list[i]) {
				d.report("parallel-writes", d.run.Agent, turn.Number, "%s and %s both write %s", list[i-1].Agent, list[i].Agent, path)
				break
			}
		}
	}
}

// writtenBy lists the files that an agent and those below it wrote, sorted.
func (d *delegation) writtenBy(run *runtime.Run) []string {
	var list []string
	run.Walk(func(r *runtime.Run) {
		for i := range r.Turns {
			for j := range r.Turns[i].Calls {
				call := &r.Turns[i].Calls[j]
				for _, f := range filesOf(call) {
					if f.use != reads && d.worked(call) {
						list = append(list, f.path)
					}
				}
			}
		}
	})
	slices.Sort(list)
	return slices.Compact(list)
}

// overlap reports whether two agents ran at the same time, as far as is known.
func (d *delegation) overlap(a, b *runtime.Run) bool {
	beganA, endedA, known := d.span(a)
	beganB, endedB, knownB := d.span(b)
	return !known || !knownB || beganA < endedB && beganB < endedA
}

func (d *delegation) span(run *runtime.Run) (began, ended int64, known bool) {
	for i, turn := range run.Turns {
		spot := d.history.Spots[transcripts.TurnKey{Agent: run.Agent, Turn: turn.Number}]
		if !spot.Timed {
			return 0, 0, false
		}
		if i == 0 {
			began = int64(spot.Start)
		}
		ended = int64(spot.End)
	}
	return began, ended, len(run.Turns) > 0
}

// editUnread finds files that the agent edited and never read, and a child had
// read.
func (d *delegation) editUnread() {
	own := map[string]bool{}           // files that it knows of its own
	child := map[string]*runtime.Run{} // files that only a child has read
	var commands strings.Builder
	for i := range d.run.Turns {
		turn := &d.run.Turns[i]
		for j := range turn.Calls {
			call := &turn.Calls[j]
			if command := commandOf(call); command != "" {
				commands.WriteString(command + "\n")
			}
			for _, f := range filesOf(call) {
				if f.use == edits && d.worked(call) && !own[f.path] && child[f.path] != nil && !strings.Contains(commands.String(), baseOf(f.path)) {
					d.report("edit-unread", d.run.Agent, turn.Number, "call %d (%s): only %s has read %s", call.Number, call.Name, child[f.path].Agent, f.path)
				}
				own[f.path] = true
			}
			if call.Child != nil {
				for _, path := range d.readBy(call.Child) {
					child[path] = call.Child
				}
			}
		}
	}
}

func baseOf(path string) string { return path[strings.LastIndexByte(path, '/')+1:] }

// readBy lists the files that an agent read with a file tool.
func (d *delegation) readBy(run *runtime.Run) []string {
	var list []string
	for i := range run.Turns {
		for j := range run.Turns[i].Calls {
			call := &run.Turns[i].Calls[j]
			for _, f := range filesOf(call) {
				if f.use == reads && d.worked(call) {
					list = append(list, f.path)
				}
			}
		}
	}
	return list
}
