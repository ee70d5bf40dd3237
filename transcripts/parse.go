package transcripts

import (
	"bytes"
	"slices"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/tapetree/tapetree/runtime"
)

// Parse reads a transcript strictly; path is how messages name it. Errors are
// *SyntaxError with the line at fault. A file without end line is partial: it
// gives File.End == nil and no error, and an unfinished last line of it is
// left out (File.Torn). The File shares memory with data.
func Parse(path string, data []byte) (*File, error) {
	return parse(newReader(path), path, data)
}

// ParseLean does the same for a file that is only judged or compared: messages
// that refer to a tool line have no Raw, the results of calls stand where data
// had them as JSON, and each answer is decoded once. That is a third of the
// memory of a long session and half of the time. The File cannot be replayed or
// written, and data is used up: it must not be read or changed again.
func ParseLean(path string, data []byte) (*File, error) {
	r := newReader(path)
	r.lean = true
	return parse(r, path, data)
}

func parse(r *reader, path string, data []byte) (*File, error) {
	r.ahead = newAhead()
	defer close(r.ahead.queue)
	if err := r.readLines(path, data); err != nil {
		return nil, err
	}
	if err := r.resolve(); err != nil {
		return nil, err
	}
	return r.file, nil
}

// reader is the state of one Parse.
type reader struct {
	file     *File
	authored bool
	headed   bool // the header was read
	systems  map[string]*definition
	tools    map[string]*definition
	calls    map[callKey]*Call
	places   map[runtime.Place]int // line of each exchange
	pending  []*pending
	ahead    *ahead // nil: nothing is decoded ahead
	lean     bool   // see ParseLean
}

// definition is a system or tools line.
type definition struct {
	message runtime.Message // of a system line
	tools   jsontext.Value  // of a tools line
}

// callKey is where a call stands.
type callKey struct {
	agent      runtime.Path
	turn, call int
}

func newReader(path string) *reader {
	return &reader{
		file:    &File{Path: path},
		systems: map[string]*definition{},
		tools:   map[string]*definition{},
		calls:   map[callKey]*Call{},
		places:  map[runtime.Place]int{},
	}
}

func (r *reader) readLines(path string, data []byte) error {
	if len(bytes.TrimSpace(data)) == 0 {
		return emptyFile(path)
	}
	scanned, stop := scanAhead(path, data, r.lean)
	defer stop()
	for s := range scanned {
		if s.err != nil {
			if s.unfinished && r.headed && r.file.End == nil {
				r.file.Torn = s.number
				return nil
			}
			return s.err
		}
		if err := r.readLine(s.line); err != nil {
			return err
		}
	}
	return nil
}

func emptyFile(path string) error {
	return &SyntaxError{File: path, Line: 1, Msg: "the file is empty", Fix: damaged}
}

func (r *reader) readLine(l *line) error {
	kind := l.needString("kind")
	switch {
	case l.err != nil:
		return l.err
	case r.file.End != nil:
		return l.fault("a line after the end line")
	case kind == "header" && r.headed:
		return l.fault("a second header")
	case kind != "header" && !r.headed:
		fault := l.fault("the file does not begin with a header")
		fault.Fix = "the first line must be " + `{"kind":"header","format":1,…}`
		return fault
	}
	if sealed(kind) {
		if err := l.checkSum(r.authored); err != nil {
			return err
		}
	}
	switch kind {
	case "header":
		r.readHeader(l)
	case "system":
		r.readSystem(l)
	case "tools":
		r.readTools(l)
	case "exchange":
		r.readExchange(l)
	case "tool":
		r.readCall(l)
	case "http":
		r.file.HTTP = append(r.file.HTTP, l.http())
	case "timing":
		r.readTiming(l)
	case "end":
		r.readEnd(l)
	default:
		fault := l.fault("unknown kind of line %q", kind)
		fault.Fix = "a newer tapetree may have written it: update tapetree"
		return fault
	}
	return l.err
}

func (r *reader) readHeader(l *line) {
	format := l.needCount("format", 1)
	if l.err == nil && format > Format {
		fault := l.fault("format %d is newer than this tapetree reads (%d)", format, Format)
		fault.Fix = "update tapetree"
		l.err = fault
		return
	}
	h := &r.file.Header
	h.Name = l.needString("name")
	h.Profile = l.optString("profile")
	h.Client = l.optString("client")
	h.Models = l.optStrings("models")
	h.Upstream = l.optString("upstream")
	h.SubUpstream = l.optString("sub-upstream")
	h.Env = l.env()
	h.Recorded = l.optString("recorded")
	h.Imported = l.optString("imported")
	h.By = l.needString("by")
	h.Extra = l.extra()
	r.authored = h.By == Authored
	r.headed = true
}

func (l *line) env() Env {
	var env Env
	for _, m := range l.optObject("env") {
		switch m.Name {
		case "os":
			env.OS = l.asString("env.os", m.Value)
		case "date":
			env.Date = l.asString("env.date", m.Value)
		default:
			env.Extra = append(env.Extra, m)
		}
	}
	return env
}

func (r *reader) readSystem(l *line) {
	id, text := l.needString("id"), l.needString("text")
	if l.err == nil && r.systems[id] != nil {
		l.failed("system %q is defined twice", id)
	}
	r.systems[id] = &definition{message: runtime.SystemMessage(text)}
	if extra := l.extra(); extra != nil {
		if r.file.systemExtra == nil {
			r.file.systemExtra = map[string][]Member{}
		}
		r.file.systemExtra[text] = extra
	}
}

func (r *reader) readTools(l *line) {
	id, list := l.needString("id"), l.need("tools")
	switch {
	case l.err != nil:
	case list.Kind() == '"': // a list that is no strict JSON, as text
		list = jsontext.Value(unquote(list))
	case list.Kind() != '[':
		l.failed("key %q must be an array, not %s", "tools", kindName(list.Kind()))
	}
	if l.err == nil && r.tools[id] != nil {
		l.failed("tools %q is defined twice", id)
	}
	r.tools[id] = &definition{tools: list}
	if extra := l.extra(); extra != nil {
		if r.file.toolsExtra == nil {
			r.file.toolsExtra = map[string][]Member{}
		}
		r.file.toolsExtra[string(list)] = extra
	}
}

func (r *reader) readExchange(l *line) {
	x := &Exchange{Line: l.number}
	x.Agent = l.needAgent("agent")
	x.Turn = l.needCount("turn", 1)
	x.Try = l.optCount("try")
	l.readFlag(x)
	x.Wire = l.needString("wire")
	if l.err == nil && !runtime.Wire(x.Wire).Known() {
		l.failed("wire %q is not known, only chat, responses and messages are", x.Wire)
	}
	x.Model = l.needString("model")
	p := &pending{exchange: x, keep: r.lean}
	if l.has("system") {
		id := l.optString("system")
		if p.system = r.systems[id]; p.system == nil {
			l.failed("no system line above has the id %q", id)
		}
	}
	if l.has("tools") {
		id := l.optString("tools")
		if d := r.tools[id]; d != nil {
			x.Tools = d.tools
		} else {
			l.failed("no tools line above has the id %q", id)
		}
	}
	for _, m := range l.optObject("params") {
		x.Params = append(x.Params, runtime.Param{Name: m.Name, Value: m.Value})
	}
	p.readList(l)
	x.Recut = l.optTrue("recut")
	l.readResponse(x)
	x.Extra = l.extra()
	at := runtime.Place{Agent: x.Agent, Turn: x.Turn, Try: x.Try}
	if first := r.places[at]; first > 0 && l.err == nil {
		l.failed("%s try %d is there already, line %d", place(x.Agent, x.Turn), x.Try, first)
	}
	r.places[at] = l.number
	r.file.Exchanges = append(r.file.Exchanges, x)
	r.pending = append(r.pending, p)
	if l.err == nil {
		r.ahead.read(p)
	}
}

// readFlag takes what could not be decided about the agent of an exchange.
func (l *line) readFlag(x *Exchange) {
	x.Flag = l.optString("flag")
	if l.has("flag") && x.Flag != FlagTwin && x.Flag != FlagAmbiguous {
		l.failed("flag must be %s or %s, not %q", FlagTwin, FlagAmbiguous, x.Flag)
	}
	for _, text := range l.optStrings("candidates") {
		if _, ok := agentKey(runtime.Path(text)); !ok {
			l.failed("candidates: %q is no agent path, as in root/2.1", text)
		}
		x.Candidates = append(x.Candidates, runtime.Path(text))
	}
	if x.Candidates != nil && x.Flag == "" {
		l.failed("candidates need a flag, twin or ambiguous")
	}
}

func (r *reader) readCall(l *line) {
	c := &Call{Line: l.number}
	c.Agent = l.needAgent("agent")
	c.Turn = l.needCount("turn", 1)
	c.Call = l.needCount("call", 1)
	c.ID = l.needString("id")
	c.Name = l.needString("name")
	c.Arguments = l.needString("arguments")
	c.Verdict = runtime.Verdict(l.needString("verdict"))
	if l.err == nil && !slices.Contains(verdicts, c.Verdict) {
		l.failed("verdict %q is not known", c.Verdict)
	}
	c.Result = l.needText("result")
	if l.has("child") {
		c.Child = l.needAgent("child")
	}
	c.Extra = l.extra()
	key := callKey{c.Agent, c.Turn, c.Call}
	if first := r.calls[key]; first != nil && l.err == nil {
		l.failed("call %s.%d has a tool line already, line %d", place(c.Agent, c.Turn), c.Call, first.Line)
	}
	r.calls[key] = c
	r.file.Calls = append(r.file.Calls, c)
}

var verdicts = []runtime.Verdict{
	runtime.VerdictAllow, runtime.VerdictDeny, runtime.VerdictAskAllow, runtime.VerdictAskDeny, runtime.VerdictBlocked,
	runtime.VerdictInvalid, runtime.VerdictUnknown, runtime.VerdictCut, runtime.VerdictInterrupted,
}

// needAgent takes an agent path or the name of a side conversation.
func (l *line) needAgent(name string) runtime.Path {
	text := l.needString(name)
	if l.err == nil {
		if _, ok := agentKey(runtime.Path(text)); !ok {
			l.failed("key %q: %q is no agent path, as in root/2.1 or root~compact.1", name, text)
		}
	}
	return runtime.Path(text)
}

// http takes what is no model exchange. Its keys are checked and the line is
// kept whole.
func (l *line) http() *HTTP {
	l.needCount("n", 1)
	l.needString("method")
	l.needString("path")
	l.needCount("status", 0)
	return &HTTP{Line: l.number, Raw: bytes.TrimSpace(l.text)}
}

func (r *reader) readEnd(l *line) {
	end := &End{Exchanges: l.needCount("exchanges", 0)}
	if l.has("code") {
		code := l.needInt("code")
		end.Code = &code
	}
	for _, m := range l.optObject("stops") {
		reason := runtime.StopReason(l.asString("stops."+m.Name, m.Value))
		if l.err == nil && !slices.Contains(stopReasons, reason) {
			l.failed("stop reason %q is not known", reason)
		}
		if _, ok := agentKey(runtime.Path(m.Name)); !ok {
			l.failed("stops: %q is no agent path, as in root/2.1", m.Name)
		}
		end.Stops = append(end.Stops, Stop{Agent: runtime.Path(m.Name), Reason: reason})
	}
	if n := len(r.file.Exchanges); l.err == nil && end.Exchanges != n {
		l.failed("the end line counts %d exchanges, the file has %d", end.Exchanges, n)
	}
	end.Extra = l.extra()
	r.file.End = end
}

var stopReasons = []runtime.StopReason{
	runtime.StopAnswer, runtime.StopTurnLimit, runtime.StopTruncated, runtime.StopRefused,
	runtime.StopEmpty, runtime.StopCancelled, runtime.StopUpstreamError,
}
