package scenarios

import (
	"fmt"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/google/go-cmp/cmp"

	"github.com/tapetree/tapetree/record"
	"github.com/tapetree/tapetree/runtime"
	"github.com/tapetree/tapetree/transcripts"
)

func quoted(text string) string {
	data, err := json.Marshal(text)
	if err != nil {
		panic(err)
	}
	return string(data)
}

// taped is the transcript of a run made by hand.
func taped(run *runtime.Run) *transcripts.File {
	f := &transcripts.File{Path: "x.jsonl", Header: transcripts.Header{Name: "x", Profile: "p06"}, End: &transcripts.End{}}
	run.Walk(func(r *runtime.Run) {
		f.End.Stops = append(f.End.Stops, transcripts.Stop{Agent: r.Agent, Reason: r.Stop})
		for _, turn := range r.Turns {
			f.Exchanges = append(f.Exchanges, &transcripts.Exchange{
				Agent: r.Agent, Turn: turn.Number, Try: 1, Wire: "chat", Model: "m", Messages: turn.Sent,
				Status: 200, Response: response(turn.Answer),
			})
			for _, c := range turn.Calls {
				line := &transcripts.Call{Agent: r.Agent, Turn: turn.Number, Call: c.Number, ID: c.ID, Name: c.Name,
					Arguments: c.Arguments, Verdict: c.Verdict, Result: c.Result}
				if c.Child != nil {
					line.Child = c.Child.Agent
				}
				f.Calls = append(f.Calls, line)
			}
		}
	})
	f.End.Exchanges = len(f.Exchanges)
	return f
}

func response(a *runtime.Answer) jsontext.Value {
	var calls []string
	for _, c := range a.Message.Calls {
		calls = append(calls, fmt.Sprintf(`{"id":%s,"type":"function","function":{"name":%s,"arguments":%s}}`, quoted(c.ID), quoted(c.Name), quoted(c.Arguments)))
	}
	message := `{"role":"assistant","content":` + quoted(a.Message.Content)
	if len(calls) > 0 {
		message += `,"tool_calls":[` + strings.Join(calls, ",") + `]`
	}
	return jsontext.Value(`{"choices":[{"index":0,"message":` + message + `},"finish_reason":` + quoted(a.Finish) + `}]}`)
}

func TestAGoodTapeHasNoFindings(t *testing.T) {
	if diff := cmp.Diff([]record.Finding(nil), CheckTape(taped(good().parent.run), Limits{})); diff != "" {
		t.Fatal(diff)
	}
}

func TestATapeIsJudgedByItsRequests(t *testing.T) {
	for _, c := range []struct {
		rule  string
		spoil func(*family)
		want  []record.Finding
	}{
		{"a result is missing", func(f *family) {
			f.parent.send(2, func(m []runtime.Message) []runtime.Message { return m[:3] })
		}, []record.Finding{{Code: "pairing/unanswered", Agent: "root", Turn: 2, Message: `the call "c1.1" (glob) has no result`}}},
		{"the parent gets what a child said", func(f *family) {
			f.parent.send(4, insert(9, runtime.UserMessage(foundBeta)))
		}, []record.Finding{{Code: "isolation/parent-sees-child", Agent: "root", Turn: 4, Message: `message 10 (user) has a text of root/2.2: "beta: the content of the second file, line by line"`}}},
		{"a child begins with more than its brief", func(f *family) {
			f.second.send(1, insert(2, runtime.UserMessage("And hurry.")))
		}, []record.Finding{{Code: "isolation/child-sees-parent", Agent: "root/2.2", Turn: 1, Message: "the first request: expected a system and a user message, got system, user, user"}}},
		{"the last tool output stands for the answer", func(f *family) {
			f.second.run.Stop = runtime.StopTurnLimit
			f.second.run.Turns[1].Answer.Message.Content = ""
			f.parent.run.Turns[1].Calls[1].Result = foundBeta
		}, []record.Finding{{Code: "limit/tool-output-as-answer", Agent: "root", Turn: 2, Message: `call 2: the last tool result of root/2.2 stands for its answer: expected an error, got "beta: the content of the second file, line by line"`}}},
		{"a child's task call is answered", func(f *family) {
			f.first.run.Turns[0].Calls[1].Result = "done"
		}, []record.Finding{{Code: "recursion/spawned", Agent: "root/2.1", Turn: 1, Message: `call 2 to task: expected unknown_tool, got "done"`}}},
		{"a secret", func(f *family) {
			f.second.run.Turns[0].Calls[0].Result = "key " + someKey
		}, []record.Finding{{Code: "secret/present", Agent: "root/2.2", Turn: 1, Message: "a secret (openai) stands in call 1 (read_file)"}}},
	} {
		t.Run(c.rule, func(t *testing.T) {
			f := good()
			c.spoil(f)
			if diff := cmp.Diff(c.want, CheckTape(taped(f.parent.run), Limits{})); diff != "" {
				t.Fatal(diff)
			}
		})
	}
}

// someKey has the shape of a key and is none; it is put together here so that
// no scan of this file takes it for one.
var someKey = "sk-proj-" + strings.Repeat("Ab3dEf6hIj", 5)

func TestATapeThatBrokeOffIsJudgedAsFarAsItGoes(t *testing.T) {
	f := taped(good().parent.run)
	f.End, f.Exchanges, f.Calls = nil, f.Exchanges[:2], nil
	if diff := cmp.Diff([]record.Finding(nil), CheckTape(f, Limits{})); diff != "" {
		t.Fatal(diff)
	}
}

func TestASideConversationIsNoAgent(t *testing.T) {
	f := taped(good().parent.run)
	var h runtime.History
	h.Append(runtime.UserMessage("Sum up: "+onTheWay), runtime.ToolMessage("lost", "x"))
	f.Exchanges = append(f.Exchanges, &transcripts.Exchange{Agent: "root~compact.1", Turn: 1, Try: 1, Messages: h.View(),
		Status: 200, Response: response(&runtime.Answer{Message: runtime.Message{Content: "Sum."}, Finish: "stop"})})
	if diff := cmp.Diff([]record.Finding(nil), CheckTape(f, Limits{})); diff != "" {
		t.Fatal(diff)
	}
}

func TestTheFormsOfAnotherProgramAreNotJudged(t *testing.T) {
	f := good()
	f.second.send(1, insert(2, runtime.UserMessage("And hurry.")))
	f.parent.run.Turns[1].Calls[0].Result = "Report:\n" + reportA
	tape := taped(f.parent.run)
	tape.Header.Profile = ""
	if diff := cmp.Diff([]record.Finding(nil), CheckTape(tape, Limits{})); diff != "" {
		t.Fatal(diff)
	}
}

func TestEachPlaceOfATapeIsSearchedForSecrets(t *testing.T) {
	at := func(agent runtime.Path, turn int, where string) []record.Finding {
		return []record.Finding{{Code: "secret/present", Agent: agent, Turn: turn, Message: "a secret (openai) stands in " + where}}
	}
	text := someKey
	for _, c := range []struct {
		rule string
		put  func(*transcripts.File)
		want []record.Finding
	}{
		{"the header", func(f *transcripts.File) { f.Header.Upstream = text }, at("", 0, "the header")},
		{"the tools", func(f *transcripts.File) { f.Exchanges[0].Tools = jsontext.Value(quoted(text)) }, at("root", 1, "the tools")},
		{"the parameters", func(f *transcripts.File) {
			f.Exchanges[0].Params = []runtime.Param{{Name: "user", Value: jsontext.Value(quoted(text))}}
		}, at("root", 1, "the parameters")},
		{"the headers", func(f *transcripts.File) {
			f.Exchanges[0].Headers = []transcripts.Member{{Name: "x", Value: jsontext.Value(quoted(text))}}
		}, at("root", 1, "the headers")},
		{"the arguments of a tool line", func(f *transcripts.File) { f.Calls[0].Arguments = quoted(text) }, at("root", 1, "call 1 (glob)")},
		{"an http line", func(f *transcripts.File) {
			f.HTTP = append(f.HTTP, &transcripts.HTTP{Line: 7, Raw: jsontext.Value(quoted(text))})
		}, at("", 0, "the http line 7")},
		{"a response of an error", func(f *transcripts.File) {
			e := f.Exchanges[len(f.Exchanges)-1]
			e.Status, e.Response, e.Text = 500, nil, &text
			f.End = nil
		}, at("root/2.2", 2, "the response")},
	} {
		t.Run(c.rule, func(t *testing.T) {
			f := taped(good().parent.run)
			c.put(f)
			var got []record.Finding
			for _, finding := range CheckTape(f, Limits{}) {
				if finding.Code == "secret/present" {
					got = append(got, finding)
				}
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Fatal(diff)
			}
		})
	}
}

func BenchmarkCheckTape330(b *testing.B) {
	f := taped(long(30))
	for b.Loop() {
		if findings := CheckTape(f, Limits{}); len(findings) > 0 {
			b.Fatal(findings)
		}
	}
}
