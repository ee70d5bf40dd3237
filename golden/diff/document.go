package diff

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/tapetree/tapetree/golden"
)

// Style of what is written for people.
type Style struct {
	Color   bool // of text: colors in place of the marks around words
	Context int  // equal messages, and equal lines, shown around a difference
	Full    bool // leave nothing out of a text that differs
	Max     int  // of Markdown: the most bytes; 0: no bound
}

// MaxComment is how long a comment on GitHub may be, in characters:
// https://github.com/orgs/community/discussions/27190.
const MaxComment = 65_536

// document is what the writers for people share.
type document struct {
	title    string
	summary  []string   // sentences above the table
	head     []string   // of the table
	table    [][]string // a row a section
	sections []section
}

// section is one agent.
type section struct {
	title string
	lines []line
	equal bool
}

// line is one line: a mark, and pieces of text.
type line struct {
	mark  string // " ", "-", "+", "~" (words differ), ">" (moved), "#" (a heading), "=" (left out)
	depth int
	parts []Part
}

func plainLine(mark string, depth int, text string) line {
	return line{mark, depth, []Part{{Same, text}}}
}

// document lays out a Diff.
func (d *Diff) document(s Style) *document {
	doc := &document{title: d.Left + " → " + d.Right, head: []string{"agent", "messages", "first difference", "tokens"}}
	doc.summary = append(doc.summary, d.verdict())
	for _, u := range d.Covered {
		doc.summary = append(doc.summary, fmt.Sprintf("volatile rule %s covered %s", u.Rule, count(u.Count, "text")))
	}
	for _, a := range d.Agents {
		doc.table = append(doc.table, []string{a.name(), a.Counts.String(), a.first(), a.Tokens.String()})
		doc.sections = append(doc.sections, a.section(s))
	}
	return doc
}

// verdict says in one sentence how the two compare.
func (d *Diff) verdict() string {
	if d.Equal {
		return fmt.Sprintf("equal: %s", count(len(d.Agents), "agent"))
	}
	by := map[Kind]int{}
	for _, a := range d.Agents {
		by[a.Kind]++
	}
	var parts []string
	for _, kind := range []Kind{Changed, Removed, Added, Same} {
		if by[kind] > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", by[kind], kind))
		}
	}
	return fmt.Sprintf("differ: of %s %s", count(len(d.Agents), "agent"), strings.Join(parts, ", "))
}

func count(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return strconv.Itoa(n) + " " + noun + "s"
}

func (a *Agent) name() string {
	name := a.Left
	switch {
	case a.Left == "":
		name = a.Right
	case a.Right != "" && a.Right != a.Left:
		name += " → " + a.Right
	}
	return name
}

// String lists the counts that are not zero.
func (c Counts) String() string {
	var parts []string
	for _, p := range []struct {
		n    int
		kind Kind
	}{{c.Same, Same}, {c.Changed, Changed}, {c.Moved, Moved}, {c.Removed, Removed}, {c.Added, Added}} {
		if p.n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", p.n, p.kind))
		}
	}
	if len(parts) == 0 {
		return "none"
	}
	return strings.Join(parts, ", ")
}

// String is input and output tokens, before and after.
func (t Tokens) String() string {
	before, after := fmt.Sprintf("%d in %d out", t.Left.Input, t.Left.Output), fmt.Sprintf("%d in %d out", t.Right.Input, t.Right.Output)
	if before == after {
		return before
	}
	return before + " → " + after
}

// first says where an agent's sides part.
func (a *Agent) first() string {
	switch {
	case a.Kind == Removed || a.Kind == Added:
		return string(a.Kind)
	case a.First < 0 && len(a.Settings) == 0:
		return "none"
	case a.First < 0:
		grades := make([]string, len(a.Settings))
		for i, s := range a.Settings {
			grades[i] = s.Grade
		}
		return strings.Join(grades, ", ")
	}
	r := a.Rows[a.First]
	m := r.Left
	if m == nil {
		m = r.Right
	}
	return fmt.Sprintf("turn %d, message %d", m.Turn, m.Number)
}

func (a *Agent) section(s Style) section {
	title := a.name()
	if a.Label != "" && a.Label != a.Left && a.Label != a.Right {
		title += " " + strconv.Quote(a.Label)
	}
	out := section{title: fmt.Sprintf("%s: %s", title, a.heading()), equal: a.Kind == Same}
	w := &liner{style: s}
	for _, set := range a.Settings {
		w.add(plainLine("~", 0, fmt.Sprintf("%s: %s → %s", set.Grade, set.Left, set.Right)))
		w.changed(1, set.Parts)
	}
	w.rows(a.Rows)
	out.lines = w.lines
	return out
}

func (a *Agent) heading() string {
	if a.Kind == Removed || a.Kind == Added {
		return fmt.Sprintf("%s, %s", a.Kind, count(len(a.Rows), "message"))
	}
	if a.Kind == Same {
		return fmt.Sprintf("same, %s", count(a.Counts.Same, "message"))
	}
	text := a.Counts.String()
	if a.First >= 0 {
		text += "; first difference at " + a.first()
	} else if len(a.Settings) > 0 {
		text += "; differs in " + a.first()
	}
	return text
}

// shown makes a text of a history safe to show: nothing of it acts or hides.
// Spaces at its end stay, for more may follow on the line.
func shown(text string) string {
	body := strings.TrimRight(text, " ")
	return golden.Visible(strings.ReplaceAll(body, "\n", "↵")) + text[len(body):]
}
