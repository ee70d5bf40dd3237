package golden

import (
	"fmt"
	"strings"
	"testing"

	"github.com/tapetree/tapetree/runtime"
	"gotest.tools/v3/assert"
)

func TestCallsShowTheirArguments(t *testing.T) {
	long := strings.Repeat("word ", 30)
	todos := make([]string, 30)
	for i := range todos {
		todos[i] = fmt.Sprintf(`{"content":"step %d","status":"pending"}`, i+1)
	}
	tests := []struct{ name, text, want string }{
		{"object", `{"path":"a.txt","limit":3,"all":true,"none":null}`, `{"path": "a.txt", "limit": 3, "all": true, "none": null}`},
		{"spacing does not count", " {\n\t\"path\" : \"a.txt\" } ", `{"path": "a.txt"}`},
		{"escapes do not count", `{"path":"\u0061.txt"}`, `{"path": "a.txt"}`},
		{"empty object and array", `{"a":{},"b":[]}`, `{"a": {}, "b": []}`},
		{"names twice", `{"a":1,"a":2}`, `{"a": 1, "a": 2}`},
		{"number as written", `{"a":1.0e3}`, `{"a": 1.0e3}`},
		{"invisible characters", `{"a":"x\u200b\r\ty "}`, `{"a": "x‹U+200B›\r\ty "}`},
		{"no object", `[1]`, `[1]`},
		{"null", `null`, `null`},
		{"no JSON", `{"a":`, `with arguments that are no JSON | {"a":`},
		{"something behind", `{} x`, `with arguments that are no JSON | {} x`},
		{"two values", `{} {}`, `with arguments that are no JSON | {} {}`},
		{"none", ``, `without arguments`},
		{"long string", `{"a":"` + long + `"}`, `{"a": ‹1 line, 150 characters, hash 9e80c85b›}
  a | ` + strings.TrimSuffix(long, " ") + `␠`},
		{"string of many lines", `{"old_string":"a\nb\nc\n\n","n":[1,"x\n\ny\n\nz\n1\n2\n3\n4\n"]}`, `{"old_string": ‹3 lines, 7 characters, hash 785ee8fc›, "n": [1, ‹9 lines, 16 characters, hash 21b80da0›]}
  old_string | a
  old_string | b
  old_string | c↵↵
  n | x
  n |
  n ⋮ 5 lines
  n | 3
  n | 4↵`},
		{"too wide for a line", `{"todos":[` + strings.Join(todos[:4], ",") + `]}`, `{
  "todos": [
    {"content": "step 1", "status": "pending"},
    {"content": "step 2", "status": "pending"},
    {"content": "step 3", "status": "pending"},
    {"content": "step 4", "status": "pending"}
  ]
}`},
		{"too long to read", `{"todos":[` + strings.Join(todos, ",") + `]}`, `with 34 lines, 1480 characters, hash 635776f5
  {
    "todos": [
      {"content": "step 1", "status": "pending"},
      {"content": "step 2", "status": "pending"},
  ⋮ 26 lines
      {"content": "step 29", "status": "pending"},
      {"content": "step 30", "status": "pending"}
    ]
  }`},
		{"too wide a name", `{"` + strings.Repeat("n", 200) + `":1}`, `with 3 lines, 211 characters, hash 4de6b72e
  {
    "` + strings.Repeat("n", 97) + ` ‹… 67 characters …› ` + strings.Repeat("n", 36) + `": 1
  }`},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			run := tell("root", "root", "go").answers("", call("a", "tool", test.text, runtime.VerdictAllow, "")).stops(runtime.StopTurnLimit)
			_, got, _ := strings.Cut(lines(run, Options{}), "    #1 tool ")
			got, _, _ = strings.Cut(got, "\n    #1 allowed")
			assert.Equal(t, strings.ReplaceAll(got, "\n    ", "\n"), test.want)
		})
	}
}

func FuzzArguments(f *testing.F) {
	for _, seed := range []string{`{"a":1}`, `[[],{}]`, `{"a":"\ud800"}`, `{"a`, `nul`, "{\"a\":\"\xff\"}", `{"a":"` + strings.Repeat(`x\n`, 40) + `"}`, strings.Repeat("[", 20000)} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		run := tell("root", "root", "go").answers("", call("a", "tool", text, runtime.VerdictInvalid, text)).stops(runtime.StopTurnLimit)
		got := Render(run, Options{})
		assert.Equal(t, got, Render(run, Options{}))
		assert.Assert(t, strings.HasSuffix(got, "\n") && !strings.Contains(got, "\r") && !strings.Contains(got, " \n"), "%q", got)
	})
}
