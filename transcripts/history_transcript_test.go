package transcripts

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/tapetree/tapetree/runtime"
	"gotest.tools/v3/assert"
	"gotest.tools/v3/golden"
)

func read(t testing.TB, raw string) runtime.Message {
	t.Helper()
	m, err := runtime.ParseMessage(jsontext.Value(raw))
	assert.NilError(t, err)
	return m
}

// delegated is a session with a child, an agent known only by its call, a list
// that begins anew, and messages that chat completions does not have.
func delegated(t testing.TB) *History {
	b := NewHistory("s.jsonl", "", "claude-code")
	b.Began(time.Date(2026, 1, 2, 4, 4, 5, 0, time.FixedZone("", 3600)))
	at := func(line, second int) Spot {
		return Spot{Line: line, Start: time.Duration(second) * time.Second, End: time.Duration(second+1) * time.Second, Timed: true}
	}
	root := b.Root()
	root.Add(read(t, "{\"role\":\"user\",\n\"content\":\"Look at both.\"}"))
	root.Answer(&runtime.Answer{
		Message: read(t, `{"role":"assistant","content":null,"tool_calls":[`+
			`{"id":"c1","type":"function","function":{"name":"Task","arguments":"{\"prompt\":\"Look at one.\"}"}},`+
			`{"id":"c2","type":"function","function":{"name":"Task","arguments":"{\"prompt\":\"Look at two.\"}"}}]}`),
		Finish: "tool_use", Model: "m", ID: "msg_1", Usage: runtime.Usage{Input: 10, Output: 5, Cached: 3, Reasoning: 2},
	}, at(2, 0))
	child := root.Child("c1")
	child.Add(read(t, `{"role":"user","content":"Look at one."}`))
	child.Answer(&runtime.Answer{Message: read(t, `{"role":"assistant","content":"One is fine."}`), Finish: "end_turn", Model: "s"}, at(3, 2))
	child.Add(read(t, `{"role":"user","content":"Good."}`))
	odd := read(t, `{"role":"tool","tool_call_ids":["c1"],"content":"One is fine."}`)
	odd.CallID = "c1"
	root.Add(odd)
	twice := runtime.ToolMessage("c2", "two")
	twice.Raw = jsontext.Value(`{"role":"tool","role":"tool","tool_call_id":"c2","content":"two"}`)
	root.Add(twice)
	root.Answer(&runtime.Answer{Message: read(t, `{"role":"assistant","content":"Both are."}`)}, at(6, 5))
	root.Restart()
	root.Add(read(t, `{"role":"user","content":"Summary: both are fine."}`))
	root.Answer(&runtime.Answer{Message: read(t, `{"role":"assistant","content":"Yes."}`), Finish: "max_tokens"}, at(8, 7))
	second := b.Root()
	second.Add(read(t, `{"role":"user","content":"Anybody?"}`))
	second.Add(read(t, `{"role":"user","content":"Hello?"}`))
	b.Lost("3 progress lines")
	return b.History()
}

func TestAHistoryAsATranscript(t *testing.T) {
	h := delegated(t)
	f, lost := h.Transcript()
	f.Header.Name, f.Header.By = "s", "tapetree test from claude-code"
	assert.DeepEqual(t, lost, []string{
		"3 progress lines",
		"root/1.1: 1 message after the last answer",
		"root/1.2: known only by the call that started it",
		"root2: 2 messages that no answer follows",
		"2 messages written anew, for chat completions has no such form",
	})
	data := f.Encode()
	golden.Assert(t, string(data), "history-transcript.jsonl")

	again, err := Parse("s.jsonl", data)
	assert.NilError(t, err)
	back, err := again.History()
	assert.NilError(t, err)
	assert.DeepEqual(t, spoken(back), spoken(h))
	assert.Equal(t, back.Began.Format(time.RFC3339), "2026-01-02T03:04:05Z")
	for key, spot := range back.Spots {
		assert.Equal(t, spot.Start, h.Spots[key].Start, key)
		assert.Equal(t, spot.End, h.Spots[key].End, key)
	}

	same, lost := back.Transcript()
	assert.Assert(t, same == again)
	assert.Equal(t, len(lost), 0)
}

// spoken is what the agents with answers said, and what they were asked with.
func spoken(h *History) []string {
	var out []string
	h.Walk(func(r *runtime.Run) {
		for _, turn := range r.Turns {
			text := string(r.Agent) + ":"
			for _, m := range turn.Sent.Messages() {
				text += " " + string(m.Role) + "(" + m.CallID + ")" + m.Content
			}
			out = append(out, text+" -> "+turn.Answer.Message.Content)
		}
	})
	return out
}

// TestWithoutAllClocksThereAreNone: a clock of some turns would put the others
// at the beginning.
func TestWithoutAllClocksThereAreNone(t *testing.T) {
	b := NewHistory("s.jsonl", "", "openai")
	root := b.Root()
	root.Answer(&runtime.Answer{Message: read(t, `{"role":"assistant","content":"a"}`)}, Spot{Timed: true})
	root.Answer(&runtime.Answer{Message: read(t, `{"role":"assistant","content":"b"}`)}, Spot{})
	f, _ := b.History().Transcript()
	assert.Assert(t, f.Timing == nil)
}

// TestATurnWithoutAnAnswerIsNoExchange: those behind it move up, and with them
// the agents that they started.
func TestATurnWithoutAnAnswerIsNoExchange(t *testing.T) {
	b := NewHistory("s.jsonl", "", "claude-code")
	root := b.Root()
	starts := func(id string) runtime.Message {
		return read(t, `{"role":"assistant","content":null,"tool_calls":[{"id":"`+id+`","type":"function","function":{"name":"Task","arguments":"{}"}}]}`)
	}
	root.Add(read(t, `{"role":"user","content":"a"}`))
	root.Answer(&runtime.Answer{Message: starts("c1")}, Spot{})
	root.Add(runtime.ToolMessage("c1", "b"))
	root.Answer(&runtime.Answer{Message: starts("c2")}, Spot{})
	child := root.Child("c2")
	child.Answer(&runtime.Answer{Message: starts("c3")}, Spot{})
	child.Child("c3").Answer(&runtime.Answer{Message: read(t, `{"role":"assistant","content":"deep"}`)}, Spot{})
	h := b.History()
	h.Roots[0].Turns[0].Answer = nil
	f, lost := h.Transcript()
	var got []string
	for _, x := range f.Exchanges {
		got = append(got, place(x.Agent, x.Turn))
	}
	assert.DeepEqual(t, got, []string{"root#1", "root/1.1#1", "root/1.1/1.1#1"})
	assert.DeepEqual(t, lost[:1], []string{"root/1.1: known only by the call that started it"})
}

// TestATranscriptIsMadeInOneLook: each message is looked at as it is asked and as
// it is answered, however many requests hold it.
func TestATranscriptIsMadeInOneLook(t *testing.T) {
	const turns = 500
	b := NewHistory("s.jsonl", "", "openai")
	root := b.Root()
	for range turns {
		root.Add(read(t, `{"role":"user","content":"on"}`))
		root.Answer(&runtime.Answer{Message: read(t, `{"role":"assistant","content":"and on"}`)}, Spot{})
	}
	looks := 0
	f, _ := b.History().TranscriptWith(func(raw jsontext.Value) jsontext.Value {
		looks++
		return raw
	})
	assert.Equal(t, len(f.Exchanges), turns)
	assert.Equal(t, looks, 3*turns-1)
}

// TestATranscriptInMemory is the one that would have been written, and writes
// nothing.
func TestATranscriptInMemory(t *testing.T) {
	dir := t.TempDir()
	told, _ := delegated(t).Transcript()
	header := Header{Name: "s", By: "tapetree test"}
	record := func(w *Writer, err error) *File {
		assert.NilError(t, err)
		for _, x := range told.Exchanges {
			assert.NilError(t, w.Exchange(x))
		}
		f, err := w.Close(nil, &End{})
		assert.NilError(t, err)
		return f
	}
	inMemory := record(CreateInMemory(filepath.Join(dir, "s.jsonl"), header))
	entries, err := os.ReadDir(dir)
	assert.NilError(t, err)
	assert.Equal(t, len(entries), 0)
	onDisk := record(Create(filepath.Join(dir, "s.jsonl"), header))
	assert.Equal(t, string(inMemory.Encode()), string(onDisk.Encode()))

	w, err := CreateInMemory("s.jsonl", header)
	assert.NilError(t, err)
	_, err = w.Close(nil, nil)
	assert.ErrorIs(t, err, ErrEmpty)
	w, err = CreateInMemory("s.jsonl", header)
	assert.NilError(t, err)
	kept, err := w.Keep()
	assert.NilError(t, err)
	assert.Assert(t, strings.HasSuffix(kept, ".partial"))
	assert.ErrorContains(t, w.Discard(), "the recording is closed")
}
