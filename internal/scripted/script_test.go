package scripted

import (
	"testing"

	"github.com/go-json-experiment/json/jsontext"
	"gotest.tools/v3/assert"
)

func TestParseScript(t *testing.T) {
	s, err := ParseScript("s.json", []byte(`{"model":"m","default":"none","rules":[
		["ONE","first"],
		["TWO",{"text":"and","calls":[{"name":"read","arguments":{"path":"a b"}}]}],
		["BUSY",{"status":429,"message":"wait","retry-after":"1","times":2}]]}`))
	assert.NilError(t, err)
	assert.DeepEqual(t, s, &Script{Model: "m", Default: Reply{Text: "none"}, Rules: []Rule{
		{Marker: "ONE", Reply: Reply{Text: "first"}},
		{Marker: "TWO", Reply: Reply{Text: "and", Calls: []Call{{Name: "read", Arguments: jsontext.Value(`{"path":"a b"}`)}}}},
		{Marker: "BUSY", Reply: Reply{Status: 429, Message: "wait", RetryAfter: "1", Times: 2}},
	}})
}

func TestTheModelIsScriptedUnlessNamed(t *testing.T) {
	s, err := ParseScript("s.json", []byte(`{}`))
	assert.NilError(t, err)
	assert.DeepEqual(t, s, &Script{Model: "scripted"})
}

func TestParseScriptRefuses(t *testing.T) {
	for _, test := range []struct{ script, want string }{
		{`{"rules":[["","x"]]}`, `s.json: rule 1: the marker is empty`},
		{`{"rules":[["a","x"],["b/c","x"]]}`, `s.json: rule 2: the marker "b/c" holds '/', which a request may hold as an escape`},
		{`{"rules":[["é","x"]]}`, `s.json: rule 1: the marker "é" holds 'é', which a request may hold as an escape`},
		{`{"rules":[["a",{"times":1}]]}`, `s.json: rule 1: message, retry-after and times need a status`},
		{`{"rules":[["a",{"status":200}]]}`, `s.json: rule 1: status 200 is no failure, 400 to 599 are`},
		{`{"rules":[["a",{"status":500,"text":"x"}]]}`, `s.json: rule 1: a reply with a status has no text and no calls`},
		{`{"rules":[["a",{"status":500,"times":-1}]]}`, `s.json: rule 1: times is -1, must be positive`},
		{`{"rules":[["a",{"calls":[{"arguments":{}}]}]]}`, `s.json: rule 1: call 1 has no name`},
		{`{"rules":[["a",{"calls":[{"name":"n","arguments":"x"}]}]]}`, `s.json: rule 1: call 1: arguments must be an object`},
		{`{"default":{"status":500}}`, `s.json: default: must be a text, it is what remains when no rule applies`},
		{`{"default":{"status":1}}`, `s.json: default: status 1 is no failure, 400 to 599 are`},
	} {
		_, err := ParseScript("s.json", []byte(test.script))
		assert.Error(t, err, test.want)
	}
}

// The rest of these messages is the JSON library's, which words them in two
// ways on purpose; the place is ours.
func TestParseScriptNamesTheLineOfBadJSON(t *testing.T) {
	for _, test := range []struct{ script, place string }{
		{"{\n\"rules\":[\n[\"a\"]]}", "s.json:3: "},
		{"{\n\"rules\":[\n{}]}", "s.json:3: "},
		{"{\n\"rules\":[\n[\"a\",{\"stat\":1}]]}", "s.json:3: "},
		{"{\n\"rules\":[\n[1,\"x\"]]}", "s.json:3: "},
		{"{\n\"rule\":[]}", "s.json:2: "},
		{"{\n\n}}", "s.json:3: "},
	} {
		_, err := ParseScript("s.json", []byte(test.script))
		assert.Assert(t, err != nil, test.script)
		assert.Equal(t, err.Error()[:len(test.place)], test.place, err.Error())
	}
}

func FuzzParseScript(f *testing.F) {
	f.Add([]byte(`{"default":"x","rules":[["a","b"],["c",{"calls":[{"name":"n","arguments":{}}]}]]}`))
	f.Add([]byte(`{"rules":[["a",{"status":429,"times":1}]]}`))
	f.Add([]byte(`{"rules":[[[]]]}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		s, err := ParseScript("s.json", data)
		if (s == nil) == (err == nil) {
			t.Fatalf("script %v, error %v", s, err)
		}
	})
}
