package golden

import (
	"os"
	"testing"

	"github.com/tapetree/tapetree/transcripts"
	"gotest.tools/v3/assert"
	"gotest.tools/v3/golden"
)

// Sessions of other programs on other wires read like any other.
func TestRenderOfEveryWire(t *testing.T) {
	for _, name := range []string{"responses", "messages"} {
		path := "../transcripts/testdata/" + name + ".jsonl"
		data, err := os.ReadFile(path)
		assert.NilError(t, err)
		f, err := transcripts.Parse(path, data)
		assert.NilError(t, err)
		run, err := f.Session()
		assert.NilError(t, err)
		golden.Assert(t, Render(run, Options{Foreign: f.Foreign()}), "wire-"+name+".txt")
	}
}
