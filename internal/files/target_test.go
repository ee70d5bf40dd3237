package files

import (
	"os"
	"path/filepath"
	"testing"

	"gotest.tools/v3/assert"
)

func TestTheTargetOfALinkIsWhereItEnds(t *testing.T) {
	dir, err := filepath.EvalSymlinks(t.TempDir())
	assert.NilError(t, err)
	at := func(name string) string { return filepath.Join(dir, filepath.FromSlash(name)) }
	assert.NilError(t, os.MkdirAll(at("far/deep"), 0o755))
	assert.NilError(t, os.WriteFile(at("far/a.txt"), nil, 0o644))
	for name, to := range map[string]string{"one": "two", "two": filepath.Join("far", "a.txt"), "gone": "nothing", "round": "circle", "circle": "round", "near": at("far/deep"), "far/deep/up": filepath.Join("..", "a.txt")} {
		if err := os.Symlink(to, at(name)); err != nil {
			t.Skip("no links here: ", err)
		}
	}
	for path, want := range map[string]string{
		at("far/a.txt"): at("far/a.txt"), at("one"): at("far/a.txt"), at("gone"): at("nothing"), at("round"): at("round"),
		at("missing"): at("missing"), at("near/up"): at("far/a.txt"),
	} {
		assert.Equal(t, Target(path), want, path)
	}
}
