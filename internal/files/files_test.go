package files

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"

	"gotest.tools/v3/assert"
)

func TestRegularFilesAreReadWhole(t *testing.T) {
	for _, text := range []string{"", "x", strings.Repeat("line\n", 10_000)} {
		path := filepath.Join(t.TempDir(), "f")
		assert.NilError(t, os.WriteFile(path, []byte(text), 0o600))
		got, err := ReadPath(path, int64(len(text)))
		assert.NilError(t, err)
		assert.Equal(t, string(got), text)
		got, err = Read(fstest.MapFS{"f": {Data: []byte(text)}}, "f", int64(len(text)))
		assert.NilError(t, err)
		assert.Equal(t, string(got), text)
	}
}

func TestWhatIsNoFileOrTooLargeIsRefused(t *testing.T) {
	dir := t.TempDir()
	large := filepath.Join(dir, "large")
	assert.NilError(t, os.WriteFile(large, nil, 0o600))
	assert.NilError(t, os.Truncate(large, 1<<40)) // sparse: it takes no room
	for path, want := range map[string]string{
		dir:   "is a folder; a file belongs there",
		large: "is larger than 1024 MiB, which no such file needs",
	} {
		_, err := ReadPath(path, TranscriptLimit)
		assert.Error(t, err, want)
		assert.Assert(t, errors.Is(err, ErrBad))
		_, err = Read(os.DirFS(filepath.Dir(path)), filepath.Base(path), TranscriptLimit)
		assert.Error(t, err, want)
	}
}

func TestAFileThatGrowsBeyondTheLimitIsRefused(t *testing.T) {
	_, err := readAll(strings.NewReader("1234567"), nil, 6)
	assert.Error(t, err, "is larger than 0 MiB, which no such file needs")
}

func TestErrorsDoNotNameTheFile(t *testing.T) {
	_, err := ReadPath(filepath.Join(t.TempDir(), "none"), Limit)
	assert.Assert(t, errors.Is(err, fs.ErrNotExist) && !errors.Is(err, ErrBad))
	assert.Assert(t, !strings.Contains(err.Error(), "none"), err)
}
