package cli

import (
	"bytes"
	"io"
	"regexp"
)

// The colours of what show prints. Texts of a model stay as they are: what
// stands behind "| " is never coloured, and holds no escape of its own, for it
// went through golden.Visible.
const (
	colorOff   = "\x1b[0m"
	colorAgent = "\x1b[1m"  // bold: agents and turns
	colorSays  = "\x1b[36m" // cyan: what a model said
	colorCall  = "\x1b[33m" // yellow: calls
	colorGood  = "\x1b[32m" // green: results, added
	colorBad   = "\x1b[31m" // red: what went wrong, dropped
	colorDim   = "\x1b[2m"  // comments and folds
)

// lineColors gives the colour of a line by how it begins; the first that fits
// counts.
var lineColors = []struct {
	form  *regexp.Regexp
	color string
}{
	{regexp.MustCompile(`^\s*\| `), ""},
	{regexp.MustCompile(`^#( |$)|^\s*(\S+ )?⋮ |^\s*(used |tokens not |stop answer$)|^  \d+ [^:]*: `), colorDim},
	{regexp.MustCompile(`^\s*(#\d+ (denied|blocked|invalid|unknown|cut|interrupted|has no result|not run)|try \d+ failed|no answer|dropped |stop |known only)`), colorBad},
	{regexp.MustCompile(`^\s*(#\d+ (allowed|result)|added )`), colorGood},
	{regexp.MustCompile(`^\s*(#\d+ |calls )`), colorCall},
	{regexp.MustCompile(`^\s*(says|refuses|final text|answered by|compacted|cut |edited |new system)`), colorSays},
	{regexp.MustCompile(`^\s*root`), colorAgent},
}

// colorWriter colours lines on their way to a terminal, each up to the text that
// it may hold.
type colorWriter struct {
	to   io.Writer
	rest []byte // of a line that is not whole
}

func (c *colorWriter) Write(p []byte) (int, error) {
	var out bytes.Buffer
	for rest := p; ; {
		line, after, whole := bytes.Cut(rest, []byte("\n"))
		if !whole {
			c.rest = append(c.rest, line...)
			break
		}
		if len(c.rest) > 0 {
			line = append(c.rest, line...)
			c.rest = nil
		}
		colorLine(&out, line)
		rest = after
	}
	if _, err := c.to.Write(out.Bytes()); err != nil {
		return 0, err
	}
	return len(p), nil
}

func colorLine(out *bytes.Buffer, line []byte) {
	color := ""
	for _, l := range lineColors {
		if l.form.Match(line[:min(len(line), 200)]) {
			color = l.color
			break
		}
	}
	end := len(line)
	if at := bytes.Index(line, []byte(" | ")); at >= 0 {
		end = at
	}
	if color == "" || end == 0 {
		out.Write(line)
	} else {
		out.WriteString(color)
		out.Write(line[:end])
		out.WriteString(colorOff)
		out.Write(line[end:])
	}
	out.WriteByte('\n')
}
