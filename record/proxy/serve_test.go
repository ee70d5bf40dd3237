package proxy

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/tapetree/tapetree/runtime"
	"github.com/tapetree/tapetree/transcripts"
	"gotest.tools/v3/assert"
)

// said is a chat message.
func said(role, text string) string { return fmt.Sprintf(`{"role":%q,"content":%q}`, role, text) }

// streamed is an answer in a few frames.
func streamed(delta string) []string {
	return []string{
		`data: {"choices":[{"index":0,"delta":` + delta + `}]}` + "\n\n",
		`data: {"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}` + "\n\n",
		"data: [DONE]\n\n",
	}
}

// fruit is a tape of a parent and two children at once, about one fruit.
func fruit(t testing.TB, name string) Tape {
	t.Helper()
	call := func(n int) string {
		return fmt.Sprintf(`{"index":%d,"id":"%s%d","type":"function","function":{"name":"task","arguments":"{\"prompt\":\"Look at %s number %d.\"}"}}`, n, name, n, name, n)
	}
	calls := `{"role":"assistant","content":null,"tool_calls":[` + call(0) + "," + call(1) + "]}"
	f := &transcripts.File{Path: name + ".jsonl", Header: transcripts.Header{Name: name}, End: &transcripts.End{Exchanges: 4}}
	add := func(agent runtime.Path, turn int, sse []string, messages ...string) {
		var h runtime.History
		for _, m := range messages {
			parsed, err := runtime.ParseMessage([]byte(m))
			assert.NilError(t, err)
			h.Append(parsed)
		}
		f.Exchanges = append(f.Exchanges, &transcripts.Exchange{
			Line: len(f.Exchanges) + 2, Agent: agent, Turn: turn, Try: 1, Wire: "chat", Model: "m", Messages: h.View(), Status: 200,
			Params:  []runtime.Param{{Name: "stream", Value: jsontext.Value("true")}},
			Headers: []transcripts.Member{{Name: "content-type", Value: jsontext.Value(`"text/event-stream"`)}},
			SSE:     sse, StreamEnd: runtime.EndDone,
		})
	}
	first := []string{said("system", "Be a parent."), said("user", "What of the "+name+"?")}
	add("root", 1, streamed(`{"tool_calls":[`+call(0)+","+call(1)+"]}"), first...)
	for i := range 2 {
		add(runtime.Root.Child(1, i+1), 1, streamed(fmt.Sprintf(`{"content":"%s %d is ripe and sweet."}`, name, i)),
			said("system", "Be a child."), said("user", fmt.Sprintf("Look at %s number %d.", name, i)))
	}
	add("root", 2, streamed(`{"content":"All the `+name+` are fine."}`), append(first, calls,
		fmt.Sprintf(`{"role":"tool","tool_call_id":"%s0","content":"%s 0 is ripe and sweet."}`, name, name),
		fmt.Sprintf(`{"role":"tool","tool_call_id":"%s1","content":"%s 1 is ripe and sweet."}`, name, name))...)
	return Tape{Name: name, File: f}
}

// orchard is a replay server of tapes.
type orchard struct {
	*Server
	replay *Replay
}

func newOrchard(t testing.TB, change func(*ReplayOptions), names ...string) *orchard {
	t.Helper()
	var o ReplayOptions
	for _, name := range names {
		o.Tapes = append(o.Tapes, fruit(t, name))
	}
	if change != nil {
		change(&o)
	}
	replay, err := NewReplay(o)
	assert.NilError(t, err)
	server, err := Listen("127.0.0.1:0", replay, ServerOptions{})
	assert.NilError(t, err)
	t.Cleanup(func() { _ = server.Shutdown(context.Background()) })
	return &orchard{server, replay}
}

// send asks with a recorded request and returns status and body.
func (o *orchard) send(base string, e *transcripts.Exchange) (int, string, error) {
	resp, err := client.Post(o.URL()+base+"/v1/chat/completions", "application/json", strings.NewReader(string(e.Body())))
	if err != nil {
		return 0, "", err
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	return resp.StatusCode, string(body), err
}

// play runs a whole session, its children at once; an error names what came
// wrong.
func (o *orchard) play(base string, f *transcripts.File) error {
	ask := func(e *transcripts.Exchange) error {
		status, body, err := o.send(base, e)
		if err != nil || status != 200 || body != strings.Join(e.SSE, "") {
			return fmt.Errorf("%s %s#%d: %d %s %w", base, e.Agent, e.Turn, status, body, err)
		}
		return nil
	}
	if err := ask(f.Exchanges[0]); err != nil {
		return err
	}
	failed := make(chan error, 2)
	for _, e := range f.Exchanges[1:3] {
		go func() { failed <- ask(e) }()
	}
	for range 2 {
		if err := <-failed; err != nil {
			return err
		}
	}
	return ask(f.Exchanges[3])
}

// reportLines are reports, a line each.
func reportLines(reports []SessionReport) []string {
	var lines []string
	for _, r := range reports {
		line := fmt.Sprintf("%q plays %s run %d: %s, %d of %d", r.Session, r.Tape, r.Run, r.Grade, r.Used, r.Exchanges)
		for _, f := range r.Findings {
			line += "; " + f.Code + " " + f.Message
		}
		lines = append(lines, line)
	}
	return lines
}

func TestSessionsOfAReplay(t *testing.T) {
	o := newOrchard(t, nil, "apples", "pears")
	apples, pears := o.replay.tapes["apples"].File, o.replay.tapes["pears"].File
	assert.NilError(t, o.play("/s/apples", apples))
	assert.NilError(t, o.play("/s/apples", apples)) // anew
	assert.NilError(t, o.play("/s/pears@1", pears))
	_, _, err := o.send("/s/pears@2", pears.Exchanges[0])
	assert.NilError(t, err)
	assert.Equal(t, o.replay.SessionCount(), 3)
	assert.DeepEqual(t, reportLines(o.replay.Close()), []string{
		`"apples" plays apples run 1: exact, 4 of 4`,
		`"apples" plays apples run 2: exact, 4 of 4`,
		`"pears@1" plays pears run 1: exact, 4 of 4`,
		`"pears@2" plays pears run 1: exact, 1 of 4; replay/extra exchange root#2 was never asked for; ` +
			`replay/extra exchange root/1.1#1 was never asked for; replay/extra exchange root/1.2#1 was never asked for`,
	})
	status, body, err := o.send("/s/apples", apples.Exchanges[0])
	assert.NilError(t, err)
	assert.Equal(t, status, 503)
	assert.Equal(t, body, `{"error":{"type":"tapetree_unknown_session","code":"unknown_session","message":"tapetree: the server is stopping"}}`+"\n")
}

// The default session plays what begins with its first request; another tape's
// first request begins another run.
func TestTheDefaultSessionFindsItsTape(t *testing.T) {
	var mu sync.Mutex
	var ended []SessionReport
	o := newOrchard(t, func(o *ReplayOptions) {
		o.Tapes[1].File.HTTP = []*transcripts.HTTP{{Raw: jsontext.Value(`{"kind":"http","n":1,"method":"GET","path":"/v1/models","status":200,"headers":{},"response":{"pears":1}}`)}}
		o.Ended = func(r SessionReport) {
			mu.Lock()
			defer mu.Unlock()
			ended = append(ended, r)
		}
	}, "apples", "pears")
	resp, err := client.Get(o.URL() + "/v1/models")
	assert.NilError(t, err)
	assert.Equal(t, read(t, resp), `{"pears":1}`)
	assert.NilError(t, resp.Body.Close())
	assert.NilError(t, o.play("", o.replay.tapes["apples"].File))
	assert.NilError(t, o.play("", o.replay.tapes["pears"].File))
	assert.NilError(t, o.play("", o.replay.tapes["pears"].File))
	assert.Equal(t, len(o.replay.Close()), 0)
	assert.DeepEqual(t, reportLines(ended), []string{
		`"" plays apples run 1: exact, 4 of 4`,
		`"" plays pears run 2: exact, 4 of 4`,
		`"" plays pears run 3: exact, 4 of 4`,
	})
}

func TestReplayRefusesByName(t *testing.T) {
	o := newOrchard(t, nil, "apples", "pears")
	other := fruit(t, "plums").File.Exchanges[0]
	for base, want := range map[string]string{
		"":         "no transcript begins with this request; name one in the path, as in /s/NAME/v1; there are: apples, pears",
		"/s/plums": "there is no transcript plums; there are: apples, pears",
	} {
		status, body, err := o.send(base, other)
		assert.NilError(t, err)
		assert.Equal(t, status, http.StatusNotFound)
		assert.Equal(t, body, `{"error":{"type":"tapetree_unknown_session","code":"unknown_session","message":"tapetree: `+want+`"}}`+"\n")
	}
	assert.DeepEqual(t, o.replay.Unknown(), []UnknownSession{
		{"", "no transcript begins with this request; name one in the path, as in /s/NAME/v1; there are: apples, pears"},
		{"plums", "there is no transcript plums; there are: apples, pears"},
	})
	_, err := NewReplay(ReplayOptions{})
	assert.Error(t, err, "serve: no transcript given")
	_, err = NewReplay(ReplayOptions{Tapes: []Tape{fruit(t, "apples"), fruit(t, "apples")}})
	assert.Error(t, err, "serve: two transcripts are named apples")
	_, err = NewReplay(ReplayOptions{Tapes: []Tape{{Name: "a@b"}}})
	assert.Error(t, err, `serve: transcript name "a@b": must be of letters, digits and . _ -`)
	_, err = NewReplay(ReplayOptions{Tapes: []Tape{{Name: "a"}}})
	assert.Error(t, err, "serve a: replay: no transcript given")
}

// What asks for no model begins no session, and is no finding of one.
func TestSessionsBeginWithAModelRequest(t *testing.T) {
	for _, names := range [][]string{{"apples"}, {"apples", "pears"}} {
		o := newOrchard(t, nil, names...)
		for _, path := range []string{"/", "/favicon.ico", "/v1/models", "/s/apples/v1/models", "/s/apples@1/"} {
			resp, err := client.Get(o.URL() + path)
			assert.NilError(t, err)
			read(t, resp)
			assert.NilError(t, resp.Body.Close())
			assert.Equal(t, resp.StatusCode, http.StatusNotFound, path)
		}
		assert.Equal(t, o.replay.SessionCount(), 0)
		assert.Equal(t, len(o.replay.Close()), 0)
		assert.Equal(t, len(o.replay.Unknown()), 0)
	}
}

// Sessions that wait for one more request are bounded.
func TestFinishedSessionsAreSummedUp(t *testing.T) {
	o := newOrchard(t, nil, "apples")
	f := o.replay.tapes["apples"].File
	for i := range maxFinished + 3 {
		assert.NilError(t, o.play(fmt.Sprintf("/s/apples@%03d", i), f))
	}
	assert.Equal(t, o.replay.SessionCount(), maxFinished)
	assert.Equal(t, len(o.replay.Close()), maxFinished+3)
}
