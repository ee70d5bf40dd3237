package tools

import (
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"

	"gotest.tools/v3/assert"
)

// TestAFolderSwappedForALinkLetsNothingOut is case 5.04: a folder that turns into a link to the outside and back while
// files are written below it. Whatever each write says, not a byte and not a
// folder gets outside, and no temporary file is left inside.
func TestAFolderSwappedForALinkLetsNothingOut(t *testing.T) {
	p := newPlace(t, Options{})
	outside := tree(t, p.outside)
	d := filepath.Join(p.dir, "d")
	var swaps, written, refused atomic.Int64
	stop := make(chan struct{})
	var swapper sync.WaitGroup
	swapper.Go(func() {
		for n := 0; ; n++ {
			select {
			case <-stop:
				return
			default:
			}
			aside := filepath.Join(p.dir, fmt.Sprintf("aside-%d", n))
			_ = os.Rename(d, aside)
			if os.Symlink(p.outside, d) == nil {
				swaps.Add(1)
			}
			_ = os.Remove(d)
			_ = os.RemoveAll(aside)
			_ = os.Mkdir(d, 0o755)
		}
	})
	var writers sync.WaitGroup
	for _, path := range []string{"d/f", "d/new/g"} {
		writers.Go(func() {
			enough := func() bool { return swaps.Load() > 100 && written.Load() > 100 && refused.Load() > 100 }
			for i := 0; i < 5000 || !enough() && i < 500_000; i++ {
				// Both outcomes are right; what counts is where it went.
				if _, err := p.WriteFile(t.Context(), path, "inside"); err == nil {
					written.Add(1)
				} else {
					refused.Add(1)
				}
				if i%50 == 0 {
					_, _ = p.EditFile(t.Context(), path, "inside", "edited", true)
					if got, err := p.ReadFile(t.Context(), "d/secret.txt", 0, 0); err == nil {
						t.Errorf("read from outside: %q", got)
					}
				}
			}
		})
	}
	writers.Wait()
	close(stop)
	swapper.Wait()
	assert.Assert(t, swaps.Load() > 100 && written.Load() > 100 && refused.Load() > 100,
		"no race: %d swaps, %d writes, %d refusals", swaps.Load(), written.Load(), refused.Load())
	assert.DeepEqual(t, tree(t, p.outside), outside)
	for name := range tree(t, p.dir) {
		assert.Assert(t, filepath.Ext(name) != ".tmp", name)
	}
}

// TestAFileSwappedForALinkLetsNothingOut is case 5.04, the file itself: it turns into a link to the outside and back.
func TestAFileSwappedForALinkLetsNothingOut(t *testing.T) {
	p := newPlace(t, Options{})
	outside := tree(t, p.outside)
	stop := make(chan struct{})
	var swapper sync.WaitGroup
	swapper.Go(func() {
		f := filepath.Join(p.dir, "f")
		for {
			select {
			case <-stop:
				return
			default:
			}
			_ = os.Remove(f)
			_ = os.Symlink(filepath.Join(p.outside, "secret.txt"), f)
		}
	})
	for range 3000 {
		_, _ = p.WriteFile(t.Context(), "f", "inside")
		_, _ = p.EditFile(t.Context(), "f", "secret", "edited", true)
		if got, err := p.ReadFile(t.Context(), "f", 0, 0); err == nil {
			assert.Equal(t, got, "inside")
		}
	}
	close(stop)
	swapper.Wait()
	assert.DeepEqual(t, tree(t, p.outside), outside)
}

// TestAFolderSwappedBeforeTheRenamingLetsNothingOut is case 5.04, the last moment: the folder is swapped between the writing of the
// temporary file and its renaming, which then happens where it was written.
func TestAFolderSwappedBeforeTheRenamingLetsNothingOut(t *testing.T) {
	p := newPlace(t, Options{})
	outside := tree(t, p.outside)
	p.put(t, "d/f", "old")
	_, err := p.replace("d/f", []byte("new"), func(*os.Root, string) error {
		assert.NilError(t, os.Rename(filepath.Join(p.dir, "d"), filepath.Join(p.dir, "aside")))
		p.link(t, "d", p.outside)
		return nil
	})
	assert.NilError(t, err)
	assert.DeepEqual(t, tree(t, p.outside), outside)
	assert.DeepEqual(t, tree(t, p.dir), map[string]string{".": "folder", "aside": "folder", "aside/f": "new", "d": p.outside})
}

// TestEditsAtOnceAllSurvive is case 4.10: edits of different lines at once all survive, also through a link
// and through a link in the way.
func TestEditsAtOnceAllSurvive(t *testing.T) {
	p := newPlace(t, Options{})
	p.link(t, "alias", "real/f")
	p.link(t, "folder", "real")
	paths := []string{"real/f", "alias", "folder/f", filepath.Join(p.dir, "alias")}
	var before, after string
	const lines = 60
	for n := range lines {
		before += fmt.Sprintf("line %d: old\n", n)
		after += fmt.Sprintf("line %d: new\n", n)
	}
	p.put(t, "real/f", before)
	var editors sync.WaitGroup
	for n := range lines {
		editors.Go(func() {
			_, err := p.EditFile(t.Context(), paths[n%len(paths)],
				fmt.Sprintf("line %d: old\n", n), fmt.Sprintf("line %d: new\n", n), false)
			if err != nil {
				t.Error(err)
			}
		})
	}
	editors.Wait()
	assert.DeepEqual(t, tree(t, p.dir), map[string]string{
		".": "folder", "real": "folder", "real/f": after, "alias": "real/f", "folder": "real",
	})
}

// TestSpellingsOfOneFileOnACaseBlindDiskShareALock is case 5.05: two spellings that name one file on a case-blind disk share a lock
// everywhere.
func TestSpellingsOfOneFileOnACaseBlindDiskShareALock(t *testing.T) {
	p := newPlace(t, Options{})
	assert.Equal(t, p.mutexOf("Sub/File"), p.mutexOf("sub/fILE"))
}
