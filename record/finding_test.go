package record

import (
	"testing"

	"gotest.tools/v3/assert"
)

// Only prompt and tools, idle faults, stale recordings and advice on delegation are
// warnings; what does not exist weighs as an error.
func TestSeverity(t *testing.T) {
	warnings := map[string]bool{
		"replay/prompt": true, "replay/tools": true, "replay/fault": true, "replay/stale": true,
		"delegation/vague-brief": true, "delegation/long-report": true, "delegation/verbatim-report": true,
		"delegation/trivial-task": true, "delegation/parallel-writes": true, "delegation/edit-unread": true,
		"delegation/reader-writes": true, "delegation/hidden-failure": true,
	}
	seen := map[string]bool{}
	for _, code := range Codes() {
		assert.Assert(t, !seen[code], "%s is listed twice", code)
		seen[code] = true
		want := SeverityError
		if warnings[code] {
			want = SeverityWarning
		}
		assert.Equal(t, Severity(code), want, code)
		assert.Assert(t, IsCode(code))
	}
	assert.Equal(t, len(seen), 45)
	assert.Equal(t, Severity("replay/nothing"), SeverityError)
	assert.Assert(t, !IsCode("replay/nothing"))
}

func TestWorseGrade(t *testing.T) {
	for i, a := range gradeOrder {
		for j, b := range gradeOrder {
			assert.Equal(t, a.Worse(b), gradeOrder[max(i, j)], "%s and %s", a, b)
		}
		assert.Equal(t, Grade("").Worse(a), a)
		assert.Equal(t, a.Worse(""), a)
	}
}
