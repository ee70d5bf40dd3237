package record

import (
	"cmp"
	"regexp"
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/tapetree/tapetree/runtime"
	"github.com/tapetree/tapetree/transcripts"
)

// faultMessage is what an injected error says of itself.
const faultMessage = "injected fault"

// spoil returns a copy of e with its response changed by a fault that changes
// bytes; why says what in the response makes that impossible, "" when nothing.
func (f Fault) spoil(e *transcripts.Exchange) (spoilt *transcripts.Exchange, why string) {
	s := newSpoiler(e)
	if s == nil {
		return e, "the answer is neither JSON nor an event stream"
	}
	switch f.Kind {
	case FaultCut:
		if f.Word == "" {
			return s.cut(f.Bytes)
		}
		return s.cutArguments()
	case FaultNoDone:
		return s.withoutDone()
	case FaultArguments:
		return s.arguments(f.Word == "duplicated")
	case FaultIDs:
		return s.ids(f.Word == "duplicated")
	case FaultError:
		return s.failing(cmp.Or(f.Message, faultMessage))
	}
	return e, ""
}

// spoiler changes the response of one exchange. A JSON body is one block.
type spoiler struct {
	wire   runtime.Wire
	from   *transcripts.Exchange
	stream bool
	blocks []string
	slots  map[string]openCall // of chat completions: the call that a place of the stream is writing
}

func newSpoiler(e *transcripts.Exchange) *spoiler {
	switch {
	case e.SSE != nil:
		return &spoiler{wire: wireOf(e), from: e, stream: true, blocks: e.SSE}
	case e.Response != nil:
		return &spoiler{wire: wireOf(e), from: e, blocks: []string{string(e.Response)}}
	case e.Text != nil && jsontext.Value(*e.Text).IsValid(): // JSON that cannot stand on a line as it is
		return &spoiler{wire: wireOf(e), from: e, blocks: []string{*e.Text}}
	default:
		return nil
	}
}

// with is the exchange with other blocks, which are whole.
func (s *spoiler) with(blocks []string, end runtime.End) *transcripts.Exchange {
	e := *s.from
	if s.stream {
		e.SSE, e.StreamEnd = blocks, end
		return &e
	}
	e.Response, e.Text = jsontext.Value(strings.Join(blocks, "")), nil
	return &e
}

// torn is the exchange broken off behind the given blocks.
func (s *spoiler) torn(blocks []string) *transcripts.Exchange {
	e := *s.from
	e.StreamEnd = runtime.EndReset
	if s.stream {
		e.SSE = blocks
		return &e
	}
	text := strings.Join(blocks, "")
	e.Response, e.Text = nil, &text
	return &e
}

// cut breaks the body off after n bytes.
func (s *spoiler) cut(n int) (*transcripts.Exchange, string) {
	blocks := []string{}
	for _, block := range s.blocks {
		if n < len(block) {
			if n > 0 {
				blocks = append(blocks, block[:n])
			}
			return s.torn(blocks), ""
		}
		n -= len(block)
		blocks = append(blocks, block)
	}
	return s.from, "the answer has no more bytes than that"
}

// cutArguments breaks the body off in the middle of a call's arguments.
func (s *spoiler) cutArguments() (*transcripts.Exchange, string) {
	for _, text := range s.argumentTexts() {
		left := text.length() / 2
		for _, p := range text.pieces {
			if size := p.end - p.start; left > size {
				left -= size
				continue
			}
			if text.length() < 2 {
				break
			}
			blocks := slices.Clone(s.blocks[:p.block])
			return s.torn(append(blocks, s.blocks[p.block][:p.start+left])), ""
		}
	}
	return s.from, "the answer has no call with arguments"
}

// withoutDone takes the end mark out of a stream.
func (s *spoiler) withoutDone() (*transcripts.Exchange, string) {
	if !s.stream {
		return s.from, "a JSON answer has no end mark"
	}
	blocks := slices.DeleteFunc(slices.Clone(s.blocks), func(block string) bool { return isDone(s.wire, []byte(block)) })
	if len(blocks) == len(s.blocks) {
		return s.from, "the stream has no end mark"
	}
	return s.with(blocks, runtime.EndEOF), ""
}

// failing ends a stream in its middle with an error; of a JSON answer the error
// takes the place.
func (s *spoiler) failing(message string) (*transcripts.Exchange, string) {
	if !s.stream {
		return s.with([]string{string(errorBody(s.wire, "server_error", "api_error", message))}, ""), ""
	}
	event := "data: " + string(errorEvent(s.wire, message)) + "\n\n"
	if s.wire != runtime.WireChat {
		event = "event: error\n" + event
	}
	half := (len(s.blocks) + 1) / 2
	return s.with(append(slices.Clone(s.blocks[:half]), event), runtime.EndEOF), ""
}

// errorEvent is an error inside an answer, in the shape of a wire.
func errorEvent(wire runtime.Wire, message string) jsontext.Value {
	if wire == runtime.WireResponses {
		l := &httpLine{}
		l.member("type", quoted("error"))
		l.member("code", quoted("server_error"))
		l.member("message", quoted(message))
		l.member("param", jsontext.Value("null"))
		return l.end()
	}
	return errorBody(wire, "server_error", "api_error", message)
}

// errorBody is an error in the shape of a wire: kind is the OpenAI word for it,
// anthropic the other one.
func errorBody(wire runtime.Wire, kind, anthropic, message string) jsontext.Value {
	inner := &httpLine{}
	if wire == runtime.WireMessages {
		inner.member("type", quoted(anthropic))
		inner.member("message", quoted(message))
		l := &httpLine{}
		l.member("type", quoted("error"))
		l.member("error", inner.end())
		return l.end()
	}
	inner.member("message", quoted(message))
	inner.member("type", quoted(kind))
	inner.member("param", jsontext.Value("null"))
	inner.member("code", quoted(kind))
	l := &httpLine{}
	l.member("error", inner.end())
	return l.end()
}

// arguments spoils the arguments of every call: they become text that is no
// JSON, or stand there twice.
func (s *spoiler) arguments(twice bool) (*transcripts.Exchange, string) {
	edits := map[int][]runtime.Edit{}
	objects := false
	for _, text := range s.argumentTexts() {
		objects = objects || text.object
		if text.object {
			continue
		}
		at := text.first()
		inside := s.blocks[at.block][at.start:at.end]
		switch {
		case twice:
			at = text.last()
			edits[at.block] = append(edits[at.block], runtime.Edit{Start: at.end, End: at.end, New: s.join(text)})
		case strings.HasPrefix(inside, "{"):
			edits[at.block] = append(edits[at.block], runtime.Edit{Start: at.start + 1, End: at.start + 1, New: ","})
		default:
			edits[at.block] = append(edits[at.block], runtime.Edit{Start: at.start, End: at.start, New: "{,"})
		}
	}
	switch {
	case len(edits) > 0:
		return s.with(s.edited(edits), s.from.StreamEnd), ""
	case objects:
		return s.from, "the arguments are a JSON object on this wire, which cannot be spoilt so; a stream's can"
	default:
		return s.from, "the answer has no call"
	}
}

// ids gives every call the id of the first one, or none.
func (s *spoiler) ids(same bool) (*transcripts.Exchange, string) {
	spots := s.idSpots()
	if len(spots) == 0 {
		return s.from, "the answer has no call"
	}
	text := func(p spot) string { return s.blocks[p.block][p.start:p.end] }
	id := ""
	if same {
		id = text(spots[0])
		if !slices.ContainsFunc(spots, func(p spot) bool { return text(p) != id }) {
			return s.from, "the answer has no second call"
		}
	}
	edits := map[int][]runtime.Edit{}
	for _, p := range spots {
		edits[p.block] = append(edits[p.block], runtime.Edit{Start: p.start, End: p.end, New: id})
	}
	return s.with(s.edited(edits), s.from.StreamEnd), ""
}

func (s *spoiler) edited(edits map[int][]runtime.Edit) []string {
	blocks := slices.Clone(s.blocks)
	for i, list := range edits {
		slices.SortStableFunc(list, func(a, b runtime.Edit) int { return cmp.Compare(a.Start, b.Start) })
		blocks[i] = runtime.ApplyEdits(blocks[i], list)
	}
	return blocks
}

// spot is the inside of a string, or an object, in a block.
type spot struct {
	block, start, end int
}

// argumentText is the arguments of one call, in one piece or several.
type argumentText struct {
	pieces []spot
	object bool // no text but the object itself
}

func (t *argumentText) length() int {
	n := 0
	for _, p := range t.pieces {
		n += p.end - p.start
	}
	return n
}

// first is the first piece that is not empty, else the first.
func (t *argumentText) first() spot {
	for _, p := range t.pieces {
		if p.end > p.start {
			return p
		}
	}
	return t.pieces[0]
}

func (t *argumentText) last() spot { return t.pieces[len(t.pieces)-1] }

func (s *spoiler) join(t *argumentText) string {
	var text strings.Builder
	for _, p := range t.pieces {
		text.WriteString(s.blocks[p.block][p.start:p.end])
	}
	return text.String()
}

// Where the wires have arguments and ids of calls.
var (
	argumentPlaces = map[runtime.Wire]*regexp.Regexp{
		runtime.WireChat:      regexp.MustCompile(`^/choices/\d+/(delta|message)/tool_calls/\d+/function/arguments$`),
		runtime.WireMessages:  regexp.MustCompile(`^/delta/partial_json$|^/content/\d+/input$`),
		runtime.WireResponses: regexp.MustCompile(`^/delta$|^/arguments$|^/item/arguments$|^(/response)?/output/\d+/arguments$`),
	}
	idPlaces = map[runtime.Wire]*regexp.Regexp{
		runtime.WireChat:      regexp.MustCompile(`^/choices/\d+/(delta|message)/tool_calls/\d+/id$`),
		runtime.WireMessages:  regexp.MustCompile(`^/content_block/id$|^/content/\d+/id$`),
		runtime.WireResponses: regexp.MustCompile(`^/item/call_id$|^(/response)?/output/\d+/call_id$`),
	}
)

// argumentTexts finds the arguments of all calls, in the order in which they
// begin.
func (s *spoiler) argumentTexts() []*argumentText {
	var order []*argumentText
	open := map[string]*argumentText{}
	for i := range s.blocks {
		for _, v := range s.find(i, argumentPlaces[s.wire]) {
			key := s.callKey(v)
			text := open[key]
			if text == nil || key == "" {
				text = &argumentText{object: v.kind == '{'}
				open[key] = text
				order = append(order, text)
			}
			text.pieces = append(text.pieces, v.spot)
		}
	}
	return order
}

// idSpots finds the ids of all calls.
func (s *spoiler) idSpots() []spot {
	var list []spot
	for i := range s.blocks {
		for _, v := range s.find(i, idPlaces[s.wire]) {
			if v.kind == '"' && v.end > v.start {
				list = append(list, v.spot)
			}
		}
	}
	return list
}

// foundValue is a value that stands at a place looked for.
type foundValue struct {
	spot
	pointer string
	kind    jsontext.Kind
	whole   *node // the data of its block
}

// find lists the strings and objects of a block at the places of a pattern that
// belong to a call.
func (s *spoiler) find(block int, places *regexp.Regexp) []foundValue {
	f := frame{data: s.blocks[block], lines: []piece{{0, len(s.blocks[block])}}, offsets: []int{0}}
	if s.stream {
		f = readFrame(s.blocks[block])
	}
	if !strings.HasPrefix(strings.TrimLeft(f.data, " \t\r\n"), "{") || places == nil {
		return nil
	}
	var list []foundValue
	var whole *node
	for _, v := range valuesIn([]byte(f.data)) {
		if !places.MatchString(v.pointer) {
			continue
		}
		kind := jsontext.Kind(f.data[v.start])
		if kind == '"' {
			v.start, v.end = v.start+1, v.end-1
		}
		line := slices.IndexFunc(f.lines, func(l piece) bool { return l.from <= v.start && v.end <= l.from+l.length })
		if whole == nil {
			whole = valueNode([]byte(f.data))
		}
		if line < 0 || !isOfCall(whole, v.pointer) || kind != '"' && kind != '{' {
			continue
		}
		shift := f.offsets[line] - f.lines[line].from
		list = append(list, foundValue{spot{block, v.start + shift, v.end + shift}, v.pointer, kind, whole})
	}
	return list
}

// isOfCall reports whether the value at a pointer belongs to a call: the same
// places hold other things too.
func isOfCall(whole *node, at string) bool {
	switch {
	case at == "/delta" || at == "/arguments":
		return strings.HasPrefix(whole.textAt("type"), "response.function_call_arguments.")
	case at == "/item/arguments": // where a call begins it has none yet
		return whole.textAt("type") != "response.output_item.added"
	case at == "/content_block/id":
		return whole.textAt("content_block", "type") == "tool_use"
	case strings.HasPrefix(at, "/content/"):
		return whole.textAt("content", strings.Split(at, "/")[2], "type") == "tool_use"
	default:
		return true
	}
}

// callKey tells the pieces of one call's arguments in a stream; "" for a text
// that is whole.
func (s *spoiler) callKey(v foundValue) string {
	steps := strings.Split(v.pointer, "/")[1:]
	switch {
	case v.pointer == "/delta/partial_json":
		return "content " + v.whole.textAt("index")
	case v.pointer == "/delta":
		return "output " + v.whole.textAt("output_index") + " " + v.whole.textAt("item_id")
	case len(steps) > 4 && steps[2] == "delta":
		choice := cmp.Or(v.whole.textAt("choices", steps[1], "index"), steps[1])
		call := cmp.Or(v.whole.textAt("choices", steps[1], "delta", "tool_calls", steps[4], "index"), steps[4])
		return s.slotKey("choice "+choice+" call "+call, v.whole.textAt("choices", steps[1], "delta", "tool_calls", steps[4], "id"))
	default:
		return ""
	}
}

// slotKey tells calls apart that share a place: another id begins another call.
func (s *spoiler) slotKey(slot, id string) string {
	if s.slots == nil {
		s.slots = map[string]openCall{}
	}
	open := s.slots[slot]
	if id != "" {
		if open.id != "" && open.id != id {
			open.count++
		}
		open.id = id
		s.slots[slot] = open
	}
	return slot + "#" + decimal(open.count)
}
