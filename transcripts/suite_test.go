package transcripts

import (
	"io/fs"
	"testing"

	"gotest.tools/v3/assert"
)

// suiteFiles are the transcripts inside the binary.
func suiteFiles(t *testing.T) map[string][]byte {
	t.Helper()
	files := map[string][]byte{}
	names, err := fs.Glob(Suite, "*.jsonl")
	assert.NilError(t, err)
	for _, name := range names {
		data, err := fs.ReadFile(Suite, name)
		assert.NilError(t, err)
		if len(data) > 0 {
			files[name] = data
		}
	}
	return files
}
