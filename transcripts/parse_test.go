package transcripts

import (
	"errors"
	"strings"
	"testing"

	"gotest.tools/v3/assert"
)

const (
	header   = `{"kind":"header","format":1,"name":"n","by":"authored"}` + "\n"
	exchange = `{"kind":"exchange","agent":"root","turn":1,"wire":"chat","model":"m","add":[{"role":"user","content":"hi"}],"status":200,"response":{"choices":[{"message":{"role":"assistant","content":"ho"}}]}}` + "\n"
	second   = `{"kind":"exchange","agent":"root","turn":2,"wire":"chat","model":"m","add":[{"echo":1}],"status":200,"text":""}` + "\n"
	toolLine = `{"kind":"tool","agent":"root","turn":1,"call":1,"id":"c","name":"t","arguments":"{}","verdict":"allow","result":"r"}` + "\n"
	endLine  = `{"kind":"end","exchanges":1}` + "\n"
)

// turn2 is an exchange of turn 2 with the given members instead of add.
func turn2(members string) string {
	return strings.Replace(second, `"add":[{"echo":1}]`, members, 1)
}

// with is an exchange with one part of it changed.
func with(old, new string) string {
	changed := strings.Replace(exchange, old, new, 1)
	if changed == exchange {
		panic("nothing changed: " + old)
	}
	return changed
}

func withCall(old, new string) string { return strings.Replace(toolLine, old, new, 1) }

func TestParseRefusesWithPlaceAndWayOut(t *testing.T) {
	tests := []struct{ name, text, want string }{
		{"empty file", "", "f:1: the file is empty; restore the file, or record it again"},
		{"only blank lines", "\n\n", "f:1: the file is empty; restore the file, or record it again"},
		{"no header", exchange, `f:1: the file does not begin with a header; the first line must be {"kind":"header","format":1,…}`},
		{"header not first", endLine + header, `f:1: the file does not begin with a header; the first line must be {"kind":"header","format":1,…}`},
		{"two headers", header + header, "f:2: a second header"},
		{"newer format", strings.Replace(header, ":1", ":2", 1), "f:1: format 2 is newer than this tapetree reads (1); update tapetree"},
		{"format zero", strings.Replace(header, ":1", ":0", 1), `f:1: key "format" must be a whole number from 1, not 0`},
		{"torn header", `{"kind":"header","form`, "f:1: the line breaks off after 22 bytes; restore the file, or record it again"},
		{"unknown kind", header + `{"kind":"frame"}` + "\n", `f:2: unknown kind of line "frame"; a newer tapetree may have written it: update tapetree`},
		{"no kind", header + "{}\n", `f:2: key "kind" is missing`},
		{"kind of wrong type", header + `{"kind":1}` + "\n", `f:2: key "kind" must be a string, not a number`},
		{"no object", header + "[]\n", "f:2: a line must be a JSON object, not an array; restore the file, or record it again"},
		{"blank line", header + "\n" + exchange, "f:2: blank line; remove it"},
		{"no JSON", header + "{kind}\n", `f:2: not valid JSON near byte 2: invalid character 'k' at start of value; restore the file, or record it again`},
		{"torn line in the middle", header + exchange[:50] + "\n" + exchange, "f:2: the line breaks off after 50 bytes; restore the file, or record it again"},
		{"torn line after the end", header + exchange + endLine + `{"kind`, "f:4: the line breaks off after 6 bytes; restore the file, or record it again"},
		{"broken last line without newline", header + `{"kind":}`, "f:2: not valid JSON near byte 9: invalid character '}' at start of value; restore the file, or record it again"},
		{"trailing data", header + `{"kind":"end","exchanges":0} {}` + "\n", "f:2: data after the object; restore the file, or record it again"},
		{"key twice", header + `{"kind":"end","kind":"end"}` + "\n", `f:2: key "kind" stands twice in one object; restore the file, or record it again`},
		{"key twice inside", header + with(`"hi"}`, `"hi","role":"user"}`), `f:2: key "role" stands twice in one object; restore the file, or record it again`},
		{"bad UTF-8", header + with(`"hi"`, "\"\xff\""), "f:2: not UTF-8 near byte 103; restore the file, or record it again"},
		{"line after end", header + exchange + endLine + exchange, "f:4: a line after the end line"},
		{"end counts wrong", header + exchange + strings.Replace(endLine, "1", "2", 1), "f:3: the end line counts 2 exchanges, the file has 1"},
		{"unknown stop reason", header + `{"kind":"end","exchanges":0,"stops":{"root":"tired"}}` + "\n", `f:2: stop reason "tired" is not known`},
		{"stop of no agent", header + `{"kind":"end","exchanges":0,"stops":{"boss":"answer"}}` + "\n", `f:2: stops: "boss" is no agent path, as in root/2.1`},
		{"missing key", header + with(`"model":"m",`, ""), `f:2: key "model" is missing`},
		{"wrong type", header + with(`"model":"m"`, `"model":null`), `f:2: key "model" must be a string, not null`},
		{"turn of wrong type", header + with(`"turn":1`, `"turn":"1"`), `f:2: key "turn" must be a whole number from 1, not "1"`},
		{"turn zero", header + with(`"turn":1`, `"turn":0`), `f:2: key "turn" must be a whole number from 1, not 0`},
		{"bad agent", header + with(`"root"`, `"root/1"`), `f:2: key "agent": "root/1" is no agent path, as in root/2.1 or root~compact.1`},
		{"unknown wire", header + with(`"chat"`, `"gopher"`), `f:2: wire "gopher" is not known, only chat, responses and messages are`},
		{"unknown flag", header + with(`"wire"`, `"flag":"maybe","wire"`), `f:2: flag must be twin or ambiguous, not "maybe"`},
		{"candidate that is no path", header + with(`"wire"`, `"flag":"twin","candidates":["x"],"wire"`), `f:2: candidates: "x" is no agent path, as in root/2.1`},
		{"candidates without flag", header + with(`"wire"`, `"candidates":["root/1.1"],"wire"`), `f:2: candidates need a flag, twin or ambiguous`},
		{"item without role on the wire chat", header + turn2(`"add":[{"type":"reasoning","id":"r"}]`), `f:2: add[0]: read message: it has no role`},
		{"bare text on the wire chat", header + turn2(`"add":["hi"]`), `f:2: add[0]: a message must be an object, not a string`},
		{"code that is no number", header + exchange + strings.Replace(endLine, `"exchanges":1`, `"exchanges":1,"code":"0"`, 1), `f:3: key "code" must be a whole number, not "0"`},
		{"missing system line", header + with(`"add"`, `"system":"s1","add"`), `f:2: no system line above has the id "s1"`},
		{"missing tools line", header + with(`"add"`, `"tools":"t1","add"`), `f:2: no tools line above has the id "t1"`},
		{"system twice", header + strings.Repeat(`{"kind":"system","id":"s","text":""}`+"\n", 2), `f:3: system "s" is defined twice`},
		{"tools twice", header + strings.Repeat(`{"kind":"tools","id":"t","tools":[]}`+"\n", 2), `f:3: tools "t" is defined twice`},
		{"tools no list", header + `{"kind":"tools","id":"t","tools":{}}` + "\n", `f:2: key "tools" must be an array, not an object`},
		{"no response", header + with(`,"response":{"choices":[{"message":{"role":"assistant","content":"ho"}}]}`, ""), "f:2: one of response, sse, text, base64 and error must be there, not 0 of them"},
		{"two responses", header + with(`"response"`, `"text":"","response"`), "f:2: one of response, sse, text, base64 and error must be there, not 2 of them"},
		{"status 0 without error", header + with(`200`, `0`), `f:2: status 0 and error go together: status is 0, error is ""`},
		{"unknown error", header + turn2(`"add":[]`)[:len(turn2(`"add":[]`))-len(`200,"text":""}`)-1] + `0,"error":"dns"}` + "\n", `f:2: error must be dial, tls or timeout, not "dns"`},
		{"stream without end", header + strings.Replace(second, `"text":""`, `"sse":[]`, 1), `f:2: key "end" is missing`},
		{"unknown end of stream", header + strings.Replace(second, `"text":""`, `"sse":[],"end":"x"`, 1), `f:2: end must be done, eof, reset, timeout or client-closed, not "x"`},
		{"block that is a number", header + strings.Replace(second, `"text":""`, `"sse":[1],"end":"eof"`, 1), `f:2: a block of "sse" must be a string or {"base64":…}, not 1`},
		{"block that is another object", header + strings.Replace(second, `"text":""`, `"sse":[{"b":1}],"end":"eof"`, 1), `f:2: a block of "sse" must be a string or {"base64":…}, not {"b":1}`},
		{"bad base64", header + strings.Replace(second, `"text":""`, `"base64":"="`, 1), `f:2: key "base64" is not valid base64: illegal base64 data at input byte 0`},
		{"header of wrong type", header + strings.Replace(second, `"text"`, `"headers":{"a":1},"text"`, 1), `f:2: header "a" must be a string or an array of strings, not 1`},
		{"recut false", header + strings.Replace(second, `"status"`, `"recut":false,"status"`, 1), `f:2: key "recut" must be true or absent, not false`},
		{"models of wrong type", strings.Replace(header, `"by"`, `"models":[1],"by"`, 1), `f:1: key "models" must hold strings only, not a number`},
		{"exchange twice", header + exchange + exchange, "f:3: root#1 try 1 is there already, line 2"},
		{"exchanges out of order", header + turn2(`"add":[]`) + exchange + strings.Replace(endLine, "1", "2", 1), "f:3: root#1 try 1 stands after root#2 try 1"},
		{"unknown verdict", header + withCall(`"allow"`, `"maybe"`), `f:2: verdict "maybe" is not known`},
		{"tool line twice", header + toolLine + toolLine, "f:3: call root#1.1 has a tool line already, line 2"},
		{"message no object", header + turn2(`"add":["x"]`), "f:2: add[0]: a message must be an object, not a string"},
		{"message without role", header + turn2(`"add":[{"content":"x","name":"y"}]`), "f:2: add[0]: read message: it has no role"},
		{"unknown reference", header + turn2(`"add":[{"copy":1}]`), `f:2: add[0]: a message needs a role, and there is no reference "copy"`},
		{"echo of two", header + turn2(`"add":[{"echo":2}]`), "f:2: add[0]: echo must be 1, not 2"},
		{"echo without response", header + second, "f:2: add[0]: echo, but there is no earlier response of root"},
		{"echo of a failed answer", header + turn2(`"add":[]`) + strings.Replace(second, `:2`, `:3`, 1), "f:3: add[0]: echo, but the response of root#2 is no complete answer"},
		{"tool reference malformed", header + turn2(`"add":[{"tool":"x"}]`), `f:2: add[0]: tool must be TURN.CALL or AGENT#TURN.CALL, not "x"`},
		{"tool reference to nothing", header + exchange + toolLine + turn2(`"add":[{"echo":1},{"tool":"1.2"}]`), "f:4: add[1]: there is no tool line for call root#1.2"},
		{"foreign tool reference to nothing", header + exchange + turn2(`"add":[{"tool":"root/1.1#1.1"}]`), "f:3: add[0]: there is no tool line for call root/1.1#1.1"},
		{"from nothing", header + exchange + turn2(`"from":"root#3","add":[]`), "f:3: from: there is no exchange root#3 above"},
		{"edit malformed", header + turn2(`"edits":[[0,1]],"add":[]`), "f:2: an edit must be [at,drop,[messages]], not [0,1]"},
		{"edit beyond the list", header + exchange + turn2(`"edits":[[0,2,[]]],"add":[]`), "f:3: edits[0]: [0,2] lies outside messages 0 to 1 of the list before"},
		{"edits overlap", header + exchange + turn2(`"edits":[[0,1,[]],[0,1,[]]],"add":[]`), "f:3: edits[1]: [0,1] lies outside messages 1 to 1 of the list before"},
		{"edit with bad reference", header + exchange + turn2(`"edits":[[0,1,[{"tool":"9.9"}]]],"add":[]`), "f:3: edits[0][0]: there is no tool line for call root#9.9"},
		{"no add", header + turn2(`"x":1`), `f:2: key "add" is missing`},
		{"http without path", header + `{"kind":"http","n":1,"method":"GET","status":200}` + "\n", `f:2: key "path" is missing`},
		{"timing twice", header + strings.Repeat(`{"kind":"timing"}`+"\n", 2), "f:3: a second timing line"},
		{"timing without start", header + `{"kind":"timing","exchanges":[{"agent":"root","turn":1,"end":1}]}` + "\n", `f:2: key "start" is missing`},
		{"timing too large", header + `{"kind":"timing","exchanges":[{"agent":"root","turn":1,"start":1e999,"end":1}]}` + "\n", `f:2: key "start": 1e999 is too large a number`},
		{"timing no objects", header + `{"kind":"timing","exchanges":[1]}` + "\n", `f:2: key "exchanges[]" must be an object, not a number`},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			f, err := Parse("f", []byte(test.text))
			assert.Error(t, err, test.want)
			var syntax *SyntaxError
			assert.Assert(t, errors.As(err, &syntax) && !syntax.Seal && f == nil)
		})
	}
}

func TestFileWithoutEndIsPartialAndKeepsWhatIsFinished(t *testing.T) {
	tests := []struct {
		name, text string
		torn       int
	}{
		{"no end line", header + exchange, 0},
		{"last line torn", header + exchange + second[:40], 3},
		{"last line torn inside a character", header + exchange + strings.Replace(second, "root", "ü", 1)[:len(`{"kind":"exchange","agent":"`)+1], 3},
		{"last line whole but for its newline", header + strings.TrimSuffix(exchange, "\n"), 0},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			f, err := Parse("f", []byte(test.text))
			assert.NilError(t, err)
			assert.Assert(t, f.Partial())
			assert.Equal(t, len(f.Exchanges), 1)
			assert.Equal(t, f.Torn, test.torn)
		})
	}
}

func TestPartialFileMayStandInTheOrderOfArrival(t *testing.T) {
	f, err := Parse("f", []byte(header+turn2(`"add":[]`)+exchange))
	assert.NilError(t, err)
	assert.Equal(t, len(f.Exchanges), 2)
}

func TestLinesOfAnyLength(t *testing.T) {
	long := strings.Repeat("é", 3<<20)
	f, err := Parse("f", []byte(header+strings.Replace(toolLine, `"r"`, `"`+long+`"`, 1)+exchange+endLine))
	assert.NilError(t, err)
	assert.Assert(t, f.Calls[0].Result == long)
}

// case 6.13: a checkout may have put CR before LF.
func TestLineEndsOfWindowsAreRead(t *testing.T) {
	data := sampleSession("tapetree v0").Encode()
	f, err := Parse("f", []byte(strings.ReplaceAll(string(data), "\n", "\r\n")))
	assert.NilError(t, err)
	assert.Equal(t, string(f.Encode()), string(data))
}

func TestUnknownKeysOfEveryKindAreKeptInOrder(t *testing.T) {
	extra := `,"zz":{"b":1,"a":[1.50]},"aa":null}` + "\n"
	text := ""
	for _, line := range []string{
		`{"kind":"header","format":1,"name":"n","env":{"os":"plan9","cpu":"z80"},"by":"authored"`,
		`{"kind":"system","id":"s1","text":"S"`,
		`{"kind":"tools","id":"t1","tools":[]`,
		`{"kind":"exchange","agent":"root","turn":1,"wire":"chat","model":"m","system":"s1","tools":"t1","add":[],"status":200,"text":""`,
		`{"kind":"tool","agent":"root","turn":1,"call":1,"id":"c","name":"t","arguments":"","verdict":"deny","result":""`,
		`{"kind":"http","n":1,"method":"GET","path":"/","status":200`,
		`{"kind":"timing","exchanges":[{"agent":"root","turn":1,"start":0,"end":1,"dns":3}]`,
		`{"kind":"end","exchanges":1`,
	} {
		text += line + extra
	}
	f, err := Parse("f", []byte(text))
	assert.NilError(t, err)
	assert.Equal(t, string(f.Encode()), text)
}

func TestSuiteIsWhole(t *testing.T) {
	for name, data := range suiteFiles(t) {
		f, err := Parse(name, data)
		assert.NilError(t, err)
		assert.Assert(t, !f.Partial(), name)
		assert.Equal(t, string(f.Encode()), string(data), "not in canonical form: "+name)
		for _, x := range f.Exchanges {
			assert.Assert(t, len(x.Body()) > 0)
		}
	}
}
