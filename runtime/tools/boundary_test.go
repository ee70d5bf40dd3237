package tools

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"gotest.tools/v3/assert"
)

// TestNothingLeadsOutOfTheWorkspace is case 5.02, case 5.03 and the rest of their kind: no spelling, link or missing
// parent leads out, for no tool. W, O and B in a path stand for the workspace,
// the folder beside it and the folder above both.
func TestNothingLeadsOutOfTheWorkspace(t *testing.T) {
	attempts := []string{
		// climbing
		"..", "../", "../outside", "../outside/secret.txt", "../outside/new.txt", "../../etc/passwd",
		"./../outside/secret.txt", "sub/../../outside/secret.txt", "sub/../../outside/new/f",
		"missing/../../outside/secret.txt", "a.txt/../../outside/secret.txt", "sub//..//..//outside/secret.txt",
		"sub/./../../outside/secret.txt", "../work/a.txt", "../work/../outside/secret.txt",
		strings.Repeat("../", 40) + "etc/passwd",
		// absolute
		"/", "/etc/passwd", "/etc/../etc/passwd", "/dev/zero", "B", "O/secret.txt", "O/new.txt", "//O/secret.txt",
		"W/../outside/secret.txt", "W/sub/../../outside/secret.txt", "W/..", "/proc/self/root/etc/passwd",
		// siblings whose names begin alike
		"W-sibling/secret.txt", "W-sibling/new.txt", "../work-sibling/secret.txt", "W-sibling", "W2/new",
		// another case of the workspace's own name: folding must never let in
		"B/WORK/a.txt", "B/Work/new.txt",
		// a link as last component
		"abs-file", "abs-new", "rel-file", "rel-new", "dir", "rel-dir", "zero", "W/abs-file",
		// a link as parent
		"dir/secret.txt", "dir/new.txt", "rel-dir/secret.txt", "rel-dir/new.txt", "W/dir/secret.txt",
		"dir/new1/new2/f", "rel-dir/new1/new2/f", "dangling-dir/new1/f", "sub/up/outside/secret.txt",
		"sub/up/work/a.txt", "dir/../outside/secret.txt",
		// links by way of links
		"chain-1", "chain-1/secret.txt", "chain-1/new/f", "sub/back/dir/secret.txt", "to-sibling/secret.txt",
		"inside-then-out", "inside-then-out/secret.txt",
	}
	assert.Assert(t, len(attempts) >= 40)
	for _, attempt := range attempts {
		t.Run(strings.ReplaceAll(attempt, "/", "|"), func(t *testing.T) {
			p := newTrap(t)
			base := filepath.Dir(p.dir)
			before := tree(t, base)
			path := strings.NewReplacer("W", p.dir, "O", p.outside, "B", base).Replace(attempt)
			if strings.HasPrefix(attempt, "B/W") {
				path = base + attempt[1:]
			}

			assert.Equal(t, p.Inside(path), false)
			read, err := p.ReadFile(t.Context(), path, 0, 0)
			assert.Equal(t, told(t, read, err), "Error [permission_denied]: Reading outside the workspace is forbidden")
			listed, err := p.Glob(t.Context(), "**", path)
			assert.Equal(t, told(t, listed, err), "Error [permission_denied]: Reading outside the workspace is forbidden")
			written, err := p.WriteFile(t.Context(), path, "escaped")
			assert.Equal(t, told(t, written, err), "Error [permission_denied]: Writing outside the workspace is forbidden")
			edited, err := p.EditFile(t.Context(), path, "secret", "escaped", true)
			assert.Equal(t, told(t, edited, err), "Error [permission_denied]: Writing outside the workspace is forbidden")

			assert.DeepEqual(t, tree(t, base), before)
		})
	}
}

// newTrap is a workspace full of links that lead out.
func newTrap(t testing.TB) place {
	t.Helper()
	p := newPlace(t, Options{})
	p.put(t, "a.txt", "secret of its own")
	p.put(t, "sub/b.txt", "b")
	for name, target := range map[string]string{
		"abs-file":        filepath.Join(p.outside, "secret.txt"),
		"abs-new":         filepath.Join(p.outside, "new.txt"),
		"rel-file":        "../outside/secret.txt",
		"rel-new":         "../outside/new.txt",
		"dir":             p.outside,
		"rel-dir":         "../outside",
		"zero":            "/dev/zero",
		"dangling-dir":    filepath.Join(p.outside, "no-such-folder"),
		"sub/up":          "../..",
		"sub/back":        "..",
		"chain-1":         "chain-2",
		"chain-2":         "sub/../dir",
		"to-sibling":      p.dir + "-sibling",
		"inside-then-out": filepath.Join(p.dir, "sub", "..", "..", "outside"),
	} {
		p.link(t, name, target)
	}
	return p
}

// TestLinksAndPathsThatStayInsideWork is case 5.02: a link that stays inside is followed, not refused.
func TestLinksAndPathsThatStayInsideWork(t *testing.T) {
	for _, path := range []string{
		"sub/b.txt", "./sub/b.txt", "sub//b.txt", "sub/../sub/b.txt", "W/sub/b.txt", "W//sub/./b.txt", "G/sub/b.txt",
		"missing/../sub/b.txt", "rel/b.txt", "abs/b.txt", "file-rel", "file-abs", "file-given", "sub/self/b.txt", "sub/abs/b.txt",
		"two/b.txt", "G/two/b.txt",
	} {
		t.Run(strings.ReplaceAll(path, "/", "|"), func(t *testing.T) {
			p := newPlace(t, Options{})
			given := filepath.Join(filepath.Dir(p.dir), "as-given")
			assert.NilError(t, os.Symlink(p.dir, given))
			ws, err := Open(given, Options{Run: t.TempDir()})
			assert.NilError(t, err)
			defer ws.Close()
			p.put(t, "sub/b.txt", "old")
			p.link(t, "rel", "sub")
			p.link(t, "abs", filepath.Join(p.dir, "sub"))
			p.link(t, "file-rel", "sub/b.txt")
			p.link(t, "file-abs", filepath.Join(p.dir, "sub/b.txt"))
			p.link(t, "file-given", filepath.Join(given, "sub/b.txt"))
			p.link(t, "sub/self", "../sub")
			p.link(t, "sub/abs", filepath.Join(p.dir, "sub"))
			p.link(t, "two", "abs")
			path := strings.NewReplacer("W", p.dir, "G", given).Replace(path)

			assert.Equal(t, ws.Inside(path), true)
			got, err := ws.ReadFile(t.Context(), path, 0, 0)
			assert.NilError(t, err)
			assert.Equal(t, got, "old")
			_, err = ws.WriteFile(t.Context(), path, "new")
			assert.NilError(t, err)
			_, err = ws.EditFile(t.Context(), path, "new", "newer", false)
			assert.NilError(t, err)
			assert.DeepEqual(t, tree(t, p.dir), map[string]string{
				".": "folder", "sub": "folder", "sub/b.txt": "newer",
				"rel": "sub", "abs": filepath.Join(p.dir, "sub"), "two": "abs", "sub/self": "../sub", "sub/abs": filepath.Join(p.dir, "sub"),
				"file-rel": "sub/b.txt", "file-abs": filepath.Join(p.dir, "sub/b.txt"),
				"file-given": filepath.Join(given, "sub/b.txt"),
			})
		})
	}
}

func TestADanglingLinkInsideMakesItsTarget(t *testing.T) {
	p := newPlace(t, Options{})
	p.link(t, "dangling", "later/new.txt")
	assert.Equal(t, p.Inside("dangling"), true)
	got, err := p.WriteFile(t.Context(), "dangling", "x")
	assert.Equal(t, told(t, got, err), "Created dangling: 1 byte.")
	assert.DeepEqual(t, tree(t, p.dir), map[string]string{
		".": "folder", "dangling": "later/new.txt", "later": "folder", "later/new.txt": "x",
	})
}

func TestPathsThatLeadNowhereInsideAreNotCalledOutside(t *testing.T) {
	p := newPlace(t, Options{})
	p.put(t, "a.txt", "")
	p.link(t, "loop-1", "loop-2")
	p.link(t, "loop-2", filepath.Join(p.dir, "loop-1"))
	long := strings.Repeat("n", 300)
	cases := map[string]string{
		"loop-1":                      "too many links",
		"loop-1/x":                    "too many links",
		"missing":                     "not found",
		"missing/x":                   "not found",
		"a.txt/x":                     "not a directory",
		"nul\x00byte":                 "invalid name",
		long:                          "name too long",
		strings.Repeat("d/", 3000):    "name too long",
		filepath.Join(p.dir, "gone"):  "not found",
		"missing/" + long + "/../../": "is a directory",
	}
	for path, word := range cases {
		assert.Equal(t, p.Inside(path), true, path)
		got, err := p.ReadFile(t.Context(), path, 0, 0)
		text := told(t, got, err)
		assert.Assert(t, strings.HasPrefix(text, "Error [tool_error]: cannot read "), text)
		assert.Assert(t, strings.HasSuffix(text, ": "+word), "%q: %s", path, text)
		assert.Assert(t, !strings.Contains(text, p.dir), text)
		assert.Assert(t, len(text) < 300)
	}
}

func FuzzResolveNeverLeavesTheWorkspace(f *testing.F) {
	for _, seed := range []string{
		"", "a.txt", "../outside", "/etc", "dir/x", "sub/up/outside", "chain-1", "sub/back/sub/b.txt", "\x00", "a/../..",
		"inside-then-out", `..\outside`, "sub/self/../..", "loop/../../x",
	} {
		f.Add(seed, "sub/../../x")
		f.Add("sub/link/"+seed, seed)
	}
	p := newTrap(f)
	f.Fuzz(func(t *testing.T, path, target string) {
		_ = os.Remove(filepath.Join(p.dir, "sub", "link"))
		if os.Symlink(target, filepath.Join(p.dir, "sub", "link")) != nil {
			return // no such link can be made
		}
		for _, path := range []string{path, p.dir + "/" + path, p.dir + path} {
			at, err := p.resolve(path)
			assert.Equal(t, p.Inside(path), err == nil || kindOf(err) != "")
			if err != nil {
				continue
			}
			assert.Assert(t, filepath.IsLocal(at.name), "%q leads to %q", path, at.name)
			real, err := filepath.EvalSymlinks(filepath.Join(p.dir, at.name))
			if err != nil {
				continue // it leads to what is not there
			}
			assert.Assert(t, real == p.dir || strings.HasPrefix(real, p.dir+"/"), "%q leads to %q", path, real)
		}
	})
}
