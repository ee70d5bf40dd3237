package runtime

import (
	"testing"

	"gotest.tools/v3/assert"
)

func TestArgumentsState(t *testing.T) { // case 1.25
	cases := map[ArgumentState][]string{
		ArgumentsComplete: {"", "  ", "{}", ` {"a":1} `, "null", "[1]", "1", "-1.5e3", `"x"`, "true", `{"a":1,"a":2}`, `{"a":"\ud83d\ude00"}`},
		ArgumentsCut: {"{", `{"`, `{"a`, `{"a"`, `{"a":`, `{"a":1`, `{"a":1,`, `{"a":[`, `{"a":"b\`, `{"a":"\u12`, `{"a":tr`, `{"a":-`, `{"a":1.`,
			`"x`, "[", "[1,", "tru", "-", "1e", `{"path":"r.md","content":"# Ti`, `{"a":"\ud83d`},
		ArgumentsInvalid: {"x", "{}}", "{} {}", `{"a":1}x`, "{a", `{'a'`, `{"a" 1`, `{"a":1,}`, "truex", "01", "```json\n{}", "{\"a\":\"\n"},
	}
	for want, texts := range cases {
		for _, text := range texts {
			assert.Equal(t, ArgumentsState(text), want, "%q", text)
		}
	}
}

func TestCutAndRefused(t *testing.T) {
	call := func(arguments string) Message {
		return Message{Role: RoleAssistant, Calls: []Call{{ID: "a", Name: "t", Arguments: "{}"}, {ID: "b", Name: "t", Arguments: arguments}}}
	}
	cases := []struct {
		name         string
		a            Answer
		cut, refused bool
	}{
		{"case 1.25 (a): length", Answer{Finish: "length", Message: call(`{"a":"b`)}, true, false},
		{"case 1.25 (b): stop", Answer{Finish: "stop", Message: call(`{"a":"b`)}, true, false},
		{"case 1.25 (c): tool_calls", Answer{Finish: "tool_calls", Message: call(`{"a":"b`)}, true, false},
		{"length with whole calls", Answer{Finish: "length", Message: call("{}")}, true, false},
		{"length of text", Answer{Finish: "MAX_TOKENS"}, true, false},
		{"no JSON is not cut off", Answer{Finish: "stop", Message: call("oops")}, false, false},
		{"whole calls", Answer{Finish: "stop", Message: call("{}")}, false, false},
		{"refusal", Answer{Finish: "stop", Refusal: "no"}, false, true},
		{"filter", Answer{Finish: "content_filter", Message: Message{Content: "half"}}, false, true},
		{"filter, but whole calls", Answer{Finish: "content_filter", Message: call("{}")}, false, false},
		{"text", Answer{Finish: "stop", Message: Message{Content: "hi"}}, false, false},
	}
	for _, c := range cases {
		assert.Equal(t, c.a.Cut(), c.cut, c.name)
		assert.Equal(t, c.a.Refused(), c.refused, c.name)
	}
}

func TestRefusalIsRead(t *testing.T) {
	for _, message := range []string{`{"content":null,"refusal":"no"}`, `{"content":[{"type":"refusal","refusal":"no"}]}`} {
		a := decodeJSON(t, responseWith(message))
		assert.Equal(t, a.Refusal, "no")
		assert.Assert(t, a.Refused())
	}
}

func FuzzArgumentsState(f *testing.F) {
	f.Add(`{"a":[1,"\ud83d\ude00",null,true,-1.5e3]}`, 5)
	f.Fuzz(func(t *testing.T, text string, cut int) {
		if ArgumentsState(text) != ArgumentsComplete || cut < 0 || cut > len(text) {
			return
		}
		state := ArgumentsState(text[:cut])
		assert.Assert(t, state != ArgumentsInvalid, "%q of %q", text[:cut], text)
	})
}
