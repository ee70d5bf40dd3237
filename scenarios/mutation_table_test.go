package scenarios

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/tapetree/tapetree/record"
)

// mutations is the table: what is broken, and the code that must say so.
func mutations() []mutation {
	return append(append(requestMutations(), lineMutations()...), fileMutations()...)
}

// raw messages as they stand in a request
func userMessage(text string) string { return fmt.Sprintf(`{"role":"user","content":%q}`, text) }
func toolMessage(id, text string) string {
	return fmt.Sprintf(`{"role":"tool","tool_call_id":%q,"content":%q}`, id, text)
}

func requestMutations() []mutation {
	siblings, several := "isolation-siblings", "pairing-several-calls"
	return []mutation{
		{name: "drop a result from a request", scenario: several, want: "pairing/unanswered", edit: func(p *project) {
			p.change(exchange("root", 2), `,{"tool":"1.2"}`, ``)
		}},
		{name: "send a result twice", scenario: several, want: "pairing/duplicate-id", edit: func(p *project) {
			p.change(exchange("root", 2), `,{"tool":"1.2"}`, `,{"tool":"1.2"},{"tool":"1.2"}`)
		}},
		{name: "swap two results", scenario: several, want: "pairing/order", edit: func(p *project) {
			p.change(exchange("root", 2), `{"tool":"1.1"},{"tool":"1.2"}`, `{"tool":"1.2"},{"tool":"1.1"}`)
		}},
		{name: "give a result another id", scenario: several, want: "pairing/orphan", edit: func(p *project) {
			p.change(exchange("root", 2), `{"tool":"1.1"}`, toolMessage("call_other", "alpha\n"))
		}},
		{name: "give two calls of a request one id", scenario: "pairing-duplicate-ids", want: "pairing/duplicate-id", edit: func(p *project) {
			i := p.find(exchange("root", 2))
			p.lines[i] = strings.ReplaceAll(p.lines[i], `"id":"dup~2"`, `"id":"dup"`)
			p.lines[i] = strings.Replace(p.lines[i], `{"tool":"1.2"}`, toolMessage("dup", "beta\n"), 1)
		}},
		{name: "put a child's tool result into the parent", scenario: siblings, want: "isolation/parent-sees-child", edit: func(p *project) {
			p.change(exchange("root", 2), `{"tool":"1.2"}`, `{"tool":"1.2"},`+userMessage("amber is the word on the left side\n"))
		}},
		{name: "put the parent's prompt into a child", scenario: siblings, want: "isolation/child-sees-parent", edit: func(p *project) {
			p.change(exchange("root/1.1", 1), `"add":[`, `"add":[`+userMessage("Read left.txt and right.txt with one subagent each.")+`,`)
		}},
		{name: "put one child's text into its sibling", scenario: siblings, want: "isolation/siblings", edit: func(p *project) {
			p.change(exchange("root/1.2", 2), `{"tool":"1.1"}`, `{"tool":"1.1"},`+userMessage("amber is the word on the left side\n"))
		}},
		{name: "change the user's prompt in a request", scenario: several, want: "replay/history", edit: func(p *project) {
			p.change(exchange("root", 1), "Look at four things.", "Look at five things.")
		}},
		{name: "leave the answer out of the next request", scenario: several, want: "replay/history", edit: func(p *project) {
			p.change(exchange("root", 2), `{"echo":1},`, ``)
		}},
		{name: "give the brief of a child a word more", scenario: siblings, want: "isolation/child-sees-parent", edit: func(p *project) {
			p.change(exchange("root/1.1", 1), "Read left.txt and report its word.", "Read left.txt and report its word twice.")
		}},
		{name: "change the model of one request", scenario: several, want: "replay/tools", grade: record.GradeTools, edit: func(p *project) {
			p.change(exchange("root", 2), `"model":"scripted-1","system"`, `"model":"scripted-2","system"`)
		}},
		{name: "change a schema", scenario: several, want: "replay/tools", grade: record.GradeTools, edit: func(p *project) {
			p.change(`{"kind":"tools","id":"t1"`, `"maximum":600`, `"maximum":900`)
		}},
		{name: "add a parameter", scenario: several, want: "replay/tools", grade: record.GradeTools, edit: func(p *project) {
			p.change(exchange("root", 1), `"params":{`, `"params":{"temperature":0,`)
		}},
		{name: "change the system prompt", scenario: several, want: "replay/prompt", grade: record.GradePrompt, edit: func(p *project) {
			p.change(`{"kind":"system","id":"s1"`, "Find out before you act", "Think before you act")
		}},
		{name: "change the day in the environment block", scenario: several, grade: record.GradeVolatile, edit: func(p *project) {
			p.change(`{"kind":"system","id":"s1"`, "2026-01-02", "2025-12-24")
		}},
	}
}

func lineMutations() []mutation {
	siblings, several, thirty := "isolation-siblings", "pairing-several-calls", "limit-child-thirty-turns"
	return []mutation{
		{name: "swap the answers of two siblings", scenario: siblings, want: "golden/differs", edit: func(p *project) {
			p.change(exchange("root/1.1", 2), "The word in left.txt is amber.", "The word in right.txt is cobalt.")
			p.change(exchange("root/1.2", 2), "The word in right.txt is cobalt.", "The word in left.txt is amber.")
		}},
		{name: "give the parent another report", scenario: siblings, want: "replay/tool-result", edit: func(p *project) {
			p.change(tool("root", 1, 1), "The word in left.txt is amber.", "The word in left.txt is umber.")
		}},
		{name: "change one argument of a call", scenario: several, want: "golden/differs", edit: func(p *project) {
			p.change(exchange("root", 1), `{\"path\":\"b.txt\"}`, `{\"path\":\"c.txt\"}`)
		}},
		{name: "change a recorded result", scenario: several, want: "replay/tool-result", edit: func(p *project) {
			p.change(tool("root", 1, 1), `"result":"alpha\n"`, `"result":"alpho\n"`)
		}},
		{name: "call an allowed call denied", scenario: several, want: "replay/verdict", edit: func(p *project) {
			p.change(tool("root", 1, 1), `"verdict":"allow"`, `"verdict":"deny"`)
		}},
		{name: "call a denied call allowed", scenario: "boundary-child", want: "replay/verdict", edit: func(p *project) {
			p.change(tool("root/1.1", 1, 1), `"verdict":"deny"`, `"verdict":"allow"`)
		}},
		{name: "turn the person's no into a yes", scenario: "tape-shell", want: "golden/differs", edit: func(p *project) {
			p.change(tool("root", 1, 2), `"verdict":"ask-deny"`, `"verdict":"ask-allow"`)
		}},
		{name: "change the answer in a stream", scenario: "stream-odd-frames", want: "golden/differs", edit: func(p *project) {
			p.change(exchange("root", 2), `\"were read.\"`, `\"were lost.\"`)
		}},
		{name: "add a thirty-first turn", scenario: thirty, want: "limit/exceeded", edit: func(p *project) {
			more := strings.Replace(p.line(exchange("root/1.1", 30)), `"turn":30,`, `"turn":31,`, 1)
			more = strings.Replace(more, `{"tool":"29.1"}`, `{"tool":"30.1"}`, 1)
			p.insertAfter(tool("root/1.1", 30, 1), strings.ReplaceAll(more, "_30_", "_31_"))
			p.insertAfter(exchange("root/1.1", 31), strings.ReplaceAll(strings.Replace(p.line(tool("root/1.1", 30, 1)), `"turn":30,`, `"turn":31,`, 1), "_30_", "_31_"))
			p.change(`{"kind":"end"`, `"exchanges":32`, `"exchanges":33`)
		}},
		{name: "pass off the last tool output as the answer", scenario: thirty, want: "limit/tool-output-as-answer", edit: func(p *project) {
			p.change(tool("root", 1, 1), "Error [subagent_turn_limit]: Subagent exceeded max_turns=30 without a final answer", `part 30: no error\n`)
		}},
		{name: "leave an exchange unused", scenario: several, want: "replay/extra", edit: func(p *project) {
			more := strings.Replace(p.line(exchange("root", 2)), `"turn":2,`, `"turn":3,`, 1)
			add := more[strings.Index(more, `"add":[`):strings.Index(more, `"sum"`)]
			p.insertAfter(exchange("root", 2), strings.Replace(more, add, `"add":[{"echo":1}],`, 1))
			p.change(`{"kind":"end"`, `"exchanges":2`, `"exchanges":3`)
		}},
		{name: "ask once more than was recorded", scenario: several, raw: "replay/missing", want: "replay/missing", edit: func(p *project) {
			p.drop(exchange("root", 2))
			p.change(`{"kind":"end"`, `"exchanges":2`, `"exchanges":1`)
		}},
		{name: "fail the answered try", scenario: several, want: "replay/missing", edit: func(p *project) {
			p.change(exchange("root", 2), `"status":200`, `"status":503`)
		}},
		{name: "put two tries out of order", scenario: "upstream-500-three-times", message: "stands after", edit: func(p *project) {
			p.swapLines(exchange("root/1.1", 1)+`"try":2,`, exchange("root/1.1", 1)+`"try":3,`)
		}},
		{name: "put two tries out of order and cut the end off", scenario: "upstream-500-three-times", raw: "replay/order", want: "replay/order", edit: func(p *project) {
			p.swapLines(exchange("root/1.1", 1)+`"try":2,`, exchange("root/1.1", 1)+`"try":3,`)
			p.drop(`{"kind":"end"`)
		}},
		{name: "put a turn before the one it follows", scenario: siblings, message: "no earlier response of root/1.1", edit: func(p *project) {
			p.swapLines(exchange("root/1.1", 1), exchange("root/1.1", 2))
		}},
		{name: "record a turn twice", scenario: several, message: "twice", edit: func(p *project) {
			p.insertAfter(exchange("root", 2), p.line(exchange("root", 2)))
			p.change(`{"kind":"end"`, `"exchanges":2`, `"exchanges":3`)
		}},
		{name: "delete the last line", scenario: several, raw: "replay/partial", want: "replay/partial", edit: func(p *project) {
			p.drop(`{"kind":"end"`)
		}},
		{name: "say that the session stopped otherwise", scenario: siblings, raw: "replay/stop", want: "replay/stop", edit: func(p *project) {
			p.change(`{"kind":"end"`, `"root/1.1":"answer"`, `"root/1.1":"turn_limit"`)
		}},
		{name: "run a call that was cut off", scenario: "truncated-call-never-runs", want: "truncated/executed", edit: func(p *project) {
			p.change(tool("root", 1, 1), `"verdict":"cut"`, `"verdict":"allow"`)
		}},
		{name: "run a call whose arguments are no JSON", scenario: "pairing-bad-among-good", want: "arguments/invalid-json", edit: func(p *project) {
			p.change(tool("root", 1, 2), `"verdict":"invalid"`, `"verdict":"allow"`)
		}},
		{name: "let a child delegate", scenario: "recursion-unknown-tool", want: "recursion/spawned", edit: func(p *project) {
			p.change(tool("root/1.1", 1, 1), "Error [unknown_tool]: Unknown tool: task", "The file has two lines.")
		}},
		{name: "leave a key in an answer", scenario: several, want: "secret/present", edit: func(p *project) {
			p.change(exchange("root", 2), "a.txt and b.txt exist", "use sk-proj-"+strings.Repeat("Ab3dE5gH", 6)+" and a.txt, b.txt exist")
		}},
		{name: "lose a tool line", scenario: several, message: "1.1", edit: func(p *project) {
			p.drop(tool("root", 1, 1))
		}},
		{name: "claim a newer format", scenario: several, message: "format", edit: func(p *project) {
			p.change(`{"kind":"header"`, `"format":1`, `"format":2`)
		}},
	}
}

func fileMutations() []mutation {
	siblings, several := "isolation-siblings", "pairing-several-calls"
	return []mutation{
		{name: "change one byte of a file", scenario: several, want: "replay/tool-result", edit: func(p *project) {
			p.text("scenarios", "alpha\n", "alphA\n")
		}},
		{name: "change the prompt of the scenario", scenario: several, want: "replay/history", edit: func(p *project) {
			p.text("scenarios", "Look at four things.", "Look at all things.")
		}},
		{name: "change the model of the scenario", scenario: several, want: "replay/tools", grade: record.GradeTools, edit: func(p *project) {
			p.text("scenarios", "-- prompt --", "model: scripted-9\n-- prompt --")
		}},
		{name: "lower the child's limit", scenario: "limit-child-thirty-turns", want: "replay/extra", edit: func(p *project) {
			p.text("scenarios", "-- prompt --", "child-max-turns: 29\n-- prompt --")
		}},
		{name: "deny what was approved", scenario: "permission-script", want: "replay/verdict", edit: func(p *project) {
			p.text("scenarios", "root#1.1 allow", "root#1.1 deny")
		}},
		{name: "script an answer that nobody asks for", scenario: "permission-script", want: "replay/verdict", edit: func(p *project) {
			p.text("scenarios", "root#1.1 allow", "root#1.1 allow\nroot#9.1 allow")
		}},
		{name: "expect another answer", scenario: "isolation-child-starts-fresh", want: "want/answer", edit: func(p *project) {
			p.text("scenarios", "/vitest/", "/mocha/")
		}},
		{name: "expect another call", scenario: "isolation-parent-gains-one-pair", want: "want/calls", edit: func(p *project) {
			p.text("scenarios", `root/1.1 read_file {"path":"orders.go"}`, `root/1.1 read_file {"path":"order.go"}`)
		}},
		{name: "expect another file", scenario: "isolation-file-outlives-child", want: "want/files", edit: func(p *project) {
			p.text("scenarios", "after March?", "after May?")
		}},
		{name: "expect a file to be absent", scenario: several, want: "want/absent", edit: func(p *project) {
			p.file("scenarios", func(s string) string { return s + "-- want/absent --\na.txt\n" })
		}},
		{name: "allow fewer turns in the budget", scenario: several, want: "want/budget", edit: func(p *project) {
			p.file("scenarios", func(s string) string { return s + "-- want/budget --\nturns: 1\n" })
		}},
		{name: "change one word of the golden", scenario: siblings, want: "golden/differs", edit: func(p *project) {
			p.text("golden", "amber", "umber")
		}},
		{name: "swap two results in the golden", scenario: several, want: "golden/differs", edit: func(p *project) {
			p.text("golden", "#1 allowed | alpha↵", "#2 allowed | alpha↵")
		}},
		{name: "delete the last line of the golden", scenario: siblings, want: "golden/differs", edit: func(p *project) {
			p.text("golden", "  stop answer\n", "")
		}},
		{name: "lose the golden", scenario: siblings, want: "golden/missing", edit: func(p *project) {
			if err := os.Remove(filepath.Join(p.dir, "golden", p.name+".txt")); err != nil {
				p.t.Fatal(err)
			}
		}},
		{name: "check the golden out with CRLF", scenario: siblings, grade: record.Exact, edit: func(p *project) {
			p.file("golden", func(s string) string { return strings.ReplaceAll(s, "\n", "\r\n") })
		}},
	}
}
