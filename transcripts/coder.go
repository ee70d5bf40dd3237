package transcripts

import (
	"bytes"
	"fmt"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/tapetree/tapetree/runtime"
)

// coder writes the lines of one file, in whatever order they come, and keeps
// what later lines refer to.
type coder struct {
	numbers *secretNumbers // nil: secrets keep their numbers
	sums    bool
	file    *File // for the unknown keys of system and tools lines

	systems map[string]string            // id by text
	tools   map[string]string            // id by list
	history map[runtime.Path][]*Exchange // what each agent has written so far
	calls   map[string][]*taken          // tool lines of all agents, by call id
	answers map[*Exchange]jsontext.Value // decoded responses
}

// taken is a tool line with the message that carries its result.
type taken struct {
	call *Call
	raw  jsontext.Value // built when it is first compared
}

func (t *taken) message() jsontext.Value {
	if t.raw == nil {
		t.raw = runtime.ToolMessage(t.call.ID, t.call.Result).Raw
	}
	return t.raw
}

func newCoder(f *File) *coder {
	return &coder{
		sums:    f.Header.By != Authored,
		file:    f,
		systems: map[string]string{},
		tools:   map[string]string{},
		history: map[runtime.Path][]*Exchange{},
		calls:   map[string][]*taken{},
		answers: map[*Exchange]jsontext.Value{},
	}
}

// know makes a tool line one that messages can refer to.
func (c *coder) know(call *Call) {
	c.calls[call.ID] = append(c.calls[call.ID], &taken{call: call})
}

func (c *coder) header(h *Header) []byte {
	d := newDraft("header")
	d.count("format", Format)
	d.str("name", h.Name)
	d.optStr("profile", h.Profile)
	d.optStr("client", h.Client)
	d.optStrs("models", h.Models)
	d.optStr("upstream", h.Upstream)
	d.optStr("sub-upstream", h.SubUpstream)
	var env []Member
	if h.Env.OS != "" {
		env = append(env, Member{"os", appendQuote(nil, h.Env.OS)})
	}
	if h.Env.Date != "" {
		env = append(env, Member{"date", appendQuote(nil, h.Env.Date)})
	}
	d.optObject("env", append(env, h.Env.Extra...))
	d.optStr("recorded", h.Recorded)
	d.optStr("imported", h.Imported)
	d.str("by", h.By)
	d.extra(h.Extra)
	return d.finish(c.numbers)
}

// exchange returns the exchange's line, after the system and tools lines that
// it is the first to use.
func (c *coder) exchange(x *Exchange) []byte {
	var lines []byte
	d := newDraft("exchange")
	d.str("agent", string(x.Agent))
	d.count("turn", x.Turn)
	if x.Try > 1 {
		d.count("try", x.Try)
	}
	d.optStr("flag", x.Flag)
	d.optStrs("candidates", pathTexts(x.Candidates))
	wire := x.Wire
	if wire == "" {
		wire = string(runtime.WireChat)
	}
	d.str("wire", wire)
	d.str("model", x.Model)
	if text, ok := systemText(x.Messages); ok {
		id, line := c.system(text)
		lines = append(lines, line...)
		d.str("system", id)
	}
	if x.Tools != nil {
		id, line := c.toolList(x.Tools)
		lines = append(lines, line...)
		d.str("tools", id)
	}
	d.optObject("params", paramMembers(x.Params))
	c.list(d, x)
	if x.Recut {
		d.raw("recut", jsontext.Value("true"))
	}
	if c.sums {
		d.sum()
	}
	d.response(x)
	d.extra(x.Extra)
	c.history[x.Agent] = append(c.history[x.Agent], x)
	return append(lines, d.finish(c.numbers)...)
}

func pathTexts(paths []runtime.Path) []string {
	var texts []string
	for _, path := range paths {
		texts = append(texts, string(path))
	}
	return texts
}

func paramMembers(params []runtime.Param) []Member {
	var members []Member
	for _, p := range params {
		members = append(members, Member(p))
	}
	return members
}

// response writes status, headers and the one form of response.
func (d *draft) response(x *Exchange) {
	d.count("status", x.Status)
	d.optObject("headers", x.Headers)
	switch {
	case x.SSE != nil:
		d.key("sse")
		d.text = append(d.text, '[')
		for i, block := range x.SSE {
			d.comma(i)
			d.block(block)
		}
		d.text = append(d.text, ']')
	case x.Text != nil:
		if utf8.ValidString(*x.Text) {
			d.str("text", *x.Text)
		} else {
			d.base64("base64", []byte(*x.Text))
		}
	case x.Base64 != nil:
		d.base64("base64", x.Base64)
	case x.Err != "":
		d.str("error", x.Err)
	default:
		d.body(x.Response)
	}
	d.optStr("end", string(x.StreamEnd))
}

// block writes one block of a stream.
func (d *draft) block(block string) {
	if utf8.ValidString(block) {
		d.text = appendQuote(d.text, block)
		return
	}
	inner := draft{text: []byte{'{'}}
	inner.base64("base64", []byte(block))
	d.text = append(append(d.text, '{'), inner.text[2:]...) // without `{,`
	d.text = append(d.text, '}')
}

// system returns the id of a system text and, the first time, its line.
func (c *coder) system(text string) (id string, line []byte) {
	if id, known := c.systems[text]; known {
		return id, nil
	}
	id = fmt.Sprintf("s%d", len(c.systems)+1)
	c.systems[text] = id
	d := newDraft("system")
	d.str("id", id)
	d.str("text", text)
	d.extra(c.file.systemExtra[text])
	return id, c.sealed(d)
}

// toolList returns the id of a list of tools and, the first time, its line.
func (c *coder) toolList(list jsontext.Value) (id string, line []byte) {
	if id, known := c.tools[string(list)]; known {
		return id, nil
	}
	id = fmt.Sprintf("t%d", len(c.tools)+1)
	c.tools[string(list)] = id
	d := newDraft("tools")
	d.str("id", id)
	if strict(list) && list.Kind() == '[' {
		d.raw("tools", list)
	} else {
		d.str("tools", string(list))
	}
	d.extra(c.file.toolsExtra[string(list)])
	return id, c.sealed(d)
}

// sealed finishes a line with its sum last, if this file has sums.
func (c *coder) sealed(d *draft) []byte {
	if c.sums {
		d.sum()
	}
	return d.finish(c.numbers)
}

func (c *coder) call(call *Call) []byte {
	d := newDraft("tool")
	d.str("agent", string(call.Agent))
	d.count("turn", call.Turn)
	d.count("call", call.Call)
	d.str("id", call.ID)
	d.str("name", call.Name)
	d.str("arguments", call.Arguments)
	d.str("verdict", string(call.Verdict))
	d.str("result", call.Result)
	d.optStr("child", string(call.Child))
	d.extra(call.Extra)
	return c.sealed(d)
}

func (c *coder) http(h *HTTP) []byte {
	d := draft{text: bytes.Clone(valueOnLine(h.Raw))}
	return append(c.numbers.renumber(d.text), '\n')
}

func (c *coder) timing(t *Timing) []byte {
	d := newDraft("timing")
	d.optStr("clock", t.Clock)
	d.key("exchanges")
	d.text = append(d.text, '[')
	for i, x := range t.Exchanges {
		d.comma(i)
		d.exchangeTime(x)
	}
	d.text = append(d.text, ']')
	d.optStrs("order", t.Order)
	d.extra(t.Extra)
	return d.finish(c.numbers)
}

func (d *draft) exchangeTime(x ExchangeTime) {
	d.text = append(d.text, `{"agent":`...)
	d.text = appendQuote(d.text, string(x.Agent))
	d.count("turn", x.Turn)
	if x.Try > 1 {
		d.count("try", x.Try)
	}
	d.key("start")
	d.float(x.Start)
	if x.First != 0 {
		d.key("first")
		d.float(x.First)
	}
	d.key("end")
	d.float(x.End)
	if x.Blocks != nil {
		d.key("blocks")
		d.text = append(d.text, '[')
		for i, ms := range x.Blocks {
			d.comma(i)
			d.float(ms)
		}
		d.text = append(d.text, ']')
	}
	d.extra(x.Extra)
	d.text = append(d.text, '}')
}

func (c *coder) end(e *End, exchanges int) []byte {
	d := newDraft("end")
	d.count("exchanges", exchanges)
	if e.Code != nil {
		d.count("code", *e.Code)
	}
	var stops []Member
	for _, stop := range e.Stops {
		stops = append(stops, Member{string(stop.Agent), appendQuote(nil, string(stop.Reason))})
	}
	d.optObject("stops", stops)
	d.extra(e.Extra)
	return d.finish(c.numbers)
}

// systemText returns the text of the first message if it is a system message
// as the runtime writes it.
func systemText(list runtime.View) (string, bool) {
	if list.Len() == 0 {
		return "", false
	}
	first := list.Messages()[0]
	if first.Role != runtime.RoleSystem || !bytes.Equal(runtime.SystemMessage(first.Content).Raw, first.Raw) {
		return "", false
	}
	return first.Content, true
}
