package scenarios

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"gotest.tools/v3/assert"

	"github.com/tapetree/tapetree/record"
	"github.com/tapetree/tapetree/runtime"
	"github.com/tapetree/tapetree/transcripts"
)

const (
	catText  = "amber is the word in the third file of the folder"
	doneText = "I have finished what was asked of me here."
)

// Children and parents may come to the same text: what an agent has of its own
// is no leak, and the same text where it cannot be its own yet is one.
func TestWhatAnAgentHasOfItsOwnIsNoLeak(t *testing.T) {
	fine := "The callers are known; src/parse.go can be changed."
	for _, c := range []historyCase{
		{"a report that is a tool result", func(t *testing.T) *transcripts.History {
			return delegates(t, goodBrief, catText, fine, func(child *talker) {
				works(child)
				child.did("k3", "Bash", `{"command":"cat c"}`, catText)
			})
		}, nil},
		{"a parent and a child that say the same", func(t *testing.T) *transcripts.History {
			b, root := stranger(t)
			root.said(doneText).told("And the rest?").asked("p1", "Task", taskArguments(goodBrief))
			child := root.child("p1").told(goodBrief)
			works(child)
			child.said(doneText).told("Is that so?").said(goodReport)
			root.got("p1", goodReport).said(fine)
			return b.History()
		}, nil},
		{"a child that begins with an answer of the parent, and says the same later", func(t *testing.T) *transcripts.History {
			b, root := stranger(t)
			root.said(doneText).told("And the rest?").asked("p1", "Task", taskArguments(goodBrief))
			child := root.child("p1").told(goodBrief)
			child.to.Add(said(t, `{"role":"assistant","content":"`+doneText+`"}`))
			works(child)
			child.said(doneText)
			root.got("p1", doneText).said(fine)
			return b.History()
		}, one("isolation/child-sees-parent", "root/2.1", 1, `message 2 (assistant) is one of root: "`+doneText+`"`)},
		{"a child that is begun with a copy of its parent's history", copies, nil},
		{"a child of no visible call", func(t *testing.T) *transcripts.History {
			b, root := stranger(t)
			root.said(fine)
			root.child("").told("Warm up.").said("I am ready to look around.")
			return b.History()
		}, nil},
		{"a child whose last result goes up for its answer", func(t *testing.T) *transcripts.History {
			b, root := stranger(t)
			root.asked("p1", "Task", taskArguments(goodBrief))
			works(root.child("p1").told(goodBrief))
			root.got("p1", "func main() { parse(text) }\n").said(fine)
			return b.History()
		}, one("limit/tool-output-as-answer", "root", 1, `call 1: the last tool result of root/1.1 stands for its answer: "func main() { parse(text) }\n"`)},
		{"the same, as a file has it that does not hold the last answer", func(t *testing.T) *transcripts.History {
			b, root := stranger(t)
			root.asked("p1", "Task", taskArguments(goodBrief))
			child := root.child("p1").told(goodBrief)
			works(child)
			child.did("k3", "Bash", `{"command":"cat c"}`, catText)
			child.to.Ended(catText)
			root.got("p1", catText).said(fine)
			return b.History()
		}, one("limit/tool-output-as-answer", "root", 1, `call 1: the last tool result of root/1.1 stands for its answer: "`+catText+`"`)},
	} {
		t.Run(c.name, func(t *testing.T) {
			if diff := cmp.Diff(c.want, CheckHistory(c.play(t), CheckOptions{})); diff != "" {
				t.Fatal(diff)
			}
		})
	}
}

// copies is a session whose child begins with all that the parent said and did,
// the call that started it still open.
func copies(t *testing.T) *transcripts.History {
	b, root := stranger(t)
	root.did("c1", "Bash", `{"command":"cat notes"}`, secretText).asked("p1", "Task", taskArguments(goodBrief))
	child := root.child("p1").told("Find out what is wrong in the folder src and mend it.")
	child.to.Add(said(t, `{"role":"assistant","content":null,"tool_calls":[`+callJSON("c1", "Bash", `{"command":"cat notes"}`)+`]}`))
	child.got("c1", secretText)
	child.to.Add(said(t, `{"role":"assistant","content":null,"tool_calls":[`+callJSON("p1", "Task", taskArguments(goodBrief))+`]}`))
	child.to.Copied()
	child.told(goodBrief)
	works(child)
	child.said(goodReport)
	root.got("p1", goodReport).said("The callers are known; src/parse.go can be changed.")
	return b.History()
}

// TestResultsInAnotherOrderThanTheirCalls: where the file is what was sent, that
// is an error; a log has results as they came, and what was sent is not known.
func TestResultsInAnotherOrderThanTheirCalls(t *testing.T) {
	for format, severity := range map[string]string{"openai": record.SeverityError, "har": record.SeverityError, "claude-code": record.SeverityNotice, "codex": record.SeverityNotice, "pi": record.SeverityNotice} {
		b := transcripts.NewHistory("some.jsonl", "", format)
		root := &talker{t, b.Root()}
		root.told("Read both files of the folder.").
			answer(`{"role":"assistant","content":null,"tool_calls":[`+callJSON("a", "Read", `{"path":"a"}`)+`,`+callJSON("b", "Read", `{"path":"b"}`)+`,`+callJSON("c", "Read", `{"path":"c"}`)+`]}`).
			got("c", "z").got("b", "y").got("a", "x").said("All are read.")
		found := CheckHistory(b.History(), CheckOptions{})
		assert.Equal(t, len(found), 1, format)
		assert.Equal(t, found[0].Weight(), severity, format)
		found[0].Severity = ""
		want := one("pairing/order", "root", 2, `message 3: the result of "c" (Read) comes before that of "a" (Read)`)
		if diff := cmp.Diff(want, found); diff != "" {
			t.Fatal(diff)
		}
	}
}

// TestFailuresThatAreTold: a child whose last call failed, however that is said,
// tells of it in its report or is found.
func TestFailuresThatAreTold(t *testing.T) {
	failures := map[string]runtime.Message{
		"marked":            said(t, `{"role":"tool","tool_call_id":"k3","content":"2 tests","is_error":true}`),
		"exit code":         runtime.ToolMessage("k3", "Exit code 1\nFAIL TestX"),
		"of a harness":      runtime.ToolMessage("k3", "Chunk ID: 1\nProcess exited with code 3\nOutput:\n"),
		"of go":             runtime.ToolMessage("k3", "FAIL: TestX\nexit status 1"),
		"unknown to zsh":    runtime.ToolMessage("k3", "zsh:1: command not found: foo"),
		"unknown to bash":   runtime.ToolMessage("k3", "one\nbash: line 1: foo: command not found"),
		"unknown, no shell": runtime.ToolMessage("k3", "command not found: foo"),
	}
	play := func(failure runtime.Message, report string) int {
		h := delegates(t, goodBrief, report, "The callers are known.", func(child *talker) {
			works(child)
			child.asked("k3", "Bash", `{"command":"go test ./src"}`).to.Add(failure)
		})
		found := CheckHistory(h, CheckOptions{})
		for _, f := range found {
			assert.Equal(t, f.Code, "delegation/hidden-failure")
		}
		return len(found)
	}
	for name, failure := range failures {
		assert.Equal(t, play(failure, goodReport), 1, name)
	}
	for report, found := range map[string]int{
		"src/main.go:12 is the only caller; go test failed.":               0,
		"src/main.go:12 calls it. I couldn’t run the tests.":               0,
		"src/main.go:12 calls it; foo is not installed.":                   0,
		"src/main.go:12 calls it; I ran into an issue with the tests.":     0,
		"src/main.go:12 calls it; the tests stopped at the turn limit.":    0,
		"src/main.go:12 没有调用;测试失败":                                         0,
		"src/main.go:12 calls it, without side effects, and never twice.":  1,
		"src/main.go:12 calls it; nothing else does.":                      1,
		"src/main.go:12 calls it; see the issue about the limit of bytes.": 1,
		"src/main.go:12 calls it, and all tests pass without any errors.":  1,
		"src/main.go:12 calls it; no tests failed and nothing is wrong.":   1,
	} {
		assert.Equal(t, play(failures["marked"], report), found, report)
	}
	passed := runtime.ToolMessage("k3", "ok\nexit code 0")
	assert.Equal(t, play(passed, goodReport), 0)
}
