package doctor

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/tapetree/tapetree/runtime"
	"github.com/tapetree/tapetree/transcripts"
)

// Collect holds the requests of runs against the recorded ones, place by place,
// and lists where they are not the same text. What a later request of an agent
// repeats is listed once. Ids of the protocol are left out: they compare by
// renaming.
func Collect(recorded *transcripts.File, runs ...*transcripts.File) []Difference {
	c := &collector{found: map[string]int{}}
	versions := make([]map[runtime.Place]*transcripts.Exchange, 0, len(runs)+1)
	for _, f := range append([]*transcripts.File{recorded}, runs...) {
		version := map[runtime.Place]*transcripts.Exchange{}
		for _, e := range f.Exchanges {
			at := runtime.Place{Agent: e.Agent, Turn: e.Turn, Try: e.Try}
			version[at] = e
			c.at(at)
		}
		versions = append(versions, version)
	}
	for _, at := range c.places {
		requests := make([]*transcripts.Exchange, len(versions))
		for i, version := range versions {
			requests[i] = version[at]
		}
		c.agent, c.turn = at.Agent, at.Turn
		c.requests(requests)
	}
	return c.out
}

// collector walks the versions of each request side by side.
type collector struct {
	places []runtime.Place // in the order in which they are met
	known  map[runtime.Place]bool
	agent  runtime.Path
	turn   int
	out    []Difference
	found  map[string]int // a difference of an agent to its number in out
}

func (c *collector) at(p runtime.Place) {
	if c.known == nil {
		c.known = map[runtime.Place]bool{}
	}
	if !c.known[p] {
		c.known[p] = true
		c.places = append(c.places, p)
	}
}

// requests compares one request. Another try is as good as one that is missing
// only where some version has no such request at all.
func (c *collector) requests(versions []*transcripts.Exchange) {
	if slices.Contains(versions, nil) {
		texts := make([]Text, len(versions))
		for i, e := range versions {
			if e != nil {
				texts[i] = Text{'{', "a request"}
			}
		}
		c.add("", texts)
		return
	}
	values := func(of func(*transcripts.Exchange) jsontext.Value) []jsontext.Value {
		out := make([]jsontext.Value, len(versions))
		for i, e := range versions {
			out[i] = of(e)
		}
		return out
	}
	c.values("/model", values(func(e *transcripts.Exchange) jsontext.Value { return quote(e.Model) }))
	c.values("/tools", values(func(e *transcripts.Exchange) jsontext.Value { return e.Tools }))
	for _, name := range paramNames(versions) {
		c.values("/"+escape(name), values(func(e *transcripts.Exchange) jsontext.Value { return paramOf(e, name) }))
	}
	longest := 0
	for _, e := range versions {
		longest = max(longest, e.Messages.Len())
	}
	for i := range longest {
		c.values("/messages/"+strconv.Itoa(i), values(func(e *transcripts.Exchange) jsontext.Value {
			if i < e.Messages.Len() {
				return jsontext.Value(e.Messages.Messages()[i].Raw)
			}
			return nil
		}))
	}
}

func paramNames(versions []*transcripts.Exchange) []string {
	names := map[string]bool{}
	for _, e := range versions {
		for _, p := range e.Params {
			names[p.Name] = true
		}
	}
	return slices.Sorted(maps.Keys(names))
}

func paramOf(e *transcripts.Exchange, name string) jsontext.Value {
	for _, p := range e.Params {
		if p.Name == name {
			return p.Value
		}
	}
	return nil
}

// idPlace is where a wire keeps the ids of calls and items.
var idPlace = regexp.MustCompile(`^/messages/\d+/(id|call_id|tool_call_id|tool_calls/\d+/id|content/\d+/(id|tool_use_id))$`)

// values compares the versions of one value; nil is an absent one.
func (c *collector) values(at string, versions []jsontext.Value) {
	if idPlace.MatchString(at) || sameBytes(versions) {
		return
	}
	kinds := map[jsontext.Kind]bool{}
	for _, v := range versions {
		kinds[v.Kind()] = true
	}
	switch {
	case len(kinds) > 1:
	case kinds['{']:
		if c.objects(at, versions) {
			return
		}
	case kinds['[']:
		if c.arrays(at, versions) {
			return
		}
	case kinds['"'] && strings.HasSuffix(at, "/arguments"):
		if inner, ok := innerJSON(versions); ok {
			c.values(at+"#", inner)
			return
		}
	}
	texts := make([]Text, len(versions))
	for i, v := range versions {
		texts[i] = textOf(v)
	}
	c.add(at, texts)
}

func sameBytes(versions []jsontext.Value) bool {
	return !slices.ContainsFunc(versions, func(v jsontext.Value) bool { return string(v) != string(versions[0]) })
}

// objects goes into the members; ok is false for what cannot be read.
func (c *collector) objects(at string, versions []jsontext.Value) (ok bool) {
	names := map[string]bool{}
	members := make([]map[string]jsontext.Value, len(versions))
	for i, v := range versions {
		if json.Unmarshal(v, &members[i], lenient...) != nil {
			return false
		}
		for name := range members[i] {
			names[name] = true
		}
	}
	for _, name := range slices.Sorted(maps.Keys(names)) {
		of := make([]jsontext.Value, len(versions))
		for i := range versions {
			of[i] = members[i][name]
		}
		c.values(at+"/"+escape(name), of)
	}
	return true
}

// arrays goes into the elements, unless their number or their order differs:
// that is a difference of the list.
func (c *collector) arrays(at string, versions []jsontext.Value) (ok bool) {
	elements := make([][]jsontext.Value, len(versions))
	texts := make([]Text, len(versions))
	for i, v := range versions {
		if json.Unmarshal(v, &elements[i], lenient...) != nil || len(elements[i]) != len(elements[0]) {
			return false
		}
		texts[i] = textOf(v)
	}
	if inOtherOrder(texts) {
		return false
	}
	for n := range elements[0] {
		of := make([]jsontext.Value, len(versions))
		for i := range versions {
			of[i] = elements[i][n]
		}
		c.values(at+"/"+strconv.Itoa(n), of)
	}
	return true
}

// innerJSON gives the JSON that texts hold, if all of them hold some.
func innerJSON(versions []jsontext.Value) ([]jsontext.Value, bool) {
	inner := make([]jsontext.Value, len(versions))
	for i, v := range versions {
		inner[i] = jsontext.Value(textOf(v).Text)
		if kind := inner[i].Kind(); kind != '{' && kind != '[' || !inner[i].IsValid() {
			return nil, false
		}
	}
	return inner, true
}

var lenient = []jsontext.Options{jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true)}

func textOf(v jsontext.Value) Text {
	if v == nil {
		return Text{}
	}
	if v.Kind() == '"' {
		text, err := jsontext.AppendUnquote(nil, v)
		if err == nil || len(text) > 0 {
			return Text{'"', string(text)}
		}
	}
	return Text{byte(v.Kind()), string(v)}
}

func quote(text string) jsontext.Value {
	out, err := jsontext.AppendQuote(nil, text)
	if err != nil { // bad UTF-8, which has been replaced
		return out
	}
	return out
}

func escape(name string) string {
	return strings.NewReplacer("~", "~0", "/", "~1").Replace(name)
}

// add notes a difference, one that was noted of the agent before as one more
// place.
func (c *collector) add(at string, texts []Text) {
	key := fmt.Sprintf("%s\x00%s\x00%q", c.agent, at, texts)
	if at == "" {
		key += "\x00" + strconv.Itoa(c.turn)
	}
	if n, seen := c.found[key]; seen {
		c.out[n].Places++
		return
	}
	c.found[key] = len(c.out)
	c.out = append(c.out, Difference{Agent: c.agent, Turn: c.turn, Pointer: at, Recorded: texts[0], Runs: texts[1:], Places: 1})
}
