package golden

import (
	"fmt"
	"strings"

	"github.com/rogpeppe/go-internal/diff"
)

// Compare holds a rendered history against the one that is wanted and returns
// "" when they are equal, else a unified diff of at most max lines (0: no
// bound). A checkout that turned the wanted one's line ends into CRLF is equal;
// a CR of the data itself is an escape in both and is not touched by that.
// Characters that cannot be seen are shown as escapes.
func Compare(want, got string, max int) string {
	want, got = strings.ReplaceAll(want, "\r\n", "\n"), strings.ReplaceAll(got, "\r\n", "\n")
	if want == got {
		return ""
	}
	return bounded(unified(want, got), max)
}

// unified returns the lines of the diff, without the line that names both
// sides twice.
func unified(want, got string) []string {
	shown := diff.Diff("want", []byte(Visible(want)), "got", []byte(Visible(got)))
	if shown == nil {
		return []string{"the two differ only in invisible characters: one holds them, the other their escapes"}
	}
	_, text, _ := strings.Cut(string(shown), "\n")
	lines := strings.Split(strings.TrimSuffix(text, "\n"), "\n")
	for i, line := range lines {
		if len(line) > diffWidth {
			lines[i] = strings.ToValidUTF8(line[:diffWidth], "") + fmt.Sprintf("… (%d more bytes)", len(line)-diffWidth)
		}
	}
	return lines
}

// diffWidth is how many bytes of a line a diff shows: a history has no line
// that long, but any file can lie in its place.
const diffWidth = 4000

// Visible makes the invisible characters of every line visible. The marks of a
// rendering (⇥, ‹CR› …) stay as they are, so that what is escaped already is
// not escaped twice. Texts of a model or of a file go through it on their way
// to a terminal or a report.
func Visible(text string) string {
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		if isPlain(line) {
			continue
		}
		lines[i] = keepMarks.Replace(visible(line))
	}
	return strings.Join(lines, "\n")
}

// VisibleLine is Visible for a text that is to stay on one line, such as a name:
// its line ends are marks.
func VisibleLine(text string) string {
	return Visible(strings.ReplaceAll(strings.ReplaceAll(text, "\r\n", "\n"), "\n", string(markNewline)))
}

// keepMarks undoes what visible does to the marks of a rendering.
var keepMarks = strings.NewReplacer("‹U+21E5›", "⇥", "‹U+21B5›", "↵", "‹U+2420›", "␠", "‹U+2039›", "‹")

// bounded joins at most max lines and says how many more there are.
func bounded(lines []string, max int) string {
	if max <= 0 || len(lines) <= max {
		return strings.Join(lines, "\n") + "\n"
	}
	left := len(lines) - max + 1
	return strings.Join(lines[:max-1], "\n") + fmt.Sprintf("\n… %d more lines\n", left)
}
