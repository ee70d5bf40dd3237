package view

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/tapetree/tapetree/runtime"
)

// Bounds of what comes at once.
const (
	pageRows  = 40
	pageBytes = 64 << 10
	longText  = 4 << 10 // a longer text comes by its beginning
	headBytes = 2 << 10 // that long
)

// page is some rows of an agent that follow each other.
type page struct {
	first int
	rows  []Row
}

// pagesOf cuts an agent's rows into pages. agent is its place, as ids of blocks
// have it.
func pagesOf(lines []line, index map[*runtime.Run]int, agent string) []page {
	var pages []page
	size := 0
	for i := range lines {
		row := lines[i].Row
		row.Name = valid(row.Name)
		row.Finish = valid(row.Finish)
		row.Text = textOf(lines[i].text, fmt.Sprintf("a%s-t%d", agent, i))
		row.Args = textOf(lines[i].args, fmt.Sprintf("a%s-g%d", agent, i))
		if child := lines[i].child; child != nil {
			row.Child = 1 + index[child]
		}
		bytes := len(row.Text.Head) + len(row.Args.Head)
		if n := len(pages); n == 0 || len(pages[n-1].rows) == pageRows || size+bytes > pageBytes {
			pages = append(pages, page{first: i})
			size = 0
		}
		size += bytes
		last := &pages[len(pages)-1]
		last.rows = append(last.rows, row)
	}
	return pages
}

func textOf(text, block string) Text {
	if len(text) <= longText {
		return Text{Head: valid(text)}
	}
	end := headBytes
	for end > headBytes-utf8.UTFMax && !utf8.RuneStart(text[end]) {
		end--
	}
	return Text{Head: valid(text[:end]), Size: len(text), Block: block}
}

// valid shows bytes that are no UTF-8 as golden histories do: ‹xFF›.
func valid(text string) string {
	if utf8.ValidString(text) {
		return text
	}
	var out strings.Builder
	for text != "" {
		r, size := utf8.DecodeRuneInString(text)
		if r == utf8.RuneError && size == 1 {
			fmt.Fprintf(&out, "‹x%02X›", text[0])
		} else {
			out.WriteString(text[:size])
		}
		text = text[size:]
	}
	return out.String()
}
