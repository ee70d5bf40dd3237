package record

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/tapetree/tapetree/runtime"
	"gotest.tools/v3/assert"
)

func withFaults(t *testing.T, lines ...string) PlaybackOptions {
	t.Helper()
	var o PlaybackOptions
	for _, line := range lines {
		fault, err := ParseFault(line)
		assert.NilError(t, err)
		o.Faults = append(o.Faults, fault)
	}
	return o
}

// A status fault answers in front of the recorded exchange, which the client
// gets when it asks again.
func TestPlaybackOfAStatusFault(t *testing.T) {
	s := delegation(t, runtime.WireChat, apples, pears)
	server := serve(t, s.file, withFaults(t, "root#2 status 429 retry-after=3 times=2", "root/1.1#1 status 500", "root/7.1#1 status 500"))
	x := s.file.Exchanges
	server.send(t, bodyFrom(x[0]))
	got, _ := server.post(t, t.Context(), bodyFrom(x[1]))
	const busy = `{"error":{"message":"injected fault","type":"server_error","param":null,"code":"server_error"}}`
	assert.DeepEqual(t, got, answered{500, busy, false})
	server.send(t, bodyFrom(x[2]))
	for range 2 {
		got, header := server.post(t, t.Context(), bodyFrom(x[3]))
		assert.DeepEqual(t, got, answered{429, `{"error":{"message":"injected fault","type":"rate_limit_exceeded","param":null,"code":"rate_limit_exceeded"}}`, false})
		assert.Equal(t, header.Get("Retry-After"), "3")
	}
	assert.DeepEqual(t, server.send(t, bodyFrom(x[3])), answered{200, string(x[3].Response), false})
	report := server.end(t)
	assert.DeepEqual(t, findings(report.Report), []string{
		"replay/extra root/1.1#1 exchange root/1.1#1 was never asked for",
		"replay/fault root/7.1#1 fault root/7.1#1 status 500: never met, no such turn was asked for",
	})
	assert.DeepEqual(t, report.Notes, []string{
		"fault root#2 status 429 retry-after=3 times=2: applied to 2 requests; the agent asked again",
		"fault root/1.1#1 status 500: applied; the agent stopped",
	})
	assert.DeepEqual(t, outline(report.Session), []string{
		`root#1 2/1 {"role":"user","content":"Ask two children about the harvest."} -> 200`,
		`root/1.1#1 2/1 {"role":"user","content":"Look at the apples and say how they are."} -> 500`,
		`root/1.2#1 2/1 {"role":"user","content":"Look at the pears and say how they are."} -> 200`,
		`root#2 5/1 {"role":"tool","tool_call_id":"call_b","content":"The pears are still hard and green."} -> 429`,
		`root#2 try 2 5/2 {"role":"tool","tool_call_id":"call_b","content":"The pears are still hard and green."} -> 429`,
		`root#2 try 3 5/3 {"role":"tool","tool_call_id":"call_b","content":"The pears are still hard and green."} -> 200`,
	})
}

// A spoilt answer comes whole when it is asked for again.
func TestPlaybackOfASpoiltAnswer(t *testing.T) {
	s := newStory(runtime.WireChat)
	s.turn(t, "root", chatStream, said("user", "Go."))
	s.turn(t, "root", talk("Gone."), gave("a", "1"), gave("b", "2"))
	server := serve(t, s.file, withFaults(t, "root#1 cut arguments", "root#2 cut arguments", "root#2 delay 1ms"))
	x := s.file.Exchanges
	got := server.send(t, bodyFrom(x[0]))
	assert.DeepEqual(t, got, answered{200, chatStream[:210], true})
	assert.DeepEqual(t, server.send(t, bodyFrom(x[0])), answered{200, chatStream, false})
	assert.DeepEqual(t, server.send(t, bodyFrom(x[1])), answered{200, string(x[1].Response), false})
	report := server.end(t)
	const idle = "fault root#2 cut arguments: not applied, the answer has no call with arguments"
	want := exactReport(2)
	want.Findings, want.Warnings = []Finding{{Code: codeFault, Agent: "root", Turn: 2, Message: idle}}, []string{idle}
	assert.DeepEqual(t, report.Report, want)
	assert.DeepEqual(t, report.Notes, []string{
		"fault root#1 cut arguments: applied; the agent asked again and went on",
		"fault root#2 delay 1ms: applied; the agent was done",
	})
	var ends []runtime.End
	for _, e := range report.Session.Exchanges {
		ends = append(ends, e.StreamEnd)
	}
	assert.DeepEqual(t, ends, []runtime.End{runtime.EndReset, runtime.EndDone, ""})
}

// A client that does not take a spoilt answer, although it can be read, asks
// again: that is another try, of a parent and of a child.
func TestPlaybackOfARefusedAnswer(t *testing.T) {
	for _, fault := range []string{"no-done", "arguments malformed", "ids empty"} {
		s := newStory(runtime.WireChat)
		parent := fmt.Sprintf(`data: {"choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"id":"c","function":{"name":"task","arguments":%s}}]}}]}`,
			quoted(`{"prompt":"`+apples+`"}`)) + "\n\n" +
			`data: {"choices":[{"index":0,"delta":{},"finish_reason":"tool_calls"}]}` + "\n\ndata: [DONE]\n\n"
		s.turn(t, "root", parent, said("user", "Ask a child."))
		s.turn(t, "root/1.1", chatStream, said("user", apples))
		s.turn(t, "root/1.1", talk("The apples are ripe and red this year."), gave("a", "1"), gave("b", "2"))
		s.turn(t, "root", talk("Gone."), gave("c", "The apples are ripe and red this year."))
		server := serve(t, s.file, withFaults(t, "root#1 "+fault, "root/1.1#1 "+fault))
		for i, e := range s.file.Exchanges {
			if i < 2 {
				spoilt := server.send(t, bodyFrom(e))
				assert.Assert(t, spoilt.Status == 200 && spoilt.Body != strings.Join(e.SSE, ""), fault)
			}
			assert.DeepEqual(t, server.send(t, bodyFrom(e)), answered{200, string(e.Reply().Body), false})
		}
		report := server.end(t)
		assert.DeepEqual(t, report.Report, exactReport(4))
		assert.DeepEqual(t, report.Notes, []string{
			"fault root#1 " + fault + ": applied; the agent asked again and went on",
			"fault root/1.1#1 " + fault + ": applied; the agent asked again and went on",
		})
	}
}

// Faults meet our own runner too: what the upstream is made to do is an
// upstream's error, and the next try comes to the tape.
func TestFaultsMeetTheRunner(t *testing.T) {
	u := newUpstream(t, family)
	f, _, run := record(t, u, session{})
	o := withFaults(t, "root#1 status 503", "root/1.1#1 cut 10")
	o.ReplayOptions.Live = allLive
	r, err := NewReplayer(f, o.ReplayOptions)
	assert.NilError(t, err)
	again, err := session{model: r, tape: r, observe: r.Observe}.run(t)
	assert.NilError(t, err)
	assert.Equal(t, again.Final, run.Final)
	assert.DeepEqual(t, again.Turns[0].Failed, []runtime.FailedTry{{Status: 503, Kind: "status"}})
	assert.DeepEqual(t, r.FaultNotes(), []string{
		"fault root#1 status 503: applied; the agent asked again and went on",
		"fault root/1.1#1 cut 10: applied; the agent asked again and went on",
	})
	assert.Equal(t, len(r.Report().Findings), 0, "%v", r.Report().Findings)
}

// The words of an error are the user's, and may hold a key.
func TestFaultNotesShowNoSecret(t *testing.T) {
	s := newStory(runtime.WireChat)
	s.turn(t, "root", talk("Yes."), said("user", "Is it?"))
	o := withFaults(t, "root#1 error no access with ghp_"+strings.Repeat("Zk29", 9))
	r, err := NewReplayer(s.file, o.ReplayOptions)
	assert.NilError(t, err)
	assert.Equal(t, r.Report().Warnings[0], "fault root#1 error no access with ***: never met, no such turn was asked for")
	_, err = r.Complete(t.Context(), requestOf(s.file.Exchanges[0]))
	assert.Assert(t, err != nil)
	assert.DeepEqual(t, r.FaultNotes(), []string{"fault root#1 error no access with ***: applied; the agent stopped"})
}

// A wait ends with its request.
func TestADelayEndsWithTheRequest(t *testing.T) {
	s := newStory(runtime.WireChat)
	s.turn(t, "root", talk("Yes."), said("user", "Is it?"))
	o := withFaults(t, "root#1 delay 1h")
	r, err := NewReplayer(s.file, o.ReplayOptions)
	assert.NilError(t, err)
	waiting := make(chan error, 1)
	ctx, cancel := contextWithCancel(t)
	go func() {
		_, err := r.Complete(ctx, requestOf(s.file.Exchanges[0]))
		waiting <- err
	}()
	cancel()
	err = <-waiting
	assert.Assert(t, errors.Is(err, ctx.Err()))
	assert.Equal(t, o.Faults[0].Delay, time.Hour)
}
