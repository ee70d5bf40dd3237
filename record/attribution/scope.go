package attribution

import (
	"sync"

	"github.com/tapetree/tapetree/runtime"
)

// Scope attributes the requests of one run of a client. It is safe for
// concurrent use.
type Scope struct {
	mu         sync.Mutex
	options    Options
	threads    []*thread
	firsts     map[runtime.Path]bool // paths in use in First places
	counts     map[runtime.Path]int  // how many of a kind were given out, by the first of them
	mains      map[string]*thread    // by session: the first thread with tools, else the first
	reports    []report              // answers that others may quote, newest last
	systems    map[sum][]string      // system texts of openings
	named      map[runtime.Path]*thread
	open       []*call             // the calls that may still start a child
	drawn      map[*call][]*thread // the threads that may come from a call, among others
	tables     tables
	fitted     []*call // the calls whose result holds what some thread said
	labels     []label // of all threads; nil: to be worked out
	normalised int     // messages read, for a test of the cost
}

// tables find what a request goes on from.
type tables struct {
	chains  map[sum][]*Exchange  // by the value of a conversation and its answer
	answers map[sum][]*Exchange  // by the text of an answer without calls
	asked   map[sum][]*Exchange  // by the value of the conversation asked
	calls   map[callKey][]*call  // by id and name
	issued  map[string]int       // how many calls an id was given to
	ids     map[string]*Exchange // by the id of the answer
}

type callKey struct{ id, name string }

// New returns an empty scope.
func New(o Options) *Scope {
	return &Scope{
		options: o,
		firsts:  map[runtime.Path]bool{},
		counts:  map[runtime.Path]int{},
		mains:   map[string]*thread{},
		systems: map[sum][]string{},
		named:   map[runtime.Path]*thread{},
		drawn:   map[*call][]*thread{},
		tables: tables{
			chains:  map[sum][]*Exchange{},
			answers: map[sum][]*Exchange{},
			asked:   map[sum][]*Exchange{},
			calls:   map[callKey][]*call{},
			issued:  map[string]int{},
			ids:     map[string]*Exchange{},
		},
	}
}

// Exchange is one request under way.
type Exchange struct {
	// Thread is the conversation it belongs to, Opening that it begins it. What
	// comes later can move the exchange to a side conversation; Scope.Place
	// tells.
	Thread  Thread
	Opening bool
	// First is where it stands as far as can be told when it begins. No two
	// exchanges of a scope have the same one, and it never changes: partial
	// recordings use it.
	First Place
	// Log is that of the request.
	Log *Log

	scope *Scope
	asked *asked
	turn  *turn
	from  int    // the first message that is new in its thread
	word  string // what kind of side conversation it would begin
	state state
	calls []*call
	text  string // of an answer without calls, as it counts
	said  sum    // digest of the answer
	late  []late // what to compare the answer with

	unsure bool // see Unsure

	flag     string    // of this exchange alone
	rivals   []*thread // with a flag: the other threads it may belong to
	doubtful []*call   // with a flag: the other calls whose child may have made it
}

// Begin takes a request and says where it belongs. Call it in the order in
// which requests arrive.
func (s *Scope) Begin(r *Request) *Exchange {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.labels = nil
	q := s.ask(r)
	x := &Exchange{Log: &Log{tail: q.tail}, scope: s, asked: q}
	s.place(x, r)
	x.Thread = x.turn.thread.number
	s.tables.asked[q.value()] = append(s.tables.asked[q.value()], x)
	q.messages = nil
	return x
}

// place finds the turn of a request, by the first rule that applies.
func (s *Scope) place(x *Exchange, r *Request) {
	if r.Agent != "" {
		s.join(x, s.threadNamed(r.Agent, x))
		return
	}
	if t := s.retried(x, false); t != nil {
		s.join(x, t)
		return
	}
	if before := s.tables.ids[r.Previous]; r.Previous != "" && before != nil {
		s.goOn(x, hit{turn: before.turn})
		return
	}
	if h, ok := s.continued(x.asked); ok {
		s.goOn(x, h)
		return
	}
	if t := s.retried(x, true); t != nil {
		s.join(x, t)
		return
	}
	s.begin(x)
}

// threadNamed returns the thread that a client names.
func (s *Scope) threadNamed(path runtime.Path, x *Exchange) *thread {
	if t := s.named[path]; t != nil {
		return t
	}
	var t *thread
	if s.firsts[path] {
		for _, u := range s.threads {
			if u.first.path == path {
				t = u
			}
		}
	}
	if t == nil {
		t = s.newThread(x, origin{relation: isRoot}, path)
	}
	t.named = path
	s.named[path] = t
	return t
}

// newThread begins a thread with x as its first request.
func (s *Scope) newThread(x *Exchange, from origin, path runtime.Path) *thread {
	q := x.asked
	t := &thread{
		number: Thread(len(s.threads)), origin: from,
		session: q.session, parent: q.parent, tools: q.tools != "",
	}
	s.threads = append(s.threads, t)
	if main := s.mains[t.session]; from.relation != isSide && (main == nil || t.tools && !main.tools) {
		s.mains[t.session] = t
	}
	t.first = s.identify(path)
	x.Opening = true
	return t
}

// identify takes a path for First places.
func (s *Scope) identify(path runtime.Path) *identity {
	s.firsts[path] = true
	return &identity{path: path}
}

// join makes x the next try of the thread's newest turn if that failed, else
// its next turn.
func (s *Scope) join(x *Exchange, t *thread) {
	u := t.newest()
	if u != nil && u.last().unsure && x.again(u) {
		u.last().fail()
	}
	if u == nil || !u.failed() && !x.again(u) {
		t.first.turns++
		u = &turn{thread: t, n: len(t.turns) + 1, first: t.first.turns}
		t.turns = append(t.turns, u)
	}
	u.tries = append(u.tries, x)
	x.turn = u
	x.First = Place{Label: s.firstLabel(t), Turn: u.first, Try: len(u.tries)}
}

// again reports that the client repeats a request whose answer it did not get:
// it says so, or the answer is one that it may not have taken.
func (x *Exchange) again(u *turn) bool {
	return (x.asked.repeats() || u.last().unsure) && u.last().asked.body == x.asked.body
}

// Call notes that call n (from 1) of the answer is complete: from now on a
// child may appear whose brief it carries.
func (x *Exchange) Call(n int, c runtime.Call) {
	s := x.scope
	s.mu.Lock()
	defer s.mu.Unlock()
	if x.state == stateOpen {
		s.issue(x, n, c)
	}
}

// issue adds a call to an answer; a second one of the same number is the same
// call.
func (s *Scope) issue(x *Exchange, n int, made runtime.Call) {
	for _, c := range x.calls {
		if c.n == n {
			return
		}
	}
	s.labels = nil
	c := &call{x: x, n: n, id: made.ID, name: made.Name, strings: stringsOf(made.Arguments), since: len(s.threads)}
	x.calls = append(x.calls, c)
	s.open = append(s.open, c)
	if c.id == "" {
		return
	}
	key := callKey{c.id, c.name}
	s.tables.calls[key] = append(s.tables.calls[key], c)
	s.tables.issued[c.id]++
}

// Done notes the whole answer. id is the answer's own id on a wire where later
// requests refer to it, else "".
func (x *Exchange) Done(answer runtime.Message, id string) {
	s := x.scope
	s.mu.Lock()
	defer s.mu.Unlock()
	if x.state != stateOpen {
		return
	}
	s.labels = nil
	x.state = stateDone
	for i, c := range answer.Calls {
		s.issue(x, i+1, c)
	}
	answer.Role = runtime.RoleAssistant
	tail := add(x.asked.tail, answer)
	s.tables.chains[tail.value] = append(s.tables.chains[tail.value], x)
	alone := spoken{}.and(answer)
	x.said = alone.digest()
	if len(answer.Calls) == 0 {
		x.text = alone.plain()
		if len(x.text) >= shortestText {
			s.tables.answers[x.said] = append(s.tables.answers[x.said], x)
		}
		if len(x.text) >= shortestQuote {
			s.report(x.turn.thread, squash(x.text))
		}
	}
	if id != "" {
		s.tables.ids[id] = x
	}
	s.compareLate(x)
}

// Failed notes that no answer came: an error status, a stream that broke off, a
// client that went away. What is asked next there is another try of the turn.
func (x *Exchange) Failed() {
	s := x.scope
	s.mu.Lock()
	defer s.mu.Unlock()
	if x.state != stateOpen {
		return
	}
	s.labels = nil
	x.fail()
}

// fail makes x a failed try. What its calls have started stays started.
func (x *Exchange) fail() {
	x.state = stateFailed
	for _, c := range x.calls {
		c.dead = true
	}
	x.late = nil
}

// Unsure notes that the client may take the answer for a failure although it is
// none, as it was spoilt on purpose: the same request, byte for byte, is then
// another try.
func (x *Exchange) Unsure() {
	s := x.scope
	s.mu.Lock()
	defer s.mu.Unlock()
	x.unsure = true
}

// Place returns where an exchange stands as far as is known now; after the last
// exchange has ended, for good.
func (s *Scope) Place(x *Exchange) Place {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.name()
	place := Place{Label: s.labelOf(x).public(), Turn: x.turn.n}
	for i, try := range x.turn.tries {
		if try == x {
			place.Try = i + 1
		}
	}
	return place
}

// Threads returns the labels of all threads, by their numbers.
func (s *Scope) Threads() []Label {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.name()
	all := make([]Label, len(s.labels))
	for i, l := range s.labels {
		all[i] = l.public()
	}
	return all
}
