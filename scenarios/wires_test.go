package scenarios

import (
	"os"
	"testing"

	"github.com/tapetree/tapetree/record"
	"github.com/tapetree/tapetree/transcripts"
	"gotest.tools/v3/assert"
)

// Sessions of other programs on the wires Responses and Messages are judged by
// the same rules: their calls are paired with their results.
func TestCheckTapeOfEveryWire(t *testing.T) {
	for name, want := range map[string][]record.Finding{"responses": nil, "messages": nil} {
		path := "../transcripts/testdata/" + name + ".jsonl"
		data, err := os.ReadFile(path)
		assert.NilError(t, err)
		f, err := transcripts.Parse(path, data)
		assert.NilError(t, err)
		assert.DeepEqual(t, CheckTape(f, Limits{}), want)
	}
}
