package transcripts

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/gofrs/flock"
	"github.com/tapetree/tapetree/runtime"
	"gotest.tools/v3/assert"
)

// writeLines gives a session's lines to w in the order of arrival.
func writeLines(w *Writer, f *File) error {
	for _, call := range f.Calls {
		if err := w.Call(call); err != nil {
			return err
		}
	}
	for _, x := range f.Exchanges {
		if err := w.Exchange(x); err != nil {
			return err
		}
	}
	for _, h := range f.HTTP {
		if err := w.HTTP(h); err != nil {
			return err
		}
	}
	return nil
}

// names lists a folder.
func names(t *testing.T, folder string) []string {
	t.Helper()
	entries, err := os.ReadDir(folder)
	assert.NilError(t, err)
	var list []string
	for _, e := range entries {
		list = append(list, e.Name())
	}
	return list
}

func readText(t *testing.T, path string) string {
	t.Helper()
	data, err := os.ReadFile(path)
	assert.NilError(t, err)
	return string(data)
}

func TestWriterPutsTheCanonicalFileInPlace(t *testing.T) {
	path := filepath.Join(t.TempDir(), "new", "folder", "sample.jsonl")
	f := sampleSession("tapetree v0")
	w, err := Create(path, f.Header)
	assert.NilError(t, err)
	assert.NilError(t, writeLines(w, f))

	partial, err := Parse("p", []byte(readText(t, path+".partial")))
	assert.NilError(t, err)
	assert.Assert(t, partial.Partial())
	assert.Equal(t, len(partial.Exchanges), len(f.Exchanges))

	closed, err := w.Close(f.Timing, f.End)
	assert.NilError(t, err)
	assert.Equal(t, readText(t, path), string(f.Encode()))
	assert.Equal(t, string(closed.Encode()), string(f.Encode()))
	assert.DeepEqual(t, names(t, filepath.Dir(path)), []string{"sample.jsonl"})

	assert.ErrorContains(t, w.Exchange(f.Exchanges[0]), "the recording is closed")
	_, err = w.Close(nil, nil)
	assert.ErrorContains(t, err, "the recording is closed")
}

// case 6.05: agents write at once.
func TestWriterGivesSameBytesHoweverAgentsInterleave(t *testing.T) {
	f := longSession(5, 6)
	want := string(f.Encode())
	for range 5 {
		path := filepath.Join(t.TempDir(), "long.jsonl")
		w, err := Create(path, f.Header)
		assert.NilError(t, err)
		var agents sync.WaitGroup
		for _, own := range perAgent(f) {
			agents.Go(func() {
				if err := writeLines(w, own); err != nil {
					t.Error(err)
				}
			})
		}
		agents.Wait()
		_, err = Parse("p", []byte(readText(t, path+".partial")))
		assert.NilError(t, err)
		_, err = w.Close(f.Timing, f.End)
		assert.NilError(t, err)
		assert.Equal(t, readText(t, path), want)
	}
}

// perAgent splits a session into one File for each agent.
func perAgent(f *File) map[runtime.Path]*File {
	agents := map[runtime.Path]*File{}
	of := func(agent runtime.Path) *File {
		if agents[agent] == nil {
			agents[agent] = &File{}
		}
		return agents[agent]
	}
	for _, x := range f.Exchanges {
		of(x.Agent).Exchanges = append(of(x.Agent).Exchanges, x)
	}
	for _, c := range f.Calls {
		of(c.Agent).Calls = append(of(c.Agent).Calls, c)
	}
	return agents
}

// case 6.11: an empty run writes no empty file.
func TestWriterWithoutExchangeWritesNothing(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.jsonl")
	assert.NilError(t, os.WriteFile(path, []byte("old"), 0o600))
	w, err := Create(path, Header{Name: "a", By: "tapetree v0"})
	assert.NilError(t, err)
	_, err = w.Close(nil, &End{})
	assert.Assert(t, errors.Is(err, ErrEmpty))
	assert.Equal(t, readText(t, path), "old")
	assert.DeepEqual(t, names(t, filepath.Dir(path)), []string{"a.jsonl"})
}

func TestWriterKeepsTheModeOfTheFileItReplaces(t *testing.T) {
	if filepath.Separator == '\\' {
		t.Skip("a file has no Unix mode here")
	}
	path := filepath.Join(t.TempDir(), "a.jsonl")
	assert.NilError(t, os.WriteFile(path, []byte("old"), 0o600))
	f := sampleSession("tapetree v0")
	w, err := Create(path, f.Header)
	assert.NilError(t, err)
	assert.NilError(t, writeLines(w, f))
	_, err = w.Close(nil, f.End)
	assert.NilError(t, err)
	info, err := os.Stat(path)
	assert.NilError(t, err)
	assert.Equal(t, info.Mode().Perm(), os.FileMode(0o600))
}

func TestLeftoverIsSetAsideAndNamed(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.jsonl")
	for i, want := range []string{"", "a.1.partial", "a.2.partial"} {
		w, err := Create(path, Header{Name: strings.Repeat("x", i), By: "tapetree v0"})
		assert.NilError(t, err)
		got := w.Leftover()
		if want != "" {
			got = filepath.Base(got)
		}
		assert.Equal(t, got, want)
		kept, err := w.Keep()
		assert.NilError(t, err)
		assert.Equal(t, kept, path+".partial")
		assert.ErrorContains(t, w.Call(&Call{}), "the recording is closed")
	}
	assert.Assert(t, strings.Contains(readText(t, filepath.Join(filepath.Dir(path), "a.1.partial")), `"name":""`))
	assert.Assert(t, strings.Contains(readText(t, filepath.Join(filepath.Dir(path), "a.2.partial")), `"name":"x"`))
}

func TestEmptyLeftoverIsUsedAgain(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.jsonl")
	assert.NilError(t, os.WriteFile(path+".partial", nil, 0o600))
	w, err := Create(path, Header{Name: "a", By: "tapetree v0"})
	assert.NilError(t, err)
	assert.Equal(t, w.Leftover(), "")
	_, err = w.Keep()
	assert.NilError(t, err)
}

func TestHeldPartialIsRefused(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.jsonl")
	w, err := Create(path, Header{Name: "a", By: "tapetree v0"})
	assert.NilError(t, err)
	_, err = Create(path, Header{Name: "a", By: "tapetree v0"})
	assert.Error(t, err, "create "+path+".partial: another tapetree is recording to it; wait until it ends, or record under another name")
	_, err = w.Close(nil, nil)
	assert.Assert(t, errors.Is(err, ErrEmpty))

	lock := flock.New(lockPath(path+".partial"), flock.SetFlag(os.O_CREATE|os.O_RDWR))
	assert.NilError(t, lock.Lock())
	_, err = Create(path, Header{Name: "a", By: "tapetree v0"})
	assert.ErrorContains(t, err, "another tapetree is recording to it")
	assert.NilError(t, lock.Unlock())
}

func TestOnlyOneOfManyWritersGetsTheFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.jsonl")
	assert.NilError(t, os.WriteFile(path+".partial", []byte("left over"), 0o600))
	var mu sync.Mutex
	var got []*Writer
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			if w, err := Create(path, Header{Name: "a", By: "tapetree v0"}); err == nil {
				mu.Lock()
				defer mu.Unlock()
				got = append(got, w)
			}
		})
	}
	all.Wait()
	assert.Equal(t, len(got), 1)
	_, err := got[0].Keep()
	assert.NilError(t, err)
	assert.Equal(t, readText(t, filepath.Join(filepath.Dir(path), "a.1.partial")), "left over")
}

func TestWriterRefusesWhatCouldNotBeReadAgain(t *testing.T) {
	f := sampleSession("tapetree v0")
	noPath := *f.Exchanges[0]
	noPath.Agent = "boss"
	noEnd := *f.Exchanges[0]
	noEnd.Response, noEnd.SSE = nil, []string{"data: {}\n\n"}
	for name, test := range map[string]struct {
		write func(*Writer) error
		want  string
	}{
		"agent":   {func(w *Writer) error { return w.Exchange(&noPath) }, `key "agent": "boss" is no agent path`},
		"end":     {func(w *Writer) error { return w.Exchange(&noEnd) }, `key "end" is missing`},
		"verdict": {func(w *Writer) error { return w.Call(&Call{Agent: "root", Turn: 1, Call: 1}) }, `verdict "" is not known`},
		"http":    {func(w *Writer) error { return w.HTTP(&HTTP{Raw: []byte(`{"kind":"http"}`)}) }, `key "n" is missing`},
		"twice": {func(w *Writer) error {
			return errors.Join(w.Exchange(f.Exchanges[0]), w.Exchange(f.Exchanges[0]))
		}, "root#1 try 1 is there already"},
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "a.jsonl")
			w, err := Create(path, f.Header)
			assert.NilError(t, err)
			assert.ErrorContains(t, test.write(w), test.want)
			_, err = w.Close(nil, nil)
			assert.ErrorContains(t, err, test.want)
			_, err = Parse("p", []byte(readText(t, path+".partial")))
			assert.NilError(t, err)
		})
	}
}

func TestFailuresOfTheFolderAreOneLine(t *testing.T) {
	folder := t.TempDir()
	assert.NilError(t, os.WriteFile(filepath.Join(folder, "file"), nil, 0o600))
	_, err := Create(filepath.Join(folder, "file", "a.jsonl"), Header{Name: "a", By: "tapetree v0"})
	assert.ErrorContains(t, err, "create "+filepath.Join(folder, "file", "a.jsonl")+": ")
	assert.Equal(t, strings.Count(err.Error(), "file"), 1+strings.Count(folder, "file"), "named once")

	if os.Getuid() == 0 {
		t.Skip("a read-only folder does not stop this user")
	}
	assert.NilError(t, os.Chmod(folder, 0o500))
	_, err = Create(filepath.Join(folder, "a.jsonl"), Header{Name: "a", By: "tapetree v0"})
	assert.Error(t, err, "create "+filepath.Join(folder, "a.jsonl.partial")+": permission denied")
}

// case 6.11: a failed run leaves the good file alone.
func TestFailureToPutInPlaceKeepsBothFiles(t *testing.T) {
	folder := t.TempDir()
	path := filepath.Join(folder, "a.jsonl")
	assert.NilError(t, os.Mkdir(path, 0o700)) // no file can be put in its place
	f := sampleSession("tapetree v0")
	w, err := Create(path, f.Header)
	assert.NilError(t, err)
	assert.NilError(t, writeLines(w, f))
	_, err = w.Close(f.Timing, f.End)
	assert.ErrorContains(t, err, "write "+path+": ")
	assert.ErrorContains(t, err, "; the recording is kept in "+path+".partial")
	assert.Assert(t, !strings.Contains(err.Error(), "\n"))
	assert.DeepEqual(t, names(t, folder), []string{"a.jsonl", "a.jsonl.partial"})
	partial, err := Parse("p", []byte(readText(t, path+".partial")))
	assert.NilError(t, err)
	assert.Equal(t, len(partial.Exchanges), len(f.Exchanges))
}

func TestFailedWriteLeavesNoHalfLine(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.jsonl")
	f := sampleSession("tapetree v0")
	w, err := Create(path, f.Header)
	assert.NilError(t, err)
	assert.NilError(t, w.Exchange(f.Exchanges[0]))
	before := readText(t, path+".partial")
	assert.NilError(t, w.partial.Close()) // every write fails from now on
	first := w.Exchange(f.Exchanges[1])
	assert.ErrorContains(t, first, "what was finished is kept there")
	assert.Equal(t, w.Call(f.Calls[0]).Error(), first.Error())
	_, err = w.Close(nil, nil)
	assert.Equal(t, err.Error(), first.Error())
	assert.Equal(t, readText(t, path+".partial"), before)
	assert.Assert(t, !slices.Contains(names(t, filepath.Dir(path)), "a.jsonl"))
}

func TestDiscardLeavesNothingAndTheOldFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.jsonl")
	assert.NilError(t, os.WriteFile(path, []byte("old"), 0o644))
	w, err := Create(path, Header{Name: "x"})
	assert.NilError(t, err)
	assert.NilError(t, w.Discard())
	assert.ErrorContains(t, w.Discard(), "the recording is closed")
	left, err := os.ReadDir(filepath.Dir(path))
	assert.NilError(t, err)
	assert.Equal(t, len(left), 1)
	data, err := os.ReadFile(path)
	assert.NilError(t, err)
	assert.Equal(t, string(data), "old")
}
