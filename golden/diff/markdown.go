package diff

import (
	"fmt"
	"html"
	"io"
	"strings"
	"unicode/utf8"
)

// Markdown writes a diff as a comment on a pull request: a table, and each agent
// that differs folded below it. Nothing of a history becomes a mention, a link,
// HTML or the end of a code block. What is beyond Style.Max is left out and
// named.
func (d *Diff) Markdown(to io.Writer, s Style) error { return d.document(s).markdown(to, s) }

func (doc *document) markdown(to io.Writer, s Style) error {
	var out strings.Builder
	fmt.Fprintf(&out, "### %s\n\n", inline(doc.title))
	for _, l := range doc.summary {
		fmt.Fprintf(&out, "%s  \n", inline(l))
	}
	out.WriteString("\n" + tableRow(doc.head) + "\n" + strings.Repeat("| --- ", len(doc.head)) + "|\n")
	room := s.Max
	if room <= 0 {
		room = 1 << 40
	}
	const restRoom = 120 // what the last line may take
	size := utf8.RuneCountInString(out.String())
	for i, row := range doc.table {
		text := tableRow(row) + "\n"
		if n := utf8.RuneCountInString(text); size+n <= room-restRoom {
			out.WriteString(text)
			size += n
			continue
		}
		fmt.Fprintf(&out, "\nand %s more\n", count(len(doc.table)-i, "agent"))
		_, err := io.WriteString(to, out.String())
		return err
	}
	var differ []section
	for _, sec := range doc.sections {
		if !sec.equal {
			differ = append(differ, sec)
		}
	}
	for i, sec := range differ {
		text, whole := sec.markdown(room - restRoom - size)
		out.WriteString(text)
		size += utf8.RuneCountInString(text)
		if whole {
			continue
		}
		if left := len(differ) - i - 1; left > 0 {
			fmt.Fprintf(&out, "\nleft out: %s more, to keep within %d characters\n", count(left, "agent"), room)
		}
		break
	}
	_, err := io.WriteString(to, out.String())
	return err
}

// markdown writes a section in at most room characters; false when that is not
// all of it.
func (sec section) markdown(room int) (string, bool) {
	var body []string
	longest := 2
	for _, l := range sec.lines {
		text := strings.ReplaceAll(l.text(Style{}), "\x1b", "")
		if l.mark == "~" {
			text = "!" + strings.TrimPrefix(text, "~")
		}
		run := 0
		for _, c := range text {
			if run++; c != '`' {
				run = 0
			}
			longest = max(longest, run)
		}
		body = append(body, text)
	}
	fence := strings.Repeat("`", longest+1)
	head := fmt.Sprintf("\n<details><summary>%s</summary>\n\n%sdiff\n", code(sec.title), fence)
	foot := fence + "\n\n</details>\n"
	size := utf8.RuneCountInString(head) + utf8.RuneCountInString(foot) + 40
	if size > room {
		return fmt.Sprintf("\nleft out: %s\n", count(1, "agent")), false
	}
	for i, text := range body {
		if size += utf8.RuneCountInString(text) + 1; size > room {
			rest := fmt.Sprintf("= %s left out\n", count(len(body)-i, "line"))
			return head + strings.Join(append(body[:i:i], rest), "\n") + foot, false
		}
	}
	return head + strings.Join(append(body, ""), "\n") + foot, true
}

func tableRow(cells []string) string {
	var out strings.Builder
	for _, cell := range cells {
		out.WriteString("| " + inline(cell) + " ")
	}
	return out.String() + "|"
}

// inline writes a text of one line that Markdown leaves alone: every character
// that means something to it, and @ and #, as an entity or behind a word joiner.
func inline(text string) string {
	var out strings.Builder
	for _, r := range shown(text) {
		switch {
		case strings.ContainsRune("&<>\"'`*_[]()|~\\!{}#@:", r):
			fmt.Fprintf(&out, "&#%d;", r)
		default:
			out.WriteRune(r)
		}
	}
	return out.String()
}

// code writes a text as code in HTML, where GitHub looks for no mention.
func code(text string) string {
	return "<code>" + strings.NewReplacer("@", "&#64;", "#", "&#35;", "`", "&#96;", "*", "&#42;", "_", "&#95;", "[", "&#91;", "\\", "&#92;", "~", "&#126;", ":", "&#58;").
		Replace(html.EscapeString(shown(text))) + "</code>"
}
