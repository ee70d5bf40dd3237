package cli

import (
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/tapetree/tapetree/golden"
	"github.com/tapetree/tapetree/internal/prices"
	"github.com/tapetree/tapetree/runtime"
)

// usageTable says what a session used, by model, with what it cost where the
// price is known; and what its subagents bought: the context that the parent
// was spared against all that was spent.
func usageTable(run *runtime.Run, table *prices.Table) []string {
	lines := modelTable(run, table)
	root := fmt.Sprintf("own context of %s  at most %s", run.Agent, plural(prices.Context(run), "token"))
	children, spared, missing, turns := 0, 0, 0, 0
	run.Walk(func(r *runtime.Run) {
		own, of := unreported(r)
		missing, turns = missing+own, turns+of
		if r != run {
			children++
			spared += prices.Context(r)
		}
	})
	if missing > 0 { // the sums are too small
		lines = append(lines, fmt.Sprintf("not reported for %d of %s", missing, plural(turns, "turn")))
	}
	lines = append(lines, root)
	if children == 0 {
		return lines
	}
	pad := strings.Repeat(" ", len("own context of ")+len(run.Agent)-len("kept out of it"))
	return append(lines,
		fmt.Sprintf("kept out of it%s  %s in %s", pad, plural(spared, "token"), counted(children, "child", "children")),
		fmt.Sprintf("spent%s           %s, %d with children", pad, plural(all(run.Usage), "token"), all(run.Tree)))
}

func all(u runtime.Usage) int { return u.Input + u.Output }

func counted(n int, one, more string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, more)
}

// modelTable has a line for each model, and one for all where there are
// several. Without a price for any of them there are no costs.
func modelTable(run *runtime.Run, table *prices.Table) []string {
	rows := [][]string{{"model", "input", "cached", "output", "cost"}}
	models := prices.ByModel(run)
	cost, unknown := table.TreeCost(run)
	for _, u := range models {
		rows = append(rows, usageRow(clip(firstOf(u.Model, "unknown"), modelWidth), u.Usage, costOf(table, u)))
	}
	if len(models) > 1 {
		sum := cost.String()
		if len(unknown) > 0 {
			sum += " and more"
		}
		rows = append(rows, usageRow("all", run.Tree, sum))
	}
	priced := len(unknown) < len(models)
	if run.Tree.Cached == 0 {
		rows = without(rows, "cached")
	}
	if !priced {
		return aligned(without(rows, "cost"))
	}
	return append(aligned(rows), "cost by "+pricesFrom(table))
}

// modelWidth is how many characters of a model's name the table shows.
const modelWidth = 32

func usageRow(name string, u runtime.Usage, cost string) []string {
	return []string{name, strconv.Itoa(u.Input), strconv.Itoa(u.Cached), strconv.Itoa(u.Output), cost}
}

func costOf(table *prices.Table, u prices.ModelUsage) string {
	if cost, known := table.Cost(u.Model, u.Usage); known {
		return cost.String()
	}
	return "no price"
}

// pricesFrom says where prices are from.
func pricesFrom(table *prices.Table) string {
	if table == prices.List() {
		return "list prices of " + table.AsOf + "; check yours"
	}
	return golden.VisibleLine(table.File) + " of " + table.AsOf
}

// without drops the column with the given head.
func without(rows [][]string, head string) [][]string {
	kept := make([][]string, len(rows))
	for i, row := range rows {
		for j, cell := range row {
			if rows[0][j] != head {
				kept[i] = append(kept[i], cell)
			}
		}
	}
	return kept
}

// aligned makes lines of rows: the first column to the left, numbers to the
// right.
func aligned(rows [][]string) []string {
	widths := make([]int, len(rows[0]))
	for _, row := range rows {
		for j, cell := range row {
			widths[j] = max(widths[j], utf8.RuneCountInString(cell))
		}
	}
	var lines []string
	for _, row := range rows {
		line := ""
		for j, cell := range row {
			pad := strings.Repeat(" ", widths[j]-utf8.RuneCountInString(cell))
			if j == 0 {
				line += cell + pad
			} else {
				line += "  " + pad + cell
			}
		}
		lines = append(lines, line)
	}
	return lines
}
