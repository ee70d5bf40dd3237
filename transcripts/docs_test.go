package transcripts

import (
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/google/jsonschema-go/jsonschema"
	"gotest.tools/v3/assert"
)

// formatExample is the transcript that docs/format.md shows.
func formatExample(t *testing.T) string {
	t.Helper()
	page := readText(t, "../docs/format.md")
	_, rest, found := strings.Cut(page, "```jsonl\n")
	assert.Assert(t, found)
	example, _, found := strings.Cut(rest, "```")
	assert.Assert(t, found)
	return example
}

func TestExampleOfTheFormatPageIsATranscript(t *testing.T) {
	example := formatExample(t)
	f, err := Parse("docs/format.md", []byte(example))
	assert.NilError(t, err)
	assert.Equal(t, string(f.Encode()), example)
	run := sessionOf(t, f)
	assert.Equal(t, run.Final, "Hello.")
	assert.Equal(t, run.Children()[0].Final, "It says hello.")
}

func TestFormatPageNamesEveryKey(t *testing.T) {
	page := readText(t, "../docs/format.md")
	table := page[strings.Index(page, "| kind |"):strings.Index(page, "An agent is")]
	for _, pattern := range []string{"sample.jsonl", "authored.jsonl", "responses.jsonl", "messages.jsonl"} {
		for _, text := range strings.Split(strings.TrimSpace(readText(t, "testdata/"+pattern)), "\n") {
			l, err := scan(pattern, 1, []byte(text))
			assert.NilError(t, err)
			for _, m := range l.members {
				if m.Name != "kind" && m.Name != "mark" && !strings.Contains(string(l.value("kind")), "http") {
					assert.Assert(t, strings.Contains(table, "`"+m.Name+"`"), m.Name)
				}
			}
		}
	}
}

// lineSchema is docs/transcript.schema.json.
func lineSchema(t *testing.T) *jsonschema.Resolved {
	t.Helper()
	data, err := os.ReadFile("../docs/transcript.schema.json")
	assert.NilError(t, err)
	var schema jsonschema.Schema
	assert.NilError(t, schema.UnmarshalJSON(data))
	resolved, err := schema.Resolve(nil)
	assert.NilError(t, err)
	return resolved
}

func validate(t *testing.T, schema *jsonschema.Resolved, text string) error {
	t.Helper()
	var value any
	assert.NilError(t, json.Unmarshal([]byte(text), &value))
	return schema.Validate(value)
}

func TestEveryTranscriptFitsTheSchema(t *testing.T) {
	schema := lineSchema(t)
	files := suiteFiles(t)
	files["format.md"] = []byte(formatExample(t))
	for _, name := range []string{"sample.jsonl", "authored.jsonl", "responses.jsonl", "messages.jsonl"} {
		files[name] = []byte(readText(t, "testdata/"+name))
	}
	kinds := map[string]bool{}
	for name, data := range files {
		for number, text := range splitLines(data) {
			kinds[regexp.MustCompile(`"kind":"(\w+)"`).FindStringSubmatch(string(text))[1]] = true
			if err := validate(t, schema, string(text)); err != nil {
				t.Errorf("%s:%d: %v", name, number, err)
			}
		}
	}
	assert.Equal(t, len(kinds), 8)
}

func TestSchemaRefusesWhatParseRefuses(t *testing.T) {
	schema := lineSchema(t)
	for _, text := range []string{
		`{}`,
		`{"kind":"frame"}`,
		strings.Replace(header, `:1`, `:2`, 1),
		with(`"turn":1`, `"turn":0`),
		with(`"root"`, `"root/1"`),
		with(`"chat"`, `"gopher"`),
		with(`"wire"`, `"flag":"maybe","wire"`),
		with(`"wire"`, `"flag":"twin","candidates":["x"],"wire"`),
		with(`"response"`, `"text":"","response"`),
		strings.Replace(second, `"text":""`, `"sse":[]`, 1),
		strings.Replace(second, `200,"text":""`, `200,"error":"dial"`, 1),
		turn2(`"add":[{"copy":1}]`),
		turn2(`"add":[{"type":"reasoning","id":"r"}]`),
		turn2(`"add":["hi"]`),
		turn2(`"edits":[[0,1]],"add":[]`),
		withCall(`"allow"`, `"maybe"`),
	} {
		_, parsed := Parse("f", []byte(header+text))
		assert.Assert(t, parsed != nil, text)
		assert.Assert(t, validate(t, schema, text) != nil, text)
	}
}

// The fixture says every kind and nearly every key, so that the tests above
// mean something.
func TestSampleSaysEveryKind(t *testing.T) {
	var kinds []string
	for _, text := range strings.Split(strings.TrimSpace(readText(t, "testdata/sample.jsonl")), "\n") {
		kind := regexp.MustCompile(`^{"kind":"(\w+)"`).FindStringSubmatch(text)[1]
		if !slices.Contains(kinds, kind) {
			kinds = append(kinds, kind)
		}
	}
	assert.DeepEqual(t, kinds, []string{"header", "system", "tools", "exchange", "tool", "http", "timing", "end"})
}
