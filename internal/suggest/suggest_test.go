package suggest

import (
	"testing"

	"gotest.tools/v3/assert"
)

func TestNearestFindsTheWordThatWasMeant(t *testing.T) {
	known := []string{"profile", "prompt", "max-turns", "child-max-turns", "tools", "tags", "want/answer", "want/absent", "fifo"}
	for _, c := range []struct{ rule, word, want string }{
		{"a letter changed", "profele", "profile"},
		{"a letter dropped", "promt", "prompt"},
		{"a letter added", "prompts", "prompt"},
		{"two neighbours swapped", "porfile", "profile"},
		{"letter case", "Profile", "profile"},
		{"separators", "max_turns", "max-turns"},
		{"separators left out", "maxturns", "max-turns"},
		{"up to three edits in a long word", "chid-mx-turn", "child-max-turns"},
		{"the word itself", "tools", "tools"},
		{"nothing is near", "colour", ""},
		{"an empty word", "", ""},
		{"a word too short to mean anything", "t", ""},
		{"a short word far from all", "abc", ""},
		{"an unrelated word of the same length", "fluency", ""},
		{"a short word allows one edit only", "fofi", ""},
		{"letters are runes, not bytes", "prömpt", "prompt"},
	} {
		t.Run(c.rule, func(t *testing.T) {
			assert.Equal(t, Nearest(c.word, known), c.want)
		})
	}
}

func TestOfEquallyNearWordsTheFirstKnownWins(t *testing.T) {
	assert.Equal(t, Nearest("reaf", []string{"read", "reap"}), "read")
	assert.Equal(t, Nearest("reaf", []string{"reap", "read"}), "reap")
}

func TestNearestKnowsNothingWithoutWords(t *testing.T) {
	assert.Equal(t, Nearest("profile", nil), "")
}

func FuzzNearest(f *testing.F) {
	f.Add("profele", "profile")
	f.Add("", "")
	f.Add("\xff\xfe", "ab\x80")
	f.Fuzz(func(t *testing.T, word, known string) {
		got := Nearest(word, []string{known})
		assert.Assert(t, got == "" || got == known)
		if a, b := fold(word), fold(known); distance(a, b, 1<<30) != distance(b, a, 1<<30) {
			t.Fatalf("the distance of %q and %q depends on their order", word, known)
		}
	})
}
