package tools

import (
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"gotest.tools/v3/assert"

	"github.com/tapetree/tapetree/runtime"
)

func captured(limit int, parts ...string) (string, int64) {
	c := &capture{limit: limit}
	for _, part := range parts {
		c.add(part)
	}
	return c.text()
}

func TestCaptureKeepsHeadAndTailAndCountsTheRest(t *testing.T) {
	cases := []struct {
		name    string
		limit   int
		parts   []string
		want    string
		omitted int64
	}{
		{"nothing", 100, nil, "", 0},
		{"all", 10, []string{"12345", "67890"}, "1234567890", 0},
		{"one over", 60, []string{strings.Repeat("a", 30), strings.Repeat("z", 31)},
			"aaaaaa\n[… 49 bytes left out …]\nzzzzzz", 49},
		{"in one part", 60, []string{strings.Repeat("a", 100) + strings.Repeat("z", 100)},
			"aaaaaa\n[… 188 bytes left out …]\nzzzzzz", 188},
		{"at a line end", 60, []string{"aaaaa\n" + strings.Repeat("b", 100) + "zzzzzz"},
			"aaaaa\n[… 100 bytes left out …]\nzzzzzz", 100},
		{"at a rune", 60, []string{"a" + strings.Repeat("語", 40) + "z"}, "a語\n[… 114 bytes left out …]\n語z", 114},
		{"around a placeholder", 60, []string{"a{{tmp}}" + strings.Repeat("x", 90) + "{{{{home}}z"},
			"a\n[… 107 bytes left out …]\nz", 107},
		{"no room", 5, []string{"1234567890"}, "[… 10 bytes left out …]\n", 10},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			got, omitted := captured(c.limit, c.parts...)
			assert.Equal(t, got, c.want)
			assert.Equal(t, omitted, c.omitted)
		})
	}
}

// TestWhatCaptureHoldsDoesNotGrow is case 5.14: what is held does not grow with what is written.
func TestWhatCaptureHoldsDoesNotGrow(t *testing.T) {
	c := &capture{limit: 1000}
	most := 0
	for n := range 100_000 {
		c.add(strings.Repeat("x", n%3000))
		most = max(most, c.head.Cap()+cap(c.tail))
	}
	assert.Assert(t, most <= 5*c.limit, "%d bytes", most)
}

func TestSegmentsFoldWholeLinesAndMendUTF8HoweverTheyAreRead(t *testing.T) {
	folder := runtime.NewFolder([]string{"/long/way/to/work"}, nil, nil)
	text := "in /long/way/to/work/a\nlast /long/way/to/work 語\xff\xfe語\n/long/way/to/workshop"
	want := "in {{workspace}}/a\nlast {{workspace}} 語\uFFFD語\n/long/way/to/workshop"
	for size := 1; size <= len(text); size++ {
		var got strings.Builder
		pieces := &segments{fold: folder, emit: func(text string) { got.WriteString(text) }}
		for at := 0; at < len(text); at += size {
			n, err := pieces.Write([]byte(text[at:min(at+size, len(text))]))
			assert.NilError(t, err)
			assert.Equal(t, n, min(size, len(text)-at))
		}
		pieces.Close()
		assert.Equal(t, got.String(), want, fmt.Sprintf("read by %d bytes", size))
	}
}

func TestSegmentsPartALongLineAtABlankOrARune(t *testing.T) {
	for name, c := range map[string]struct {
		text  string
		first int
	}{
		"blank": {strings.Repeat("x", segmentBytes-10) + " " + strings.Repeat("y", 100), segmentBytes - 9},
		"rune":  {strings.Repeat("x", segmentBytes-1) + strings.Repeat("語", 10), segmentBytes - 1},
		"byte":  {strings.Repeat("x", segmentBytes+10), segmentBytes},
	} {
		var parts []string
		pieces := &segments{emit: func(text string) { parts = append(parts, text) }}
		_, _ = pieces.Write([]byte(c.text))
		pieces.Close()
		assert.Equal(t, strings.Join(parts, ""), c.text, name)
		assert.Equal(t, len(parts[0]), c.first, name)
	}
}

func FuzzCaptureKeepsToItsCapAndToRunes(f *testing.F) {
	f.Add("語語語語語語語語語語語語語語語語語語語語語語語語語語語語語", 60, 7)
	f.Add("{{workspace}}{{{{tmp}}{{home}}x{{workspace}}{{workspace}}{{workspace}}", 55, 3)
	f.Add("a\nb\n", 0, 1)
	f.Fuzz(func(t *testing.T, text string, limit, size int) {
		text = strings.ToValidUTF8(text, "\uFFFD")
		limit, size = min(max(limit, 0), 1<<16), max(size, 1)
		c := &capture{limit: limit}
		for at := 0; at < len(text); at += size {
			c.add(text[at:min(at+size, len(text))])
		}
		got, omitted := c.text()
		assert.Assert(t, utf8.ValidString(got))
		if len(text) <= limit {
			assert.Equal(t, got, text)
			return
		}
		assert.Assert(t, len(got) <= max(limit, noticeBytes))
		notice := fmt.Sprintf("[… %d bytes left out …]\n", omitted)
		// The notice is looked for from behind a head that the text begins with.
		for at := range got {
			head, tail := strings.TrimSuffix(got[:at], "\n"), strings.TrimPrefix(got[at:], notice)
			if strings.HasPrefix(got[at:], notice) && strings.HasPrefix(text, head) && strings.HasSuffix(text, tail) {
				left := int64(len(text)) - omitted
				assert.Assert(t, left == int64(len(head)+len(tail)) || left == int64(len(got[:at])+len(tail)))
				return
			}
		}
		t.Fatalf("%q is no cut of %q", got, text)
	})
}
