package view

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/tapetree/tapetree/runtime"
	"github.com/tapetree/tapetree/transcripts"
	"gotest.tools/v3/assert"
)

func TestASmallSessionAsThePageReadsIt(t *testing.T) {
	s := newStage("runs/small.json")
	root := s.root("Be brief.", "What does left.md say?")
	root.say(2*time.Second, "I ask.", `task {"description":"left","prompt":"Read left.md and report its one word."}`)
	child := root.child(0, "left", "Read left.md and report its one word.")
	child.say(time.Second, "", `read_file {"path":"left.md"}`).get(0, "amber")
	child.say(time.Second, "The word is amber.")
	root.at = child.at
	root.get(0, "The word is amber.")
	root.say(time.Second, "It says amber.")
	session, rows := modelOf(s.History())
	session.Findings = nil // those have tests of their own
	equal(t, session, Session{
		Name: "runs/small.json", Format: "messages", Began: "2026-11-30T09:00:00Z", Timed: true, Length: 5000, Calls: 2,
		Agents: []Agent{
			{
				Path: "root", Label: "root", Model: "small-model", Stop: "answer", Parent: -1, From: -1, Turns: 2, Calls: 1, Input: 1856, Output: 63, Peak: 956, End: 5000,
				Marks: Marks{Turn: []int{1, 2}, Start: []int{0, 4000}, End: []int{2000, 5000}, Context: []int{900, 956}, Row: []int{2, 4}}, Rows: 5, Pages: []int{0},
			},
			{
				Path: "root/1.1", Label: "left", Model: "small-model", Stop: "answer", Parent: 0, Depth: 1, From: 3, Turns: 2, Calls: 1, Input: 1438, Output: 49, Peak: 738,
				Start: 2000, End: 4000,
				Marks: Marks{Turn: []int{1, 2}, Start: []int{2000, 3000}, End: []int{3000, 4000}, Context: []int{700, 738}, Row: []int{2, 4}}, Rows: 5, Pages: []int{0},
			},
		},
	})
	equal(t, rows, [][]Row{
		{
			{Kind: "system", Turn: 1, Text: Text{Head: "Be brief."}},
			{Kind: "user", Turn: 1, Text: Text{Head: "What does left.md say?"}},
			{Kind: "assistant", Turn: 1, Text: Text{Head: "I ask."}, Context: 900, Output: 52, Took: 2000},
			{
				Kind: "call", Turn: 1, Name: "task", Text: Text{Head: "The word is amber."}, Child: 2,
				Args: Text{Head: "{\n  \"description\": \"left\",\n  \"prompt\": \"Read left.md and report its one word.\"\n}"},
			},
			{Kind: "assistant", Turn: 2, Text: Text{Head: "It says amber."}, Context: 956, Output: 11, Took: 1000},
		},
		{
			{Kind: "system", Turn: 1, Text: Text{Head: "You look and report. You change nothing."}},
			{Kind: "user", Turn: 1, Text: Text{Head: "Read left.md and report its one word."}},
			{Kind: "assistant", Turn: 1, Context: 700, Output: 37, Took: 1000},
			{Kind: "call", Turn: 1, Name: "read_file", Text: Text{Head: "amber"}, Args: Text{Head: "{\n  \"path\": \"left.md\"\n}"}},
			{Kind: "assistant", Turn: 2, Text: Text{Head: "The word is amber."}, Context: 738, Output: 12, Took: 1000},
		},
	})
}

// foreign is a history as other programs keep them: no times, no tokens.
func foreign(t *testing.T, messages ...string) *transcripts.History {
	t.Helper()
	b := transcripts.NewHistory("log.json", "", "messages")
	root := b.Root()
	for _, raw := range messages {
		m, err := runtime.ParseMessage([]byte(raw))
		assert.NilError(t, err)
		if m.Role == runtime.RoleAssistant {
			root.Answer(&runtime.Answer{Message: m, Finish: "stop"}, transcripts.Spot{})
		} else {
			root.Add(m)
		}
	}
	return b.History()
}

const askTwo = `{"role":"assistant","tool_calls":[{"id":"a","type":"function","function":{"name":"task","arguments":"{\"prompt\":\"p\"}"}},{"id":"a","type":"function","function":{"name":"look","arguments":"{bad"}}]}`

func TestAHistoryWithoutTimesIsLaidOutInOrder(t *testing.T) {
	h := foreign(t, `{"role":"user","content":"go"}`, askTwo, `{"role":"tool","tool_call_id":"b","content":"whose?"}`, `{"role":"tool","tool_call_id":"a","content":"first"}`,
		`{"role":"assistant","content":""}`)
	session, rows := modelOf(h)
	assert.Equal(t, session.Timed, false)
	assert.Equal(t, session.Length, 3)
	places := [][]int{}
	for _, a := range session.Agents {
		places = append(places, []int{a.Start, a.End, a.Turns, a.Rows})
	}
	equal(t, places, [][]int{{0, 3, 2, 6}, {1, 2, 0, 1}})
	assert.Assert(t, session.Agents[0].Estimated)
	equal(t, rows[0], []Row{
		{Kind: "user", Turn: 1, Text: Text{Head: "go"}},
		{Kind: "assistant", Turn: 1, Context: 7, Guess: true},
		{Kind: "call", Turn: 1, Name: "task", Args: Text{Head: "{\n  \"prompt\": \"p\"\n}"}, Text: Text{Head: "first"}, Child: 2},
		{Kind: "call", Turn: 1, Name: "look", Args: Text{Head: "{bad"}, BadArgs: true, NoText: true},
		{Kind: "tool", Turn: 2, Text: Text{Head: "whose?"}},
		{Kind: "assistant", Turn: 2, Context: rows[0][len(rows[0])-1].Context, Guess: true},
	}[:len(rows[0])])
}

func TestRewrittenListsShowWhatIsNewAlone(t *testing.T) {
	var first, second runtime.History
	first.Append(runtime.SystemMessage("s"), runtime.UserMessage("one"), runtime.UserMessage("two"))
	second.Append(runtime.SystemMessage("s"), runtime.UserMessage("summary of one"), runtime.UserMessage("two"))
	run := &runtime.Run{Agent: "root", Turns: []runtime.Turn{{Number: 1, Sent: first.View(), Answer: &runtime.Answer{}}, {Number: 2, Sent: second.View(), Answer: &runtime.Answer{}}}}
	got := tell(&transcripts.History{}, run)
	var words []string
	for _, l := range got.lines {
		words = append(words, strings.TrimSpace(fmt.Sprintf("%d %s %s%s", l.Turn, l.Kind, l.Name, l.text)))
	}
	equal(t, words, []string{"1 system s", "1 user one", "1 user two", "1 assistant", "2 note the list of messages was rewritten: 3 now, 3 before; 2 known from above", "2 user summary of one", "2 assistant"})
}

func TestLongTextsComeByTheirBeginning(t *testing.T) {
	long := strings.Repeat("ü", 3000) // 6000 bytes; the cut may not part a character
	got := textOf(long, "a0-t1")
	equal(t, got, Text{Head: strings.Repeat("ü", 1024), Size: 6000, Block: "a0-t1"})
	equal(t, textOf("ok\xff", "x"), Text{Head: "ok‹xFF›"})
}

// large has the given number of agents, each with the given number of turns.
func large(agents, turns, size int) *transcripts.History {
	s := newStage("large")
	root := s.root("s", "u")
	for i := range agents {
		root.say(time.Millisecond, "", fmt.Sprintf(`task {"description":"child %d","prompt":"look at part %d of it"}`, i, i))
		child := root.child(0, fmt.Sprintf("child %d", i), fmt.Sprintf("look at part %d of it", i))
		for j := range turns {
			child.say(time.Millisecond, "", fmt.Sprintf(`read_file {"path":"file-%d-%d"}`, i, j)).get(0, fmt.Sprintf("%d %d %s", i, j, strings.Repeat("some words of a file. ", size/22)))
		}
		child.say(time.Millisecond, "done")
		root.at = child.at
		root.get(0, "done")
	}
	root.say(time.Millisecond, "all done")
	return s.History()
}

func TestTheOutlineOfALongSessionStaysSmall(t *testing.T) {
	s := newSession(large(10, 10_000, 20), nil)
	marks := 0
	for _, a := range s.model.Agents {
		marks += len(a.Marks.Turn)
	}
	assert.Assert(t, marks <= mostMarks+len(s.model.Agents), "%d marks", marks)
	assert.Assert(t, len(encode(s.model)) < 1<<20, "%d bytes", len(encode(s.model)))
	for _, pages := range s.pages {
		for _, p := range pages {
			assert.Assert(t, len(p.rows) <= pageRows && len(encode(p.rows)) < 2*pageBytes)
		}
	}
}
