package tools

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"gotest.tools/v3/assert"
)

func TestListFilesNamesWhatIsInAFolder(t *testing.T) {
	p := newPlace(t, Options{})
	for _, name := range []string{"b.txt", "a.txt", ".hidden", "Z", "sub/inner/x", "sub.txt", "folder [link]/y", "x [link]", "empty file"} {
		p.put(t, name, "")
	}
	assert.NilError(t, os.Mkdir(filepath.Join(p.dir, "empty"), 0o755))
	p.link(t, "to-file", "a.txt")
	p.link(t, "to-folder", "sub/inner")
	p.link(t, "to-itself", "to-itself")
	p.link(t, "to-nothing", "missing")
	p.link(t, "out", p.outside)
	p.link(t, "out-file", "../outside/secret.txt")
	p.link(t, "out-missing", "../outside/missing")
	const all = ".hidden\nZ\na.txt\nb.txt\nempty/\nempty file\n\"folder [link]\"/\nout [link out of the workspace]\nout-file [link out of the workspace]\n" +
		"out-missing [link out of the workspace]\nsub/\nsub.txt\nto-file [link]\nto-folder/ [link]\nto-itself [link]\nto-nothing [link]\n\"x [link]\""
	for given, want := range map[string]string{
		"": all, ".": all, "./sub/..": all, p.dir: all,
		"sub": "inner/", "sub/": "inner/", "to-folder": "x", "empty": "[the folder is empty]",
		"out":               forbidden,
		"..":                forbidden,
		p.outside:           forbidden,
		"out/deeper":        forbidden,
		"sub/../../outside": forbidden,
		p.dir + "-sibling":  forbidden,
		"a.txt":             "Error [tool_error]: cannot list a.txt: not a directory",
		"to-file":           "Error [tool_error]: cannot list to-file: not a directory",
		"missing":           "Error [tool_error]: cannot list missing: not found",
		"to-itself":         "Error [tool_error]: cannot list to-itself: too many links",
		"a.txt/x":           "Error [tool_error]: cannot list a.txt/x: not a directory",
	} {
		got, err := p.ListFiles(t.Context(), given)
		assert.Equal(t, told(t, got, err), want, "%q", given)
	}
}

func TestListFilesCountsWhatIsOverTheCap(t *testing.T) {
	p := newPlace(t, Options{ListNames: 3})
	for i := range 5 {
		p.put(t, fmt.Sprint(i), "")
		got, err := p.ListFiles(t.Context(), "")
		assert.NilError(t, err)
		assert.Equal(t, got, []string{"0", "0\n1", "0\n1\n2", "0\n1\n2\n[1 more left out]", "0\n1\n2\n[2 more left out]"}[i])
	}
	p = newPlace(t, Options{})
	for i := range defaultListNames + 1 {
		p.put(t, fmt.Sprint(i), "")
	}
	got, err := p.ListFiles(t.Context(), "")
	assert.NilError(t, err)
	assert.Equal(t, strings.Count(got, "\n"), defaultListNames)
	assert.Check(t, strings.HasSuffix(got, "\n[1 more left out]"))
}

func TestListFilesEndsWithItsContext(t *testing.T) {
	p := newPlace(t, Options{})
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := p.ListFiles(ctx, "")
	assert.Check(t, isCancelled(err))
}
