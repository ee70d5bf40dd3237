package proxy

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"context"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/tapetree/tapetree/runtime"
	"gotest.tools/v3/assert"
)

// The client has the first event while the upstream still holds the second.
func TestEventsPassOneByOne(t *testing.T) {
	next := make(chan bool)
	blocks := events("hello", `c1 note {"text":"x"}`)
	v := newWorld(t, func(w http.ResponseWriter, _ *http.Request, _ string) {
		for _, block := range blocks {
			sse(w, block)
			<-next
		}
	})
	resp := v.do(t, "POST", "/v1/chat/completions", ask("user hi"))
	in := bufio.NewReader(resp.Body)
	for _, block := range blocks {
		got := make([]byte, len(block))
		_, err := io.ReadFull(in, got)
		assert.NilError(t, err)
		assert.Equal(t, string(got), block)
		next <- true
	}
	_, err := in.ReadByte()
	assert.ErrorIs(t, err, io.EOF)
	f, _ := v.finish(t)
	assert.DeepEqual(t, f.Exchanges[0].SSE, blocks)
	assert.DeepEqual(t, places(f), []string{"root#1 chat 200 done"})
}

// odd are streams as servers have sent them. Every byte reaches the client, and
// the transcript.
var odd = []struct{ name, stream string }{
	{"case 1.01: calls without an index", `data: {"choices":[{"delta":{"tool_calls":[{"id":"a","function":{"name":"r","arguments":"{\"path\":\"x\"}"}},{"id":"b","function":{"name":"g","arguments":"{}"}}]}}]}` + "\n\ndata: [DONE]\n\n"},
	{"case 1.04: an id in each chunk", strings.Repeat(`data: {"choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"id":"c1","function":{"name":"r","arguments":"{}"}}]}}]}`+"\n\n", 3) + "data: [DONE]\n\n"},
	{"case 1.07: two calls with index 0", `data: {"choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"id":"a","function":{"name":"t","arguments":"{}"}}]}}]}` + "\n\n" + `data: {"choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"id":"b","function":{"name":"u","arguments":"{}"}}]}}]}` + "\n\ndata: [DONE]\n\n"},
	{"case 1.11: no space after data:", `data:{"choices":[{"index":0,"delta":{"content":"x"},"finish_reason":"stop"}]}` + "\n\ndata:[DONE]\n\n"},
	{"case 1.12: comments", ": WAITING\n\n: ping\n\n" + strings.Join(events("x"), "")},
	{"case 1.14: a line of 200 KB", strings.Join(events(strings.Repeat("long ", 40<<10)), "")},
	{"case 1.15: CRLF", strings.ReplaceAll(strings.Join(events("x"), ""), "\n", "\r\n")},
	{"case 1.15: CR", strings.ReplaceAll(strings.Join(events("x"), ""), "\n", "\r")},
	{"case 1.15: several data lines", "data: {\"choices\":\ndata: [{\"index\":0,\"delta\":{\"content\":\"x\"},\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n"},
	{"case 1.17: 日本語 and 🙂", strings.Join(events("日本語 🙂"), "")},
	{"case 1.18: an error object", "data: {\"error\":{\"message\":\"quota\"}}\n\ndata: [DONE]\n\n"},
	{"case 1.18: an error event", "event: error\ndata: \"overloaded\"\n\n"},
	{"case 1.19: nothing at the end", events("x")[0]},
	{"case 1.22: empty arguments", strings.Join(events("", `c1 note `), "")},
	{"case 1.23: arguments as an object", `data: {"choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"id":"a","function":{"name":"r","arguments":{"path":"a","path":"b"}}}]}}]}` + "\n\ndata: [DONE]\n\n"},
	{"case 1.24: no choices", "data: {\"choices\":[]}\n\n" + strings.Join(events("x"), "")},
	{"case 1.25: arguments that break off", strings.Join(events("", `c1 note {"text":"# Ti`), "")},
	{"case 2.01: reasoning", `data: {"choices":[{"index":0,"delta":{"reasoning_content":"r"}}]}` + "\n\n" + strings.Join(events("x"), "")},
	{"case 2.03: extra content", `data: {"choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"id":"a","extra_content":{"google":{"thought_signature":"S"}},"function":{"name":"r","arguments":"{}"}}]}}]}` + "\n\ndata: [DONE]\n\n"},
	{"case 2.08: index 0, null and empty texts", `data: {"x":0.0,"choices":[{"finish_reason":null,"index":0,"delta":{"content":""},"logprobs":null}],"usage":null}` + "\n\ndata: [DONE]\n\n"},
	{"a byte order mark", "\ufeff" + strings.Join(events("x"), "")},
	{"no UTF-8", "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"\xff\"}}]}\n\ndata: [DONE]\n\n"},
	{"nothing", ""},
}

func TestBytesOfStreamsAreUnchanged(t *testing.T) {
	for _, c := range odd {
		for _, size := range []int{1, 7, 1 << 20} { // of the pieces that the upstream sends
			if size < 1<<20 && len(c.stream) > 100<<10 {
				continue
			}
			v := newWorld(t, func(w http.ResponseWriter, _ *http.Request, _ string) {
				w.Header().Set("Content-Type", "text/event-stream")
				w.WriteHeader(200)
				for piece := range strings.SplitSeq(pieces(c.stream, size), "\x00") {
					_, _ = io.WriteString(w, piece)
					w.(http.Flusher).Flush()
				}
			})
			got := v.post(t, "user hi")
			assert.Equal(t, got, c.stream, c.name)
			f, _ := v.finish(t)
			assert.Equal(t, strings.Join(f.Exchanges[0].SSE, ""), c.stream, c.name)
		}
	}
}

// pieces puts a NUL after every size bytes.
func pieces(s string, size int) string {
	var b strings.Builder
	for len(s) > size {
		b.WriteString(s[:size] + "\x00")
		s = s[size:]
	}
	return b.String() + s
}

// JSON bodies pass as they are too: case 2.07's odd errors, case 2.08.
func TestBytesOfBodiesAreUnchanged(t *testing.T) {
	for _, c := range []struct {
		status     int
		kind, body string
	}{
		{200, "application/json", "{ \"usage\":null,\n\t\"choices\": [{\"index\":0,\"message\":{\"role\":\"assistant\",\"content\":\"\"}}]}"},
		{400, "application/json", `[{"error":{"message":["a"]}}]`},
		{502, "text/html", "<html>\r\nBad gateway</html>"},
		{500, "application/octet-stream", "\x00\xff\xfe"},
		{204, "", ""},
	} {
		v := newWorld(t, func(w http.ResponseWriter, _ *http.Request, _ string) {
			w.Header()["Content-Type"] = []string{c.kind}
			w.Header().Set("X-Ratelimit-Remaining", "7")
			w.WriteHeader(c.status)
			_, _ = io.WriteString(w, c.body)
		})
		resp := v.do(t, "POST", "/v1/chat/completions", ask("user hi"))
		assert.Equal(t, read(t, resp), c.body)
		assert.Equal(t, resp.StatusCode, c.status)
		assert.DeepEqual(t, resp.Header["Content-Type"], []string{c.kind})
		assert.Equal(t, resp.Header.Get("X-Ratelimit-Remaining"), "7")
		f, _ := v.finish(t)
		assert.Equal(t, f.Exchanges[0].Status, c.status)
		assert.Equal(t, string(f.Exchanges[0].Reply().Body), c.body)
	}
}

// The request reaches the upstream as the client wrote it, but for our header and
// for codings that could not be recorded.
func TestRequestsAreUnchanged(t *testing.T) {
	heard := make(chan string, 1)
	v := newWorld(t, func(w http.ResponseWriter, r *http.Request, body string) {
		heard <- r.Method + " " + r.URL.RequestURI() + " " + r.Header.Get("Accept-Encoding") + "|" +
			r.Header.Get("X-Own") + "|" + r.Header.Get("X-Tapetree-Agent") + "|" + r.Header.Get("X-Forwarded-For") + "|" + body
		sse(w, events("x")...)
	})
	body := "{ \"messages\" : [ {\"role\":\"user\",\"content\":\"\\u00e9\"} ],\n \"model\":\"m\", \"n\":1.0 }"
	read(t, v.do(t, "POST", "/v1/chat/completions?a=1;b&c=%2F", body, "X-Own: yes", "X-Tapetree-Agent: root/3.1", "Accept-Encoding: br, gzip"))
	assert.Equal(t, <-heard, "POST /api/v1/chat/completions?a=1;b&c=%2F gzip|yes|||"+body)
	f, _ := v.finish(t)
	assert.DeepEqual(t, places(f), []string{"root/3.1#1 chat 200 done"})
}

// A client that goes away takes its request at the upstream with it; what had
// come is kept.
func TestDisconnectReachesTheUpstream(t *testing.T) {
	gone := make(chan bool)
	blocks := events("hello")
	v := newWorld(t, func(w http.ResponseWriter, r *http.Request, _ string) {
		sse(w, blocks[0])
		<-r.Context().Done()
		close(gone)
	})
	ctx, cancel := context.WithCancel(t.Context())
	req, err := http.NewRequestWithContext(ctx, "POST", v.URL()+"/v1/chat/completions", strings.NewReader(ask("user hi")))
	assert.NilError(t, err)
	resp, err := client.Do(req)
	assert.NilError(t, err)
	_, err = io.ReadFull(resp.Body, make([]byte, len(blocks[0])))
	assert.NilError(t, err)
	cancel()
	<-gone
	_ = resp.Body.Close()
	f, _ := v.finish(t)
	assert.DeepEqual(t, places(f), []string{"root#1 chat 200 client-closed"})
	assert.DeepEqual(t, f.Exchanges[0].SSE, blocks[:1])
}

// A client that goes away before an answer begins leaves no exchange; its next
// request is the first try.
func TestDisconnectBeforeAnAnswer(t *testing.T) {
	heard, gone := make(chan bool, 2), make(chan bool)
	first := true
	v := newWorld(t, func(w http.ResponseWriter, r *http.Request, _ string) {
		heard <- true
		if first {
			first = false
			<-r.Context().Done()
			close(gone)
			return
		}
		sse(w, events("x")...)
	})
	ctx, cancel := context.WithCancel(t.Context())
	req, err := http.NewRequestWithContext(ctx, "POST", v.URL()+"/v1/chat/completions", strings.NewReader(ask("user hi")))
	assert.NilError(t, err)
	ended := make(chan error)
	go func() {
		_, err := client.Do(req)
		ended <- err
	}()
	<-heard
	cancel()
	assert.ErrorIs(t, <-ended, context.Canceled)
	<-gone
	v.post(t, "user hi")
	f, _ := v.finish(t)
	assert.DeepEqual(t, places(f), []string{"root#1 chat 200 done"})
}

// An upstream that breaks off breaks the client's connection off as well.
func TestResetReachesTheClient(t *testing.T) {
	blocks := events("hello")
	v := newWorld(t, func(w http.ResponseWriter, _ *http.Request, _ string) {
		sse(w, blocks[0])
		panic(http.ErrAbortHandler)
	})
	resp := v.do(t, "POST", "/v1/chat/completions", ask("user hi"))
	body, err := io.ReadAll(resp.Body)
	assert.Equal(t, string(body), blocks[0])
	assert.Assert(t, cut(err), "%v", err)
	f, _ := v.finish(t)
	assert.DeepEqual(t, places(f), []string{"root#1 chat 200 reset"})
}

// Zipped bodies pass zipped and are recorded as what they say.
func TestGzip(t *testing.T) {
	blocks := events("zipped")
	packed := zip(t, strings.Join(blocks, ""))
	heard := make(chan string, 1)
	v := newWorld(t, func(w http.ResponseWriter, r *http.Request, body string) {
		heard <- body
		w.Header().Set("Content-Type", "text/event-stream")
		w.Header().Set("Content-Encoding", "gzip")
		_, _ = w.Write(packed)
	})
	asked := string(zip(t, ask("user hi")))
	resp := v.do(t, "POST", "/v1/chat/completions", asked, "Content-Encoding: gzip", "Accept-Encoding: gzip")
	assert.Equal(t, read(t, resp), string(packed))
	assert.Equal(t, resp.Header.Get("Content-Encoding"), "gzip")
	assert.Equal(t, <-heard, asked)
	f, _ := v.finish(t)
	assert.DeepEqual(t, f.Exchanges[0].SSE, blocks)
	assert.Equal(t, f.Exchanges[0].Messages.Messages()[0].Content, "hi")
	assert.Equal(t, f.Exchanges[0].StreamEnd, runtime.EndDone)
}

// A request in a coding that is not read passes, and is no model exchange.
func TestUnreadCoding(t *testing.T) {
	v := newWorld(t, saying(events("x")...))
	read(t, v.do(t, "POST", "/v1/chat/completions", "\x1f\x8bnot gzip", "Content-Encoding: br"))
	v.post(t, "user hi")
	f, _ := v.finish(t)
	assert.DeepEqual(t, others(f), []string{
		`{"kind":"http","n":1,"method":"POST","path":"/v1/chat/completions","request":"the body is in the coding \"br\", which is not read here and not kept",` +
			`"status":200,"headers":{"content-type":"text/event-stream"},"text":` + quoted(strings.Join(events("x"), "")) + `}`,
	})
}

// An answer is asked for in a coding in which it can be recorded, as far as the
// client offers one.
func TestOfferedCodings(t *testing.T) {
	v := newWorld(t, saying(events("x")...))
	for _, c := range []struct{ offered, want []string }{
		{nil, nil},
		{[]string{"gzip, deflate, br, zstd"}, []string{"gzip"}},
		{[]string{"br;q=1.0, gzip;q=0.8, *;q=0.1"}, []string{"gzip;q=0.8"}},
		{[]string{"br", "zstd"}, []string{"identity"}},
		{[]string{"gzip;q=1.0,  identity", "GZIP"}, []string{"gzip;q=1.0,  identity", "GZIP"}},
		{[]string{""}, []string{""}},
	} {
		var header []string
		for _, coding := range c.offered {
			header = append(header, "Accept-Encoding: "+coding)
		}
		read(t, v.do(t, "GET", "/v1/models", "", header...))
		assert.DeepEqual(t, v.asked[len(v.asked)-1].Header.Values("Accept-Encoding"), c.want)
	}
}

// A client that waits for leave to send its body has it from us: the upstream is
// not asked for it once more.
func TestExpectation(t *testing.T) {
	v := newWorld(t, saying(events("x")...))
	read(t, v.do(t, "POST", "/v1/chat/completions", ask("user hi"), "Expect: 100-continue"))
	assert.DeepEqual(t, v.asked[0].Header.Values("Expect"), []string(nil))
}

func zip(t *testing.T, text string) []byte {
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	_, err := io.WriteString(z, text)
	assert.NilError(t, err)
	assert.NilError(t, z.Close())
	return b.Bytes()
}
