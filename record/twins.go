package record

import (
	"bytes"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/tapetree/tapetree/runtime"
	"github.com/tapetree/tapetree/transcripts"
)

// twins are the agents of a recording that nobody can tell apart when they
// begin: their first requests are equal, and so are the turns that started
// them. A replay serves them as they come, so that one may have got the answers
// of another; then the results that their parents show are compared as a set.
type twins struct {
	mu      sync.Mutex // guards what has been seen of their results
	classes [][]*twin
	byCall  map[twinCall]*twin
}

// twinCall is a call by the agent that made it and the recorded id.
type twinCall struct {
	agent runtime.Path
	id    string
}

// twin is one agent that has twins.
type twin struct {
	agent  runtime.Path
	class  int
	result []byte // what its parent's request shows as the result of its call; nil: nothing, or it has no call

	taken   bool   // a call of this replay has given that result
	settled []byte // what this replay gave for the twin's own call; nil: nothing yet
	swapped bool   // that was another twin's result
}

// callNumbers are what twins' paths may differ in.
var callNumbers = regexp.MustCompile(`\.\d+(#\d+)?`)

// findTwins groups the openings of a recording; nil when none are alike.
func findTwins(f *transcripts.File, openings []*opening, dialect func(runtime.Path) runtime.Dialect) *twins {
	groups := map[string][]*opening{}
	var order []string
	for _, o := range openings {
		if strings.Contains(string(o.agent), "~") {
			continue
		}
		key := callNumbers.ReplaceAllString(string(o.agent), "") + "\n" + o.full + o.asked
		if strings.Count(string(o.agent), "/") == 0 {
			key = "root\n" + o.full + o.asked
		}
		if groups[key] == nil {
			order = append(order, key)
		}
		groups[key] = append(groups[key], o)
	}
	t := &twins{byCall: map[twinCall]*twin{}}
	for _, key := range order {
		if len(groups[key]) < 2 {
			continue
		}
		var class []*twin
		for _, o := range groups[key] {
			w := &twin{agent: o.agent, class: len(t.classes)}
			class = append(class, w)
			if call, ok := callThatStarted(f, o.agent, dialect); ok {
				w.result = recordedResult(f, call)
				t.byCall[call] = w
			}
		}
		t.classes = append(t.classes, class)
	}
	if len(t.classes) == 0 {
		return nil
	}
	return t
}

// callThatStarted returns the recorded call that an agent's path names.
func callThatStarted(f *transcripts.File, agent runtime.Path, dialect func(runtime.Path) runtime.Dialect) (twinCall, bool) {
	cut := strings.LastIndexByte(string(agent), '/')
	if cut < 0 {
		return twinCall{}, false
	}
	parent := agent[:cut]
	step, _, _ := strings.Cut(string(agent[cut:]), "#")
	_, turn, call, ok := runtime.Path(string(parent) + step).Parent()
	if !ok {
		return twinCall{}, false
	}
	for _, e := range f.Exchanges {
		if e.Agent != parent || e.Turn != turn {
			continue
		}
		answer, err := runtime.Decode(e.Reply(), dialect(parent))
		if err == nil && call <= len(answer.Message.Calls) {
			return twinCall{parent, answer.Message.Calls[call-1].ID}, true
		}
	}
	return twinCall{}, false
}

// recordedResult finds the result of a call in the requests of its agent.
func recordedResult(f *transcripts.File, call twinCall) []byte {
	for _, e := range f.Exchanges {
		if e.Agent != call.agent {
			continue
		}
		for i := range e.Messages.Messages() {
			m := &e.Messages.Messages()[i]
			if !bytes.Contains(m.Raw, []byte(call.id)) {
				continue
			}
			for _, spot := range resultsIn(wireOf(e), m) {
				if spot.id == call.id {
					return m.Raw[spot.start:spot.end]
				}
			}
		}
	}
	return nil
}

// resultSpot is where in a message the result of a call stands.
type resultSpot struct {
	start, end int
	id         string
}

// resultsIn finds the results of calls in a message of a wire.
func resultsIn(wire runtime.Wire, m *runtime.Message) []resultSpot {
	switch wire {
	case runtime.WireChat:
		if m.Role != runtime.RoleTool || m.CallID == "" {
			return nil
		}
		return []resultSpot{{0, len(m.Raw), m.CallID}}
	case runtime.WireResponses:
		if id, ok := idMember(m.Raw, "call_id"); ok && isResultItem(m.Raw) {
			return []resultSpot{{0, len(m.Raw), id}}
		}
		return nil
	}
	var found []resultSpot
	for _, v := range valuesIn(m.Raw) {
		if !contentBlock.MatchString(v.pointer) || m.Raw[v.start] != '{' {
			continue
		}
		if id, ok := idMember(m.Raw[v.start:v.end], "tool_use_id"); ok {
			found = append(found, resultSpot{v.start, v.end, id})
		}
	}
	return found
}

var contentBlock = regexp.MustCompile(`^/content/\d+$`)

// isResultItem reports whether an item of Responses is what a call gave.
func isResultItem(raw []byte) bool {
	kind := valueNode(raw).member("type")
	return kind != nil && strings.HasSuffix(kind.text, "_output")
}

// idMember reads the named member of an object, a string that is not empty.
func idMember(raw []byte, name string) (string, bool) {
	n := valueNode(raw).member(name)
	if n == nil || n.kind != jsontext.KindString || n.text == "" {
		return "", false
	}
	return n.text, true
}

// resultIDs are the members of a result that say whose it is.
var resultIDs = map[string]bool{"tool_call_id": true, "tool_use_id": true, "call_id": true, "id": true, "name": true}

// untwin puts the results of twins into the recorded order: where a call shows
// the result that the recording has for a twin, its own recorded one takes the
// place. lost are results that one twin's answer served twice. Messages before
// from were settled with an earlier request.
func (c *comparer) untwin(out *comparison, e *transcripts.Exchange, messages []runtime.Message, from int) (list []runtime.Message, lost []difference) {
	if c.twins == nil || !c.twins.concerns(c.agent) {
		return messages, nil
	}
	c.twins.mu.Lock()
	defer c.twins.mu.Unlock()
	type found struct {
		twin    *twin
		message int
		spot    resultSpot
	}
	var all []found
	for i := from; i < len(messages); i++ {
		for _, spot := range resultsIn(c.asking.wire, &messages[i]) {
			id := spot.id
			if recorded, ok := c.ids.recorded(id); ok {
				id = recorded
			}
			if w := c.twins.byCall[twinCall{c.agent, id}]; w != nil && w.result != nil {
				all = append(all, found{w, i, spot})
			}
		}
	}
	text := func(f found) []byte { return messages[f.message].Raw[f.spot.start:f.spot.end] }
	for _, f := range all {
		if f.twin.settled == nil && !f.twin.taken && c.sameResult(f.twin.result, text(f)) {
			f.twin.taken, f.twin.settled = true, text(f)
		}
	}
	list = messages
	for i := len(all) - 1; i >= 0; i-- { // from the back, so that earlier spots stay where they are
		f := all[i]
		c.settleTwin(f.twin, text(f))
		switch {
		case f.twin.swapped && bytes.Equal(f.twin.settled, text(f)):
			if len(list) > 0 && &list[0] == &messages[0] {
				list = slices.Clone(messages)
			}
			list[f.message] = c.withResult(list[f.message], f.spot, f.twin.result)
		case f.twin.settled == nil && c.sameResult(f.twin.result, text(f)):
			at := placesIn(c.asking.wire, e.Params, c.asking.params).pointer(f.message)
			lost = append(lost, difference{at, "a result of its own", "the result of a twin once more", nil})
		}
	}
	return list, lost
}

// settleTwin looks for the twin whose result a call shows. The lock is held.
func (c *comparer) settleTwin(w *twin, shown []byte) {
	if w.settled != nil {
		return
	}
	for _, other := range c.twins.classes[w.class] {
		if other != w && !other.taken && other.result != nil && c.sameResult(other.result, shown) {
			other.taken = true
			w.settled, w.swapped = shown, true
			return
		}
	}
}

// concerns reports whether an agent has children that are twins.
func (t *twins) concerns(agent runtime.Path) bool {
	for call := range t.byCall {
		if call.agent == agent {
			return true
		}
	}
	return false
}

// sameResult compares two results but for whose they are.
func (c *comparer) sameResult(recorded, sent []byte) bool {
	d := &diff{rules: c.rules, ids: &pairs{}, secrets: &pairs{}, uses: map[string]int{}}
	d.values("", withoutIDs(recorded), withoutIDs(sent))
	return len(d.found) == 0
}

func withoutIDs(raw []byte) *node {
	n := valueNode(raw)
	n.members = slices.DeleteFunc(n.members, func(m member) bool { return resultIDs[m.name] })
	return n
}

// withResult returns m with a recorded result at spot, under the id it has.
func (c *comparer) withResult(m runtime.Message, spot resultSpot, result []byte) runtime.Message {
	own := slices.Clone(result)
	for _, v := range slices.Backward(valuesIn(own)) {
		switch v.pointer {
		case "/tool_call_id", "/tool_use_id", "/call_id":
			own = slices.Concat(own[:v.start], quoted(spot.id), own[v.end:])
		}
	}
	return reread(c.asking.wire, m, slices.Concat(m.Raw[:spot.start], own, m.Raw[spot.end:]))
}

// reread is m with other bytes.
func reread(wire runtime.Wire, m runtime.Message, raw []byte) runtime.Message {
	changed, err := wire.ParseItem(raw)
	if err != nil { // what was inside stays an item; were it not, the bytes still count
		m.Raw = raw
		return m
	}
	return changed
}

// notes says which twins there were.
func (t *twins) notes() []string {
	if t == nil {
		return nil
	}
	var lines []string
	for _, class := range t.classes {
		var names []string
		for _, w := range class {
			names = append(names, string(w.agent))
		}
		lines = append(lines, fmt.Sprintf("twins: %s begin with the same request; they were answered in order of arrival", strings.Join(names, ", ")))
	}
	return lines
}

// keptSession is an agent's conversation as its client sent it, with twins'
// results in the recorded order and secrets under their recorded numbers.
type keptSession struct {
	history runtime.History
}

// add takes over the messages from position from on and returns the whole.
func (k *keptSession) add(c *comparer, from int, messages []runtime.Message) runtime.View {
	if from == 0 {
		k.history = runtime.History{}
	}
	for _, m := range messages[from:] {
		k.history.Append(c.renumbered(m))
	}
	return k.history.View()
}

// renumbered is m with the recorded numbers of its secrets.
func (c *comparer) renumbered(m runtime.Message) runtime.Message {
	if !bytes.Contains(m.Raw, []byte("{{secret:")) {
		return m
	}
	raw := secretMark.ReplaceAllFunc(m.Raw, func(mark []byte) []byte {
		if recorded, ok := c.secrets.recorded(string(mark)); ok {
			return []byte(recorded)
		}
		return mark
	})
	if bytes.Equal(raw, m.Raw) {
		return m
	}
	return reread(c.asking.wire, m, raw)
}
