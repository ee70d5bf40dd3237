package scenarios

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"gotest.tools/v3/assert"

	"github.com/tapetree/tapetree/record"
)

// provider is an upstream that answers each request by its body. It stands at
// any address that is asked for.
type provider struct {
	answer func(body string) (status int, header http.Header, response string)

	mu     sync.Mutex
	bodies []string
}

func (p *provider) RoundTrip(r *http.Request) (*http.Response, error) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return nil, err
	}
	p.mu.Lock()
	p.bodies = append(p.bodies, string(body))
	p.mu.Unlock()
	status, header, response := p.answer(string(body))
	if status == 0 {
		return nil, errors.New("nobody is there")
	}
	if header == nil {
		header = http.Header{}
	}
	if header.Get("Content-Type") == "" {
		header.Set("Content-Type", "text/event-stream")
	}
	return &http.Response{StatusCode: status, Header: header, Body: io.NopCloser(strings.NewReader(response)), Request: r}, nil
}

// says is a stream that answers with a text.
func says(text string) string {
	return fmt.Sprintf("data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":%q}}]}\n\n", text) + ends("stop")
}

// calls is a stream with the given delta, which ends in calls.
func calls(delta string) string {
	return `data: {"choices":[{"index":0,"delta":` + delta + "}]}\n\n" + ends("tool_calls")
}

func ends(reason string) string {
	return `data: {"choices":[{"index":0,"delta":{},"finish_reason":"` + reason + "\"}]}\n\ndata: [DONE]\n\n"
}

func toolCall(id, name, arguments string) string {
	return fmt.Sprintf(`{"tool_calls":[{"index":0,"id":%q,"type":"function","function":{"name":%q,"arguments":%q}}]}`, id, name, arguments)
}

// recordLive records a scenario in a project of its own.
func recordLive(t *testing.T, text string, p *provider, o LiveOptions) (Source, *Recorded) {
	t.Helper()
	source := DirSource(t.TempDir())
	assert.NilError(t, os.MkdirAll(filepath.Join(source.Dir, "scenarios"), 0o755))
	assert.NilError(t, os.WriteFile(source.ScenarioPath("one"), []byte(text), 0o644))
	o.Transport, o.Stream, o.OS, o.By = p, true, "linux", "tapetree test"
	if o.BaseURL == "" {
		o.BaseURL = "https://api.example.com/v1"
	}
	if o.Model == "" {
		o.Model = "m"
	}
	if o.Environ == nil {
		o.Environ = []string{}
	}
	o.Now = func() time.Time { return time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC) }
	recorded, err := Record(context.Background(), source, "one", o)
	assert.NilError(t, err)
	return source, recorded
}

// onDisk is all that a project holds.
func onDisk(t *testing.T, dir string) string {
	t.Helper()
	var all strings.Builder
	for name, data := range projectFiles(t, dir) {
		all.WriteString(name + "\n" + data)
	}
	return all.String()
}

// TestADialectHoldsInItsReplay: case 2.02 and case 2.05, what an endpoint does not
// take was not sent to it, and the replay sends the same.
func TestADialectHoldsInItsReplay(t *testing.T) {
	for base, want := range map[string]string{
		"https://api.deepseek.com/v1":    `{"role":"assistant","content":null,"tool_calls":[{"id":"a","type":"function","function":{"name":"glob","arguments":"{\"pattern\":\"*\"}"}}],"reasoning_content":"r"}`,
		"https://api.groq.com/openai/v1": `{"role":"assistant","content":null,"tool_calls":[{"id":"a","type":"function","function":{"name":"glob","arguments":"{\"pattern\":\"*\"}"}}]}`,
		"http://localhost:11434/v1":      `{"role":"assistant","tool_calls":[{"id":"a","type":"function","function":{"name":"glob","arguments":"{\"pattern\":\"*\"}"}}],"reasoning_content":"r"}`,
	} {
		t.Run(base, func(t *testing.T) {
			p := &provider{answer: func(body string) (int, http.Header, string) {
				if strings.Contains(body, `"role":"tool"`) {
					return 200, nil, says("done")
				}
				return 200, nil, calls(strings.Replace(toolCall("a", "glob", `{"pattern":"*"}`), "{", `{"reasoning_content":"r",`, 1))
			}}
			source, recorded := recordLive(t, "-- prompt --\nlook\n-- work/a --\n", p, LiveOptions{BaseURL: base})
			assert.Equal(t, len(p.bodies), 2)
			assert.Assert(t, strings.Contains(p.bodies[1], ","+want+`,{"role":"tool"`), "%s", p.bodies[1])
			assert.Equal(t, recorded.Replay.Status, Pass)
			again := Replay(t.Context(), source, "one", ReplayOptions{Environ: []string{}})
			assert.Equal(t, again.Status, Pass, "%v %v", again.Err, again.Findings)
			assert.Equal(t, again.Grade, record.Exact)
		})
	}
}

// TestNoCredentialIsOnDisk: case 6.01, wherever a key stands and whatever the
// upstream says back of it.
func TestNoCredentialIsOnDisk(t *testing.T) {
	const key, query, user = "my-own-proxy-key", "from.the.query.1", "user-name:pass-word-21"
	echo := base64.StdEncoding.EncodeToString([]byte(user))
	p := &provider{answer: func(body string) (int, http.Header, string) {
		header := http.Header{"sEt-CoOkIe": {"s=cookie-value-9"}, "Api-Key": {key}, "X-Ratelimit-Note": {key}}
		if strings.Contains(body, `"role":"tool"`) {
			return 200, header, says("no " + key + " " + query + " " + url.QueryEscape(query)) // whole
		}
		return 200, header, "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"my-own-\"}}]}\n\ndata: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"proxy-key\"}}]}\n\n" +
			calls(toolCall("a", "write_file", `{"path":"k","content":"`+key+" "+echo+`"}`))
	}}
	source, recorded := recordLive(t, "approve: all\n-- prompt --\nlook\n-- work/a --\n", p, LiveOptions{
		BaseURL: "https://" + user + "@api.example.com/v1?key=" + query, Key: key,
	})
	text := onDisk(t, source.Dir)
	for _, secret := range []string{key, query, "user-name", "pass-word-21", echo, "cookie-value-9"} {
		assert.Assert(t, !strings.Contains(text, secret), "%s is on disk", secret)
	}
	assert.Equal(t, recorded.Replay.Status, Pass, "%v %v", recorded.Replay.Err, recorded.Replay.Findings)
}

// TestAnotherTokenHits: case 6.02, a session recorded with one token replays
// with another, also where the token stands in JSON, in a URL or in pieces.
func TestAnotherTokenHits(t *testing.T) {
	const old, other = "token/of+the recording", "quite-another-token-9"
	p := &provider{answer: func(body string) (int, http.Header, string) {
		if strings.Contains(body, `"role":"tool"`) {
			return 200, nil, says("see https://host/?t=" + url.QueryEscape(old))
		}
		return 200, nil, calls(toolCall("a", "glob", `{"pattern":"`+old+`"}`))
	}}
	source, _ := recordLive(t, "-- prompt --\nuse it\n-- system --\nThe token is in the environment.\n-- work/a --\n", p, LiveOptions{Environ: []string{"SERVICE_TOKEN=" + old}})
	text := onDisk(t, source.Dir)
	assert.Assert(t, !strings.Contains(text, old) && !strings.Contains(text, url.QueryEscape(old)), "%s", text)
	for _, environ := range [][]string{{"SERVICE_TOKEN=" + old}, {"SERVICE_TOKEN=" + other}, {}} {
		again := Replay(t.Context(), source, "one", ReplayOptions{Environ: environ})
		assert.Equal(t, again.Status, Pass, "%v %v", again.Err, again.Findings)
	}
}

// TestAFailedRecordingLeavesTheOldOne: case 6.11, recording again replaces one
// scenario's transcript, and only when the run came to its end.
func TestAFailedRecordingLeavesTheOldOne(t *testing.T) {
	good := func(text string) *provider {
		return &provider{answer: func(body string) (int, http.Header, string) {
			if strings.Contains(body, `"role":"tool"`) {
				return 200, nil, says(text)
			}
			return 200, nil, calls(toolCall("a", "glob", `{"pattern":"*"}`))
		}}
	}
	source, _ := recordLive(t, "-- prompt --\nlook\n-- work/a --\n", good("first"), LiveOptions{})
	for _, other := range []string{"scenarios/two.txtar", "transcripts/two.jsonl", "golden/two.txt"} {
		data, err := os.ReadFile(filepath.Join(source.Dir, strings.Replace(other, "two", "one", 1)))
		assert.NilError(t, err)
		assert.NilError(t, os.WriteFile(filepath.Join(source.Dir, other), data, 0o644))
	}
	before := projectFiles(t, source.Dir)
	options := func(p *provider) LiveOptions {
		return LiveOptions{BaseURL: "https://api.example.com/v1", Model: "m", Stream: true, Transport: p, OS: "linux", By: "tapetree test", Environ: []string{}}
	}
	for name, p := range map[string]*provider{
		"dies in turn 2": {answer: func(body string) (int, http.Header, string) {
			if strings.Contains(body, `"role":"tool"`) {
				return 500, nil, "down"
			}
			return 200, nil, calls(toolCall("a", "glob", `{"pattern":"*"}`))
		}},
		"dies in mid-stream": {answer: func(string) (int, http.Header, string) { return 200, nil, says("half")[:60] }},
		"never answers":      {answer: func(string) (int, http.Header, string) { return 401, nil, "no key" }},
	} {
		recorded, err := Record(t.Context(), source, "one", options(p))
		assert.NilError(t, err, name)
		assert.Assert(t, recorded.Kept != "" && recorded.Transcript == "", name)
		assert.NilError(t, os.Remove(recorded.Kept))
		assert.DeepEqual(t, projectFiles(t, source.Dir), before)
	}
	_, err := Record(t.Context(), source, "one", options(&provider{answer: func(string) (int, http.Header, string) { return 0, nil, "" }}))
	assert.ErrorIs(t, err, ErrNothingRecorded)
	assert.DeepEqual(t, projectFiles(t, source.Dir), before)
	_, err = Record(t.Context(), source, "one", options(good("second")))
	assert.NilError(t, err)
	after := projectFiles(t, source.Dir)
	for name, data := range before {
		replaced := name == "transcripts/one.jsonl" || name == "golden/one.txt"
		assert.Equal(t, after[name] != data, replaced, name)
	}
	assert.Equal(t, len(after), len(before))
	assert.Equal(t, strings.Count(after["transcripts/one.jsonl"], `"kind":"exchange"`), 2, "the old exchanges are gone")
}

// projectFiles returns the content of every file below dir.
func projectFiles(t *testing.T, dir string) map[string]string {
	t.Helper()
	found := map[string]string{}
	assert.NilError(t, filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		data, err := os.ReadFile(path)
		name, _ := filepath.Rel(dir, path)
		found[filepath.ToSlash(name)] = string(data)
		return err
	}))
	return found
}
