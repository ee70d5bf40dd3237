package record

import (
	"cmp"
	"crypto/sha256"
	"hash"
	"io"
	"slices"
	"strings"

	"github.com/tapetree/tapetree/record/attribution"
	"github.com/tapetree/tapetree/runtime"
	"github.com/tapetree/tapetree/transcripts"
)

// opening is the first request of a recorded agent.
type opening struct {
	agent    runtime.Path
	exchange *transcripts.Exchange
	claimed  bool // a conversation of this replay is served from the agent
	likeness
}

// likeness says in digests what a request is equal to.
type likeness struct {
	exact string // the messages, byte for byte
	full  string // the messages under the volatile rules, ids by the order in which they come
	body  string // the same without the system texts at the beginning
	asked string // model, tools and parameters
}

// likenessOf measures a request in placeholder form.
func likenessOf(rules *Volatile, a *request) likeness {
	messages := a.messages.Messages()
	sum := sha256.New()
	for _, m := range messages {
		sum.Write(m.Raw)
		sum.Write([]byte{'\n'})
	}
	l := likeness{exact: digest(sum)}
	sum.Reset()
	ids := map[string]string{}
	system := leadingSystems(messages)
	likeMessages(sum, rules, messages[:system], ids)
	full := sha256.New()
	io.WriteString(full, digest(sum)) // a hash takes everything
	sum.Reset()
	likeMessages(sum, rules, messages[system:], ids)
	l.body = digest(sum)
	io.WriteString(full, l.body)
	l.full = digest(full)
	sum.Reset()
	io.WriteString(sum, string(a.wire)+"\n"+a.model+"\n"+string(a.tools)+"\n")
	for _, p := range a.params {
		io.WriteString(sum, p.Name+"="+string(p.Value)+"\n")
	}
	l.asked = digest(sum)
	return l
}

func digest(sum hash.Hash) string { return string(sum.Sum(nil)) }

// likeMessages writes messages so that two lists that compare as equal give the
// same bytes.
func likeMessages(w io.Writer, rules *Volatile, messages []runtime.Message, ids map[string]string) {
	for i := range messages {
		likeValue(w, rules, valueNode(messages[i].Raw), "", ids)
		io.WriteString(w, "\n")
	}
}

// idNames are the members of messages that hold ids of calls.
var idNames = map[string]bool{"id": true, "tool_call_id": true, "tool_use_id": true, "call_id": true}

// likeValue writes one value; name is the member that holds it.
func likeValue(w io.Writer, rules *Volatile, n *node, name string, ids map[string]string) {
	switch n.kind {
	case '"':
		text := n.text
		if idNames[name] {
			if ids[text] == "" {
				ids[text] = decimal(len(ids) + 1)
			}
			io.WriteString(w, "#"+ids[text])
			return
		}
		if name == "arguments" {
			if inner, err := parseNode([]byte(text)); err == nil && (inner.kind == '{' || inner.kind == '[') {
				likeValue(w, rules, inner, "", ids)
				return
			}
		}
		text = secretMark.ReplaceAllStringFunc(rules.Apply(text, nil), kindOfSecret)
		w.Write(quoted(text))
	case '{':
		members := slices.Clone(n.members)
		slices.SortStableFunc(members, func(a, b member) int { return strings.Compare(a.name, b.name) })
		io.WriteString(w, "{")
		for _, m := range members {
			io.WriteString(w, m.name+":")
			likeValue(w, rules, m.value, m.name, ids)
			io.WriteString(w, ",")
		}
		io.WriteString(w, "}")
	case '[':
		io.WriteString(w, "[")
		for _, e := range n.elems {
			likeValue(w, rules, e, name, ids)
			io.WriteString(w, ",")
		}
		io.WriteString(w, "]")
	default:
		io.WriteString(w, n.show())
	}
}

// placing decides which recorded agent answers a conversation of a foreign
// client. Its caller holds the playback's lock.
type placing struct {
	replay   *Replayer
	rules    *Volatile
	openings []*opening // in tree order
	twins    *twins     // of those; nil: none
	byAgent  map[runtime.Path]*opening
	lengths  map[int]int // how many unclaimed openings have so many messages, some of them of an assistant
	threads  map[attribution.Thread]seat
	labels   map[runtime.Path]runtime.Path // recorded agents by the labels that their conversations had
}

// seat is where a thread was put, and what it was called then.
type seat struct {
	agent, label runtime.Path
}

func newPlacing(r *Replayer) *placing {
	p := &placing{
		replay: r, rules: r.options.Volatile, openings: r.openings(), byAgent: map[runtime.Path]*opening{},
		lengths: map[int]int{}, threads: map[attribution.Thread]seat{}, labels: map[runtime.Path]runtime.Path{},
	}
	for _, o := range p.openings {
		p.byAgent[o.agent] = o
		if o.goesOn() {
			p.lengths[o.exchange.Messages.Len()]++
		}
	}
	return p
}

// openings are the first requests of all agents, in tree order.
func (r *Replayer) openings() []*opening {
	var list []*opening
	for _, agent := range r.agentPaths() {
		e := r.agents[agent].exchanges[0]
		list = append(list, &opening{agent: agent, exchange: e, likeness: likenessOf(r.options.Volatile, recordedRequest(e))})
	}
	return list
}

// recordedRequest is what a recorded exchange asked for.
func recordedRequest(e *transcripts.Exchange) *request {
	return &request{wire: wireOf(e), model: e.Model, messages: e.Messages, tools: e.Tools, params: e.Params}
}

// wireOf is the wire of a recorded exchange.
func wireOf(e *transcripts.Exchange) runtime.Wire {
	return runtime.Wire(cmp.Or(e.Wire, string(runtime.WireChat)))
}

// goesOn reports whether the agent begins with a conversation that was going on
// before, such as the one that a compaction sums up.
func (o *opening) goesOn() bool {
	return slices.ContainsFunc(o.exchange.Messages.Messages(), func(m runtime.Message) bool {
		return m.Role == runtime.RoleAssistant || m.Role == ""
	})
}

func (p *placing) claim(o *opening) {
	o.claimed = true
	if o.goesOn() {
		p.lengths[o.exchange.Messages.Len()]--
	}
}

// agentOf returns the recorded agent that a request is to be answered from, and
// its turn. The agent may be one that was never recorded: then nothing is left
// for it.
func (p *placing) agentOf(x *attribution.Exchange, at attribution.Place, threads []attribution.Label, said runtime.Path, a *asking) (runtime.Path, int) {
	if said != "" {
		p.put(x.Thread, at.Path, said)
		return said, at.Turn
	}
	if known, ok := p.threads[x.Thread]; ok {
		if o := p.fork(known.agent, a); o != nil {
			p.claim(o)
			return o.agent, o.exchange.Turn
		}
		if known.label != at.Path && strings.Contains(string(at.Path), "~") {
			if agent := p.named(at.Path, threads); p.byAgent[agent] != nil {
				return agent, at.Turn
			}
		}
		return known.agent, at.Turn
	}
	named := p.named(at.Path, threads)
	if o := p.alike(likenessOf(p.rules, a.request), named); o != nil {
		p.put(x.Thread, at.Path, o.agent)
		return o.agent, o.exchange.Turn
	}
	if !x.Opening {
		if agent, ok := p.labels[at.Path]; ok {
			p.put(x.Thread, at.Path, agent)
			return agent, at.Turn
		}
	}
	agent := p.free(named)
	p.put(x.Thread, at.Path, agent)
	return agent, at.Turn
}

// put notes which agent a thread is served from.
func (p *placing) put(thread attribution.Thread, label, agent runtime.Path) {
	p.threads[thread] = seat{agent: agent, label: label}
	p.labels[label] = agent
	if o := p.byAgent[agent]; o != nil && !o.claimed {
		p.claim(o)
	}
}

// alike returns the unclaimed opening that a request equals: the same bytes
// before those that the volatile rules make equal, those before others of which
// only the system text differs; among equals the one called named, else the
// first.
func (p *placing) alike(l likeness, named runtime.Path) *opening {
	var best *opening
	most := 0
	for _, o := range p.openings {
		rank := o.rank(l)
		if o.claimed || rank == 0 {
			continue
		}
		if rank > most || rank == most && o.agent == named {
			best, most = o, rank
		}
	}
	return best
}

// rank says how well a request fits an opening: 0 not at all.
func (o *opening) rank(l likeness) int {
	rank := 0
	switch {
	case o.exact == l.exact:
		rank = 6
	case o.full == l.full:
		rank = 4
	case o.body == l.body:
		rank = 2
	default:
		return 0
	}
	if o.asked == l.asked {
		rank++
	}
	return rank
}

// fork returns the opening of another agent that a request equals although its
// thread is known: a client that sums up a conversation repeats it. It is not
// one if it fits what its own agent asks next.
func (p *placing) fork(own runtime.Path, a *asking) *opening {
	if p.lengths[a.messages.Len()] == 0 {
		return nil
	}
	l := likenessOf(p.rules, a.request)
	o := p.alike(l, "")
	if o == nil || o.full != l.full {
		return nil
	}
	if next := p.replay.next(own); next != nil && next.Messages.Len() == a.messages.Len() {
		if ahead := likenessOf(p.rules, recordedRequest(next)); ahead.full == l.full {
			return nil
		}
	}
	return o
}

// next is the exchange that an agent will be answered from next, if it asks as
// it did.
func (r *Replayer) next(agent runtime.Path) *transcripts.Exchange {
	t := r.agents[agent]
	if t == nil {
		return nil
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	for i, e := range t.exchanges {
		if !t.used[i] {
			return e
		}
	}
	return nil
}

// named translates the label of a conversation of this replay: under the
// recorded agent that its parent is served from.
func (p *placing) named(label runtime.Path, threads []attribution.Label) runtime.Path {
	text := string(label)
	if cut := strings.LastIndexByte(text, '~'); cut >= 0 {
		return p.serving(label[:cut], threads) + label[cut:]
	}
	if cut := strings.LastIndexByte(text, '/'); cut >= 0 {
		return p.serving(label[:cut], threads) + label[cut:]
	}
	return label
}

// serving is the recorded agent that the conversation with a label is served
// from.
func (p *placing) serving(label runtime.Path, threads []attribution.Label) runtime.Path {
	for thread, l := range threads {
		if known, ok := p.threads[attribution.Thread(thread)]; ok && l.Path == label {
			return known.agent
		}
	}
	if agent, ok := p.labels[label]; ok {
		return agent
	}
	return p.named(label, nil)
}

// free returns named if it is recorded and nobody is served from it, else an
// agent that can stand in for it: the next root, the next side conversation of
// the same agent, the only other child of the same turn.
func (p *placing) free(named runtime.Path) runtime.Path {
	if o := p.byAgent[named]; o != nil && !o.claimed {
		return named
	}
	group := groupOf(named)
	var left []*opening
	for _, o := range p.openings {
		if !o.claimed && groupOf(o.agent) == group {
			left = append(left, o)
		}
	}
	isChild := !strings.Contains(string(named), "~") && strings.Contains(string(named), "/")
	if len(left) == 0 || isChild && len(left) > 1 {
		return named
	}
	return left[0].agent
}

// groupOf is what agents have in common that can stand in for each other.
func groupOf(agent runtime.Path) string {
	text := string(agent)
	if cut := strings.LastIndexByte(text, '~'); cut >= 0 {
		return text[:cut] + "~"
	}
	cut := strings.LastIndexByte(text, '/')
	if cut < 0 {
		return "root"
	}
	turn, _, _ := strings.Cut(text[cut:], ".")
	return text[:cut] + turn
}
