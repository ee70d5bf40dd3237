package cli

import (
	"io"
	"os"
	"strings"
	"unicode/utf8"

	"golang.org/x/term"
)

// columns is how many characters a line of a terminal has; 0 where there is no
// terminal, or it does not say.
func columns(stream io.Writer) int {
	file, ok := stream.(*os.File)
	if !ok {
		return 0
	}
	width, _, err := term.GetSize(int(file.Fd()))
	if err != nil {
		return 0
	}
	return width
}

// wrapped breaks the lines of a list of keys between words, so that none is longer
// than width; what a key does stays in its column. 0 is any length.
func wrapped(text string, width int) string {
	const indent = "   " // a key and two spaces
	if width <= len(indent) {
		return text
	}
	var b strings.Builder
	for line := range strings.Lines(text) {
		used := 0
		for i, word := range strings.Fields(line) {
			size := utf8.RuneCountInString(word)
			switch {
			case i == 0:
			case i == 1:
				b.WriteString("  ")
				used += 2
			case used+1+size > width:
				b.WriteString("\n" + indent)
				used = len(indent)
			default:
				b.WriteString(" ")
				used++
			}
			b.WriteString(word)
			used += size
		}
		b.WriteString("\n")
	}
	return b.String()
}
