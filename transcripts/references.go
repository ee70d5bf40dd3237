package transcripts

import (
	"encoding/base64"
	"errors"
	"fmt"
	"strings"
	"sync"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/tapetree/tapetree/runtime"
)

// pending is an exchange whose message list still stands as references.
type pending struct {
	exchange *Exchange
	system   *definition
	from     *string
	edits    []edit[entry]
	add      []entry

	history *runtime.History // set when it is resolved

	decode sync.Once // the response is decoded when something asks for it
	answer runtime.Message
	failed error
	keep   bool // the exchange keeps the whole answer: see ParseLean
}

// edit is a change of older messages: drop messages of the base list from
// position at on and put others there.
type edit[M any] struct {
	at, drop int
	put      []M
}

// entry is one element of add, or of an edit.
type entry struct {
	echo    bool
	tool    string
	message runtime.Message
}

// readList takes from, edits and add.
func (p *pending) readList(l *line) {
	wire := p.exchange.wire()
	if l.has("from") {
		from := l.optString("from")
		p.from = &from
	}
	edits := l.value("edits")
	if l.of("edits", edits, '[') {
		for _, element := range elements(edits) {
			p.edits = append(p.edits, l.edit(wire, element))
		}
	}
	add := l.need("add")
	if l.of("add", add, '[') {
		p.add = l.entries(wire, "add", add)
	}
}

func (l *line) edit(wire runtime.Wire, value jsontext.Value) edit[entry] {
	var e edit[entry]
	var parts []jsontext.Value
	if value.Kind() == '[' {
		parts = elements(value)
	}
	if len(parts) != 3 {
		l.failed("an edit must be [at,drop,[messages]], not %s", shorten(value))
		return e
	}
	e.at = l.asCount("edits: at", parts[0], 0)
	e.drop = l.asCount("edits: drop", parts[1], 0)
	if l.of("edits: messages", parts[2], '[') {
		e.put = l.entries(wire, "edits", parts[2])
	}
	return e
}

func (l *line) entries(wire runtime.Wire, name string, list jsontext.Value) []entry {
	var entries []entry
	for i, value := range elements(list) {
		e, err := parseEntry(wire, value)
		if err != nil {
			l.failed("%s[%d]: %v", name, i, err)
			return nil
		}
		entries = append(entries, e)
	}
	return entries
}

// parseEntry reads {"echo":1}, {"tool":…}, a message that could not stand on a
// line as {"raw":…} or {"base64":…}, or a message in the wire's own form.
func parseEntry(wire runtime.Wire, value jsontext.Value) (entry, error) {
	if wire == runtime.WireResponses && value.Kind() == '"' {
		m, err := wire.ParseItem(value)
		return entry{message: m}, err
	}
	if value.Kind() != '{' {
		return entry{}, errors.New("a message must be an object, not " + kindName(value.Kind()))
	}
	keys := objectMembers(value)
	if len(keys) != 1 || keys[0].Name == "role" || wire == runtime.WireResponses && keys[0].Name == "type" {
		m, err := wire.ParseItem(value)
		return entry{message: m}, err
	}
	name, content := keys[0].Name, keys[0].Value
	if name == "echo" {
		if string(content) != "1" {
			return entry{}, fmt.Errorf("echo must be 1, not %s", shorten(content))
		}
		return entry{echo: true}, nil
	}
	text := stringOf(content)
	switch name {
	case "tool":
		if _, _, _, ok := splitCallPlace("", text); !ok {
			return entry{}, fmt.Errorf("tool must be TURN.CALL or AGENT#TURN.CALL, not %s", shorten(content))
		}
		return entry{tool: text}, nil
	case "raw":
		return entry{message: looseMessage(wire, text)}, nil
	case "base64":
		data, err := base64.StdEncoding.Strict().DecodeString(text)
		if err != nil {
			return entry{}, fmt.Errorf("not valid base64: %w", err)
		}
		return entry{message: looseMessage(wire, string(data))}, nil
	}
	return entry{}, fmt.Errorf("a message needs a role, and there is no reference %q", name)
}

// looseMessage reads what a client sent as a message without its being fit for
// a line: as far as the runtime can read it, Raw always.
func looseMessage(wire runtime.Wire, text string) runtime.Message {
	m, err := wire.ParseItem([]byte(text))
	if err != nil {
		m = runtime.Message{}
	}
	m.Raw = jsontext.Value(text)
	return m
}

// splitCallPlace reads TURN.CALL, of own, or AGENT#TURN.CALL.
func splitCallPlace(own runtime.Path, text string) (agent runtime.Path, turn, call int, ok bool) {
	agent = own
	if cut := strings.LastIndexByte(text, '#'); cut >= 0 {
		agent, text = runtime.Path(text[:cut]), text[cut+1:]
	}
	left, right, _ := strings.Cut(text, ".")
	turn, ok1 := counted(left)
	call, ok2 := counted(right)
	return agent, turn, call, ok1 && ok2
}

// resolver turns references into messages.
type resolver struct {
	calls  map[callKey]*Call
	last   map[runtime.Path]*pending // each agent's last exchange so far
	places map[string]*pending       // by AGENT#TURN, the last try so far
	lean   bool                      // see ParseLean
}

func (r *reader) resolve() error {
	v := &resolver{
		calls:  r.calls,
		last:   map[runtime.Path]*pending{},
		places: map[string]*pending{},
		lean:   r.lean,
	}
	for _, p := range r.pending {
		x, last := p.exchange, v.last[p.exchange.Agent]
		if r.file.End != nil && last != nil && !comesAfter(x, last.exchange) {
			// A partial file is in the order of arrival.
			return &SyntaxError{File: r.file.Path, Line: x.Line, Msg: fmt.Sprintf("%s try %d stands after %s try %d",
				place(x.Agent, x.Turn), x.Try, place(x.Agent, last.exchange.Turn), last.exchange.Try)}
		}
		if msg := v.resolve(p); msg != "" {
			return &SyntaxError{File: r.file.Path, Line: p.exchange.Line, Msg: msg}
		}
	}
	return nil
}

// resolve fills the exchange's Messages and returns what is wrong, or "".
func (v *resolver) resolve(p *pending) string {
	x := p.exchange
	last := v.last[x.Agent]
	base, answered := last, last
	if p.from != nil {
		base = nil
		if *p.from != "" {
			if base = v.places[*p.from]; base == nil {
				return fmt.Sprintf("from: there is no exchange %s above", *p.from)
			}
			answered = base
		}
	}
	add, msg := v.messages(p.add, x.Agent, answered)
	if msg != "" {
		return "add" + msg
	}
	if base == nil || base != last || base.system != p.system || len(p.edits) > 0 {
		old := base.body()
		p.history = new(runtime.History)
		if p.system != nil {
			p.history.Append(p.system.message)
		}
		if msg := v.applyEdits(p, old, answered); msg != "" {
			return msg
		}
	} else {
		p.history = base.history
	}
	p.history.Append(add...)
	x.Messages = p.history.View()
	v.last[x.Agent] = p
	v.places[place(x.Agent, x.Turn)] = p
	return ""
}

// comesAfter reports whether x is a later turn than y, or a later try.
func comesAfter(x, y *Exchange) bool {
	return x.Turn > y.Turn || x.Turn == y.Turn && x.Try > y.Try
}

// body is the list without the message that the system key stands for.
func (p *pending) body() []runtime.Message {
	if p == nil {
		return nil
	}
	messages := p.exchange.Messages.Messages()
	if p.system != nil {
		return messages[1:]
	}
	return messages
}

// applyEdits appends the old list, changed, to the exchange's new history.
func (v *resolver) applyEdits(p *pending, old []runtime.Message, answered *pending) string {
	at := 0
	for i, e := range p.edits {
		if e.at < at || e.at > len(old) || e.drop > len(old)-e.at {
			return fmt.Sprintf("edits[%d]: [%d,%d] lies outside messages %d to %d of the list before", i, e.at, e.drop, at, len(old))
		}
		put, msg := v.messages(e.put, p.exchange.Agent, answered)
		if msg != "" {
			return fmt.Sprintf("edits[%d]%s", i, msg)
		}
		p.history.Append(old[at:e.at]...)
		p.history.Append(put...)
		at = e.at + e.drop
	}
	p.history.Append(old[at:]...)
	return ""
}

// messages resolves entries; the message says what is wrong, beginning with
// the index.
func (v *resolver) messages(entries []entry, own runtime.Path, answered *pending) ([]runtime.Message, string) {
	list := make([]runtime.Message, 0, len(entries))
	for i, e := range entries {
		switch {
		case e.echo:
			if answered == nil {
				return nil, fmt.Sprintf("[%d]: echo, but there is no earlier response of %s", i, own)
			}
			m, err := answered.reply()
			if err != nil {
				return nil, fmt.Sprintf("[%d]: echo, but the response of %s is no complete answer",
					i, place(answered.exchange.Agent, answered.exchange.Turn))
			}
			list = append(list, m)
		case e.tool != "":
			agent, turn, call, _ := splitCallPlace(own, e.tool)
			c := v.calls[callKey{agent, turn, call}]
			if c == nil {
				return nil, fmt.Sprintf("[%d]: there is no tool line for call %s.%d", i, place(agent, turn), call)
			}
			if v.lean {
				list = append(list, runtime.Message{Role: runtime.RoleTool, Content: c.Result, CallID: c.ID})
			} else {
				list = append(list, runtime.ToolMessage(c.ID, c.Result))
			}
		default:
			list = append(list, e.message)
		}
	}
	return list, ""
}

// reply returns the message that the response carries. It is decoded once; any
// goroutine may ask.
func (p *pending) reply() (runtime.Message, error) {
	p.decode.Do(func() {
		answer, err := runtime.Decode(p.exchange.Reply(), runtime.Dialect{})
		if err != nil {
			p.failed = err
			return
		}
		p.answer = answer.Message
		if p.keep {
			p.exchange.answer = answer
		}
	})
	return p.answer, p.failed
}
