package scenarios

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/tapetree/tapetree/record"
	"github.com/tapetree/tapetree/runtime"
)

// judgeCanaries looks for text of one agent's tool results and answers on the
// way that stands word for word in what another agent was sent. What an agent
// was sent are the messages that it did not make itself, and the results of the
// calls that started agents. Of these few texts an index of samples is made, and
// all others are gone through once with a rolling hash: the cost is linear, in
// time in all there is, in memory in what was sent.
//
// A text counts that has the length of a canary and is distinctive. It is no
// leak where it has been reported, given or found by the other agent itself; see
// excuses. Pairs of agents that are among known already are left out.
func judgeCanaries(agents []agent, least int, known []record.Finding) []record.Finding {
	if len(agents) < 2 {
		return nil
	}
	told := map[string]bool{}
	for _, f := range known {
		if strings.HasPrefix(f.Code, "isolation/") {
			told[f.Code+" "+string(f.Agent)] = true
		}
	}
	incoming := incomingTexts(agents)
	if len(incoming) == 0 {
		return nil
	}
	index := newShingles(incoming, least)
	var found []canary
	seen := map[[2]runtime.Path]int{}
	for i := range agents {
		eachOnTheWay(&agents[i], func(turn int, text string) {
			index.search(text, func(at hit) {
				in := incoming[at.text]
				pair := [2]runtime.Path{agents[i].path, in.agent.path}
				if in.agent == &agents[i] || rootOf(pair[0]) != rootOf(pair[1]) || in.agent.forkedOf(pair[0]) || seen[pair] >= canaryCandidates ||
					told[leak(pair[1], pair[0])+" "+string(pair[1])] || !couldCome(&agents[i], turn, in.agent, in.turn) {
					return
				}
				if words := strings.TrimSpace(at.words); len(words) >= least && telling(words) {
					seen[pair]++
					found = append(found, canary{text: words, owner: &agents[i], in: in})
				}
			})
		})
	}
	return reportCanaries(agents, found)
}

// canaryCandidates is how many texts of one agent are looked at in another's
// history. One leak is enough to be told; the rest are for where the first are
// excused.
const canaryCandidates = 64

// canary is a text of one agent in the history of another.
type canary struct {
	text  string
	owner *agent
	in    incomingText
}

func reportCanaries(agents []agent, found []canary) []record.Finding {
	if len(found) == 0 {
		return nil
	}
	excused := excuses(agents, found)
	var findings []record.Finding
	told := map[[2]runtime.Path]bool{}
	for i, c := range found {
		pair := [2]runtime.Path{c.owner.path, c.in.agent.path}
		if excused[i] || told[pair] {
			continue
		}
		told[pair] = true
		findings = append(findings, record.Finding{Code: leak(c.in.agent.path, c.owner.path), Agent: c.in.agent.path, Turn: c.in.turn,
			Message: fmt.Sprintf("%s has %d bytes of %s that nobody reported: %s", c.in.where, len(c.text), c.owner.path, short(c.text))})
	}
	return findings
}

// telling reports whether a text is one that does not come about twice by
// itself: it has several words, and not the same few signs over and over.
func telling(text string) bool {
	var signs [256]bool
	different, letters := 0, 0
	for i := 0; i < len(text); i++ {
		c := text[i]
		if !signs[c] {
			signs[c] = true
			different++
		}
		if c >= 0x80 || c|0x20 >= 'a' && c|0x20 <= 'z' {
			letters++
		}
	}
	const fewSigns = 16
	return different >= fewSigns && letters*2 >= len(text)
}

// incomingText is a text that an agent was sent.
type incomingText struct {
	agent *agent
	turn  int    // of the request that first has it
	where string // in words
	text  string
}

// incomingTexts collects what each agent was sent: messages that are not of its
// own making, and the results of calls that started agents, without system
// texts and the reminders of a harness.
func incomingTexts(agents []agent) []incomingText {
	var list []incomingText
	for i := range agents {
		a := &agents[i]
		if a.run == nil {
			continue
		}
		own := ownMessages(a.run)
		a.eachNew(func() {}, func(turn, index int, m *runtime.Message) {
			if m.Role == runtime.RoleSystem || m.Content == "" || own[ownText{m.Role, m.Content}] {
				return
			}
			for _, part := range withoutReminders(m.Content) {
				list = append(list, incomingText{a, turn, fmt.Sprintf("message %d (%s)", index+1, m.Role), part})
			}
		}, func(int) {})
	}
	return list
}

// ownMessages are the answers of an agent and the results of its calls, those
// apart that started an agent.
func ownMessages(run *runtime.Run) map[ownText]bool {
	own := map[ownText]bool{}
	for _, turn := range run.Turns {
		if turn.Answer != nil {
			own[ownText{runtime.RoleAssistant, turn.Answer.Message.Content}] = true
		}
		for _, call := range turn.Calls {
			if call.Child == nil {
				own[ownText{runtime.RoleTool, call.Result}] = true
			}
		}
	}
	return own
}

// withoutReminders cuts out what a harness says of its own accord, in the way of
// Claude Code: it knows files that agents changed, and says so to all.
func withoutReminders(text string) []string {
	const begin, end = "<system-reminder>", "</system-reminder>"
	var parts []string
	for {
		before, rest, found := strings.Cut(text, begin)
		if before != "" {
			parts = append(parts, before)
		}
		if !found {
			return parts
		}
		if _, text, found = strings.Cut(rest, end); !found {
			return parts
		}
	}
}

// eachOnTheWay visits what an agent has for itself: results of calls that
// started nobody, and what it wrote before its last text.
func eachOnTheWay(a *agent, visit func(turn int, text string)) {
	if a.run == nil {
		return
	}
	for i := range a.run.Turns {
		turn := &a.run.Turns[i]
		if turn.Answer != nil && len(turn.Answer.Message.Calls) > 0 {
			visit(turn.Number, turn.Answer.Message.Content)
		}
		for j := range turn.Calls {
			if turn.Calls[j].Child == nil {
				visit(turn.Number, turn.Calls[j].Result)
			}
		}
	}
}

// couldCome reports whether something that owner had in a turn can have come to
// seer by the request of another turn: a child that was not yet started has said
// nothing, and what a parent does after it started a child comes too late for
// that child. Of agents that run at the same time nothing is known.
func couldCome(owner *agent, had int, seer *agent, sent int) bool {
	above := common(owner.path, seer.path)
	from, to := startIn(owner.path, above), startIn(seer.path, above)
	switch {
	case from == 0 && to == 0: // no call of either is known
		return true
	case to == 0: // the owner is below the seer
		return sent > from
	case from == 0: // the seer is below the owner
		return had < to
	default:
		return from <= to
	}
}

// common is the lowest agent that both are, or are below.
func common(a, b runtime.Path) runtime.Path {
	as, bs := strings.Split(string(a), "/"), strings.Split(string(b), "/")
	n := 0
	for n < len(as) && n < len(bs) && as[n] == bs[n] {
		n++
	}
	return runtime.Path(strings.Join(as[:n], "/"))
}

// startIn is the turn of the agent above in which path, or the agent that leads
// to it, was started; 0: not known, or the same agent.
func startIn(path, above runtime.Path) int {
	step, found := strings.CutPrefix(string(path), string(above)+"/")
	if !found {
		return 0
	}
	step, _, _ = strings.Cut(step, "/")
	turn, _, _ := strings.Cut(step, ".")
	n, err := strconv.Atoi(turn)
	if err != nil {
		return 0
	}
	return n
}
