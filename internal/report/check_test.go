package report

import (
	"encoding/xml"
	"os"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/google/jsonschema-go/jsonschema"
	"gotest.tools/v3/assert"
	"gotest.tools/v3/golden"
)

// checkSample holds a history of each kind, with texts that could break a
// report.
func checkSample() (list []*CheckFile, sum *Check) {
	list = []*CheckFile{
		{File: "sessions/clean.jsonl", Format: "openai", Agents: 1, Messages: 3, Calls: 1},
		{File: "sessions/two, odd: names%.json", Part: "task 1", Format: "tau-bench", Agents: 1, Messages: 9, Calls: 4,
			Findings: []CheckFinding{
				{Code: "pairing/orphan", Severity: "error", Agent: "root/2.1", Turn: 3, Line: 12, Message: "a result <b>|*x*|</b> \x1b[31m\r\xff", Fingerprint: strings.Repeat("0", 24)},
				{Code: "delegation/long-report", Severity: "warning", Agent: "root", Turn: 2, Message: "call 1: the report has 301 words", Fingerprint: strings.Repeat("1", 24)},
				{Code: "pairing/orphan", Severity: "error", Agent: "root", Turn: 4, Message: "another", Fingerprint: strings.Repeat("2", 24)},
				{Code: "secret/present", Severity: "error", Message: "in the header", Fingerprint: strings.Repeat("3", 24), Known: "it is in known.json"},
			},
			Unread: []CheckPlace{{Line: 7, Message: "no JSON"}}},
		{File: "/abs/broken.jsonl", Error: "/abs/broken.jsonl:1: the file is empty"},
	}
	sum = &Check{Stale: []string{"sessions/old.json: root: pairing/order: gone"}}
	for _, f := range list {
		sum.Add(f)
	}
	return list, sum
}

func checkedAs(t *testing.T, format string, o CheckOptions) string {
	t.Helper()
	var out strings.Builder
	o.Rule = func(code string) (string, string) { return "what " + code + " means.", "how to fix " + code + "." }
	w, err := NewCheckWriter(&out, format, o)
	assert.NilError(t, err)
	list, sum := checkSample()
	for _, f := range list {
		assert.NilError(t, w.File(f))
	}
	assert.NilError(t, w.Close(sum))
	return out.String()
}

func TestChecksInEveryFormat(t *testing.T) {
	for _, format := range CheckFormats {
		golden.Assert(t, checkedAs(t, format, CheckOptions{Version: "1.2.3"}), "check-"+format+".golden")
	}
	golden.Assert(t, checkedAs(t, "text", CheckOptions{Quiet: true, Color: true}), "check-color.golden")
}

func TestACheckOfNothing(t *testing.T) {
	for format, want := range map[string]string{
		"text":     "0 histories: 0 errors, 0 warnings\n",
		"json":     "{\n  \"files\": [],\n  \"errors\": 0,\n  \"warnings\": 0,\n  \"notices\": 0,\n  \"known\": 0,\n  \"unreadable\": 0\n}\n",
		"github":   "0 histories: 0 errors, 0 warnings\n",
		"tap":      "TAP version 14\n1..0\n# 0 histories: 0 errors, 0 warnings\n",
		"markdown": "**tapetree check** 0 histories: 0 errors, 0 warnings\n",
	} {
		var out strings.Builder
		w, err := NewCheckWriter(&out, format, CheckOptions{})
		assert.NilError(t, err)
		assert.NilError(t, w.Close(&Check{}))
		assert.Equal(t, out.String(), want)
	}
}

func TestChecksFitTheirSchemas(t *testing.T) {
	for format, path := range map[string]string{"json": "../../docs/check.schema.json", "sarif": "testdata/sarif-shape.json"} {
		raw, err := os.ReadFile(path)
		assert.NilError(t, err)
		var schema jsonschema.Schema
		assert.NilError(t, json.Unmarshal(raw, &schema))
		resolved, err := schema.Resolve(nil)
		assert.NilError(t, err)
		var value any
		assert.NilError(t, json.Unmarshal([]byte(checkedAs(t, format, CheckOptions{})), &value))
		assert.NilError(t, resolved.Validate(value))
		assert.Assert(t, resolved.Validate(map[string]any{"files": []any{}}) != nil)
	}
	var back junitSuites
	assert.NilError(t, xml.Unmarshal([]byte(checkedAs(t, "junit", CheckOptions{})), &back))
	assert.Equal(t, back.Tests, 3)
}

func TestChecksFailForAFullDiskAndAnUnknownFormat(t *testing.T) {
	list, sum := checkSample()
	for _, format := range CheckFormats {
		w, err := NewCheckWriter(full{}, format, CheckOptions{Rule: func(string) (string, string) { return "", "" }})
		assert.NilError(t, err)
		failed := w.File(list[1])
		if closed := w.Close(sum); failed == nil {
			failed = closed
		}
		assert.ErrorIs(t, failed, errFull, format)
	}
	_, err := NewCheckWriter(full{}, "html", CheckOptions{})
	assert.Error(t, err, `write check: unknown format "html"`)
}
