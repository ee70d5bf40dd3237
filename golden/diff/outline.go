package diff

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/tapetree/tapetree/runtime"
	"github.com/tapetree/tapetree/transcripts"
)

// beginning is how many bytes of an equal text are kept to show what it is.
const beginning = 160

// outlined is a session without its texts: of every message a hash, and how it
// begins. It holds no part of the history, so that a large one need not stay in
// memory for its partner to be read.
type outlined struct {
	name  string
	roots []*agentOutline
	uses  map[string]int
}

// SessionOutline is what Align needs of a session.
type SessionOutline struct{ outlined }

type hash [16]byte

// agentOutline is one agent.
type agentOutline struct {
	path     runtime.Path
	label    string
	model    string
	stop     string
	prompt   string // its beginning
	brief    hash   // of label and prompt
	systems  []string
	tools    hash
	params   string
	known    bool // tools and params are
	tries    int
	usage    Usage
	entries  []entry
	children []childOutline
}

// childOutline is where an agent was started.
type childOutline struct {
	entry, call int // of the answer: its index, and the index of the call; -1: none
	agent       *agentOutline
}

// entry is one message.
type entry struct {
	turn       int
	role, tool string
	begin      string // of the text
	size       int
	key        hash   // of role, text and calls, ids apart
	weak       string // role and tools: what a changed message keeps
	head, tail hash   // of the beginning and the end of the text
	calls      []callOutline
	ids        []idUse // in order: of the calls, the answered call, those in texts
	own        int     // how many of ids are the message's own; the others stand in texts
}

type callOutline struct {
	name  string
	key   hash // of name and arguments
	child string
}

// idUse is an id that a message holds.
type idUse struct {
	id    string
	alien bool // no call of this agent had it yet
}

// Outline reads a session once. The outline does not refer to h.
func Outline(h *transcripts.History, o Options) *SessionOutline {
	b := &outliner{cleaner: newCleaner(o), history: h, texts: map[string]string{}}
	s := &SessionOutline{outlined{name: h.Name(), uses: b.uses}}
	b.settings()
	for _, root := range h.Roots {
		s.roots = append(s.roots, b.agent(root))
	}
	return s
}

// cleaner makes texts comparable.
type cleaner struct {
	options Options
	uses    map[string]int
	ids     *idFinder
}

func newCleaner(o Options) *cleaner {
	return &cleaner{options: o, uses: map[string]int{}, ids: newIDFinder()}
}

func (c *cleaner) clean(text string) string {
	if c.options.Fold != nil {
		text = c.options.Fold(text)
	}
	if c.options.Volatile != nil {
		text = c.options.Volatile.Apply(text, c.uses)
	}
	return text
}

// arguments returns the arguments of a call with the members of objects in one
// order, cleaned; what is no JSON as it is.
func (c *cleaner) arguments(text string) string {
	if strings.IndexByte(text, '{') >= 0 {
		v := jsontext.Value(strings.Clone(text))
		if v.Format(jsontext.ReorderRawObjects(true), jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true), jsontext.PreserveRawStrings(false)) == nil {
			text = string(v)
		}
	} else if strings.TrimSpace(text) == "" {
		return ""
	}
	return c.clean(text)
}

type outliner struct {
	*cleaner
	history *transcripts.History
	texts   map[string]string // system texts, each once
	about   map[runtime.Path]*about
	buffer  bytes.Buffer
}

// about is what the requests of an agent had beside messages.
type about struct {
	tools  bytes.Buffer
	params string
	models string
}

// settings collects the tool lists and parameters of each agent, each distinct
// one once, in order.
func (b *outliner) settings() {
	b.about = map[runtime.Path]*about{}
	if b.history.File == nil {
		return
	}
	type seenKey struct {
		agent runtime.Path
		what  string
	}
	seen := map[seenKey]bool{}
	lists := map[*byte]string{}
	for _, x := range b.history.File.Exchanges {
		if strings.Contains(string(x.Agent), "~") {
			continue
		}
		a := b.about[x.Agent]
		if a == nil {
			a = &about{}
			b.about[x.Agent] = a
		}
		list := ""
		if len(x.Tools) > 0 {
			known, ok := lists[&x.Tools[0]]
			if !ok {
				known = b.arguments(string(x.Tools))
				lists[&x.Tools[0]] = known
			}
			list = known
		}
		if key := (seenKey{x.Agent, "t" + list}); list != "" && !seen[key] {
			seen[key] = true
			fmt.Fprintf(&a.tools, "%d %s", len(list), list)
		}
		var params []string
		for _, p := range x.Params {
			if !bytes.Equal(p.Value, transcripts.SystemReference) && p.Name != "stream" && p.Name != "stream_options" {
				params = append(params, p.Name+"="+b.arguments(string(p.Value)))
			}
		}
		line := strings.Join(params, " ")
		if key := (seenKey{x.Agent, "p" + line}); !seen[key] {
			seen[key] = true
			a.params = strings.TrimPrefix(a.params+"; "+line, "; ")
		}
		if key := (seenKey{x.Agent, "m" + x.Model}); !seen[key] {
			seen[key] = true
			a.models = strings.TrimPrefix(a.models+", "+x.Model, ", ")
		}
	}
}

func (b *outliner) agent(run *runtime.Run) *agentOutline {
	a := &agentOutline{
		path: runtime.Path(strings.Clone(string(run.Agent))), label: strings.Clone(run.Label), model: strings.Clone(run.Model), stop: strings.Clone(string(run.Stop)),
		usage: Usage{run.Usage.Input, run.Usage.Output},
	}
	a.prompt = begin(b.clean(run.Prompt))
	a.brief = hashOf(a.label, run.Prompt)
	if about := b.about[run.Agent]; about != nil {
		a.params, a.model, a.known = about.params, about.models, true
		if about.tools.Len() > 0 {
			a.tools = hashOf(about.tools.String())
		}
	}
	for i := range run.Turns {
		a.tries += len(run.Turns[i].Failed)
	}
	named := map[string]string{} // ids of calls to their tools
	var below []*runtime.Run
	placed := map[*runtime.Run]bool{}
	tell(run, func(s said) {
		if s.role == string(runtime.RoleSystem) || s.role == "developer" {
			a.systems = append(a.systems, b.system(s.text))
			return
		}
		index := len(a.entries)
		a.entries = append(a.entries, b.entry(run.Agent, &s, named))
		for _, c := range s.records {
			if c.Child == nil || placed[c.Child] {
				continue
			}
			placed[c.Child] = true
			below = append(below, c.Child)
			a.children = append(a.children, childOutline{entry: index, call: c.Number - 1})
		}
	})
	for _, child := range run.Children() { // of turns that told nothing
		if !placed[child] {
			placed[child] = true
			below = append(below, child)
			a.children = append(a.children, childOutline{entry: -1, call: -1})
		}
	}
	for i, child := range below {
		a.children[i].agent = b.agent(child)
	}
	return a
}

// system keeps a system text whole, each once: it is compared as a text.
func (b *outliner) system(text string) string {
	if known, ok := b.texts[text]; ok {
		return known
	}
	cleaned := strings.Clone(b.clean(text))
	b.texts[strings.Clone(text)] = cleaned
	return cleaned
}

func (b *outliner) entry(agent runtime.Path, s *said, named map[string]string) entry {
	e := entry{turn: s.turn, role: strings.Clone(s.role)}
	weak := e.role
	ids := callIDs(s)
	for i, c := range s.calls {
		id := strings.Clone(ids[i])
		e.ids = append(e.ids, idUse{id: id})
		b.ids.add(agent, id)
		named[id] = strings.Clone(c.Name)
		weak += "\x00" + c.Name
	}
	if s.role == string(runtime.RoleTool) {
		id := strings.Clone(s.answers)
		e.ids = append(e.ids, idUse{id: id})
		e.tool = named[id]
		weak += "\x00" + e.tool
	}
	e.own, e.weak = len(e.ids), weak
	text := b.clean(s.text)
	e.size = len(text)
	e.begin = begin(text)
	const ends = 48
	e.head, e.tail = hashOf(text[:min(ends, len(text))]), hashOf(text[max(0, len(text)-ends):])
	b.buffer.Reset()
	b.put(agent, s.role, &e)
	b.put(agent, text, &e)
	for _, c := range s.calls {
		args := b.arguments(c.Arguments)
		from := b.buffer.Len()
		b.put(agent, c.Name, &e)
		b.put(agent, args, &e)
		e.calls = append(e.calls, callOutline{name: strings.Clone(c.Name), key: sum(b.buffer.Bytes()[from:])})
	}
	for _, r := range s.records {
		if i := r.Number - 1; r.Child != nil && i >= 0 && i < len(e.calls) && e.calls[i].child == "" {
			e.calls[i].child = string(r.Child.Agent)
		}
	}
	e.key = sum(b.buffer.Bytes())
	return e
}

// callIDs are the ids of the calls of an answer as the history has them, with
// empty and repeated ones mended.
func callIDs(s *said) []string {
	ids := make([]string, len(s.calls))
	for i := range s.calls {
		ids[i] = s.calls[i].ID
	}
	for _, r := range s.records {
		if i := r.Number - 1; i >= 0 && i < len(ids) && r.ID != "" {
			ids[i] = r.ID
		}
	}
	return ids
}

// put writes a text with its length, and with every known id left out.
func (b *outliner) put(agent runtime.Path, text string, e *entry) {
	at := 0
	var size [binary.MaxVarintLen64]byte
	mark := b.buffer.Len()
	for _, s := range b.ids.spans(text) {
		b.buffer.WriteString(text[at:s[0]])
		b.buffer.WriteString("\x00#\x00")
		id := text[s[0]:s[1]]
		e.ids = append(e.ids, idUse{strings.Clone(id), !b.ids.own(agent, id)})
		at = s[1]
	}
	b.buffer.WriteString(text[at:])
	b.buffer.Write(size[:binary.PutUvarint(size[:], uint64(b.buffer.Len()-mark))])
}

func hashOf(texts ...string) hash {
	if len(texts) == 1 {
		whole := sha256.Sum256([]byte(texts[0]))
		return hash(whole[:16])
	}
	return hashOf(strings.Join(texts, "\x00"))
}

func sum(data []byte) hash {
	whole := sha256.Sum256(data)
	return hash(whole[:16])
}

// begin is how a text begins, of its own memory.
func begin(text string) string {
	if len(text) <= beginning {
		return strings.Clone(text)
	}
	n := beginning
	for n > beginning-utf8.UTFMax && !utf8.RuneStart(text[n]) {
		n--
	}
	return strings.Clone(text[:n])
}

// Name is the name of the session.
func (s *SessionOutline) Name() string { return s.name }
