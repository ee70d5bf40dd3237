package record

import "slices"

// Grade says how a request compares with the recorded one.
type Grade string

// The grades, from best to worst. History fails a replay; prompt and tools are
// warnings.
const (
	Exact         Grade = "exact"    // the same bytes
	GradeVolatile Grade = "volatile" // equal once placeholders, ids and the volatile rules are applied
	GradePrompt   Grade = "prompt"   // the system text differs
	GradeTools    Grade = "tools"    // schemas, model or parameters differ
	GradeHistory  Grade = "history"  // the messages differ
)

var gradeOrder = []Grade{Exact, GradeVolatile, GradePrompt, GradeTools, GradeHistory}

// Worse returns the worse of two grades; the zero Grade is better than any.
func (g Grade) Worse(other Grade) Grade {
	if slices.Index(gradeOrder, other) > slices.Index(gradeOrder, g) {
		return other
	}
	return g
}
