package transcripts

import (
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/tapetree/tapetree/runtime"
)

// orderKey puts lines in tree order when compared element by element: an
// agent's turns in order, each turn's exchange before its calls, each call
// before the agent it started, side conversations last.
type orderKey []int

// sideWords are the words of side conversations, in the order they are
// written.
var sideWords = []string{"title", "compact", "judge", "side"}

// agentKey is the beginning of the order keys of an agent's lines. It reports
// false for what is no agent path and no side conversation.
func agentKey(agent runtime.Path) (orderKey, bool) {
	path, side, isSide := strings.Cut(string(agent), "~")
	steps := strings.Split(path, "/")
	root, ok := rootNumber(steps[0])
	if !ok {
		return nil, false
	}
	key := orderKey{root}
	for _, step := range steps[1:] {
		if key, ok = appendStep(key, step); !ok {
			return nil, false
		}
	}
	if !isSide {
		return key, true
	}
	word, number, _ := strings.Cut(side, ".")
	rank := slices.Index(sideWords, word)
	n, ok := counted(number)
	return append(key, math.MaxInt, 1, rank, n), ok && rank >= 0
}

// rootNumber reads root, root2, root3 …
func rootNumber(step string) (int, bool) {
	digits, ok := strings.CutPrefix(step, string(runtime.Root))
	if !ok || digits == "" {
		return 1, ok
	}
	n, ok := counted(digits)
	return n, ok && n > 1
}

// appendStep reads one step of a path: TURN.CALL, TURN.CALL#N for the Nth
// child of one call, ?N for a child of no visible call.
func appendStep(key orderKey, step string) (orderKey, bool) {
	if digits, ok := strings.CutPrefix(step, "?"); ok {
		n, ok := counted(digits)
		return append(key, math.MaxInt, 0, 0, n), ok
	}
	dotted, twin, isTwin := strings.Cut(step, "#")
	left, right, _ := strings.Cut(dotted, ".")
	turn, ok1 := counted(left)
	call, ok2 := counted(right)
	number := 1
	if isTwin {
		var ok bool
		if number, ok = counted(twin); !ok || number < 2 {
			return nil, false
		}
	}
	return append(key, turn, call, 1, number), ok1 && ok2
}

// counted reads a number from 1 written without sign or leading zero.
func counted(digits string) (int, bool) {
	n, err := strconv.Atoi(digits)
	return n, err == nil && n > 0 && strconv.Itoa(n) == digits
}

// keys makes order keys and remembers the agents' beginnings.
type keys map[runtime.Path]orderKey

func (k keys) agent(agent runtime.Path) orderKey {
	key, known := k[agent]
	if !known {
		var ok bool
		if key, ok = agentKey(agent); !ok {
			key = orderKey{math.MaxInt}
		}
		k[agent] = key
	}
	return key
}

func (k keys) exchange(x *Exchange) orderKey {
	return append(slices.Clip(k.agent(x.Agent)), x.Turn, 0, x.Try)
}

func (k keys) call(c *Call) orderKey {
	return append(slices.Clip(k.agent(c.Agent)), c.Turn, c.Call, 0)
}

// sideOf returns the agent whose side conversation this is.
func sideOf(agent runtime.Path) (runtime.Path, bool) {
	path, _, ok := strings.Cut(string(agent), "~")
	return runtime.Path(path), ok
}
