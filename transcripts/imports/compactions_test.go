package imports_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/tapetree/tapetree/transcripts/imports"
	"gotest.tools/v3/assert"
)

// A pi session whose every compaction keeps all that was said costs no more than
// a bounded number of messages beside its own.
func TestCompactionsThatKeepEverything(t *testing.T) {
	var file strings.Builder
	file.WriteString(`{"type":"session","version":3,"id":"s","cwd":"/"}` + "\n")
	const n = 2000
	for i := range n {
		fmt.Fprintf(&file, `{"type":"message","id":"m%d","message":{"role":"user","content":"x"}}`+"\n", i)
		fmt.Fprintf(&file, `{"type":"compaction","id":"c%d","firstKeptEntryId":"m0","summary":"s"}`+"\n", i)
	}
	importer := imports.Detect([]byte(file.String()))
	assert.Equal(t, importer.Name, "pi")
	for h, err := range importer.Read("deep.jsonl", []byte(file.String())) {
		assert.NilError(t, err)
		given := 0
		for _, turn := range h.Roots[0].Turns {
			given += turn.Sent.Len()
		}
		assert.Assert(t, given < 1<<20+4*n, "%d messages were given", given)
		assert.Assert(t, len(h.Lost) == 1 && strings.HasSuffix(h.Lost[0], "further kept messages"), "%q", h.Lost)
	}
}
