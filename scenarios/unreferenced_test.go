package scenarios

import (
	"testing"
	"testing/fstest"
	"time"

	"gotest.tools/v3/assert"
)

func TestFilesOfKilledRunsAreFoundByTheirNames(t *testing.T) {
	now := time.Date(2026, 11, 30, 9, 0, 0, 0, time.UTC)
	folder := fstest.MapFS{}
	for _, name := range []string{".a.txt.123.tmp", ".a.txt.123", ".a.txt.new.77.tmp", ".a.jsonl.4294967295.tmp", ".a.jsonl.1"} {
		folder[name] = &fstest.MapFile{ModTime: now.Add(-time.Minute)}
	}
	for _, name := range []string{"a.txt.123.tmp", ".a.txt", ".a.md.123.tmp", ".a.txt.12x.tmp", ".txt.1.tmp", ".gitkeep", ".a.txt.12345678901"} {
		folder[name] = &fstest.MapFile{ModTime: now.Add(-time.Hour)} // not ours
	}
	folder[".held.txt.5.tmp"] = &fstest.MapFile{ModTime: now.Add(-59 * time.Second)}
	folder[".dir.txt.5.tmp/x"] = &fstest.MapFile{ModTime: now.Add(-time.Hour)}
	got, err := leftovers(folder, now)
	assert.NilError(t, err)
	assert.DeepEqual(t, got, []string{".a.jsonl.1", ".a.jsonl.4294967295.tmp", ".a.txt.123", ".a.txt.123.tmp", ".a.txt.new.77.tmp"})
}
