package scenarios

import (
	"fmt"
	"strings"

	"github.com/tapetree/tapetree/runtime"
	"github.com/tapetree/tapetree/transcripts"
)

// childJobs is how many children of one turn a replay runs at once. Of a
// session that ran to its end the number changes nothing. One that was
// interrupted holds those children alone that had a place by then: its replay
// takes as many as were at work at once, whatever is wanted.
func (s *session) childJobs(wanted int) int {
	if s.scenario.Interrupt == nil {
		return wanted
	}
	if n := childrenAtOnce(s.tape); n > 0 {
		return n
	}
	return wanted
}

// childrenAtOnce is the most children of one turn that were at work at once in
// a recorded session; without a timing line, the most that one turn has. 0: it
// had no children.
func childrenAtOnce(tape *transcripts.File) int {
	began := map[runtime.Path]bool{}
	if tape.End != nil {
		for _, stop := range tape.End.Stops {
			began[stop.Agent] = true
		}
	}
	calls := map[string]turnOf{}
	total := map[turnOf]int{}
	for _, call := range tape.Calls {
		if !began[call.Child] || call.Child == "" {
			continue
		}
		at := turnOf{call.Agent, call.Turn}
		calls[fmt.Sprintf("%s#%d.%d", call.Agent, call.Turn, call.Call)] = at
		total[at]++
	}
	most := 0
	if tape.Timing == nil {
		for _, n := range total {
			most = max(most, n)
		}
		return most
	}
	running := map[turnOf]int{}
	for _, entry := range tape.Timing.Order {
		at, known := calls[strings.TrimLeft(entry, "+-")]
		switch {
		case !known:
		case entry[0] == '+':
			running[at]++
			most = max(most, running[at])
		default:
			running[at]--
		}
	}
	return most
}

// turnOf is a turn of an agent.
type turnOf struct {
	agent runtime.Path
	turn  int
}
