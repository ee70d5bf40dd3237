package diff

import (
	"bufio"
	"fmt"
	"io"
	"strings"

	"github.com/rivo/uniseg"
)

// colors of marks on a terminal: red, green, yellow, cyan, bold, dim.
var colors = map[string]string{"-": "31", "+": "32", "~": "33", ">": "36", "#": "1", "=": "2", "del": "31;9", "ins": "32;4"}

func paint(s Style, name, text string) string {
	if code := colors[name]; s.Color && code != "" && text != "" {
		return "\x1b[" + code + "m" + text + "\x1b[0m"
	}
	return text
}

// Text writes a diff for a terminal or a log.
func (d *Diff) Text(to io.Writer, s Style) error { return d.document(s).text(to, s) }

// Stat writes one line an agent.
func (d *Diff) Stat(to io.Writer, s Style) error { return d.document(s).stat(to, s) }

func (doc *document) text(to io.Writer, s Style) error {
	out := bufio.NewWriter(to)
	fmt.Fprintln(out, paint(s, "#", shown(doc.title)))
	for _, l := range doc.summary {
		fmt.Fprintln(out, shown(l))
	}
	for _, sec := range doc.sections {
		if sec.equal {
			fmt.Fprintf(out, "\n%s\n", paint(s, "=", shown(sec.title)))
			continue
		}
		fmt.Fprintf(out, "\n%s\n", paint(s, "#", shown(sec.title)))
		for _, l := range sec.lines {
			fmt.Fprintln(out, l.text(s))
		}
	}
	return out.Flush()
}

// text writes one line: its mark, then its pieces.
func (l line) text(s Style) string {
	var out strings.Builder
	for _, p := range l.parts {
		text := shown(p.Text)
		switch {
		case l.mark != "~" || p.Kind == Same:
		case s.Color && p.Kind == Removed:
			text = paint(s, "del", text)
		case s.Color:
			text = paint(s, "ins", text)
		case p.Kind == Removed:
			text = "[-" + text + "-]"
		default:
			text = "{+" + text + "+}"
		}
		out.WriteString(text)
	}
	mark, body := l.mark, strings.Repeat("    ", l.depth)+out.String()
	if mark == "=" {
		mark = "⋮"
	}
	if mark == "~" && strings.Contains(body, "\x1b[") {
		return paint(s, l.mark, mark) + " " + body
	}
	return strings.TrimRight(paint(s, l.mark, strings.TrimRight(mark+" "+body, " ")), " ")
}

func (doc *document) stat(to io.Writer, s Style) error {
	out := bufio.NewWriter(to)
	fmt.Fprintln(out, paint(s, "#", shown(doc.title)))
	for _, l := range doc.summary {
		fmt.Fprintln(out, shown(l))
	}
	width := make([]int, len(doc.head))
	rows := append([][]string{doc.head}, doc.table...)
	for _, row := range rows {
		for i, cell := range row {
			width[i] = max(width[i], min(uniseg.StringWidth(shown(cell)), 60))
		}
	}
	for n, row := range rows {
		var b strings.Builder
		for i, cell := range row {
			cell = shown(cell)
			b.WriteString(cell)
			if i < len(row)-1 {
				b.WriteString(strings.Repeat(" ", max(width[i]-uniseg.StringWidth(cell), 0)+2))
			}
		}
		mark := ""
		switch {
		case n == 0 || doc.sections[n-1].equal:
			mark = "="
		default:
			mark = "~"
		}
		fmt.Fprintln(out, paint(s, mark, b.String()))
	}
	return out.Flush()
}
