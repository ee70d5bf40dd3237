package runtime

import (
	"bytes"
	"testing"

	"gotest.tools/v3/assert"
)

func texts(blocks [][]byte) []string {
	var out []string
	for _, b := range blocks {
		out = append(out, string(b))
	}
	return out
}

func TestSplitEvents(t *testing.T) {
	cases := []struct {
		name, stream string
		want         []string
	}{
		{"nothing", "", nil},
		{"LF", "data: a\n\ndata: b\n\n", []string{"data: a\n\n", "data: b\n\n"}},
		{"case 1.15: CRLF", "data: a\r\n\r\ndata: b\r\n\r\n", []string{"data: a\r\n\r\n", "data: b\r\n\r\n"}},
		{"case 1.15: CR", "data: a\r\rdata: b\r\r", []string{"data: a\r\r", "data: b\r\r"}},
		{"line ends mixed", "data: a\r\n\ndata: b\n\r\ndata: c\r\r\n", []string{"data: a\r\n\n", "data: b\n\r\n", "data: c\r\r\n"}},
		{"torn tail", "data: a\n\ndata: b\n", []string{"data: a\n\n", "data: b\n"}},
		{"torn between CR and LF", "data: a\r\n\r", []string{"data: a\r\n\r"}},
		{"comments and blank lines", ": x\n\n\ndata: a\n\n", []string{": x\n\n", "\n", "data: a\n\n"}},
		{"no line end", "data: a", []string{"data: a"}},
		{"case 1.17: bytes that are no text", "data: \xe5\xad\n\n\xff", []string{"data: \xe5\xad\n\n", "\xff"}},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) { assert.DeepEqual(t, texts(SplitEvents([]byte(c.stream))), c.want) })
	}
}

// splitIn feeds stream in pieces of the given size.
func splitIn(stream []byte, size int) [][]byte {
	var s Splitter
	var blocks [][]byte
	for len(stream) > 0 {
		n := min(size, len(stream))
		piece := bytes.Clone(stream[:n])
		blocks = append(blocks, s.Feed(piece)...)
		clear(piece) // the caller may use its buffer again
		stream = stream[n:]
	}
	if rest := s.Rest(); rest != nil {
		blocks = append(blocks, rest)
	}
	return blocks
}

func TestReadBoundariesMakeNoDifference(t *testing.T) { // case 1.15 and case 1.17
	stream := []byte("\ufeffdata: 字😀\r\n\r\n: c\n\ndata: a\r\rdata: b\n\n\r\ndata: [DONE]")
	want := texts(SplitEvents(stream))
	for size := 1; size <= len(stream); size++ {
		assert.DeepEqual(t, texts(splitIn(stream, size)), want)
	}
}

func TestFinishedBlocksComeAtOnce(t *testing.T) {
	var s Splitter
	assert.DeepEqual(t, texts(s.Feed([]byte("data: a\n"))), []string(nil))
	assert.DeepEqual(t, texts(s.Feed([]byte("\n"))), []string{"data: a\n\n"})
	assert.DeepEqual(t, texts(s.Feed([]byte("data: b\r\n\r\ndata"))), []string{"data: b\r\n\r\n"})
	assert.DeepEqual(t, texts(s.Feed([]byte(": c\r\r"))), []string(nil))
	assert.DeepEqual(t, texts(s.Feed([]byte("d"))), []string{"data: c\r\r"})
	assert.Equal(t, string(s.Rest()), "d")
	assert.Assert(t, s.Rest() == nil)
}

func TestEventData(t *testing.T) {
	type event struct {
		Event, Data string
		OK          bool
	}
	cases := []struct {
		name, block string
		want        event
	}{
		{"case 1.11: no space", "data:x\n\n", event{"", "x", true}},
		{"case 1.11: one space of two", "data:  x\n\n", event{"", " x", true}},
		{"a tab is data", "data:\tx\n\n", event{"", "\tx", true}},
		{"case 1.12: comment", ": WAITING\n\n", event{}},
		{"case 1.15: several lines", "data: l1\ndata: l2\n\n", event{"", "l1\nl2", true}},
		{"several lines, CR and CRLF", "data: l1\rdata: l2\r\ndata\r\n\r\n", event{"", "l1\nl2\n", true}},
		{"name", "event: error\ndata: x\n\n", event{"error", "x", true}},
		{"name alone", "event: error\n\n", event{"error", "", false}},
		{"other fields", "id: 1\nretry: 2\ndatax: 3\ndata: x\n\n", event{"", "x", true}},
		{"byte order mark", "\ufeffdata: x\n\n", event{"", "x", true}},
		{"colons in the data", `data: {"a":1}` + "\n\n", event{"", `{"a":1}`, true}},
		{"empty data", "data:\n\n", event{"", "", true}},
		{"blank line", "\n", event{}},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			var got event
			got.Event, got.Data, got.OK = EventData([]byte(c.block))
			assert.DeepEqual(t, got, c.want)
		})
	}
}

func FuzzSplitter(f *testing.F) {
	f.Add([]byte("data: a\r\n\r\ndata: b\n\n: c\r\r"), 1)
	f.Add([]byte("\ufeffdata: 字\n\r\n\r\r\r\n"), 2)
	f.Add([]byte("event: error\ndata"), 3)
	f.Fuzz(func(t *testing.T, stream []byte, size int) {
		blocks := SplitEvents(stream)
		assert.Assert(t, bytes.Equal(bytes.Join(blocks, nil), stream))
		assert.DeepEqual(t, texts(splitIn(stream, 1+max(size%17, -(size%17)))), texts(blocks))
		for _, block := range blocks {
			EventData(block)
		}
	})
}
