package runtime

import (
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"
	"gotest.tools/v3/assert"
)

// fuzzFolders: short paths, so that the fuzzer meets them often.
var fuzzFolders = []*Folder{
	NewFolder([]string{"/t/w"}, []string{"/t"}, []string{"/h"}),
	NewFolder([]string{`C:\q\w`}, []string{"/tmp"}, nil),
	NewFolder([]string{"/工/作"}, nil, []string{"/w\"x"}),
}

var fuzzSeeds = []string{
	"", "/t/w/a /t/w2 /x/t/w", "{{workspace}} {{{{tmp}} {{/t}} {{{/t/w", `{"p":"\/t\/w","q":"{\"r\":\"\\u002ft\"}"}`,
	`C:\q\w\a`, `{"a":"C:\q\w"}`, `["C:\\q\\w", "{\"a\":\"C:\\\\q\\\\w\"}"]`, "[\"\\u007b{tmp}}\"]", "{\"a\":\"/t/w\\u00", "\xff/t\xfe{{home", `["\ud800/t"]`,
	"/工/作", `["\u002f\u5de5/作"]`, `/w"x`, `["/w\"x"]`,
}

func FuzzFolder(f *testing.F) {
	for _, seed := range fuzzSeeds {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		for _, folder := range fuzzFolders {
			folded := folder.Fold(text)
			if len(folder.paths[0]) > 0 && strings.HasPrefix(folder.paths[0], "/") { // one spelling each
				assert.Equal(t, folder.Expand(folded), text)
			}
			assert.Equal(t, folder.Fold(folder.Expand(folded)), folded)
		}
	})
}

// TestExpandIsTheInverseOfFold puts together what can go wrong, more densely
// than a fuzzer would.
func TestExpandIsTheInverseOfFold(t *testing.T) {
	pieces := []string{"{", "{{", "}", "}}", "workspace", "tmp", "home", "/t", "/w", "/t/w", "/h", "/", `\`, ".", "-", " ", "x", "\n", "é", "作", `C:\q\w`, `"`, `\"`, "[", "]", ":", "\xff", `\u007b`, `\n`}
	random := rand.New(rand.NewPCG(1, 2))
	for range 50_000 {
		var text strings.Builder
		for range 1 + random.IntN(12) {
			text.WriteString(pieces[random.IntN(len(pieces))])
		}
		x := text.String()
		assert.Equal(t, fuzzFolders[0].Expand(fuzzFolders[0].Fold(x)), x)
		for _, folder := range fuzzFolders {
			quoted, err := jsontext.AppendQuote([]byte(`{"arguments":`), x)
			if err != nil || strings.Contains(x, `\u00`) || strings.Contains(x, `\/`) { // comes back without the escape
				continue
			}
			raw := append(quoted, '}')
			assert.Equal(t, string(folder.ExpandJSON(folder.FoldJSON(raw))), string(raw), "%s", folder.FoldJSON(raw))
		}
	}
}

func FuzzFolderJSON(f *testing.F) {
	for _, seed := range fuzzSeeds {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		for _, folder := range fuzzFolders {
			folded := folder.FoldJSON([]byte(text))
			expanded := folder.ExpandJSON(folded)
			assert.Equal(t, string(folder.FoldJSON(expanded)), string(folded))
			wasJSON := jsontext.Value(text).IsValid(jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))
			for _, out := range [][]byte{folded, expanded} {
				isJSON := jsontext.Value(out).IsValid(jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))
				assert.Assert(t, isJSON || !wasJSON, "%s", out)
			}
		}
	})
}

// FuzzScanJSON holds the scanner against a strict decoder: what that takes for
// JSON the scanner takes too, and every beginning of it.
func FuzzScanJSON(f *testing.F) {
	for _, seed := range append(fuzzSeeds, `{"a":[1,-2.5e3,true,null,{}],"b":[]}`, `[] {}`, `{"a" 1}`, `[1,]`, `{,}`, `[tru`) {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		scan := scanJSON(text)
		for _, s := range scan.spans {
			assert.Assert(t, 0 <= s.start && s.start <= s.end && s.end <= len(text))
		}
		if closed, ok := CloseJSON(text); ok {
			assert.Assert(t, scanJSON(closed).ok, "%q", closed)
		}
		front := strings.TrimLeft(text, " \t\r\n")
		strict := jsontext.Value(text).IsValid(jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))
		if !strict || front == "" || front[0] != '{' && front[0] != '[' || strings.Count(text, "{")+strings.Count(text, "[") > 1000 {
			return
		}
		for end := len(text) - len(front) + 1; end <= len(text); end++ {
			assert.Assert(t, scanJSON(text[:end]).ok, "%q", text[:end])
		}
	})
}
