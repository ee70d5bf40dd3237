package golden

import (
	"strings"
	"testing"

	"gotest.tools/v3/assert"
)

// case 6.13
func TestCompareTakesACRLFCheckoutAsEqual(t *testing.T) {
	got := Render(family(someIDs), Options{})
	assert.Equal(t, Compare(strings.ReplaceAll(got, "\n", "\r\n"), got, 0), "")
	assert.Equal(t, Compare(got, got, 0), "")
}

// case 6.13: a CR of the data is an escape, and differs on any checkout.
func TestCompareSeesARealCR(t *testing.T) {
	render := func(text string) string { return "x | " + visible(text) + "\n" }
	want, got := render("a"), render("a\r")
	for _, checkout := range []string{want, strings.ReplaceAll(want, "\n", "\r\n")} {
		assert.Equal(t, Compare(checkout, got, 0), "--- want\n+++ got\n@@ -1,1 +1,1 @@\n-x | a\n+x | a‹CR›\n")
	}
}

func TestCompareShowsALineDiff(t *testing.T) {
	tests := []struct{ name, want, got, diff string }{
		{"a changed line in context", "1\n2\n3\n4\n5\n6\n7\n8\n9\n", "1\n2\n3\n4\nfive\n6\n7\n8\n9\n",
			"--- want\n+++ got\n@@ -2,7 +2,7 @@\n 2\n 3\n 4\n-5\n+five\n 6\n 7\n 8\n"},
		{"nothing wanted", "", "a\n", "--- want\n+++ got\n@@ -0,0 +1,1 @@\n+a\n"},
		{"invisible characters", "a\u200b \tb \n", "a\tb\n", "--- want\n+++ got\n@@ -1,1 +1,1 @@\n-a‹U+200B› ⇥b␠\n+a⇥b\n"},
		{"what is escaped is not escaped again", "a‹CR›⇥↵␠\n", "b‹CR›⇥↵␠\n", "--- want\n+++ got\n@@ -1,1 +1,1 @@\n-a‹CR›⇥↵␠\n+b‹CR›⇥↵␠\n"},
		{"a lone CR", "a\rb\n", "ab\n", "--- want\n+++ got\n@@ -1,1 +1,1 @@\n-a‹CR›b\n+ab\n"},
		{"no newline at the end", "a", "a\n", "--- want\n+++ got\n@@ -1,1 +1,1 @@\n-a\n\\ No newline at end of file\n+a\n"},
		{"only in how invisible characters are written", "a\u200b\n", "a‹U+200B›\n", "the two differ only in invisible characters: one holds them, the other their escapes\n"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) { assert.Equal(t, Compare(test.want, test.got, 0), test.diff) })
	}
}

func TestCompareIsBounded(t *testing.T) {
	assert.Equal(t, Compare("1\n2\n3\n4\n", "a\nb\nc\nd\n", 5), "--- want\n+++ got\n@@ -1,4 +1,4 @@\n-1\n… 7 more lines\n")
	huge := strings.Repeat("line\n", 100_000)
	got := Compare(huge, strings.Repeat("other\n", 100_000), 12)
	assert.Equal(t, strings.Count(got, "\n"), 12)
}

func FuzzCompare(f *testing.F) {
	f.Add("a\n", "b\n")
	f.Add("a\r\n", "a\n")
	f.Add("a\u200b", "a‹U+200B›")
	f.Fuzz(func(t *testing.T, want, got string) {
		equal := strings.ReplaceAll(want, "\r\n", "\n") == strings.ReplaceAll(got, "\r\n", "\n")
		diff := Compare(want, got, 10)
		assert.Equal(t, diff == "", equal)
		assert.Assert(t, strings.Count(diff, "\n") <= 10)
	})
}
