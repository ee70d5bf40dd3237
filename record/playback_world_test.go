package record

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/tapetree/tapetree/runtime"
	"github.com/tapetree/tapetree/transcripts"
	"gotest.tools/v3/assert"
)

// story is a foreign transcript that a test tells exchange by exchange.
type story struct {
	wire  runtime.Wire
	file  *transcripts.File
	lists map[runtime.Path]*runtime.History
}

func newStory(wire runtime.Wire) *story {
	return &story{
		wire:  wire,
		file:  &transcripts.File{Path: "transcripts/tale.jsonl", Header: transcripts.Header{Name: "tale", Upstream: "https://host/v1"}, End: &transcripts.End{}},
		lists: map[runtime.Path]*runtime.History{},
	}
}

// said is one message: of a role, or raw JSON.
func said(role, text string) string {
	return fmt.Sprintf(`{"role":%q,"content":%s}`, role, quoted(text))
}

func gave(id, result string) string {
	return fmt.Sprintf(`{"role":"tool","tool_call_id":%q,"content":%s}`, id, quoted(result))
}

// turn adds an agent's next request, which adds messages to its list, and its
// answer; the echo of that answer goes to the next request by itself.
func (s *story) turn(t *testing.T, agent runtime.Path, answer string, messages ...string) *transcripts.Exchange {
	t.Helper()
	list := s.lists[agent]
	n := 1
	if list == nil {
		list = &runtime.History{}
		s.lists[agent] = list
	} else {
		last := s.file.Exchanges[len(s.file.Exchanges)-1]
		for i := len(s.file.Exchanges) - 1; last.Agent != agent; i-- {
			last = s.file.Exchanges[i]
		}
		decoded, err := runtime.Decode(last.Reply(), runtime.Dialect{})
		assert.NilError(t, err)
		list.Append(decoded.Message)
		n = last.Turn + 1
	}
	for _, m := range messages {
		parsed, err := s.wire.ParseItem([]byte(m))
		assert.NilError(t, err)
		list.Append(parsed)
	}
	e := &transcripts.Exchange{
		Line: len(s.file.Exchanges) + 2, Agent: agent, Turn: n, Try: 1, Wire: string(s.wire), Model: "m", Messages: list.View(),
		Status: 200, Headers: []transcripts.Member{{Name: "content-type", Value: quoted("application/json")}},
		Response: jsontext.Value(answer),
	}
	if strings.HasPrefix(answer, "data:") {
		e.Response = nil
		for _, block := range runtime.SplitEvents([]byte(answer)) {
			e.SSE = append(e.SSE, string(block))
		}
		e.StreamEnd = runtime.EndDone
		e.Headers[0].Value = quoted("text/event-stream")
		e.Params = []runtime.Param{{Name: "stream", Value: jsontext.Value("true")}}
	}
	s.file.Exchanges = append(s.file.Exchanges, e)
	s.file.End.Exchanges++
	return e
}

// talk is a chat completion: a text, and calls of the tool task as id and brief.
func talk(text string, briefs ...[2]string) string {
	var calls []string
	for i, b := range briefs {
		arguments := fmt.Sprintf(`{"prompt":%s}`, quoted(b[1]))
		calls = append(calls, fmt.Sprintf(`{"index":%d,"id":%q,"type":"function","function":{"name":"task","arguments":%s}}`, i, b[0], quoted(arguments)))
	}
	content, finish, list := string(quoted(text)), "stop", ""
	if len(calls) > 0 {
		finish, list = "tool_calls", `,"tool_calls":[`+strings.Join(calls, ",")+`]`
		if text == "" {
			content = "null"
		}
	}
	return fmt.Sprintf(`{"id":"c","object":"chat.completion","model":"m","choices":[{"index":0,"message":{"role":"assistant","content":%s%s},"finish_reason":%q}]}`, content, list, finish)
}

// asked is one request of a client: as it was recorded, but for changes.
type askedBody struct {
	wire runtime.Wire
	body string
}

func bodyFrom(e *transcripts.Exchange, changes ...string) askedBody {
	return askedBody{wireOf(e), strings.NewReplacer(changes...).Replace(string(e.Body()))}
}

// answered is what a client got.
type answered struct {
	Status int
	Body   string
	Broken bool
}

// server is a playback behind a real socket.
type server struct {
	*httptest.Server
	playback *Playback
}

func serve(t *testing.T, f *transcripts.File, o PlaybackOptions) *server {
	t.Helper()
	p, err := NewPlayback(f, o)
	assert.NilError(t, err)
	s := &server{httptest.NewServer(p), p}
	t.Cleanup(s.Close)
	return s
}

func (s *server) send(t *testing.T, a askedBody) answered {
	t.Helper()
	got, _ := s.post(t, t.Context(), a)
	return got
}

func (s *server) post(t *testing.T, ctx context.Context, a askedBody, header ...string) (answered, http.Header) {
	t.Helper()
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, s.URL+wirePaths[a.wire], strings.NewReader(a.body))
	assert.NilError(t, err)
	for i := 0; i+1 < len(header); i += 2 {
		req.Header.Set(header[i], header[i+1])
	}
	resp, err := s.Client().Do(req)
	if err != nil {
		return answered{Broken: true}, nil
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	return answered{resp.StatusCode, string(body), err != nil}, resp.Header
}

func (s *server) end(t *testing.T) *PlaybackReport {
	t.Helper()
	report, err := s.playback.Close()
	assert.NilError(t, err)
	return report
}

// outline lists a session: where each exchange stands, what was sent last, what
// came.
func outline(f *transcripts.File) []string {
	var lines []string
	for _, e := range f.Exchanges {
		messages := e.Messages.Messages()
		lines = append(lines, fmt.Sprintf("%s %d/%d %s -> %d", exchangeName(e), len(messages), e.Try, messages[len(messages)-1].Raw, e.Status))
	}
	return lines
}

// exactReport is the report of a replay in which nothing differs.
func exactReport(n int) *Report {
	return &Report{Grade: Exact, Exchanges: n, Used: n, VolatileUses: map[string]int{}}
}

// delegation is a parent that hands two briefs to children at once.
func delegation(t *testing.T, wire runtime.Wire, first, second string) *story {
	s := newStory(wire)
	s.turn(t, "root", talk("", [2]string{"call_a", first}, [2]string{"call_b", second}), said("system", "Be a parent."), said("user", "Ask two children about the harvest."))
	s.turn(t, "root/1.1", talk("The apples are ripe and red this year."), said("system", "Be a child."), said("user", first))
	s.turn(t, "root/1.2", talk("The pears are still hard and green."), said("system", "Be a child."), said("user", second))
	s.turn(t, "root", talk("Apples now, pears later."), gave("call_a", "The apples are ripe and red this year."), gave("call_b", "The pears are still hard and green."))
	return s
}

type exchangeLine = transcripts.Exchange

func headerLine(name, value string) transcripts.Member {
	return transcripts.Member{Name: name, Value: quoted(value)}
}

func contextWithCancel(t *testing.T) (context.Context, context.CancelFunc) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	t.Cleanup(cancel)
	return ctx, cancel
}
