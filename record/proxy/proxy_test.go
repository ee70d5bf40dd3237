package proxy

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/tapetree/tapetree/record"
	"github.com/tapetree/tapetree/transcripts"
	"gotest.tools/v3/assert"
)

// A parent starts two children while its answer is still on its way; the second
// asks before the first.
func TestParallelChildren(t *testing.T) {
	half := make(chan bool)
	parent := events("", `c1 task {"prompt":"count the apples in the garden"}`, `c2 task {"prompt":"count the pears in the cellar"}`)
	v := newWorld(t, func(w http.ResponseWriter, _ *http.Request, body string) {
		switch {
		case strings.Contains(body, `"tool_call_id"`):
			sse(w, events("all counted")...)
		case strings.Contains(body, `"content":"count the apples in the garden"`):
			sse(w, events("seven apples are there")...)
		case strings.Contains(body, `"content":"count the pears in the cellar"`):
			sse(w, events("three pears are there")...)
		default:
			sse(w, parent[:3]...)
			<-half
			sse(w, parent[3:]...)
		}
	})
	resp := v.do(t, "POST", "/v1/chat/completions", ask("system you delegate", "user count all the fruit"))
	_, err := readFull(resp, len(strings.Join(parent[:3], "")))
	assert.NilError(t, err)
	pears := v.post(t, "system you count", "user count the pears in the cellar")
	apples := v.post(t, "system you count", "user count the apples in the garden")
	assert.Equal(t, pears+apples, strings.Join(append(events("three pears are there"), events("seven apples are there")...), ""))
	close(half)
	read(t, resp)
	v.post(t, "system you delegate", "user count all the fruit",
		`{"role":"assistant","content":"","refusal":null,"tool_calls":[{"id":"c1","type":"function","function":{"name":"task","arguments":"{\"prompt\": \"count the apples in the garden\"}"}},`+
			`{"id":"c2","type":"function","function":{"name":"task","arguments":"{\"prompt\":\"count the pears in the cellar\"}"}}]}`,
		`{"role":"tool","tool_call_id":"c1","content":"seven apples are there"}`,
		`{"role":"tool","tool_call_id":"c2","content":"three pears are there"}`)
	assert.NilError(t, v.Shutdown(context.Background()))
	result := v.proxy.Close()[0]
	assert.NilError(t, result.Err)
	assert.DeepEqual(t, places(result.File), []string{
		"root#1 chat 200 done", "root/1.1#1 chat 200 done", "root/1.2#1 chat 200 done", "root#2 chat 200 done",
	})
	assert.DeepEqual(t, result.Notes, []string{
		`the client sends answers back changed: arguments written anew (root, 1 time), content null → "" (root, 1 time), refusal added (root, 1 time)`,
	})
	assert.DeepEqual(t, result.File.Header.Models, []string{"m"})
	assert.Equal(t, result.File.Header.Client, "Go-http-client/1.1")
	assert.Equal(t, result.File.Header.Upstream, v.upstream.URL+"/api/v1")
	assert.Equal(t, len(result.File.Timing.Exchanges), 4)
}

func readFull(resp *http.Response, n int) (string, error) {
	var b strings.Builder
	for b.Len() < n {
		p := make([]byte, n-b.Len())
		got, err := resp.Body.Read(p)
		b.Write(p[:got])
		if err != nil {
			return b.String(), err
		}
	}
	return b.String(), nil
}

// Case 6.04: 429 and 503, then 200, are tries of one turn; the retry headers are
// kept.
func TestFailedTries(t *testing.T) {
	statuses := []int{429, 503, 200}
	v := newWorld(t, func(w http.ResponseWriter, _ *http.Request, _ string) {
		status := statuses[0]
		statuses = statuses[1:]
		if status == 200 {
			sse(w, events("x")...)
			return
		}
		w.Header().Set("Retry-After", "3")
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(status)
		fmt.Fprint(w, `{"error":{"message":"slow down"}}`)
	})
	for range 3 {
		v.post(t, "user hi")
	}
	f, _ := v.finish(t)
	assert.DeepEqual(t, places(f), []string{"root#1 chat 429", "root#1 try 2 chat 503", "root#1 try 3 chat 200 done"})
	assert.DeepEqual(t, f.Exchanges[0].Headers, []transcripts.Member{
		{Name: "content-type", Value: []byte(`"application/json"`)}, {Name: "retry-after", Value: []byte(`"3"`)},
	})
}

// What is no model exchange is recorded as it is, by its path without the query.
func TestSmallEndpoints(t *testing.T) {
	v := newWorld(t, func(w http.ResponseWriter, r *http.Request, body string) {
		switch r.URL.Path {
		case "/api/v1/chat/completions":
			sse(w, events("x")...)
		case "/api/v1/models":
			w.Header().Set("Content-Type", "application/json")
			fmt.Fprint(w, `{"data":[]}`)
		case "/api/v1/completions":
			sse(w, "data: {\"text\":\"a\"}\n\n", "data: [DONE]\n\n")
		case "/other/thing":
			w.WriteHeader(404)
			fmt.Fprint(w, "no\n")
		default:
			fmt.Fprint(w, r.URL.Path+" "+body)
		}
	})
	for _, request := range []struct{ method, path, body string }{
		{"GET", "/v1/models?limit=2", ""},
		{"POST", "/v1/embeddings", `{"input":"a"}`},
		{"POST", "/v1/completions", `{"prompt":"a"}`},
		{"GET", "/other/thing", ""},
		{"POST", "/v1/messages/count_tokens", `{"messages":[]}`},
		{"POST", "/v1/chat/completions", `{"messages":"none"}`},
	} {
		read(t, v.do(t, request.method, request.path, request.body))
	}
	v.post(t, "user hi")
	f, _ := v.finish(t)
	plain := `"headers":{"content-type":"text/plain; charset=utf-8"}`
	assert.DeepEqual(t, others(f), []string{
		`{"kind":"http","n":1,"method":"GET","path":"/v1/models","status":200,"headers":{"content-type":"application/json"},"response":{"data":[]}}`,
		`{"kind":"http","n":2,"method":"POST","path":"/v1/embeddings","request":{"input":"a"},"status":200,` + plain + `,"text":"/api/v1/embeddings {\"input\":\"a\"}"}`,
		`{"kind":"http","n":3,"method":"POST","path":"/v1/completions","request":{"prompt":"a"},"status":200,"headers":{"content-type":"text/event-stream"},"text":"data: {\"text\":\"a\"}\n\ndata: [DONE]\n\n"}`,
		`{"kind":"http","n":4,"method":"GET","path":"/other/thing","status":404,` + plain + `,"text":"no\n"}`,
		`{"kind":"http","n":5,"method":"POST","path":"/v1/messages/count_tokens","request":{"messages":[]},"status":200,` + plain + `,"text":"/v1/messages/count_tokens {\"messages\":[]}"}`,
		`{"kind":"http","n":6,"method":"POST","path":"/v1/chat/completions","request":{"messages":"none"},"status":200,"headers":{"content-type":"text/event-stream"},"text":` + quoted(strings.Join(events("x"), "")) + `}`,
	})
	assert.DeepEqual(t, places(f), []string{"root#1 chat 200 done"})
}

func TestStrictRefusesByName(t *testing.T) {
	v := newWorld(t, saying(events("x")...), func(o *Options) { o.Strict = true })
	resp := v.do(t, "POST", "/v1/files", "{}")
	assert.Equal(t, resp.StatusCode, 404)
	assert.Equal(t, resp.Header.Get("X-Should-Retry"), "false")
	assert.Equal(t, read(t, resp), `{"error":{"type":"tapetree_unknown_path","code":"unknown_path","message":"tapetree: POST /v1/files is no request that is recorded here, and --strict refuses all others"}}`+"\n")
	for _, path := range []string{"/v1/models", "/v1/models/m"} {
		assert.Equal(t, v.do(t, "GET", path, "").StatusCode, 200)
	}
	v.post(t, "user hi")
	f, _ := v.finish(t)
	assert.Equal(t, len(f.HTTP), 2)
	assert.Equal(t, len(v.asked), 3)
}

// An upstream that cannot be reached is answered in the shape of the wire, and
// recorded.
func TestUnreachableUpstream(t *testing.T) {
	free, err := net.Listen("tcp", "127.0.0.1:0")
	assert.NilError(t, err)
	address := free.Addr().String()
	assert.NilError(t, free.Close())
	v := newWorld(t, saying(events("x")...), func(o *Options) {
		o.AnthropicUpstream = &url.URL{Scheme: "http", Host: address, User: url.UserPassword("me", "a-secret-password-1234"), RawQuery: "key=abcdefghijklmnop1234"}
	})
	v.post(t, "user hi")
	body := `{"model":"c","max_tokens":9,"messages":[{"role":"user","content":"another talk"}]}`
	resp := v.do(t, "POST", "/v1/messages", body)
	assert.Equal(t, resp.StatusCode, 502)
	assert.Equal(t, read(t, resp), `{"type":"error","error":{"type":"tapetree_upstream_dial","code":"upstream_dial","message":"tapetree: the upstream http://`+address+
		` cannot be reached: dial tcp `+address+`: connect: connection refused"}}`+"\n")
	f, _ := v.finish(t)
	assert.DeepEqual(t, places(f), []string{"root#1 chat 200 done", "root2#1 messages 0  dial"})
}

func TestBadAgentHeader(t *testing.T) {
	v := newWorld(t, saying(events("x")...))
	resp := v.do(t, "POST", "/v1/chat/completions", ask("user hi"), "X-Tapetree-Agent: boss")
	assert.Equal(t, resp.StatusCode, 400)
	assert.Equal(t, read(t, resp), `{"error":{"type":"tapetree_bad_request","code":"bad_request","message":"tapetree: header X-Tapetree-Agent: \"boss\" is no agent path, as in root/2.1"}}`+"\n")
	assert.Equal(t, len(v.asked), 0)
}

// A name that no recording can have is the client's fault, and no session.
func TestBadSession(t *testing.T) {
	v := newWorld(t, saying(events("x")...), func(o *Options) {
		o.Open = func(string) (*record.Recorder, error) {
			return nil, &record.RefusedError{Text: "no such name"}
		}
	})
	for range 2 {
		resp := v.do(t, "POST", "/s/BAD/v1/chat/completions", ask("user hi"))
		assert.Equal(t, resp.StatusCode, 400)
		assert.Equal(t, read(t, resp), `{"error":{"type":"tapetree_bad_session","code":"bad_session","message":"tapetree: no such name"}}`+"\n")
		assert.Equal(t, v.proxy.SessionCount(), 0)
	}
	assert.Equal(t, len(v.proxy.Close()), 0)
}

// Sessions are recorded apart, and end by name.
func TestSessions(t *testing.T) {
	v := newWorld(t, func(w http.ResponseWriter, _ *http.Request, body string) { sse(w, events(body)...) })
	var group sync.WaitGroup
	for _, name := range []string{"a", "b", "c"} {
		for n := range 3 {
			group.Go(func() {
				body := ask(fmt.Sprintf("user %s %d", name, n))
				assert.Check(t, read(t, v.do(t, "POST", "/s/"+name+"/v1/chat/completions", body)) == strings.Join(events(body), ""))
			})
		}
	}
	group.Wait()
	assert.Equal(t, read(t, v.do(t, "GET", "/healthz", "")), `{"status":"ok","sessions":3}`+"\n")
	resp := v.do(t, "DELETE", "/s/b", "")
	assert.Equal(t, read(t, resp), fmt.Sprintf(`{"session":"b","file":%q,"exchanges":3}`, filepath.Join(v.dir, "b.jsonl"))+"\n")
	resp = v.do(t, "POST", "/s/b/v1/chat/completions", ask("user late"))
	assert.Equal(t, resp.StatusCode, 410)
	assert.Equal(t, read(t, resp), `{"error":{"type":"tapetree_session_ended","code":"session_ended","message":"tapetree: session \"b\" has ended; a new recording needs a new name"}}`+"\n")
	assert.Equal(t, v.do(t, "DELETE", "/s/b", "").StatusCode, 404)
	assert.Equal(t, read(t, v.do(t, "GET", "/healthz", "")), `{"status":"ok","sessions":2}`+"\n")

	assert.NilError(t, v.Shutdown(context.Background()))
	var ended []string
	for _, r := range v.proxy.Close() {
		assert.NilError(t, r.Err)
		ended = append(ended, r.Session)
		for _, e := range r.File.Exchanges {
			assert.Assert(t, strings.HasPrefix(e.Messages.Messages()[0].Content, r.Session+" "))
		}
	}
	assert.DeepEqual(t, ended, []string{"a", "c"})
}

// A session that cannot be opened, or written to, answers so.
func TestRecordingFails(t *testing.T) {
	v := newWorld(t, saying(events("x")...), func(o *Options) {
		open := o.Open
		o.Open = func(name string) (*record.Recorder, error) {
			if name == "bad" {
				return nil, errors.New("disk full")
			}
			return open(name)
		}
	})
	resp := v.do(t, "POST", "/s/bad/v1/chat/completions", ask("user hi"))
	assert.Equal(t, resp.StatusCode, 500)
	assert.Equal(t, read(t, resp), `{"error":{"type":"tapetree_recording_failed","code":"recording_failed","message":"tapetree: disk full"}}`+"\n")
	assert.NilError(t, v.Shutdown(context.Background()))
	results := v.proxy.Close()
	assert.Equal(t, len(results), 1)
	assert.Error(t, results[0].Err, "disk full")
	_, open := v.proxy.CloseSession("bad")
	assert.Assert(t, !open)
}

// A session without a model exchange writes nothing.
func TestNothingAsked(t *testing.T) {
	v := newWorld(t, saying(events("x")...))
	read(t, v.do(t, "GET", "/v1/models", ""))
	assert.NilError(t, v.Shutdown(context.Background()))
	results := v.proxy.Close()
	assert.ErrorIs(t, results[0].Err, transcripts.ErrEmpty)
	left, err := os.ReadDir(v.dir)
	assert.NilError(t, err)
	assert.Equal(t, len(left), 0)
}

func TestTarget(t *testing.T) {
	for _, c := range []struct{ upstream, anthropic, asked, want string }{
		{"https://api.openai.com/v1", "", "/v1/chat/completions", "https://api.openai.com/v1/chat/completions"},
		{"https://openrouter.ai/api/v1/", "", "/v1/models?a=1", "https://openrouter.ai/api/v1/models?a=1"},
		{"http://host:1", "", "/v1/models", "http://host:1/models"},
		{"http://host/v1?api-version=2", "", "/v1/models?a=1", "http://host/v1/models?api-version=2&a=1"},
		{"http://host/v1", "", "/api/tags", "http://host/api/tags"},
		{"http://host/v1", "", "/v1", "http://host/v1"},
		{"http://host/v1", "", "/v1/files/a%2Fb", "http://host/v1/files/a%2Fb"},
		{"http://host/v1", "", "/v10/x", "http://host/v10/x"},
		{"http://host/v1", "", "/v1/messages", "http://host/v1/messages"},
		{"http://host/v1", "https://api.anthropic.com", "/v1/messages", "https://api.anthropic.com/v1/messages"},
		{"http://host/v1", "https://api.anthropic.com/v1", "/v1/messages/count_tokens", "https://api.anthropic.com/v1/messages/count_tokens"},
		{"http://host/v1", "https://gate/anthropic", "/v1/messages", "https://gate/anthropic/v1/messages"},
	} {
		o := Options{}
		o.Upstream, _ = url.Parse(c.upstream)
		if c.anthropic != "" {
			o.AnthropicUpstream, _ = url.Parse(c.anthropic)
		}
		asked, err := url.Parse("http://127.0.0.1:9" + c.asked)
		assert.NilError(t, err)
		assert.Equal(t, o.target(&http.Request{URL: asked}).String(), c.want)
	}
}

func TestNewRefuses(t *testing.T) {
	open := func(string) (*record.Recorder, error) { return nil, nil }
	for _, c := range []struct {
		o    Options
		want string
	}{
		{Options{Open: open}, "proxy: an upstream is needed, as in https://api.openai.com/v1"},
		{Options{Upstream: &url.URL{Scheme: "https", Host: "h"}}, "proxy: nothing opens its recordings"},
		{Options{Open: open, Upstream: &url.URL{Scheme: "ftp", Host: "h", User: url.UserPassword("a", "b")}}, `proxy: upstream "ftp://a:xxxxx@h": must look like https://host/v1`},
	} {
		_, err := New(c.o)
		assert.Error(t, err, c.want)
	}
}

// Case 6.01: secrets of every place stay off the disk, and reach the upstream and the
// client as they are.
func TestSecretsStayOffTheDisk(t *testing.T) {
	const key = "sk-not-a-real-key-0123456789abcdef"
	var half = len(key) / 2
	v := newWorld(t, func(w http.ResponseWriter, r *http.Request, body string) {
		w.Header()["sEt-CoOkIe"] = []string{"s=cookie-value-9876"}
		w.Header().Set("X-Ratelimit-Key", key)
		if r.URL.Path == "/api/v1/completions" { // an opaque stream
			sse(w, "data: {\"choices\":[{\"text\":\""+key[:half]+"\"}]}\n\n", "data: {\"choices\":[{\"text\":\""+key[half:]+"\"}]}\n\n")
			return
		}
		echo := r.Header.Get("Authorization") + r.URL.Query().Get("api_key") + envKey
		sse(w, append([]string{
			chunk(`"content":` + quoted("a "+key[:half])), chunk(`"content":` + quoted(key[half:]+" b")), chunk(`"content":` + quoted(echo)),
		}, events("", "c1 note "+`{"text":"`+key+`"}`)...)...)
	})
	got := read(t, v.do(t, "POST", "/v1/chat/completions?api_key=in-the-query-0123456789", ask("user my key is "+key),
		"Authorization: Bearer own-token-of-the-client-42", "Api-Key: another-client-key-43"))
	assert.Assert(t, strings.Contains(got, "own-token-of-the-client-42") && strings.Contains(got, key[half:]))
	read(t, v.do(t, "POST", "/v1/completions", `{"prompt":"own-token-of-the-client-42"}`, "Api-Key: another-client-key-43"))
	f, text := v.finish(t)
	for _, secret := range []string{key, key[:half], key[half:], "own-token-of-the-client-42", "in-the-query-0123456789", "cookie-value-9876", "another-client-key-43", envKey} {
		assert.Assert(t, !strings.Contains(text, secret), "%s stands in the transcript", secret)
	}
	assert.DeepEqual(t, f.Exchanges[0].Headers, []transcripts.Member{
		{Name: "content-type", Value: []byte(`"text/event-stream"`)}, {Name: "x-ratelimit-key", Value: []byte(`"{{secret:openai:1}}"`)},
	})
	assert.Assert(t, f.Exchanges[0].Recut)
	assert.Equal(t, v.asked[0].Header.Get("Authorization"), "Bearer own-token-of-the-client-42")
	var line struct{ Text string }
	assert.NilError(t, json.Unmarshal(f.HTTP[0].Raw, &line))
	assert.Equal(t, line.Text, "data: {\"choices\":[{\"text\":\"{{secret:openai:1}}\"}]}\n\ndata: {\"choices\":[{\"text\":\"\"}]}\n\n")
}

func chunk(delta string) string {
	return `data: {"choices":[{"index":0,"delta":{` + delta + "}}]}\n\n"
}
