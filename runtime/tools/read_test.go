package tools

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"gotest.tools/v3/assert"

	"github.com/tapetree/tapetree/runtime"
)

func numbered(from, to int) string {
	var text strings.Builder
	for n := from; n <= to; n++ {
		fmt.Fprintf(&text, "line %d\n", n)
	}
	return text.String()
}

func TestReadFileReturnsTheLinesAskedForAndSaysWhatIsCut(t *testing.T) {
	cases := []struct {
		name, content string
		offset, limit int
		want          string
	}{
		{"whole", "a\nb\n", 0, 0, "a\nb\n"},
		{"no final line end", "a\nb", 0, 0, "a\nb"},
		{"empty", "", 0, 0, ""},
		{"empty from line 1", "", 1, 5, ""},
		{"line ends and BOM as they are", "\uFEFFa\r\nb\rc\n", 0, 0, "\uFEFFa\r\nb\rc\n"},
		{"bytes that are no UTF-8", "a\xff\xfeb\n", 0, 0, "a\uFFFDb\n"},
		{"from the middle", numbered(1, 5), 4, 0, "line 4\nline 5\n[lines 4-5 of 5]"},
		{"a limit", numbered(1, 5), 0, 2, "line 1\nline 2\n[lines 1-2 of 5; go on with offset 3]"},
		{"both", numbered(1, 5), 2, 2, "line 2\nline 3\n[lines 2-3 of 5; go on with offset 4]"},
		{"limit is the rest", numbered(1, 5), 1, 5, numbered(1, 5)},
		{"last line without end", "a\nb", 2, 1, "b\n[lines 2-2 of 2]"},
		{"behind the end", "a\nb\n", 3, 0, "Error [tool_error]: cannot read f from line 3: it has 2 lines"},
		{"negative", "a\n", -1, 0, "Error [tool_error]: offset and limit count from 1"},
		{"standard limit", numbered(1, 2001), 0, 0, numbered(1, 2000) + "[lines 1-2000 of 2001; go on with offset 2001]"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			p := newPlace(t, Options{})
			p.put(t, "f", c.content)
			got, err := p.ReadFile(t.Context(), "f", c.offset, c.limit)
			assert.Equal(t, told(t, got, err), c.want)
		})
	}
}

func TestReadFileKeepsWholeLinesWithinTheCap(t *testing.T) {
	cases := []struct{ name, content, want string }{
		{"fits exactly", "1234567\n1234567\n1234\n", "1234567\n1234567\n1234\n"},
		{"one byte over", "1234567\n1234567\n12345\n", "1234567\n1234567\n[lines 1-2 of 3; go on with offset 3]"},
		{"one long line", strings.Repeat("x", 50) + "\nb\n",
			strings.Repeat("x", 21) + "\n[line 1 was cut: 21 of its 51 bytes are shown]\n[lines 1-1 of 2; go on with offset 2]"},
		{"one long line is all", strings.Repeat("x", 50), strings.Repeat("x", 21) + "\n[line 1 was cut: 21 of its 50 bytes are shown]"},
		{"cut at a rune", strings.Repeat("語", 9), strings.Repeat("語", 7) + "\n[line 1 was cut: 21 of its 27 bytes are shown]"},
		{"cut before half a rune", "x" + strings.Repeat("語", 9),
			"x" + strings.Repeat("語", 6) + "\n[line 1 was cut: 19 of its 28 bytes are shown]"},
		{"a short line behind one that does not fit stays out", "1\n" + strings.Repeat("x", 30) + "\n2\n",
			"1\n[lines 1-1 of 3; go on with offset 2]"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			p := newPlace(t, Options{ReadBytes: 21})
			p.put(t, "f", c.content)
			got, err := p.ReadFile(t.Context(), "f", 0, 0)
			assert.Equal(t, told(t, got, err), c.want)
		})
	}
}

func TestReadFileTakesALineOfAnyLength(t *testing.T) {
	p := newPlace(t, Options{})
	p.put(t, "f", strings.Repeat("é", 3<<20)+"\nlast\n")
	got, err := p.ReadFile(t.Context(), "f", 0, 1)
	assert.NilError(t, err)
	assert.Equal(t, got, strings.Repeat("é", 32<<10)+
		"\n[line 1 was cut: 65536 of its 6291457 bytes are shown]\n[lines 1-1 of 2; go on with offset 2]")
	got, err = p.ReadFile(t.Context(), "f", 2, 0)
	assert.NilError(t, err)
	assert.Equal(t, got, "last\n[lines 2-2 of 2]")
}

// The same file is cut at the same place wherever the workspace lies.
func TestTheCapCountsTheFoldedText(t *testing.T) {
	var folded []string
	for _, name := range []string{"w", strings.Repeat("long", 40)} {
		root := filepath.Join(t.TempDir(), name)
		put(t, filepath.Join(root, "f"), strings.Repeat(root+"/a\n", 10))
		folder := runtime.NewFolder([]string{root}, nil, nil)
		ws, err := Open(root, Options{Fold: folder, ReadBytes: 50, ShellBytes: 130, Run: t.TempDir()})
		assert.NilError(t, err)
		defer ws.Close()
		read, err := ws.ReadFile(t.Context(), "f", 0, 0)
		assert.NilError(t, err)
		shell, err := ws.Shell(t.Context(), "cat f", 0)
		assert.NilError(t, err)
		written, err := ws.WriteFile(t.Context(), "g", root)
		assert.NilError(t, err)
		assert.Assert(t, strings.Contains(read, root) && strings.Contains(shell, root))
		folded = append(folded, folder.Fold(read+"\n"+shell+"\n"+written))
	}
	assert.Equal(t, folded[0], folded[1])
	assert.Equal(t, folded[0], strings.Repeat("{{workspace}}/a\n", 3)+"[lines 1-3 of 10; go on with offset 4]\n"+
		"{{workspace}}/a\n{{workspace}}/a\n[… 93 bytes left out …]\n/a\n{{workspace}}/a\n{{workspace}}/a\n[exit code 0]\n"+
		"Created g: 13 bytes.")
}

func TestReadFileEndsWithItsContext(t *testing.T) {
	p := newPlace(t, Options{})
	p.put(t, "f", "a")
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := p.ReadFile(ctx, "f", 0, 0)
	assert.ErrorIs(t, err, context.Canceled)
}

func FuzzReadFileInPartsIsTheFile(f *testing.F) {
	f.Add("a\nb\nc", 1, 10)
	f.Add("\n\n\r\n語\nx", 2, 3)
	f.Add(strings.Repeat("x", 100)+"\ny", 1, 7)
	f.Fuzz(func(t *testing.T, content string, limit, room int) {
		content = strings.ToValidUTF8(content, "")
		limit, room = max(limit, 1), max(room, len(content)) // parts of lines are judged elsewhere
		var joined string
		for offset := 1; ; {
			part := &excerpt{first: offset, limit: limit, room: room}
			pieces := &segments{emit: part.add}
			_, _ = pieces.Write([]byte(content))
			pieces.Close()
			text := part.text()
			joined += part.kept.String()
			assert.Assert(t, strings.HasPrefix(text, part.kept.String()))
			offset += part.shown
			if offset > part.ended {
				break
			}
			assert.Assert(t, part.shown > 0)
		}
		assert.Equal(t, joined, content)
	})
}
