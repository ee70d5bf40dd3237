package cli

import (
	"fmt"
	"io"
	"os"
	goruntime "runtime"
	"strings"

	"golang.org/x/term"
)

// liveLines are the lines that stand below all others on a terminal and change
// while a session runs: one for each running child. A nil one draws nothing.
type liveLines struct {
	lines func() []string
	size  func() (columns, rows int)
	drawn int // lines on the screen
}

// newLiveLines returns the live lines of a terminal; nil for a stream that is
// none, for one that understands no escapes (TERM=dumb) and on Windows, where
// a console may not understand them: plain lines tell the same there.
func (a *app) newLiveLines(stream io.Writer, lines func() []string) *liveLines {
	file, isFile := stream.(*os.File)
	if !isFile || !isTerminal(stream) || a.env("TERM") == "dumb" || goruntime.GOOS == "windows" {
		return nil
	}
	return &liveLines{lines: lines, size: func() (int, int) {
		columns, rows, err := term.GetSize(int(file.Fd()))
		if err != nil {
			return 80, 24
		}
		return columns, rows
	}}
}

// Escapes every terminal since the VT100 knows, and the one of its successors
// that keeps a line from going on in the next row.
const (
	eraseBelow = "\x1b[J"
	wrapOff    = "\x1b[?7l"
	wrapOn     = "\x1b[?7h"
)

// erase takes the lines off the screen.
func (l *liveLines) erase() string {
	if l == nil || l.drawn == 0 {
		return ""
	}
	text := fmt.Sprintf("\x1b[%dA\r%s", l.drawn, eraseBelow)
	l.drawn = 0
	return text
}

// draw puts the lines as they now are below the last one, each in one row and
// no more of them than half the screen.
func (l *liveLines) draw() string {
	if l == nil {
		return ""
	}
	columns, rows := l.size()
	lines := l.lines()
	if most := max(1, rows/2); len(lines) > most {
		left := len(lines) - most + 1
		lines = append(lines[:most-1:most-1], fmt.Sprintf("  … and %d more", left))
	}
	l.drawn = len(lines)
	if l.drawn == 0 {
		return ""
	}
	for i, line := range lines {
		lines[i] = cutTo(line, columns-1)
	}
	return wrapOff + strings.Join(lines, "\n") + "\n" + wrapOn
}

// cutTo is the beginning of a line, at most width characters of it.
func cutTo(line string, width int) string {
	runes := []rune(line)
	if len(runes) <= max(width, 1) {
		return line
	}
	return string(runes[:max(width, 1)-1]) + "…"
}
