package report

import (
	"fmt"
	"io"
	"strings"

	"github.com/tapetree/tapetree/golden"
)

// words that stand before a result, all of one width.
var words = map[Status]string{Pass: "pass ", Fail: "FAIL ", Error: "ERROR"}

// colors of the words, as ANSI escapes.
var colors = map[Status]string{Pass: "\x1b[32m", Fail: "\x1b[31m", Error: "\x1b[35m"}

const colorEnd = "\x1b[0m"

// writeText writes one line a scenario, its findings and details below it, and
// the sum. What comes from a model or a file is shown with its invisible
// characters, so it can do nothing to a terminal.
func writeText(w io.Writer, s *Suite, o Options) error {
	width := 0
	for _, r := range s.Results {
		width = max(width, len(r.Name))
	}
	var out strings.Builder
	for _, r := range s.Results {
		if o.Quiet && r.Status == Pass && len(r.Findings) == 0 {
			continue
		}
		textResult(&out, r, width, o)
	}
	if out.Len() > 0 {
		out.WriteByte('\n')
	}
	fmt.Fprintf(&out, "%d passed, %d failed, %s\n", s.Passed, s.Failed, counted(s.Errors, "error"))
	_, err := io.WriteString(w, out.String())
	return err
}

func textResult(out *strings.Builder, r Result, width int, o Options) {
	word := words[r.Status]
	if o.Color {
		word = colors[r.Status] + word + colorEnd
	}
	line := fmt.Sprintf("%s  %-*s  %s", word, width, r.Name, strings.Join(facts(r), ", "))
	out.WriteString(strings.TrimRight(line, " ") + "\n")
	if r.Error != "" {
		textBlock(out, "       ", r.Error)
	}
	for _, f := range r.Findings {
		textBlock(out, "       ", f.String())
	}
	for _, d := range r.Details {
		textBlock(out, "         ", d)
	}
	for _, remark := range r.Remarks {
		textBlock(out, "       ", "note: "+remark)
	}
}

// facts says in a few words what a result rests on.
func facts(r Result) []string {
	var list []string
	if r.Grade != "" {
		list = append(list, r.Grade)
	}
	if r.Exchanges > 0 {
		list = append(list, counted(r.Exchanges, "exchange"))
	}
	if r.Agents > 0 {
		list = append(list, counted(r.Agents, "agent"))
	}
	return append(list, r.Notes...)
}

func textBlock(out *strings.Builder, indent, text string) {
	for _, line := range strings.Split(strings.TrimRight(text, "\n"), "\n") {
		out.WriteString(indent + golden.Visible(line) + "\n")
	}
}

// String is the finding in one line: code, place, message.
func (f Finding) String() string {
	text := f.Code
	if f.Severity != "" && f.Severity != "error" {
		text = f.Severity + " " + text
	}
	if f.Agent != "" {
		text += " " + f.Agent
	}
	if f.Turn > 0 {
		text += fmt.Sprintf(" turn %d", f.Turn)
	}
	return text + ": " + f.Message
}

func counted(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}
