package record

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"gotest.tools/v3/assert"
)

// familyStreamed gives family's answers as event streams.
func familyStreamed(w http.ResponseWriter, body string) {
	whole := httptest.NewRecorder()
	family(whole, body)
	sse(w, "data: "+strings.Replace(whole.Body.String(), `"message":`, `"delta":`, 1)+"\n\n", "data: [DONE]\n\n")
}

// A recorded session replays without a difference, one way and the other, and
// asks no upstream.
func TestRecordedSessionReplaysExactly(t *testing.T) {
	for streamed, answer := range map[bool]script{false: family, true: familyStreamed} {
		u := newUpstream(t, answer)
		f, _, run := record(t, u, session{stream: streamed})
		asked := len(u.bodies)
		report, again, err := replay(t, f, ReplayOptions{}, session{stream: streamed})
		assert.NilError(t, err)
		assert.DeepEqual(t, report, &Report{
			Grade: Exact, Exchanges: 5, Used: 5, VerdictsLive: 4, VerdictsTotal: 4, VolatileUses: map[string]int{},
		})
		assert.Equal(t, again.Final, run.Final)
		assert.DeepEqual(t, again.Tree, run.Tree)
		assert.Equal(t, len(u.bodies), asked)
	}
}
