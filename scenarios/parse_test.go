package scenarios

import (
	"errors"
	"io/fs"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"gotest.tools/v3/assert"

	"github.com/tapetree/tapetree/runtime"
	"github.com/tapetree/tapetree/transcripts"
)

func ptr(text string) *string { return &text }

// full is a scenario with every header and section.
const full = `# What a comment says is not read.

profile: p06
transcript: other
golden: another.one
model: some-model: large
max-turns: 12
child-max-turns: 30
approve: script
mode: read-only
tools: live, shell=tape, read_file=live
workspace: data/start
timeout: 1m30s
tags: slow, net
max-age: 90d
volatile: dates, uuids
interrupt: root/2.1#3.2
fixture: child-has-task, hook-block=shell
-- prompt --
Do it.

-- system --
You are one.
-- child-system --
-- work/a.txt --
alpha
-- work/empty --
-- work64/crlf.txt --
YQ0K
YgA=
-- link/door --
{{outside}}/x
-- fifo/pipe --
-- outside/x/secret --
secret
-- outside64/bytes --
//79
-- approvals --
# the first question
root#1.2 deny not today
allow
root/1.1#2.1 always
-- volatile --
/run [0-9]+/
dates
-- hooks --
UserPromptSubmit log
PreToolUse write_file block No writes
PreToolUse log
PostToolUse * panic
Stop timeout
-- want/answer --
{"a": "_"}
-- want/calls --
mode: unordered
root task
root/1.1 read_file {"path": "/a.*/"}
root/1.1 glob _
root shell /echo +hi/
-- want/files/a.txt --
alpha
-- want/files64/b.txt --
YQ==
-- want/absent --
c/d.txt
-- want/budget --
turns: 12
calls: 3
tokens: 1000
cost: 0.250
-- want/verify --
test -f a.txt
-- want/findings --
limit/exceeded
`

func TestEveryHeaderAndSectionIsRead(t *testing.T) {
	got, err := Parse("scenarios/full.txtar", []byte(full), nil)
	assert.NilError(t, err)
	want := &Scenario{
		File: "scenarios/full.txtar", Name: "full", Profile: "p06", Transcript: "other", Golden: "another.one", Model: "some-model: large",
		MaxTurns: 12, ChildMaxTurns: 30, Approve: "script", Mode: runtime.ModeReadOnly,
		Tools:     map[string]bool{"*": true, "shell": false, "read_file": true},
		Workspace: "data/start", Timeout: 90 * time.Second, MaxAge: 90 * 24 * time.Hour, Tags: []string{"slow", "net"},
		Interrupt: &Interrupt{Agent: "root/2.1", Turn: 3, Call: 2},
		Fixtures:  []Fixture{{Kind: "child-has-task"}, {Kind: "hook-block", Tool: "shell"}},
		Prompt:    "Do it.\n", System: ptr("You are one."), ChildSystem: ptr(""),
		Files: []File{{"a.txt", []byte("alpha\n")}, {"empty", []byte("")}, {"crlf.txt", []byte("a\r\nb\x00")}},
		Links: []Link{{"door", "{{outside}}/x"}}, FIFOs: []string{"pipe"},
		Outside: []File{{"x/secret", []byte("secret\n")}, {"bytes", []byte{0xff, 0xfe, 0xfd}}},
		Approvals: []Approval{
			{Line: 40, Agent: "root", Turn: 1, Call: 2, Reply: runtime.Reply{Reason: "not today"}},
			{Line: 41, Reply: runtime.Reply{Allow: true}},
			{Line: 42, Agent: "root/1.1", Turn: 2, Call: 1, Reply: runtime.Reply{Allow: true, Always: true}},
		},
		Volatile: []string{"dates", "uuids", "/run [0-9]+/"},
		Hooks: []HookRule{
			{Line: 47, Event: "UserPromptSubmit", Action: "log"},
			{Line: 48, Event: "PreToolUse", Tool: "write_file", Action: "block", Text: "No writes"},
			{Line: 49, Event: "PreToolUse", Tool: "*", Action: "log"},
			{Line: 50, Event: "PostToolUse", Tool: "*", Action: "panic"},
			{Line: 51, Event: "Stop", Action: "timeout"},
		},
		Want: Want{
			Answer: ptr(`{"a": "_"}`),
			Calls: &CallsWant{Mode: "unordered", Calls: []CallWant{
				{Line: 56, Agent: "root", Tool: "task"},
				{Line: 57, Agent: "root/1.1", Tool: "read_file", Arguments: `{"path": "/a.*/"}`},
				{Line: 58, Agent: "root/1.1", Tool: "glob", Arguments: "_"},
				{Line: 59, Agent: "root", Tool: "shell", Arguments: "/echo +hi/"},
			}},
			Files:    []File{{"a.txt", []byte("alpha\n")}, {"b.txt", []byte("a")}},
			Absent:   []string{"c/d.txt"},
			Budget:   &Budget{Turns: 12, Calls: 3, Tokens: 1000, Cost: 250_000_000_000},
			Verify:   "test -f a.txt",
			Findings: []string{"limit/exceeded"},
		},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Fatal(diff)
	}
}

func TestWhatAFileLeavesOutHasItsDefault(t *testing.T) {
	got, err := Parse(`C:\suite\small.txtar`, []byte("-- prompt --\nHello"), nil)
	assert.NilError(t, err)
	want := &Scenario{File: `C:\suite\small.txtar`, Name: "small", Profile: "p06", Transcript: "small", Golden: "small", Mode: runtime.ModeDefault, Prompt: "Hello"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Fatal(diff)
	}
}

func TestMiniHasSettingsOfItsOwn(t *testing.T) {
	const text = "profile: mini\nsub-model: small\nchild-policy: read-only\ncontext-budget: 8000\noutput-tokens: 512\ntools: tape, run_bash=live\n-- prompt --\nHello\n"
	got, err := Parse("x.txtar", []byte(text), nil)
	assert.NilError(t, err)
	want := &Scenario{
		File: "x.txtar", Name: "x", Profile: "mini", Transcript: "x", Golden: "x", Mode: runtime.ModeDefault, Prompt: "Hello",
		SubModel: "small", ChildPolicy: runtime.ModeReadOnly, ContextBudget: 8000, OutputTokens: 512, Tools: map[string]bool{"*": false, "run_bash": true},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Fatal(diff)
	}
	assert.Equal(t, string(Format(got)), text)
}

func TestDefaultsForChildrenHoldOnlyWhereAProfileHasThem(t *testing.T) {
	defaults, err := ParseDefaults("_defaults.txtar", []byte("sub-model: small\nchild-policy: read-only\ncontext-budget: 8000\noutput-tokens: 512\n"))
	assert.NilError(t, err)
	for profile, header := range map[string]string{
		"p06":  "",
		"mini": "profile: mini\nsub-model: small\nchild-policy: read-only\ncontext-budget: 8000\noutput-tokens: 512\n",
	} {
		got, err := Parse("x.txtar", []byte("profile: "+profile+"\n-- prompt --\nHello\n"), defaults)
		assert.NilError(t, err)
		assert.Equal(t, string(Format(got)), header+"-- prompt --\nHello\n")
	}
}

func TestFolderDefaultsHoldUnlessTheScenarioSaysOtherwise(t *testing.T) {
	defaults, err := ParseDefaults("_defaults.txtar", []byte("model: base\nmax-turns: 9\napprove: all\ntags: net\nvolatile: uuids\ntools: tape\n-- volatile --\n/x/\n"))
	assert.NilError(t, err)
	got, err := Parse("own.txtar", []byte("max-turns: 2\nvolatile: dates\n-- prompt --\nHello\n-- approvals --\nallow\n"), defaults)
	assert.NilError(t, err)
	want := &Scenario{
		File: "own.txtar", Name: "own", Profile: "p06", Transcript: "own", Golden: "own", Model: "base", MaxTurns: 2, Mode: runtime.ModeDefault,
		Approve: "script", Tags: []string{"net"}, Tools: map[string]bool{"*": false}, Prompt: "Hello",
		Volatile:  []string{"uuids", "/x/", "dates"},
		Approvals: []Approval{{Line: 6, Reply: runtime.Reply{Allow: true}}},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Fatal(diff)
	}
}

func TestCRLFAndAByteOrderMarkMeanNothing(t *testing.T) {
	want, err := Parse("full.txtar", []byte(full), nil)
	assert.NilError(t, err)
	got, err := Parse("full.txtar", []byte("\ufeff"+strings.ReplaceAll(full, "\n", "\r\n")), nil)
	assert.NilError(t, err)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Fatal(diff)
	}
}

func TestBadScenariosAreRefusedWithTheirLine(t *testing.T) {
	const prompt = "-- prompt --\nHello\n"
	for _, c := range []struct{ rule, text, want string }{
		{"no UTF-8", "# one\n" + prompt + "\xff\n", "x.txtar:4: not UTF-8; a file of other bytes goes into a work64/PATH section, in base64"},
		{"a command that would be expanded", "command: agent $HOME\n", `x.txtar:1: command: "$HOME" would be expanded by a shell, and is not here; quote it, or let a shell do it: sh -c '…'`},
		{"a command with a pattern", "command: agent *.md\n", `x.txtar:1: command: "*.md" would be expanded by a shell, and is not here; quote it, or let a shell do it: sh -c '…'`},
		{"a command in a home", "command: ~/agent\n", `x.txtar:1: command: "~/agent" would be expanded by a shell, and is not here; quote it, or let a shell do it: sh -c '…'`},
		{"a command with an expansion in quotes", "command: agent \"it is $(date)\"\n", `x.txtar:1: command: "$(date)" would be expanded by a shell, and is not here; quote it, or let a shell do it: sh -c '…'`},
		{"two commands", "command: agent; agent\n", `x.txtar:1: command: "agent; agent" is not one command; quote it, or let a shell do it: sh -c '…'`},
		{"a command with a redirection", "command: agent > log\n", `x.txtar:1: command: "agent > log" is more than one program and its arguments; quote it, or let a shell do it: sh -c '…'`},
		{"a command in the background", "command: agent &\n", `x.txtar:1: command: "agent &" is more than one program and its arguments; quote it, or let a shell do it: sh -c '…'`},
		{"a command with a variable", "command: A=1 agent\n", `x.txtar:1: command: "A=1 agent" sets a variable; quote it, or let a shell do it: sh -c '…'`},
		{"a command without an end", "command: agent 'x\n", `x.txtar:1: command: "agent 'x" cannot be read as the words of a command: reached EOF without closing quote ` + "`'`"},
		{"a command without a name", "command: '' x\n", `x.txtar:1: command: "'' x" names no program`},
		{"a command and a comment", "command: # x\n", `x.txtar:1: command: "# x" is not one command; quote it, or let a shell do it: sh -c '…'`},
		{"a command and a header of our runner", "command: agent\nmodel: m\n", `x.txtar:2: header "model": the command is an agent of its own, which does not go by it (line 1)`},
		{"a command and a section of our runner", "command: agent\n-- hooks --\nStop log\n", `x.txtar:2: section "hooks": the command is an agent of its own, which does not go by it (line 1)`},
		{"a fault that is none", "-- faults --\n\nroot#1 explode\n", `x.txtar:3: faults: "root#1 explode": there is no kind "explode"; allowed are status CODE [retry-after=SECONDS] [times=N], delay DURATION, cut BYTES|arguments, no-done, arguments malformed|duplicated, ids duplicated|empty, error [MESSAGE]`},
		{"a fault twice", "-- faults --\nroot#1 no-done\nroot#1 no-done\n", `x.txtar:3: faults: "root#1 no-done" is there twice`},
		{"no fault", "-- faults --\n", `x.txtar:1: faults: no line; write one fault a line, as in: root#1 status 429 retry-after=2`},
		{"an empty prompt", "\n-- prompt --\n \n", "x.txtar:2: the prompt is empty"},

		{"a marker without its space", "--prompt --\nHello\n", `x.txtar:1: "--prompt --" looks like a section marker but is none; write "-- prompt --" (a file that must hold such a line goes into work64/PATH)`},
		{"a marker without its other space", "\n-- prompt--\n", `x.txtar:2: "-- prompt--" looks like a section marker but is none; write "-- prompt --" (a file that must hold such a line goes into work64/PATH)`},
		{"a marker of three dashes", "--- prompt ---\n", `x.txtar:1: "--- prompt ---" looks like a section marker but is none; write "-- prompt --" (a file that must hold such a line goes into work64/PATH)`},
		{"a marker with two spaces", "--  prompt --\n", `x.txtar:1: "--  prompt --" looks like a section marker but is none; write "-- prompt --" (a file that must hold such a line goes into work64/PATH)`},
		{"a marker with a space before", prompt + " -- work/a --\n", `x.txtar:3: " -- work/a --" looks like a section marker but is none; write "-- work/a --" (a file that must hold such a line goes into work64/PATH)`},
		{"a marker with a space after", prompt + "-- work/a -- \n", `x.txtar:3: "-- work/a -- " looks like a section marker but is none; write "-- work/a --" (a file that must hold such a line goes into work64/PATH)`},
		{"a marker without its end", prompt + "-- work/a\n", `x.txtar:3: "-- work/a" looks like a section marker but is none; write "-- work/a --" (a file that must hold such a line goes into work64/PATH)`},
		{"a marker without its beginning", "prompt --\n", `x.txtar:1: "prompt --" looks like a section marker but is none; write "-- prompt --" (a file that must hold such a line goes into work64/PATH)`},

		{"a line that is nothing", "# one\nprofile p06\n" + prompt, `x.txtar:2: "profile p06" is no header line (key: value), no comment (# ...) and no section marker (-- NAME --)`},
		{"an unknown header", "colour: red\n" + prompt, `x.txtar:1: unknown header "colour" (known: profile, transcript, golden, model, sub-model, max-turns, child-max-turns, approve, mode, child-policy, context-budget, output-tokens, tools, workspace, command, timeout, tags, max-age, volatile, interrupt, fixture)`},
		{"a header that is nearly one", "max_turns: 3\n" + prompt, `x.txtar:1: unknown header "max_turns" (did you mean "max-turns"?)`},
		{"a header with a space", "profile : p06\n" + prompt, `x.txtar:1: unknown header "profile " (did you mean "profile"?)`},
		{"a header of later work", "trials: 3\n" + prompt, `x.txtar:1: unknown header "trials" (known: profile, transcript, golden, model, sub-model, max-turns, child-max-turns, approve, mode, child-policy, context-budget, output-tokens, tools, workspace, command, timeout, tags, max-age, volatile, interrupt, fixture)`},
		{"a model for children where there is none", "sub-model: m\n" + prompt, `x.txtar:1: sub-model: profile p06 has no such setting; it needs profile: mini`},
		{"a policy for children where there is none", "profile: p06\nchild-policy: read-only\n" + prompt, `x.txtar:2: child-policy: profile p06 has no such setting; it needs profile: mini`},
		{"an unknown policy for children", "profile: mini\nchild-policy: readonly\n" + prompt, `x.txtar:2: child-policy: unknown mode "readonly" (did you mean "read-only"?)`},
		{"a budget of nothing", "profile: mini\ncontext-budget: 0\n" + prompt, `x.txtar:2: context-budget: "0" is no whole number from 1`},
		{"an answer of no tokens", "profile: mini\noutput-tokens: 1k\n" + prompt, `x.txtar:2: output-tokens: "1k" is no whole number from 1`},
		{"a tool of another profile", "tools: run_bash=live\n" + prompt, `x.txtar:1: tools: run_bash: profile p06 has no such tool (it has shell, read_file, write_file, edit_file, glob, todo_write, task)`},
		{"a tool of the other profile", "tools: live, glob=tape\nprofile: mini\n" + prompt, `x.txtar:1: tools: glob: profile mini has no such tool (it has read_file, list_files, edit_file, run_bash, task)`},
		{"task of mini from tape", "profile: mini\ntools: task=tape\n" + prompt, `x.txtar:2: tools: "task=tape": task changes the runner's own state (its children) and is always live`},
		{"a header twice", "mode: yolo\n\nmode: yolo\n" + prompt, `x.txtar:3: header "mode" is there already (line 1)`},
		{"a header without value", "mode:  \n" + prompt, `x.txtar:1: header "mode" needs a value`},
		{"an unknown profile", "profile: p6\n" + prompt, `x.txtar:1: profile: unknown profile "p6" (known: p06, mini)`},
		{"a profile that is nearly one", "profile: p_0_6\n" + prompt, `x.txtar:1: profile: unknown profile "p_0_6" (did you mean "p06"?)`},
		{"a transcript that is no name", "transcript: ../x\n" + prompt, `x.txtar:1: transcript: "../x" is no name; use lower-case letters, digits, dots, - and _, as in [a-z0-9][a-z0-9._-]*`},
		{"a golden that is no name", "golden: X\n" + prompt, `x.txtar:1: golden: "X" is no name; use lower-case letters, digits, dots, - and _, as in [a-z0-9][a-z0-9._-]*`},
		{"no turn", "max-turns: 0\n" + prompt, `x.txtar:1: max-turns: "0" is no whole number from 1`},
		{"a number with a sign", "max-turns: +3\n" + prompt, `x.txtar:1: max-turns: "+3" is no whole number from 1`},
		{"31 turns of a child", "child-max-turns: 31\n" + prompt, `x.txtar:1: child-max-turns: 31 is too many; a child has at most 30 turns`},
		{"51 turns of the parent", "max-turns: 51\n" + prompt, `x.txtar:1: max-turns: 51 is too many; the parent has at most 50 turns`},
		{"an unknown answer", "approve: ask\n" + prompt, `x.txtar:1: approve: unknown answer "ask" (known: all, none, script, tape)`},
		{"a script without approvals", "approve: script\n" + prompt, `x.txtar:1: approve: script needs an approvals section with at least one line`},
		{"approvals without script", "approve: all\n" + prompt + "-- approvals --\nallow\n", `x.txtar:4: approvals are used with approve: script only, and line 1 says approve: all`},
		{"an unknown mode", "mode: acceptedit\n" + prompt, `x.txtar:1: mode: unknown mode "acceptedit" (did you mean "accept-edits"?)`},
		{"an unknown tool", "tools: read_fil=live\n" + prompt, `x.txtar:1: tools: unknown tool "read_fil" (did you mean "read_file"?)`},
		{"an unknown way", "tools: shell=alive\n" + prompt, `x.txtar:1: tools: "shell=alive": unknown way "alive" (did you mean "live"?)`},
		{"task from tape", "tools: task=tape\n" + prompt, `x.txtar:1: tools: "task=tape": task changes the runner's own state (its children) and is always live`},
		{"todo_write from tape", "tools: tape, todo_write=tape\n" + prompt, `x.txtar:1: tools: "todo_write=tape": todo_write changes the runner's own state (its todo list) and is always live`},
		{"two rules for a tool", "tools: shell=tape, shell=live\n" + prompt, `x.txtar:1: tools: "shell=live": a rule for shell is there already`},
		{"two rules for all tools", "tools: tape, live\n" + prompt, `x.txtar:1: tools: "live": a rule for all tools is there already`},
		{"an empty word", "tools: live,\n" + prompt, `x.txtar:1: tools: "live," has an empty word; write words with a comma between them`},
		{"a workspace elsewhere", "workspace: a/../../b\n" + prompt, `x.txtar:1: workspace: "a/../../b": the path leaves its folder`},
		{"no length of time", "timeout: 5\n" + prompt, `x.txtar:1: timeout: "5" is no length of time, as in 90d, 12h, 1m30s`},
		{"a negative length of time", "timeout: -5s\n" + prompt, `x.txtar:1: timeout: "-5s" is no length of time, as in 90d, 12h, 1m30s`},
		{"more days than can be counted", "max-age: 200000d\n" + prompt, `x.txtar:1: max-age: "200000d" is no length of time, as in 90d, 12h, 1m30s`},
		{"a tag twice", "tags: a, a\n" + prompt, `x.txtar:1: tags: "a" is there twice`},
		{"no tag", "tags: A b\n" + prompt, `x.txtar:1: tags: "A b" is no tag; use lower-case letters, digits, dots, - and _`},
		{"an unknown volatile set", "volatile: date\n" + prompt, `x.txtar:1: volatile: unknown set "date" (did you mean "dates"?)`},
		{"a regexp in the header", "volatile: /x/\n" + prompt, `x.txtar:1: volatile: "/x/": a regexp goes on a line of its own in the volatile section`},
		{"no place", "interrupt: root\n" + prompt, `x.txtar:1: interrupt: "root" is no place AGENT#TURN or AGENT#TURN.CALL, as in root#2 or root/2.1#1.3`},
		{"a place without turn", "interrupt: root#0.1\n" + prompt, `x.txtar:1: interrupt: "root#0.1" is no place AGENT#TURN or AGENT#TURN.CALL, as in root#2 or root/2.1#1.3`},
		{"a place of nobody", "interrupt: boss#1\n" + prompt, `x.txtar:1: interrupt: agent path "boss": must start with "root", as in root/2.1`},
		{"an unknown fixture", "fixture: factory-nill\n" + prompt, `x.txtar:1: fixture: unknown fixture "factory-nill" (did you mean "factory-nil"?)`},
		{"a hook fixture without tool", "fixture: hook-panic\n" + prompt, `x.txtar:1: fixture: "hook-panic" needs a tool, as in hook-panic=shell`},
		{"a fixture with a tool", "fixture: factory-nil=shell\n" + prompt, `x.txtar:1: fixture: "factory-nil=shell": factory-nil takes no tool`},
		{"a fixture of an unknown tool", "fixture: hook-block=shel\n" + prompt, `x.txtar:1: fixture: unknown tool "shel" (did you mean "shell"?)`},

		{"an unknown section", prompt + "-- colours --\n", `x.txtar:3: unknown section "colours"`},
		{"a section that is nearly one", "-- promt --\nHello\n", `x.txtar:1: unknown section "promt" (did you mean "prompt"?)`},
		{"a section with path that is nearly one", prompt + "-- works/a.txt --\n", `x.txtar:3: unknown section "works/a.txt" (did you mean "work/a.txt"?)`},
		{"a section without its path", prompt + "-- work --\n", `x.txtar:3: unknown section "work" (did you mean "work/PATH"?)`},
		{"a want section that is nearly one", prompt + "-- want/call --\n", `x.txtar:3: unknown section "want/call" (did you mean "want/calls"?)`},
		{"a want section with path that is nearly one", prompt + "-- want/file/b.txt --\n", `x.txtar:3: unknown section "want/file/b.txt" (did you mean "want/files/b.txt"?)`},
		{"a want section of later work", prompt + "-- want/judge --\n", `x.txtar:3: unknown section "want/judge"`},
		{"a section twice", prompt + prompt, `x.txtar:3: section "prompt" is there already (line 1)`},
		{"a section and its base64 form", prompt + "-- prompt64 --\nYQ==\n", `x.txtar:3: section "prompt" is there already (line 1)`},

		{"no path", prompt + "-- work/ --\n", `x.txtar:3: section "work/": the path is empty`},
		{"a name that no file system takes", prompt + "-- work/" + strings.Repeat("n", 256) + " --\n", `x.txtar:3: section "work/` + strings.Repeat("n", 256) + `": the path has a part of more than 255 bytes`},
		{"a path that no system takes, quoted in part", prompt + "-- work/" + strings.Repeat("d/", 400) + "f --\n",
			`x.txtar:3: section "work/` + strings.Repeat("d/", 143) + ` … ` + strings.Repeat("d/", 57) + `f": the path has more than 800 bytes`},
		{"a path that leaves its folder", prompt + "-- work/a/../../b --\n", `x.txtar:3: section "work/a/../../b": the path leaves its folder`},
		{"an absolute path", prompt + "-- work//etc/x --\n", `x.txtar:3: section "work//etc/x": the path is absolute; write it relative to its folder`},
		{"a path on a drive", prompt + "-- outside/C:/x --\n", `x.txtar:3: section "outside/C:/x": the path begins with a drive; write it relative to its folder`},
		{"a backslash", prompt + "-- link/a\\b --\nx\n", `x.txtar:3: section "link/a\\b": the path has a backslash; write / between folders`},
		{"an empty part", prompt + "-- fifo/a//b --\n", `x.txtar:3: section "fifo/a//b": the path has an empty part`},
		{"a slash at the end", prompt + "-- work/a/ --\n", `x.txtar:3: section "work/a/": the path has an empty part`},
		{"a dot", prompt + "-- want/files/./b --\n", `x.txtar:3: section "want/files/./b": the path has a part "."`},
		{"a control character", prompt + "-- work/a\tb --\n", `x.txtar:3: section "work/a\tb": the path has a control character`},
		{"one path twice", prompt + "-- work/a --\n-- work64/a --\n", `x.txtar:4: "workspace/a" is there already (line 3)`},
		{"one path in two letter cases", prompt + "-- work/a --\n-- link/A --\nx\n", `x.txtar:4: "A" and "a" (line 3) are one name where letter case does not count`},
		{"one folder in two letter cases", prompt + "-- work/d/a --\n-- work/D/b --\n", `x.txtar:4: "D" and "d" (line 3) are one name where letter case does not count`},
		{"a file below a link", prompt + "-- link/d --\n{{outside}}\n-- work/d/a --\n", `x.txtar:5: "d" is a folder and (line 3) a file`},
		{"a file where a folder is", prompt + "-- work/d/a --\n-- fifo/d --\n", `x.txtar:4: "d" is a file and (line 3) a folder`},
		{"wanted and absent", prompt + "-- want/files/a --\n-- want/absent --\na\n", `x.txtar:5: "wanted/a" is there already (line 3)`},

		{"no base64", prompt + "-- work64/a --\nYQ==\n!\n", `x.txtar:5: "!" is no base64`},
		{"base64 that is cut", prompt + "-- work64/a --\nYQ\n", `x.txtar:3: the section's base64 is not complete; encode the bytes again (base64 < FILE)`},
		{"a base64 text that is no UTF-8", "-- prompt64 --\n//79\n", `x.txtar:1: the decoded text is not UTF-8`},
		{"a link to nothing", prompt + "-- link/a --\n", `x.txtar:3: link "a" needs its target on the next line`},
		{"a link of two lines", prompt + "-- link/a --\nx\ny\n", `x.txtar:3: link "a" has more than one line; its target is one`},
		{"a fifo with something in it", prompt + "-- fifo/a --\nx\n", `x.txtar:3: fifo "a" holds nothing; leave the section empty`},

		{"no approval", prompt + "-- approvals --\n# none\n", `x.txtar:3: approvals: no line; write one answer a line, as in: root#1.1 allow`},
		{"an unknown approval", prompt + "-- approvals --\nroot#1.1 allwo\n", `x.txtar:4: approvals: unknown answer "allwo" (did you mean "allow"?)`},
		{"an approval without answer", prompt + "-- approvals --\nroot#1.1\n", `x.txtar:4: approvals: "root#1.1" has no answer; write allow, deny or always after the place`},
		{"an approval without call", prompt + "-- approvals --\nroot#1 allow\n", `x.txtar:4: approvals: "root#1" names no call; a question belongs to one, as in root#1.1`},
		{"an approval of no place", prompt + "-- approvals --\nroot#x.1 allow\n", `x.txtar:4: approvals: "root#x.1" is no place AGENT#TURN or AGENT#TURN.CALL, as in root#2 or root/2.1#1.3`},
		{"a reason to allow", prompt + "-- approvals --\nallow it\n", `x.txtar:4: approvals: "allow it": only deny takes a reason`},
		{"one question answered twice", prompt + "-- approvals --\nroot#1.1 allow\nroot#1.1 deny\n", `x.txtar:5: approvals: root#1.1 is answered already (line 4)`},

		{"no rule of volatile", prompt + "-- volatile --\nday\n", `x.txtar:4: volatile: unknown rule "day" (known: dates, uuids, ports, durations), or a regexp between slashes`},
		{"a broken regexp", prompt + "-- volatile --\n/(/\n", "x.txtar:4: volatile: error parsing regexp: missing closing ): `(`"},
		{"a rule of volatile twice", prompt + "-- volatile --\nports\nports\n", `x.txtar:5: volatile: "ports" is there twice`},

		{"no hook", prompt + "-- hooks --\n", `x.txtar:3: hooks: no line; write one hook a line, as in: PreToolUse * log`},
		{"an unknown event", prompt + "-- hooks --\nPreToolUs log\n", `x.txtar:4: hooks: unknown event "PreToolUs" (did you mean "PreToolUse"?)`},
		{"no tool and no action", prompt + "-- hooks --\nPreToolUse lgo\n", `x.txtar:4: hooks: unknown tool or action "lgo" (did you mean "log"?)`},
		{"no action", prompt + "-- hooks --\nPreToolUse shell\n", `x.txtar:4: hooks: "PreToolUse shell" has no action (known: log, block, fail, panic, timeout)`},
		{"an unknown action", prompt + "-- hooks --\nStop blok it\n", `x.txtar:4: hooks: unknown action "blok" (did you mean "block"?)`},
		{"a block without reason", prompt + "-- hooks --\nPreToolUse shell block\n", `x.txtar:4: hooks: "PreToolUse shell block" needs a reason after block`},
		{"a log with text", prompt + "-- hooks --\nStop log it\n", `x.txtar:4: hooks: "Stop log it": log takes no text`},

		{"a broken regexp as answer", prompt + "-- want/answer --\n/(/\n", "x.txtar:3: want/answer: error parsing regexp: missing closing ): `(`"},
		{"a broken regexp in an answer", prompt + "-- want/answer --\n{\"a\":[\"/(/\"]}\n", "x.txtar:3: want/answer: \"/(/\": error parsing regexp: missing closing ): `(`"},
		{"an unknown mode of calls", prompt + "-- want/calls --\nmode: sublist\n", `x.txtar:4: want/calls: unknown mode "sublist" (known: strict, unordered, subset, superset)`},
		{"a mode that comes late", prompt + "-- want/calls --\nroot task\nmode: strict\n", `x.txtar:5: want/calls: the mode goes on the first line`},
		{"a call of nobody", prompt + "-- want/calls --\ntask {}\n", `x.txtar:4: want/calls: agent path "task": must start with "root", as in root/2.1`},
		{"a call of nothing", prompt + "-- want/calls --\nroot\n", `x.txtar:4: want/calls: "root" names no tool; write AGENT TOOL [ARGUMENTS]`},
		{"arguments that are no JSON", prompt + "-- want/calls --\nroot task {a}\n", `x.txtar:4: want/calls: the arguments {a} are no JSON value, no _ and no /regexp/`},
		{"a broken regexp for arguments", prompt + "-- want/calls --\nroot task /(/\n", "x.txtar:4: want/calls: error parsing regexp: missing closing ): `(`"},
		{"a broken regexp in arguments", prompt + "-- want/calls --\nroot task {\"a\":\"/(/\"}\n", "x.txtar:4: want/calls: \"/(/\": error parsing regexp: missing closing ): `(`"},
		{"no budget", prompt + "-- want/budget --\n", `x.txtar:3: want/budget: no limit; write one a line, as in turns: 12`},
		{"an unknown limit", prompt + "-- want/budget --\nturn: 3\n", `x.txtar:4: want/budget: unknown limit "turn" (did you mean "turns"?)`},
		{"no limit", prompt + "-- want/budget --\nturns 3\n", `x.txtar:4: want/budget: "turns 3" is no limit, as in turns: 12`},
		{"a limit of nothing", prompt + "-- want/budget --\nturns: 0\n", `x.txtar:4: want/budget: turns: "0" is no whole number from 1`},
		{"a cost that is no sum", prompt + "-- want/budget --\ncost: $1\n", `x.txtar:4: want/budget: cost: "$1" is no plain decimal number, as in 0.25`},
		{"a cost of nothing", prompt + "-- want/budget --\ncost: 0.00\n", `x.txtar:4: want/budget: cost: 0 is no limit; write the most dollars that the session may cost, as in cost: 0.25`},
		{"a limit twice", prompt + "-- want/budget --\nturns: 1\nturns: 2\n", `x.txtar:5: want/budget: turns is there twice`},
		{"no command", prompt + "-- want/verify --\n\n", `x.txtar:3: want/verify needs a command on the next line`},
		{"an unknown finding", prompt + "-- want/findings --\nlimit/exceed\n", `x.txtar:4: want/findings: unknown finding "limit/exceed" (did you mean "limit/exceeded"?)`},
		{"a finding twice", prompt + "-- want/findings --\nlimit/exceeded\nlimit/exceeded\n", `x.txtar:5: want/findings: "limit/exceeded" is there twice`},
		{"an absent path elsewhere", prompt + "-- want/absent --\n../a\n", `x.txtar:4: want/absent "../a": the path leaves its folder`},
	} {
		t.Run(c.rule, func(t *testing.T) {
			_, err := Parse("x.txtar", []byte(c.text), nil)
			assert.Error(t, err, c.want)
			var syntax *transcripts.SyntaxError
			assert.Assert(t, errors.As(err, &syntax))
		})
	}
}

func TestAScenarioHasAPlainName(t *testing.T) {
	for _, file := range []string{"scenarios/Upper.txtar", "_x.txtar", ".txtar", "a b.txtar"} {
		_, err := Parse(file, []byte("-- prompt --\nHello\n"), nil)
		assert.ErrorContains(t, err, file+":1: scenario name ")
	}
}

func TestBadDefaultsAreRefusedWithTheirLine(t *testing.T) {
	for _, c := range []struct{ rule, text, want string }{
		{"a header of one scenario", "golden: one\n", `_defaults.txtar:1: header "golden" belongs to one scenario, not to the defaults of all`},
		{"an unknown header", "\nmodle: m\n", `_defaults.txtar:2: unknown header "modle" (did you mean "model"?)`},
		{"a section of one scenario", "-- prompt --\n", `_defaults.txtar:1: section "prompt": only volatile can stand in the defaults of all scenarios`},
		{"a bad rule", "-- volatile --\nday\n", `_defaults.txtar:2: volatile: unknown rule "day" (known: dates, uuids, ports, durations), or a regexp between slashes`},
		{"no UTF-8", "\xff", `_defaults.txtar:1: not UTF-8; a file of other bytes goes into a work64/PATH section, in base64`},
	} {
		t.Run(c.rule, func(t *testing.T) {
			_, err := ParseDefaults("_defaults.txtar", []byte(c.text))
			assert.Error(t, err, c.want)
		})
	}
}

func TestLinesThatOnlyResembleMarkersAreText(t *testing.T) {
	const body = "-----\n--- | ---\n-- a comment of SQL\n--flag\nx --\n—- prompt --\n"
	got, err := Parse("x.txtar", []byte("-- prompt --\nHello\n-- work/a --\n"+body), nil)
	assert.NilError(t, err)
	assert.Equal(t, string(got.Files[0].Data), body)
}

// withoutLines takes out where things stood, which Format does not keep.
func withoutLines(s *Scenario) *Scenario {
	for i := range s.Approvals {
		s.Approvals[i].Line = 0
	}
	for i := range s.Hooks {
		s.Hooks[i].Line = 0
	}
	if s.Want.Calls != nil {
		for i := range s.Want.Calls.Calls {
			s.Want.Calls.Calls[i].Line = 0
		}
	}
	return s
}

func TestFormatWritesWhatParseReads(t *testing.T) {
	for _, c := range []struct{ rule, text string }{
		{"everything", full},
		{"next to nothing", "-- prompt --\nHello"},
		{"a length of time in hours", "max-age: 12h\ntimeout: 1h5s\n-- prompt --\nHello\n"},
		{"texts that no section can hold", "-- prompt64 --\nLS0gYSAtLQ==\n-- system64 --\nYQ0=\n-- want/answer64 --\nYQ0KYg==\n"},
	} {
		t.Run(c.rule, func(t *testing.T) {
			want, err := Parse("full.txtar", []byte(c.text), nil)
			assert.NilError(t, err)
			written := Format(want)
			got, err := Parse("full.txtar", written, nil)
			assert.NilError(t, err)
			if diff := cmp.Diff(withoutLines(want), withoutLines(got)); diff != "" {
				t.Fatal(diff)
			}
			assert.Equal(t, string(Format(got)), string(written))
		})
	}
}

func TestFormatLeavesOutWhatNeedNotBeSaid(t *testing.T) {
	s := &Scenario{Name: "x", Profile: "p06", Transcript: "x", Golden: "x", Mode: runtime.ModeDefault, Model: "m", Prompt: "Hello",
		Files: []File{{"a", []byte("no newline")}, {"b", []byte("one\n")}}}
	assert.Equal(t, string(Format(s)), "model: m\n-- prompt --\nHello\n-- work64/a --\nbm8gbmV3bGluZQ==\n-- work/b --\none\n")
}

func TestEveryScenarioOfTheFolderSurvivesFormat(t *testing.T) {
	names, err := fs.Glob(os.DirFS("."), "*.txtar")
	assert.NilError(t, err)
	for _, name := range names {
		data, err := os.ReadFile(name)
		assert.NilError(t, err)
		if name == "_defaults.txtar" {
			_, err := ParseDefaults(name, data)
			assert.NilError(t, err)
			continue
		}
		want, err := Parse(name, data, nil)
		assert.NilError(t, err)
		got, err := Parse(name, Format(want), nil)
		assert.NilError(t, err)
		if diff := cmp.Diff(withoutLines(want), withoutLines(got)); diff != "" {
			t.Fatal(name, diff)
		}
	}
}

func FuzzParse(f *testing.F) {
	f.Add([]byte(full))
	f.Add([]byte("-- prompt --\r\nHello\r\n-- work64/a --\r\nYQ==\r"))
	f.Add([]byte("tools: live\nmax-age: 5h3m\n-- prompt64 --\nYQ0=\n-- approvals --\ndeny  a  #b \n"))
	f.Add([]byte("-- prompt --\nx\n-- want/calls --\n-- want/answer --\n[\"/a/\", 1e3]\n"))
	f.Add([]byte("\xef\xbb\xbf-- prompt --\n\n\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		s, err := Parse("fuzz.txtar", data, nil)
		if err != nil {
			var syntax *transcripts.SyntaxError
			if !errors.As(err, &syntax) || syntax.Line < 1 {
				t.Fatalf("an error without its line: %v", err)
			}
			return
		}
		written := Format(s)
		again, err := Parse("fuzz.txtar", written, nil)
		if err != nil {
			t.Fatalf("what was written cannot be read: %v\n%s", err, written)
		}
		if diff := cmp.Diff(withoutLines(s), withoutLines(again)); diff != "" {
			t.Fatalf("%s\n%s", diff, written)
		}
	})
}
