package runtime

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"gotest.tools/v3/assert"
)

// TestStopReasons: content decides, not finish_reason; each run asks exactly as
// often as told. The answer that promises calls and has none is case 1.21, the
// answer that was cut off whatever its finish_reason says is case 1.25.
func TestStopReasons(t *testing.T) {
	refusal := answering("stop", "")
	refusal.Refusal = "I will not"
	for _, tt := range []struct {
		name     string
		steps    []step
		stop     StopReason
		final    string
		partial  string
		outcomes []string
	}{
		{"text", []step{saying("done")}, StopAnswer, "done", "", nil},
		{"text without a finish_reason", []step{{answer: answering("", "done")}}, StopAnswer, "done", "", nil},
		{"text with tool_calls as reason", []step{{answer: answering("tool_calls", "done")}}, StopAnswer, "done", "", nil},
		{"case 1.21: tool_calls without a call", []step{{answer: answering("tool_calls", "")}}, StopEmpty, "", "", nil},
		{"case 1.21: nor with reasoning", []step{{answer: decodeStream(t, sse(delta(`{"reasoning_content":"hm"}`), finish("tool_calls"), "[DONE]"))}}, StopEmpty, "", "", nil},
		{"case 1.21: nor with an empty list", []step{{answer: decodeJSON(t, `{"choices":[{"message":{"content":"","tool_calls":[]},"finish_reason":"tool_calls"}]}`)}}, StopEmpty, "", "", nil},
		{"case 1.21: function_call without a call", []step{{answer: answering("function_call", "")}}, StopEmpty, "", "", nil},
		{"blank", []step{saying(" \n")}, StopEmpty, "", "", nil},
		{"cut text", []step{{answer: answering("length", "half a sen")}}, StopTruncated, "", "half a sen", nil},
		{"refusal", []step{{answer: refusal}}, StopRefused, "", "I will not", nil},
		{"filter", []step{{answer: answering("content_filter", "so far")}}, StopRefused, "", "so far", nil},
		{
			"complete calls with stop run",
			[]step{{answer: answering("stop", "", `a echo {"text":"x"}`)}, saying("done")},
			StopAnswer, "done", "", []string{"1.1 a echo allow: echo x"},
		},
		{
			"case 1.25: length cuts every call",
			[]step{{answer: answering("length", "", `a echo {"text":"x"}`, `b echo {"text":"# Ti`)}, saying("done")},
			StopAnswer, "done", "", []string{
				"1.1 a echo cut: Error [truncated_call]: The call was cut off and was not run",
				"1.2 b echo cut: Error [truncated_call]: The call was cut off and was not run",
			},
		},
		{
			"case 1.25: stop, but the arguments are cut",
			[]step{{answer: answering("stop", "", `a echo {"text":"# Ti`)}, saying("done")},
			StopAnswer, "done", "",
			[]string{"1.1 a echo cut: Error [truncated_call]: The call was cut off and was not run"},
		},
		{
			"case 1.25: tool_calls, but the arguments are cut",
			[]step{calling(`a echo {"text":"# Ti`), saying("done")},
			StopAnswer, "done", "",
			[]string{"1.1 a echo cut: Error [truncated_call]: The call was cut off and was not run"},
		},
		{
			"no JSON at all: the siblings run",
			[]step{calling(`a echo {"text":"x"}`, `b echo }{`, `c echo {"text":"y"}`), saying("done")},
			StopAnswer, "done", "", []string{
				"1.1 a echo allow: echo x",
				"1.2 b echo invalid: Error [invalid_arguments]: arguments: must be valid JSON",
				"1.3 c echo allow: echo y",
			},
		},
		{
			"unknown tool",
			[]step{calling(`a task {"description":"x"}`), saying("done")},
			StopAnswer, "done", "", []string{"1.1 a task unknown: Error [unknown_tool]: Unknown tool: task"},
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := newScript(t).on(Root, tt.steps...)
			run, err := runnerOf(s).Run(t.Context(), "go")
			assert.NilError(t, err)
			assert.Equal(t, run.Stop, tt.stop)
			assert.Equal(t, run.Final, tt.final)
			assert.Equal(t, run.Partial, tt.partial)
			assert.DeepEqual(t, outcomes(run), tt.outcomes)
			assert.Equal(t, len(s.requestsOf(Root)), len(tt.steps))
			assert.Equal(t, pairedText(run.History.Messages()), "")
		})
	}
}

// TestTurnLimit: exactly MaxTurns requests, the last turn's calls still run,
// and what a tool said last is never the answer.
func TestTurnLimit(t *testing.T) {
	s := newScript(t)
	for range 30 {
		s.on(Root, step{answer: answering("tool_calls", "found X", `- echo {"text":"x"}`)})
	}
	r := runnerOf(s)
	r.MaxTurns = 30
	run, err := r.Run(t.Context(), "go")
	assert.NilError(t, err)
	assert.Equal(t, run.Stop, StopTurnLimit)
	assert.Equal(t, run.Final, "")
	assert.Equal(t, run.Partial, "found X")
	assert.Equal(t, len(s.requestsOf(Root)), 30)
	assert.Equal(t, len(run.Turns), 30)
	assert.Equal(t, run.Turns[29].Calls[0].Result, "echo x")

	t.Run("an answer in the last turn counts", func(t *testing.T) {
		s := newScript(t).on(Root, calling(`a echo {}`), saying("done"))
		r := runnerOf(s)
		r.MaxTurns = 2
		run, err := r.Run(t.Context(), "go")
		assert.NilError(t, err)
		assert.Equal(t, run.Stop, StopAnswer)
	})
}

// TestTries: a try is no turn; the third failure or one not worth a try ends it.
func TestTries(t *testing.T) {
	for _, tt := range []struct {
		name   string
		steps  []step
		stop   StopReason
		status int
		failed []FailedTry
	}{
		{"429, then 200", []step{failing(429, "status", true), saying("done")}, StopAnswer, 0, []FailedTry{{429, "status"}}},
		{"cut and dial, then 200", []step{failing(200, "cut", true), failing(0, "dial", true), saying("done")}, StopAnswer, 0, []FailedTry{{200, "cut"}, {0, "dial"}}},
		{"three times 500", []step{failing(500, "status", true), failing(502, "status", true), failing(503, "status", true)}, StopUpstreamError, 503, []FailedTry{{500, "status"}, {502, "status"}, {503, "status"}}},
		{"401", []step{failing(401, "status", false)}, StopUpstreamError, 401, []FailedTry{{401, "status"}}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := newScript(t).on(Root, tt.steps...)
			run, err := runnerOf(s).Run(t.Context(), "go")
			assert.NilError(t, err)
			assert.Equal(t, run.Stop, tt.stop)
			assert.Equal(t, run.Status, tt.status)
			assert.Equal(t, len(run.Turns), 1)
			assert.DeepEqual(t, run.Turns[0].Failed, tt.failed)
			var places []Place
			for i, req := range s.requestsOf(Root) {
				assert.Equal(t, string(req.Body()), string(s.requestsOf(Root)[0].Body()), "each try asks the same")
				places = append(places, Place{Root, 1, i + 1})
				assert.Equal(t, req.Place, places[i])
			}
			assert.Equal(t, len(places), len(tt.steps))
		})
	}
}

// TestFailedTryLeaves: text and usage of a broken answer are kept.
func TestFailedTryLeaves(t *testing.T) {
	broken := step{err: &UpstreamError{Status: 200, Kind: "stream", Partial: "half", Usage: Usage{Input: 7}}}
	run, err := runnerOf(newScript(t).on(Root, broken)).Run(t.Context(), "go")
	assert.NilError(t, err)
	assert.Equal(t, run.Partial, "half")
	assert.Equal(t, run.Usage, Usage{Input: 7})
	assert.Equal(t, run.Tree, Usage{Input: 7})
}

// TestBackoff: it is asked for tries 2 and 3, and cancelling ends the wait.
func TestBackoff(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	var tries []int
	r := runnerOf(newScript(t).on(Root, failing(429, "status", true), failing(429, "status", true)))
	r.Backoff = func(try int, _ time.Duration) time.Duration {
		tries = append(tries, try)
		if try == 3 {
			cancel()
			return time.Hour
		}
		return 0
	}
	run, err := r.Run(ctx, "go")
	assert.NilError(t, err)
	assert.Equal(t, run.Stop, StopCancelled)
	assert.DeepEqual(t, tries, []int{2, 3})
}

// TestHarnessErrors: what is no fault of the upstream reaches the caller, with
// the run so far.
func TestHarnessErrors(t *testing.T) {
	s := newScript(t).on(Root, calling(`a echo {"text":"x"}`), step{err: errors.New("disk full")})
	run, err := runnerOf(s).Run(t.Context(), "go")
	assert.Error(t, err, "ask model for root turn 2: disk full")
	assert.Equal(t, run.Stop, StopReason(""))
	assert.DeepEqual(t, outcomes(run), []string{"1.1 a echo allow: echo x"})
	assert.Equal(t, pairedText(run.History.Messages()), "")

	for name, want := range map[string]struct {
		step step
		text string
	}{
		"crash":             {step{act: func() { panic("boom") }}, "ask model for root turn 1: the model client crashed: boom"},
		"nothing":           {step{}, "ask model for root turn 1: the model client gave no answer"},
		"context, not ours": {step{err: context.Canceled}, "ask model for root turn 1: context canceled"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := runnerOf(newScript(t).on(Root, want.step)).Run(t.Context(), "go")
			assert.Error(t, err, want.text)
		})
	}

	_, err = (&Runner{MaxTurns: 1}).Run(t.Context(), "go")
	assert.Error(t, err, "run agent root: it has no model")
	_, err = (&Runner{Model: newScript(t)}).Run(t.Context(), "go")
	assert.Error(t, err, "run agent root: MaxTurns is 0, must be at least 1")
}

// TestRequest: what the runner says is in every request, tools in order.
func TestRequest(t *testing.T) {
	s := newScript(t).on(Root, saying("done"))
	r := runnerOf(s)
	r.Stream = true
	r.Params = []Param{{"temperature", []byte("0")}}
	_, err := r.Run(t.Context(), "go <on>")
	assert.NilError(t, err)
	assert.Equal(t, string(s.requestsOf(Root)[0].Body()),
		`{"model":"m","messages":[{"role":"system","content":"system of root"},{"role":"user","content":"go <on>"}],`+
			`"tools":[{"type":"function","function":{"name":"echo","description":"Gives the text back.",`+
			`"parameters":{"type":"object","properties":{"text":{"type":"string"}},"additionalProperties":false}}}],`+
			`"temperature":0,"stream":true,"stream_options":{"include_usage":true}}`)
}

// TestRepairedIDs is case 3.05: one id for two calls in one turn, again turns
// later, and empty ids.
func TestRepairedIDs(t *testing.T) {
	s := newScript(t).on(Root,
		calling(`d echo {"text":"1"}`, `d echo {"text":"2"}`, `- echo {"text":"3"}`, `- echo {"text":"4"}`, `d~2 echo {"text":"5"}`),
		calling(`d echo {"text":"6"}`, `call-2.1 echo {"text":"7"}`, `e echo {"text":"8"}`),
		calling(`- echo {"text":"9"}`),
		saying("done"))
	run, err := runnerOf(s).Run(t.Context(), "go")
	assert.NilError(t, err)
	assert.DeepEqual(t, outcomes(run), []string{
		"1.1 d echo allow: echo 1",
		"1.2 d~3 echo allow: echo 2",
		"1.3 call-1.3 echo allow: echo 3",
		"1.4 call-1.4 echo allow: echo 4",
		"1.5 d~2 echo allow: echo 5",
		"2.1 d~4 echo allow: echo 6",
		"2.2 call-2.1 echo allow: echo 7",
		"2.3 e echo allow: echo 8",
		"3.1 call-3.1 echo allow: echo 9",
	})
	var ids, answers []string
	for _, m := range run.History.Messages() {
		parsed, err := ParseMessage(m.Raw)
		assert.NilError(t, err)
		assert.DeepEqual(t, parsed, m, cmp.Transformer("raw", func(m Message) string { return string(m.Raw) }))
		for _, call := range m.Calls {
			ids = append(ids, call.ID)
		}
		if m.Role == RoleTool {
			answers = append(answers, m.CallID)
		}
	}
	assert.DeepEqual(t, ids, answers)
	assert.Equal(t, run.Turns[0].Answer.Message.Calls[1].ID, "d", "the answer itself stays as it came")
}

// TestEvents: every moment, in order, with path, label and turn.
func TestEvents(t *testing.T) {
	var log eventLog
	r := runnerOf(newScript(t).on(Root, failing(429, "status", true), calling(`a echo {"text":"x"}`), saying("done")))
	r.Observe = log.observe
	r.Label = "main"
	_, err := r.Run(t.Context(), "go")
	assert.NilError(t, err)
	assert.DeepEqual(t, log.lines, []string{
		"run-start root [main] 0 go",
		"turn-start root [main] 1",
		"try-failed root [main] 1 err=upstream answered 429 (status): upstream words",
		"answer root [main] 1",
		"call-start root [main] 1 1 echo ",
		"call-end root [main] 1 1 echo allow",
		"turn-start root [main] 2",
		"answer root [main] 2",
		"run-end root [main] 0 stop=answer",
	})
}

// TestSent: a turn keeps the messages that its answer was given to.
func TestSent(t *testing.T) {
	s := newScript(t).on(Root, calling(`a echo {}`), saying("done"))
	run, err := runnerOf(s).Run(t.Context(), "go")
	assert.NilError(t, err)
	assert.Equal(t, run.Turns[0].Sent.Len(), 2)
	assert.Equal(t, run.Turns[1].Sent.Len(), 4)
	assert.Equal(t, run.History.Len(), 5)
	assert.Check(t, run.History.Extends(run.Turns[1].Sent))
}
