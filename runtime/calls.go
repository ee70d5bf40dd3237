package runtime

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
)

// callSlots puts the calls of one answer together. Providers disagree on what
// tells one call from the next, so a fragment finds its slot by these rules:
//
//   - With an index that is known: the slot of that index, of several the one
//     with the fragment's id, else the latest. A new id there starts another
//     call if it comes with a name, or if the arguments are complete already; a
//     new id alone continues the call, and the last id counts.
//   - With an id that is known: the slot of that id.
//   - A new id or name opens the next slot; anything else continues the open
//     one. Where a fragment stands inside its chunk means nothing.
//
// Id and name are assigned, only arguments are joined. A name that comes again
// is a repeat, unless the arguments were complete and others follow; one that
// comes in pieces under one index is joined.
type callSlots struct {
	slots   []*slot
	byIndex map[int]*slot // the latest slot of each index
	open    *slot         // the slot of the last fragment
}

// slot is one call in the making.
type slot struct {
	index    int // -1: none was given
	id       string
	kind     string // its type
	name     string
	args     jsonText
	function extras // unknown members beside name and arguments
	extra    extras // unknown members beside id, type and function
	split    bool   // opened by a new id under an index in use

	named *callFragment // brought the name once more, without arguments, when all of them were there
}

// callFragment is one element of tool_calls.
type callFragment struct {
	index    int // -1: absent
	id       string
	kind     string
	name     string
	args     []byte // escaped, to be added to jsonText; nil: absent
	function []span
	extra    []span
}

// add takes one element of tool_calls: a call of its own if whole, else a
// fragment of one.
func (c *callSlots) add(raw jsontext.Value, whole bool) error {
	f, err := readFragment(raw, whole)
	if err != nil {
		return err
	}
	var s *slot
	if whole {
		s = c.newSlot(f)
	} else {
		s = c.slotFor(f)
		if s.named != nil && !f.blank() { // so that was the beginning of another call
			begun := *s.named
			s.named = nil
			begun.index = f.index
			s = c.newSlot(begun)
			s.take(begun)
		}
	}
	c.open = s
	s.take(f)
	return nil
}

// readFragment reads one element. The index of a whole call is one of its
// unknown members and goes back with them; that of a fragment is framing.
func readFragment(raw jsontext.Value, whole bool) (callFragment, error) {
	f := callFragment{index: -1}
	members, err := membersOf(raw)
	if err != nil {
		return f, fmt.Errorf("tool call: %w", err)
	}
	old := memberOf(members, "function") == nil // a function_call, which is its own function
	for _, m := range latest(members) {
		switch {
		case m.name == "index" && !whole:
			f.index = indexOf(m.value)
		case m.name == "id":
			f.id = idOf(m.value)
		case m.name == "type":
			f.kind, _ = textOf(m.value)
		case m.name == "function" && m.value.Kind() == '{':
			inner, err := membersOf(m.value)
			if err != nil {
				return f, fmt.Errorf("tool call: %w", err)
			}
			for _, in := range latest(inner) {
				f.takeFunction(in)
			}
		case m.name == "function": // no object: it names no tool, which finish reports
		case old && (m.name == "name" || m.name == "arguments"):
			f.takeFunction(m)
		default:
			f.extra = append(f.extra, m)
		}
	}
	return f, nil
}

func (f *callFragment) takeFunction(m span) {
	switch m.name {
	case "name":
		f.name, _ = textOf(m.value)
	case "arguments":
		switch {
		case isNull(m.value):
		case m.value.Kind() == '"':
			f.args = m.value[1 : len(m.value)-1]
		default: // an object instead of its text
			text := quote(argumentsText(m.value))
			f.args = text[1 : len(text)-1]
		}
	default:
		f.function = append(f.function, m)
	}
}

// blank reports that the fragment brings no arguments.
func (f *callFragment) blank() bool { return strings.TrimSpace(string(f.args)) == "" }

// idOf reads an id; a number is taken as its digits.
func idOf(v jsontext.Value) string {
	if v.Kind() == '0' {
		return string(v)
	}
	text, _ := textOf(v)
	return text
}

// indexOf reads an index, also one written as 1.0 or "1"; -1 for null and for
// what is none.
func indexOf(v jsontext.Value) int {
	text := string(v)
	if quoted, ok := textOf(v); ok {
		text = quoted
	}
	n, err := strconv.ParseFloat(text, 64)
	if err != nil || n != math.Trunc(n) || n < 0 || n > math.MaxInt32 {
		return -1
	}
	return int(n)
}

// slotFor finds or opens the slot that a fragment belongs to.
func (c *callSlots) slotFor(f callFragment) *slot {
	if s := c.atIndex(f); s != nil {
		if s.endsBefore(f) {
			s = c.newSlot(f)
			s.split = true
		}
		return s
	}
	s := c.known(f)
	if s == nil || (f.index >= 0 && s.index >= 0) || s.again(f) {
		return c.newSlot(f)
	}
	if f.index >= 0 {
		c.bind(s, f.index)
	}
	return s
}

// atIndex returns the slot of a fragment's index, nil for none. Where a provider
// gives all calls one index, the id says which.
func (c *callSlots) atIndex(f callFragment) *slot {
	if f.index < 0 {
		return nil
	}
	if f.id != "" {
		for _, s := range slices.Backward(c.slots) {
			if s.index == f.index && s.id == f.id {
				c.bind(s, f.index)
				return s
			}
		}
	}
	return c.byIndex[f.index]
}

// known returns the slot that a fragment without a known index continues, nil
// for none.
func (c *callSlots) known(f callFragment) *slot {
	if f.id != "" {
		for _, s := range slices.Backward(c.slots) {
			if s.id == f.id {
				return s
			}
		}
	}
	open := c.open
	if open == nil {
		return nil
	}
	newID := f.id != "" && (open.id != "" || f.name != "" && open.name != "")
	newName := f.name != "" && open.name != "" && f.name != open.name
	if newID || newName {
		return nil
	}
	return open
}

// endsBefore reports that a fragment under the index of s starts another call.
func (s *slot) endsBefore(f callFragment) bool {
	if f.id != "" && s.id != "" && f.id != s.id {
		return f.name != "" || s.complete()
	}
	if f.name != "" && s.name != "" && f.name != s.name && !strings.HasPrefix(f.name, s.name) {
		return s.complete()
	}
	return s.again(f)
}

// again reports that a fragment with the id or the name of s is another call
// all the same: s has all its arguments and the fragment brings others. The
// very same call under the same id is a repeat, not a second call.
func (s *slot) again(f callFragment) bool {
	if f.name == "" || f.blank() || !s.complete() {
		return false
	}
	return f.id == "" || string(f.args) != string(s.args.escaped)
}

// complete reports that the arguments are a whole JSON object.
func (s *slot) complete() bool {
	text := strings.TrimRight(string(s.args.escaped), ` \nrt`) // blanks and their escapes
	return strings.HasSuffix(text, "}") && ArgumentsState(s.args.String()) == ArgumentsComplete
}

func (c *callSlots) newSlot(f callFragment) *slot {
	s := &slot{index: -1}
	c.slots = append(c.slots, s)
	if f.index >= 0 {
		c.bind(s, f.index)
	}
	return s
}

func (c *callSlots) bind(s *slot, index int) {
	if c.byIndex == nil {
		c.byIndex = map[int]*slot{}
	}
	s.index = index
	c.byIndex[index] = s
}

// take adds what a fragment brings to its slot.
func (s *slot) take(f callFragment) {
	repeat := f.id != "" && f.id == s.id && f.name != "" && f.name == s.name && len(f.args) > 0 &&
		string(f.args) == string(s.args.escaped) && s.complete()
	if f.id != "" {
		s.id = f.id
	}
	if f.kind != "" {
		s.kind = f.kind
	}
	switch {
	case f.name == "":
	case len(s.args.escaped) > 0 || strings.HasPrefix(f.name, s.name): // late, or all of it once more
		s.name = f.name
	default:
		s.name += f.name
	}
	if f.name != "" && f.blank() && s.complete() {
		s.named = &f
	}
	if !repeat {
		s.args.escaped = append(s.args.escaped, f.args...)
	}
	for _, m := range f.function {
		s.function.add(m.name, m.value)
	}
	for _, m := range f.extra {
		s.extra.add(m.name, m.value)
	}
}

// finish returns the calls: in the order of their indexes if all have one, else
// in the order in which they began.
func (c *callSlots) finish() ([]Call, error) {
	var made []Call
	for i, s := range c.ordered() {
		if s.name == "" {
			return nil, fmt.Errorf("tool call %d has no name", i+1)
		}
		made = append(made, s.call())
	}
	return made, nil
}

// ordered returns the slots of the calls in the order that finish gives them.
func (c *callSlots) ordered() []*slot {
	slots := slices.DeleteFunc(slices.Clone(c.slots), (*slot).phantom)
	if !slices.ContainsFunc(slots, func(s *slot) bool { return s.index < 0 }) {
		slices.SortStableFunc(slots, func(a, b *slot) int { return a.index - b.index })
	}
	return slots
}

// phantom reports a slot that holds nothing but an id: a provider changed the
// id once more after the arguments had ended.
func (s *slot) phantom() bool {
	return s.split && s.name == "" && len(s.args.escaped) == 0 && len(s.extra.list) == 0
}

// call writes the canonical call: id, type, function with name and arguments,
// and at each level the unknown members in the order received. Arguments that
// were blank, null or absent are written as {}, which every server takes.
func (s *slot) call() Call {
	call := Call{ID: s.id, Name: s.name, Arguments: s.args.String()}
	if blank := strings.TrimSpace(call.Arguments); blank == "" || blank == "null" {
		call.Arguments = "{}"
	}
	kind := s.kind
	if kind == "" {
		kind = "function"
	}
	function := appendMember(jsontext.Value{'{'}, "name", quote(call.Name))
	function = appendMember(function, "arguments", quote(call.Arguments))
	function = append(s.function.write(function), '}')
	raw := appendMember(jsontext.Value{'{'}, "id", quote(call.ID))
	raw = appendMember(raw, "type", quote(kind))
	raw = appendMember(raw, "function", function)
	call.Raw = append(s.extra.write(raw), '}')
	return call
}
