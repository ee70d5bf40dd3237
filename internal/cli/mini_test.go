package cli

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/google/jsonschema-go/jsonschema"
	"gotest.tools/v3/assert"
)

// stage lets the answers of a fake model wait for what the program has shown.
type stage struct {
	mu    sync.Mutex
	text  strings.Builder
	grown chan struct{} // closed and replaced with each write
}

func newStage() *stage { return &stage{grown: make(chan struct{})} }

func (s *stage) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	close(s.grown)
	s.grown = make(chan struct{})
	return s.text.Write(p)
}

func (s *stage) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.text.String()
}

// await returns when text was shown, or the request has ended.
func (s *stage) await(r *http.Request, text string) {
	for {
		s.mu.Lock()
		found, grown := strings.Contains(s.text.String(), text), s.grown
		s.mu.Unlock()
		if found {
			return
		}
		select {
		case <-grown:
		case <-r.Context().Done():
			return
		}
	}
}

// miniModel answers a parent that hands out three tasks at once, and its
// children, each of which reads a file and reports. All three have asked before
// one is answered, and the last one is answered first.
type miniModel struct {
	stage  *stage
	shown  string // what the stage shows when a child is through, with its name for %s
	asked  sync.WaitGroup
	mu     sync.Mutex
	keys   map[string]bool // "MODEL KEY" of every request
	params map[string]bool
}

func newMiniModel(s *stage, shown string) *miniModel {
	m := &miniModel{stage: s, shown: shown, keys: map[string]bool{}, params: map[string]bool{}}
	m.asked.Add(3)
	return m
}

var (
	briefOf   = regexp.MustCompile(`"content":"brief (\w+)"`)
	modelOf   = regexp.MustCompile(`^\{"model":"([^"]*)"`)
	maxTokens = regexp.MustCompile(`"max_tokens":\d+`)
)

func (m *miniModel) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	raw, _ := io.ReadAll(r.Body)
	body := string(raw)
	m.mu.Lock()
	m.keys[modelOf.FindStringSubmatch(body)[1]+" "+r.Header.Get("Authorization")] = true
	m.params[maxTokens.FindString(body)] = true
	m.mu.Unlock()
	results := strings.Contains(body, `"role":"tool"`)
	brief := briefOf.FindStringSubmatch(body)
	switch {
	case brief != nil && !results:
		m.asked.Done()
		m.asked.Wait()
		m.wait(r, brief[1])
		answerCalls(w, callJSON("c_"+brief[1], "read_file", `{"path":"`+brief[1]+`.txt"}`), 100, 10)
	case brief != nil:
		m.wait(r, brief[1])
		answerText(w, "Report of "+brief[1]+".", 150, 20)
	case results:
		answerText(w, "All read.", 300, 30)
	default:
		var calls []string
		for _, name := range []string{"one", "two", "three"} {
			calls = append(calls, callJSON("t_"+name, "task", `{"description":"`+name+`","prompt":"brief `+name+`"}`))
		}
		answerCalls(w, strings.Join(calls, ","), 50, 40)
	}
}

// wait lets a child wait for the one after it.
func (m *miniModel) wait(r *http.Request, name string) {
	if after := map[string]string{"one": "two", "two": "three"}[name]; after != "" {
		m.stage.await(r, fmt.Sprintf(m.shown, after))
	}
}

func callJSON(id, name, arguments string) string {
	quoted, _ := json.Marshal(arguments)
	return fmt.Sprintf(`{"id":%q,"type":"function","function":{"name":%q,"arguments":%s}}`, id, name, quoted)
}

func answerText(w http.ResponseWriter, text string, input, output int) {
	answer(w, fmt.Sprintf(`"finish_reason":"stop","message":{"role":"assistant","content":%q}`, text), input, output)
}

func answerCalls(w http.ResponseWriter, calls string, input, output int) {
	answer(w, `"finish_reason":"tool_calls","message":{"role":"assistant","content":null,"tool_calls":[`+calls+`]}`, input, output)
}

func answer(w http.ResponseWriter, choice string, input, output int) {
	w.Header().Set("Content-Type", "application/json")
	fmt.Fprintf(w, `{"model":"served","choices":[{"index":0,%s}],"usage":{"prompt_tokens":%d,"completion_tokens":%d,"total_tokens":%d}}`, choice, input, output, input+output)
}

// serve makes an address of a handler.
func serve(t *testing.T, handler http.Handler) string {
	t.Helper()
	s := httptest.NewServer(handler)
	t.Cleanup(s.Close)
	return s.URL + "/v1"
}

// readable files of the three children.
func workspace(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	for _, name := range []string{"one", "two", "three"} {
		assert.NilError(t, os.WriteFile(filepath.Join(dir, name+".txt"), []byte(name+"\n"), 0o600))
	}
	return dir
}

// sortedHead sorts the first n lines, which come in any order.
func sortedHead(text string, n int) string {
	lines := strings.SplitAfter(text, "\n")
	slices.Sort(lines[:min(n, len(lines))])
	return strings.Join(lines, "")
}

const ownPrices = `{"as_of": "2025-02-03", "currency": "USD", "models": [{"model": "large", "input": 10, "output": 100}]}`

func TestMiniShowsChildrenByTitleWhicheverIsFirst(t *testing.T) {
	dir, work := t.TempDir(), workspace(t)
	pricesFile := filepath.Join(dir, "own.json")
	assert.NilError(t, os.WriteFile(pricesFile, []byte(ownPrices), 0o600))
	screen := newStage()
	model := newMiniModel(screen, "root ← [%s]")
	parent, children := serve(t, model), serve(t, model)
	environment := map[string]string{"OPENAI_API_KEY": "parent-key-000000", "SUB_OPENAI_API_KEY": "children-key-0000"}
	var out strings.Builder
	code := Main([]string{"run", "--profile", "mini", "--dir", dir, "--workspace", work, "--prompt", "Read all", "--stream=false", "--approve", "none",
		"--model", "large", "--base-url", parent, "--sub-model", "small", "--sub-base-url", children,
		"--child-policy", "read-only", "--context-budget", "60000", "--output-tokens", "500", "--prices", pricesFile, "--record", "three"},
		strings.NewReader(""), &out, screen, func(name string) string { return environment[name] })
	assert.Equal(t, sortedHead(screen.String(), 3), `root → task {"description":"one","prompt":"brief one"}
root → task {"description":"three","prompt":"brief three"}
root → task {"description":"two","prompt":"brief two"}
  ↳ [three] read_file {"path":"three.txt"}
  ↳ [three] ends: answer after 2 turns, 250 input and 30 output tokens
root ← [three] allowed: Report of three. ↵  ↵ (subagent "three": 4 messages, 250 input tokens, 30 output tokens)
  ↳ [two] read_file {"path":"two.txt"}
  ↳ [two] ends: answer after 2 turns, 250 input and 30 output tokens
root ← [two] allowed: Report of two. ↵  ↵ (subagent "two": 4 messages, 250 input tokens, 30 output tokens)
  ↳ [one] read_file {"path":"one.txt"}
  ↳ [one] ends: answer after 2 turns, 250 input and 30 output tokens
root ← [one] allowed: Report of one. ↵  ↵ (subagent "one": 4 messages, 250 input tokens, 30 output tokens)
root ends: answer after 2 turns, 1100 input and 160 output tokens
model  input  output                cost
large    350      70           $0.010500
small    750      90            no price
all     1100     160  $0.010500 and more
cost by `+pricesFile+` of 2025-02-03
own context of root  at most 300 tokens
kept out of it       450 tokens in 3 children
spent                420 tokens, 1260 with children
wrote `+filepath.Join(dir, "scenarios", "three.txtar")+`
wrote `+filepath.Join(dir, "transcripts", "three.jsonl")+`
wrote `+filepath.Join(dir, "golden", "three.txt")+`
replay it with: tapetree replay three --dir `+dir+`
`)
	assert.Equal(t, out.String(), "All read.\n")
	assert.Equal(t, code, 0)
	assert.DeepEqual(t, model.keys, map[string]bool{"large Bearer parent-key-000000": true, "small Bearer children-key-0000": true})
	assert.DeepEqual(t, model.params, map[string]bool{`"max_tokens":500`: true})

	scenario, err := os.ReadFile(filepath.Join(dir, "scenarios", "three.txtar"))
	assert.NilError(t, err)
	assert.Equal(t, string(scenario), "profile: mini\nsub-model: small\nchild-policy: read-only\ncontext-budget: 60000\noutput-tokens: 500\n-- prompt --\nRead all\n")
	for _, jobs := range []string{"1", "8"} {
		code, stdout, stderr := run("replay", "--dir", dir, "--strict", "--child-jobs", jobs, "three")
		assert.Equal(t, stdout+stderr, "pass   three  volatile, 8 exchanges, 4 agents, 3 of 6 verdicts live, volatile: placeholders 4\n\n1 passed, 0 failed, 0 errors\n")
		assert.Equal(t, code, 0)
	}
	_, shown, _ := run("show", "--dir", dir, "three")
	_, usage, _ := strings.Cut(shown, "1100 input and 160 output tokens\n")
	assert.Equal(t, usage, `# model  input  output
# large    350      70
# small    750      90
# all     1100     160
# own context of root  at most 300 tokens
# kept out of it       450 tokens in 3 children
# spent                420 tokens, 1260 with children
`)
}

func TestEventsAreOneJSONObjectALine(t *testing.T) {
	stream := newStage()
	model := newMiniModel(stream, `"text":"Report of %s.","model":"small","stop"`)
	var stderr strings.Builder
	code := Main([]string{"run", "--profile", "mini", "--format", "json", "--workspace", workspace(t), "--prompt", "Read all", "--stream=false", "--approve", "none",
		"--model", "gpt-4.1", "--sub-model", "small", "--base-url", serve(t, model)},
		strings.NewReader(""), stream, &stderr, func(string) string { return "" })
	assert.Equal(t, stderr.String(), "")
	assert.Equal(t, code, 0)

	raw, err := os.ReadFile("../../docs/run-events.schema.json")
	assert.NilError(t, err)
	var schema jsonschema.Schema
	assert.NilError(t, json.Unmarshal(raw, &schema))
	resolved, err := schema.Resolve(nil)
	assert.NilError(t, err)
	byAgent := map[string][]string{}
	lines := strings.Split(strings.TrimSuffix(stream.String(), "\n"), "\n")
	for _, line := range lines {
		var value map[string]any
		assert.NilError(t, json.Unmarshal([]byte(line), &value), line)
		assert.NilError(t, resolved.Validate(value), line)
		if agent, ok := value["agent"].(string); ok {
			byAgent[agent] = append(byAgent[agent], line)
		}
	}
	assert.DeepEqual(t, byAgent["root/1.2"], []string{
		`{"event":"run-start","agent":"root/1.2","depth":1,"label":"two","text":"brief two"}`,
		`{"event":"turn-start","agent":"root/1.2","depth":1,"label":"two","turn":1}`,
		`{"event":"answer","agent":"root/1.2","depth":1,"label":"two","turn":1,"model":"served","finish":"tool_calls","usage":{"input":100,"output":10}}`,
		`{"event":"call-start","agent":"root/1.2","depth":1,"label":"two","turn":1,"call":{"number":1,"id":"c_two","name":"read_file","arguments":"{\"path\":\"two.txt\"}"}}`,
		`{"event":"call-end","agent":"root/1.2","depth":1,"label":"two","turn":1,"call":{"number":1,"id":"c_two","name":"read_file","arguments":"{\"path\":\"two.txt\"}","verdict":"allow","result":"two\n"}}`,
		`{"event":"turn-start","agent":"root/1.2","depth":1,"label":"two","turn":2}`,
		`{"event":"answer","agent":"root/1.2","depth":1,"label":"two","turn":2,"text":"Report of two.","model":"served","finish":"stop","usage":{"input":150,"output":20}}`,
		`{"event":"run-end","agent":"root/1.2","depth":1,"label":"two","text":"Report of two.","model":"small","stop":"answer","turns":2,"usage":{"input":250,"output":30},"tree":{"input":250,"output":30}}`,
	})
	assert.Equal(t, len(byAgent), 4)
	assert.Equal(t, lines[len(lines)-1], `{"event":"result","stop":"answer","final":"All read.","turns":2,"agents":4,"own":{"input":350,"output":70},"tree":{"input":1100,"output":160},"context":{"root":300,"children":450},"models":[{"model":"gpt-4.1","agents":1,"usage":{"input":350,"output":70},"cost":0.00126},{"model":"small","agents":3,"usage":{"input":750,"output":90}}]}`)
}
