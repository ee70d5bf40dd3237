package runtime

import (
	"testing"

	"github.com/go-json-experiment/json/jsontext"
	"gotest.tools/v3/assert"
)

func TestParseMessage(t *testing.T) {
	raw := func(s string) jsontext.Value { return jsontext.Value(s) }
	cases := []struct {
		name, raw string
		want      Message
	}{
		{"system", `{"role":"system","content":"s"}`, Message{Role: RoleSystem, Content: "s"}},
		{"user in parts", `{"role":"user","content":[{"type":"text","text":"a"},{"type":"image_url","image_url":{}},{"type":"text","text":"b"}]}`, Message{Role: RoleUser, Content: "ab"}},
		{"tool", `{"role":"tool","tool_call_id":"c","content":""}`, Message{Role: RoleTool, CallID: "c"}},
		{"tool, id null", `{"role":"tool","tool_call_id":null,"content":"x"}`, Message{Role: RoleTool, Content: "x"}},
		{"unknown role", `{"role":"developer","content":null}`, Message{Role: "developer"}},
		{"assistant", `{"role":"assistant","tool_calls":[{"id":"a","type":"function","function":{"name":"t","arguments":"{}"}},{"id":null,"function":{"name":"u","arguments":{"k": 1}}}]}`,
			Message{Role: RoleAssistant, Calls: []Call{
				{ID: "a", Name: "t", Arguments: "{}", Raw: raw(`{"id":"a","type":"function","function":{"name":"t","arguments":"{}"}}`)},
				{Name: "u", Arguments: `{"k":1}`, Raw: raw(`{"id":null,"function":{"name":"u","arguments":{"k": 1}}}`)},
			}}},
		{"function_call", `{"role":"assistant","function_call":{"name":"t","arguments":"{}"}}`,
			Message{Role: RoleAssistant, Calls: []Call{{Name: "t", Arguments: "{}", Raw: raw(`{"name":"t","arguments":"{}"}`)}}}},
		{"calls null", `{"role":"assistant","content":"a","tool_calls":null}`, Message{Role: RoleAssistant, Content: "a"}},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			got, err := ParseMessage([]byte(" " + c.raw + "\n"))
			assert.NilError(t, err)
			c.want.Raw = raw(c.raw)
			assert.DeepEqual(t, got, c.want)
		})
	}
}

func TestParseMessageRefuses(t *testing.T) {
	for text, want := range map[string]string{
		`[]`:                                    "read message: not a JSON object",
		`{"content":"a"}`:                       "read message: it has no role",
		`{"role":1}`:                            "read message: it has no role",
		`{"role":""}`:                           "read message: it has no role",
		`{"role":"assistant","tool_calls":1}`:   "read message: tool_calls: not a JSON array",
		`{"role":"assistant","tool_calls":[1]}`: "read message: tool_calls: a call that is not a JSON object",
		`{"role":"user"} x`:                     "read message: text after the end of the JSON value",
	} {
		_, err := ParseMessage([]byte(text))
		assert.Error(t, err, want)
	}
	_, err := ParseMessage([]byte(`{"role":`))
	assert.Assert(t, err != nil)
}

func TestMessagesOfOursReadBack(t *testing.T) {
	for _, m := range []Message{SystemMessage("s"), UserMessage("a\n\"<é>\""), ToolMessage("c", ""), ToolMessage("", "x")} {
		got, err := ParseMessage(m.Raw)
		assert.NilError(t, err)
		assert.DeepEqual(t, got, m)
	}
}

func TestWithCallIDsChangesNothingElse(t *testing.T) { // case 3.05
	raw := `{ "role" : "assistant", "x":[1 , 2], "tool_calls": [ {"id": "d" , "z":"S\/"}, {"function":{"name":"t","id":"keep"}} ,{"id":""}, {} ], "id":"keep" }`
	m, err := ParseMessage([]byte(raw))
	assert.NilError(t, err)
	got := m.WithCallIDs([]string{"d", "d-2", "\"c", "e"})
	assert.Equal(t, string(got.Raw),
		`{ "role" : "assistant", "x":[1 , 2], "tool_calls": [ {"id": "d" , "z":"S\/"}, {"id":"d-2","function":{"name":"t","id":"keep"}} ,{"id":"\"c"}, {"id":"e"} ], "id":"keep" }`)
	again, err := ParseMessage(got.Raw)
	assert.NilError(t, err)
	assert.DeepEqual(t, again, got)
	assert.Equal(t, string(m.Raw), raw, "the message itself stays")
	assert.Equal(t, m.Calls[1].ID, "")
}

func TestWithCallIDsWantsOneForEachCall(t *testing.T) {
	defer func() { assert.Equal(t, recover(), "WithCallIDs: 1 ids for 0 calls") }()
	UserMessage("a").WithCallIDs([]string{"x"})
}

func FuzzParseMessage(f *testing.F) {
	f.Add([]byte(`{"role":"assistant","content":[{"type":"text","text":"a"}],"tool_calls":[{"id":"a","function":{"name":"t","arguments":{"k":1}}}]}`))
	f.Add([]byte(`{"role":"tool","tool_call_id":"a","content":""}`))
	f.Add([]byte(`{"role":"assistant","tool_calls":[{},{"id":1}],"tool_calls":[{}]}`))
	f.Fuzz(func(t *testing.T, raw []byte) {
		m, err := ParseMessage(raw)
		if err != nil {
			return
		}
		again, err := ParseMessage(m.Raw)
		assert.NilError(t, err)
		assert.DeepEqual(t, again, m)
		ids := make([]string, len(m.Calls))
		for i := range ids {
			ids[i] = string(rune('a' + i%26))
		}
		renamed := m.WithCallIDs(ids)
		_, err = ParseMessage(renamed.Raw)
		assert.NilError(t, err)
	})
}
