package cli

import (
	"strings"
	"testing"
	"unicode/utf8"

	"gotest.tools/v3/assert"
)

func TestTheHelpOfAReviewBreaksBetweenWords(t *testing.T) {
	assert.Equal(t, wrapped(reviewHelp, 0), reviewHelp)
	assert.Equal(t, wrapped(reviewHelp, 100), reviewHelp)
	narrow := wrapped(reviewHelp, 40)
	for line := range strings.Lines(narrow) {
		assert.Assert(t, utf8.RuneCountInString(strings.TrimSuffix(line, "\n")) <= 40, "%q", line)
	}
	assert.Equal(t, strings.Join(strings.Fields(narrow), " "), strings.Join(strings.Fields(reviewHelp), " "))
	assert.Assert(t, strings.HasPrefix(narrow, "a  accept: the new history becomes the\n   golden one;"), narrow)
}

func TestTheProgressLineFitsTheTerminal(t *testing.T) {
	for _, c := range []struct{ columns, total, bar, name int }{
		{0, 9, 20, 40}, {200, 9, 20, 40}, {80, 9, 20, 40}, {60, 9999, 10, 28}, {40, 99, 10, 12}, {20, 99, 2, 0},
	} {
		bar, name := progressWidths(c.columns, c.total)
		assert.Equal(t, bar, c.bar, "%v", c)
		assert.Equal(t, name, c.name, "%v", c)
	}
}
