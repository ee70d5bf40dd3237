package runtime

import (
	"context"
	"fmt"
	"strconv"
	"strings"
)

// Path names one agent of a session tree by the calls that led to it: "root"
// for the parent, "root/2.1" for the child that call 1 of the parent's turn 2
// started. It never holds ids, names or timing, so two runs of one session
// give the same paths.
type Path string

// Root is the path of the parent.
const Root Path = "root"

// Child returns the path of the agent that the given call of p starts. Turns
// and calls count from 1.
func (p Path) Child(turn, call int) Path {
	return Path(fmt.Sprintf("%s/%d.%d", p, turn, call))
}

// Parent returns the path of the agent that started p, and the turn and call
// that did. It reports false for a path without a parent.
func (p Path) Parent() (parent Path, turn, call int, ok bool) {
	cut := strings.LastIndexByte(string(p), '/')
	if cut < 0 {
		return "", 0, 0, false
	}
	turn, call, ok = parseDotted(string(p[cut+1:]))
	return p[:cut], turn, call, ok
}

// Side names the n-th side conversation of p with the given purpose, such as
// root/2.1~compact.1. It is no agent: it has no depth of its own and no
// children.
func (p Path) Side(word string, n int) Path {
	return Path(fmt.Sprintf("%s~%s.%d", p, word, n))
}

// Depth is 0 for the parent, 1 for its children.
func (p Path) Depth() int { return strings.Count(string(p), "/") }

// ParsePath checks that text is an agent path and returns it. An error names
// the text and shows the form.
func ParsePath(text string) (Path, error) {
	if len(text) > longestPath {
		return "", fmt.Errorf("agent path %q…: is longer than %d bytes", text[:len(Root)], longestPath)
	}
	steps := strings.Split(text, "/")
	if steps[0] != string(Root) {
		return "", fmt.Errorf("agent path %q: must start with %q, as in root/2.1", text, Root)
	}
	for _, step := range steps[1:] {
		if _, _, ok := parseDotted(step); !ok {
			return "", fmt.Errorf("agent path %q: %q is no TURN.CALL, as in root/2.1", text, step)
		}
	}
	return Path(text), nil
}

// longestPath is how many bytes an agent path may have: some hundred children,
// one below the other.
const longestPath = 1000

func parseDotted(step string) (turn, call int, ok bool) {
	left, right, found := strings.Cut(step, ".")
	turn, ok1 := counted(left)
	call, ok2 := counted(right)
	return turn, call, found && ok1 && ok2
}

// counted reads a number from 1 written without sign or leading zero.
func counted(digits string) (int, bool) {
	n, err := strconv.Atoi(digits)
	return n, err == nil && n > 0 && strconv.Itoa(n) == digits
}

// Place is where in a session tree a request stands: the agent, its turn and
// the try of that turn, the last two counted from 1.
type Place struct {
	Agent     Path
	Turn, Try int
}

type placeKey struct{}

// At returns a context that carries place: the one value this program keeps in
// a context. The recorder reads it at the HTTP layer.
func At(ctx context.Context, place Place) context.Context {
	return context.WithValue(ctx, placeKey{}, place)
}

// PlaceOf returns the place that ctx carries, and whether it carries one.
func PlaceOf(ctx context.Context) (Place, bool) {
	place, ok := ctx.Value(placeKey{}).(Place)
	return place, ok
}
