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

func TestGlobListsWhatIsInsideSortedAndWithoutFollowing(t *testing.T) {
	cases := []struct{ name, pattern, path, want string }{
		{"one level", "*.go", "", "b.go\nmain.go"},
		{"folders end in a slash", "*", "src", "src/a.go\nsrc/deep/\nsrc/z.md"},
		{"any depth", "**/*.go", "", "b.go\nmain.go\nsrc/a.go\nsrc/deep/x.go"},
		{"below a folder", "src/**", "", "src/\nsrc/a.go\nsrc/deep/\nsrc/deep/x.go\nsrc/z.md"},
		{"path and pattern", "**/*.go", "src", "src/a.go\nsrc/deep/x.go"},
		{"path by absolute name", "*.go", "W/src", "src/a.go"},
		{"pattern by absolute name", "W/src/*.go", "", "src/a.go"},
		{"alternatives are listed once", "{src/*,src/a.*}", "", "src/a.go\nsrc/deep/\nsrc/z.md"},
		{"class", "[a-c].go", "", "b.go"},
		{"cleaned", "./src//../src/./*.md", "", "src/z.md"},
		{"climbs inside", "../*.go", "src", "b.go\nmain.go"},
		{"climbs by the path", "*.go", "src/..", "b.go\nmain.go"},
		{"a name", "main.go", "", "main.go"},
		{"a name that is missing", "none.go", "", "[nothing matches]"},
		{"a folder that is empty", "**", "empty", "[nothing matches]"},
		{"through a link by name", "alias/*.go", "", "alias/a.go"},
		{"through a link as path", "*.go", "alias", "src/a.go"},
		{"links are named and not followed", "links/**", "", "links/\nlinks/dangling\nlinks/loop\nlinks/out\nlinks/out.txt\nlinks/self"},
		{"a wildcard does not go through a link", "links/*/*", "", "[nothing matches]"},
		{"a link out by name is not there", "links/out/*", "", "[nothing matches]"},
		{"a link out, exactly", "links/out.txt", "", "[nothing matches]"},
		{"climbing in an alternative", "{../outside/*,src/z.md}", "", "src/z.md"},
		{"climbing behind a wildcard", "src/*/../../../outside/*", "", forbidden},
		{"climbing", "../outside/*", "", forbidden},
		{"climbing from a folder", "../../outside/*", "src", forbidden},
		{"case: src/../.. is cleaned first", "src/../../etc/*", "", forbidden},
		{"absolute pattern", "/etc/*", "", forbidden},
		{"absolute pattern that climbs", "W/../outside/*", "", forbidden},
		{"absolute path", "*", "/etc", forbidden},
		{"link as path", "*", "links/out", forbidden},
		{"path missing", "*", "none", "Error [tool_error]: cannot list none: not found"},
		{"path is a file", "*", "main.go", "Error [tool_error]: cannot list main.go: not a directory"},
		{"malformed", "[", "", "Error [tool_error]: the pattern is malformed"},
		{"a line end in a name", "odd/*", "", `"odd/two\nlines"`},
	}
	p := newPlace(t, Options{})
	for _, name := range []string{"main.go", "b.go", "src/a.go", "src/z.md", "src/deep/x.go", "odd/two\nlines", "links/.keep", "empty/.gone"} {
		p.put(t, name, "")
	}
	assert.NilError(t, p.root.Remove("links/.keep"))
	assert.NilError(t, p.root.Remove("empty/.gone"))
	p.link(t, "alias", "src")
	p.link(t, "links/out", p.outside)
	p.link(t, "links/out.txt", "../../outside/secret.txt")
	p.link(t, "links/self", "..")
	p.link(t, "links/loop", "loop")
	p.link(t, "links/dangling", "nothing")
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			inside := strings.NewReplacer("W", p.dir)
			got, err := p.Glob(t.Context(), inside.Replace(c.pattern), inside.Replace(c.path))
			assert.Equal(t, told(t, got, err), c.want)
		})
	}
}

const forbidden = "Error [permission_denied]: Reading outside the workspace is forbidden"

func TestGlobSaysHowManyPathsAreOverTheCap(t *testing.T) {
	p := newPlace(t, Options{GlobPaths: 2})
	for n := range 5 {
		p.put(t, fmt.Sprintf("f%d", n), "")
	}
	got, err := p.Glob(t.Context(), "*", "")
	assert.NilError(t, err)
	assert.Equal(t, got, "f0\nf1\n[3 more left out]")
}

func TestGlobEndsWithItsContextAndAtItsLimit(t *testing.T) {
	p := newPlace(t, Options{})
	p.put(t, "a/b", "")
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := p.Glob(ctx, "**", "")
	assert.ErrorIs(t, err, context.Canceled)

	tree := &globTree{w: p.Workspace, ctx: t.Context(), base: ".", visits: maxVisits}
	_, err = tree.ReadDir(".")
	assert.ErrorIs(t, err, errTooManyVisits)
}

func FuzzGlobNamesNothingOutside(f *testing.F) {
	for _, seed := range []string{"**", "../**", "{..,a}/**", "src/../**", "/**", "dir/*", "[.][.]/*", `\.\./*`, "*/../../*", "**/secret*"} {
		f.Add(seed, "")
		f.Add(seed, "sub")
	}
	p := newTrap(f)
	f.Fuzz(func(t *testing.T, pattern, base string) {
		if strings.Count(pattern, "{") > 4 || strings.Count(pattern, "*") > 8 {
			return // takes long without telling more
		}
		got, err := p.Glob(t.Context(), pattern, base)
		if err != nil {
			told(t, got, err)
			return
		}
		assert.Assert(t, !strings.Contains(got, "secret"), "%q in %q: %s", pattern, base, got)
		for line := range strings.Lines(got) {
			line = strings.TrimSuffix(line, "\n")
			assert.Assert(t, strings.HasPrefix(line, "[") || filepath.IsLocal(line), line)
		}
	})
}

func TestGlobLeavesOutWhatIsHidden(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"a.txt", "own/part", "own/deep/part", "other/own"} {
		assert.NilError(t, os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o755))
		assert.NilError(t, os.WriteFile(filepath.Join(dir, name), nil, 0o644))
	}
	w, err := Open(dir, Options{Hide: func(name string) bool { return name == "own" || strings.HasPrefix(name, "own/") }})
	assert.NilError(t, err)
	defer w.Close()
	for pattern, want := range map[string]string{
		"**/*":       "a.txt\nother/\nother/own",
		"*":          "a.txt\nother/",
		"own/*":      "[nothing matches]",
		"own/deep/*": "[nothing matches]",
		"own":        "[nothing matches]",
		"other/*":    "other/own",
	} {
		got, err := w.Glob(t.Context(), pattern, "")
		assert.NilError(t, err)
		assert.Equal(t, got, want, pattern)
	}
}
