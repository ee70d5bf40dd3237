package record

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/tapetree/tapetree/runtime"
	"github.com/tapetree/tapetree/transcripts"
)

// Rebased is a transcript with the requests of the session that was replayed
// from it and the responses that it had.
type Rebased struct {
	File    *transcripts.File // the replayed one itself when there are no Changes
	Changes []Change          // in tree order, each once
}

// The values of Change.What, as people read them.
const (
	ChangedSystem    = "system text"
	ChangedTools     = "tool schemas"
	ChangedModel     = "model"
	ChangedParams    = "parameters"
	ChangedMessage   = "message"
	ChangedArguments = "call"
	ChangedResult    = "tool result"
	ChangedVerdict   = "verdict"
	ChangedStop      = "stop"
)

// Change is one thing that is recorded otherwise from now on.
type Change struct {
	Agent    runtime.Path
	Turn     int    // 0: the agent as a whole
	Call     int    // 0: no call in particular
	What     string // a Changed… word
	Old, New string // texts, or JSON where a text would not tell all; "" for none
	Times    int    // in how many places of the session; what an agent has sent already, and sends again, counts once
}

// Place names where a change comes first: root/2.1#3, or root/2.1#3.2 for a
// call.
func (c Change) Place() string {
	switch {
	case c.Call > 0:
		return fmt.Sprintf("%s#%d.%d", c.Agent, c.Turn, c.Call)
	case c.Turn > 0:
		return fmt.Sprintf("%s#%d", c.Agent, c.Turn)
	default:
		return string(c.Agent)
	}
}

// rebase collects what a replayed session asks where that is not what is
// recorded. What compares as equal keeps its recorded bytes, so that volatile
// words and placeholders stay as they are.
type rebase struct {
	mu        sync.Mutex
	exchanges map[*transcripts.Exchange]*transcripts.Exchange // recorded to new
	histories map[runtime.Path]*runtime.History
	calls     map[*transcripts.Call]*transcripts.Call // only those that change
	changes   []placedChange
	strange   map[string]string // secrets that the recording has not: as sent, as kept
	last      map[runtime.Path]*transcripts.Exchange
}

// placedChange is a change with where it sorts.
type placedChange struct {
	at place
	Change
}

func newRebase() *rebase {
	return &rebase{
		exchanges: map[*transcripts.Exchange]*transcripts.Exchange{}, histories: map[runtime.Path]*runtime.History{},
		calls: map[*transcripts.Call]*transcripts.Call{}, strange: map[string]string{}, last: map[runtime.Path]*transcripts.Exchange{},
	}
}

// pair is a message as recorded and as sent; either may be nil.
type pair struct {
	recorded, sent *runtime.Message
	differs        bool
}

// exchange takes over what was asked at the place of e. The agent's lock is
// held, so that its requests come one after another. A nil rebase does nothing.
func (b *rebase) exchange(t *agentTape, e *transcripts.Exchange, a *asking, c *comparison) {
	if b == nil {
		return
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	next := *e
	normal := func(raw []byte) []byte { return b.known(t.comparer.secrets, t.comparer.asked(a, raw)) }
	if c.differs.tools {
		next.Tools = nil
		if a.tools != nil {
			next.Tools = normal(a.tools)
		}
		b.note(placeOf(e), ChangedTools, string(e.Tools), string(next.Tools))
	}
	if c.differs.model {
		next.Model = a.model
		if !a.folded {
			next.Model = t.comparer.redact.member("model", a.model)
		}
		b.note(placeOf(e), ChangedModel, e.Model, next.Model)
	}
	if c.differs.params {
		next.Params = nil
		for _, p := range a.params {
			next.Params = append(next.Params, runtime.Param{Name: p.Name, Value: normal(p.Value)})
		}
		b.note(placeOf(e), ChangedParams, paramsText(e.Params), paramsText(next.Params))
	}
	history := b.histories[e.Agent]
	if history == nil || c.whole {
		history = &runtime.History{}
		b.histories[e.Agent] = history
	}
	for _, p := range c.pairs {
		b.message(history, e, p, &t.comparer, a)
	}
	next.Messages = history.View()
	b.exchanges[e], b.last[e.Agent] = &next, &next
}

// message takes over one message of a request.
func (b *rebase) message(history *runtime.History, e *transcripts.Exchange, p pair, c *comparer, a *asking) {
	switch {
	case !p.differs && p.recorded != nil:
		history.Append(*p.recorded)
		return
	case p.sent == nil:
		b.noteMessage(placeOf(e), p.recorded, nil)
		return
	}
	sent := *p.sent
	if raw := b.known(c.secrets, c.asked(a, sent.Raw)); !bytes.Equal(raw, sent.Raw) {
		sent = reread(a.wire, sent, raw)
	}
	history.Append(sent)
	b.noteMessage(placeOf(e), p.recorded, &sent)
}

// asked brings a part of what was asked into the form that transcripts hold.
func (c *comparer) asked(a *asking, raw []byte) []byte {
	if a.folded {
		return raw
	}
	return c.redact.JSON(c.fold.FoldJSON(raw))
}

// strangeNumber is where the numbers of secrets begin that the recording did
// not hold; writing the transcript numbers all of them anew.
const strangeNumber = 1_000_000

// known puts the recorded numbers to secrets, and free ones to those that the
// recording has not. The lock is held.
func (b *rebase) known(secrets *pairs, raw []byte) []byte {
	if !bytes.Contains(raw, []byte("{{secret:")) {
		return raw
	}
	return secretMark.ReplaceAllFunc(raw, func(mark []byte) []byte {
		sent := string(mark)
		if recorded, ok := secrets.recorded(sent); ok {
			return []byte(recorded)
		}
		if b.strange[sent] == "" {
			kind := sent[:strings.LastIndexByte(sent, ':')+1]
			b.strange[sent] = fmt.Sprintf("%s%d}}", kind, strangeNumber+len(b.strange))
		}
		return []byte(b.strange[sent])
	})
}

// knownText is known for a text.
func (b *rebase) knownText(secrets *pairs, text string) string {
	return string(b.known(secrets, []byte(text)))
}

func paramsText(params []runtime.Param) string {
	line := &httpLine{}
	for _, p := range params {
		line.member(p.Name, p.Value)
	}
	return string(line.end())
}

// noteMessage notes a changed message; nil is none.
func (b *rebase) noteMessage(at place, old, new *runtime.Message) {
	what := ChangedMessage
	if m := cmpMessage(old, new); m.Role == runtime.RoleSystem || m.Role == "developer" {
		what = ChangedSystem
	}
	if old != nil && new != nil && old.Role == new.Role && old.Content != new.Content && len(old.Calls)+len(new.Calls) == 0 {
		b.note(at, what, old.Content, new.Content)
		return
	}
	b.note(at, what, rawOf(old), rawOf(new))
}

func cmpMessage(old, new *runtime.Message) *runtime.Message {
	if new != nil {
		return new
	}
	return old
}

func rawOf(m *runtime.Message) string {
	if m == nil {
		return ""
	}
	return string(m.Raw)
}

// note enters a change. The lock is held.
func (b *rebase) note(at place, what, old, new string) {
	b.changes = append(b.changes, placedChange{at, Change{Agent: at.Agent, Turn: at.Turn, Call: at.Call, What: what, Old: old, New: new, Times: 1}})
}

// call changes a tool line. A nil rebase does nothing.
func (b *rebase) call(at place, line *transcripts.Call, what, old, new string, change func(line *transcripts.Call)) {
	if b == nil {
		return
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	next := b.calls[line]
	if next == nil {
		copied := *line
		next = &copied
		b.calls[line] = next
	}
	change(next)
	b.note(at, what, old, new)
}

// Rebased returns the transcript of the session that has ended: its requests,
// the responses that were recorded. It needs ReplayOptions.Rebase. An error says
// what is missing for that; it holds ErrMissing.
func (r *Replayer) Rebased() (*Rebased, error) {
	if r.rebase == nil {
		return nil, fmt.Errorf("rebase %s: the replay was not opened for it", r.file.Path)
	}
	for _, f := range r.Report().Findings {
		switch f.Code {
		case codeMissing, codeExtra, codePartial:
			return nil, fmt.Errorf("%s: %s%s", f.Code, turnOf(f), f.Message)
		}
	}
	if asked := r.firstAsked(); asked != "" {
		return nil, fmt.Errorf("%s: %s asks the user, and the recording holds no answer", codeVerdict, asked)
	}
	b := r.rebase
	b.mu.Lock()
	defer b.mu.Unlock()
	stops := r.rebasedStops()
	if len(b.changes) == 0 {
		return &Rebased{File: r.file}, nil
	}
	file := *r.file
	file.Exchanges, file.Calls = slices.Clone(r.file.Exchanges), slices.Clone(r.file.Calls)
	for i, e := range file.Exchanges {
		switch {
		case b.exchanges[e] != nil:
			file.Exchanges[i] = b.exchanges[e]
		case b.last[e.Agent] != nil:
			file.Exchanges[i] = b.follow(e)
		}
	}
	for i, line := range file.Calls {
		if b.calls[line] != nil {
			file.Calls[i] = b.calls[line]
		}
	}
	end := *r.file.End // a broken off recording has been refused
	end.Stops = stops
	file.End = &end
	return &Rebased{File: &file, Changes: b.sorted()}, nil
}

func turnOf(f Finding) string {
	if f.Agent == "" {
		return ""
	}
	return fmt.Sprintf("%s turn %d: ", f.Agent, f.Turn)
}

// firstAsked is the first call that the recorded person was not asked about.
func (r *Replayer) firstAsked() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	var first *place
	for at := range r.asked {
		if first == nil || at.compare(*first) < 0 {
			first = &at
		}
	}
	if first == nil {
		return ""
	}
	return callName(*first)
}

// follow brings a request that an interrupted session does not send again into
// the form of the agent's last one. The lock is held.
func (b *rebase) follow(e *transcripts.Exchange) *transcripts.Exchange {
	next, last := *e, b.last[e.Agent]
	next.Model, next.Tools, next.Params = last.Model, last.Tools, last.Params
	history := &runtime.History{}
	old, sent := e.Messages.Messages(), last.Messages.Messages()
	from, systems := leadingSystems(old), leadingSystems(sent)
	history.Append(sent[:systems]...)
	history.Append(old[from:]...)
	next.Messages = history.View()
	return &next
}

// rebasedStops are the stops of this session, in the recorded order. The lock of
// rebase is held.
func (r *Replayer) rebasedStops() []transcripts.Stop {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.file.End == nil {
		return nil
	}
	stops := slices.Clone(r.file.End.Stops)
	if r.foreign {
		return stops
	}
	known := map[runtime.Path]bool{}
	for i, stop := range stops {
		known[stop.Agent] = true
		if now, ended := r.stops[stop.Agent]; ended && now != stop.Reason {
			r.rebase.note(place{Agent: stop.Agent}, ChangedStop, string(stop.Reason), string(now))
			stops[i].Reason = now
		}
	}
	for _, agent := range r.agentPaths() {
		if now, ended := r.stops[agent]; ended && !known[agent] {
			r.rebase.note(place{Agent: agent}, ChangedStop, "", string(now))
			stops = append(stops, transcripts.Stop{Agent: agent, Reason: now})
		}
	}
	return stops
}

// sorted are the changes in tree order, the same one once: what is a tool result
// is no message too. The lock is held.
func (b *rebase) sorted() []Change {
	results := map[[2]string]bool{}
	for _, c := range b.changes {
		if c.What == ChangedResult {
			results[[2]string{c.Old, c.New}] = true
		}
	}
	slices.SortStableFunc(b.changes, func(x, y placedChange) int { return x.at.compare(y.at) })
	seen := map[[3]string]int{}
	var list []Change
	for _, c := range b.changes {
		if c.What == ChangedMessage && results[[2]string{c.Old, c.New}] {
			continue
		}
		key := [3]string{c.What, c.Old, c.New}
		if i, known := seen[key]; known {
			list[i].Times++
			continue
		}
		seen[key] = len(list)
		list = append(list, c.Change)
	}
	return list
}

// Shown returns both sides of a change, each cut to limit bytes around the place
// where they part, in one line.
func (c Change) Shown(limit int) (old, new string) {
	return difference{recorded: orAbsent(c.Old), sent: orAbsent(c.New)}.shorten(limit)
}
