package profiles

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"gotest.tools/v3/assert"

	"github.com/tapetree/tapetree/runtime"
	"github.com/tapetree/tapetree/runtime/tools"
)

// script answers each agent from its own list.
type script struct {
	mu       sync.Mutex
	answers  map[runtime.Path][]string // raw assistant messages
	requests map[runtime.Path][]runtime.Request
}

func (s *script) Complete(_ context.Context, req *runtime.Request) (*runtime.Answer, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.requests == nil {
		s.requests = make(map[runtime.Path][]runtime.Request)
	}
	agent := req.Place.Agent
	at := len(s.requests[agent])
	s.requests[agent] = append(s.requests[agent], *req)
	if at >= len(s.answers[agent]) {
		return nil, errors.New("the script has ended")
	}
	message, err := runtime.ParseMessage([]byte(s.answers[agent][at]))
	return &runtime.Answer{Message: message}, err
}

const done = `{"role":"assistant","content":"done"}`

func call(id, name, arguments string) string {
	return `{"role":"assistant","content":null,"tool_calls":[{"id":"` + id + `","type":"function","function":{"name":"` + name + `","arguments":` + arguments + `}}]}`
}

func options(t *testing.T, s *script) Options {
	ws, err := tools.Open(t.TempDir(), tools.Options{})
	assert.NilError(t, err)
	t.Cleanup(func() { assert.Check(t, ws.Close()) })
	return Options{Model: s, ModelName: "m", Workspace: ws, Env: Env{OS: "linux", Date: "2026-01-02", Workspace: "/w"}}
}

func run(t *testing.T, o Options) *runtime.Run {
	t.Helper()
	r, err := Build(P06, o)
	assert.NilError(t, err)
	got, err := r.Run(t.Context(), "go")
	assert.NilError(t, err)
	return got
}

// TestP06 runs a parent and two children: seven tools and six, a file of a
// child's that the parent uses, two todo lists that are not the parent's.
func TestP06(t *testing.T) {
	s := &script{answers: map[runtime.Path][]string{
		"root": {
			call("a", "task", `{"description":"write it"}`),
			call("b", "task", `{"description":"plan it"}`),
			call("c", "read_file", `{"path":"made.txt"}`),
			done,
		},
		"root/1.1": {
			call("a", "todo_write", `{"todos":[{"content":"x","status":"pending"}]}`),
			call("b", "write_file", `{"path":"made.txt","content":"by a child"}`),
			done,
		},
		"root/2.1": {done},
	}}
	o := options(t, s)
	var asked []runtime.Question
	o.Approver = approver(func(q runtime.Question) runtime.Reply {
		asked = append(asked, q)
		return runtime.Reply{Allow: true}
	})
	o.Identity = "alice"
	r, err := Build(P06, o)
	assert.NilError(t, err)
	got, err := r.Run(t.Context(), "go")
	assert.NilError(t, err)

	assert.Equal(t, got.Stop, runtime.StopAnswer)
	assert.DeepEqual(t, r.Tools.Names(), P06.Tools)
	assert.Equal(t, string(s.requests["root"][0].Tools), string(r.Tools.Definitions()))
	assert.DeepEqual(t, asked, []runtime.Question{{
		ID: 1, Agent: "root/1.1", Label: "write it", Identity: "alice", Turn: 2, Call: 1,
		Tool: "write_file", Arguments: `{"path":"made.txt","content":"by a child"}`,
	}})
	assert.Equal(t, got.Turns[2].Calls[0].Verdict, runtime.VerdictAllow)
	data, err := os.ReadFile(filepath.Join(o.Workspace.Dir(), "made.txt"))
	assert.NilError(t, err)
	assert.Equal(t, string(data), "by a child")
	assert.Equal(t, len(r.Todo.Items()), 0, "a child's list is not the parent's")

	child := s.requests["root/1.1"][0]
	assert.Equal(t, child.Messages.Len(), 2)
	var standard runtime.Registry
	list, err := tools.Standard(o.Workspace)
	assert.NilError(t, err)
	todo, err := new(runtime.TodoList).Tool()
	assert.NilError(t, err)
	for _, tool := range append(list, todo) {
		assert.NilError(t, standard.Register(tool))
	}
	assert.DeepEqual(t, standard.Names(), P06.ChildTools)
	assert.Equal(t, string(child.Tools), string(standard.Definitions()))
}

type approver func(runtime.Question) runtime.Reply

func (f approver) Ask(_ context.Context, q runtime.Question) (runtime.Reply, error) { return f(q), nil }

// TestBoundaryInEachMode: outside is outside for parent and child, and nobody is
// asked.
func TestBoundaryInEachMode(t *testing.T) {
	for _, mode := range []runtime.Mode{"", runtime.ModeAcceptEdits, runtime.ModeYolo, runtime.ModeReadOnly} {
		s := &script{answers: map[runtime.Path][]string{
			"root": {
				call("a", "write_file", `{"path":"../x","content":""}`), call("b", "edit_file", `{"path":"/x","old_string":"a","new_string":"b"}`),
				call("c", "read_file", `{"path":"../x"}`), call("d", "glob", `{"pattern":"*","path":".."}`),
				call("e", "task", `{"description":"x"}`), done,
			},
			"root/5.1": {call("a", "write_file", `{"path":"../x","content":""}`), done},
		}}
		o := options(t, s)
		o.Mode = mode
		o.Approver = approver(func(runtime.Question) runtime.Reply { t.Error("asked"); return runtime.Reply{Allow: true} })
		got := run(t, o)
		var results []string
		got.Walk(func(r *runtime.Run) {
			for _, turn := range r.Turns {
				for _, c := range turn.Calls {
					if c.Name != "task" {
						assert.Equal(t, c.Verdict, runtime.VerdictDeny)
						results = append(results, c.Result)
					}
				}
			}
		})
		const reading = "Error [permission_denied]: Reading outside the workspace is forbidden"
		const writing = "Error [permission_denied]: Writing outside the workspace is forbidden"
		assert.DeepEqual(t, results, []string{writing, writing, reading, reading, writing})
	}
}

// TestSystemTexts: prompt, blank line, environment; an override is the whole
// text.
func TestSystemTexts(t *testing.T) {
	s := &script{answers: map[runtime.Path][]string{"root": {call("a", "task", `{"description":"x"}`), done}, "root/1.1": {done}}}
	run(t, options(t, s))
	const block = "\n\n<environment>\nWorkspace: /w\nOperating system: linux\nDate: 2026-01-02\n</environment>"
	assert.Equal(t, s.requests["root"][0].Messages.Messages()[0].Content, P06.Prompt+block)
	assert.Equal(t, s.requests["root/1.1"][0].Messages.Messages()[0].Content, P06.ChildPrompt+block)

	s = &script{answers: s.answers}
	o := options(t, s)
	parent, child := "own words", "own words for children"
	o.System, o.ChildSystem = &parent, &child
	run(t, o)
	assert.Equal(t, s.requests["root"][0].Messages.Messages()[0].Content, parent)
	assert.Equal(t, s.requests["root/1.1"][0].Messages.Messages()[0].Content, child)

	assert.Equal(t, Env{}.Block(), "<environment>\n</environment>")
}

// TestLimits: the default is also the most; a lower one holds.
func TestLimits(t *testing.T) {
	s := &script{answers: map[runtime.Path][]string{
		"root":     {call("a", "task", `{"description":"x"}`), call("b", "glob", `{"pattern":"*"}`)},
		"root/1.1": {call("a", "glob", `{"pattern":"*"}`)},
	}}
	o := options(t, s)
	o.MaxTurns, o.ChildMaxTurns = 2, 1
	got := run(t, o)
	assert.Equal(t, got.Stop, runtime.StopTurnLimit)
	assert.Equal(t, got.Turns[0].Calls[0].Result, "Error [subagent_turn_limit]: Subagent exceeded max_turns=1 without a final answer")

	r, err := Build(P06, options(t, s))
	assert.NilError(t, err)
	assert.Equal(t, r.MaxTurns, 50)
}

// TestBuildErrors: a session that cannot work is not built.
func TestBuildErrors(t *testing.T) {
	for _, tt := range []struct {
		edit func(*Profile, *Options)
		want string
	}{
		{func(_ *Profile, o *Options) { o.Model = nil }, "build profile p06: a model is needed"},
		{func(_ *Profile, o *Options) { o.Workspace = nil }, "build profile p06: a workspace is needed"},
		{func(_ *Profile, o *Options) { o.Mode = "wild" }, `build profile p06: unknown mode "wild": use default, accept-edits, yolo or read-only`},
		{func(_ *Profile, o *Options) { o.MaxTurns = -1 }, "build profile p06: maxTurns must be a positive integer"},
		{func(_ *Profile, o *Options) { o.MaxTurns = 51 }, "build profile p06: maxTurns must be at most 50"},
		{func(_ *Profile, o *Options) { o.ChildMaxTurns = -1 }, "maxTurns must be a positive integer"},
		{func(_ *Profile, o *Options) { o.ChildMaxTurns = 31 }, "maxTurns must be at most 30"},
		{func(p *Profile, _ *Options) { p.Tools = []string{"fly"} }, "build profile p06: there is no tool fly"},
		{func(p *Profile, _ *Options) { p.Tools = []string{"glob", "glob"} }, "build profile p06: register tool glob: the name is taken"},
	} {
		p, o := P06, options(t, &script{})
		tt.edit(&p, &o)
		_, err := Build(p, o)
		assert.Error(t, err, tt.want)
	}
}

// TestChildToolsOverride: what stands in the way of the tools factory decides.
func TestChildToolsOverride(t *testing.T) {
	s := &script{answers: map[runtime.Path][]string{"root": {call("a", "task", `{"description":"x"}`), done}}}
	o := options(t, s)
	o.ChildTools = func(standard func() (*runtime.Registry, error)) (*runtime.Registry, error) {
		r, err := standard()
		if err != nil {
			return nil, err
		}
		todo, err := new(runtime.TodoList).Tool()
		todo.Name = runtime.TaskToolName
		return r, errors.Join(err, r.Register(todo))
	}
	got := run(t, o)
	assert.Equal(t, got.Turns[0].Calls[0].Result, "Error [subagent_configuration_error]: Subagent tools must not include task")
	assert.Equal(t, len(s.requests["root/1.1"]), 0)
}

// TestPolicyOption: a policy handed in is the one that judges, in children too.
func TestPolicyOption(t *testing.T) {
	s := &script{answers: map[runtime.Path][]string{
		"root":     {call("a", "task", `{"description":"x"}`), done},
		"root/1.1": {call("a", "glob", `{"pattern":"*"}`), done},
	}}
	o := options(t, s)
	o.Policy = &runtime.Permissions{Rules: map[string]runtime.Rule{"task": runtime.RuleAllow, "glob": runtime.RuleDeny}}
	got := run(t, o)
	assert.Equal(t, got.Children()[0].Turns[0].Calls[0].Verdict, runtime.VerdictDeny)
}

// TestByName: the profiles there are.
func TestByName(t *testing.T) {
	for _, name := range Names() {
		p, ok := ByName(name)
		assert.Check(t, ok && p.Name == name)
	}
	_, ok := ByName("p07")
	assert.Check(t, !ok)
}
