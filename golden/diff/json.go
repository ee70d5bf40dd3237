package diff

import (
	"io"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// JSON writes a diff for programs; docs/diff.schema.json describes it.
func (d *Diff) JSON(to io.Writer) error { return writeJSON(to, d) }

func writeJSON(to io.Writer, v any) error {
	return json.MarshalWrite(to, v, json.Deterministic(true), jsontext.WithIndent("  "), jsontext.AllowInvalidUTF8(true))
}
