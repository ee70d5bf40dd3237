package report

import (
	"fmt"
	"io"
	"strings"

	"github.com/tapetree/tapetree/golden"
)

// severityColors are those of the words before a code.
var severityColors = map[string]string{"error": "\x1b[31m", "warning": "\x1b[33m", "notice": "\x1b[36m"}

// checkText writes for people: each finding in one line, place first, and under
// the first of each code how to fix it.
type checkText struct {
	w       io.Writer
	o       CheckOptions
	advised map[string]bool
}

func (t *checkText) File(f *CheckFile) error {
	var out strings.Builder
	if f.Error != "" {
		fmt.Fprintf(&out, "%s\n", golden.VisibleLine(f.Error))
	}
	for _, place := range f.Unread {
		fmt.Fprintf(&out, "%s\n", golden.VisibleLine(unread(f, place)))
	}
	for _, finding := range f.fresh() {
		word := finding.Severity
		if t.o.Color {
			word = severityColors[word] + word + colorEnd
		}
		fmt.Fprintf(&out, "%s %s %s: %s\n", golden.VisibleLine(f.place(&finding)), word, finding.Code, golden.VisibleLine(finding.Message))
		if !t.advised[finding.Code] && !t.o.Quiet {
			t.advised[finding.Code] = true
			_, remedy := t.o.Rule(finding.Code)
			fmt.Fprintf(&out, "    fix: %s\n", remedy)
		}
	}
	_, err := io.WriteString(t.w, out.String())
	return err
}

// unread names a place that could not be read.
func unread(f *CheckFile, place CheckPlace) string {
	text := f.File
	if place.Line > 0 {
		text += fmt.Sprintf(":%d", place.Line)
	}
	if f.Part != "" {
		text += ": " + f.Part
	}
	return text + ": not read: " + place.Message
}

func (t *checkText) Close(c *Check) error {
	var out strings.Builder
	for _, entry := range c.Stale {
		fmt.Fprintf(&out, "stale: %s: no such finding any more\n", golden.VisibleLine(entry))
	}
	out.WriteString(c.sum() + "\n")
	_, err := io.WriteString(t.w, out.String())
	return err
}
