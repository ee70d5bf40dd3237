package transcripts

import (
	"slices"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/tapetree/tapetree/runtime"
)

// ChatForm returns the request list of every exchange of the file as messages
// of chat completions, which is what histories and checks read. It is Messages
// itself on the wire chat. On the others the elements that one answer came back
// as are one message of the assistant, and where a request only names the
// answer that it goes on from (previous_response_id), what was said before
// stands in front of it. The lists of one agent share one lineage as long as
// each begins with the one before.
func (f *File) ChatForm() func(x *Exchange) runtime.View {
	c := &chatForms{
		refers:  slices.ContainsFunc(f.Exchanges, func(x *Exchange) bool { return param(x, previousResponse) != nil }),
		views:   map[*Exchange]runtime.View{},
		threads: map[runtime.Path]*chatThread{},
		byID:    map[string]*Exchange{},
	}
	order := keys{}
	list := slices.Clone(f.Exchanges)
	slices.SortStableFunc(list, func(a, b *Exchange) int { return slices.Compare(order.exchange(a), order.exchange(b)) })
	for _, x := range list {
		if x.wire() != runtime.WireChat {
			c.add(x)
		}
	}
	return func(x *Exchange) runtime.View {
		if view, ok := c.views[x]; ok {
			return view
		}
		return x.Messages
	}
}

// chatForms are the lists made so far.
type chatForms struct {
	refers  bool // some request names the answer that it goes on from
	views   map[*Exchange]runtime.View
	threads map[runtime.Path]*chatThread
	byID    map[string]*Exchange // answered exchanges of the wire Responses
}

// previousResponse is the parameter that names the answer a request goes on
// from.
const previousResponse = "previous_response_id"

// add makes the list of an exchange, after those of all that come before it.
func (c *chatForms) add(x *Exchange) {
	t := c.threads[x.Agent]
	if t == nil {
		t = &chatThread{}
		c.threads[x.Agent] = t
	}
	head, tail, known := c.goesOn(x)
	if known {
		t.forget()
		c.views[x] = t.advance(head, tail)
	} else {
		c.views[x] = t.request(x)
	}
	if !c.refers || x.wire() != runtime.WireResponses {
		return
	}
	if id := answerID(x); id != "" {
		c.byID[id] = x
	}
}

// answerID is the id under which later requests can refer to the answer of an
// exchange; "" if there is none.
func answerID(x *Exchange) string {
	answer, err := runtime.Decode(x.Reply(), runtime.Dialect{})
	if err != nil {
		return ""
	}
	return answer.ID
}

// goesOn gives the list of a request that goes on from an answer of this file:
// what was said up to it, then the answer and what is new. The instructions are
// the request's own.
func (c *chatForms) goesOn(x *Exchange) (head runtime.View, tail []runtime.Message, ok bool) {
	base := c.byID[stringOf(param(x, previousResponse))]
	if base == nil {
		return runtime.View{}, nil, false
	}
	answer, err := runtime.Decode(base.Reply(), runtime.Dialect{})
	if err != nil {
		return runtime.View{}, nil, false
	}
	head = c.views[base]
	added := x.Messages.Messages()
	own, baseOwn := x.besides(), base.besides()
	switch {
	case own && baseOwn && same(added[0], base.Messages.Messages()[0]):
		added = added[1:]
	case own || baseOwn:
		before := head.Messages()
		if baseOwn {
			before = before[1:]
		}
		head = runtime.View{}
		if own {
			tail = append(tail, x.wire().ChatForm(added[0])...)
			added = added[1:]
		}
		tail = append(tail, before...)
	}
	tail = append(tail, answer.Message)
	fresh, _ := chatList(x.wire(), added, 0, nil)
	return head, append(tail, fresh...), true
}

// param returns the value of a parameter of the request, nil if it has none.
func param(x *Exchange, name string) jsontext.Value {
	for _, p := range x.Params {
		if p.Name == name {
			return p.Value
		}
	}
	return nil
}

// chatThread makes the lists of one agent, each from the one before.
type chatThread struct {
	history runtime.History
	last    runtime.View      // the list before, in chat form
	native  []runtime.Message // the list before, as sent
	view    runtime.View      // the same with its lineage
	ends    []int             // how much of last the first n+1 elements of native are; -1: that is inside a message
	breaks  map[int]bool      // elements of native with which a later request began
}

// forget makes the next list be read from its beginning.
func (t *chatThread) forget() { t.native, t.view, t.ends, t.breaks = nil, runtime.View{}, nil, nil }

// request returns the list of the next request.
func (t *chatThread) request(x *Exchange) runtime.View {
	list := x.Messages.Messages()
	n := len(t.native)
	if n == 0 || !x.Messages.Extends(t.view) {
		n = commonPrefix(t.native, list)
	}
	switch {
	case len(list) < len(t.native):
		t.breaks = nil
	case n == len(t.native) && n > 0 && n < len(list):
		if t.breaks == nil {
			t.breaks = map[int]bool{}
		}
		t.breaks[n] = true
	}
	for n > 0 && t.ends[n-1] < 0 {
		n--
	}
	at := 0
	if n > 0 {
		at = t.ends[n-1]
	}
	tail, ends := chatList(x.wire(), list[n:], at, func(i int) bool { return t.breaks[n+i] })
	t.ends = append(t.ends[:n:n], ends...)
	t.native, t.view = list, x.Messages
	return t.advance(t.last.Head(at), tail)
}

// advance returns the list head and tail, as one of the thread's lineage if it
// begins with what that holds.
func (t *chatThread) advance(head runtime.View, tail []runtime.Message) runtime.View {
	all := t.history.View()
	if head.Len() == 0 || all.Extends(head) {
		old := all.Messages()[head.Len():]
		n := commonPrefix(old, tail)
		if n == len(old) || n == len(tail) {
			t.history.Append(tail[n:]...)
			t.last = t.history.View().Head(head.Len() + len(tail))
			return t.last
		}
	}
	t.history = runtime.History{}
	t.history.Append(head.Messages()...)
	t.history.Append(tail...)
	t.last = t.history.View()
	return t.last
}

// chatList gives elements of a list in chat form. Those of the assistant that
// follow each other are one message, but not over a break. ends tells for each
// element how long the list is behind it, beginning with from; -1 where it ends
// inside a message.
func chatList(wire runtime.Wire, elements []runtime.Message, from int, breaks func(int) bool) (list []runtime.Message, ends []int) {
	var open []runtime.Message
	ends = make([]int, len(elements))
	flush := func(i int) {
		if len(open) == 0 {
			return
		}
		list = append(list, runtime.MergeAssistant(open))
		open = nil
		ends[i-1] = from + len(list)
	}
	for i, m := range elements {
		if breaks != nil && breaks(i) {
			flush(i)
		}
		forms := wire.ChatForm(m)
		switch {
		case len(forms) == 1 && forms[0].Role == runtime.RoleAssistant:
			open = append(open, forms[0])
		case len(forms) > 0:
			flush(i)
			list = append(list, forms...)
		}
		ends[i] = from + len(list)
		if len(open) > 0 {
			ends[i] = -1
		}
	}
	flush(len(elements))
	return list, ends
}
