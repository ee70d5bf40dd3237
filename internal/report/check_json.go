package report

import (
	"fmt"
	"io"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// checkJSON writes what docs/check.schema.json describes, file by file. Bytes
// that are no UTF-8 become U+FFFD.
type checkJSON struct {
	w     io.Writer
	begun bool
}

func (j *checkJSON) File(f *CheckFile) error {
	lead := ",\n    "
	if !j.begun {
		lead = "{\n  \"files\": [\n    "
		j.begun = true
	}
	if f.Findings == nil {
		f.Findings = []CheckFinding{}
	}
	text, err := marshalled(f, "    ")
	if err != nil {
		return err
	}
	_, err = io.WriteString(j.w, lead+text)
	return err
}

func (j *checkJSON) Close(c *Check) error {
	lead := "\n  ],\n"
	if !j.begun {
		lead = "{\n  \"files\": [],\n"
	}
	text := fmt.Sprintf("  \"errors\": %d,\n  \"warnings\": %d,\n  \"notices\": %d,\n  \"known\": %d,\n  \"unreadable\": %d", c.Errors, c.Warnings, c.Notices, c.Known, c.Unreadable)
	if len(c.Stale) > 0 {
		stale, err := marshalled(c.Stale, "  ")
		if err != nil {
			return err
		}
		text += ",\n  \"stale\": " + stale
	}
	_, err := io.WriteString(j.w, lead+text+"\n}\n")
	return err
}

// marshalled is v as JSON, its lines after the first begun with prefix.
func marshalled(v any, prefix string) (string, error) {
	text, err := json.Marshal(v, jsontext.WithIndentPrefix(prefix), jsontext.WithIndent("  "), jsontext.AllowInvalidUTF8(true), json.Deterministic(true))
	return string(text), err
}
