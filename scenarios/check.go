package scenarios

import (
	"cmp"
	"slices"
	"strings"

	"github.com/tapetree/tapetree/record"
	"github.com/tapetree/tapetree/runtime"
	"github.com/tapetree/tapetree/transcripts"
)

// CheckRun judges a session tree by what was sent to the model: pairing/*,
// isolation/*, recursion/*, limit/*, truncated/* and arguments/*. Findings come
// in tree order, each once. Its cost is linear in the messages that each
// request adds, not in the requests' length.
func CheckRun(run *runtime.Run, limits Limits) []record.Finding {
	var agents []agent
	run.Walk(func(r *runtime.Run) {
		agents = append(agents, agent{path: r.Agent, run: r, requests: requestsOf(r)})
	})
	return check(agents, rules{limits: limits, formal: true})
}

// CheckForeign judges a session of a program that is not ours by the rules that
// hold for any agent: calls and results are paired, and no message of one agent
// turns up among those of another. It may have any number of turns, of trees and
// of generations.
func CheckForeign(roots []*runtime.Run) []record.Finding {
	var agents []agent
	for _, root := range roots {
		root.Walk(func(r *runtime.Run) {
			// What it does with its last answer, nobody has seen.
			agents = append(agents, agent{path: r.Agent, run: r, requests: sentBy(r)})
		})
	}
	return check(agents, rules{foreign: true, anyOrder: true})
}

// rules are those that a session is judged by.
type rules struct {
	limits  Limits
	formal  bool // our own runner made it, so the form of briefs and reports is known
	foreign bool // a program that is not ours made it
	// anyOrder lets results stand in any order: no wire asks for one. That
	// program runs now, and a replay holds it to what it did when it was recorded.
	anyOrder bool
	// asTheyCame: the file holds results in the order in which they came, which
	// may be another one than that in which they were sent.
	asTheyCame bool
}

// CheckTape judges the recorded requests of a transcript the same way, exchange
// by exchange, the tries that failed included, and finds secrets that the
// recording should not hold (secret/present). Side conversations are no
// agents.
func CheckTape(f *transcripts.File, limits Limits) []record.Finding {
	sessions, err := f.Sessions()
	agents, findings := tapeAgents(f, sessions, err)
	findings = append(findings, check(agents, rules{limits: limits, formal: ours(f), foreign: f.Foreign(), anyOrder: f.Foreign()})...)
	return append(findings, judgeSecrets(f, agents)...)
}

// tapeAgents lists the agents of a transcript whose session trees are there, or
// cannot be made, which is a finding.
func tapeAgents(f *transcripts.File, sessions []*runtime.Run, err error) ([]agent, []record.Finding) {
	requests := map[runtime.Path][]request{}
	var order []runtime.Path
	sent := f.ChatForm()
	for _, e := range f.Exchanges {
		if isSide(e.Agent) {
			continue
		}
		if requests[e.Agent] == nil {
			order = append(order, e.Agent)
		}
		requests[e.Agent] = append(requests[e.Agent], request{turn: e.Turn, messages: sent(e)})
	}
	for _, list := range requests {
		slices.SortStableFunc(list, func(a, b request) int { return cmp.Compare(a.turn, b.turn) })
	}
	var agents []agent
	var findings []record.Finding
	if err != nil && len(order) > 0 {
		findings = append(findings, record.Finding{Code: "pairing/orphan", Message: "the session tree cannot be put together: " + err.Error()})
	}
	for _, root := range sessions {
		root.Walk(func(r *runtime.Run) {
			agents = append(agents, agent{path: r.Agent, run: r, requests: requests[r.Agent]})
			delete(requests, r.Agent)
		})
	}
	for _, path := range order { // agents that the tree has no place for
		if requests[path] != nil {
			agents = append(agents, agent{path: path, requests: requests[path]})
		}
	}
	return agents, findings
}

func isSide(path runtime.Path) bool { return strings.Contains(string(path), "~") }

// agent is one agent to be judged: what it did, and what it sent.
type agent struct {
	path     runtime.Path
	run      *runtime.Run // nil: only its requests are known
	requests []request
	copied   int // with so many messages of its parent it began, by intent
}

// request is one list of messages that an agent sent, or, after the last turn,
// would send next.
type request struct {
	turn     int
	messages runtime.View
}

// sentBy takes an agent's requests from its turns.
func sentBy(r *runtime.Run) []request {
	var requests []request
	for _, turn := range r.Turns {
		if turn.Sent.Len() > 0 {
			requests = append(requests, request{turn.Number, turn.Sent})
		}
	}
	return requests
}

// requestsOf does the same. A run that came to an end also answers for the
// whole history it left behind.
func requestsOf(r *runtime.Run) []request {
	requests, last := sentBy(r), 0
	if n := len(r.Turns); n > 0 {
		last = r.Turns[n-1].Number
	}
	if r.Stop != "" && r.History.Len() > 0 {
		requests = append(requests, request{last, r.History})
	}
	return requests
}

// eachNew visits every message that a request has and the one before it had
// not, and then calls sent. A request that is not known to continue the one
// before is visited from its beginning, after restart.
func (a *agent) eachNew(restart func(), visit func(turn, index int, m *runtime.Message), sent func(turn int)) {
	var before runtime.View
	for i, r := range a.requests {
		from := before.Len()
		if i > 0 && !r.messages.Extends(before) {
			from = 0
			restart()
		}
		messages := r.messages.Messages()
		for i := from; i < len(messages); i++ {
			visit(r.turn, i, &messages[i])
		}
		sent(r.turn)
		before = r.messages
	}
}

// check judges all agents of a session, in tree order.
func check(agents []agent, rules rules) []record.Finding {
	var findings []record.Finding
	for i := range agents {
		findings = append(findings, judgePairing(&agents[i], rules)...)
	}
	if rules.foreign {
		return once(append(findings, judgeStrangers(agents)...))
	}
	findings = append(findings, judgeIsolation(agents, rules.formal)...)
	for i := range agents {
		if agents[i].run != nil {
			findings = append(findings, judgeRecursion(agents[i].run)...)
			findings = append(findings, judgeLimits(agents[i].run, rules.limits)...)
			findings = append(findings, judgeCut(agents[i].run)...)
		}
	}
	return once(findings)
}

// once drops a finding that was made before at the same agent, if only at
// another turn: a request that is judged from its beginning repeats what the
// one before it has shown.
func once(findings []record.Finding) []record.Finding {
	seen := map[record.Finding]bool{}
	kept := findings[:0]
	for _, f := range findings {
		key := f
		key.Turn = 0
		if !seen[key] {
			seen[key] = true
			kept = append(kept, f)
		}
	}
	return kept
}
