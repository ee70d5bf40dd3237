package tools

import (
	"os"
	"strings"
	"testing"

	"gotest.tools/v3/assert"
)

func TestEditFileReplacesLiterallyAndKeepsAllElse(t *testing.T) {
	const notFound = "Error [tool_error]: cannot edit f: old_string was not found"
	once := "Edited f: 1 replacement."
	cases := []struct {
		name, before, old, new string
		all                    bool
		after, want            string
	}{
		{"one match", "a b c", "b", "B", false, "a B c", once},
		{"deletes", "a b c", " b", "", false, "a c", once},
		{"literal, no pattern", "a.c $1 abc", "a.c", "$1\\n", false, "$1\\n $1 abc", once},
		{"no match", "abc", "x", "y", false, "abc", notFound},
		{"case counts", "abc", "ABC", "y", false, "abc", notFound},
		{"two matches", "x x", "x", "y", false, "x x",
			"Error [tool_error]: cannot edit f: old_string was found 2 times; make it unique or set replace_all"},
		{"overlapping matches are not unique", "aaa", "aa", "b", false, "aaa",
			"Error [tool_error]: cannot edit f: old_string was found 2 times; make it unique or set replace_all"},
		{"all", "x x x", "x", "xx", true, "xx xx xx", "Edited f: 3 replacements."},
		{"all of one", "x", "x", "y", true, "y", once},
		{"all of none", "x", "z", "y", true, "x", notFound},
		{"empty old", "x", "", "y", false, "x", "Error [tool_error]: old_string must not be empty"},
		{"nothing to change", "x", "x", "x", true, "x", "Error [tool_error]: old_string and new_string are the same"},
		{"empty file", "", "x", "y", false, "", notFound},

		{"case 5.08", "a\r\nb\r\nc\r\n", "a\nb", "a\nB", false, "a\r\nB\r\nc\r\n", once},
		{"CRLF, more lines", "a\r\nb\r\nc\r\n", "a\nb\n", "1\n2\n3\n4\n", false, "1\r\n2\r\n3\r\n4\r\nc\r\n", once},
		{"CRLF, fewer lines", "a\r\nb\r\nc\r\n", "a\nb\nc\n", "x\n", false, "x\r\n", once},
		{"CRLF, match begins with a line end", "a\r\nb\r\n", "\nb", "\nc\nd", false, "a\r\nc\r\nd\r\n", once},
		{"CRLF, match ends with a line end", "a\r\nb\r\n", "a\n", "", false, "b\r\n", once},
		{"CRLF, match within a line gets its line end", "a\r\nb\r\n", "b", "1\n2", false, "a\r\n1\r\n2\r\n", once},
		{"CRLF, last line without end", "a\r\nb", "b", "1\n2", false, "a\r\n1\r\n2", once},
		{"CRLF, old says CRLF", "a\r\nb\r\n", "a\r\nb", "a\r\nB", false, "a\r\nB\r\n", once},
		{"CRLF, new says CRLF", "a\r\nb\r\n", "a\nb", "x\r\ny\n", false, "x\r\ny\r\n\r\n", once},
		{"CRLF to LF is possible", "a\r\nb\r\n", "\r\n", "\n", true, "a\nb\n", "Edited f: 2 replacements."},
		{"LF to CRLF is possible", "a\nb\n", "\n", "\r\n", true, "a\r\nb\r\n", "Edited f: 2 replacements."},
		{"CRLF asked for in an LF file", "a\nb\n", "a\r\nb", "x", false, "a\nb\n", notFound},
		{"CRLF, all", "x\r\ny\r\nx\r\ny\r\n", "x\ny", "1\n2", true, "1\r\n2\r\n1\r\n2\r\n", "Edited f: 2 replacements."},
		{"mixed ends stay where they are", "a\r\nb\nc\r\nd\n", "a\nb\nc\n", "1\n2\n3\n", false, "1\r\n2\n3\r\nd\n", once},
		{"mixed, one match each way is two", "a\nb a\r\nb", "a\nb", "x", false, "a\nb a\r\nb",
			"Error [tool_error]: cannot edit f: old_string was found 2 times; make it unique or set replace_all"},
		{"LF stays LF", "a\nb\n", "b", "1\n2", false, "a\n1\n2\n", once},
		{"bare CR is no line end", "a\rb", "a\nb", "x", false, "a\rb", notFound},
		{"BOM", "\uFEFFa\r\nb", "a\n", "x\n", false, "\uFEFFx\r\nb", once},
		{"bytes that are no UTF-8", "\xff\x00a\xfe", "a", "b", false, "\xff\x00b\xfe", once},
		{"no final line end stays", "a\nb", "a", "x", false, "x\nb", once},
		{"a false start before the match", "aab\r\n", "ab\n", "x\n", false, "ax\r\n", once},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			p := newPlace(t, Options{})
			p.put(t, "f", c.before)
			got, err := p.EditFile(t.Context(), "f", c.old, c.new, c.all)
			assert.Equal(t, told(t, got, err), c.want)
			assert.DeepEqual(t, tree(t, p.dir), map[string]string{".": "folder", "f": c.after})
		})
	}
}

func TestEditFileNeedsAFileThatIsThere(t *testing.T) {
	p := newPlace(t, Options{})
	got, err := p.EditFile(t.Context(), "sub/missing", "a", "b", false)
	assert.Equal(t, told(t, got, err), "Error [tool_error]: cannot edit sub/missing: not found")
	assert.DeepEqual(t, tree(t, p.dir), map[string]string{".": "folder"})
}

func TestEditFileRefusesAFileTooLargeToHold(t *testing.T) {
	p := newPlace(t, Options{})
	p.put(t, "f", "a")
	assert.NilError(t, os.Truncate(p.dir+"/f", maxEdit+1))
	got, err := p.EditFile(t.Context(), "f", "a", "b", false)
	assert.Equal(t, told(t, got, err), "Error [tool_error]: cannot edit f: file too large")
}

// What changes between the reading and the renaming is kept, and told.
func TestReplaceLeavesAFileAloneThatChangedMeanwhile(t *testing.T) {
	p := newPlace(t, Options{})
	p.put(t, "f", "by another")
	_, err := p.replace("f", []byte("mine"), func(folder *os.Root, base string) error {
		now, err := whole(t.Context(), folder, base)
		assert.NilError(t, err)
		assert.Equal(t, string(now), "by another")
		return errIsDirectory // any failure will do
	})
	assert.ErrorIs(t, err, errIsDirectory)
	assert.DeepEqual(t, tree(t, p.dir), map[string]string{".": "folder", "f": "by another"})
}

func FuzzEditLeavesAllOtherBytesAlone(f *testing.F) {
	f.Add([]byte("a\r\nb\r\nc\r\n"), "a\nb", "a\nB", false)
	f.Add([]byte("x\nx\r\n\xff"), "x\n", "y\n\n", true)
	f.Add([]byte("\uFEFF\r\r\n\n"), "\n", "", true)
	f.Add([]byte("aaa"), "aa", "b", true)
	f.Fuzz(func(t *testing.T, text []byte, old, new string, all bool) {
		if old == "" {
			return // refused before
		}
		after, count := substitute(text, old, new, all)
		if count == 0 || count > 1 && !all {
			assert.DeepEqual(t, after, text)
			return
		}
		// Walk both texts: what lies between the matches is the same, each
		// match is old but for line ends, each replacement is new but for them.
		plain := func(s string) string { return strings.ReplaceAll(s, "\r\n", "\n") }
		was, is, found := 0, 0, 0
		for m := range matches(text, old, !all) {
			found++
			gap := string(text[was:m.start])
			assert.Assert(t, strings.HasPrefix(string(after[is:]), gap))
			is += len(gap)
			assert.Equal(t, plain(string(text[m.start:m.end])), plain(old))
			put := string(lineEndsLike(text, m, old, new))
			assert.Assert(t, strings.HasPrefix(string(after[is:]), put))
			assert.Equal(t, plain(put), plain(new))
			was, is = m.end, is+len(put)
		}
		assert.Equal(t, found, count)
		assert.Equal(t, string(after[is:]), string(text[was:]))
	})
}
