package scenarios

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tapetree/tapetree/record"
	"github.com/tapetree/tapetree/runtime"
)

func brief(title, prompt, result string, child *player) runtime.CallRecord {
	return runtime.CallRecord{Name: "task", Arguments: fmt.Sprintf(`{"description":%q,"prompt":%q}`, title, " "+prompt+"\n"),
		Verdict: runtime.VerdictAllow, Result: result, Child: child.run}
}

// briefed is a session whose children give reports: one that is whole and one
// of a child that came to its limit. The parent has a summary put in the place
// of what it did first.
func briefed() *family {
	first := play("root/2.1", toDoA).
		asks(onTheWay, call("read_file", `{"path":"a.txt"}`, foundAlpha)).
		says(reportA + "\n")
	second := play("root/2.2", toDoB).
		asks("I have seen b.txt and go on from there.", call("read_file", `{"path":"b.txt"}`, foundBeta)).
		stops(runtime.StopTurnLimit)
	second.run.Partial = "I have seen b.txt and go on from there."
	first.run.Usage, second.run.Usage = runtime.Usage{Input: 20, Output: 3}, runtime.Usage{Input: 10, Output: 2}
	parent := play(runtime.Root, "What is in the two files of this folder?").
		asks(thinking, call("list_files", `{}`, listing)).
		asks("", brief("the  first", toDoA, reportA+"\n\n(subagent \"the first\": 4 messages, 20 input tokens, 3 output tokens)", first),
			brief("the second", toDoB, "Error [subagent_incomplete]: Subagent did not finish: turn_limit\n\n"+second.run.Partial+
				"\n\n(subagent \"the second\": 3 messages, 10 input tokens, 2 output tokens)", second))
	summary := "The files were looked for. " + second.run.Partial
	parent.compacts(2, summary)
	parent.asks("", call("read_file", `{"path":"a.txt"}`, foundAlpha)).says("Alpha and beta.")
	parent.run.Turns[2].Compact = &runtime.Compaction{Side: "root~compact.1", Dropped: 2, Summary: summary}
	return &family{parent, first, second}
}

// compacts puts a summary in the place of dropped messages after the first two.
func (p *player) compacts(dropped int, summary string) {
	old := p.history.View().Messages()
	p.history = runtime.History{}
	p.history.Append(old[:2]...)
	p.history.Append(runtime.UserMessage("[A summary.]\n\n" + summary))
	p.history.Append(old[2+dropped:]...)
}

func TestReportsAndSummariesOfAGoodSession(t *testing.T) {
	if diff := cmp.Diff([]record.Finding(nil), CheckRun(briefed().parent.run, Limits{})); diff != "" {
		t.Fatal(diff)
	}
}

func TestReportsAreHeldToTheirForm(t *testing.T) {
	whole := "expected " + short(reportA+"\n\n(subagent \"the first\": 4 messages, 20 input tokens, 3 output tokens)") + ", got "
	const statistics = "\n\n(subagent \"the second\": 3 messages, 10 input tokens, 2 output tokens)"
	const limit = "Error [subagent_incomplete]: Subagent did not finish: turn_limit\n\n"
	const before = "I have seen b.txt and go on from there."
	result := func(n int, text string) func(f *family) {
		return func(f *family) { f.parent.run.Turns[1].Calls[n-1].Result = text }
	}
	at := func(code, message string) []record.Finding {
		return []record.Finding{{Code: code, Agent: "root", Turn: 2, Message: message}}
	}
	limited := "expected " + short(limit+before+statistics) + ", got "
	const notFinal, output = "isolation/parent-sees-child", "limit/tool-output-as-answer"
	const first = "call 1: the result is not the final text of root/2.1: "
	const second = "call 2: the result is not the final text of root/2.2: "
	const stands = "call 2: the last tool result of root/2.2 stands for its answer: "
	for _, c := range []struct {
		rule  string
		spoil func(f *family)
		want  []record.Finding
	}{
		{"a report without statistics", result(1, reportA), at(notFinal, first+whole+short(reportA))},
		{"a report with what the child had said before", result(1, onTheWay+"\n\n"+reportA),
			at(notFinal, first+whole+short(onTheWay+"\n\n"+reportA))},
		{"case 4.06: a limit that is told as success", result(2, before+statistics), at(notFinal, second+limited+short(before+statistics))},
		{"an error that says nothing", result(2, "Error [subagent_execution_error]: Subagent execution failed"),
			at(notFinal, second+limited+`"Error [subagent_execution_error]: Subagent execution failed"`)},
		{"the last tool output in the form of a report", result(2, foundBeta+statistics), at(output, stands+limited+short(foundBeta+statistics))},
		{"the last tool output in the form of a failure", result(2, limit+foundBeta+statistics), at(output, stands+limited+short(limit+foundBeta+statistics))},
		{"other statistics", func(f *family) { f.second.run.Usage.Input = 11 },
			at(notFinal, second+"expected "+short(limit+before+strings.Replace(statistics, "10 input", "11 input", 1))+", got "+short(limit+before+statistics))},
	} {
		t.Run(c.rule, func(t *testing.T) {
			f := briefed()
			c.spoil(f)
			if diff := cmp.Diff(c.want, judgeReports(f.parent.run)); diff != "" {
				t.Fatal(diff)
			}
		})
	}
}

func TestABriefIsTheWholeOfAChildsFirstRequest(t *testing.T) {
	f := briefed()
	f.first.send(1, func(m []runtime.Message) []runtime.Message {
		return []runtime.Message{m[0], runtime.UserMessage("the  first")}
	})
	want := []record.Finding{{Code: "isolation/child-sees-parent", Agent: "root/2.1", Turn: 1,
		Message: `the first request: expected the brief "Read a.txt and report.", got "the  first"`}}
	if diff := cmp.Diff(want, CheckRun(f.parent.run, Limits{})[:1]); diff != "" {
		t.Fatal(diff)
	}
}

// What a summary quotes is the agent's own; the same text anywhere else is a
// leak, and a list that was cut between a call and its result shows.
func TestSummariesExcuseNothingElse(t *testing.T) {
	f := briefed()
	f.parent.run.Turns[2].Compact = nil
	f.second.run.Partial = ""
	codes := codesOf(CheckRun(f.parent.run, Limits{}))
	if diff := cmp.Diff([]string{"isolation/parent-sees-child root 3", "isolation/parent-sees-child root 2"}, codes); diff != "" {
		t.Fatal(diff)
	}
	f = briefed()
	f.parent.send(3, func(m []runtime.Message) []runtime.Message {
		return append(append([]runtime.Message(nil), m[:3]...), m[4:]...) // without the answer that called
	})
	codes = codesOf(CheckRun(f.parent.run, Limits{}))
	if diff := cmp.Diff([]string{"pairing/orphan root 3", "pairing/orphan root 3"}, codes); diff != "" {
		t.Fatal(diff)
	}
}

func codesOf(findings []record.Finding) []string {
	var codes []string
	for _, f := range findings {
		codes = append(codes, fmt.Sprintf("%s %s %d", f.Code, f.Agent, f.Turn))
	}
	return codes
}

func TestASecretInASideConversationIsFound(t *testing.T) {
	f := taped(briefed().parent.run)
	f.Header.Profile = "mini"
	side := *f.Exchanges[0]
	side.Agent = "root~compact.1"
	var h runtime.History
	h.Append(runtime.UserMessage("Sum up: " + someKey))
	side.Messages = h.View()
	f.Exchanges = append(f.Exchanges, &side)
	var got []record.Finding
	for _, finding := range CheckTape(f, Limits{}) {
		if finding.Code == "secret/present" {
			got = append(got, finding)
		}
	}
	want := []record.Finding{{Code: "secret/present", Agent: "root~compact.1", Turn: 1, Message: "a secret (openai) stands in message 1 (user)"}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Fatal(diff)
	}
}
