//go:build unix

package cli

import (
	"net/http"
	"testing"

	"gotest.tools/v3/assert"
)

// The page is served until it is interrupted, which is how it is meant to end.
func TestThePageIsServedUntilItIsInterrupted(t *testing.T) {
	view := startServer(t, t.TempDir(), "view", "--builtin", "recorded-mini-parallel")
	answer, err := http.Get(view.url + "data/index.json")
	assert.NilError(t, err)
	assert.NilError(t, answer.Body.Close())
	assert.Equal(t, answer.StatusCode, http.StatusOK)
	assert.Equal(t, view.end(t), exitOK)
}
