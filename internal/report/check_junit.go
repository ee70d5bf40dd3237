package report

import (
	"encoding/xml"
	"io"
	"strings"

	"github.com/tapetree/tapetree/golden"
)

// checkJUnit writes one test case a history. A history fails by its errors;
// what else was found stands in its system-out.
type checkJUnit struct {
	w     io.Writer
	suite junitSuite
}

func (j *checkJUnit) File(f *CheckFile) error {
	c := junitCase{Class: "tapetree", Name: golden.Visible(f.Name()), Time: seconds(0)}
	var first *CheckFinding
	var text strings.Builder
	for _, place := range f.Unread {
		text.WriteString(golden.Visible(unread(f, place)) + "\n")
	}
	fresh := f.fresh()
	for i := range fresh {
		if first == nil && fresh[i].Severity == "error" {
			first = &fresh[i]
		}
		text.WriteString(golden.Visible(f.place(&fresh[i])+" "+fresh[i].Severity+" "+fresh[i].Code+": "+fresh[i].Message) + "\n")
	}
	j.suite.Tests++
	switch {
	case f.Error != "":
		j.suite.Errors++
		c.Error = &junitText{Message: golden.Visible(f.Error)}
	case first != nil:
		j.suite.Failures++
		c.Failure = &junitText{Message: golden.Visible(first.Message), Type: first.Code, Text: text.String()}
	default:
		c.Out = text.String()
	}
	j.suite.Cases = append(j.suite.Cases, c)
	return nil
}

func (j *checkJUnit) Close(*Check) error {
	j.suite.Name, j.suite.Time = "tapetree check", seconds(0)
	if _, err := io.WriteString(j.w, xml.Header); err != nil {
		return err
	}
	e := xml.NewEncoder(j.w)
	e.Indent("", "  ")
	if err := e.Encode(junitSuites{Tests: j.suite.Tests, Failures: j.suite.Failures, Errors: j.suite.Errors, Suite: j.suite}); err != nil {
		return err
	}
	_, err := io.WriteString(j.w, "\n")
	return err
}
