package record

import (
	"testing"

	"github.com/tapetree/tapetree/runtime"
	"gotest.tools/v3/assert"
)

func TestEchoChanges(t *testing.T) {
	const call = `{"id":"a","type":"function","function":{"name":"n","arguments":"{\"x\": 1,\"y\":2}"}}`
	for _, c := range []struct {
		answer, echo string
		want         []string
	}{
		{`{"role":"assistant","content":"x"}`, `{"content":"x","role":"assistant"}`, nil},
		{`{"role":"assistant","content":null,"tool_calls":[` + call + `]}`, `{"role":"assistant","content":"","tool_calls":[` + call + `]}`, []string{`content null → ""`}},
		{`{"role":"assistant","content":null,"tool_calls":[` + call + `]}`, `{"role":"assistant","tool_calls":[` + call + `]}`, []string{`content null → absent`}},
		{`{"role":"assistant","content":null,"tool_calls":[` + call + `]}`, `{"role":"assistant","content":[],"tool_calls":[` + call + `]}`, []string{`content null → []`}},
		{`{"role":"assistant","content":"x"}`, `{"role":"assistant","content":[{"type":"text","text":"x"}]}`, []string{"content text → parts"}},
		{`{"role":"assistant","content":" x"}`, `{"role":"assistant","content":"x"}`, []string{"white space around the text"}},
		{`{"role":"assistant","content":"x"}`, `{"role":"assistant","content":"<think>\nt</think>\nx"}`, []string{"thinking in the text"}},
		{`{"role":"assistant","content":"x"}`, `{"role":"assistant","content":"y"}`, []string{"another text"}},
		{`{"role":"assistant","content":"x","tool_calls":[` + call + `]}`, `{"role":"assistant","content":null}`, []string{"1 call → 0 calls", "content text → null"}},
		{`{"role":"assistant","content":"x","reasoning_content":"r"}`, `{"role":"assistant","content":"x","refusal":null,"name":"model"}`, []string{"name added", "reasoning_content left out", "refusal added"}},
		{`{"role":"assistant","content":"x","refusal":"a"}`, `{"role":"assistant","content":"x","refusal":"b"}`, []string{"refusal changed"}},
		{`{"role":"assistant","content":null,"tool_calls":[` + call + `]}`,
			`{"role":"assistant","content":null,"tool_calls":[{"id":"b","index":0,"function":{"name":"m","arguments":"{\"y\":2,\"x\":1.0}"}}]}`,
			[]string{"another name of the call", "arguments written anew", "call id rewritten", "call's index added", "call's type left out"}},
		{`{"role":"assistant","tool_calls":[{"id":"a","function":{"name":"n","arguments":""}}]}`, `{"role":"assistant","tool_calls":[{"id":"a","function":{"name":"n","arguments":"{}"}}]}`, []string{`arguments "" → {}`}},
		{`{"role":"assistant","tool_calls":[{"id":"a","function":{"name":"n","arguments":"{}"}}]}`, `{"role":"assistant","tool_calls":[{"id":"a","function":{"name":"n","arguments":""}}]}`, []string{`arguments {} → ""`}},
		{`{"role":"assistant","tool_calls":[{"id":"a","function":{"name":"n","arguments":"{\"a\":1}"}}]}`, `{"role":"assistant","tool_calls":[{"id":"a","function":{"name":"n","arguments":"1"}}]}`, []string{"other arguments"}},
		{`{"role":"assistant","tool_calls":[{"id":"a","function":{"name":"n","arguments":"{\"a\":[1]}"}}]}`, `{"role":"assistant","tool_calls":[{"id":"a","function":{"name":"n","arguments":"15 * 4"}}]}`, []string{"arguments → no JSON"}},
		{`{"role":"assistant","content":"x"}`, `{"role":"assistant","content":"x","a":1,"a":2}`, []string{"no strict JSON"}},
	} {
		assert.DeepEqual(t, echoChanges(message(t, c.answer), message(t, c.echo)), c.want)
	}
}

func message(t *testing.T, raw string) runtime.Message {
	m, err := runtime.ParseMessage([]byte(raw))
	assert.NilError(t, err)
	return m
}

// One answer that comes back as two messages, as a summary, or not at all.
func TestEchoesOfAConversation(t *testing.T) {
	const call = `{"id":"a","type":"function","function":{"name":"n","arguments":"{}"}}`
	user, tool := message(t, `{"role":"user","content":"go"}`), message(t, `{"role":"tool","tool_call_id":"a","content":"r"}`)
	answer := message(t, `{"role":"assistant","content":"x","tool_calls":[`+call+`]}`)
	text := message(t, `{"role":"assistant","content":"x"}`)
	calls := message(t, `{"role":"assistant","content":null,"tool_calls":[`+call+`]}`)
	for _, c := range []struct {
		wire       runtime.Wire
		sent, same int
		chat       []runtime.Message
		want       map[string]int
	}{
		{runtime.WireChat, 1, 1, []runtime.Message{user, answer, tool}, nil},
		{runtime.WireChat, 1, 1, []runtime.Message{user, text, calls, tool}, map[string]int{"one message → 2 messages": 1}},
		{runtime.WireChat, 1, 1, []runtime.Message{user, tool}, map[string]int{"left out": 1}},
		{runtime.WireChat, 1, 1, []runtime.Message{user, calls, tool}, map[string]int{"content text → null": 1}},
		{runtime.WireMessages, 1, 1, []runtime.Message{user, message(t, `{"role":"assistant","content":"x","name":"k","tool_calls":[`+call+`]}`), tool}, nil},
		{runtime.WireChat, 3, 0, []runtime.Message{tool, user, calls, tool}, map[string]int{"content text → null": 1}}, // an older message was changed
		{runtime.WireChat, 3, 0, []runtime.Message{user}, nil},                                                         // a compaction
		{runtime.WireChat, 3, 9, []runtime.Message{user}, map[string]int{"left out": 1}},
	} {
		e := newEchoes()
		e.compare(0, c.wire, &answer, c.sent, c.same, c.chat)
		assert.DeepEqual(t, e.counts[0], c.want)
		e.compare(1, c.wire, nil, c.sent, c.same, c.chat) // its answer failed
		assert.Equal(t, len(e.counts[1]), 0)
	}
}
