package transcripts

import (
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"
	"gotest.tools/v3/assert"
)

func TestInPlace(t *testing.T) {
	for value, want := range map[string]string{
		`""`:                           "",
		`"a"`:                          "a",
		`"plain text"`:                 "plain text",
		`"\n"`:                         "\n",
		`"\\\"\/\b\f\n\r\t"`:           "\\\"/\b\f\n\r\t",
		`"ends in \u0041"`:             "ends in A",
		`"\u00e9 \u4e2d \ud83d\ude00"`: "é 中 😀",
		`"` + strings.Repeat(`line\n`, 1000) + `"`: strings.Repeat("line\n", 1000),
	} {
		line := []byte("x" + value + "y")
		got := inPlace(jsontext.Value(line[1 : 1+len(value) : 1+len(value)]))
		assert.Equal(t, got, want)
		assert.Equal(t, line[0], byte('x'))
		assert.Equal(t, line[len(line)-1], byte('y'))
	}
}

func FuzzInPlace(f *testing.F) {
	f.Add("plain")
	f.Add("a\n\"b\"\\ \x00 é 中 😀")
	f.Fuzz(func(t *testing.T, text string) {
		value, err := jsontext.AppendQuote(nil, text)
		if err != nil {
			t.Skip("no UTF-8")
		}
		assert.Equal(t, inPlace(value), text)
	})
}

// A lean reading tells the same session.
func TestLeanTellsTheSame(t *testing.T) {
	for name, data := range suiteFiles(t) {
		strict, err := Parse(name, data)
		assert.NilError(t, err)
		lean, err := ParseLean(name, []byte(string(data)))
		assert.NilError(t, err)
		assert.Equal(t, len(lean.Calls), len(strict.Calls))
		for i, c := range strict.Calls {
			assert.DeepEqual(t, lean.Calls[i], c)
		}
		if len(strict.Exchanges) == 0 {
			continue
		}
		want, err := strict.History()
		assert.NilError(t, err)
		got, err := lean.History()
		assert.NilError(t, err)
		assert.DeepEqual(t, got.Count(), want.Count())
	}
}
