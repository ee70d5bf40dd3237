package record

import (
	"cmp"
	"errors"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/tapetree/tapetree/runtime"
)

// FoldSSE applies f to the blocks of a stream, also where a path is split over
// frames: the placeholder goes whole into the first frame concerned, the rest
// is taken out of the others, and recut is true. Frames that hold nothing of a
// path keep their bytes.
func FoldSSE(f *runtime.Folder, blocks []string) (out []string, recut bool) {
	if f == nil {
		return blocks, false
	}
	return editSSE(f.FoldEditor(), blocks)
}

// ExpandSSE is the inverse of FoldSSE, but for how a path was split.
func ExpandSSE(f *runtime.Folder, blocks []string) []string {
	if f == nil {
		return blocks
	}
	out, _ := editSSE(f.ExpandEditor(), blocks)
	return out
}

// deltaNames are the members whose strings are pieces of a longer text.
var deltaNames = map[string]bool{
	"content": true, "reasoning_content": true, "reasoning": true, "refusal": true, "text": true, "thinking": true,
	"arguments": true, "partial_json": true, "delta": true,
}

// piece is one part of a joined text: where it begins there, and how long it
// is.
type piece struct {
	from, length int
}

// fragment is one piece of a channel, and the string that carries it.
type fragment struct {
	piece
	block      int
	start, end int // of the string's inside, in the data of the block
}

// channel is a text that comes in pieces: the content of a choice, the
// arguments of a call.
type channel struct {
	text      strings.Builder
	fragments []fragment
}

// editSSE finds edits in the joined texts of a stream and in what is left of
// each frame.
func editSSE(e runtime.Editor, blocks []string) (out []string, recut bool) {
	frames := make([]frame, len(blocks))
	channels := newChannelSet()
	for i, block := range blocks {
		frames[i] = readFrame(block)
		channels.add(i, &frames[i])
	}
	for _, c := range channels.order {
		edits := e.Edits(runtime.Spot{Text: c.text.String()})
		pieces := make([]piece, len(c.fragments))
		for i, f := range c.fragments {
			pieces[i] = f.piece
		}
		parts, split := distribute(edits, pieces)
		recut = recut || split
		for i, part := range parts {
			frames[c.fragments[i].block].editString(c.fragments[i], part)
		}
	}
	out = make([]string, len(blocks))
	for i, block := range blocks {
		out[i] = frames[i].apply(e, block)
	}
	return out, recut
}

// distribute gives each piece its part of the edits of the joined text: New
// goes to the first piece concerned, the others lose what is replaced.
func distribute(edits []runtime.Edit, pieces []piece) (parts [][]runtime.Edit, split bool) {
	parts = make([][]runtime.Edit, len(pieces))
	first := 0
	for _, e := range edits {
		for first < len(pieces) && pieces[first].from+pieces[first].length <= e.Start {
			first++
		}
		text, concerned := e.New, 0
		for i := first; i < len(pieces) && pieces[i].from < e.End; i++ {
			p := pieces[i]
			if p.length == 0 {
				continue
			}
			start, end := max(e.Start, p.from)-p.from, min(e.End, p.from+p.length)-p.from
			parts[i] = append(parts[i], runtime.Edit{Start: start, End: end, New: text})
			text = ""
			concerned++
		}
		split = split || concerned > 1
	}
	return parts, split
}

// frame is the data of one block and where it stands there.
type frame struct {
	data    string // lines joined by \n
	lines   []piece
	offsets []int // of each line, in the block
	edits   []runtime.Edit
	strings []fragment // strings of channels, looked at in the joined text only
}

// readFrame collects the data of a block by the rules of event streams: lines
// end with CRLF, LF or CR, "data" may be followed by a colon and one space.
func readFrame(block string) frame {
	var f frame
	var data strings.Builder
	for at := 0; at < len(block); {
		end := len(block)
		if i := strings.IndexAny(block[at:], "\r\n"); i >= 0 {
			end = at + i
		}
		from := at
		if at == 0 && strings.HasPrefix(block, "\ufeff") {
			from += len("\ufeff")
		}
		if strings.HasPrefix(block[from:end], "data:") {
			from += len("data:")
			if from < end && block[from] == ' ' {
				from++
			}
			if len(f.lines) > 0 {
				data.WriteByte('\n')
			}
			f.lines = append(f.lines, piece{data.Len(), end - from})
			f.offsets = append(f.offsets, from)
			data.WriteString(block[from:end])
		}
		at = end + 1
		if strings.HasPrefix(block[end:], "\r\n") {
			at++
		}
	}
	f.data = data.String()
	return f
}

func (f *frame) editString(s fragment, edits []runtime.Edit) {
	f.strings = append(f.strings, s)
	for _, e := range runtime.StringEdits(f.data[s.start:s.end], edits) {
		f.edits = append(f.edits, runtime.Edit{Start: e.Start + s.start, End: e.End + s.start, New: e.New})
	}
}

// apply edits what belongs to no channel, and writes the block.
func (f *frame) apply(e runtime.Editor, block string) string {
	rest := e.Edits(runtime.Spot{Text: f.withoutChannels()})
	edits := slices.Concat(f.edits, rest)
	slices.SortFunc(edits, func(a, b runtime.Edit) int { return cmp.Compare(a.Start, b.Start) })
	parts, _ := distribute(edits, f.lines)
	var moved []runtime.Edit
	for i, part := range parts {
		for _, p := range part {
			moved = append(moved, runtime.Edit{Start: p.Start + f.offsets[i], End: p.End + f.offsets[i], New: p.New})
		}
	}
	return runtime.ApplyEdits(block, moved)
}

// withoutChannels returns the data with blanks for the strings of channels.
func (f *frame) withoutChannels() string {
	if len(f.strings) == 0 {
		return f.data
	}
	data := []byte(f.data)
	for _, s := range f.strings {
		for i := s.start; i < s.end; i++ {
			data[i] = ' '
		}
	}
	return string(data)
}

// channelSet sorts the strings of frames into channels.
type channelSet struct {
	byKey map[string]*channel
	order []*channel
	calls map[string]openCall
}

// openCall is the call that a slot of a stream is writing.
type openCall struct {
	id    string
	count int
}

func newChannelSet() *channelSet {
	return &channelSet{byKey: map[string]*channel{}, calls: map[string]openCall{}}
}

// add reads the strings of one frame. A torn tail is closed first, so that the
// piece in it counts.
func (set *channelSet) add(block int, f *frame) {
	data := f.data
	if !strings.HasPrefix(strings.TrimLeft(data, " \t\r\n"), "{") {
		return
	}
	leaves, err := readLeaves(data)
	if err != nil {
		closed, ok := runtime.CloseJSON(data)
		if !ok {
			return
		}
		if leaves, err = readLeaves(closed); err != nil {
			return
		}
	}
	for _, l := range leaves {
		key := l.key + set.call(l)
		c := set.byKey[key]
		if c == nil {
			c = &channel{}
			set.byKey[key] = c
			set.order = append(set.order, c)
		}
		end := min(l.end, len(data))
		text := runtime.UnescapeJSON(data[l.start:end])
		c.fragments = append(c.fragments, fragment{piece{c.text.Len(), len(text)}, block, l.start, end})
		c.text.WriteString(text)
	}
}

// call tells calls apart that share a slot: a new id that comes with a name
// begins another one.
func (set *channelSet) call(l leaf) string {
	if l.id == "" || l.name == "" {
		return "#" + strconv.Itoa(set.calls[l.key].count)
	}
	open := set.calls[l.key]
	if open.id != "" && open.id != l.id {
		open.count++
	}
	open.id = l.id
	set.calls[l.key] = open
	return "#" + strconv.Itoa(open.count)
}

// leaf is one string of a frame that is a piece of a channel.
type leaf struct {
	key        string // the members and indexes that lead to it
	id, name   string // of the call it belongs to
	start, end int
}

// readLeaves walks one JSON value.
func readLeaves(data string) ([]leaf, error) {
	r := leafReader{dec: jsontext.NewDecoder(strings.NewReader(data), jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))}
	v, err := r.value("", false)
	if err != nil {
		return nil, err
	}
	if _, err := r.dec.ReadToken(); !errors.Is(err, io.EOF) {
		return nil, errors.Join(errors.New("read frame: more than one value"), err)
	}
	return v.leaves, nil
}

type leafReader struct {
	dec *jsontext.Decoder
}

// walked is what a value holds: its own text, and the leaves below it.
type walked struct {
	text   string // of a string or number
	leaves []leaf
	index  string // the index members of an object
}

func (r leafReader) value(name string, element bool) (walked, error) {
	switch kind := r.dec.PeekKind(); kind {
	case '{':
		return r.object(element)
	case '[':
		return r.array()
	default:
		raw, err := r.dec.ReadValue()
		if err != nil {
			return walked{}, err
		}
		w := walked{text: string(raw)}
		if kind == '"' {
			end := int(r.dec.InputOffset()) - 1
			start := end - (len(raw) - 2)
			w.text = runtime.UnescapeJSON(string(raw[1 : len(raw)-1]))
			if deltaNames[name] {
				w.leaves = []leaf{{start: start, end: end}}
			}
		}
		return w, nil
	}
}

func (r leafReader) object(element bool) (walked, error) {
	var w walked
	var id, name string
	if _, err := r.dec.ReadToken(); err != nil {
		return w, err
	}
	for r.dec.PeekKind() != '}' {
		token, err := r.dec.ReadToken()
		if err != nil {
			return w, err
		}
		member := token.String()
		v, err := r.value(member, false)
		if err != nil {
			return w, err
		}
		switch member {
		case "index", "output_index", "content_index", "item_id":
			w.index += member + "=" + v.text + ";"
		case "id":
			id = v.text
		case "name":
			name = v.text
		}
		for _, l := range v.leaves {
			l.key = "/" + member + l.key
			w.leaves = append(w.leaves, l)
		}
	}
	_, err := r.dec.ReadToken()
	for i := range w.leaves {
		w.leaves[i].key = w.index + w.leaves[i].key
		w.leaves[i].name = cmp.Or(w.leaves[i].name, name)
		if element {
			w.leaves[i].id = cmp.Or(w.leaves[i].id, id)
		}
	}
	return w, err
}

func (r leafReader) array() (walked, error) {
	var w walked
	if _, err := r.dec.ReadToken(); err != nil {
		return w, err
	}
	for i := 0; r.dec.PeekKind() != ']'; i++ {
		v, err := r.value("", true)
		if err != nil {
			return w, err
		}
		for _, l := range v.leaves {
			if v.index == "" {
				l.key = strconv.Itoa(i) + l.key
			}
			w.leaves = append(w.leaves, l)
		}
	}
	_, err := r.dec.ReadToken()
	return w, err
}
