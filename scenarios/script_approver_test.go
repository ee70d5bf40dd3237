package scenarios

import (
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"gotest.tools/v3/assert"
)

// TestAScriptedAnswerMayBelongToATapedCall: the shell is answered from tape,
// with the answer of the recording; the line that gave it is used, and one that
// says otherwise is reported.
func TestAScriptedAnswerMayBelongToATapedCall(t *testing.T) {
	p := &provider{answer: func(body string) (int, http.Header, string) {
		if strings.Contains(body, `"role":"tool"`) {
			return 200, nil, says("done")
		}
		return 200, nil, calls(toolCall("a", "shell", `{"command":"true"}`))
	}}
	const scenario = "approve: script\n-- prompt --\nrun\n-- work/a --\n-- approvals --\nroot#1.1 deny not now\n"
	source, recorded := recordLive(t, scenario, p, LiveOptions{})
	assert.Equal(t, recorded.Replay.Status, Pass, "%v", recorded.Replay.Findings)
	for line, want := range map[string][]string{
		"deny":             nil,
		"root#1.1 deny no": nil,
		"root#1.1 allow":   {"replay/verdict scenarios/one.txtar:6: the recording denied call 1, which is answered from tape: record it again, or correct the line"},
		"root#1.2 deny":    {"replay/verdict scenarios/one.txtar:6: this answer was never asked for"},
	} {
		changed := strings.Replace(scenario, "root#1.1 deny not now", line, 1)
		assert.NilError(t, os.WriteFile(source.ScenarioPath("one"), []byte(changed), 0o644))
		var got []string
		for _, f := range Replay(t.Context(), source, "one", ReplayOptions{Environ: []string{}}).Findings {
			got = append(got, f.Code+" "+strings.Replace(f.Message, source.Dir+string(filepath.Separator), "", 1))
		}
		assert.DeepEqual(t, got, want)
	}
}
