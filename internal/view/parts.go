package view

import (
	"iter"
	"regexp"
	"strconv"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// Everything that a page reads is a part with an id of its own: "index", "s0" a
// session, "s0-a3-p2" a page of its agent 3, "s0-a3-t17" the whole text of row 17
// and "s0-a3-g17" its arguments, "d0-1" the diff of two sessions and "d0-1-a3-p2" rows of it. A server gives
// them one by one, a file holds each in a block.

var partID = regexp.MustCompile(`^(?:(index)|s(\d{1,9})(?:-a(\d{1,9})-([ptg])(\d{1,9}))?|d(\d{1,9})-(\d{1,9})(?:-a(\d{1,9})-p(\d{1,9}))?)$`)

// part gives one part as JSON; false when there is none.
func (b *Book) part(id string) ([]byte, bool) {
	m := partID.FindStringSubmatch(id)
	if m == nil {
		return nil, false
	}
	n := make([]int, len(m))
	for i, digits := range m {
		n[i], _ = strconv.Atoi(digits) // nine digits fit; what is no number is not used
	}
	switch {
	case m[1] != "":
		return encode(b.index(false)), true
	case m[6] != "":
		if m[8] == "" {
			n[8] = -1
		}
		return b.difference(n[6], n[7]).part(n[8], n[9])
	case n[2] >= len(b.sessions):
		return nil, false
	case m[4] == "":
		return encode(b.sessions[n[2]].model), true
	}
	return b.sessions[n[2]].part(n[3], m[4], n[5])
}

func (s *session) part(agent int, kind string, at int) ([]byte, bool) {
	switch {
	case agent >= len(s.told):
		return nil, false
	case kind == "p" && at < len(s.pages[agent]):
		return encode(s.pages[agent][at].rows), true
	case kind == "t" && at < len(s.told[agent].lines):
		return encode(valid(s.told[agent].lines[at].text)), true
	case kind == "g" && at < len(s.told[agent].lines):
		return encode(valid(s.told[agent].lines[at].args)), true
	}
	return nil, false
}

// parts gives all that a file holds, in the order in which a page wants it.
func (b *Book) parts() iter.Seq2[string, []byte] {
	return func(yield func(string, []byte) bool) {
		if !yield("index", encode(b.index(true))) {
			return
		}
		for i, s := range b.sessions {
			if !yield("s"+strconv.Itoa(i), encode(s.model)) {
				return
			}
		}
		if pair, ok := b.kept(); ok && !b.difference(pair[0], pair[1]).parts("d"+strconv.Itoa(pair[0])+"-"+strconv.Itoa(pair[1]), yield) {
			return
		}
		for i, s := range b.sessions {
			if !s.parts("s"+strconv.Itoa(i), yield) {
				return
			}
		}
	}
}

// parts gives the pages and long texts of a session.
func (s *session) parts(prefix string, yield func(string, []byte) bool) bool {
	for agent := range s.pages {
		for i, p := range s.pages[agent] {
			if !yield(prefix+"-a"+strconv.Itoa(agent)+"-p"+strconv.Itoa(i), encode(p.rows)) {
				return false
			}
			for j, row := range p.rows {
				l := &s.told[agent].lines[p.first+j]
				if row.Text.Block != "" && !yield(prefix+"-"+row.Text.Block, encode(valid(l.text))) {
					return false
				}
				if row.Args.Block != "" && !yield(prefix+"-"+row.Args.Block, encode(valid(l.args))) {
					return false
				}
			}
		}
	}
	return true
}

// encode writes JSON that may stand in a script element: <, >, & and the two
// line separators of Unicode are escaped. What it is given is ours, so it can
// be written.
func encode(v any) []byte {
	data, err := json.Marshal(v, jsontext.EscapeForHTML(true), jsontext.EscapeForJS(true))
	if err != nil {
		panic("view: " + err.Error())
	}
	return data
}
