package golden

import (
	"strings"
	"testing"

	"github.com/tapetree/tapetree/runtime"
	"gotest.tools/v3/assert"
	"gotest.tools/v3/golden"
)

// family is a parent with two children in one turn, as a recording of a real
// server has it: random ids, every verdict, long and odd texts.
func family(ids [9]string) *runtime.Run {
	first := tell("root/1.1", "find the bug", "find the bug").
		answers("Looking.", call(ids[0], "read_file", `{"path":"a.txt"}`, runtime.VerdictAllow, numbered(12))).
		answers("", call(ids[1], "task", `{"description":"deeper"}`, runtime.VerdictUnknown, "Error [unknown_tool]: Unknown tool: task")).
		answers("The bug is in a.txt:3.").stops(runtime.StopAnswer)
	second := tell("root/1.2", "Write notes", "Write down, in notes.md,\nwhat you find").
		answers("", call(ids[2], "write_file", `{"path": "notes.md", "content": "# Notes\n\none\ntwo\nthree\nfour\n"}`, runtime.VerdictAskAllow, "Wrote notes.md"),
			call(ids[3], "shell", `{"command":"rm -rf /tmp/x"}`, runtime.VerdictAskDeny, "Error [permission_denied]: Denied: not now")).
		silent(runtime.FailedTry{Status: 429, Kind: "status"}, runtime.FailedTry{Kind: "dial"}, runtime.FailedTry{Status: 200, Kind: "cut"}).
		stops(runtime.StopUpstreamError)
	return tell("root", "root", "Find and fix the bug.").
		answers("I will ask two helpers.", task(ids[4], first, "The bug is in a.txt:3."), task(ids[5], second, "Error [subagent_execution_error]: Subagent execution failed")).
		answers("", call(ids[6], "edit_file", `{"path":"../x","old_string":"a","new_string":"b"}`, runtime.VerdictDeny, "Error [permission_denied]: Writing outside the workspace is forbidden"),
			call(ids[7], "shell", `{"comm`, runtime.VerdictCut, "Error [truncated_call]: The call was cut off and was not run")).
		reminded("Reminder: the plan is stale").
		answers("", call(ids[8], "shell", `{"command":"echo `+ids[6]+`"}`, runtime.VerdictAllow, ids[6]+" and "+ids[0]+"\n")).
		failed(runtime.FailedTry{Status: 502, Kind: "status"}).
		answers("Fixed.").stops(runtime.StopAnswer)
}

var someIDs = [9]string{"call_aaaaaaa1", "call_aaaaaaa2", "call_aaaaaaa3", "call_aaaaaaa4", "call_aaaaaaa5", "call_aaaaaaa6", "call_aaaaaaa7", "call_aaaaaaa8", "call_aaaaaaa9"}

func TestRenderShowsTheWholeTreeInCallOrder(t *testing.T) {
	hooks := []HookLine{
		{Agent: "root", Text: "UserPromptSubmit"},
		{Agent: "root", Turn: 4, Text: "Stop"},
		{Agent: "root/1.2", Turn: 1, Call: 1, Text: "PreToolUse write_file"},
		{Agent: "root", Turn: 1, Call: 1, Text: "PreToolUse task"},
		{Agent: "root", Turn: 1, Call: 1, Text: "PostToolUse task"},
	}
	got := Render(family(someIDs), Options{Hooks: hooks})
	golden.Assert(t, got, "family.golden")
}

func TestRenderIsTheSameForOtherIDs(t *testing.T) {
	other := [9]string{"chatcmpl-tool-0f1", "toolu_019283", "call_0zzzzzzz", "call_1zzzzzzz", "call_2zzzzzzz", "call_3zzzzzzz", "call_4zzzzzzz", "call_5zzzzzzz", "call_6zzzzzzz"}
	assert.Equal(t, Render(family(someIDs), Options{}), Render(family(other), Options{}))
}

func TestRenderIsTheSameEachTime(t *testing.T) {
	run := family(someIDs)
	want := Render(run, Options{})
	for range 100 {
		assert.Equal(t, Render(run, Options{}), want)
	}
}

func TestRenderSaysAllowedOrDeniedNotByWhom(t *testing.T) {
	render := func(v runtime.Verdict) string {
		return Render(tell("root", "root", "x").answers("", call("c", "shell", "{}", v, "r")).stops(runtime.StopTurnLimit), Options{})
	}
	assert.Equal(t, render(runtime.VerdictAllow), render(runtime.VerdictAskAllow))
	assert.Equal(t, render(runtime.VerdictDeny), render(runtime.VerdictAskDeny))
	classes := map[string]bool{}
	for _, v := range []runtime.Verdict{runtime.VerdictAllow, runtime.VerdictDeny, runtime.VerdictBlocked, runtime.VerdictInvalid, runtime.VerdictUnknown, runtime.VerdictCut, runtime.VerdictInterrupted} {
		classes[render(v)] = true
	}
	assert.Equal(t, len(classes), 7)
}

// lines renders and returns the lines after the title and the agent's name.
func lines(run *runtime.Run, o Options) string {
	_, rest, _ := strings.Cut(Render(run, o), "\nroot\n")
	return "\n" + rest
}

// case 3.05, 3.06: what is wrong with the pairing stands in the rendering.
func TestRenderShowsBrokenPairing(t *testing.T) {
	two := func(change func([]runtime.Message) []runtime.Message) *runtime.Run {
		run := tell("root", "root", "go").answers("", call("a", "read_file", `{"path":"1"}`, runtime.VerdictAllow, "one"), call("b", "read_file", `{"path":"2"}`, runtime.VerdictAllow, "two")).
			answers("done").stops(runtime.StopAnswer)
		var changed runtime.History
		changed.Append(change(append([]runtime.Message{}, run.Turns[1].Sent.Messages()...))...)
		run.Turns[1].Sent = changed.View()
		changed.Append(runtime.Message{Role: runtime.RoleAssistant, Content: "done"})
		run.History = changed.View()
		return run
	}
	tests := []struct {
		name   string
		change func([]runtime.Message) []runtime.Message
		want   string
	}{
		{"unchanged", func(m []runtime.Message) []runtime.Message { return m }, `
  prompt | go
  root turn 1
    #1 read_file {"path": "1"}
    #1 allowed | one
    #2 read_file {"path": "2"}
    #2 allowed | two
  root turn 2
    says | done
  stop answer
`},
		{"results swapped", func(m []runtime.Message) []runtime.Message { m[3], m[4] = m[4], m[3]; return m }, `
  prompt | go
  root turn 1
    #1 read_file {"path": "1"}
    #2 allowed | two
    #2 read_file {"path": "2"}
    #1 allowed | one
  root turn 2
    says | done
  stop answer
`},
		{"result dropped", func(m []runtime.Message) []runtime.Message { return append(m[:3], m[4]) }, `
  prompt | go
  root turn 1
    #1 read_file {"path": "1"}
    #2 allowed | two
    #2 read_file {"path": "2"}
    #2 has no result
  root turn 2
    says | done
  stop answer
`},
		{"result with an id of no call", func(m []runtime.Message) []runtime.Message { m[4].CallID = "zz"; return m }, `
  prompt | go
  root turn 1
    #1 read_file {"path": "1"}
    #1 allowed | one
    #2 read_file {"path": "2"}
    #3 allowed | two
  root turn 2
    says | done
  stop answer
`},
		{"result twice", func(m []runtime.Message) []runtime.Message { return append(m, m[4]) }, `
  prompt | go
  root turn 1
    #1 read_file {"path": "1"}
    #1 allowed | one
    #2 read_file {"path": "2"}
    #2 allowed | two
    #2 not run | two
  root turn 2
    says | done
  stop answer
`},
		{"a child's text in the parent", func(m []runtime.Message) []runtime.Message {
			return append(m, runtime.Message{Role: runtime.RoleAssistant, Content: "child's words", Calls: []runtime.Call{{ID: "k", Name: "glob", Arguments: `{"pattern":"*"}`}}}, runtime.ToolMessage("k", "x"))
		}, `
  prompt | go
  root turn 1
    #1 read_file {"path": "1"}
    #1 allowed | one
    #2 read_file {"path": "2"}
    #2 allowed | two
  root turn 2
    extra message: assistant | child's words
    extra message: assistant #3 glob {"pattern": "*"}
    extra message: tool #3 | x
    says | done
  stop answer
`},
		{"other words of the model", func(m []runtime.Message) []runtime.Message { m[2].Content = "other"; return m }, `
  prompt | go
  root turn 1
    history has instead | other
    #1 read_file {"path": "1"}
    #1 allowed | one
    #2 read_file {"path": "2"}
    #2 allowed | two
  root turn 2
    says | done
  stop answer
`},
		{"history cut short", func(m []runtime.Message) []runtime.Message { return m[:2] }, `
  prompt | go
  root turn 1
    history has instead | done
    #1 read_file {"path": "1"}
    #1 has no result
    #2 read_file {"path": "2"}
    #2 has no result
  root turn 2
    history rewritten to 2 messages
    says | done
  stop answer
`},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			assert.Equal(t, lines(two(test.change), Options{}), test.want)
		})
	}
}

func TestRenderShowsWhatAChildStartedFrom(t *testing.T) {
	run := tell("root", "root", "go").answers("hi").stops(runtime.StopAnswer)
	var leaked runtime.History
	leaked.Append(runtime.SystemMessage("s"), runtime.SystemMessage("second"), runtime.UserMessage("the parent's prompt"), runtime.UserMessage("go"))
	run.Turns[0].Sent, run.History = leaked.View(), leaked.View()
	assert.Equal(t, lines(run, Options{}), `
  extra message: system
  extra message: user | the parent's prompt
  prompt | go
  root turn 1
    says | hi
  stop answer
`)
}

func TestRenderOfRunsThatEndEarly(t *testing.T) {
	tests := []struct {
		name string
		run  *runtime.Run
		want string
	}{
		{"before any request", &runtime.Run{Agent: "root", Prompt: "go", Stop: runtime.StopCancelled}, "\n  prompt | go\n  stop cancelled\n"},
		{"nothing said", tell("root", "root", "go").answers("").stops(runtime.StopEmpty), "\n  prompt | go\n  root turn 1\n    says nothing\n  stop empty\n"},
		{"no try answered", tell("root", "root", "go").silent(runtime.FailedTry{Status: 500, Kind: "status"}).stops(runtime.StopUpstreamError), "\n  prompt | go\n  root turn 1\n    try 1 failed: status 500\n    no answer\n  stop upstream_error\n"},
		{"empty prompt and result", tell("root", "root", "").answers("", call("a", "shell", "", runtime.VerdictAllow, "")).stops(runtime.StopTurnLimit),
			"\n  prompt | ‹empty›\n  root turn 1\n    #1 shell without arguments\n    #1 allowed | ‹empty›\n  stop turn_limit\n"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) { assert.Equal(t, lines(test.run, Options{}), test.want) })
	}
	assert.Equal(t, Render(nil, Options{}), Title+"\n(no session)\n")
}

func TestRenderWithoutViewsTellsTheRecords(t *testing.T) {
	run := tell("root", "root", "go").answers("", call("a", "glob", `{"pattern":"*"}`, runtime.VerdictAllow, "x")).stops(runtime.StopTurnLimit)
	want := Render(run, Options{})
	run.Turns[0].Sent, run.History = runtime.View{}, runtime.View{}
	assert.Equal(t, Render(run, Options{}), want)
}

func TestRenderAppliesPlaceholdersIDsAndVolatileRulesBeforeHashing(t *testing.T) {
	render := func(dir, id, date string) string {
		long := strings.Repeat(dir+"/a.txt "+id+" "+date+"\n", 20)
		run := tell("root", "root", "in "+dir).answers("", call(id, "read_file", `{"path":"`+dir+`/b"}`, runtime.VerdictAllow, long)).stops(runtime.StopTurnLimit)
		return lines(run, Options{
			Fold:      func(s string) string { return strings.ReplaceAll(s, dir, "{{workspace}}") },
			Normalize: func(s string) string { return strings.ReplaceAll(s, date, "<date>") },
		})
	}
	got := render("/tmp/one", "call_12345678", "2024-01-02")
	assert.Equal(t, got, render("/home/other/two", "call_abcdefg9", "2025-11-12"))
	assert.Equal(t, got, `
  prompt | in {{workspace}}
  root turn 1
    #1 read_file {"path": "{{workspace}}/b"}
    #1 allowed, 20 lines, 600 characters, hash 4fcf32cd
      | {{workspace}}/a.txt #1 <date>
      | {{workspace}}/a.txt #1 <date>
      ⋮ 16 lines
      | {{workspace}}/a.txt #1 <date>
      | {{workspace}}/a.txt #1 <date>↵
  stop turn_limit
`)
}

func TestRenderFullFoldsNothing(t *testing.T) {
	run := tell("root", "root", "go").answers("", call("a", "write_file", `{"content":"1\n2\n3\n4\n5\n6\n7"}`, runtime.VerdictAllow, numbered(7))).stops(runtime.StopTurnLimit)
	assert.Equal(t, lines(run, Options{Full: true, Notes: func(r *runtime.Run) []string { return []string{"usage of " + string(r.Agent)} }}), `
  prompt | go
  root turn 1
    #1 write_file {"content": "1\n2\n3\n4\n5\n6\n7"}
    #1 allowed
      | 1⇥line
      | 2⇥line
      | 3⇥line
      | 4⇥line
      | 5⇥line
      | 6⇥line
      | 7⇥line↵
  stop turn_limit
  usage of root
`)
}

// Two agents may use one id: each has its own number, in texts too.
func TestRenderNumbersIDsByAgent(t *testing.T) {
	const id = "call_00000001"
	child := tell("root/1.1", "look", "look").answers("", call(id, "glob", `{}`, runtime.VerdictAllow, id)).answers("seen").stops(runtime.StopAnswer)
	run := tell("root", "root", "go").answers("", task("call_00000000", child, "seen")).
		answers("", call(id, "glob", `{}`, runtime.VerdictAllow, id)).stops(runtime.StopTurnLimit)
	assert.Equal(t, lines(run, Options{}), `
  prompt | go
  root turn 1
    #1 task {"description": "look"}
      root/1.1
        prompt | look
        root/1.1 turn 1
          #2 glob {}
          #2 allowed | #2
        root/1.1 turn 2
          says | seen
        stop answer
    #1 allowed | seen
  root turn 2
    #3 glob {}
    #3 allowed | #3
  stop turn_limit
`)
}
