package scenarios

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"gotest.tools/v3/assert"

	"github.com/tapetree/tapetree/record"
	"github.com/tapetree/tapetree/runtime"
)

// player makes the run of one agent by hand, as the runtime would leave it.
type player struct {
	run     *runtime.Run
	history runtime.History
	turn    int
}

func play(path runtime.Path, prompt string) *player {
	p := &player{run: &runtime.Run{Agent: path, Label: string(path), Prompt: prompt}}
	p.history.Append(runtime.SystemMessage("You are an agent."), runtime.UserMessage(prompt))
	return p
}

func call(name, arguments, result string) runtime.CallRecord {
	return runtime.CallRecord{Name: name, Arguments: arguments, Verdict: runtime.VerdictAllow, Result: result}
}

func delegate(brief, result string, child *player) runtime.CallRecord {
	return runtime.CallRecord{Name: "task", Arguments: fmt.Sprintf(`{"description":%q}`, " "+brief+"\n"), Verdict: runtime.VerdictAllow, Result: result, Child: child.run}
}

// asks plays a turn whose answer has calls, and gives them their results.
func (p *player) asks(text string, calls ...runtime.CallRecord) *player {
	answer := runtime.Message{Role: runtime.RoleAssistant, Content: text}
	var results []runtime.Message
	for i := range calls {
		c := &calls[i]
		c.Number = i + 1
		if c.ID == "" {
			c.ID = fmt.Sprintf("c%d.%d", p.turn+1, i+1)
		}
		answer.Calls = append(answer.Calls, runtime.Call{ID: c.ID, Name: c.Name, Arguments: c.Arguments})
		results = append(results, runtime.ToolMessage(c.ID, c.Result))
	}
	p.add(answer, calls)
	p.history.Append(results...)
	p.run.History = p.history.View()
	return p
}

// says plays the final turn.
func (p *player) says(text string) *player {
	p.add(runtime.Message{Role: runtime.RoleAssistant, Content: text}, nil)
	p.run.Final, p.run.Stop = text, runtime.StopAnswer
	p.run.History = p.history.View()
	return p
}

func (p *player) stops(why runtime.StopReason) *player {
	p.run.Stop = why
	return p
}

func (p *player) add(answer runtime.Message, calls []runtime.CallRecord) {
	p.turn++
	p.run.Turns = append(p.run.Turns, runtime.Turn{Number: p.turn, Sent: p.history.View(),
		Answer: &runtime.Answer{Message: answer, Finish: "stop"}, Calls: calls})
	p.history.Append(answer)
}

// The texts of the good session; each is long enough to be told apart.
const (
	onTheWay   = "Before I answer I read the first of the files."
	foundAlpha = "alpha: the content of the first file, line by line"
	foundBeta  = "beta: the content of the second file, line by line"
	reportA    = "The first file is about alpha, see a.txt:1."
	reportB    = "The second file is about beta, see b.txt:1."
	thinking   = "I had better ask two helpers about the two files."
	listing    = "a.txt\nb.txt\nc.txt\nd.txt\ne.txt"
	toDoA      = "Read a.txt and report."
	toDoB      = "Read b.txt and report."
)

// family is the good session: a parent with two children.
type family struct{ parent, first, second *player }

func good() *family {
	first := play("root/2.1", toDoA).
		asks(onTheWay, call("read_file", `{"path":"a.txt"}`, foundAlpha), call("task", `{"description":"help"}`, "Error [unknown_tool]: Unknown tool: task")).
		says(reportA)
	first.run.Turns[0].Calls[1].Verdict = runtime.VerdictUnknown
	second := play("root/2.2", toDoB).
		asks("", call("read_file", `{"path":"b.txt"}`, foundBeta)).
		says(reportB)
	parent := play(runtime.Root, "What is in the two files of this folder?").
		asks(thinking, call("glob", `{"pattern":"*"}`, listing)).
		asks("", delegate(toDoA, reportA, first), delegate(toDoB, reportB, second)).
		asks("", call("read_file", `{"path":"a.txt"}`, foundAlpha)).
		says("Alpha and beta. " + onTheWay)
	return &family{parent, first, second}
}

// send changes the messages that the given turn of an agent sent.
func (p *player) send(turn int, change func([]runtime.Message) []runtime.Message) {
	t := &p.run.Turns[turn-1]
	var changed runtime.History
	changed.Append(change(append([]runtime.Message(nil), t.Sent.Messages()...))...)
	t.Sent = changed.View()
}

func insert(at int, m ...runtime.Message) func([]runtime.Message) []runtime.Message {
	return func(list []runtime.Message) []runtime.Message {
		return append(append(append([]runtime.Message(nil), list[:at]...), m...), list[at:]...)
	}
}

func TestAGoodSessionHasNoFindings(t *testing.T) {
	assert.Equal(t, len(CheckRun(good().parent.run, Limits{})), 0)
}

func TestEachBrokenRuleHasItsFinding(t *testing.T) {
	for _, c := range []struct {
		rule  string
		spoil func(*family)
		want  []record.Finding
	}{
		{"a result is missing", func(f *family) {
			f.parent.send(2, func(m []runtime.Message) []runtime.Message { return m[:3] })
		}, []record.Finding{{Code: "pairing/unanswered", Agent: "root", Turn: 2, Message: `the call "c1.1" (glob) has no result`}}},
		{"one of two results is missing", func(f *family) {
			f.parent.send(3, func(m []runtime.Message) []runtime.Message { return m[:6] })
		}, []record.Finding{{Code: "pairing/unanswered", Agent: "root", Turn: 3, Message: `the call "c2.2" (task) has no result`}}},
		{"a result comes after another message (case 3.01)", func(f *family) {
			f.parent.send(2, insert(3, runtime.UserMessage("hurry")))
		}, []record.Finding{
			{Code: "pairing/unanswered", Agent: "root", Turn: 2, Message: `the call "c1.1" (glob) has no result`},
			{Code: "pairing/orphan", Agent: "root", Turn: 2, Message: `message 5: a result for the call "c1.1", which the answer before it does not have`},
		}},
		{"the next answer comes before the results", func(f *family) {
			f.parent.send(3, func(m []runtime.Message) []runtime.Message { m[3], m[4] = m[4], m[3]; return m })
		}, []record.Finding{
			{Code: "pairing/unanswered", Agent: "root", Turn: 3, Message: `the call "c1.1" (glob) has no result`},
			{Code: "pairing/orphan", Agent: "root", Turn: 3, Message: `message 5: a result for the call "c1.1", which the answer before it does not have`},
		}},
		{"a result without a call (case 3.03)", func(f *family) {
			f.parent.send(1, insert(2, runtime.ToolMessage("lost", "x")))
		}, []record.Finding{{Code: "pairing/orphan", Agent: "root", Turn: 1, Message: `message 3: a result for the call "lost", which the answer before it does not have`}}},
		{"a result has another id", func(f *family) {
			f.parent.send(2, func(m []runtime.Message) []runtime.Message { return append(m[:3], runtime.ToolMessage("c9", listing)) })
		}, []record.Finding{
			{Code: "pairing/orphan", Agent: "root", Turn: 2, Message: `message 4: a result for the call "c9", which the answer before it does not have`},
			{Code: "pairing/unanswered", Agent: "root", Turn: 2, Message: `the call "c1.1" (glob) has no result`},
		}},
		{"a result comes twice", func(f *family) {
			f.parent.send(2, func(m []runtime.Message) []runtime.Message { return append(m, m[3]) })
		}, []record.Finding{{Code: "pairing/duplicate-id", Agent: "root", Turn: 2, Message: `message 5: a second result for the call "c1.1"`}}},
		{"two calls of an answer have one id (case 3.05)", func(f *family) {
			f.parent.send(3, func(m []runtime.Message) []runtime.Message {
				m[4].Calls = []runtime.Call{m[4].Calls[0], m[4].Calls[0]}
				m[6] = runtime.ToolMessage("c2.1", m[6].Content)
				return m
			})
		}, []record.Finding{{Code: "pairing/duplicate-id", Agent: "root", Turn: 3, Message: `message 5: two calls with the id "c2.1"`}}},
		{"two results are swapped (case 3.06)", func(f *family) {
			f.parent.send(3, func(m []runtime.Message) []runtime.Message {
				m[5], m[6] = m[6], m[5]
				return m
			})
		}, []record.Finding{{Code: "pairing/order", Agent: "root", Turn: 3, Message: `message 6: the result of "c2.2" (task) comes before that of "c2.1" (task)`}}},
		{"a history ends with an open call", func(f *family) {
			f.parent.run.History = f.parent.run.Turns[1].Sent.Head(3)
		}, []record.Finding{{Code: "pairing/unanswered", Agent: "root", Turn: 4, Message: `the call "c1.1" (glob) has no result`}}},

		{"a child begins with the parent's messages", func(f *family) {
			f.first.send(1, insert(1, runtime.UserMessage("Hello"), runtime.Message{Role: runtime.RoleAssistant, Content: "Hi"}))
		}, []record.Finding{{Code: "isolation/child-sees-parent", Agent: "root/2.1", Turn: 1, Message: "the first request: expected a system and a user message, got system, user, assistant, user"}}},
		{"a child begins without its system text", func(f *family) {
			f.first.send(1, func(m []runtime.Message) []runtime.Message { return m[1:] })
		}, []record.Finding{{Code: "isolation/child-sees-parent", Agent: "root/2.1", Turn: 1, Message: "the first request: expected a system and a user message, got user"}}},
		{"a child's brief is not the task's", func(f *family) {
			f.first.send(1, func(m []runtime.Message) []runtime.Message { m[1] = runtime.UserMessage(toDoA + " Now."); return m })
		}, []record.Finding{{Code: "isolation/child-sees-parent", Agent: "root/2.1", Turn: 1, Message: `the first request: expected the brief "Read a.txt and report.", got "Read a.txt and report. Now."`}}},
		{"a child's system text has the parent's prompt", func(f *family) {
			f.first.send(1, func(m []runtime.Message) []runtime.Message {
				m[0] = runtime.SystemMessage("Help. " + f.parent.run.Prompt)
				return m
			})
		}, []record.Finding{{Code: "isolation/child-sees-parent", Agent: "root/2.1", Turn: 1, Message: `message 1 (system) has a text of root: "What is in the two files of this folder?"`}}},
		{"a child gets what the parent said", func(f *family) {
			f.first.send(2, insert(2, runtime.UserMessage(thinking)))
		}, []record.Finding{{Code: "isolation/child-sees-parent", Agent: "root/2.1", Turn: 2, Message: `message 3 (user) has a text of root: "I had better ask two helpers about the two files."`}}},
		{"a child gets a tool result of the parent", func(f *family) {
			f.second.send(2, insert(2, runtime.UserMessage("There is:\n"+listing)))
		}, []record.Finding{{Code: "isolation/child-sees-parent", Agent: "root/2.2", Turn: 2, Message: `message 3 (user) has a text of root: "a.txt\nb.txt\nc.txt\nd.txt\ne.txt"`}}},
		{"a child is reminded of the parent's plan", func(f *family) {
			f.parent.run.Turns[1].Reminder = "Reminder: your plan is old."
			f.first.send(2, insert(5, runtime.UserMessage("Reminder: your plan is old.")))
		}, []record.Finding{{Code: "isolation/child-sees-parent", Agent: "root/2.1", Turn: 2, Message: `message 6 (user) has a text of root: "Reminder: your plan is old."`}}},
		{"the parent gets what a child said on the way", func(f *family) {
			f.parent.send(3, insert(7, runtime.UserMessage("By the way: "+onTheWay)))
		}, []record.Finding{{Code: "isolation/parent-sees-child", Agent: "root", Turn: 3, Message: `message 8 (user) has a text of root/2.1: "Before I answer I read the first of the files."`}}},
		{"the parent gets a tool result of a child", func(f *family) {
			f.parent.send(3, insert(7, runtime.Message{Role: runtime.RoleAssistant, Content: foundBeta}))
		}, []record.Finding{{Code: "isolation/parent-sees-child", Agent: "root", Turn: 3, Message: `message 8 (assistant) has a text of root/2.2: "beta: the content of the second file, line by line"`}}},
		{"a short text counts when it is the whole message", func(f *family) {
			f.first.run.Turns[0].Answer.Message.Content = "ok"
			f.parent.send(2, insert(4, runtime.UserMessage("ok"), runtime.UserMessage("not ok")))
		}, []record.Finding{{Code: "isolation/parent-sees-child", Agent: "root", Turn: 2, Message: `message 5 (user) has a text of root/2.1: "ok"`}}},
		{"a text of 24 bytes counts inside another", func(f *family) {
			f.first.run.Turns[0].Answer.Message.Content = "exactly twenty-four, yes"
			f.parent.send(2, insert(4, runtime.UserMessage("It said: exactly twenty-four, yes"), runtime.UserMessage("exactly twenty-four, no.")))
		}, []record.Finding{{Code: "isolation/parent-sees-child", Agent: "root", Turn: 2, Message: `message 5 (user) has a text of root/2.1: "exactly twenty-four, yes"`}}},
		{"a text of 23 bytes does not", func(f *family) {
			f.first.run.Turns[0].Answer.Message.Content = "exactly twenty-three, y"
			f.parent.send(2, insert(4, runtime.UserMessage("It said: exactly twenty-three, y")))
		}, nil},
		{"a child gets what its sibling read", func(f *family) {
			f.second.send(2, insert(2, runtime.UserMessage(onTheWay)))
		}, []record.Finding{{Code: "isolation/siblings", Agent: "root/2.2", Turn: 2, Message: `message 3 (user) has a text of root/2.1: "Before I answer I read the first of the files."`}}},
		{"the parent gets more than the final text", func(f *family) {
			f.parent.run.Turns[1].Calls[0].Result = onTheWay + "\n" + reportA
		}, []record.Finding{{Code: "isolation/parent-sees-child", Agent: "root", Turn: 2, Message: `call 1: the result is not the final text of root/2.1: expected "The first file is about alpha, see a.txt:1.", got "Before I answer I read the first of the files.\nThe first file is about alpha, se"... (90 bytes)`}}},
		{"the parent gets what a child without an answer had written", func(f *family) {
			f.second.run.Stop, f.second.run.Final, f.second.run.Partial = runtime.StopTurnLimit, "", reportB
		}, []record.Finding{{Code: "isolation/parent-sees-child", Agent: "root", Turn: 2, Message: `call 2: the result is not the final text of root/2.2: expected an error, got "The second file is about beta, see b.txt:1."`}}},

		{"the last tool output stands for the answer (case 4.06)", func(f *family) {
			f.second.run.Stop, f.second.run.Final = runtime.StopTurnLimit, ""
			f.second.run.Turns[1].Answer.Message.Content = ""
			f.parent.run.Turns[1].Calls[1].Result = foundBeta
		}, []record.Finding{{Code: "limit/tool-output-as-answer", Agent: "root", Turn: 2, Message: `call 2: the last tool result of root/2.2 stands for its answer: expected an error, got "beta: the content of the second file, line by line"`}}},
		{"a child has a child", func(f *family) {
			grandchild := play("root/2.1/1.2", "help").says("ok")
			f.first.run.Turns[0].Calls[1].Result, f.first.run.Turns[0].Calls[1].Child = "ok", grandchild.run
		}, []record.Finding{{Code: "recursion/spawned", Agent: "root/2.1", Turn: 1, Message: "call 2 started root/2.1/1.2: a child has no children"}}},
		{"a child's task call is answered", func(f *family) {
			f.first.run.Turns[0].Calls[1].Result = "done"
		}, []record.Finding{{Code: "recursion/spawned", Agent: "root/2.1", Turn: 1, Message: `call 2 to task: expected unknown_tool, got "done"`}}},
		{"a call of an answer that was cut off runs", func(f *family) {
			f.first.run.Turns[0].Answer.Finish = "length"
		}, []record.Finding{
			{Code: "truncated/executed", Agent: "root/2.1", Turn: 1, Message: `call 1 (read_file) of an answer that was cut off: expected verdict cut and truncated_call, got allow and "alpha: the content of the first file, line by line"`},
			{Code: "truncated/executed", Agent: "root/2.1", Turn: 1, Message: `call 2 (task) of an answer that was cut off: expected verdict cut and truncated_call, got unknown and "Error [unknown_tool]: Unknown tool: task"`},
		}},
		{"half of a call's arguments run (case 1.25)", func(f *family) {
			f.second.run.Turns[0].Calls[0].Arguments = `{"path":"b.t`
		}, []record.Finding{{Code: "truncated/executed", Agent: "root/2.2", Turn: 1, Message: `call 1 (read_file) of an answer that was cut off: expected verdict cut and truncated_call, got allow and "beta: the content of the second file, line by line"`}}},
		{"a call that was cut off has another result", func(f *family) {
			f.second.run.Turns[0].Calls[0].Verdict = runtime.VerdictCut
		}, []record.Finding{{Code: "truncated/executed", Agent: "root/2.2", Turn: 1, Message: `call 1 (read_file) of an answer that was cut off: expected verdict cut and truncated_call, got cut and "beta: the content of the second file, line by line"`}}},
		{"a call runs with arguments that are no JSON (case 1.23)", func(f *family) {
			f.second.run.Turns[0].Calls[0].Arguments = `path=b.txt`
		}, []record.Finding{{Code: "arguments/invalid-json", Agent: "root/2.2", Turn: 1, Message: `call 1 (read_file) ran with arguments that are no JSON: "path=b.txt"`}}},
	} {
		t.Run(c.rule, func(t *testing.T) {
			f := good()
			c.spoil(f)
			if diff := cmp.Diff(c.want, CheckRun(f.parent.run, Limits{})); diff != "" {
				t.Fatal(diff)
			}
		})
	}
}

func TestIDsMayComeAgainInLaterTurns(t *testing.T) {
	again := call("glob", "{}", "x")
	again.ID = "d"
	p := play(runtime.Root, "Hello").asks("", again).asks("", again, call("glob", "", "y")).asks("", again).says("Done")
	assert.Equal(t, len(CheckRun(p.run, Limits{})), 0)
}

func TestACancelledChildAndALimitedOneMayReportAnError(t *testing.T) {
	for _, result := range []string{
		"Error [interrupted]: Interrupted before it finished",
		"Error [subagent_turn_limit]: Subagent exceeded max_turns=1 without a final answer",
		"Error [subagent_execution_error]: Subagent execution failed",
	} {
		child := play("root/1.1", "help").asks("", call("shell", "{}", "Error [interrupted]: Interrupted before it finished")).stops(runtime.StopCancelled)
		p := play(runtime.Root, "Hello").asks("", delegate("help", result, child)).says("Done")
		assert.Equal(t, len(CheckRun(p.run, Limits{})), 0)
	}
}

func TestACallCutOffAndNotRunIsRight(t *testing.T) {
	cut := runtime.CallRecord{Name: "shell", Arguments: `{"comm`, Verdict: runtime.VerdictCut, Result: "Error [truncated_call]: The call was cut off and was not run"}
	blank := call("glob", " ", "x")
	p := play(runtime.Root, "Hello").asks("", cut).asks("", blank).says("Done")
	p.run.Turns[0].Answer.Finish = "length"
	assert.Equal(t, len(CheckRun(p.run, Limits{})), 0)
}

func TestTheLimitIsTheLastTurnAllowed(t *testing.T) {
	turns := func(path runtime.Path, n int) *player {
		p := play(path, "help")
		for range n - 1 {
			p.asks("", call("glob", "{}", "x"))
		}
		return p.says("Done")
	}
	for _, c := range []struct {
		rule          string
		parent, child int
		limits        Limits
		want          []record.Finding
	}{
		{"a child answers in turn 30", 2, 30, Limits{}, nil},
		{"a child has a 31st turn", 2, 31, Limits{}, []record.Finding{{Code: "limit/exceeded", Agent: "root/1.1", Turn: 31, Message: "expected at most 30 turns, got 31"}}},
		{"a child has more than a lowered limit", 2, 3, Limits{Child: 2}, []record.Finding{{Code: "limit/exceeded", Agent: "root/1.1", Turn: 3, Message: "expected at most 2 turns, got 3"}}},
		{"a parent answers in turn 50", 50, 1, Limits{}, nil},
		{"a parent has more than its limit", 3, 1, Limits{Parent: 2}, []record.Finding{{Code: "limit/exceeded", Agent: "root", Turn: 3, Message: "expected at most 2 turns, got 3"}}},
	} {
		t.Run(c.rule, func(t *testing.T) {
			child := turns("root/1.1", c.child)
			p := play(runtime.Root, "Hello").asks("", delegate("help", "Done", child))
			for range c.parent - 2 {
				p.asks("", call("glob", "{}", "x"))
			}
			p.says("Done")
			if diff := cmp.Diff(c.want, CheckRun(p.run, c.limits)); diff != "" {
				t.Fatal(diff)
			}
		})
	}
}

// long is a session of one parent and ten children of n turns each, every tool
// result of its own 4 KB.
func long(n int) *runtime.Run {
	var delegations []runtime.CallRecord
	block := strings.Repeat("0123456789abcdef", 256)
	for i := range 10 {
		path := runtime.Root.Child(1, i+1)
		child := play(path, "brief of "+string(path))
		for turn := range n - 1 {
			child.asks("", call("read_file", `{"path":"x"}`, fmt.Sprintf("%s %d %s", path, turn, block)))
		}
		child.says("report of " + string(path))
		delegations = append(delegations, delegate(child.run.Prompt, child.run.Final, child))
	}
	parent := play(runtime.Root, "Hello").asks("", delegations...)
	for turn := range n - 2 {
		parent.asks("", call("read_file", `{"path":"x"}`, fmt.Sprintf("root %d %s", turn, block)))
	}
	return parent.says("Done").run
}

func TestEachMessageIsVisitedOnce(t *testing.T) {
	messages, visited := 0, 0
	long(30).Walk(func(r *runtime.Run) {
		messages += r.History.Len()
		a := agent{path: r.Agent, run: r, requests: requestsOf(r)}
		a.eachNew(func() {}, func(int, int, *runtime.Message) { visited++ }, func(int) {})
	})
	assert.Equal(t, visited, messages)
}

func BenchmarkCheckRun330(b *testing.B) {
	run := long(30)
	for b.Loop() {
		if findings := CheckRun(run, Limits{}); len(findings) > 0 {
			b.Fatal(findings)
		}
	}
}
