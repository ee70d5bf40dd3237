package cli

import (
	"sync"

	"github.com/tapetree/tapetree/runtime"
)

// titles names agents by their titles: the first one that has a title by that
// alone, any other with its path, so that two can be told apart.
type titles struct {
	mu    sync.Mutex
	first map[string]runtime.Path
}

// of names an agent, in brackets.
func (t *titles) of(agent runtime.Path, label string) string {
	short := shortLabel(label)
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.first == nil {
		t.first = map[string]runtime.Path{}
	}
	if t.first[short] == "" {
		t.first[short] = agent
	}
	if t.first[short] != agent {
		short += " " + string(agent)
	}
	return "[" + short + "]"
}
