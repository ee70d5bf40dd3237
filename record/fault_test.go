package record

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/tapetree/tapetree/runtime"
	"github.com/tapetree/tapetree/transcripts"
	"gotest.tools/v3/assert"
)

func TestParseFault(t *testing.T) {
	for line, want := range map[string]Fault{
		"root#1 status 429":                           {Agent: "root", Turn: 1, Kind: FaultStatus, Status: 429, Times: 1},
		"root/2.1#3 status 503 retry-after=2 times=4": {Agent: "root/2.1", Turn: 3, Kind: FaultStatus, Status: 503, RetryAfter: "2", Times: 4},
		"root/2.1#2#1 no-done":                        {Agent: "root/2.1#2", Turn: 1, Kind: FaultNoDone},
		"root2~compact.1#* delay 1.5s":                {Agent: "root2~compact.1", Kind: FaultDelay, Delay: 1500 * time.Millisecond},
		"*#2 cut 0":                                   {Turn: 2, Kind: FaultCut},
		"*#* cut arguments":                           {Kind: FaultCut, Word: "arguments"},
		"root/?1#1 arguments malformed":               {Agent: "root/?1", Turn: 1, Kind: FaultArguments, Word: "malformed"},
		"root#1 arguments duplicated":                 {Agent: "root", Turn: 1, Kind: FaultArguments, Word: "duplicated"},
		"root#1 ids empty":                            {Agent: "root", Turn: 1, Kind: FaultIDs, Word: "empty"},
		"root#1 error":                                {Agent: "root", Turn: 1, Kind: FaultError},
		"root#1 error The model is  overloaded.":      {Agent: "root", Turn: 1, Kind: FaultError, Message: "The model is  overloaded."},
		"root#10 status 500 times=2":                  {Agent: "root", Turn: 10, Kind: FaultStatus, Status: 500, Times: 2},
		"root#1 cut 1048576":                          {Agent: "root", Turn: 1, Kind: FaultCut, Bytes: 1048576},
		"root/1.1~side.2#1 ids duplicated":            {Agent: "root/1.1~side.2", Turn: 1, Kind: FaultIDs, Word: "duplicated"},
	} {
		got, err := ParseFault(line)
		assert.NilError(t, err, line)
		assert.Equal(t, got, want)
		assert.Equal(t, got.String(), line)
	}
}

func TestParseFaultRefuses(t *testing.T) {
	const forms = "status CODE [retry-after=SECONDS] [times=N], delay DURATION, cut BYTES|arguments, no-done, " +
		"arguments malformed|duplicated, ids duplicated|empty, error [MESSAGE]"
	for line, want := range map[string]string{
		"":                          "it begins with AGENT#TURN, as in root/2.1#1 status 429",
		"root status 429":           "it begins with AGENT#TURN, as in root/2.1#1 status 429",
		"boss#1 status 429":         `"boss" is no agent path; write root, root/2.1, root~compact.1, or *`,
		"root#0 no-done":            `turn "0" is no number from 1, and not *`,
		"root#01 no-done":           `turn "01" is no number from 1, and not *`,
		"root#1":                    `there is no kind ""; allowed are ` + forms,
		"root#1 explode":            `there is no kind "explode"; allowed are ` + forms,
		"root#1 status":             "after the agent stands status CODE [retry-after=SECONDS] [times=N]",
		"root#1 status 200":         "after the agent stands status CODE [retry-after=SECONDS] [times=N]",
		"root#1 status 429 x=1":     "after the agent stands status CODE [retry-after=SECONDS] [times=N]",
		"root#1 status 429 times=0": "after the agent stands status CODE [retry-after=SECONDS] [times=N]",
		"root#1 delay -1s":          "after the agent stands delay DURATION",
		"root#1 delay 3":            "after the agent stands delay DURATION",
		"root#1 cut":                "after the agent stands cut BYTES|arguments",
		"root#1 cut -1":             "after the agent stands cut BYTES|arguments",
		"root#1 no-done please":     "after the agent stands no-done",
		"root#1 arguments lost":     "after the agent stands arguments malformed|duplicated",
		"root#1 ids":                "after the agent stands ids duplicated|empty",
	} {
		_, err := ParseFault(line)
		assert.Error(t, err, fmt.Sprintf("parse fault %q: %s", line, want))
	}
}

func FuzzParseFault(f *testing.F) {
	f.Add("root/2.1#1 status 429 retry-after=2 times=2")
	f.Add("*#* error over and out")
	f.Add("root#1 delay 1h2m3.5s")
	f.Fuzz(func(t *testing.T, line string) {
		fault, err := ParseFault(line)
		if err != nil {
			return
		}
		again, err := ParseFault(fault.String())
		assert.NilError(t, err)
		assert.Equal(t, again, fault)
	})
}

// Answers with two calls on each wire, whole and as a stream.
const (
	chatWhole = `{"choices":[{"index":0,"message":{"role":"assistant","content":null,"tool_calls":[` +
		`{"id":"a","type":"function","function":{"name":"f","arguments":"{\"x\":1}"}},` +
		`{"id":"b","type":"function","function":{"name":"f","arguments":"{\"y\":2}"}}]},"finish_reason":"tool_calls"}]}`
	chatStream = `data: {"choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"id":"a","function":{"name":"f","arguments":""}}]}}]}` + "\n\n" +
		`data: {"choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"function":{"arguments":"{\"x\""}}]}}]}` + "\n\n" +
		`data: {"choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"function":{"arguments":":1}"}}]}}]}` + "\n\n" +
		`data: {"choices":[{"index":0,"delta":{"tool_calls":[{"index":1,"id":"b","function":{"name":"f","arguments":"{}"}}]}}]}` + "\n\n" +
		`data: {"choices":[{"index":0,"delta":{},"finish_reason":"tool_calls"}]}` + "\n\n" +
		"data: [DONE]\n\n"
	messagesWhole = `{"id":"msg_1","type":"message","role":"assistant","content":[{"type":"text","text":"Well."},` +
		`{"type":"tool_use","id":"a","name":"f","input":{"x":1}},{"type":"tool_use","id":"b","name":"f","input":{"y":2}}],"stop_reason":"tool_use","usage":{"input_tokens":1,"output_tokens":1}}`
	messagesStream = "event: message_start\n" + `data: {"type":"message_start","message":{"id":"msg_1","role":"assistant","content":[],"usage":{"input_tokens":1}}}` + "\n\n" +
		"event: content_block_start\n" + `data: {"type":"content_block_start","index":0,"content_block":{"type":"tool_use","id":"a","name":"f","input":{}}}` + "\n\n" +
		"event: content_block_delta\n" + `data: {"type":"content_block_delta","index":0,"delta":{"type":"input_json_delta","partial_json":"{\"x\":1}"}}` + "\n\n" +
		"event: content_block_stop\n" + `data: {"type":"content_block_stop","index":0}` + "\n\n" +
		"event: content_block_start\n" + `data: {"type":"content_block_start","index":1,"content_block":{"type":"tool_use","id":"b","name":"f","input":{}}}` + "\n\n" +
		"event: content_block_delta\n" + `data: {"type":"content_block_delta","index":1,"delta":{"type":"input_json_delta","partial_json":"{}"}}` + "\n\n" +
		"event: content_block_stop\n" + `data: {"type":"content_block_stop","index":1}` + "\n\n" +
		"event: message_delta\n" + `data: {"type":"message_delta","delta":{"stop_reason":"tool_use"},"usage":{"output_tokens":1}}` + "\n\n" +
		"event: message_stop\n" + `data: {"type":"message_stop"}` + "\n\n"
	responsesWhole = `{"id":"resp_1","object":"response","status":"completed","output":[` +
		`{"type":"function_call","id":"fc_1","call_id":"a","name":"f","arguments":"{\"x\":1}","status":"completed"},` +
		`{"type":"function_call","id":"fc_2","call_id":"b","name":"f","arguments":"{\"y\":2}","status":"completed"}]}`
	responsesStream = "event: response.output_item.added\n" + `data: {"type":"response.output_item.added","output_index":0,"item":{"type":"function_call","id":"fc_1","call_id":"a","name":"f","arguments":""}}` + "\n\n" +
		"event: response.function_call_arguments.delta\n" + `data: {"type":"response.function_call_arguments.delta","item_id":"fc_1","output_index":0,"delta":"{\"x\":1}"}` + "\n\n" +
		"event: response.function_call_arguments.done\n" + `data: {"type":"response.function_call_arguments.done","item_id":"fc_1","output_index":0,"arguments":"{\"x\":1}"}` + "\n\n" +
		"event: response.output_item.done\n" + `data: {"type":"response.output_item.done","output_index":0,"item":{"type":"function_call","id":"fc_1","call_id":"a","name":"f","arguments":"{\"x\":1}"}}` + "\n\n" +
		"event: response.completed\n" + `data: {"type":"response.completed","response":{"id":"resp_1","status":"completed","output":[{"type":"function_call","id":"fc_1","call_id":"a","name":"f","arguments":"{\"x\":1}"}]}}` + "\n\n"
)

// answerOn is an exchange of a wire with one of these answers.
func answerOn(wire runtime.Wire, answer string) *transcripts.Exchange {
	e := &transcripts.Exchange{Agent: "root", Turn: 1, Try: 1, Wire: string(wire), Status: 200}
	if answer[0] == '{' {
		e.Response = jsontext.Value(answer)
		return e
	}
	for _, block := range runtime.SplitEvents([]byte(answer)) {
		e.SSE = append(e.SSE, string(block))
	}
	e.StreamEnd = runtime.EndDone
	return e
}

// outcomeOf says what a decoder makes of an exchange.
func outcomeOf(e *transcripts.Exchange) string {
	answer, err := runtime.Decode(e.Reply(), runtime.Dialect{})
	if failed, ok := errors.AsType[*runtime.UpstreamError](err); ok {
		if failed.Kind == runtime.KindCut {
			return "cut"
		}
		return failed.Kind + ": " + failed.Text
	}
	var calls []string
	for _, call := range answer.Message.Calls {
		calls = append(calls, call.ID+" "+call.Arguments)
	}
	return strings.Join(calls, ", ")
}

// What each fault makes of an answer of each wire, whole and streamed: what a
// decoder reads, or why it cannot be applied.
func TestFaultsOnEveryWire(t *testing.T) {
	const (
		noMark   = "not applied: a JSON answer has no end mark"
		isObject = "not applied: the arguments are a JSON object on this wire, which cannot be spoilt so; a stream's can"
		noMore   = "not applied: the answer has no more bytes than that"
	)
	answers := []*transcripts.Exchange{
		answerOn(runtime.WireChat, chatWhole), answerOn(runtime.WireChat, chatStream),
		answerOn(runtime.WireMessages, messagesWhole), answerOn(runtime.WireMessages, messagesStream),
		answerOn(runtime.WireResponses, responsesWhole), answerOn(runtime.WireResponses, responsesStream),
	}
	for fault, want := range map[string][6]string{
		"cut 40":        {"cut", "cut", "cut", "cut", "cut", "cut"},
		"cut 100000":    {noMore, noMore, noMore, noMore, noMore, noMore},
		"cut arguments": {"cut", "cut", "cut", "cut", "cut", "cut"},
		"no-done":       {noMark, `a {"x":1}, b {}`, noMark, `a {"x":1}, b {}`, noMark, "cut"},
		"arguments malformed": {
			`a {,"x":1}, b {,"y":2}`, `a {,"x":1}, b {,}`, isObject, `a {,"x":1}, b {,}`, `a {,"x":1}, b {,"y":2}`, `a {,"x":1}`,
		},
		"arguments duplicated": {
			`a {"x":1}{"x":1}, b {"y":2}{"y":2}`, `a {"x":1}{"x":1}, b {}{}`, isObject, `a {"x":1}{"x":1}, b {}{}`,
			`a {"x":1}{"x":1}, b {"y":2}{"y":2}`, `a {"x":1}{"x":1}`,
		},
		"ids duplicated": {
			`a {"x":1}, a {"y":2}`, `a {"x":1}, a {}`, `a {"x":1}, a {"y":2}`, `a {"x":1}, a {}`, `a {"x":1}, a {"y":2}`,
			"not applied: the answer has no second call",
		},
		"ids empty":           {` {"x":1},  {"y":2}`, ` {"x":1},  {}`, ` {"x":1},  {"y":2}`, ` {"x":1},  {}`, ` {"x":1},  {"y":2}`, ` {"x":1}`},
		"error":               repeated("stream: injected fault"),
		"error Out of order.": repeated("stream: Out of order."),
	} {
		parsed, err := ParseFault("root#1 " + fault)
		assert.NilError(t, err)
		var got [6]string
		for i, e := range answers {
			before := string(e.Reply().Body)
			spoilt, why := parsed.spoil(e)
			got[i] = outcomeOf(spoilt)
			if why != "" {
				got[i] = "not applied: " + why
			}
			assert.Equal(t, string(e.Reply().Body), before) // the recording stays as it is
		}
		assert.DeepEqual(t, got, want)
	}
}

func repeated(text string) (list [6]string) {
	for i := range list {
		list[i] = text
	}
	return list
}

// Where exactly a cut falls, and what an answer without a call says.
func TestFaultsWithoutACall(t *testing.T) {
	e, _ := Fault{Kind: FaultCut, Word: "arguments"}.spoil(answerOn(runtime.WireChat, chatStream))
	assert.DeepEqual(t, e.SSE[1:], []string{`data: {"choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"function":{"arguments":"{\"x`})
	assert.Equal(t, e.StreamEnd, runtime.EndReset)
	e, _ = Fault{Kind: FaultCut}.spoil(answerOn(runtime.WireChat, chatStream))
	assert.DeepEqual(t, e.SSE, []string{})
	text := "no JSON"
	for fault, want := range map[Fault]string{
		{Kind: FaultCut, Word: "arguments"}:       "the answer has no call with arguments",
		{Kind: FaultArguments, Word: "malformed"}: "the answer has no call",
		{Kind: FaultIDs, Word: "empty"}:           "the answer has no call",
	} {
		_, why := fault.spoil(answerOn(runtime.WireChat, talk("Hello.")))
		assert.Equal(t, why, want)
		_, why = fault.spoil(&transcripts.Exchange{Text: &text})
		assert.Equal(t, why, "the answer is neither JSON nor an event stream")
	}
	_, why := Fault{Kind: FaultNoDone}.spoil(answerOn(runtime.WireChat, "data: {}\n\n"))
	assert.Equal(t, why, "the stream has no end mark")
}

// No stream makes a fault panic, and what is not cut off stays one.
func FuzzSpoil(f *testing.F) {
	for _, answer := range []string{chatWhole, chatStream, messagesWhole, messagesStream, responsesWhole, responsesStream} {
		f.Add(answer, byte(3))
	}
	f.Add("data: {\"choices\":[{\"delta\":{\"tool_calls\":[{\"id\":\"a\"},\r\ndata: {\"function\":{\"arguments\":\"{\"}}]}}]}\r\n\r\n", byte(2))
	lines := []string{
		"cut 7", "cut arguments", "no-done", "arguments malformed", "arguments duplicated", "ids duplicated", "ids empty", "error",
	}
	f.Fuzz(func(t *testing.T, body string, pick byte) {
		fault, err := ParseFault("root#1 " + lines[int(pick)%len(lines)])
		assert.NilError(t, err)
		for _, wire := range []runtime.Wire{runtime.WireChat, runtime.WireMessages, runtime.WireResponses} {
			e := &transcripts.Exchange{Wire: string(wire), Status: 200, SSE: []string{}}
			if strings.HasPrefix(body, "{") && jsontext.Value(body).IsValid() {
				e.SSE, e.Response = nil, jsontext.Value(body)
			}
			for _, block := range runtime.SplitEvents([]byte(body)) {
				if e.SSE != nil {
					e.SSE = append(e.SSE, string(block))
				}
			}
			spoilt, why := fault.spoil(e)
			if why != "" {
				assert.Assert(t, spoilt == e)
				continue
			}
			if spoilt.Response != nil {
				assert.Assert(t, spoilt.Response.IsValid(), "%s", spoilt.Response)
			}
		}
	})
}
