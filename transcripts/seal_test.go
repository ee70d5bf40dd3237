package transcripts

import (
	"errors"
	"strings"
	"testing"

	"gotest.tools/v3/assert"
)

func TestChangedLineBreaksItsSeal(t *testing.T) {
	data := string(sampleSession("tapetree v0").Encode())
	for name, change := range map[string][2]string{
		"system":   {"You are the parent.", "You were the parent."},
		"tools":    {`"tools":[{"type":"function"`, `"tools":[{"type":"FUNCTION"`},
		"exchange": {"Look at both files.", "Look at all files."},
		"tool":     {"text of a", "text of A"},
	} {
		t.Run(name, func(t *testing.T) {
			changed := strings.Replace(data, change[0], change[1], 1)
			line := 1 + strings.Count(data[:strings.Index(data, change[0])], "\n")
			_, err := Parse("transcripts/sample.jsonl", []byte(changed))
			var syntax *SyntaxError
			assert.Assert(t, errors.As(err, &syntax))
			assert.DeepEqual(t, *syntax, SyntaxError{
				File: "transcripts/sample.jsonl", Line: line, Seal: true,
				Msg: "the sum does not fit the line: it was changed after it was recorded",
				Fix: "if the change is meant, run: tapetree rebase --reseal sample",
			})

			sealedAgain, n, err := Reseal("x", []byte(changed))
			assert.NilError(t, err)
			assert.Equal(t, n, 1)
			_, err = Parse("x", sealedAgain)
			assert.NilError(t, err)
		})
	}
}

func TestMissingSumIsAFaultUnlessAuthored(t *testing.T) {
	recorded := strings.Replace(header, Authored, "tapetree v0", 1)
	_, err := Parse("n.jsonl", []byte(recorded+exchange+endLine))
	assert.Error(t, err, "n.jsonl:2: the line has no sum; if the change is meant, run: tapetree rebase --reseal n")
	_, err = Parse("n.jsonl", []byte(header+exchange+endLine))
	assert.NilError(t, err)

	out, n, err := Reseal("n.jsonl", []byte(recorded+exchange+toolLine+endLine))
	assert.NilError(t, err)
	assert.Equal(t, n, 2)
	f, err := Parse("n.jsonl", out)
	assert.NilError(t, err)
	assert.Equal(t, string(f.Encode()), string(out)) // the sums stand where Encode puts them
}

func TestSumOfAnAuthoredFileMustBeRight(t *testing.T) {
	wrong := with(`,"status"`, `,"sum":"0000000000000000","status"`)
	_, err := Parse("n.jsonl", []byte(header+wrong+endLine))
	assert.Error(t, err, "n.jsonl:2: the sum does not fit the line: it was changed after it was recorded; if the change is meant, run: tapetree rebase --reseal n")
	_, err = Parse("n.jsonl", []byte(header+with(`,"status"`, `,"sum":1,"status"`)))
	assert.Error(t, err, `n.jsonl:2: key "sum" must be a string, not a number`)
}

func TestResealChangesNothingElse(t *testing.T) {
	data := sampleSession("tapetree v0").Encode()
	for name, text := range map[string]string{
		"right sums":    string(data),
		"authored":      header + exchange + toolLine + endLine,
		"torn line":     string(data[:len(data)-20]),
		"Windows lines": strings.ReplaceAll(string(data), "\n", "\r\n"),
	} {
		t.Run(name, func(t *testing.T) {
			out, n, err := Reseal("f", []byte(text))
			assert.NilError(t, err)
			assert.Equal(t, n, 0)
			assert.Equal(t, string(out), text)
		})
	}
	_, _, err := Reseal("f", []byte(header+"{\n"+exchange))
	assert.Error(t, err, "f:2: the line breaks off after 1 bytes; restore the file, or record it again")
}

func TestOnlyATranscriptOfAKnownFormatIsResealed(t *testing.T) {
	for text, want := range map[string]string{
		"":         "f:1: the file is empty; restore the file, or record it again",
		" \n\n":    "f:1: the file is empty; restore the file, or record it again",
		`{"kind":`: "f:1: the line breaks off after 8 bytes; restore the file, or record it again",
		exchange:   `f:1: the file does not begin with a header; the first line must be {"kind":"header","format":1,…}`,
		strings.Replace(header, `"format":1`, `"format":2`, 1) + exchange: "f:1: format 2 is newer than this tapetree reads (1); update tapetree",
	} {
		out, n, err := Reseal("f", []byte(text))
		assert.Error(t, err, want)
		assert.Equal(t, n, 0)
		assert.Assert(t, out == nil)
	}
}

func TestCommandsNameTheTranscript(t *testing.T) {
	for path, want := range map[string]string{
		"transcripts/a.b.jsonl":    "a.b",
		"./transcripts/a.jsonl":    "a",
		"/x/transcripts/a.jsonl":   "a",
		"a.jsonl":                  "a",
		"/x/other/a.jsonl":         "/x/other/a.jsonl",
		"transcripts/a.jsonl.part": "transcripts/a.jsonl.part",
	} {
		assert.Equal(t, commandName(path), want)
	}
}
