package runtime

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"gotest.tools/v3/assert"
)

// TestBriefSchema: two texts that are not blank, and nothing else.
func TestBriefSchema(t *testing.T) {
	tool, _ := newTeam(t, nil).root.Tools.lookup(TaskToolName)
	assert.Equal(t, tool.Description, strings.TrimSpace(taskBriefDescription))
	for _, property := range tool.Schema.Properties {
		property.Description = ""
	}
	schema, err := encodeSchema(tool.Schema)
	assert.NilError(t, err)
	const text = `{"type":"string","minLength":1,"pattern":"\\S"}`
	assert.Equal(t, string(schema), `{"type":"object","properties":{"description":`+text+`,"prompt":`+text+`},`+
		`"required":["description","prompt"],"additionalProperties":false}`)
}

// TestBriefArguments: what is refused before anything is made.
func TestBriefArguments(t *testing.T) {
	for text, want := range map[string]string{
		`{}`:                              "description: is required; prompt: is required",
		`{"description":"x"}`:             "prompt: is required",
		`{"prompt":"x"}`:                  "description: is required",
		`{"description":"","prompt":" "}`: "description: must not be empty; prompt: must not be blank",
		"{\"description\":\"\u3000\",\"prompt\":7}":    "description: must not be blank; prompt: must be a string",
		`{"description":"x","prompt":"y","agent":"z"}`: "agent: is not a field of this tool",
	} {
		f := newTeam(t, nil)
		f.on(Root, calling("a task "+text), saying("done"))
		assert.DeepEqual(t, outcomes(f.run(t.Context())), []string{"1.1 a task invalid: Error [invalid_arguments]: " + want})
		assert.Equal(t, f.models+f.tools, 0)
	}
}

// TestBriefChild: the title is the child's label, whatever its length; its first
// request is two messages; the report comes trimmed, with its statistics.
func TestBriefChild(t *testing.T) {
	for _, title := range []string{"调", "a \"quoted\" title", strings.Repeat("long ", 50) + "title"} {
		f := newTeam(t, nil)
		f.root.ModelName = "large"
		arguments := fmt.Sprintf(`{"description":%s,"prompt":"  read it\n"}`, quote("\n "+title+"\t"))
		f.on(Root, calling("a task "+arguments), saying("done"))
		f.on("root/1.1", calling(`a echo {}`), saying("\n the report \n\n"))
		run := f.run(t.Context())
		child := run.Children()[0]
		assert.Equal(t, child.Label, title)
		assert.Equal(t, child.Prompt, "read it")
		assert.Equal(t, child.Model, "large")
		assert.Equal(t, child.Final, "\n the report \n\n")
		assert.DeepEqual(t, shape(f.requestsOf("root/1.1")[0].Messages), []string{"system system of children", "user read it"})
		assert.DeepEqual(t, outcomes(run), []string{
			"1.1 a task allow: the report\n\n(subagent \"" + title + "\": 4 messages, 20 input tokens, 2 output tokens)",
		})
	}
	assert.Equal(t, statistics(&Run{Label: "two\nlines"}), `(subagent "two lines": 0 messages, 0 input tokens, 0 output tokens)`)
}

// TestSubModel: children are asked of another model by another name; the parent
// keeps its own.
func TestSubModel(t *testing.T) {
	small := newScript(t).on("root/1.1", saying("report"))
	f := newTeam(t, func(o *TaskOptions) {
		o.ModelName = "small"
		o.ModelFactory = func() (Model, error) { return small, nil }
	})
	f.root.ModelName = "large"
	f.on(Root, calling(brief("a", "one")), saying("done"))
	run := f.run(t.Context())
	assert.Equal(t, run.Model, "large")
	assert.Equal(t, run.Children()[0].Model, "small")
	assert.Equal(t, small.requestsOf("root/1.1")[0].Model, "small")
	assert.Equal(t, f.requestsOf(Root)[1].Model, "large")
}

// TestBriefIncomplete is case 4.06: a child without an answer gives back why and
// what it had written, never a tool's output, never the upstream's words.
func TestBriefIncomplete(t *testing.T) {
	found := step{answer: answering("tool_calls", "found X", `a echo {"text":"output"}`)}
	for _, tt := range []struct {
		name  string
		steps []step
		want  string
		last  string
	}{
		{"turn limit", []step{found, calling(`b echo {}`), calling(`c echo {}`)}, "turn_limit\n\nfound X", "7 messages, 30 input tokens, 3 output tokens"},
		{"turn limit and nothing written", []step{calling(`a echo {}`), calling(`b echo {}`), calling(`c echo {}`)}, "turn_limit", "7 messages, 30 input tokens, 3 output tokens"},
		{"cut off", []step{found, {answer: answering("length", " the answer is")}}, "truncated\n\nthe answer is", "4 messages, 20 input tokens, 2 output tokens"},
		{"refused", []step{found, {answer: &Answer{Message: answering("", "").Message, Refusal: "I will not"}}}, "refused\n\nI will not", "4 messages, 10 input tokens, 1 output tokens"},
		{"empty", []step{found, saying(" ")}, "empty\n\nfound X", "4 messages, 20 input tokens, 2 output tokens"},
		{"upstream", []step{found, failing(500, KindStatus, true), failing(500, KindStatus, true), failing(503, KindStatus, true)}, "upstream_error 503\n\nfound X", "3 messages, 10 input tokens, 1 output tokens"},
		{"no connection", []step{failing(0, KindDial, false)}, "upstream_error", "1 messages, 0 input tokens, 0 output tokens"},
		{"cut stream", []step{{err: &UpstreamError{Status: 200, Kind: KindCut, Text: "upstream words", Partial: "half"}}}, "upstream_error 200\n\nhalf", "1 messages, 0 input tokens, 0 output tokens"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			f := newTeam(t, func(o *TaskOptions) { o.MaxTurns = 3 })
			f.on(Root, calling(brief("a", "one")), saying("done"))
			f.on("root/1.1", tt.steps...)
			run := f.run(t.Context())
			assert.DeepEqual(t, outcomes(run), []string{
				"1.1 a task allow: Error [subagent_incomplete]: Subagent did not finish: " + tt.want + "\n\n(subagent \"one\": " + tt.last + ")",
			})
			assert.Equal(t, run.Final, "done")
			assert.Equal(t, run.Tree, run.Usage.Add(run.Children()[0].Usage))
		})
	}
	_, err := briefReport(&Run{Agent: "root/1.1", Stop: "bored"})
	assert.Error(t, err, `report run of root/1.1: unknown stop reason "bored"`)
}

// TestBriefNotStarted: a child that could not be made says so and nothing of the
// inside; a wrong registry is told as for every style.
func TestBriefNotStarted(t *testing.T) {
	const notStarted = "subagent_incomplete]: Subagent did not finish: not_started\n\n(subagent \"one\": 0 messages, 0 input tokens, 0 output tokens)"
	for _, tt := range []struct {
		name string
		edit func(*TaskOptions)
		want string
	}{
		{"no registry", func(o *TaskOptions) { o.ToolsFactory = func() (*Registry, error) { return nil, nil } },
			"subagent_configuration_error]: Subagent tools factory must return ToolRegistry"},
		{"registry with task", func(o *TaskOptions) {
			o.ToolsFactory = func() (*Registry, error) { return NewRegistry(echoTool(t, TaskToolName)) }
		}, "subagent_configuration_error]: Subagent tools must not include task"},
		{"tools factory fails", func(o *TaskOptions) {
			o.ToolsFactory = func() (*Registry, error) { return nil, errors.New("key sk-1") }
		}, notStarted},
		{"model factory panics", func(o *TaskOptions) { o.ModelFactory = func() (Model, error) { panic("key sk-1") } }, notStarted},
	} {
		t.Run(tt.name, func(t *testing.T) {
			f := newTeam(t, tt.edit)
			f.on(Root, calling(brief("a", "one")), saying("done"))
			assert.DeepEqual(t, outcomes(f.run(t.Context())), []string{"1.1 a task allow: Error [" + tt.want})
			assert.Equal(t, len(f.requestsOf("root/1.1")), 0)
		})
	}
	_, err := NewTask(func() TaskOptions { o := newTeam(t, nil).options; o.Style = "long"; return o }())
	assert.Error(t, err, `task style "long" is unknown`)
}

// TestBriefKeepsAFinishedReport: a child that came to its end before the context
// did keeps its report; one call later nothing begins.
func TestBriefKeepsAFinishedReport(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	f := newTeam(t, nil)
	f.root.Parallel = nil
	f.on(Root, calling(brief("a", "one"), brief("b", "two")))
	f.on("root/1.1", saying("report"))
	f.root.Observe = func(e Event) {
		if e.Kind == EventRunEnd && e.Agent == "root/1.1" {
			cancel()
		}
	}
	run := f.run(ctx)
	assert.Equal(t, run.Stop, StopCancelled)
	assert.DeepEqual(t, outcomes(run), []string{
		"1.1 a task allow: report\n\n(subagent \"one\": 2 messages, 10 input tokens, 1 output tokens)",
		"1.2 b task interrupted: " + interrupted,
	})
}

// TestBriefNoGrandchild: a child's task call is unknown_tool also here.
func TestBriefNoGrandchild(t *testing.T) {
	f := newTeam(t, nil)
	f.on(Root, calling(brief("a", "one")), saying("done"))
	f.on("root/1.1", calling(brief("a", "deeper"), brief("b", "deeper")), saying("did it myself"))
	const unknown = " task unknown: Error [unknown_tool]: Unknown tool: task"
	assert.DeepEqual(t, outcomes(f.run(t.Context()).Children()[0]), []string{"1.1 a" + unknown, "1.2 b" + unknown})
}
