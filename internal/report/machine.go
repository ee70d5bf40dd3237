package report

import (
	"encoding/xml"
	"fmt"
	"io"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/tapetree/tapetree/golden"
)

// writeJSON writes the suite as docs/replay.schema.json describes it. Bytes
// that are no UTF-8 become U+FFFD.
func writeJSON(w io.Writer, s *Suite) error {
	if err := json.MarshalWrite(w, s, jsontext.WithIndent("  "), jsontext.AllowInvalidUTF8(true), json.Deterministic(true)); err != nil {
		return err
	}
	_, err := io.WriteString(w, "\n")
	return err
}

// The elements of a JUnit report that CI systems read.
type junitSuites struct {
	XMLName  xml.Name   `xml:"testsuites"`
	Tests    int        `xml:"tests,attr"`
	Failures int        `xml:"failures,attr"`
	Errors   int        `xml:"errors,attr"`
	Suite    junitSuite `xml:"testsuite"`
}

type junitSuite struct {
	Name     string      `xml:"name,attr"`
	Tests    int         `xml:"tests,attr"`
	Failures int         `xml:"failures,attr"`
	Errors   int         `xml:"errors,attr"`
	Time     string      `xml:"time,attr"`
	Cases    []junitCase `xml:"testcase"`
}

type junitCase struct {
	Class   string     `xml:"classname,attr"`
	Name    string     `xml:"name,attr"`
	Time    string     `xml:"time,attr"`
	Failure *junitText `xml:"failure"`
	Error   *junitText `xml:"error"`
	Out     string     `xml:"system-out,omitempty"`
}

type junitText struct {
	Message string `xml:"message,attr"`
	Type    string `xml:"type,attr,omitempty"`
	Text    string `xml:",chardata"`
}

// writeJUnit writes one test case a scenario. Warnings of a scenario that
// passed stand in its system-out.
func writeJUnit(w io.Writer, s *Suite) error {
	suite := junitSuite{Name: "tapetree replay", Tests: len(s.Results), Failures: s.Failed, Errors: s.Errors}
	total := 0.0
	for _, r := range s.Results {
		suite.Cases = append(suite.Cases, junitResult(r))
		total += r.Seconds
	}
	suite.Time = seconds(total)
	if _, err := io.WriteString(w, xml.Header); err != nil {
		return err
	}
	e := xml.NewEncoder(w)
	e.Indent("", "  ")
	if err := e.Encode(junitSuites{Tests: suite.Tests, Failures: suite.Failures, Errors: suite.Errors, Suite: suite}); err != nil {
		return err
	}
	_, err := io.WriteString(w, "\n")
	return err
}

func junitResult(r Result) junitCase {
	c := junitCase{Class: "tapetree", Name: r.Name, Time: seconds(r.Seconds)}
	var text strings.Builder
	for _, f := range r.Findings {
		text.WriteString(golden.Visible(f.String()) + "\n")
	}
	for _, d := range r.Details {
		text.WriteString(golden.Visible(strings.TrimRight(d, "\n")) + "\n")
	}
	for _, remark := range r.Remarks {
		text.WriteString("note: " + golden.Visible(remark) + "\n")
	}
	switch r.Status {
	case Fail:
		first := firstError(r.Findings)
		c.Failure = &junitText{Message: golden.Visible(first.String()), Type: first.Code, Text: text.String()}
	case Error:
		c.Error = &junitText{Message: r.Error, Text: text.String()}
	default:
		c.Out = text.String()
	}
	return c
}

// firstError is the finding that best says why a scenario failed.
func firstError(findings []Finding) Finding {
	for _, f := range findings {
		if f.Severity == "error" {
			return f
		}
	}
	if len(findings) > 0 {
		return findings[0]
	}
	return Finding{}
}

func seconds(s float64) string { return fmt.Sprintf("%.3f", s) }
