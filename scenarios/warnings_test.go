package scenarios

import (
	"net/http"
	"os"
	"strings"
	"testing"

	"gotest.tools/v3/assert"
)

// TestAWarningIsOneLineUnlessStrict: what changes nothing that matters takes no
// screen; who lets it fail sees where it comes from.
func TestAWarningIsOneLineUnlessStrict(t *testing.T) {
	p := &provider{answer: func(string) (int, http.Header, string) { return 200, nil, says("done") }}
	source, _ := recordLive(t, "-- prompt --\nlook\n-- work/a --\n", p, LiveOptions{})
	assert.NilError(t, os.WriteFile(source.ScenarioPath("one"), []byte("-- prompt --\nlook\n-- system --\nother\n-- work/a --\n"), 0o644))
	loose := Replay(t.Context(), source, "one", ReplayOptions{Environ: []string{}})
	strict := Replay(t.Context(), source, "one", ReplayOptions{Environ: []string{}, Strict: true})
	for _, r := range []Result{loose, strict} {
		assert.Equal(t, len(r.Findings), 1)
		assert.Equal(t, r.Findings[0].Code, "replay/prompt")
	}
	assert.Equal(t, loose.Status, Pass)
	assert.Equal(t, len(loose.Details), 0)
	assert.Equal(t, strict.Status, Fail)
	assert.Equal(t, len(strict.Details), 1)
	assert.Assert(t, strings.HasSuffix(strict.Details[0], "\n  to accept it: tapetree rebase one"))
}
