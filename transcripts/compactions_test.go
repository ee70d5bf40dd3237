package transcripts

import (
	"fmt"
	"testing"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/tapetree/tapetree/runtime"
	"gotest.tools/v3/assert"
)

// compacted is a session whose root reads five files and puts a summary in the
// place of what it read first, twice. Answers go back without a content key, as
// some providers want it.
func compacted() *session {
	s := newSession("compacted", "tapetree v0")
	root := s.agent("root", "You are an agent.", "Read all.")
	for turn := 1; turn <= 5; turn++ {
		root.answers(fmt.Sprintf(`{"role":"assistant","content":null,"tool_calls":[{"id":"c%d","type":"function","function":{"name":"read_file","arguments":"{\"path\":\"%d.txt\"}"}}]}`, turn, turn))
		messages := root.history.View().Messages()
		answer := messages[len(messages)-1]
		answer.Raw = jsontext.Value(fmt.Sprintf(`{"role":"assistant","tool_calls":%s}`, mustMember(answer.Raw, "tool_calls")))
		root.history = runtime.History{}
		root.history.Append(messages[:len(messages)-1]...)
		root.history.Append(answer, runtime.ToolMessage(fmt.Sprintf("c%d", turn), fmt.Sprintf("text of %d", turn)))
		s.file.Calls = append(s.file.Calls, &Call{Agent: "root", Turn: turn, Call: 1, ID: fmt.Sprintf("c%d", turn), Name: "read_file",
			Arguments: fmt.Sprintf(`{"path":"%d.txt"}`, turn), Verdict: runtime.VerdictAllow, Result: fmt.Sprintf("text of %d", turn)})
		if turn == 3 || turn == 5 {
			side := s.agent(runtime.Root.Side("compact", turn/2), "Sum up.", fmt.Sprintf("What was done up to %d?", turn))
			side.answers(fmt.Sprintf(`{"role":"assistant","content":" sum up to %d\n"}`, turn))
			messages := root.history.View().Messages()
			root.history = runtime.History{}
			root.history.Append(messages[:2]...)
			root.history.Append(runtime.UserMessage(fmt.Sprintf("[Summary]\n\nsum up to %d", turn)))
			root.history.Append(messages[len(messages)-2:]...)
		}
	}
	root.answers(`{"role":"assistant","content":"All read."}`)
	s.file.Timing, s.file.End = &Timing{}, &End{Stops: []Stop{{Agent: "root", Reason: runtime.StopAnswer}}}
	return s
}

func mustMember(object jsontext.Value, name string) jsontext.Value {
	for _, m := range membersOf(object) {
		if m.Name == name {
			return m.Value
		}
	}
	panic("there is no member " + name)
}

// Each compaction stands in the turn before whose request it was held, and what
// it cost in the agent's usage.
func TestSessionHasItsCompactions(t *testing.T) {
	file := mustParse(compacted().file.Encode())
	run := sessionOf(t, file)
	var got []string
	for _, turn := range run.Turns {
		if c := turn.Compact; c != nil {
			assert.Assert(t, c.Before > c.After && c.After > 0, "%+v", *c)
			got = append(got, fmt.Sprintf("%d: %s dropped %d, %q, %d/%d", turn.Number, c.Side, c.Dropped, c.Summary, c.Usage.Input, c.Usage.Output))
		}
	}
	assert.DeepEqual(t, got, []string{
		`4: root~compact.1 dropped 4, "sum up to 3", 10/2`,
		`6: root~compact.2 dropped 5, "sum up to 5", 10/2`,
	})
	assert.Equal(t, run.Usage.Input, 10*8)
	assert.Equal(t, run.Model, "m1")
}

// A side conversation after which no request came, and one that failed, cost
// what they cost and leave no summary.
func TestCompactionsThatCameToNothing(t *testing.T) {
	file := mustParse(compacted().file.Encode())
	for _, x := range file.Exchanges {
		if x.Agent == "root~compact.1" {
			x.Response = jsontext.Value(`{"error":{"message":"overloaded"}}`)
			x.Status = 503
		}
	}
	file.Exchanges = append(file.Exchanges[:5:5], file.Exchanges[6:]...) // without root#6
	run := sessionOf(t, file)
	assert.Equal(t, run.Turns[3].Compact.Summary, "")
	assert.Equal(t, run.Turns[3].Compact.Dropped, 4)
	assert.Equal(t, len(run.Turns), 5)
	assert.Equal(t, run.Usage.Input, 10*6)
}
