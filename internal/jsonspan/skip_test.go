package jsonspan

import (
	"bytes"
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"
	"gotest.tools/v3/assert"
)

var seeds = []string{
	``, `1`, `-0.5e+3`, `01`, `1.`, `-`, `1e`, `true`, `tru`, `null`, `false`, `""`, `"a\"b\\"`, `"\u12aF"`, `"\u12g0"`, `"\x"`, "\"a\nb\"", `"open`,
	`"eight bytes and more \\ with \" escapes\n"`, "\"\xff\"", `[]`, `[ ]`, `{}`, `{ }`, `[1,2 , 3]`, `[1,]`, `[,1]`, `[1 2]`, `{"a":1,"b":[{}]}`,
	`{"a":1,}`, `{"a" 1}`, `{1:1}`, `{"a":1 "b":2}`, `[}`, `{]`, `[[[`, `{"a":1,"a":2}`, `"\ud83d"`, `"\ud83d\ude00"`, `"tab	in"`, `]`, `"\`, `"\u1`,
	`{"a\u0062":[1,{"c":null}]}`, `"schön \t und \/ gut"`,
}

func check(t *testing.T, data []byte) {
	t.Helper()
	d := jsontext.NewDecoder(bytes.NewBuffer(data), jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))
	want, err := d.ReadValue()
	from := Space(data, 0)
	end, ok := Skip(data, from)
	if ok != (err == nil) {
		// A number at which another begins is a fault of the next value for
		// one, and of this for the other.
		if ok != (err == nil) && len(want) > 0 && want.Kind() == '0' {
			return
		}
		t.Fatalf("%.200q: ok is %t, jsontext says %.200v", data, ok, err)
	}
	if !ok {
		return
	}
	assert.Equal(t, string(data[from:end]), string(want))
	if want.Kind() == '"' {
		unquoted, _ := jsontext.AppendUnquote(nil, want)
		assert.Equal(t, Text(want), string(unquoted))
		assert.Assert(t, Is(want, string(unquoted)) || bytes.Contains(want, []byte{0xff}) || strings.ContainsRune(string(unquoted), '\ufffd'))
	}
}

// Values end where jsontext says, and what it refuses is refused.
func TestSkip(t *testing.T) {
	for _, seed := range seeds {
		check(t, []byte(seed))
		check(t, []byte(" \n"+seed+" "))
		check(t, []byte(`{"in":[`+seed+`]}`))
	}
	for _, depth := range []int{deepest - 1, deepest + 1} {
		check(t, []byte(strings.Repeat("[", depth)+strings.Repeat("]", depth)))
	}
}

func FuzzSkip(f *testing.F) {
	for _, seed := range seeds {
		f.Add([]byte(seed))
	}
	f.Fuzz(check)
}
