// Package report writes what a replay came to, for people and for machines.
package report

import (
	"fmt"
	"io"
)

// Status of one scenario.
type Status string

// The statuses.
const (
	Pass  Status = "pass"
	Fail  Status = "fail"
	Error Status = "error" // it could not be judged
)

// Suite is what a replay of several scenarios came to. Its JSON is described
// by docs/replay.schema.json.
type Suite struct {
	Results []Result `json:"results"`
	Passed  int      `json:"passed"`
	Failed  int      `json:"failed"`
	Errors  int      `json:"errors"`
}

// Result is one scenario.
type Result struct {
	Name      string    `json:"name"`
	Status    Status    `json:"status"`
	Grade     string    `json:"grade"` // "" when no request was made
	Findings  []Finding `json:"findings"`
	Exchanges int       `json:"exchanges"` // in the transcript
	Agents    int       `json:"agents"`    // in the session tree
	Error     string    `json:"error,omitzero"`

	Details []string `json:"-"` // blocks of lines for people
	Notes   []string `json:"-"` // what holds, but a reader should know, in a few words
	Remarks []string `json:"-"` // the same in whole sentences
	Seconds float64  `json:"-"`
}

// Finding is one broken rule.
type Finding struct {
	Code     string `json:"code"`
	Agent    string `json:"agent,omitzero"` // "": the whole session
	Turn     int    `json:"turn,omitzero"`  // 0: no turn in particular
	Message  string `json:"message"`
	Severity string `json:"-"` // error, warning, notice
}

// Add appends a result and counts it.
func (s *Suite) Add(r Result) {
	s.Results = append(s.Results, r)
	switch r.Status {
	case Pass:
		s.Passed++
	case Fail:
		s.Failed++
	default:
		s.Errors++
	}
}

// Options of a report for people.
type Options struct {
	Quiet bool // leave out what passed without a finding
	Color bool
}

// Formats lists the formats that Write knows.
var Formats = []string{"text", "json", "junit"}

// Write writes the suite in one of Formats.
func Write(w io.Writer, format string, s *Suite, o Options) error {
	switch format {
	case "text":
		return writeText(w, s, o)
	case "json":
		return writeJSON(w, s)
	case "junit":
		return writeJUnit(w, s)
	default:
		return fmt.Errorf("write report: unknown format %q", format)
	}
}
