package record

import (
	"testing"

	"github.com/tapetree/tapetree/runtime"
	"github.com/tapetree/tapetree/transcripts"
	"gotest.tools/v3/assert"
)

// A call of a tool that does not run live takes verdict and result from its
// line together, and counts for no verdict; task always runs.
func TestCallsFromTape(t *testing.T) {
	u := newUpstream(t, family)
	f, _, run := record(t, u, session{})
	callAt(f, "root", 2, 1).Verdict = runtime.VerdictAskDeny
	asTold := session{note: func(string) string { t.Error("a tool ran"); return "" }}
	report, again, err := replay(t, f, ReplayOptions{Live: func(string) bool { return false }}, asTold)
	assert.NilError(t, err)
	assert.Equal(t, again.Final, run.Final)
	assert.Equal(t, again.Turns[1].Calls[0].Verdict, runtime.VerdictAskDeny)
	assert.DeepEqual(t, report, &Report{
		Grade: Exact, Exchanges: 5, Used: 5, VerdictsLive: 1, VerdictsTotal: 4, VolatileUses: map[string]int{},
	})
}

// A call that is to come from tape and has no line ends the session.
func TestCallWithoutALine(t *testing.T) {
	u := newUpstream(t, family)
	f, _, _ := record(t, u, session{})
	f.Calls = f.Calls[:1]
	report, _, err := replay(t, f, ReplayOptions{Live: func(string) bool { return false }}, session{})
	assert.ErrorIs(t, err, ErrMissing)
	assert.DeepEqual(t, findings(report), []string{
		"replay/extra root#2 2 exchanges from root#2 to root#3 were never asked for",
		"replay/missing root/1.1#1 no tool line for call root/1.1#1.1 (note)",
		"replay/extra root/1.1#2 exchange root/1.1#2 was never asked for",
	})
}

// A line answers its call only if it is about the same one.
func TestTapedCallIsComparedWithItsLine(t *testing.T) {
	u := newUpstream(t, family)
	f, _, _ := record(t, u, session{})
	callAt(f, "root", 2, 2).Arguments = `{"text": "B"}`
	callAt(f, "root", 2, 1).Arguments = `{"text" : "a"}` // the same value
	report, _, err := replay(t, f, ReplayOptions{Live: func(string) bool { return false }}, session{})
	assert.NilError(t, err)
	assert.DeepEqual(t, findings(report), []string{
		`replay/tool-result root#2 root#2.2 arguments: recorded {"text": "B"}, sent {"text":"b"}`,
	})
	assert.DeepEqual(t, report.VolatileUses, map[string]int{"json-form": 1})
}

// A live result that differs is said once, at the call and in the request that
// carries it.
func TestLiveResultDiffers(t *testing.T) {
	u := newUpstream(t, family)
	f, _, _ := record(t, u, session{})
	report, _, err := replay(t, f, ReplayOptions{}, session{note: func(text string) string {
		if text == "b" {
			return "no room"
		}
		return "noted " + text
	}})
	assert.NilError(t, err)
	assert.DeepEqual(t, findings(report), []string{
		`replay/tool-result root#2 root#2.2 result: recorded noted b, sent no room`,
		`replay/history root#3 /messages/6/content: recorded "noted b", sent "no room"`,
	})
}

// The recorded person's answers come back; a question without one is denied
// and is a finding.
func TestTapeApprover(t *testing.T) {
	line := func(call int, tool string, verdict runtime.Verdict, result string) *transcripts.Call {
		return &transcripts.Call{Agent: "root", Turn: 1, Call: call, Name: tool, Verdict: verdict, Result: result}
	}
	f := &transcripts.File{End: &transcripts.End{}, Calls: []*transcripts.Call{
		line(1, "note", runtime.VerdictAskAllow, "noted"),
		line(2, "note", runtime.VerdictAllow, "noted"), // settled for the session by call 1
		line(3, "note", runtime.VerdictAskDeny, "Error [permission_denied]: Denied: not on Sundays"),
		line(4, "note", runtime.VerdictDeny, "Error [permission_denied]: Denied: nobody is there to ask"),
		line(5, "other", runtime.VerdictAllow, "done"), // nobody ever allowed it
		line(6, "other", runtime.VerdictBlocked, "Error [hook_blocked]: no"),
		line(7, "note", "", "noted"),
	}}
	r, err := NewReplayer(f, ReplayOptions{Name: "n"})
	assert.NilError(t, err)
	allow, missing := runtime.Reply{Allow: true}, runtime.Reply{Reason: "no recorded answer"}
	for call, want := range []runtime.Reply{
		allow, allow, {Reason: "not on Sundays"}, {Reason: "nobody is there to ask"}, missing, missing, missing, missing,
	} {
		tool := "note"
		if call == 4 || call == 5 {
			tool = "other"
		}
		got, err := r.Approver().Ask(t.Context(), runtime.Question{Agent: "root", Turn: 1, Call: call + 1, Tool: tool})
		assert.NilError(t, err)
		assert.Equal(t, got, want, "call %d", call+1)
	}
	// The same call's verdict then differs as well; that is one finding.
	r.Observe(runtime.Event{Kind: runtime.EventCallEnd, Agent: "root", Turn: 1, Call: &runtime.CallRecord{
		Number: 5, Name: "other", Verdict: runtime.VerdictAskDeny, Result: "done",
	}})
	var asked []string
	for _, f := range findings(r.Report()) {
		if f[:len("replay/verdict")] == "replay/verdict" {
			asked = append(asked, f)
		}
	}
	assert.DeepEqual(t, asked, []string{
		"replay/verdict root#1 root#1.5 asks the user about other, and the recording holds no answer",
		"replay/verdict root#1 root#1.6 asks the user about other, and the recording holds no answer",
		"replay/verdict root#1 root#1.7 asks the user about note, and the recording holds no answer",
		"replay/verdict root#1 root#1.8 asks the user about note, and the recording holds no answer",
	})
}
