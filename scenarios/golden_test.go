package scenarios

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"gotest.tools/v3/assert"
)

// Where the new golden history cannot be written, as in a checkout that is read
// only, the difference is reported all the same.
func TestADifferenceIsReportedThoughTheNewGoldenCannotBeWritten(t *testing.T) {
	p := newProject(t, "pairing-several-calls")
	p.text("golden", "root", "boss")
	inTheWay := filepath.Join(p.dir, "golden", p.name+".txt.new", "x")
	assert.NilError(t, os.MkdirAll(inTheWay, 0o755))
	r := p.replay()
	assert.Equal(t, r.Status, Fail, "%v", r.Err)
	assert.Equal(t, r.Findings[0].Code, "golden/differs")
	assert.Assert(t, strings.Contains(r.Findings[0].Message, "the session is not the one in "), r.Findings[0].Message)
	assert.Assert(t, strings.Contains(r.Findings[0].Message, ": write golden history "), r.Findings[0].Message)
	assert.Assert(t, strings.Contains(strings.Join(r.Details, "\n"), "-boss"))
}
