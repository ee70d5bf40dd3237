package diff

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// Bounds of what is shown of a text, unless Style.Full is set.
const (
	wideLine  = 200 // characters of a piece; a longer one loses its middle
	fewLines  = 6   // lines of a text that stands on one side alone
	mostLined = 60  // lines of a changed text
)

// liner writes the lines of one agent.
type liner struct {
	style Style
	lines []line
}

func (w *liner) add(l line) {
	for i := range l.parts {
		l.parts[i].Text = w.short(l.parts[i].Text)
	}
	w.lines = append(w.lines, l)
}

func (w *liner) short(text string) string {
	if w.style.Full || len(text) <= wideLine || utf8.RuneCountInString(text) <= wideLine {
		return text
	}
	runes := []rune(text)
	return fmt.Sprintf("%s … %d characters … %s", string(runes[:120]), len(runes)-160, string(runes[len(runes)-40:]))
}

// rows writes rows, and folds runs of equal ones but for some around what
// differs.
func (w *liner) rows(rows []Row) {
	for i := 0; i < len(rows); {
		if rows[i].Kind != Same {
			w.row(&rows[i])
			i++
			continue
		}
		end := i
		for end < len(rows) && rows[end].Kind == Same {
			end++
		}
		before, after := w.style.Context, w.style.Context
		if i == 0 {
			before = 0
		}
		if end == len(rows) {
			after = 0
		}
		if end-i <= before+after+1 && end-i <= 2*w.style.Context+1 {
			before, after = end-i, 0
		}
		for k := i; k < i+before; k++ {
			w.row(&rows[k])
		}
		if left := end - i - before - after; left > 0 {
			w.add(plainLine("=", 0, count(left, "equal message")))
		}
		for k := end - after; k < end; k++ {
			w.row(&rows[k])
		}
		i = end
	}
}

func (w *liner) row(r *Row) {
	switch r.Kind {
	case Same:
		w.add(plainLine(" ", 0, bothNumbers(r)+head(r.Left)+brief(r.Left)))
	case Moved:
		other, verb := r.Right, "moved to message"
		m := r.Left
		if r.Side == "right" {
			m, other, verb = r.Right, r.Left, "moved from message"
		}
		w.add(plainLine(">", 0, fmt.Sprintf("%d %s, %s %d%s%s", m.Number, head(m), verb, other.Number, pairingNote(r), brief(m))))
	case Removed:
		w.alone("-", r.Left)
	case Added:
		w.alone("+", r.Right)
	case Changed:
		w.change(r)
	}
}

func pairingNote(r *Row) string {
	if r.Pairing {
		return ", its ids stand for others"
	}
	return ""
}

// bothNumbers is the number of a message on each side.
func bothNumbers(r *Row) string {
	if r.Left.Number == r.Right.Number {
		return fmt.Sprintf("%d ", r.Left.Number)
	}
	return fmt.Sprintf("%d|%d ", r.Left.Number, r.Right.Number)
}

// head says what a message is.
func head(m *Message) string {
	text := m.Role
	if m.Role == "tool" {
		text = "result"
		if m.Tool != "" {
			text += " of " + m.Tool
		}
	}
	names := make([]string, len(m.Calls))
	for i, c := range m.Calls {
		names[i] = c.Name
	}
	if len(names) > 0 {
		text += " calls " + strings.Join(names, ", ")
	}
	return text
}

// brief is the beginning of a text, in the line of its message.
func brief(m *Message) string {
	if m.Text == "" {
		return ""
	}
	text, more, _ := strings.Cut(m.Text, "\n")
	if runes := []rune(text); len(runes) > 72 {
		text, more = string(runes[:72]), "more"
	}
	if more != "" || m.Cut {
		text += "…"
	}
	return " | " + text
}

// alone writes a message of one side.
func (w *liner) alone(mark string, m *Message) {
	w.add(plainLine(mark, 0, fmt.Sprintf("%d %s", m.Number, head(m))))
	w.block(mark, m.Text)
	if m.Cut {
		w.add(plainLine("=", 1, fmt.Sprintf("of %s", count(m.Size, "byte"))))
	}
	for _, c := range m.Calls {
		w.block(mark, callText(c))
	}
}

func callText(c Call) string {
	text := c.Name + " " + c.Arguments
	if c.Child != "" {
		text += " → " + c.Child
	}
	return strings.TrimSpace(text)
}

func (w *liner) block(mark, text string) {
	if text == "" {
		return
	}
	list := strings.Split(strings.TrimRight(text, "\n"), "\n")
	for i, l := range list {
		if !w.style.Full && len(list) > fewLines && i == fewLines-2 {
			w.add(plainLine("=", 1, fmt.Sprintf("%d more lines", len(list)-i)))
			return
		}
		w.add(plainLine(mark, 1, l))
	}
}

// change writes a message that both sides have, and what differs in it.
func (w *liner) change(r *Row) {
	text := head(r.Left)
	if other := head(r.Right); other != text {
		text += " → " + other
	}
	w.add(plainLine("~", 0, bothNumbers(r)+text+pairingNote(r)))
	if r.Left.Text != r.Right.Text {
		if r.Parts == nil {
			w.add(plainLine("=", 1, fmt.Sprintf("%s → %s, too long to be compared by words", count(r.Left.Size, "byte"), count(r.Right.Size, "byte"))))
		}
		w.changed(1, r.Parts)
	}
	for _, c := range r.Calls {
		switch c.Kind {
		case Removed:
			w.block("-", callText(r.Left.Calls[c.Left]))
		case Added:
			w.block("+", callText(r.Right.Calls[c.Right]))
		case Moved:
			w.add(plainLine(">", 1, fmt.Sprintf("call %d is call %d: %s", c.Left+1, c.Right+1, r.Right.Calls[c.Right].Name)))
		case Changed:
			parts := append([]Part{{Same, r.Left.Calls[c.Left].Name + " "}}, c.Parts...)
			w.changed(1, parts)
		}
	}
}

// changed writes a text by words: lines that differ, with some equal ones around
// them.
func (w *liner) changed(depth int, parts []Part) {
	all := linesOf(parts)
	near := make([]bool, len(all))
	last := -1 << 30
	for i := range all {
		if all[i].mark != " " {
			last = i
		}
		near[i] = i-last <= w.style.Context
	}
	last = 1 << 30
	for i := len(all) - 1; i >= 0; i-- {
		if all[i].mark != " " {
			last = i
		}
		near[i] = near[i] || last-i <= w.style.Context
	}
	left, written := 0, 0
	for i, l := range all {
		if !w.style.Full && (!near[i] || written >= mostLined) {
			left++
			continue
		}
		w.leftOut(depth, left)
		left = 0
		l.depth = depth
		w.add(l)
		written++
	}
	w.leftOut(depth, left)
}

func (w *liner) leftOut(depth, n int) {
	if n > 0 {
		w.add(plainLine("=", depth, count(n, "more line")))
	}
}

// linesOf cuts the parts of a text into lines. Each says whether it differs.
func linesOf(parts []Part) []line {
	var lines []line
	var now []Part
	flush := func() {
		if len(now) == 0 {
			return
		}
		mark := " "
		kinds := map[Kind]bool{}
		for _, p := range now {
			kinds[p.Kind] = true
		}
		switch {
		case len(kinds) > 1:
			mark = "~"
		case kinds[Removed]:
			mark = "-"
		case kinds[Added]:
			mark = "+"
		}
		lines = append(lines, line{mark: mark, parts: now})
		now = nil
	}
	for _, p := range parts {
		rest := p.Text
		for {
			text, after, found := strings.Cut(rest, "\n")
			if text != "" || found && len(now) == 0 {
				now = append(now, Part{p.Kind, text})
			}
			if !found {
				break
			}
			flush()
			rest = after
		}
	}
	flush()
	return lines
}
