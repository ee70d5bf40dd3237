package record

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/tapetree/tapetree/runtime"
	"github.com/tapetree/tapetree/transcripts"
	"gotest.tools/v3/assert"
)

// script says what the upstream answers to a request: the words of the last
// message decide.
type script func(w http.ResponseWriter, body string)

// upstream is a real server on the loopback interface; it counts what it is
// asked.
type upstream struct {
	*httptest.Server
	mu     sync.Mutex
	bodies []string
}

func newUpstream(t *testing.T, answer script) *upstream {
	u := &upstream{}
	u.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		body, err := io.ReadAll(req.Body)
		if err != nil {
			return
		}
		u.mu.Lock()
		u.bodies = append(u.bodies, string(body))
		u.mu.Unlock()
		answer(w, string(body))
	}))
	t.Cleanup(u.Close)
	return u
}

// saying answers with a JSON completion that holds text and calls.
func saying(w http.ResponseWriter, text string, calls ...string) {
	w.Header().Set("Content-Type", "application/json")
	fmt.Fprint(w, completion(text, calls...))
}

// completion is a chat completion; each call is "id name arguments".
func completion(text string, calls ...string) string {
	content, finish, list := "null", "stop", ""
	if text != "" {
		content = string(quoted(text))
	}
	if len(calls) > 0 {
		finish = "tool_calls"
		var all []string
		for _, call := range calls {
			parts := strings.SplitN(call, " ", 3)
			all = append(all, fmt.Sprintf(`{"id":%s,"type":"function","function":{"name":%s,"arguments":%s}}`,
				quoted(parts[0]), quoted(parts[1]), quoted(parts[2])))
		}
		list = `,"tool_calls":[` + strings.Join(all, ",") + `]`
	}
	return fmt.Sprintf(`{"id":"cmpl-1","object":"chat.completion","model":"m","choices":[{"index":0,"message":{"role":"assistant","content":%s%s},"finish_reason":%q}],"usage":{"prompt_tokens":3,"completion_tokens":2,"total_tokens":5}}`,
		content, list, finish)
}

// session is one run of our own runner: what to vary and what came out.
type session struct {
	model    runtime.Model
	tape     runtime.Tape
	observe  runtime.Observer
	policy   runtime.Policy
	note     func(text string) string // the result of the tool note
	prompt   string
	system   string
	stream   bool
	params   []runtime.Param
	maxTurns int
}

type noteArgs struct {
	Text string `json:"text"`
}

func (s session) runner(t *testing.T) *runtime.Runner {
	note := func() runtime.Tool {
		tool, err := runtime.NewTool("note", "Notes a text.", runtime.EffectWrite,
			func(_ context.Context, _ runtime.Invocation, args noteArgs) (string, error) {
				if s.note == nil {
					return "noted " + args.Text, nil
				}
				return s.note(args.Text), nil
			})
		assert.NilError(t, err)
		return tool
	}
	task, err := runtime.NewTask(runtime.TaskOptions{
		ModelFactory: func() (runtime.Model, error) { return s.model, nil },
		ToolsFactory: func() (*runtime.Registry, error) { return runtime.NewRegistry(note()) },
		SystemPrompt: "You are a child.",
		MaxTurns:     10,
		Hooks:        &runtime.Hooks{},
		Policy:       s.orAllow(),
	})
	assert.NilError(t, err)
	registry, err := runtime.NewRegistry(note(), task)
	assert.NilError(t, err)
	r := &runtime.Runner{
		Model: s.model, ModelName: "m", System: s.system, Tools: registry, MaxTurns: s.maxTurns,
		Hooks: &runtime.Hooks{}, Policy: s.orAllow(), Tape: s.tape, Observe: s.observe, Stream: s.stream, Params: s.params,
	}
	if r.System == "" {
		r.System = "You are a parent."
	}
	if r.MaxTurns == 0 {
		r.MaxTurns = 10
	}
	return r
}

func (s session) orAllow() runtime.Policy {
	if s.policy != nil {
		return s.policy
	}
	return &runtime.Permissions{Rules: map[string]runtime.Rule{"note": runtime.RuleAllow, "task": runtime.RuleAllow}}
}

func (s session) run(t *testing.T) (*runtime.Run, error) {
	prompt := s.prompt
	if prompt == "" {
		prompt = "go"
	}
	return s.runner(t).Run(t.Context(), prompt)
}

// recording is a recorder over a real writer, at a clock that stands still.
type recording struct {
	*Recorder
	path string
}

func newRecording(t *testing.T, fold *runtime.Folder, environ ...string) *recording {
	path := filepath.Join(t.TempDir(), "session.jsonl")
	w, err := transcripts.Create(path, transcripts.Header{
		Name: "session", Profile: "p06", Models: []string{"m"}, Upstream: "http://upstream.example/v1",
		Recorded: "2026-01-02T03:04:05Z", By: "tapetree test",
	})
	assert.NilError(t, err)
	clock := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	return &recording{NewRecorder(w, RecorderOptions{
		Fold: fold, Redact: NewRedactor(environ), Now: func() time.Time { return clock },
	}), path}
}

// live is our own client, sending through the recorder.
func (r *recording) live(u *upstream) *runtime.Live {
	return &runtime.Live{BaseURL: u.URL + "/v1", Key: "sk-not-a-real-key-0123456789", HTTP: r.Transport(http.DefaultTransport)}
}

// finish closes the recording and returns the transcript and its bytes.
func (r *recording) finish(t *testing.T) (*transcripts.File, string) {
	t.Helper()
	f, err := r.Close()
	assert.NilError(t, err)
	data, err := os.ReadFile(r.path)
	assert.NilError(t, err)
	return f, string(data)
}

// record runs s against u and returns the transcript.
func record(t *testing.T, u *upstream, s session) (*transcripts.File, string, *runtime.Run) {
	t.Helper()
	rec := newRecording(t, nil)
	s.model, s.observe = rec.live(u), rec.Observe
	run, err := s.run(t)
	assert.NilError(t, err)
	f, text := rec.finish(t)
	return f, text, run
}

// replay runs s from f with every tool live and returns the report.
func replay(t *testing.T, f *transcripts.File, o ReplayOptions, s session) (*Report, *runtime.Run, error) {
	t.Helper()
	if o.Live == nil {
		o.Live = func(string) bool { return true }
	}
	r, err := NewReplayer(f, o)
	assert.NilError(t, err)
	s.model, s.tape, s.observe = r, r, r.Observe
	run, err := s.run(t)
	return r.Report(), run, err
}

// findings are a report's, one line each.
func findings(report *Report) []string {
	var lines []string
	for _, f := range report.Findings {
		lines = append(lines, fmt.Sprintf("%s %s#%d %s", f.Code, f.Agent, f.Turn, f.Message))
	}
	return lines
}

// family answers for a parent that starts a child, notes something and ends.
func family(w http.ResponseWriter, body string) {
	last := body[strings.LastIndex(body, `"role":`):]
	switch {
	case strings.Contains(last, `"go"`):
		saying(w, "", `c1 task {"description":"do it"}`)
	case strings.Contains(last, `"do it"`):
		saying(w, "on it", `k1 note {"text":"child"}`)
	case strings.Contains(last, "noted child"):
		saying(w, "child is done")
	case strings.Contains(last, "child is done"):
		saying(w, "", `c2 note {"text":"a"}`, `c3 note {"text":"b"}`)
	default:
		saying(w, "all done")
	}
}
