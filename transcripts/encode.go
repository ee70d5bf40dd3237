package transcripts

import (
	"cmp"
	"slices"

	"github.com/go-json-experiment/json/jsontext"
)

// Encode writes the canonical form: fixed key order, lines in tree order, ids
// of system texts, tool lists and secrets numbered in that order, references
// computed from the messages, sums unless By is Authored. The order in which
// the exchanges and calls stand in f does not matter.
//
// Encode(Parse(x)) is x for every x that Encode wrote. What cannot stand in a
// file byte for byte (a parameter or header that is no strict JSON) is written
// as text.
func (f *File) Encode() []byte {
	type item struct {
		key      orderKey
		exchange *Exchange
		call     *Call
	}
	order := keys{}
	items := make([]item, 0, len(f.Exchanges)+len(f.Calls))
	for _, x := range f.Exchanges {
		items = append(items, item{key: order.exchange(x), exchange: x})
	}
	for _, call := range f.Calls {
		items = append(items, item{key: order.call(call), call: call})
	}
	slices.SortStableFunc(items, func(a, b item) int { return slices.Compare(a.key, b.key) })

	c := newCoder(f)
	c.numbers = newSecretNumbers()
	for _, it := range items {
		if it.call != nil {
			c.know(it.call)
		}
	}
	out := c.header(&f.Header)
	for _, it := range items {
		if it.exchange != nil {
			out = append(out, c.exchange(it.exchange)...)
		} else {
			out = append(out, c.call(it.call)...)
		}
	}
	for _, h := range sortedHTTP(f.HTTP) {
		out = append(out, c.http(h)...)
	}
	if f.Timing != nil {
		out = append(out, c.timing(f.Timing)...)
	}
	if f.End != nil {
		out = append(out, c.end(f.sortedEnd(order), len(f.Exchanges))...)
	}
	return out
}

// sortedEnd returns the end line with its stops in tree order.
func (f *File) sortedEnd(order keys) *End {
	end := *f.End
	end.Stops = slices.Clone(end.Stops)
	slices.SortStableFunc(end.Stops, func(a, b Stop) int {
		return slices.Compare(order.agent(a.Agent), order.agent(b.Agent))
	})
	return &end
}

// sortedHTTP puts the lines of kind http in the order of their numbers.
func sortedHTTP(list []*HTTP) []*HTTP {
	list = slices.Clone(list)
	slices.SortStableFunc(list, func(a, b *HTTP) int {
		return cmp.Compare(httpNumber(a.Raw), httpNumber(b.Raw))
	})
	return list
}

func httpNumber(raw jsontext.Value) int {
	for _, m := range membersOf(raw) {
		if m.Name == "n" {
			n, _ := counted(string(m.Value)) // 0 when it is none: first
			return n
		}
	}
	return 0
}
