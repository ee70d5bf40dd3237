package scenarios

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/tapetree/tapetree/record"
	"github.com/tapetree/tapetree/runtime"
	"github.com/tapetree/tapetree/runtime/profiles"
	"github.com/tapetree/tapetree/transcripts"
)

// CheckOptions of CheckHistory.
type CheckOptions struct {
	// Thresholds are those that Thresholds lists; nil: the documented ones.
	Thresholds Thresholds
}

// CheckHistory judges a history of any agent, from any file: everything that
// can be said of it without running it again. Of our own runner's transcripts
// the whole contract is asked, of others what holds for any agent. Findings
// come in tree order, those of delegation last.
func CheckHistory(h *transcripts.History, o CheckOptions) []record.Finding {
	limits := Limits{Parent: o.Thresholds.get("limit.parent-turns"), Child: o.Thresholds.get("limit.child-turns")}
	agents := agentsOf(h)
	secrets := beside(func() []record.Finding { return secretsIn(h, agents) })
	delegation := beside(func() []record.Finding { return judgeDelegation(h, agents, o.Thresholds) })
	findings := structure(h, agents, limits)
	findings = append(findings, judgeReuse(agents)...)
	if h.Foreign() {
		for i := range agents {
			findings = append(findings, judgeStranger(&agents[i], limits)...)
		}
	}
	findings = append(findings, judgeCanaries(agents, o.Thresholds.get("isolation.canary.bytes"), findings)...)
	findings = append(findings, secrets()...)
	findings = append(findings, delegation()...)
	return once(findings)
}

// beside runs judge at the same time as what follows; its findings are had by
// calling what it returns. What it panics with, the caller does too.
func beside(judge func() []record.Finding) func() []record.Finding {
	var findings []record.Finding
	var fault any
	done := make(chan struct{})
	go func() {
		defer close(done)
		defer func() { fault = recover() }()
		findings = judge()
	}()
	return func() []record.Finding {
		<-done
		if fault != nil {
			panic(fault)
		}
		return findings
	}
}

// structure judges by the rules that hold for the history: those of our own
// runner, whose every try is known, or those of any agent.
func structure(h *transcripts.History, agents []agent, limits Limits) []record.Finding {
	if h.File == nil {
		return check(agents, rules{foreign: true, asTheyCame: slices.Contains(logs, h.Format)})
	}
	of := LimitsOf(h.File.Header.Profile)
	limits = Limits{Parent: cmp.Or(limits.Parent, of.Parent), Child: cmp.Or(limits.Child, of.Child)}
	asked, findings := tapeAgents(h.File, h.Roots, nil)
	findings = append(findings, check(asked, rules{limits: limits, formal: ours(h.File), foreign: h.File.Foreign()})...)
	if h.File.Partial() {
		findings = append(findings, record.Finding{Code: "replay/partial", Message: "the recording broke off: its end is missing"})
	}
	return findings
}

// logs are the formats in which a result has its line as soon as it is there,
// whichever of the calls of an answer it belongs to.
var logs = []string{"claude-code", "codex", "pi"}

func secretsIn(h *transcripts.History, agents []agent) []record.Finding {
	if h.File == nil {
		return judgeSecretsOf(h, agents)
	}
	asked, _ := tapeAgents(h.File, h.Roots, nil)
	return judgeSecrets(h.File, asked)
}

// agentsOf lists the agents of a history, with what each of them sent and, where
// the file holds what came after the last answer, would have sent next.
func agentsOf(h *transcripts.History) []agent {
	var agents []agent
	h.Walk(func(r *runtime.Run) {
		a := agent{path: r.Agent, run: r, requests: sentBy(r), copied: h.Copied[r.Agent]}
		if h.Answered && r.History.Len() > 0 && len(r.Turns) > 0 {
			a.requests = append(a.requests, request{r.Turns[len(r.Turns)-1].Number, r.History})
		}
		agents = append(agents, a)
	})
	return agents
}

// judgeReuse finds ids that an agent's model gave to calls of several turns.
// Pairing by occurrence copes with it, and other programs do not: they give a
// call the result of another. Each id is one finding.
func judgeReuse(agents []agent) []record.Finding {
	var findings []record.Finding
	for i := range agents {
		a := &agents[i]
		if a.run == nil {
			continue
		}
		turns := map[string][]int{}
		var order []string
		for _, turn := range a.run.Turns {
			for _, call := range turn.Calls {
				if call.ID == "" {
					continue
				}
				seen := turns[call.ID]
				if seen == nil {
					order = append(order, call.ID)
				}
				if !slices.Contains(seen[max(0, len(seen)-1):], turn.Number) {
					turns[call.ID] = append(seen, turn.Number)
				}
			}
		}
		for _, id := range order {
			if used := turns[id]; len(used) > 1 {
				findings = append(findings, record.Finding{Code: "pairing/duplicate-id", Agent: a.path, Turn: used[1],
					Message: fmt.Sprintf("the id %q is used in %d turns: %s", id, len(used), numbers(used))})
			}
		}
	}
	return findings
}

// numbers lists up to eight numbers.
func numbers(list []int) string {
	const most = 8
	var words []string
	for i, n := range list {
		if i == most {
			words = append(words, "...")
			break
		}
		words = append(words, strconv.Itoa(n))
	}
	return strings.Join(words, ", ")
}

// ours reports that our own runner had the session of a transcript.
func ours(f *transcripts.File) bool {
	_, known := profiles.ByName(f.Header.Profile)
	return known
}
