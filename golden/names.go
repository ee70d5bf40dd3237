package golden

import (
	"fmt"
	"strings"

	"github.com/tapetree/tapetree/runtime"
)

// idLength is how long an id must be to be renamed inside a text too: the
// random ids of model servers have 9 characters and more, while a short one
// that a person wrote ("a", "c1") is more likely a word of the text.
const idLength = 9

// names renames the ids of calls to #1, #2 … in order of appearance. An id is
// known by its agent, since each agent has a history of its own.
type names struct {
	byAgent map[agentID]string
	any     map[string]string // the first agent's name of an id, for ids inside texts
}

type agentID struct {
	agent runtime.Path
	id    string
}

func newNames() *names {
	return &names{byAgent: map[agentID]string{}, any: map[string]string{}}
}

// name returns the new name of id in agent's history.
func (n *names) name(agent runtime.Path, id string) string {
	key := agentID{agent, id}
	if known, ok := n.byAgent[key]; ok {
		return known
	}
	name := fmt.Sprintf("#%d", len(n.byAgent)+1)
	n.byAgent[key] = name
	if _, ok := n.any[id]; !ok && isRandom(id) {
		n.any[id] = name
	}
	return name
}

// isRandom reports whether id looks like one that a server made up.
func isRandom(id string) bool {
	return len(id) >= idLength && strings.ContainsAny(id, "0123456789") && strings.IndexFunc(id, notInID) < 0
}

func notInID(r rune) bool {
	return !('a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || '0' <= r && r <= '9' || r == '_' || r == '-')
}

// replace renames the ids inside a text that agent's history holds. A text
// without one is returned as it is, not copied.
func (n *names) replace(agent runtime.Path, text string) string {
	if len(n.any) == 0 || len(text) < idLength {
		return text
	}
	var out strings.Builder
	copied := 0
	for start := 0; start < len(text); {
		end := start
		for end < len(text) && !notInID(rune(text[end])) { // ids are ASCII, so bytes do
			end++
		}
		if end-start >= idLength {
			if name := n.word(agent, text[start:end]); name != text[start:end] {
				out.WriteString(text[copied:start])
				out.WriteString(name)
				copied = end
			}
		}
		start = end + 1
	}
	if copied == 0 {
		return text
	}
	out.WriteString(text[copied:])
	return out.String()
}

func (n *names) word(agent runtime.Path, word string) string {
	anyone, ok := n.any[word]
	if !ok {
		return word
	}
	if own, ok := n.byAgent[agentID{agent, word}]; ok {
		return own
	}
	return anyone
}
