package report

import (
	"encoding/xml"
	"errors"
	"os"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/google/jsonschema-go/jsonschema"
	"gotest.tools/v3/assert"
	"gotest.tools/v3/golden"
)

// sample holds one result of each kind, with texts that could break a report.
func sample() *Suite {
	s := &Suite{}
	s.Add(Result{Name: "isolation-basic", Status: Pass, Grade: "exact", Exchanges: 12, Agents: 2, Notes: []string{"5 of 5 verdicts live"}, Seconds: 0.0125})
	s.Add(Result{Name: "prompt", Status: Pass, Grade: "prompt", Exchanges: 1, Agents: 1,
		Findings: []Finding{{Code: "replay/prompt", Agent: "root", Message: "the system text differs", Severity: "warning"}}})
	s.Add(Result{Name: "pairing", Status: Fail, Grade: "history", Exchanges: 6, Agents: 1,
		Findings: []Finding{{Code: "replay/tools", Message: "a schema differs", Severity: "warning"}, {Code: "replay/history", Agent: "root/2.1", Turn: 2, Message: `/messages/3 <&> "x" ` + "\x1b[31m\r\xff", Severity: "error"}},
		Details:  []string{"--- want\n+++ got\n-a\n+b\n"}})
	s.Add(Result{Name: "missing", Status: Error, Error: "could not run: transcript is missing"})
	return s
}

func TestReportsOfOneResultOfEachKind(t *testing.T) {
	for _, test := range []struct {
		name, format string
		options      Options
	}{
		{"text", "text", Options{}},
		{"quiet", "text", Options{Quiet: true}},
		{"color", "text", Options{Color: true}},
		{"json", "json", Options{}},
		{"junit", "junit", Options{}},
	} {
		t.Run(test.name, func(t *testing.T) {
			var out strings.Builder
			assert.NilError(t, Write(&out, test.format, sample(), test.options))
			golden.Assert(t, out.String(), test.name+".golden")
		})
	}
}

func TestReportOfNothing(t *testing.T) {
	want := map[string]string{
		"text": "0 passed, 0 failed, 0 errors\n",
		"json": "{\n  \"results\": [],\n  \"passed\": 0,\n  \"failed\": 0,\n  \"errors\": 0\n}\n",
		"junit": xml.Header + "<testsuites tests=\"0\" failures=\"0\" errors=\"0\">\n" +
			"  <testsuite name=\"tapetree replay\" tests=\"0\" failures=\"0\" errors=\"0\" time=\"0.000\"></testsuite>\n</testsuites>\n",
	}
	for _, format := range Formats {
		var out strings.Builder
		assert.NilError(t, Write(&out, format, &Suite{}, Options{}))
		assert.Equal(t, out.String(), want[format])
	}
}

func TestJSONFitsItsSchema(t *testing.T) {
	raw, err := os.ReadFile("../../docs/replay.schema.json")
	assert.NilError(t, err)
	var schema jsonschema.Schema
	assert.NilError(t, json.Unmarshal(raw, &schema))
	resolved, err := schema.Resolve(nil)
	assert.NilError(t, err)
	for _, suite := range []*Suite{sample(), {}} {
		var out strings.Builder
		assert.NilError(t, Write(&out, "json", suite, Options{}))
		var value any
		assert.NilError(t, json.Unmarshal([]byte(out.String()), &value))
		assert.NilError(t, resolved.Validate(value))
	}
	assert.ErrorContains(t, resolved.Validate(map[string]any{"results": []any{}}), "required")
}

func TestJUnitIsXML(t *testing.T) {
	var out strings.Builder
	assert.NilError(t, Write(&out, "junit", sample(), Options{}))
	var back junitSuites
	assert.NilError(t, xml.Unmarshal([]byte(out.String()), &back))
	assert.Equal(t, len(back.Suite.Cases), 4)
}

func TestWriteFailsForAFullDiskAndAnUnknownFormat(t *testing.T) {
	for _, format := range Formats {
		assert.ErrorIs(t, Write(full{}, format, sample(), Options{}), errFull)
	}
	assert.Error(t, Write(full{}, "tap", sample(), Options{}), `write report: unknown format "tap"`)
}

var errFull = errors.New("no space left")

// full is a writer on a full disk.
type full struct{}

func (full) Write([]byte) (int, error) { return 0, errFull }
