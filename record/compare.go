package record

import (
	"bytes"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/tapetree/tapetree/runtime"
	"github.com/tapetree/tapetree/transcripts"
)

// comparison is what came out of holding one request against the recorded one.
type comparison struct {
	volatile               bool // equal, but not byte for byte
	prompt, tools, history []difference
	messages               runtime.View // of a request over HTTP: as it is kept, see keptSession

	differs struct{ tools, model, params bool }
	whole   bool   // pairs begin with the first message
	pairs   []pair // the messages that are new since the last call, for a rebase
}

func (c *comparison) grade() Grade {
	switch {
	case len(c.history) > 0:
		return GradeHistory
	case len(c.tools) > 0:
		return GradeTools
	case len(c.prompt) > 0:
		return GradePrompt
	case c.volatile:
		return GradeVolatile
	default:
		return Exact
	}
}

// asking is what a request asks for: one of our own runner, or one that came
// over HTTP.
type asking struct {
	*request
	folded  bool // in placeholder form already
	changed bool // something was replaced to bring it there
}

// askedBy is what a request of our own runner asks for.
func askedBy(req *runtime.Request) *asking {
	return &asking{request: &request{
		wire: runtime.WireChat, model: req.Model, messages: req.Messages, tools: req.Tools, params: sentParams(req),
	}}
}

// comparer holds the requests of one agent against its recorded ones, in turn
// order. What was compared in an earlier turn is not compared again, so that a
// turn costs what it adds. It is not safe for concurrent use.
type comparer struct {
	fold    *runtime.Folder
	redact  *Redactor
	rules   *Volatile
	secrets *pairs // of the whole session
	ids     pairs  // of this agent
	twins   *twins // nil: no two agents of the recording begin alike
	agent   runtime.Path
	pairs   bool // comparisons hold the messages

	asking         *asking      // what is being compared
	sent, recorded runtime.View // compared up to here
	kept           keptSession
	tools          [2][]byte // the last two lists compared, sent and recorded
	toolsDiffer    []difference
	toolsVolatile  bool
	uses           map[string]int
}

// compare holds what a request asks for against e. The comparison lists only
// what is new since the last call.
func (c *comparer) compare(e *transcripts.Exchange, a *asking) *comparison {
	out := &comparison{}
	if c.uses == nil {
		c.uses = map[string]int{}
	}
	c.asking = a
	c.compareTools(out, e.Tools, a.tools)
	tools := len(out.tools)
	c.compareModel(out, e.Model, a.model)
	model := len(out.tools)
	c.compareParams(out, e.Params, a.params)
	out.differs.tools, out.differs.model, out.differs.params = tools > 0, model > tools, len(out.tools) > model
	c.compareMessages(out, e)
	c.asking = nil
	return out
}

func (c *comparer) compareMessages(out *comparison, e *transcripts.Exchange) {
	recorded, sent := e.Messages, c.asking.messages
	r, s := 0, 0
	if sent.Extends(c.sent) && recorded.Extends(c.recorded) {
		r, s = c.recorded.Len(), c.sent.Len()
	}
	c.sent, c.recorded = sent, recorded
	rs, ss := recorded.Messages(), sent.Messages()
	from := s
	if c.twins != nil {
		var lost []difference
		ss, lost = c.untwin(out, e, ss, from)
		out.history = append(out.history, lost...)
	}
	places := placesIn(c.asking.wire, e.Params, c.asking.params)
	if r == 0 && s == 0 {
		out.whole = true
		r, s = leadingSystems(rs), leadingSystems(ss)
		for i := range max(r, s) {
			out.prompt = append(out.prompt, c.comparePair(out, places.pointer(i), messageAt(rs[:r], i), messageAt(ss[:s], i))...)
		}
	}
	for r < len(rs) || s < len(ss) {
		at := places.pointer(max(r, s))
		out.history = append(out.history, c.comparePair(out, at, messageAt(rs, r), messageAt(ss, s))...)
		r, s = r+1, s+1
	}
	if c.asking.folded {
		out.messages = c.kept.add(c, from, ss)
	}
}

// comparePair is compareMessage, and notes the pair for a rebase.
func (c *comparer) comparePair(out *comparison, at string, recorded, sent *runtime.Message) []difference {
	found := c.compareMessage(out, at, recorded, sent)
	if c.pairs {
		out.pairs = append(out.pairs, pair{recorded, sent, len(found) > 0})
	}
	return found
}

// messageAt is the message at i, nil past the end.
func messageAt(messages []runtime.Message, i int) *runtime.Message {
	if i >= len(messages) {
		return nil
	}
	return &messages[i]
}

// leadingSystems is how many system texts a conversation begins with.
func leadingSystems(messages []runtime.Message) int {
	n := 0
	for n < len(messages) && (messages[n].Role == runtime.RoleSystem || messages[n].Role == "developer") {
		n++
	}
	return n
}

// messagePlaces says where the messages of a request stand in its body.
type messagePlaces struct {
	list   string
	beside string // the member that holds the first one; "": they all stand in the list
}

func placesIn(wire runtime.Wire, recorded, sent []runtime.Param) messagePlaces {
	p := messagePlaces{list: wire.List()}
	if name := wire.System(); name != "" && (isSystemReference(recorded, name) || isSystemReference(sent, name)) {
		p.beside = name
	}
	return p
}

func isSystemReference(params []runtime.Param, name string) bool {
	return bytes.Equal(paramNamed(params, name), transcripts.SystemReference)
}

// pointer is that of message i.
func (p messagePlaces) pointer(i int) string {
	if p.beside == "" {
		return "/" + p.list + "/" + strconv.Itoa(i)
	}
	if i == 0 {
		return "/" + p.beside
	}
	return "/" + p.list + "/" + strconv.Itoa(i-1)
}

func count(m *runtime.Message) int {
	if m == nil {
		return 0
	}
	return 1
}

// compareMessage compares one message; either may be nil.
func (c *comparer) compareMessage(out *comparison, at string, recorded, sent *runtime.Message) []difference {
	if recorded == nil || sent == nil {
		d := c.diff()
		d.values(at, messageNode(recorded), c.sentNode(sent))
		return d.found
	}
	marked := bytes.Contains(recorded.Raw, []byte("{{"))
	plain := c.asking.wire == runtime.WireChat || !bytes.Contains(recorded.Raw, []byte(`id"`)) // else its ids stand inside
	if plain && !marked && bytes.Equal(recorded.Raw, sent.Raw) && c.sameIDs(recorded, sent) {
		return nil
	}
	normal := c.normal(sent.Raw)
	replaced := !bytes.Equal(normal, sent.Raw) || c.asking.changed && marked
	if plain && bytes.Equal(recorded.Raw, normal) && c.sameIDs(recorded, sent) && c.sameSecrets(recorded.Raw) {
		if replaced {
			c.used(out, usePlaceholders)
		}
		return nil
	}
	d := c.diff()
	d.values(at, messageValue(recorded.Raw, at), messageValue(normal, at))
	if replaced {
		d.uses[usePlaceholders]++
	}
	if len(d.found)+len(d.uses) == 0 && bytes.Equal(recorded.Raw, normal) {
		return nil
	}
	return c.settle(out, d)
}

// messageValue reads a message for comparing: of a system text beside the
// conversation, the text.
func messageValue(raw []byte, at string) *node {
	n := valueNode(raw)
	if strings.Count(at, "/") == 1 {
		if content := n.member("content"); content != nil {
			return content
		}
	}
	return n
}

// sameIDs reports whether the ids of two messages with equal bytes stand for
// the same calls as before, and keeps them.
func (c *comparer) sameIDs(recorded, sent *runtime.Message) bool {
	if recorded.CallID != "" && !c.ids.same(recorded.CallID, sent.CallID) {
		return false
	}
	for i, call := range recorded.Calls {
		if call.ID != "" && !c.ids.same(call.ID, sent.Calls[i].ID) {
			return false
		}
	}
	return true
}

// sameSecrets reports whether the secrets in raw, the same on both sides, stand
// for the same ones as before, and keeps them.
func (c *comparer) sameSecrets(raw []byte) bool {
	for _, mark := range secretMark.FindAllString(string(raw), -1) {
		if !c.secrets.same(mark, mark) {
			return false
		}
	}
	return true
}

// used counts a rule that made the request equal.
func (c *comparer) used(out *comparison, rule string) {
	out.volatile = true
	c.uses[rule]++
}

// compareValue compares one member of the body; nil is an absent one.
func (c *comparer) compareValue(out *comparison, at string, recorded, sent jsontext.Value) []difference {
	d := c.diff()
	var r, s *node
	if recorded != nil {
		r = valueNode(recorded)
	}
	if sent != nil {
		s = valueNode(c.normal(sent))
	}
	d.values(at, r, s)
	return c.settle(out, d)
}

func (c *comparer) diff() *diff {
	return &diff{rules: c.rules, ids: &c.ids, secrets: c.secrets, uses: map[string]int{}}
}

// settle takes over what d counted if nothing differs, and returns what does.
func (c *comparer) settle(out *comparison, d *diff) []difference {
	if len(d.found) > 0 {
		return d.found
	}
	if len(d.uses) == 0 {
		d.uses[useJSONForm]++
	}
	out.volatile = true
	for rule, n := range d.uses {
		c.uses[rule] += n
	}
	return nil
}

// normal brings live JSON into the form that transcripts hold.
func (c *comparer) normal(raw []byte) []byte {
	if c.asking != nil && c.asking.folded {
		return raw
	}
	return c.redact.JSON(c.fold.FoldJSON(raw))
}

func (c *comparer) sentNode(m *runtime.Message) *node {
	if m == nil {
		return nil
	}
	return valueNode(c.normal(m.Raw))
}

func messageNode(m *runtime.Message) *node {
	if m == nil {
		return nil
	}
	return valueNode(m.Raw)
}

// valueNode reads a value for comparing; what is no JSON compares as the text
// it is.
func valueNode(raw []byte) *node {
	if n, err := parseNode(raw); err == nil {
		return n
	}
	return &node{kind: jsontext.KindString, text: string(raw)}
}
