package cli

import (
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/tapetree/tapetree/golden"
	"github.com/tapetree/tapetree/internal/export"
	"github.com/tapetree/tapetree/internal/prices"
	"github.com/tapetree/tapetree/internal/stats"
	"github.com/tapetree/tapetree/runtime"
	"github.com/tapetree/tapetree/transcripts"
)

// showStats writes what the agents of sessions did and used.
type showStats struct {
	out      io.Writer
	markdown bool
	table    *prices.Table
	shown    int
}

func (s *showStats) end() error { return nil }

func (s *showStats) history(h *transcripts.History, roots []*runtime.Run) error {
	only := *h
	only.Roots = roots
	sum := stats.Of(&only, s.table)
	tables := []statsTable{agentTable(sum), toolTable(sum), delegationTable(sum)}
	var text strings.Builder
	if s.shown++; s.shown > 1 {
		text.WriteByte('\n')
	}
	if s.markdown {
		fmt.Fprintf(&text, "## %s\n", export.Escape(h.Name()))
	} else {
		text.WriteString(title(h) + "\n")
	}
	first := true
	for _, t := range tables {
		if len(t.rows) < 2 {
			continue
		}
		if !first || s.markdown {
			text.WriteByte('\n')
		}
		first = false
		t.write(&text, s.markdown)
	}
	for _, note := range statsNotes(sum, s.table) {
		if s.markdown {
			text.WriteString("\n" + export.Escape(note) + "\n")
		} else {
			text.WriteString("# " + note + "\n")
		}
	}
	_, err := io.WriteString(s.out, text.String())
	return err
}

// statsTable is a table whose first row names its columns. The columns of left
// hold text, the others numbers.
type statsTable struct {
	rows [][]string
	left []string // heads
}

// agentTable has a row for each agent, and one for all where there are several.
func agentTable(s *stats.Stats) statsTable {
	rows := [][]string{{"agent", "turns", "tries", "calls", "input", "cached", "output", "peak", "time", "cost", "stop"}}
	for _, a := range s.Agents {
		name := strings.Repeat("  ", a.Depth) + string(a.Path)
		if a.CallOnly {
			rows = append(rows, []string{name, "", "", "", "", "", "", "", "", "", "known only by its call"})
			continue
		}
		row := []string{name, strconv.Itoa(a.Turns), zero(a.Tries), strconv.Itoa(a.Calls)}
		row = append(row, usageCells(a.Usage)...)
		rows = append(rows, append(row, about(a.Peak, a.Estimated), clock(a.Time, a.Timed), amount(a.Cost, a.Priced), string(a.Stop)))
	}
	if len(s.Agents) > 1 {
		t := s.Total
		row := []string{"all", strconv.Itoa(t.Turns), zero(t.Tries), strconv.Itoa(t.Calls)}
		row = append(row, usageCells(t.Usage)...)
		cost := amount(t.Cost, t.Cost > 0)
		if t.Cost > 0 && !t.Priced {
			cost += " and more"
		}
		rows = append(rows, append(row, "", clock(t.Time, t.Timed), cost, ""))
	}
	return statsTable{dropEmpty(rows), []string{"agent", "stop"}}
}

func usageCells(u runtime.Usage) []string {
	if u == (runtime.Usage{}) {
		return []string{"", "", ""}
	}
	return []string{strconv.Itoa(u.Input), zero(u.Cached), strconv.Itoa(u.Output)}
}

// zero is a number, nothing for 0.
func zero(n int) string {
	if n == 0 {
		return ""
	}
	return strconv.Itoa(n)
}

// about is a number, with ~ in front where it is estimated.
func about(n int, estimated bool) string {
	if estimated {
		return "~" + strconv.Itoa(n)
	}
	return strconv.Itoa(n)
}

func amount(cost prices.Amount, known bool) string {
	if !known {
		return ""
	}
	return cost.String()
}

func clock(d time.Duration, known bool) string {
	if !known {
		return ""
	}
	if d < time.Minute {
		return fmt.Sprintf("%.1fs", d.Seconds())
	}
	return d.Round(time.Second).String()
}

// toolTable says which tools each agent called how often.
func toolTable(s *stats.Stats) statsTable {
	rows := [][]string{{"agent", "tools called"}}
	for _, a := range s.Agents {
		var words []string
		for _, t := range a.Tools {
			words = append(words, fmt.Sprintf("%s %d", firstOf(t.Name, "(no name)"), t.Calls))
		}
		if len(words) > 0 {
			rows = append(rows, []string{strings.Repeat("  ", a.Depth) + string(a.Path), golden.VisibleLine(strings.Join(words, ", "))})
		}
	}
	return statsTable{rows, []string{"agent", "tools called"}}
}

// delegationTable says what each delegation bought.
func delegationTable(s *stats.Stats) statsTable {
	rows := [][]string{{"delegation", "agents", "kept out", "report", "spent", "cost", "title"}}
	for _, d := range s.Delegations {
		if d.Child.CallOnly {
			continue
		}
		label := d.Child.Label
		if label == string(d.Child.Path) {
			label = ""
		}
		rows = append(rows, []string{
			string(d.Child.Path), strconv.Itoa(d.Agents), about(d.KeptOut, d.Estimated), about(d.Report, true), about(d.Spent, d.Estimated),
			amount(d.Cost, d.Priced), clip(label, 32),
		})
	}
	return statsTable{dropEmpty(rows), []string{"delegation", "title"}}
}

// statsNotes says what the numbers are.
func statsNotes(s *stats.Stats, table *prices.Table) []string {
	var notes []string
	t := s.Total
	delegated := len(delegationTable(s).rows) > 1
	if delegated {
		notes = append(notes,
			fmt.Sprintf("delegating kept %s tokens out of the contexts above, and %s were spent in all", about(t.KeptOut, t.Estimated), about(t.Spent, t.Estimated)),
			"kept out: the largest contexts of the child and those below it; report: what the parent got instead, at 4 bytes a token")
	}
	if t.Unreported > 0 {
		notes = append(notes, fmt.Sprintf("tokens are not reported for %d of %s", t.Unreported, plural(t.Turns, "turn")))
	}
	if t.Estimated {
		notes = append(notes, "~ is estimated from the texts, at 4 bytes a token")
	}
	if t.Cost > 0 {
		notes = append(notes, "cost by "+pricesFrom(table))
	}
	return notes
}

// dropEmpty leaves out the columns in which nothing stands.
func dropEmpty(rows [][]string) [][]string {
	for _, head := range slices.Clone(rows[0]) {
		at := slices.Index(rows[0], head)
		if !slices.ContainsFunc(rows[1:], func(row []string) bool { return row[at] != "" }) {
			rows = without(rows, head)
		}
	}
	return rows
}

func (t statsTable) write(out *strings.Builder, markdown bool) {
	widths := make([]int, len(t.rows[0]))
	for _, row := range t.rows {
		for j, cell := range row {
			widths[j] = max(widths[j], utf8.RuneCountInString(cell))
		}
	}
	for i, row := range t.rows {
		if markdown {
			t.markdownRow(out, i, row)
			continue
		}
		line := ""
		for j, cell := range row {
			pad := strings.Repeat(" ", widths[j]-utf8.RuneCountInString(cell))
			if j > 0 {
				line += "  "
			}
			if slices.Contains(t.left, t.rows[0][j]) {
				line += cell + pad
			} else {
				line += pad + cell
			}
		}
		out.WriteString(strings.TrimRight(line, " ") + "\n")
	}
}

func (t statsTable) markdownRow(out *strings.Builder, i int, row []string) {
	cells := make([]string, len(row))
	for j, cell := range row {
		indent := len(cell) - len(strings.TrimLeft(cell, " "))
		cells[j] = strings.Repeat("&nbsp;", indent) + export.Escape(cell[indent:])
	}
	out.WriteString("| " + strings.Join(cells, " | ") + " |\n")
	if i > 0 {
		return
	}
	for _, head := range row {
		if slices.Contains(t.left, head) {
			out.WriteString("| --- ")
		} else {
			out.WriteString("| ---: ")
		}
	}
	out.WriteString("|\n")
}
