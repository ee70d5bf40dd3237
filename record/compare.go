package record

import (
	"bytes"
	"strconv"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/tapetree/tapetree/runtime"
	"github.com/tapetree/tapetree/transcripts"
)

// comparison is what came out of holding one request against the recorded one.
type comparison struct {
	volatile               bool // equal, but not byte for byte
	prompt, tools, history []difference
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

// comparer holds the requests of one agent against its recorded ones, in turn
// order. What was compared in an earlier turn is not compared again, so that a
// turn costs what it adds. It is not safe for concurrent use.
type comparer struct {
	fold    *runtime.Folder
	redact  *Redactor
	rules   *Volatile
	secrets *pairs // of the whole session
	ids     pairs  // of this agent

	sent, recorded runtime.View // compared up to here
	tools          [2][]byte    // the last two lists compared, sent and recorded
	toolsDiffer    []difference
	toolsVolatile  bool
	uses           map[string]int
}

// compare holds req against e. The comparison lists only what is new since the
// last call.
func (c *comparer) compare(e *transcripts.Exchange, req *runtime.Request) *comparison {
	out := &comparison{}
	if c.uses == nil {
		c.uses = map[string]int{}
	}
	c.compareTools(out, e.Tools, req.Tools)
	c.compareModel(out, e.Model, req.Model)
	c.compareParams(out, e.Params, sentParams(req))
	c.compareMessages(out, e.Messages, req.Messages)
	return out
}

func (c *comparer) compareMessages(out *comparison, recorded, sent runtime.View) {
	r, s := 0, 0
	if sent.Extends(c.sent) && recorded.Extends(c.recorded) {
		r, s = c.recorded.Len(), c.sent.Len()
	}
	c.sent, c.recorded = sent, recorded
	rs, ss := recorded.Messages(), sent.Messages()
	if r == 0 && s == 0 {
		rSystem, sSystem := leadingSystem(rs), leadingSystem(ss)
		if rSystem != nil || sSystem != nil {
			out.prompt = c.compareMessage(out, 0, rSystem, sSystem)
		}
		r, s = count(rSystem), count(sSystem)
	}
	for r < len(rs) || s < len(ss) {
		var rm, sm *runtime.Message
		if r < len(rs) {
			rm = &rs[r]
		}
		if s < len(ss) {
			sm = &ss[s]
		}
		out.history = append(out.history, c.compareMessage(out, max(r, s), rm, sm)...)
		r, s = r+1, s+1
	}
}

func leadingSystem(messages []runtime.Message) *runtime.Message {
	if len(messages) > 0 && messages[0].Role == runtime.RoleSystem {
		return &messages[0]
	}
	return nil
}

func count(m *runtime.Message) int {
	if m == nil {
		return 0
	}
	return 1
}

// compareMessage compares one message; either may be nil.
func (c *comparer) compareMessage(out *comparison, at int, recorded, sent *runtime.Message) []difference {
	if recorded == nil || sent == nil {
		d := c.diff()
		d.values(messagePointer(at), messageNode(recorded), c.sentNode(sent))
		return d.found
	}
	marked := bytes.Contains(recorded.Raw, []byte("{{"))
	if !marked && bytes.Equal(recorded.Raw, sent.Raw) && c.sameIDs(recorded, sent) {
		return nil
	}
	normal := c.normal(sent.Raw)
	if bytes.Equal(recorded.Raw, normal) && c.sameIDs(recorded, sent) && c.sameSecrets(recorded.Raw) {
		if !bytes.Equal(normal, sent.Raw) {
			c.used(out, usePlaceholders)
		}
		return nil
	}
	d := c.diff()
	d.values(messagePointer(at), valueNode(recorded.Raw), valueNode(normal))
	if !bytes.Equal(normal, sent.Raw) {
		d.uses[usePlaceholders]++
	}
	return c.settle(out, d)
}

func messagePointer(at int) string { return "/messages/" + strconv.Itoa(at) }

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

// compareTools compares the schemas; a list that the last request had too is
// not read again.
func (c *comparer) compareTools(out *comparison, recorded, sent jsontext.Value) {
	if !sameSlice(c.tools[0], sent) || !sameSlice(c.tools[1], recorded) {
		c.tools = [2][]byte{sent, recorded}
		c.toolsDiffer, c.toolsVolatile = nil, false
		if !bytes.Equal(recorded, sent) {
			inner := &comparison{}
			c.toolsDiffer = c.compareValue(inner, "/tools", recorded, sent)
			c.toolsVolatile = inner.volatile
		}
	}
	out.tools = append(out.tools, c.toolsDiffer...)
	out.volatile = out.volatile || c.toolsVolatile
}

// sameSlice reports whether both are the very same bytes in memory.
func sameSlice(a, b []byte) bool {
	return len(a) == len(b) && (len(a) == 0 || &a[0] == &b[0])
}

func (c *comparer) compareModel(out *comparison, recorded, sent string) {
	if recorded == sent {
		return
	}
	d := c.diff()
	text := func(s string) *node { return &node{kind: jsontext.KindString, text: s} }
	d.values("/model", text(recorded), text(sent))
	out.tools = append(out.tools, c.settle(out, d)...)
}

// compareParams compares all other members by name. Their order is no
// difference, and a stream that is not asked for is a stream that is false.
func (c *comparer) compareParams(out *comparison, recorded, sent []runtime.Param) {
	reordered := len(recorded) != len(sent)
	for i, r := range recorded {
		s := paramNamed(sent, r.Name)
		if i >= len(sent) || sent[i].Name != r.Name {
			reordered = true
		}
		if bytes.Equal(s, r.Value) || s == nil && isStreamFalse(r) {
			continue
		}
		out.tools = append(out.tools, c.compareValue(out, pointer("", r.Name), r.Value, s)...)
	}
	for _, s := range sent {
		if paramNamed(recorded, s.Name) != nil {
			continue
		}
		if !isStreamFalse(s) {
			out.tools = append(out.tools, c.compareValue(out, pointer("", s.Name), nil, s.Value)...)
		}
	}
	if reordered && len(out.tools) == 0 {
		c.used(out, useJSONForm)
	}
}

func isStreamFalse(p runtime.Param) bool {
	return p.Name == "stream" && string(p.Value) == "false"
}

func paramNamed(params []runtime.Param, name string) jsontext.Value {
	for _, p := range params {
		if p.Name == name {
			return p.Value
		}
	}
	return nil
}

// sentParams lists the members of the request's body that are neither model,
// messages nor tools, as Body writes them.
func sentParams(req *runtime.Request) []runtime.Param {
	params := req.Params[:len(req.Params):len(req.Params)]
	if !req.Stream {
		return append(params, runtime.Param{Name: "stream", Value: jsontext.Value("false")})
	}
	return append(params,
		runtime.Param{Name: "stream", Value: jsontext.Value("true")},
		runtime.Param{Name: "stream_options", Value: jsontext.Value(`{"include_usage":true}`)})
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
