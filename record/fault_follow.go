package record

import (
	"fmt"
	"strings"

	"github.com/tapetree/tapetree/runtime"
)

// changed counts an answer of an agent that a fault changed; by -1 when the agent
// asks again, so that it has the whole one after all.
func (f *faults) changed(agent runtime.Path, by int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.taken[agent] += by
}

// reach reports whether what an agent says may follow from a changed answer: one
// of its own, of an agent that it comes from, or of one that comes from it.
func (f *faults) reach(agent runtime.Path) bool {
	if len(f.list) == 0 {
		return false
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	for other, n := range f.taken {
		if n > 0 && (other == agent || isBelow(agent, other) || isBelow(other, agent)) {
			return true
		}
	}
	return false
}

// isBelow reports whether an agent comes from another one.
func isBelow(agent, above runtime.Path) bool {
	rest, ok := strings.CutPrefix(string(agent), string(above))
	return ok && rest != "" && (rest[0] == '/' || rest[0] == '~')
}

// followed says how far the session is another one since a fault changed an
// answer: such requests cannot be the recorded ones, and are no findings.
func (r *Replayer) followed() []string {
	n, first := 0, ""
	for _, agent := range r.agentPaths() {
		t := r.agents[agent]
		t.mu.Lock()
		if t.trouble != nil && t.trouble.follows {
			n += 1 + t.trouble.later
			if first == "" {
				first = headline(t.trouble.at) + ": " + t.trouble.message
			}
		}
		t.mu.Unlock()
	}
	switch n {
	case 0:
		return nil
	case 1:
		return []string{"after the fault 1 request differs from the recorded one: " + first}
	default:
		return []string{fmt.Sprintf("after the fault %d requests differ from the recorded ones, the first: %s", n, first)}
	}
}
