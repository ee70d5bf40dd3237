package golden

import (
	"fmt"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/tapetree/tapetree/runtime"
)

// teller builds a session tree the way the loop does: one append-only history
// an agent, a view of it at every request.
type teller struct {
	run     *runtime.Run
	history runtime.History
}

func tell(agent runtime.Path, label, prompt string) *teller {
	t := &teller{run: &runtime.Run{Agent: agent, Label: label, Prompt: prompt}}
	t.history.Append(runtime.SystemMessage("SYSTEM TEXT"), runtime.UserMessage(prompt))
	return t
}

// reminded puts a reminder before the next turn.
func (t *teller) reminded(text string) *teller {
	t.history.Append(runtime.UserMessage(text))
	t.run.Turns = append(t.run.Turns, runtime.Turn{Reminder: text})
	return t
}

// compacted puts a summary in the place of the messages from the third one on,
// before the next turn.
func (t *teller) compacted(dropped int, summary string) *teller {
	old := t.history.View().Messages()
	t.history = runtime.History{}
	t.history.Append(old[:2]...)
	t.history.Append(runtime.UserMessage("[A summary]\n\n" + summary))
	t.history.Append(old[2+dropped:]...)
	t.run.Turns = append(t.run.Turns, runtime.Turn{Compact: &runtime.Compaction{Dropped: dropped, Summary: summary}})
	return t
}

// answers adds a turn: what the model says and calls, and the results.
func (t *teller) answers(text string, calls ...runtime.CallRecord) *teller {
	turn := runtime.Turn{}
	if n := len(t.run.Turns); n > 0 && t.run.Turns[n-1].Number == 0 {
		turn, t.run.Turns = t.run.Turns[n-1], t.run.Turns[:n-1]
	}
	turn.Number, turn.Sent, turn.Calls = len(t.run.Turns)+1, t.history.View(), calls
	said := runtime.Message{Role: runtime.RoleAssistant, Content: text, Raw: jsontext.Value(`{}`)}
	for i := range calls {
		calls[i].Number = i + 1
		said.Calls = append(said.Calls, runtime.Call{ID: calls[i].ID, Name: calls[i].Name, Arguments: calls[i].Arguments})
	}
	turn.Answer = &runtime.Answer{Message: said}
	t.history.Append(said)
	for _, c := range calls {
		t.history.Append(runtime.ToolMessage(c.ID, c.Result))
	}
	t.run.Turns = append(t.run.Turns, turn)
	return t
}

// failed adds failed tries to the last turn.
func (t *teller) failed(tries ...runtime.FailedTry) *teller {
	t.run.Turns[len(t.run.Turns)-1].Failed = tries
	return t
}

// silent adds a turn in which no try gave an answer.
func (t *teller) silent(tries ...runtime.FailedTry) *teller {
	t.run.Turns = append(t.run.Turns, runtime.Turn{Number: len(t.run.Turns) + 1, Sent: t.history.View(), Failed: tries})
	return t
}

func (t *teller) stops(why runtime.StopReason) *runtime.Run {
	t.run.Stop, t.run.History = why, t.history.View()
	if n := len(t.run.Turns); why == runtime.StopAnswer && n > 0 {
		t.run.Final = t.run.Turns[n-1].Answer.Message.Content
	}
	return t.run
}

func call(id, name, arguments string, verdict runtime.Verdict, result string) runtime.CallRecord {
	return runtime.CallRecord{ID: id, Name: name, Arguments: arguments, Verdict: verdict, Result: result}
}

func task(id string, child *runtime.Run, result string) runtime.CallRecord {
	c := call(id, "task", fmt.Sprintf(`{"description":%q}`, child.Prompt), runtime.VerdictAllow, result)
	c.Child = child
	return c
}

func numbered(n int) string {
	text := ""
	for i := range n {
		text += fmt.Sprintf("%d\tline\n", i+1)
	}
	return text
}
