package transcripts

import (
	"bytes"
	"fmt"
	"unicode/utf8"

	"github.com/tapetree/tapetree/runtime"
)

// plan is how a message list is written: from which list it starts, what
// changes in that, and what is new.
type plan struct {
	from  *string // nil: the agent's last list
	base  *Exchange
	edits []edit[runtime.Message]
	add   []runtime.Message
}

// list writes from, edits and add of an exchange.
func (c *coder) list(d *draft, x *Exchange) {
	p := c.plan(x)
	if p.from != nil {
		d.str("from", *p.from)
	}
	if len(p.edits) > 0 {
		d.key("edits")
		d.text = append(d.text, '[')
		for i, e := range p.edits {
			d.comma(i)
			d.text = fmt.Appendf(d.text, "[%d,%d,", e.at, e.drop)
			c.messages(d, x, p.base, e.put)
			d.text = append(d.text, ']')
		}
		d.text = append(d.text, ']')
	}
	d.key("add")
	c.messages(d, x, p.base, p.add)
}

// plan chooses the way that writes least.
func (c *coder) plan(x *Exchange) plan {
	list := body(x)
	last := c.lastOf(x.Agent)
	if last == nil {
		if p, ok := c.fromElsewhere(x, list); ok {
			return p
		}
		return plan{add: list}
	}
	old := body(last)
	if extends(x, last) {
		return plan{base: last, add: list[len(old):]}
	}
	best := plan{from: new(string), base: last, add: list}
	if edits, add := difference(old, list); planCost(edits, add) < planCost(nil, list) {
		best = plan{base: last, edits: edits, add: add}
	}
	if p, ok := c.fromElsewhere(x, list); ok && planCost(nil, p.add) < planCost(best.edits, best.add) {
		return p
	}
	return best
}

func (c *coder) lastOf(agent runtime.Path) *Exchange {
	if all := c.history[agent]; len(all) > 0 {
		return all[len(all)-1]
	}
	return nil
}

// body is the list without the message that the system key stands for.
func body(x *Exchange) []runtime.Message {
	messages := x.Messages.Messages()
	if _, ok := systemText(x.Messages); ok {
		return messages[1:]
	}
	return messages
}

// extends reports whether x's list without its system text begins with all of
// base's.
func extends(x, base *Exchange) bool {
	if x.Messages.Extends(base.Messages) {
		return true
	}
	old, list := body(base), body(x)
	return len(list) >= len(old) && commonPrefix(old, list) == len(old)
}

func commonPrefix(a, b []runtime.Message) int {
	n := min(len(a), len(b))
	for i := range n {
		if !same(a[i], b[i]) {
			return i
		}
	}
	return n
}

func same(a, b runtime.Message) bool { return bytes.Equal(a.Raw, b.Raw) }

// fromElsewhere looks for the longest list of the agent above, or of the agent
// whose side conversation this is, that x's list begins with.
func (c *coder) fromElsewhere(x *Exchange, list []runtime.Message) (plan, bool) {
	other, isSide := sideOf(x.Agent)
	if !isSide {
		var ok bool
		if other, _, _, ok = x.Agent.Parent(); !ok {
			return plan{}, false
		}
	}
	all := c.history[other]
	for i := len(all) - 1; i >= 0; i-- {
		if i+1 < len(all) && all[i+1].Turn == all[i].Turn {
			continue // a reference means the last try
		}
		old := body(all[i])
		if len(old) > 0 && len(old) <= len(list) && commonPrefix(old, list) == len(old) {
			from := place(other, all[i].Turn)
			return plan{from: &from, base: all[i], add: list[len(old):]}, true
		}
	}
	return plan{}, false
}

// editCost is about what an edit costs beside its messages, in bytes.
const editCost = 16

func planCost(edits []edit[runtime.Message], add []runtime.Message) int {
	cost := editCost * len(edits)
	for _, e := range edits {
		for _, m := range e.put {
			cost += len(m.Raw)
		}
	}
	for _, m := range add {
		cost += len(m.Raw)
	}
	return cost
}

// difference tells how old became list: messages replaced in place, or one
// stretch replaced by another, whichever writes less.
func difference(old, list []runtime.Message) (edits []edit[runtime.Message], add []runtime.Message) {
	prefix := commonPrefix(old, list)
	edits, add = splice(old, list, prefix)
	if len(list) < len(old) {
		return edits, add
	}
	if inPlace := replaced(old, list, prefix); planCost(inPlace, list[len(old):]) < planCost(edits, add) {
		return inPlace, list[len(old):]
	}
	return edits, add
}

// replaced keeps every message at its position.
func replaced(old, list []runtime.Message, at int) []edit[runtime.Message] {
	var edits []edit[runtime.Message]
	for at < len(old) {
		end := at
		for end < len(old) && !same(old[end], list[end]) {
			end++
		}
		if end > at {
			edits = append(edits, edit[runtime.Message]{at: at, drop: end - at, put: list[at:end]})
		}
		at = end + 1
	}
	return edits
}

// splice replaces one stretch, so that as many of old's last messages as
// possible stay.
func splice(old, list []runtime.Message, prefix int) ([]edit[runtime.Message], []runtime.Message) {
	kept, end := 0, prefix
	for j := len(list); j > prefix; j-- {
		n := 0
		for n < len(old)-prefix && n < j-prefix && same(old[len(old)-1-n], list[j-1-n]) {
			n++
		}
		if n > kept {
			kept, end = n, j
		}
	}
	e := edit[runtime.Message]{at: prefix, drop: len(old) - prefix - kept}
	if kept > 0 {
		e.put = list[prefix : end-kept]
	}
	return []edit[runtime.Message]{e}, list[end:]
}

// messages writes a list of messages, by reference where one fits.
func (c *coder) messages(d *draft, x, base *Exchange, list []runtime.Message) {
	d.text = append(d.text, '[')
	for i, m := range list {
		d.comma(i)
		switch ref := c.callOf(x, m); {
		case base != nil && m.Role == runtime.RoleAssistant && bytes.Equal(c.answer(base), m.Raw):
			d.text = append(d.text, `{"echo":1}`...)
		case ref != "":
			d.text = append(append(d.text, `{"tool":`...), appendQuote(nil, ref)...)
			d.text = append(d.text, '}')
		default:
			d.message(x.wire(), m)
		}
	}
	d.text = append(d.text, ']')
}

// message writes a message itself: as it is, or as text where it cannot stand
// on a line as it is.
func (d *draft) message(wire runtime.Wire, m runtime.Message) {
	switch {
	case strict(m.Raw) && (m.Role != "" || isItem(wire, m)):
		d.text = append(d.text, m.Raw...)
	case utf8.Valid(m.Raw):
		d.text = append(append(d.text, `{"raw":`...), appendQuote(nil, string(m.Raw))...)
		d.text = append(d.text, '}')
	default:
		d.text = append(d.text, '{')
		inner := draft{}
		inner.base64("base64", m.Raw)
		d.text = append(append(d.text, inner.text[1:]...), '}')
	}
}

// isItem reports that a message without role is an element of its wire all the
// same.
func isItem(wire runtime.Wire, m runtime.Message) bool {
	if wire != runtime.WireResponses {
		return false
	}
	_, err := wire.ParseItem(m.Raw)
	return err == nil
}

// answer returns the canonical message of a response; nil if it was none.
func (c *coder) answer(x *Exchange) []byte {
	raw, known := c.answers[x]
	if !known {
		if answer, err := runtime.Decode(x.Reply(), runtime.Dialect{}); err == nil {
			raw = answer.Message.Raw
		}
		c.answers[x] = raw
	}
	return raw
}

// callOf returns the reference to the tool line whose result m carries, ""
// if there is none: the agent's own last one before this turn, else any
// agent's first.
func (c *coder) callOf(x *Exchange, m runtime.Message) string {
	if m.Role != runtime.RoleTool {
		return ""
	}
	var best *Call
	for _, t := range c.calls[m.CallID] {
		if betterCall(x, t.call, best) && bytes.Equal(t.message(), m.Raw) {
			best = t.call
		}
	}
	switch {
	case best == nil:
		return ""
	case best.Agent == x.Agent:
		return fmt.Sprintf("%d.%d", best.Turn, best.Call)
	default:
		return fmt.Sprintf("%s.%d", place(best.Agent, best.Turn), best.Call)
	}
}

// betterCall reports whether call is a better origin than best of a message in
// x's list.
func betterCall(x *Exchange, call, best *Call) bool {
	if best == nil {
		return call.Agent == x.Agent && call.Turn < x.Turn || call.Agent != x.Agent
	}
	if call.Agent != x.Agent {
		return false
	}
	if call.Turn >= x.Turn {
		return false
	}
	return best.Agent != x.Agent || call.Turn > best.Turn
}
