package runtime

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"gotest.tools/v3/assert"
)

// family is a root with a task tool whose children have an echo tool.
type family struct {
	*script
	root    *Runner
	options TaskOptions
	models  int
	tools   int
}

// newFamily builds one; edit may change the task's options.
func newFamily(t testing.TB, edit func(*TaskOptions)) *family {
	f := &family{script: newScript(t)}
	hooks, policy := new(Hooks), &Permissions{Rules: map[string]Rule{"echo": RuleAllow, TaskToolName: RuleAllow}}
	f.options = TaskOptions{
		ModelFactory: func() (Model, error) { f.count(&f.models); return f.script, nil },
		ToolsFactory: func() (*Registry, error) { f.count(&f.tools); return NewRegistry(echoTool(t, "echo")) },
		SystemPrompt: "system of children",
		MaxTurns:     30,
		Hooks:        hooks,
		Policy:       policy,
	}
	if edit != nil {
		edit(&f.options)
	}
	task, err := NewTask(f.options)
	assert.NilError(t, err)
	f.root = runnerOf(f.script, task)
	f.root.Hooks, f.root.Policy, f.root.Identity = hooks, policy, "alice"
	return f
}

// count counts a call of a factory; children of one turn may be made at once.
func (f *family) count(n *int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	*n++
}

func (f *family) run(ctx context.Context) *Run {
	f.t.Helper()
	run, err := f.root.Run(ctx, "go")
	assert.NilError(f.t, err)
	return run
}

// TestTaskSchema: exactly one string that is not blank.
func TestTaskSchema(t *testing.T) {
	schema, err := encodeSchema(newTaskOf(t).Schema)
	assert.NilError(t, err)
	assert.Equal(t, string(schema), `{"type":"object","properties":{"description":{"type":"string","minLength":1,"pattern":"\\S"}},`+
		`"required":["description"],"additionalProperties":false}`)
}

func newTaskOf(t testing.TB) Tool {
	tool, _ := newFamily(t, nil).root.Tools.lookup(TaskToolName)
	return tool
}

// TestTaskArguments: what is refused before anything is made.
func TestTaskArguments(t *testing.T) {
	for text, want := range map[string]string{
		`{}`:                               "description: is required",
		``:                                 "description: is required",
		`{"description":""}`:               "description: must not be empty",
		`{"description":" \n"}`:            "description: must not be blank",
		"{\"description\":\"\u3000\"}":     "description: must not be blank",
		`{"description":7}`:                "description: must be a string",
		`{"description":null}`:             "description: must be a string",
		`{"description":"x","prompt":"y"}`: "prompt: is not a field of this tool",
		`{"desc":"x"}`:                     "desc: is not a field of this tool; description: is required",
		`look around`:                      "arguments: must be valid JSON",
		`["x"]`:                            "arguments: must be a JSON object, not an array",
	} {
		f := newFamily(t, nil)
		f.on(Root, calling("a task "+text), saying("done"))
		run := f.run(t.Context())
		assert.DeepEqual(t, outcomes(run), []string{"1.1 a task invalid: Error [invalid_arguments]: " + want})
		assert.Equal(t, f.models+f.tools, 0)
	}
}

// TestTaskBuildErrors: what cannot work is refused when it is put together.
func TestTaskBuildErrors(t *testing.T) {
	for _, tt := range []struct {
		edit func(*TaskOptions)
		want string
	}{
		{func(o *TaskOptions) { o.MaxTurns = 0 }, "maxTurns must be a positive integer"},
		{func(o *TaskOptions) { o.MaxTurns = -1 }, "maxTurns must be a positive integer"},
		{func(o *TaskOptions) { o.MaxTurns = 31 }, "maxTurns must be at most 30"},
		{func(o *TaskOptions) { o.Hooks = nil }, "subagent capability requires hooks and permission policy"},
		{func(o *TaskOptions) { o.Policy = nil }, "subagent capability requires hooks and permission policy"},
		{func(o *TaskOptions) { o.ModelFactory = nil }, "subagent capability requires a model factory and a tools factory"},
		{func(o *TaskOptions) { o.ToolsFactory = nil }, "subagent capability requires a model factory and a tools factory"},
	} {
		options := newFamily(t, nil).options
		tt.edit(&options)
		_, err := NewTask(options)
		assert.Error(t, err, tt.want)
	}
}

// TestIsolation: the child begins with system and description alone; the parent
// gains the call and its result alone; the factories run once per task.
func TestIsolation(t *testing.T) {
	f := newFamily(t, nil)
	f.on(Root, calling(`a task {"description":" look here "}`, `b task {"description":"look there"}`), saying("<private root>"))
	f.on("root/1.1", step{answer: answering("tool_calls", "<private root/1.1>", `a echo {"text":"x"}`)}, saying("found it"))
	f.on("root/1.2", saying("nothing"))
	run := f.run(t.Context())

	var texts []string
	for _, m := range run.History.Messages() {
		texts = append(texts, fmt.Sprintf("%s %s", m.Role, m.Content))
	}
	assert.DeepEqual(t, texts, []string{
		"system system of root", "user go", "assistant ", "tool found it", "tool nothing", "assistant <private root>",
	})
	first := f.requestsOf("root/1.1")[0]
	texts = nil
	for _, m := range first.Messages.Messages() {
		texts = append(texts, fmt.Sprintf("%s %s", m.Role, m.Content))
	}
	assert.DeepEqual(t, texts, []string{"system system of children", "user look here"})

	child := run.Children()[0]
	assert.Equal(t, child.Agent, Path("root/1.1"))
	assert.Equal(t, child.Label, "look here")
	assert.Equal(t, child.Prompt, "look here")
	assert.Equal(t, child.Final, "found it")
	assert.Equal(t, run.Children()[1].Agent, Path("root/1.2"))
	assert.Equal(t, f.models, 2)
	assert.Equal(t, f.tools, 2)
}

// TestSharing: hooks, policy and identity are the parent's own; the events tell
// parent from child.
func TestSharing(t *testing.T) {
	f := newFamily(t, nil)
	f.on(Root, calling(`a task {"description":"look"}`), saying("done"))
	f.on("root/1.1", calling(`a echo {}`), saying("found"))
	var seen []string
	for _, kind := range []HookKind{HookUserPromptSubmit, HookPreToolUse, HookPostToolUse, HookStop} {
		f.root.Hooks.On(kind, func(_ context.Context, e HookEvent) (HookDecision, error) {
			seen = append(seen, fmt.Sprintf("%s %s %d [%s] %s %s", e.Kind, e.Agent, e.Depth, e.Label, e.Identity, e.Tool))
			return HookDecision{}, nil
		})
	}
	f.run(t.Context())
	assert.DeepEqual(t, seen, []string{
		"UserPromptSubmit root 0 [root] alice ",
		"PreToolUse root 0 [root] alice task",
		"UserPromptSubmit root/1.1 1 [look] alice ",
		"PreToolUse root/1.1 1 [look] alice echo",
		"PostToolUse root/1.1 1 [look] alice echo",
		"Stop root/1.1 1 [look] alice ",
		"PostToolUse root 0 [root] alice task",
		"Stop root 0 [root] alice ",
	})
}

// TestPolicyBindsChildren is case 4.09: what is denied to the parent is denied
// in each child, and case 4.02: it hurts that call alone.
func TestPolicyBindsChildren(t *testing.T) {
	f := newFamily(t, nil)
	f.options.Policy.(*Permissions).Rules["echo"] = RuleDeny
	f.on(Root, calling(`a task {"description":"x"}`, `b task {"description":"y"}`, `c echo {}`), saying("done"))
	f.on("root/1.1", calling(`a echo {}`), saying("A went on"))
	f.on("root/1.2", calling(`a echo {}`), saying("B went on"))
	run := f.run(t.Context())
	const refused = " deny: Error [permission_denied]: Denied: this tool is switched off"
	assert.DeepEqual(t, outcomes(run), []string{"1.1 a task allow: A went on", "1.2 b task allow: B went on", "1.3 c echo" + refused})
	for _, child := range run.Children() {
		assert.DeepEqual(t, outcomes(child), []string{"1.1 a echo" + refused})
	}
}

// TestConfiguration: a wrong registry is found before the model factory is
// called, a factory that fails says nothing of its inside.
func TestConfiguration(t *testing.T) {
	const failed = "1.1 a task allow: Error [subagent_execution_error]: Subagent execution failed"
	for _, tt := range []struct {
		name   string
		edit   func(*TaskOptions)
		want   string
		models int
	}{
		{"no registry", func(o *TaskOptions) { o.ToolsFactory = func() (*Registry, error) { return nil, nil } },
			"1.1 a task allow: Error [subagent_configuration_error]: Subagent tools factory must return ToolRegistry", 0},
		{"registry with task", func(o *TaskOptions) {
			o.ToolsFactory = func() (*Registry, error) {
				return NewRegistry(Tool{Name: TaskToolName, Schema: newTaskOf(t).Schema, Handle: func(context.Context, Invocation) (string, error) { return "", nil }})
			}
		}, "1.1 a task allow: Error [subagent_configuration_error]: Subagent tools must not include task", 0},
		{"tools factory fails", func(o *TaskOptions) {
			o.ToolsFactory = func() (*Registry, error) { return nil, errors.New("key sk-1") }
		}, failed, 0},
		{"tools factory panics", func(o *TaskOptions) { o.ToolsFactory = func() (*Registry, error) { panic("key sk-1") } }, failed, 0},
		{"model factory fails", func(o *TaskOptions) { o.ModelFactory = func() (Model, error) { return nil, errors.New("key sk-1") } }, failed, 0},
		{"no model", func(o *TaskOptions) { o.ModelFactory = func() (Model, error) { return nil, nil } }, failed, 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			f := newFamily(t, tt.edit)
			f.on(Root, calling(`a task {"description":"x"}`), saying("done"))
			run := f.run(t.Context())
			assert.DeepEqual(t, outcomes(run), []string{tt.want})
			assert.Equal(t, f.models, tt.models)
			assert.Equal(t, len(run.Children()), 0)
			assert.Equal(t, len(f.requests), 1, "only the root asked")
		})
	}
}

// TestChildEnds: each way a child can end, and what its parent is told. The
// limit is case 4.06: never the last tool output, never a success.
func TestChildEnds(t *testing.T) {
	refusal := answering("stop", "")
	refusal.Refusal = "no"
	const failed = "Error [subagent_execution_error]: Subagent execution failed"
	for _, tt := range []struct {
		name  string
		steps []step
		stop  StopReason
		want  string
	}{
		{"answer", []step{saying(" as it stands\n")}, StopAnswer, " as it stands\n"},
		{"limit", []step{calling(`a echo {"text":"last"}`), calling(`b echo {"text":"last"}`)}, StopTurnLimit,
			"Error [subagent_turn_limit]: Subagent exceeded max_turns=2 without a final answer"},
		{"truncated", []step{{answer: answering("length", "half")}}, StopTruncated, failed},
		{"refused", []step{{answer: refusal}}, StopRefused, failed},
		{"empty", []step{saying("")}, StopEmpty, failed},
		{"upstream", []step{failing(401, "status", false)}, StopUpstreamError, failed},
	} {
		t.Run(tt.name, func(t *testing.T) {
			f := newFamily(t, func(o *TaskOptions) { o.MaxTurns = 2 })
			f.on(Root, calling(`a task {"description":"x"}`), saying("done"))
			f.on("root/1.1", tt.steps...)
			run := f.run(t.Context())
			assert.DeepEqual(t, outcomes(run), []string{"1.1 a task allow: " + tt.want})
			assert.Equal(t, run.Children()[0].Stop, tt.stop)
			assert.Equal(t, run.Stop, StopAnswer)
			assert.Equal(t, len(f.requestsOf("root/1.1")), len(tt.steps))
		})
	}
	t.Run("blocked prompt", func(t *testing.T) {
		f := newFamily(t, nil)
		f.on(Root, calling(`a task {"description":"x"}`), saying("done"))
		f.root.Hooks.On(HookUserPromptSubmit, func(_ context.Context, e HookEvent) (HookDecision, error) {
			return HookDecision{Block: e.Depth > 0, Reason: "no children"}, nil
		})
		run := f.run(t.Context())
		assert.DeepEqual(t, outcomes(run), []string{"1.1 a task allow: " + failed})
		assert.Equal(t, len(f.requestsOf("root/1.1")), 0)
	})
}

// TestNoGrandchild: a child that calls task is told it does not exist, and goes
// on.
func TestNoGrandchild(t *testing.T) {
	f := newFamily(t, nil)
	f.on(Root, calling(`a task {"description":"x"}`), saying("done"))
	f.on("root/1.1", calling(`a task {"description":"deeper"}`), saying("did it myself"))
	run := f.run(t.Context())
	assert.DeepEqual(t, outcomes(run.Children()[0]), []string{"1.1 a task unknown: Error [unknown_tool]: Unknown tool: task"})
	assert.DeepEqual(t, outcomes(run), []string{"1.1 a task allow: did it myself"})
	assert.Equal(t, f.models, 1)
}

// TestFaultPassesThroughTask: an error of ours in a child ends the whole
// session and is not taken for the child's failure; all calls have results.
func TestFaultPassesThroughTask(t *testing.T) {
	for name, ours := range map[string]error{"plain": errors.New("disk full"), "that looks like a context's": fmt.Errorf("disk full: %w", context.Canceled)} {
		t.Run(name, func(t *testing.T) {
			f := newFamily(t, nil)
			f.on(Root, calling(`a task {"description":"x"}`, `b echo {}`))
			f.on("root/1.1", step{err: ours})
			run, err := f.root.Run(t.Context(), "go")
			assert.Error(t, err, "ask model for root/1.1 turn 1: "+ours.Error())
			assert.ErrorIs(t, err, ours)
			assert.Equal(t, run.Stop, StopReason(""))
			assert.DeepEqual(t, outcomes(run), []string{"1.1 a task interrupted: " + interrupted, "1.2 b echo interrupted: " + interrupted})
			assert.Equal(t, len(run.Children()), 1)
			assert.Equal(t, pairedText(run.History.Messages()), "")
		})
	}
}

// TestCancelledChild: the child's open calls and the parent's task call are
// interrupted, both histories paired.
func TestCancelledChild(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	f := newFamily(t, nil)
	f.on(Root, calling(`a task {"description":"x"}`, `b echo {}`))
	f.on("root/1.1", calling(`a echo {"text":"1"}`, `b echo {"text":"2"}`))
	f.root.Observe = func(e Event) {
		if e.Kind == EventCallStart && e.Agent == "root/1.1" && e.Call.Number == 2 {
			cancel()
		}
	}
	run := f.run(ctx)
	child := run.Children()[0]
	assert.Equal(t, run.Stop, StopCancelled)
	assert.Equal(t, child.Stop, StopCancelled)
	assert.DeepEqual(t, outcomes(run), []string{"1.1 a task interrupted: " + interrupted, "1.2 b echo interrupted: " + interrupted})
	assert.DeepEqual(t, outcomes(child), []string{"1.1 a echo allow: echo 1", "1.2 b echo interrupted: " + interrupted})
	assert.Equal(t, pairedText(run.History.Messages())+pairedText(child.History.Messages()), "")
}

// TestTreeUsage is case 4.07: a child counts once, also one that failed or was
// cancelled.
func TestTreeUsage(t *testing.T) {
	spend := func(s step, tokens int) step { s.answer.Usage = Usage{Input: tokens, Output: 1}; return s }
	ctx, cancel := context.WithCancel(t.Context())
	f := newFamily(t, nil)
	f.on(Root, spend(calling(`a task {"description":"ok"}`, `b task {"description":"fails"}`, `c task {"description":"cancelled"}`), 10))
	f.on("root/1.1", spend(saying("fine"), 5))
	f.on("root/1.2", spend(saying(""), 7))
	f.on("root/1.3", func() step { s := spend(saying("late"), 3); s.act = cancel; return s }())
	run := f.run(ctx)
	assert.Equal(t, run.Usage, Usage{Input: 10, Output: 1})
	assert.Equal(t, run.Tree, Usage{Input: 25, Output: 4})
	assert.Equal(t, run.Children()[1].Tree, Usage{Input: 7, Output: 1})
}

// TestChildInherits: what the task does not name is the parent's.
func TestChildInherits(t *testing.T) {
	f := newFamily(t, nil)
	f.root.ModelName, f.root.Stream, f.root.Params = "m2", true, []Param{{"temperature", []byte("0")}}
	f.on(Root, calling(`a task {"description":"x"}`), saying("done"))
	f.on("root/1.1", calling(`a echo {}`), saying("found"))
	var taped []Path
	f.root.Tape = tapeFunc(func(place Place, call CallRecord) (Verdict, string, bool, error) {
		taped = append(taped, place.Agent)
		return VerdictAllow, "from tape", true, nil
	})
	run := f.run(t.Context())
	child := f.requestsOf("root/1.1")[0]
	assert.Equal(t, child.Model, "m2")
	assert.Equal(t, child.Stream, true)
	assert.DeepEqual(t, child.Params, f.root.Params)
	assert.DeepEqual(t, taped, []Path{"root/1.1"})
	assert.DeepEqual(t, outcomes(run.Children()[0]), []string{"1.1 a echo allow: from tape"})
}

// TestReportUnknownStop: a stop reason that is not known is a fault of ours.
func TestReportUnknownStop(t *testing.T) {
	_, err := new(TaskOptions).plainReport(&Run{Agent: "root/1.1", Stop: "bored"})
	assert.Error(t, err, `report run of root/1.1: unknown stop reason "bored"`)
}
