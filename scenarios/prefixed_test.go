package scenarios

import (
	"strings"
	"testing"

	"gotest.tools/v3/assert"
)

func TestEachLineOfAProgramNamesItsScenario(t *testing.T) {
	var out strings.Builder
	w := prefixed(&out, "fruit")
	for _, part := range []string{"one\ntw", "o\n", "", "\n", strings.Repeat("x", longestLine), "three"} {
		n, err := w.Write([]byte(part))
		assert.NilError(t, err)
		assert.Equal(t, n, len(part))
	}
	w.end()
	w.end()
	assert.Equal(t, out.String(), "fruit | one\nfruit | two\nfruit | \nfruit | "+strings.Repeat("x", longestLine)+"\nfruit | three\n")
	prefixed(nil, "fruit").end()
}
