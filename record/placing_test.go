package record

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/tapetree/tapetree/runtime"
	"gotest.tools/v3/assert"
)

// plain is a chat body of messages.
func plain(messages ...string) askedBody {
	return askedBody{runtime.WireChat, `{"model":"m","messages":[` + strings.Join(messages, ",") + "]}"}
}

// Two children whose briefs both changed are told by the calls that started
// them, whichever comes first.
func TestChangedChildrenAreFoundByTheirCalls(t *testing.T) {
	s := delegation(t, runtime.WireChat, apples, pears)
	server := serve(t, s.file, PlaybackOptions{})
	x := s.file.Exchanges
	server.send(t, bodyFrom(x[0]))
	for _, i := range []int{2, 1} {
		changed := bodyFrom(x[i], "Be a child.", "Be a good child.", `"role":"user","content":"Look`, `"role":"user","content":"Hello. Look`)
		assert.Equal(t, server.send(t, changed).Body, string(x[i].Response))
	}
	server.send(t, bodyFrom(x[3]))
	report := server.end(t)
	assert.DeepEqual(t, findings(report.Report), []string{
		`replay/history root/1.1#1 /messages/1/content: recorded "Look at the apples and say how they are.", sent "Hello. Look at the apples and say how they are."`,
		`replay/prompt root/1.1#1 /messages/0/content: recorded "Be a child.", sent "Be a good child." (and so in 1 more agent)`,
		`replay/history root/1.2#1 /messages/1/content: recorded "Look at the pears and say how they are.", sent "Hello. Look at the pears and say how they are."`,
	})
}

// A summary repeats the conversation that it sums up; it is answered as what it
// is, and the conversation goes on.
func TestASummaryIsNoTurn(t *testing.T) {
	s := newStory(runtime.WireChat)
	s.turn(t, "root", talk("The apples are ripe and red this year."), said("system", "Be helpful."), said("user", "How are the apples?"))
	summary := s.turn(t, "root~compact.1", talk("They talked about apples."),
		said("system", "Summarise the conversation."), said("user", "How are the apples?"), said("assistant", "The apples are ripe and red this year."), said("user", "Summarise."))
	s.turn(t, "root", talk("Hard and green."), said("user", "And the pears?"))
	title := s.turn(t, "root~title.1", talk("Fruit"), said("system", "Write a title."), said("user", "How are the apples?"))
	server := serve(t, s.file, PlaybackOptions{})
	x := s.file.Exchanges
	for _, e := range []*exchangeLine{title, x[0], summary, x[2]} {
		assert.DeepEqual(t, server.send(t, bodyFrom(e)), answered{200, string(e.Response), false})
	}
	report := server.end(t)
	assert.DeepEqual(t, report.Report, exactReport(4))
	assert.DeepEqual(t, outline(report.Session), outline(s.file))
}

// Roots come in any order; one more than was recorded is missed as such.
func TestRootsAreFoundByWhatTheySay(t *testing.T) {
	s := newStory(runtime.WireChat)
	s.turn(t, "root", talk("One."), said("user", "First question of the day."))
	s.turn(t, "root2", talk("Two."), said("user", "Second question of the day."))
	server := serve(t, s.file, PlaybackOptions{})
	x := s.file.Exchanges
	assert.Equal(t, server.send(t, bodyFrom(x[1])).Body, talk("Two."))
	assert.Equal(t, server.send(t, plain(said("user", "Something else altogether."))).Body, talk("One."))
	assert.Equal(t, server.send(t, plain(said("user", "Nothing that was ever asked."))).Status, 400)
	assert.DeepEqual(t, findings(server.end(t).Report), []string{
		`replay/history root#1 /messages/0/content: recorded "First question of the day.", sent "Something else altogether."`,
		"replay/missing root3#1 no exchange left: no exchange of this agent was recorded",
	})
}

// A transcript of one wire answers no client of another.
func TestPlaybackOnAnotherWire(t *testing.T) {
	s := newStory(runtime.WireChat)
	s.turn(t, "root", talk("One."), said("user", "First question of the day."))
	server := serve(t, s.file, PlaybackOptions{})
	got := server.send(t, askedBody{runtime.WireMessages, `{"model":"m","messages":[{"role":"user","content":"First question of the day."}]}`})
	assert.DeepEqual(t, got, answered{400, `{"type":"error","error":{"type":"tapetree_replay_miss","message":"tapetree replay: no exchange left for root turn 1: ` +
		`it asks on the wire messages, recorded is chat; the nearest is exchange root#1 (transcripts/tale.jsonl:2); to accept it: tapetree record tale"}}` + "\n", false})
}

// Paths of this machine are folded in what is asked and expanded in what is
// answered; dates are volatile where a rule says so.
func TestPlaybackOfPlaceholdersAndVolatileText(t *testing.T) {
	s := newStory(runtime.WireChat)
	s.turn(t, "root", talk("Read {{workspace}}/a.txt", [2]string{"c1", "{{workspace}}/a.txt"}), said("user", "Work in {{workspace}} on 2024-05-06."))
	s.turn(t, "root", talk("Done."), gave("c1", "{{workspace}}/a.txt is from 2024-05-06"))
	rules, err := ParseVolatile([]string{"dates"})
	assert.NilError(t, err)
	server := serve(t, s.file, PlaybackOptions{ReplayOptions: ReplayOptions{Fold: runtime.NewFolder([]string{"/live/ws"}, nil, nil), Volatile: rules}})
	here := []string{"{{workspace}}", "/live/ws", "2024-05-06", "2026-07-08"}
	replacer := strings.NewReplacer(here...)
	for _, e := range s.file.Exchanges {
		assert.DeepEqual(t, server.send(t, bodyFrom(e, here...)), answered{200, replacer.Replace(string(e.Response)), false})
	}
	report := server.end(t)
	assert.Equal(t, len(report.Findings), 0, "%v", report.Findings)
	assert.Equal(t, report.Grade, GradeVolatile)
	assert.DeepEqual(t, report.VolatileUses, map[string]int{"dates": 2, "placeholders": 3})
	assert.Equal(t, string(report.Session.Exchanges[1].Messages.Messages()[0].Raw), said("user", "Work in {{workspace}} on 2026-07-08."))
}

// A replay with another key, and another name of the session, is the same one;
// what the client has shown of its own comes back to it.
func TestPlaybackWithOtherSecrets(t *testing.T) {
	const mine = "sk-proj-0123456789abcdefABCDEF0123456789abcdef"
	s := newStory(runtime.WireChat)
	s.turn(t, "root", talk("", [2]string{"c1", "curl -H {{secret:header:7}}"}), said("user", "The key is {{secret:header:7}}, use it."))
	s.turn(t, "root", talk("Done."), gave("c1", "called with {{secret:header:7}}"))
	for _, key := range []string{mine, strings.ToUpper(mine[8:]) + "xyz"} {
		server := serve(t, s.file, PlaybackOptions{})
		for _, e := range s.file.Exchanges {
			got, _ := server.post(t, t.Context(), bodyFrom(e, "{{secret:header:7}}", key), "Authorization", "Bearer "+key)
			assert.DeepEqual(t, got, answered{200, strings.ReplaceAll(string(e.Response), "{{secret:header:7}}", key), false})
		}
		report := server.end(t)
		assert.Equal(t, len(report.Findings), 0, "%v", report.Findings)
		assert.DeepEqual(t, report.Report, &Report{Grade: GradeVolatile, Exchanges: 2, Used: 2, VolatileUses: map[string]int{"json-form": 1, "placeholders": 6}})
		assert.DeepEqual(t, outline(report.Session), outline(s.file))
		assert.Assert(t, !strings.Contains(fmt.Sprintf("%+v", report), key))
	}
}

// A client that leaves in the middle ends its request, and may ask again.
func TestAClientThatLeaves(t *testing.T) {
	s := newStory(runtime.WireChat)
	e := s.turn(t, "root", chatStream, said("user", "Go."))
	p, err := NewPlayback(s.file, PlaybackOptions{})
	assert.NilError(t, err)
	ctx, cancel := context.WithCancel(t.Context())
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://h/v1/chat/completions", strings.NewReader(string(e.Body())))
	assert.NilError(t, err)
	resp, err := p.RoundTrip(req)
	assert.NilError(t, err)
	first := make([]byte, 8)
	_, err = io.ReadFull(resp.Body, first)
	assert.NilError(t, err)
	assert.NilError(t, resp.Body.Close())
	cancel()
	_, err = resp.Body.Read(first)
	assert.ErrorIs(t, err, http.ErrBodyReadAfterClose)
	again := req.Clone(t.Context())
	again.Body = io.NopCloser(strings.NewReader(string(e.Body())))
	resp, err = p.RoundTrip(again)
	assert.NilError(t, err)
	assert.Equal(t, resp.StatusCode, 400) // its answer had been given
}
