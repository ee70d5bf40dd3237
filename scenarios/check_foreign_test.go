package scenarios

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tapetree/tapetree/record"
	"github.com/tapetree/tapetree/runtime"
	"github.com/tapetree/tapetree/transcripts"
)

// talk is one agent of a foreign session: messages that its requests add, each
// answered.
type talk struct {
	path  runtime.Path
	turns []foreignTurn
}

type foreignTurn struct {
	sent   []runtime.Message
	answer runtime.Message
}

// foreign builds a session of agents, each hung under the call that its path
// names.
func foreign(t *testing.T, talks ...talk) []*runtime.Run {
	t.Helper()
	f := &transcripts.File{Header: transcripts.Header{Name: "x", By: transcripts.Authored}, End: &transcripts.End{}}
	for _, one := range talks {
		var history runtime.History
		for i, turn := range one.turns {
			history.Append(turn.sent...)
			f.Exchanges = append(f.Exchanges, &transcripts.Exchange{
				Agent: one.path, Turn: i + 1, Try: 1, Wire: "chat", Model: "m", Messages: history.View(), Status: 200,
				Response: []byte(`{"choices":[{"index":0,"message":` + string(turn.answer.Raw) + `,"finish_reason":"stop"}]}`),
			})
			history.Append(turn.answer)
		}
	}
	roots, err := f.Sessions()
	if err != nil {
		t.Fatal(err)
	}
	return roots
}

func said(t *testing.T, raw string) runtime.Message {
	t.Helper()
	m, err := runtime.ParseMessage([]byte(raw))
	if err != nil {
		t.Fatal(err)
	}
	return m
}

const (
	secretPlan = "The plan: nobody but the parent knows of it."
	handedDown = "Read everything about the blue house, then report."
)

func TestForeignAgentsAreJudgedByWhatHoldsForAll(t *testing.T) {
	system := said(t, `{"role":"system","content":"You are an agent."}`)
	user := func(text string) runtime.Message { return runtime.UserMessage(text) }
	asks := said(t, `{"role":"assistant","content":"`+secretPlan+`","tool_calls":[{"id":"a","type":"function","function":{"name":"go","arguments":"{\"what\":\"`+handedDown+`\"}"}},{"id":"b","type":"function","function":{"name":"look","arguments":"{}"}}]}`)
	ends := said(t, `{"role":"assistant","content":"That is all there is to say about it."}`)
	parent := talk{"root", []foreignTurn{
		{[]runtime.Message{system, user(handedDown)}, asks},
		// results in another order than the calls: no wire forbids it
		{[]runtime.Message{runtime.ToolMessage("b", "a house, and it is blue all over"), runtime.ToolMessage("a", "done")}, ends},
	}}
	open := said(t, `{"role":"assistant","content":null,"tool_calls":[{"id":"c","type":"function","function":{"name":"go","arguments":"{}"}}]}`)
	child := func(path runtime.Path, opening ...runtime.Message) talk {
		return talk{path, []foreignTurn{{append([]runtime.Message{system}, opening...), open}}} // it ends with calls open
	}
	for name, c := range map[string]struct {
		talks []talk
		want  []record.Finding
	}{
		"what it hands down and gives back is the program's business": {
			[]talk{parent, child("root/1.1", user(handedDown)), child("root/1.1/1.1", user(handedDown))}, nil},
		"a history that a child begins with": {
			[]talk{parent, child("root/1.1", user(secretPlan), user(handedDown))},
			[]record.Finding{{Code: "isolation/child-sees-parent", Agent: "root/1.1", Turn: 1,
				Message: `message 2 (user) is one of root: "` + secretPlan + `"`}}},
		"what another tree said": {
			[]talk{parent, child("root2", user(secretPlan))}, nil},
		"a call without a result": {
			[]talk{{"root", []foreignTurn{parent.turns[0], {[]runtime.Message{runtime.ToolMessage("a", "done")}, ends}}}},
			[]record.Finding{{Code: "pairing/unanswered", Agent: "root", Turn: 2, Message: `the call "b" (look) has no result`}}},
	} {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(c.want, CheckForeign(foreign(t, c.talks...))); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestAFlaggedAgentIsReportedOnce(t *testing.T) {
	f := &transcripts.File{Exchanges: []*transcripts.Exchange{
		{Agent: "root", Turn: 1},
		{Agent: "root/1.1", Turn: 1, Flag: "twin", Candidates: []runtime.Path{"root/1.1", "root/1.2"}},
		{Agent: "root/1.2", Turn: 1, Flag: "ambiguous", Candidates: []runtime.Path{"root/1.2", "root/2.1"}},
		{Agent: "root/1.2", Turn: 2, Flag: "ambiguous", Candidates: []runtime.Path{"root/1.2", "root/2.1"}},
	}}
	want := []record.Finding{{Code: "replay/ambiguous", Agent: "root/1.2", Turn: 1,
		Message: "this agent may as well be root/2.1; the header X-Tapetree-Agent lets a client say it"}}
	if diff := cmp.Diff(want, ambiguous(f)); diff != "" {
		t.Error(diff)
	}
}
