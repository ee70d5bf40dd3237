package profiles

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"gotest.tools/v3/assert"

	"github.com/tapetree/tapetree/runtime"
	"github.com/tapetree/tapetree/runtime/tools"
)

func runMini(t *testing.T, o Options) (*runtime.Runner, *runtime.Run) {
	t.Helper()
	r, err := Build(Mini, o)
	assert.NilError(t, err)
	got, err := r.Run(t.Context(), "go")
	assert.NilError(t, err)
	return r, got
}

func results(run *runtime.Run) []string {
	var texts []string
	for _, turn := range run.Turns {
		for _, c := range turn.Calls {
			texts = append(texts, string(c.Verdict)+": "+c.Result)
		}
	}
	return texts
}

// briefs is one answer with a task call for each title.
func briefs(titles ...string) string {
	var calls []string
	for i, title := range titles {
		calls = append(calls, `{"id":"t`+string(rune('1'+i))+`","type":"function","function":{"name":"task","arguments":{"description":"`+title+`","prompt":"Look at `+title+`."}}}`)
	}
	return `{"role":"assistant","content":null,"tool_calls":[` + strings.Join(calls, ",") + `]}`
}

// TestMini runs a parent and two children at once: five tools and three, two
// messages to begin with, a read record of each agent's own.
func TestMini(t *testing.T) {
	s := &script{answers: map[runtime.Path][]string{
		"root": {
			briefs("one", "two"),
			call("b", "edit_file", `{"path":"a.txt","old_string":"old","new_string":"new"}`),
			call("c", "read_file", `{"path":"a.txt"}`),
			call("d", "edit_file", `{"path":"a.txt","old_string":"old","new_string":"new"}`),
			done,
		},
		"root/1.1": {call("a", "read_file", `{"path":"a.txt"}`), done},
		"root/1.2": {call("a", "edit_file", `{"path":"a.txt","old_string":"old","new_string":"bad"}`), call("b", "list_files", `{}`), done},
	}}
	o := options(t, s)
	file := filepath.Join(o.Workspace.Dir(), "a.txt")
	assert.NilError(t, os.WriteFile(file, []byte("old\n"), 0o600))
	o.Mode = runtime.ModeYolo
	r, got := runMini(t, o)

	assert.Equal(t, got.Stop, runtime.StopAnswer)
	assert.DeepEqual(t, r.Tools.Names(), Mini.Tools)
	assert.Equal(t, string(s.requests["root"][0].Tools), string(r.Tools.Definitions()))
	var child runtime.Registry
	list, err := tools.Mini(o.Workspace)
	assert.NilError(t, err)
	for _, tool := range list {
		if slices.Contains(Mini.ChildTools, tool.Name) {
			assert.NilError(t, child.Register(tool))
		}
	}
	assert.DeepEqual(t, child.Names(), Mini.ChildTools)
	assert.Equal(t, string(s.requests["root/1.1"][0].Tools), string(child.Definitions()))

	const block = "\n\n<environment>\nWorkspace: /w\nOperating system: linux\nDate: 2026-01-02\n</environment>"
	first := s.requests["root/1.2"][0].Messages.Messages()
	assert.Equal(t, len(first), 2)
	assert.Equal(t, first[0].Content, Mini.ChildPrompt+block)
	assert.Equal(t, first[1].Content, "Look at two.")
	assert.Equal(t, s.requests["root"][0].Messages.Messages()[0].Content, Mini.Prompt+block)

	assert.Equal(t, results(got)[0], "allow: done\n\n(subagent \"one\": 4 messages, 0 input tokens, 0 output tokens)")
	assert.Equal(t, results(got.Children()[1])[0], "unknown: Error [unknown_tool]: Unknown tool: edit_file")
	assert.Assert(t, strings.HasPrefix(results(got)[2], "allow: Error [tool_error]: "), "a child's reading is not the parent's: %s", results(got)[2])
	assert.Assert(t, !strings.Contains(results(got)[4], "Error ["), results(got)[4])
	data, err := os.ReadFile(file)
	assert.NilError(t, err)
	assert.Equal(t, string(data), "new\n")
}

// TestMiniRules: reads and task go, an edit and a command ask, listed commands
// do not.
func TestMiniRules(t *testing.T) {
	s := &script{answers: map[runtime.Path][]string{"root": {
		call("a", "list_files", `{}`), call("b", "run_bash", `{"command":"ls"}`), call("c", "run_bash", `{"command":"rm -r x"}`),
		call("d", "edit_file", `{"path":"x","old_string":"a","new_string":"b"}`), call("e", "read_file", `{"path":"../x"}`), done,
	}}}
	_, got := runMini(t, options(t, s))
	var verdicts []runtime.Verdict
	for _, turn := range got.Turns[:5] {
		verdicts = append(verdicts, turn.Calls[0].Verdict)
	}
	assert.DeepEqual(t, verdicts, []runtime.Verdict{
		runtime.VerdictAllow, runtime.VerdictAllow, runtime.VerdictDeny, runtime.VerdictDeny, runtime.VerdictDeny,
	})
	assert.Equal(t, got.Turns[2].Calls[0].Result, "Error [permission_denied]: Denied: nobody is there to ask")
	assert.Equal(t, got.Turns[4].Calls[0].Result, "Error [permission_denied]: Reading outside the workspace is forbidden")
}

// TestMiniSettings: what a session brings reaches parent and children: the sub
// model and its name, the output limit, the budget, the child's mode, how many
// children at once, and the workspace in the environment block.
func TestMiniSettings(t *testing.T) {
	s := &script{answers: map[runtime.Path][]string{"root": {briefs("one"), done}}}
	small := &script{answers: map[runtime.Path][]string{"root/1.1": {
		call("a", "run_bash", `{"command":"rm -r x"}`), call("b", "list_files", `{}`), call("c", "list_files", `{}`), done,
	}, "root/1.1~compact.1": {done}}}
	o := options(t, s)
	o.Env.Workspace = ""
	o.SubModel, o.SubLive = "small", small
	o.Mode, o.ChildMode = runtime.ModeYolo, runtime.ModeReadOnly
	o.Params = []runtime.Param{{Name: "temperature", Value: []byte("0")}}
	o.OutputTokens, o.ContextBudget, o.ChildJobs = 77, 500, 2
	o.Fold = runtime.NewFolder([]string{o.Workspace.Dir()}, nil, nil)
	short := "short"
	o.ChildSystem = &short
	r, got := runMini(t, o)

	params := []runtime.Param{{Name: "temperature", Value: []byte("0")}, {Name: "max_tokens", Value: []byte("77")}}
	assert.DeepEqual(t, s.requests["root"][0].Params, params)
	child := small.requests["root/1.1"][0]
	assert.DeepEqual(t, child.Params, params)
	assert.Equal(t, child.Model, "small")
	assert.Equal(t, s.requests["root"][0].Model, "m")
	assert.Assert(t, strings.Contains(r.System, "\nWorkspace: "+o.Workspace.Dir()+"\n"))
	assert.Equal(t, r.Budget, runtime.Budget{Tokens: 500, Fold: o.Fold})
	assert.Equal(t, r.ChildJobs, 2)
	assert.Equal(t, got.Children()[0].Model, "small")
	assert.Equal(t, len(o.Params), 1)
}

// TestMiniCommandOfAChild: under a stricter mode for children a child cannot
// write through the shell, its parent can.
func TestMiniCommandOfAChild(t *testing.T) {
	const write = `{"command":"echo x > made.txt"}`
	s := &script{answers: map[runtime.Path][]string{
		"root":     {briefs("one"), call("a", "run_bash", write), done},
		"root/1.1": {call("a", "run_bash", write), done},
	}}
	o := options(t, s)
	o.Mode, o.ChildMode = runtime.ModeYolo, runtime.ModeReadOnly
	_, got := runMini(t, o)
	assert.Equal(t, got.Children()[0].Turns[0].Calls[0].Verdict, runtime.VerdictDeny)
	assert.Equal(t, got.Turns[1].Calls[0].Verdict, runtime.VerdictAllow)
}

// TestMiniReadsRunTogether: reads and children of one turn are under way at
// once, a turn with a command is not.
func TestMiniReadsRunTogether(t *testing.T) {
	s := &script{answers: map[runtime.Path][]string{
		"root":     {briefs("one", "two"), done},
		"root/1.1": {done}, "root/1.2": {done},
	}}
	o := options(t, s)
	var both sync.WaitGroup
	both.Add(2)
	o.Observe = func(e runtime.Event) {
		if e.Kind == runtime.EventRunStart && e.Agent != runtime.Root {
			both.Done()
			both.Wait() // one after another would never get on
		}
	}
	_, got := runMini(t, o)
	assert.Equal(t, len(got.Children()), 2)
	assert.DeepEqual(t, Mini.Parallel, []string{"read_file", "list_files", runtime.TaskToolName})
	assert.Equal(t, len(P06.Parallel), 0)
}

// TestMiniLimits: 50 and 30; fewer can be set, more cannot.
func TestMiniLimits(t *testing.T) {
	r, err := Build(Mini, options(t, &script{}))
	assert.NilError(t, err)
	assert.Equal(t, r.MaxTurns, 50)
	s := &script{answers: map[runtime.Path][]string{
		"root":     {briefs("one"), done},
		"root/1.1": slices.Repeat([]string{call("a", "list_files", `{}`)}, 31),
	}}
	_, got := runMini(t, options(t, s))
	assert.Equal(t, len(got.Children()[0].Turns), 30)
	assert.Equal(t, results(got)[0], "allow: Error [subagent_incomplete]: Subagent did not finish: turn_limit\n\n(subagent \"one\": 61 messages, 0 input tokens, 0 output tokens)")
	for want, edit := range map[string]func(*Options){
		"build profile mini: maxTurns must be at most 50":                                      func(o *Options) { o.MaxTurns = 51 },
		"maxTurns must be at most 30":                                                          func(o *Options) { o.ChildMaxTurns = 31 },
		"build profile mini: childJobs must not be negative":                                   func(o *Options) { o.ChildJobs = -1 },
		"build profile mini: contextBudget must not be negative":                               func(o *Options) { o.ContextBudget = -1 },
		"build profile mini: outputTokens must not be negative":                                func(o *Options) { o.OutputTokens = -1 },
		`build profile mini: unknown mode "lax": use default, accept-edits, yolo or read-only`: func(o *Options) { o.ChildMode = "lax" },
	} {
		o := options(t, &script{})
		edit(&o)
		_, err := Build(Mini, o)
		assert.Error(t, err, want)
	}
}

// TestMiniTexts: what a model must be told stands in the texts for it.
func TestMiniTexts(t *testing.T) {
	r, err := Build(Mini, options(t, &script{}))
	assert.NilError(t, err)
	words := func(text string) string { return strings.Join(strings.Fields(text), " ") }
	for _, text := range []string{words(Mini.Prompt), words(string(r.Tools.Definitions()))} {
		for _, say := range []string{"sees nothing of this conversation", "not delegate", "alone", "file:line", "uncertain", "at most 300 words", "long code"} {
			assert.Check(t, strings.Contains(strings.ReplaceAll(text, `\n`, " "), say), say)
		}
	}
	child := words(Mini.ChildPrompt)
	for _, say := range []string{"see nothing of its conversation", "stands alone", "file:line", "uncertain", "most 300 words", "No long code"} {
		assert.Check(t, strings.Contains(child, say), say)
	}
}

// TestMiniCommandThroughALinkAsks: a listed command is judged in its workspace,
// where a link leads out and a file stays in.
func TestMiniCommandThroughALinkAsks(t *testing.T) {
	s := &script{answers: map[runtime.Path][]string{"root": {
		call("a", "run_bash", `{"command":"cat door"}`), call("b", "run_bash", `{"command":"cat inside"}`), done,
	}}}
	o := options(t, s)
	outside := filepath.Join(t.TempDir(), "secret")
	assert.NilError(t, os.WriteFile(outside, []byte("secret"), 0o600))
	if err := os.Symlink(outside, filepath.Join(o.Workspace.Dir(), "door")); err != nil {
		t.Skip("this system makes no links: ", err)
	}
	assert.NilError(t, os.WriteFile(filepath.Join(o.Workspace.Dir(), "inside"), []byte("inside"), 0o600))
	_, got := runMini(t, o)
	assert.DeepEqual(t, results(got), []string{
		"deny: Error [permission_denied]: Denied: nobody is there to ask",
		"allow: inside\n[exit code 0]",
	})
}
