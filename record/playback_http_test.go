package record

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/tapetree/tapetree/runtime"
	"github.com/tapetree/tapetree/transcripts"
	"gotest.tools/v3/assert"
)

// get asks for a path that is no model request.
func (s *server) get(t *testing.T, method, path, body string) (answered, http.Header) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), method, s.URL+path, strings.NewReader(body))
	assert.NilError(t, err)
	resp, err := s.Client().Do(req)
	if err != nil {
		return answered{Broken: true}, nil
	}
	defer resp.Body.Close()
	got, err := io.ReadAll(resp.Body)
	return answered{resp.StatusCode, string(got), err != nil}, resp.Header
}

func httpLines(lines ...string) []*transcripts.HTTP {
	var list []*transcripts.HTTP
	for i, line := range lines {
		list = append(list, &transcripts.HTTP{Line: i + 2, Raw: jsontext.Value(line)})
	}
	return list
}

// Small endpoints are answered by method and path, in order, the last answer
// again and again.
func TestPlaybackOfOtherPaths(t *testing.T) {
	s := newStory(runtime.WireChat)
	s.turn(t, "root", talk("Yes."), said("user", "Is it?"))
	s.file.Header.Upstream = "https://host/openai/v1"
	s.file.HTTP = httpLines(
		`{"kind":"http","n":1,"method":"GET","path":"/openai/v1/models","status":200,"headers":{"content-type":"application/json"},"response":{"data":[]}}`,
		`{"kind":"http","n":2,"method":"GET","path":"/openai/v1/models","status":503,"headers":{"content-type":"text/plain","retry-after":"5"},"text":"later"}`,
		`{"kind":"http","n":3,"method":"POST","path":"/openai/v1/embeddings","request":{"input":"a"},"status":200,"headers":{},"response":[1]}`,
		`{"kind":"http","n":4,"method":"POST","path":"/openai/v1/embeddings","request":{"input":"b"},"status":200,"headers":{},"base64":"/w=="}`,
		`{"kind":"http","n":5,"method":"GET","path":"/openai/v1/files","status":0,"error":"dial"}`,
	)
	server := serve(t, s.file, PlaybackOptions{Strict: true})
	first, header := server.get(t, "GET", "/v1/models", "")
	assert.DeepEqual(t, first, answered{200, `{"data":[]}`, false})
	assert.DeepEqual(t, header, http.Header{"Content-Type": {"application/json"}, "Content-Length": {"11"}, "Date": header["Date"]})
	for range 2 {
		again, header := server.get(t, "GET", "/v1/models/", "")
		assert.DeepEqual(t, again, answered{503, "later", false})
		assert.Equal(t, header.Get("Retry-After"), "0")
	}
	b, _ := server.get(t, "POST", "/v1/embeddings", `{"input":"b"}`)
	assert.DeepEqual(t, b, answered{200, "\xff", false})
	a, _ := server.get(t, "POST", "/v1/embeddings", `{"input":"c"}`)
	assert.DeepEqual(t, a, answered{200, "[1]", false})
	dead, _ := server.get(t, "GET", "/v1/files", "")
	assert.DeepEqual(t, dead, answered{502, unreachedBody("dial"), false})
	for range 2 {
		unknown, _ := server.get(t, "DELETE", "/v1/files", "")
		assert.DeepEqual(t, unknown, answered{404, `{"error":{"message":"tapetree replay: DELETE /v1/files was not recorded; to accept it: tapetree record tale",` +
			`"type":"tapetree_replay_miss","param":null,"code":"tapetree_replay_miss"}}` + "\n", false})
	}
	unread, _ := server.get(t, "POST", "/v1/messages", `{"model":`)
	assert.DeepEqual(t, unread, answered{404, `{"type":"error","error":{"type":"tapetree_replay_miss",` +
		`"message":"tapetree replay: POST /v1/messages was not recorded; to accept it: tapetree record tale"}}` + "\n", false})
	assert.DeepEqual(t, findings(server.end(t).Report), []string{
		"replay/missing #0 DELETE /v1/files was not recorded",
		"replay/missing #0 POST /v1/messages was not recorded",
		"replay/extra root#1 exchange root#1 was never asked for",
	})
	closed, _ := server.post(t, t.Context(), bodyFrom(s.file.Exchanges[0]))
	assert.Equal(t, closed.Status, 503)
}

// What was not recorded is named also where it is no finding.
func TestPlaybackNotesUnknownPaths(t *testing.T) {
	s := newStory(runtime.WireChat)
	e := s.turn(t, "root", talk("Yes."), said("user", "Is it?"))
	server := serve(t, s.file, PlaybackOptions{})
	for range 2 {
		unknown, _ := server.get(t, "GET", "/v1/models", "")
		assert.Equal(t, unknown.Status, 404)
	}
	server.get(t, "DELETE", "/v1/files", "")
	server.send(t, bodyFrom(e))
	report := server.end(t)
	assert.DeepEqual(t, report.Report, exactReport(1))
	assert.DeepEqual(t, report.Notes, []string{
		"DELETE /v1/files was not recorded, and answered with status 404",
		"GET /v1/models was not recorded, and answered with status 404",
	})
}

// unreachedBody is what a client gets that asks what never reached the upstream.
func unreachedBody(kind string) string {
	return fmt.Sprintf(`{"error":{"message":"tapetree replay: the upstream was not reached when this was recorded",`+
		`"type":"tapetree_upstream_%[1]s","param":null,"code":"tapetree_upstream_%[1]s"}}`, kind) + "\n"
}

// What was recorded as broken off breaks off. What never reached the upstream is
// the error that the recording proxy gave, and to a Go client the same failure.
func TestPlaybackOfBrokenAnswers(t *testing.T) {
	for _, end := range []runtime.End{runtime.EndReset, runtime.EndTimeout, runtime.EndClientClosed, runtime.EndEOF} {
		s := newStory(runtime.WireChat)
		s.turn(t, "root", chatStream, said("user", "Go."))
		e := s.file.Exchanges[0]
		e.SSE, e.StreamEnd = e.SSE[:2], end
		server := serve(t, s.file, PlaybackOptions{})
		assert.DeepEqual(t, server.send(t, bodyFrom(e)), answered{200, strings.Join(e.SSE, ""), end != runtime.EndEOF})
		assert.DeepEqual(t, server.end(t).Report, exactReport(1))
	}
	for _, kind := range []string{runtime.KindDial, runtime.KindTimeout, runtime.KindTLS} {
		s := newStory(runtime.WireChat)
		e := s.turn(t, "root", talk("x"), said("user", "Go."))
		e.Status, e.Response, e.Headers, e.Err = 0, nil, nil, kind
		server := serve(t, s.file, PlaybackOptions{})
		assert.DeepEqual(t, server.send(t, bodyFrom(e)), answered{502, unreachedBody(kind), false})
		p, err := NewPlayback(s.file, PlaybackOptions{})
		assert.NilError(t, err)
		req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "http://h/v1/chat/completions", strings.NewReader(string(e.Body())))
		assert.NilError(t, err)
		_, err = p.RoundTrip(req)
		assert.Equal(t, runtime.ConnectKind(err), kind)
	}
}

// fakeClock is a time that passes only when somebody waits.
type fakeClock struct {
	now   time.Time
	waits []time.Duration
}

func (c *fakeClock) sleep(ctx context.Context, d time.Duration) error {
	if d > 0 {
		c.waits = append(c.waits, d)
		c.now = c.now.Add(d)
	}
	return ctx.Err()
}

// At --speed 1 every block comes when it came.
func TestPlaybackAtRecordedSpeed(t *testing.T) {
	s := newStory(runtime.WireChat)
	e := s.turn(t, "root", "data: {\"choices\":[{\"delta\":{\"content\":\"a\"}}]}\n\ndata: {\"choices\":[{\"delta\":{},\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n", said("user", "Go."))
	e.Headers = append(e.Headers, headerLine("retry-after", "7"))
	s.file.Timing = &transcripts.Timing{Exchanges: []transcripts.ExchangeTime{
		{Agent: "root", Turn: 1, Try: 1, Start: 1000, First: 1200, Blocks: []float64{1200, 1500, 1500}, End: 1600},
	}}
	for speed, want := range map[float64][]time.Duration{
		0: nil,
		1: {200 * time.Millisecond, 300 * time.Millisecond, 100 * time.Millisecond},
		2: {100 * time.Millisecond, 150 * time.Millisecond, 50 * time.Millisecond},
	} {
		p, err := NewPlayback(s.file, PlaybackOptions{Speed: speed})
		assert.NilError(t, err)
		c := &fakeClock{now: time.Unix(1, 0)}
		p.now, p.sleep = func() time.Time { return c.now }, c.sleep
		req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "http://h/v1/chat/completions", strings.NewReader(string(e.Body())))
		assert.NilError(t, err)
		resp, err := p.RoundTrip(req)
		assert.NilError(t, err)
		body, err := io.ReadAll(resp.Body)
		assert.NilError(t, err)
		assert.Equal(t, string(body), strings.Join(e.SSE, ""))
		assert.DeepEqual(t, c.waits, want)
		assert.Equal(t, resp.Header.Get("Retry-After"), map[bool]string{true: "7", false: "0"}[speed > 0])
	}
	_, err := NewPlayback(s.file, PlaybackOptions{Speed: -1})
	assert.Error(t, err, "replay transcripts/tale.jsonl: speed -1 is below 0; 0 answers at once, 1 as recorded")
}

// A block of the recording is one piece on the connection.
func TestPlaybackKeepsFrames(t *testing.T) {
	s := newStory(runtime.WireChat)
	e := s.turn(t, "root", chatStream, said("user", "Go."))
	p, err := NewPlayback(s.file, PlaybackOptions{})
	assert.NilError(t, err)
	w := &framesWriter{header: http.Header{}}
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "http://h/v1/chat/completions", strings.NewReader(string(e.Body())))
	assert.NilError(t, err)
	p.ServeHTTP(w, req)
	assert.DeepEqual(t, w.frames, e.SSE)
}

// framesWriter notes what is written between flushes.
type framesWriter struct {
	header  http.Header
	pending string
	frames  []string
}

func (w *framesWriter) Header() http.Header         { return w.header }
func (w *framesWriter) WriteHeader(int)             {}
func (w *framesWriter) Write(p []byte) (int, error) { w.pending += string(p); return len(p), nil }
func (w *framesWriter) Flush()                      { w.frames, w.pending = append(w.frames, w.pending), "" }

// With Live, what the transcript has no answer for is asked for and kept.
func TestPlaybackMissGoesLive(t *testing.T) {
	s := newStory(runtime.WireChat)
	x := s.turn(t, "root", talk("Yes."), said("user", "Is it?"))
	u := newUpstream(t, func(w http.ResponseWriter, body string) {
		if strings.Contains(body, "stream") {
			sse(w, stream...)
			return
		}
		fmt.Fprint(w, talk("Live."))
	})
	live := roundTripper(func(req *http.Request) (*http.Response, error) {
		assert.Equal(t, req.Header.Get(AgentHeader), "")
		req = req.Clone(req.Context())
		req.URL.Scheme, req.URL.Host, req.Host = "http", strings.TrimPrefix(u.URL, "http://"), ""
		req.RequestURI = ""
		return http.DefaultTransport.RoundTrip(req)
	})
	server := serve(t, s.file, PlaybackOptions{Live: live})
	server.send(t, bodyFrom(x))
	next := strings.TrimSuffix(bodyFrom(x).body, "]}") + `,{"role":"assistant","content":"Yes."},` + said("user", "Sure?") + "]"
	got, _ := server.post(t, t.Context(), askedBody{runtime.WireChat, next + "}"})
	assert.DeepEqual(t, got, answered{200, talk("Live."), false})
	got, _ = server.post(t, t.Context(), askedBody{runtime.WireChat, next + `,"stream":true}`}, AgentHeader, "root/9.1")
	assert.DeepEqual(t, got, answered{200, strings.Join(stream, ""), false})
	report := server.end(t)
	assert.DeepEqual(t, findings(report.Report), []string{
		"replay/missing root#2 no exchange left: the agent asks once more than was recorded",
		"replay/missing root/9.1#1 no exchange left: no exchange of this agent was recorded",
	})
	assert.DeepEqual(t, outline(report.Session), []string{
		`root#1 1/1 {"role":"user","content":"Is it?"} -> 200`,
		`root#2 3/1 {"role":"user","content":"Sure?"} -> 200`,
		`root/9.1#1 3/1 {"role":"user","content":"Sure?"} -> 200`,
	})
	assert.Equal(t, string(report.New[0].Response), talk("Live."))
	assert.DeepEqual(t, report.New[1].SSE, stream)
	assert.Equal(t, report.New[1].StreamEnd, runtime.EndDone)
}

type roundTripper func(*http.Request) (*http.Response, error)

func (f roundTripper) RoundTrip(req *http.Request) (*http.Response, error) { return f(req) }

// A client that says its agent is believed; one that says nonsense is told.
func TestPlaybackOfNamedAgents(t *testing.T) {
	const brief = "Look at the fruit and say how it is."
	s := delegation(t, runtime.WireChat, brief, brief)
	server := serve(t, s.file, PlaybackOptions{})
	for _, i := range []int{0, 2, 1, 3} { // twins, told apart
		e := s.file.Exchanges[i]
		got, _ := server.post(t, t.Context(), bodyFrom(e), AgentHeader, string(e.Agent))
		assert.DeepEqual(t, got, answered{200, string(e.Response), false})
	}
	assert.DeepEqual(t, server.end(t).Report, exactReport(4))
	got, _ := server.post(t, t.Context(), bodyFrom(s.file.Exchanges[0]), AgentHeader, "boss")
	assert.DeepEqual(t, got, answered{400, `{"error":{"message":"tapetree replay: header X-Tapetree-Agent: \"boss\" is no agent path, as in root/2.1",` +
		`"type":"tapetree_replay_miss","param":null,"code":"tapetree_replay_miss"}}` + "\n", false})
}

// What the recording could not keep is no answer: that a client got words of
// ours in its place is a finding.
func TestPlaybackOfAnswersThatWereNotKept(t *testing.T) {
	s := newStory(runtime.WireChat)
	e := s.turn(t, "root", talk("Yes."), said("user", "Is it?"))
	text := runtime.UnreadCoding(http.Header{"Content-Encoding": {"br"}}, nil)
	e.Response, e.Text = nil, &text
	s.file.HTTP = httpLines(`{"kind":"http","n":1,"method":"GET","path":"/v1/models","status":200,"headers":{},"text":` + string(quoted(runtime.UnreadSize(9))) + `}`)
	p, err := NewPlayback(s.file, PlaybackOptions{})
	assert.NilError(t, err)
	report, err := p.Close()
	assert.NilError(t, err)
	assert.DeepEqual(t, findings(report.Report), []string{
		"replay/partial #0 an answer of GET /models was not kept: the response is larger than the limit of 9 bytes, and is not kept",
		"replay/extra root#1 exchange root#1 was never asked for",
		`replay/partial root#1 the answer of root#1 was not kept: the body is in the coding "br", which is not read here and not kept`,
	})
}

// A path and a body that hold a secret are found again with another one.
func TestPlaybackOfOtherPathsWithAnotherKey(t *testing.T) {
	s := newStory(runtime.WireChat)
	s.turn(t, "root", talk("Yes."), said("user", "Is it?"))
	s.file.HTTP = httpLines(
		`{"kind":"http","n":1,"method":"GET","path":"/v1/files/{{secret:github:7}}","status":200,"headers":{},"response":{"n":1}}`,
		`{"kind":"http","n":2,"method":"POST","path":"/v1/embeddings","request":{"input":"a"},"status":200,"headers":{},"response":{"n":2}}`,
		`{"kind":"http","n":3,"method":"POST","path":"/v1/embeddings","request":{"input":"{{secret:github:7}}"},"status":200,"headers":{},"response":{"n":3}}`,
	)
	server := serve(t, s.file, PlaybackOptions{})
	key := "ghp_" + strings.Repeat("Zk29", 9)
	file, _ := server.get(t, "GET", "/v1/files/"+key, "")
	assert.DeepEqual(t, file, answered{200, `{"n":1}`, false})
	vector, _ := server.get(t, "POST", "/v1/embeddings", `{"input":"`+key+`"}`)
	assert.DeepEqual(t, vector, answered{200, `{"n":3}`, false})
}

// What the upstream does not answer is passed on and said, and no part of the
// recording.
func TestPlaybackMissThatNobodyAnswers(t *testing.T) {
	s := newStory(runtime.WireChat)
	x := s.turn(t, "root", talk("Yes."), said("user", "Is it?"))
	at, err := url.Parse("http://user:pass@host:1/v1/chat/completions?key=k")
	assert.NilError(t, err)
	down := true
	server := serve(t, s.file, PlaybackOptions{Live: roundTripper(func(req *http.Request) (*http.Response, error) {
		if down {
			return nil, &UpstreamError{URL: at, Err: errors.New("no way")}
		}
		return &http.Response{StatusCode: 503, Header: http.Header{}, Body: io.NopCloser(strings.NewReader("full")), Request: &http.Request{URL: at}}, nil
	})})
	server.send(t, bodyFrom(x))
	next := askedBody{runtime.WireChat, strings.TrimSuffix(bodyFrom(x).body, "]}") + `,{"role":"assistant","content":"Yes."},` + said("user", "Sure?") + "]}"}
	assert.DeepEqual(t, server.send(t, next), answered{502, `{"error":{"message":"tapetree replay: the upstream http://host:1/v1/chat/completions cannot be reached",` +
		`"type":"tapetree_upstream","param":null,"code":"tapetree_upstream"}}` + "\n", false})
	down = false
	assert.DeepEqual(t, server.send(t, next), answered{503, "full", false})
	report := server.end(t)
	assert.DeepEqual(t, findings(report.Report), []string{
		"replay/missing root#2 no exchange left: the agent asks once more than was recorded",
	})
	assert.DeepEqual(t, outline(report.Session), outline(s.file))
	assert.Equal(t, len(report.New), 0)
	assert.DeepEqual(t, report.Notes, []string{
		"the upstream http://host:1/v1/chat/completions answered with status 503; the transcript is unchanged",
		"the upstream http://host:1/v1/chat/completions cannot be reached; the transcript is unchanged",
	})
}
