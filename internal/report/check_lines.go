package report

import (
	"fmt"
	"io"
	"strings"

	"github.com/tapetree/tapetree/golden"
)

// checkGitHub writes the workflow commands that GitHub Actions turns into
// annotations.
type checkGitHub struct{ w io.Writer }

// What a message and a property of a workflow command write otherwise.
var (
	githubText     = strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A")
	githubProperty = strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A", ":", "%3A", ",", "%2C")
)

func (g *checkGitHub) File(f *CheckFile) error {
	var out strings.Builder
	annotate := func(severity, title string, line int, message string) {
		fmt.Fprintf(&out, "::%s file=%s", severity, githubProperty.Replace(golden.VisibleLine(f.File)))
		if line > 0 {
			fmt.Fprintf(&out, ",line=%d", line)
		}
		fmt.Fprintf(&out, ",title=%s::%s\n", githubProperty.Replace(title), githubText.Replace(golden.VisibleLine(message)))
	}
	if f.Error != "" {
		annotate("error", "tapetree check", 0, f.Error)
	}
	for _, place := range f.Unread {
		annotate("warning", "not read", place.Line, place.Message)
	}
	for _, finding := range f.fresh() {
		message := finding.Message
		for _, part := range []string{finding.At(), f.Part} {
			if part != "" {
				message = part + ": " + message
			}
		}
		annotate(finding.Severity, finding.Code, finding.Line, message)
	}
	_, err := io.WriteString(g.w, out.String())
	return err
}

func (g *checkGitHub) Close(c *Check) error {
	_, err := io.WriteString(g.w, c.sum()+"\n")
	return err
}

// checkMarkdown writes a table, as for a comment of a pull request.
type checkMarkdown struct {
	w    io.Writer
	o    CheckOptions
	rows strings.Builder
	used []string // codes, in the order of their first finding
}

func (m *checkMarkdown) File(f *CheckFile) error {
	if f.Error != "" {
		m.row(f.File, "error", "", f.Error)
	}
	for _, place := range f.Unread {
		m.row(f.File, "warning", "", unread(f, place))
	}
	for _, finding := range f.fresh() {
		m.row(strings.TrimSuffix(f.place(&finding), ":"), finding.Severity, finding.Code, finding.Message)
		if !strings.Contains("\n"+strings.Join(m.used, "\n")+"\n", "\n"+finding.Code+"\n") {
			m.used = append(m.used, finding.Code)
		}
	}
	return nil
}

func (m *checkMarkdown) row(place, severity, code, message string) {
	if code != "" {
		severity += " `" + code + "`"
	}
	fmt.Fprintf(&m.rows, "| %s | %s | %s |\n", cell(place), severity, cell(message))
}

// markdownSigns are those that begin something in a cell of a table.
var markdownSigns = strings.NewReplacer("\\", "\\\\", "|", "\\|", "<", "&lt;", ">", "&gt;", "&", "&amp;", "*", "\\*", "_", "\\_", "`", "\\`", "[", "\\[", "]", "\\]", "@", "&#64;", "#", "&#35;", "~", "\\~")

// cell is text as a table shows it, on one line.
func cell(text string) string {
	return markdownSigns.Replace(strings.Join(strings.Fields(golden.VisibleLine(text)), " "))
}

func (m *checkMarkdown) Close(c *Check) error {
	var out strings.Builder
	fmt.Fprintf(&out, "**tapetree check** %s\n", c.sum())
	if m.rows.Len() > 0 {
		out.WriteString("\n| place | finding | |\n| --- | --- | --- |\n" + m.rows.String())
	}
	if len(m.used) > 0 {
		out.WriteByte('\n')
	}
	for _, code := range m.used {
		_, remedy := m.o.Rule(code)
		fmt.Fprintf(&out, "- `%s`: %s\n", code, remedy)
	}
	for _, entry := range c.Stale {
		fmt.Fprintf(&out, "\nStale in the baseline: %s\n", cell(entry))
	}
	_, err := io.WriteString(m.w, out.String())
	return err
}

// checkTAP writes TAP 14: one test a history.
type checkTAP struct {
	w     io.Writer
	tests int
}

func (t *checkTAP) File(f *CheckFile) error {
	var out strings.Builder
	if t.tests == 0 {
		out.WriteString("TAP version 14\n")
	}
	t.tests++
	failed, lines := f.Error != "", []string{}
	if failed {
		lines = append(lines, f.Error)
	}
	for _, place := range f.Unread {
		lines = append(lines, unread(f, place))
	}
	for _, finding := range f.fresh() {
		failed = failed || finding.Severity == "error"
		lines = append(lines, strings.TrimPrefix(f.place(&finding), f.File+":")+" "+finding.Severity+" "+finding.Code+": "+finding.Message)
	}
	word := "ok"
	if failed {
		word = "not ok"
	}
	fmt.Fprintf(&out, "%s %d - %s\n", word, t.tests, strings.NewReplacer(`\`, `\\`, "#", `\#`).Replace(golden.VisibleLine(f.Name())))
	for _, line := range lines {
		fmt.Fprintf(&out, "# %s\n", strings.TrimSpace(golden.VisibleLine(line)))
	}
	_, err := io.WriteString(t.w, out.String())
	return err
}

func (t *checkTAP) Close(c *Check) error {
	head := ""
	if t.tests == 0 {
		head = "TAP version 14\n"
	}
	_, err := fmt.Fprintf(t.w, "%s1..%d\n# %s\n", head, t.tests, c.sum())
	return err
}
