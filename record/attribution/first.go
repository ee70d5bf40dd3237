package attribution

import (
	"fmt"
	"slices"
	"strings"

	"github.com/tapetree/tapetree/runtime"
)

// The paths of First places: what a thread would be called if nothing more came.
// Each is given out once.

// free returns the first path that is not in use yet.
func (s *Scope) free(path func(n int) runtime.Path) runtime.Path {
	kind := path(1)
	for {
		s.counts[kind]++
		if p := path(s.counts[kind]); !s.firsts[p] {
			return p
		}
	}
}

func (s *Scope) freeRoot(q *asked, o *opening, word string) runtime.Path {
	switch main := s.mainOf(q.session); {
	case q.parent != "":
		if parent := s.mainOf(q.parent); parent != nil {
			return s.freeUnknown(parent.first.path)
		}
		return s.freeUnknown(runtime.Root)
	case main != nil && (main.tools || q.tools == ""):
		return s.freeSide(main.first.path, word)
	case q.aside():
		return s.freeSide(runtime.Root, word)
	}
	return s.free(rootPath)
}

// rootPath is the path of the n-th root.
func rootPath(n int) runtime.Path {
	if n == 1 {
		return runtime.Root
	}
	return runtime.Path(fmt.Sprintf("%s%d", runtime.Root, n))
}

func (s *Scope) freeChild(c *call) runtime.Path {
	owner := c.thread().first.path
	if agentPath(owner) != owner {
		return s.freeUnknown(owner)
	}
	return s.free(func(n int) runtime.Path { return childPath(owner, c.turn().first, c.n, n) })
}

// childPath is the path of the n-th child of one call.
func childPath(owner runtime.Path, turn, call, n int) runtime.Path {
	path := owner.Child(turn, call)
	if n > 1 {
		path += runtime.Path(fmt.Sprintf("#%d", n))
	}
	return path
}

func (s *Scope) freeUnknown(owner runtime.Path) runtime.Path {
	return s.free(func(n int) runtime.Path { return unknownPath(agentPath(owner), n) })
}

// unknownPath is the path of the n-th child of no call that can be seen.
func unknownPath(owner runtime.Path, n int) runtime.Path {
	return runtime.Path(fmt.Sprintf("%s/?%d", owner, n))
}

func (s *Scope) freeSide(owner runtime.Path, word string) runtime.Path {
	return s.free(func(n int) runtime.Path { return agentPath(owner).Side(word, n) })
}

// agentPath is the agent whose side conversation a path names, or the path
// itself.
func agentPath(path runtime.Path) runtime.Path {
	agent, _, _ := strings.Cut(string(path), "~")
	return runtime.Path(agent)
}

// firstLabel is the label of a thread as far as can be told now.
func (s *Scope) firstLabel(t *thread) Label {
	l := Label{Path: t.first.path, Flag: t.flag}
	for _, c := range t.draw {
		l.Candidates = append(l.Candidates, agentPath(c.thread().first.path).Child(c.turn().first, c.n))
	}
	if t.twin != nil {
		l.Flag = FlagTwin
		l.Candidates = append(l.Candidates, t.twin.first.path)
	}
	if t.doubt > 0 {
		l.Flag = FlagAmbiguous
		l.Candidates = append(l.Candidates, t.rival.first.path)
	}
	if l.Flag != "" {
		l.Candidates = append(l.Candidates, l.Path)
		slices.Sort(l.Candidates)
		l.Candidates = slices.Compact(l.Candidates)
	}
	return l
}

// mainOf returns the main thread of a session: the first with tools, else the
// first; nil for none.
func (s *Scope) mainOf(session string) *thread {
	if session == "" {
		return nil
	}
	return s.mains[session]
}
