package record

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/tapetree/tapetree/runtime"
	"github.com/tapetree/tapetree/transcripts"
	"gotest.tools/v3/assert"
	"gotest.tools/v3/golden"
)

// harCall is one entry, as a browser's export has it.
type harCall struct {
	at, took     int // milliseconds
	method, url  string
	request      string
	status       int
	stream       bool
	content      string
	encoding     string
	header       map[string]string
	failed       string
	size         int // of content that is left out
	sockets      int
	agent        string // as the client says
	requestSizes int    // bodySize of a request without postData
}

// entry gives the entry as JSON.
func (c harCall) entry(t *testing.T) json.RawMessage {
	t.Helper()
	kind := "application/json"
	if c.stream {
		kind = "text/event-stream"
	}
	headers := []map[string]string{{"name": ":status", "value": "200"}, {"name": "content-type", "value": kind}}
	for name, value := range c.header {
		headers = append(headers, map[string]string{"name": name, "value": value})
	}
	content := map[string]any{"size": len(c.content) + c.size, "mimeType": kind}
	if c.content != "" {
		content["text"] = c.content
	}
	if c.encoding != "" {
		content["encoding"] = c.encoding
	}
	if c.method == "" {
		c.method = http.MethodPost
	}
	request := map[string]any{"method": c.method, "url": c.url, "headers": []map[string]string{
		{"name": "Authorization", "value": "Bearer " + testKey}, {"name": "User-Agent", "value": "agent/1"},
	}, "bodySize": c.requestSizes}
	if c.agent != "" {
		request["headers"] = []map[string]string{{"name": AgentHeader, "value": c.agent}}
	}
	if c.request != "" {
		request["postData"] = map[string]any{"mimeType": "application/json", "text": c.request}
	}
	entry := map[string]any{
		"startedDateTime": time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC).Add(time.Duration(c.at) * time.Millisecond).Format("2006-01-02T15:04:05.000Z"),
		"time":            c.took, "timings": map[string]any{"send": 0, "wait": c.took / 2, "receive": c.took - c.took/2},
		"request": request, "response": map[string]any{"status": c.status, "headers": headers, "content": content, "_error": c.failed},
	}
	if c.sockets > 0 {
		entry["_webSocketMessages"] = make([]map[string]string, c.sockets)
	}
	raw, err := json.Marshal(entry)
	assert.NilError(t, err)
	return raw
}

// openCalls makes a HAR of the calls, in the order given.
func openCalls(t *testing.T, calls ...harCall) *transcripts.Traffic {
	t.Helper()
	var entries []string
	for _, c := range calls {
		entries = append(entries, string(c.entry(t)))
	}
	text := "\ufeff" + `{"log":{"version":"1.2","entries":[` + strings.Join(entries, ",\n") + `]}}`
	h, err := transcripts.OpenHAR("agents.har", strings.NewReader(text), int64(len(text)))
	assert.NilError(t, err)
	return h
}

// importCalls imports into a folder of its own and returns what was written, by
// name.
func importCalls(t *testing.T, o TrafficOptions, calls ...harCall) (*TrafficImport, map[string]string, error) {
	t.Helper()
	dir := t.TempDir()
	o.By = "tapetree test"
	o.Path = func(host string, several bool) (string, error) {
		if several {
			return filepath.Join(dir, "agents-"+strings.ReplaceAll(host, ":", "-")+".jsonl"), nil
		}
		return filepath.Join(dir, "agents.jsonl"), nil
	}
	out, err := ImportTraffic(t.Context(), openCalls(t, calls...), o)
	written := map[string]string{}
	entries, readErr := os.ReadDir(dir)
	assert.NilError(t, readErr)
	for _, e := range entries {
		data, readErr := os.ReadFile(filepath.Join(dir, e.Name()))
		assert.NilError(t, readErr)
		written[e.Name()] = string(data)
	}
	return out, written, err
}

const harChat = "https://api.example/v1/chat/completions?key=made-up-key-of-the-query"

// harAsk is a chat request; its messages are JSON.
func harAsk(stream bool, messages ...string) string {
	return fmt.Sprintf(`{"model":"m","stream":%v,"messages":[%s]}`, stream, strings.Join(messages, ","))
}

func harSays(role, text string) string { return fmt.Sprintf(`{"role":%q,"content":%q}`, role, text) }

// harBrief is a call of a tool that starts an agent.
func harBrief(index int, id, brief string) string {
	arguments, _ := json.Marshal(map[string]string{"prompt": brief}) // a map of strings always can be
	return fmt.Sprintf(`{"index":%d,"id":%q,"type":"function","function":{"name":"task","arguments":%q}}`, index, id, arguments)
}

func harFrame(delta, finish string) string {
	return fmt.Sprintf("data: {\"choices\":[{\"index\":0,\"delta\":%s,\"finish_reason\":%s}]}\n\n", delta, finish)
}

const harDone = "data: [DONE]\n\n"

func harAnswer(text string) string {
	return fmt.Sprintf(`{"choices":[{"index":0,"message":{"role":"assistant","content":%q},"finish_reason":"stop"}]}`, text)
}

// harFamily is a parent whose two children begin while its answer still comes, the
// second one of which ends first; then a refusal and its retry.
func harFamily() []harCall {
	const one, two = "Look for errors in the file one.go and report them.", "Look for errors in the file two.go and report them."
	system, prompt := harSays("system", "You delegate."), harSays("user", "Look at /home/alice/ws/one.go and two.go.")
	calls := harBrief(0, "c1", one) + "," + harBrief(1, "c2", two)
	asked := []string{system, prompt, `{"role":"assistant","content":null,"tool_calls":[` + strings.ReplaceAll(strings.ReplaceAll(calls, `"index":0,`, ""), `"index":1,`, "") + `]}`,
		`{"role":"tool","tool_call_id":"c1","content":"one is fine"}`, `{"role":"tool","tool_call_id":"c2","content":"two is broken"}`}
	return []harCall{
		{at: 1000, took: 50, url: harChat, request: harAsk(true, asked...), status: 429, header: map[string]string{"retry-after": "1"}, content: `{"error":{"message":"slow down"}}`},
		{at: 310, took: 200, url: harChat, request: harAsk(false, harSays("user", two)), status: 200, content: harAnswer("two is broken")},
		{at: 0, took: 500, url: harChat, request: harAsk(true, system, prompt), status: 200, stream: true,
			content: harFrame(`{"role":"assistant","content":null,"tool_calls":[`+harBrief(0, "c1", one)+`]}`, "null") + harFrame(`{"tool_calls":[`+harBrief(1, "c2", two)+`]}`, `"tool_calls"`) + harDone},
		{at: 300, took: 600, url: harChat, request: harAsk(true, harSays("user", one)), status: 200, stream: true,
			content: harFrame(`{"content":"one is fine"}`, `"stop"`) + harDone},
		{at: 2060, took: 100, url: harChat, request: harAsk(true, asked...), status: 200, stream: true,
			content: harFrame(`{"content":"The key `+testKey+` stands in /home/alice/ws/two.go."}`, `"stop"`) + harDone},
	}
}

func TestAFamilyThatOverlaps(t *testing.T) {
	fold := runtime.NewFolder([]string{"/home/alice/ws"}, nil, []string{"/home/alice"})
	out, written, err := importCalls(t, TrafficOptions{Fold: fold}, append(harFamily(),
		harCall{at: 5, took: 1, method: http.MethodGet, url: "https://api.example/v1/models", status: 200, content: `{"data":[]}`},
		harCall{at: 1, took: 1, method: http.MethodOptions, url: harChat, status: 204},
		harCall{at: 2, took: 1, method: http.MethodGet, url: "https://api.example/index.html?key=secret", status: 200, content: "<html>"},
		harCall{at: 3, took: 1, method: http.MethodGet, url: "https://other.example/v1/models", status: 200},
		harCall{at: 4, took: 1, method: http.MethodGet, url: "https://api.example/v1/realtime", status: 101, sockets: 2},
		harCall{at: 700, took: 9, url: harChat, request: harAsk(true, harSays("user", "never mind")), failed: "net::ERR_ABORTED"},
	)...)
	assert.NilError(t, err)
	assert.DeepEqual(t, out.Warnings, []transcripts.Warning(nil))
	assert.DeepEqual(t, out.LeftOut, []string{
		"entry 7: OPTIONS https://api.example/v1/chat/completions: it is between browser or proxy and server",
		"entry 8: GET https://api.example/index.html: not below https://api.example/v1",
		"entry 9: GET https://other.example/v1/models: not to an upstream that was asked for a model answer",
		"entry 10: GET https://api.example/v1/realtime: a WebSocket of 2 messages, which no transcript holds",
		"entry 11: POST https://api.example/v1/chat/completions: the client gave it up before there was an answer",
	})
	assert.Equal(t, len(written), 1)
	golden.Assert(t, written["agents.jsonl"], "har-family.jsonl")
}

// TestTheSameFileGivesTheSameBytes also shows that the order of entries in the
// file is of no account.
func TestTheSameFileGivesTheSameBytes(t *testing.T) {
	calls := harFamily()
	_, first, err := importCalls(t, TrafficOptions{}, calls...)
	assert.NilError(t, err)
	calls[0], calls[2], calls[4] = calls[4], calls[0], calls[2]
	_, second, err := importCalls(t, TrafficOptions{}, calls...)
	assert.NilError(t, err)
	assert.DeepEqual(t, first, second)
}

func TestAnswersThatFailedOrAreLost(t *testing.T) {
	ask := func(text string) string { return harAsk(true, harSays("user", text)) }
	out, written, err := importCalls(t, TrafficOptions{},
		harCall{at: 0, took: 10, url: harChat, request: ask("dial"), failed: "net::ERR_CONNECTION_REFUSED"},
		harCall{at: 100, took: 10, url: harChat, request: ask("timeout"), failed: "net::ERR_TIMED_OUT"},
		harCall{at: 200, took: 10, url: harChat, request: ask("tls"), failed: "net::ERR_CERT_AUTHORITY_INVALID"},
		harCall{at: 300, took: 10, url: harChat, request: ask("nothing said")},
		harCall{at: 400, took: 10, url: harChat, request: ask("gave up"), status: 200, stream: true, content: harFrame(`{"content":"I beg"}`, "null"), failed: "net::ERR_ABORTED"},
		harCall{at: 500, took: 10, url: harChat, request: ask("reset"), status: 200, stream: true, content: harFrame(`{"content":"I beg"}`, "null"), failed: "net::ERR_CONNECTION_RESET"},
		harCall{at: 600, took: 10, url: harChat, request: ask("stalled"), status: 200, stream: true, content: harFrame(`{"content":"I beg"}`, "null"), failed: "net::ERR_TIMED_OUT"},
		harCall{at: 700, took: 10, url: harChat, request: ask("lost"), status: 200, stream: true, size: 77},
		harCall{at: 800, took: 10, url: harChat, request: ask("torn"), status: 200, stream: true, content: harFrame(`{"content":"I beg"}`, "null") + "data: {"},
		harCall{at: 900, took: 10, url: harChat, request: `{"model":"m","messages":[{"role":"us`, status: 200, content: harAnswer("cut")},
		harCall{at: 950, took: 10, url: harChat, requestSizes: 70, status: 200, content: harAnswer("what?")},
		harCall{at: 960, took: 10, url: harChat, request: ask("who"), agent: "nobody", status: 200, content: harAnswer("you")},
		harCall{at: 970, took: 10, url: strings.Replace(harChat, "https://api", "http://API", 1), request: ask("plain"), agent: "root/9.1", status: 200, content: harAnswer("and loud")},
		harCall{at: 980, took: 10, url: harChat, request: ask("base64"), status: 200, content: "e30=", encoding: "base64"},
		harCall{at: 990, took: 10, url: harChat, request: ask("page"), status: 502, content: "<html>\nbad</html>"},
	)
	assert.NilError(t, err)
	assert.DeepEqual(t, out.LeftOut, []string(nil))
	assert.DeepEqual(t, out.Warnings, []transcripts.Warning{
		{Msg: "entry 8: POST https://api.example/v1/chat/completions: the file does not hold the body of the answer (77 bytes), so it is kept as one that broke off"},
		{Msg: "entry 10: POST https://api.example/v1/chat/completions: what was asked is no whole JSON (36 bytes), so it is kept as a request of no agent"},
		{Msg: "entry 11: POST https://api.example/v1/chat/completions: left out, for the file does not hold what was asked"},
		{Msg: `entry 12: POST https://api.example/v1/chat/completions: left out: header X-Tapetree-Agent: "nobody" is no agent path, as in root/2.1`},
	})
	assert.Equal(t, out.Hidden, 2)
	golden.Assert(t, written["agents.jsonl"], "har-failures.jsonl")
}

// TestAnotherWireAtAnotherUpstream: each upstream has a transcript, or all
// together one.
func TestAnotherWireAtAnotherUpstream(t *testing.T) {
	calls := append(harFamily()[2:3],
		harCall{at: 300, took: 100, url: "https://messages.example/v1/messages",
			request: `{"model":"c","max_tokens":9,"system":"You look.","messages":[{"role":"user","content":"Look for errors in the file one.go and report them."}]}`,
			status:  200, content: `{"type":"message","role":"assistant","content":[{"type":"text","text":"one is fine"}],"stop_reason":"end_turn"}`})
	out, written, err := importCalls(t, TrafficOptions{}, calls...)
	assert.NilError(t, err)
	assert.Equal(t, len(out.Transcripts), 2)
	golden.Assert(t, written["agents-api.example.jsonl"], "har-upstream-1.jsonl")
	golden.Assert(t, written["agents-messages.example.jsonl"], "har-upstream-2.jsonl")

	out, written, err = importCalls(t, TrafficOptions{Together: true}, calls...)
	assert.NilError(t, err)
	assert.Equal(t, len(out.Transcripts), 1)
	golden.Assert(t, written["agents.jsonl"], "har-together.jsonl")
}

func TestAFileWithoutModelRequestsWritesNothing(t *testing.T) {
	out, written, err := importCalls(t, TrafficOptions{}, harCall{method: http.MethodGet, url: "https://api.example/v1/models", status: 200})
	assert.ErrorIs(t, err, transcripts.ErrEmpty)
	assert.Error(t, err, "import agents.har: it holds no request for a model answer: no exchange was recorded, nothing was written")
	assert.DeepEqual(t, out.LeftOut, []string{"entry 1: GET https://api.example/v1/models: not to an upstream that was asked for a model answer"})
	assert.Equal(t, len(written), 0)
}

func TestAPathThatIsRefusedEndsTheImport(t *testing.T) {
	refused := errors.New("taken")
	_, err := ImportTraffic(t.Context(), openCalls(t, harFamily()...), TrafficOptions{Path: func(host string, several bool) (string, error) {
		assert.Equal(t, fmt.Sprint(host, several), "api.examplefalse")
		return "", refused
	}})
	assert.Equal(t, err, refused)
}

func TestAnImportThatIsInterruptedKeepsWhatItHas(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	path := filepath.Join(t.TempDir(), "agents.jsonl")
	_, err := ImportTraffic(ctx, openCalls(t, harFamily()...), TrafficOptions{Path: func(string, bool) (string, error) { return path, nil }})
	assert.ErrorIs(t, err, context.Canceled)
	assert.ErrorContains(t, err, "what was finished is in "+path+".partial")
}

// TestMomentsOfEntriesThatTakeNoTime: they end before another one begins, in the
// order of the file, whatever stands around them.
func TestMomentsOfEntriesThatTakeNoTime(t *testing.T) {
	h := openCalls(t, harCall{at: 10, url: harChat}, harCall{at: 10, url: harChat}, harCall{at: 0, took: 11, url: harChat}, harCall{at: 10, took: 5, url: harChat})
	g := &trafficGroup{entries: h.Entries}
	var got []string
	for _, m := range g.moments() {
		got = append(got, fmt.Sprintf("%d%s", g.entries[m.entry].Number, map[bool]string{false: " begins", true: " ends"}[m.end]))
	}
	assert.DeepEqual(t, got, []string{"3 begins", "3 ends", "1 begins", "1 ends", "2 begins", "2 ends", "4 begins", "4 ends"})
}
