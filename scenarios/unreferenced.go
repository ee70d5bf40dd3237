package scenarios

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/tapetree/tapetree/golden"
	"github.com/tapetree/tapetree/internal/files"
)

// Unreferenced is a file of a project that no scenario refers to.
type Unreferenced struct {
	Path  string
	Alone string // why it is not to be removed: it is not what its name says; "" for ours
}

// FindUnreferenced lists the golden histories, those that wait to be accepted,
// and the transcripts that no scenario refers to, and what runs that were killed
// left half written, in the order of their paths. Other files are not looked at. A scenario that cannot be read may refer to any
// of them, so it is an error.
func FindUnreferenced(source Source) ([]Unreferenced, error) {
	names, err := source.Names()
	if err != nil {
		return nil, err
	}
	var goldens, recordings []string
	for _, name := range names {
		scenario, err := source.Load(name)
		if err != nil {
			return nil, fmt.Errorf("what it refers to is not known: %w", err)
		}
		goldens = append(goldens, scenario.Golden)
		recordings = append(recordings, scenario.Transcript)
	}
	var list []Unreferenced
	for _, kind := range []struct {
		folder, ending string
		from           fs.FS
		names          []string
		begins         string
		what           string
	}{
		{goldenFolder, goldenEnding, source.Goldens, goldens, "# Golden history", "golden history"},
		{goldenFolder, goldenEnding + ".new", source.Goldens, goldens, "# Golden history", "golden history"},
		{transcriptFolder, transcriptEnding, source.Transcripts, recordings, `{"kind":"header"`, "transcript"},
	} {
		orphans, err := golden.Orphans(kind.from, kind.ending, kind.names)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", source.display(kind.folder, ""), err)
		}
		for _, file := range orphans {
			one := Unreferenced{Path: source.display(kind.folder, file)}
			ours, err := beginsWith(kind.from, file, kind.begins)
			switch {
			case err != nil:
				one.Alone = err.Error()
			case !ours:
				one.Alone = "it is no " + kind.what
			}
			list = append(list, one)
		}
	}
	for _, kind := range []struct {
		folder string
		from   fs.FS
	}{{goldenFolder, source.Goldens}, {transcriptFolder, source.Transcripts}} {
		left, err := leftovers(kind.from, time.Now())
		if err != nil {
			return nil, fmt.Errorf("%s: %w", source.display(kind.folder, ""), err)
		}
		for _, file := range left {
			list = append(list, Unreferenced{Path: source.display(kind.folder, file)})
		}
	}
	slices.SortFunc(list, func(a, b Unreferenced) int {
		return strings.Compare(filepath.ToSlash(a.Path), filepath.ToSlash(b.Path))
	})
	return list, nil
}

// halfWritten are the names of files that are being written, as golden.Write and
// transcripts.Replace choose them.
var halfWritten = regexp.MustCompile(`^\..+\.(txt|txt\.new|jsonl|jsonl\.partial)\.[0-9]{1,10}(\.tmp)?$`)

// beingWritten is how old a file may be that somebody still writes. It is written
// in one go, and has its name for no longer than that and a sync take.
const beingWritten = time.Minute

// leftovers lists the files that were being written when their run was killed.
func leftovers(folder fs.FS, now time.Time) ([]string, error) {
	entries, err := fs.ReadDir(folder, ".")
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("list folder: %w", files.Reason(err))
	}
	var list []string
	for _, entry := range entries {
		if !entry.Type().IsRegular() || !halfWritten.MatchString(entry.Name()) {
			continue
		}
		info, err := entry.Info()
		if err == nil && now.Sub(info.ModTime()) >= beingWritten {
			list = append(list, entry.Name())
		}
	}
	return list, nil
}

// beginsWith reports whether a regular file begins with text.
func beginsWith(folder fs.FS, name, text string) (bool, error) {
	info, err := fs.Stat(folder, name)
	if err != nil {
		return false, files.Reason(err)
	}
	if !info.Mode().IsRegular() {
		return false, nil
	}
	file, err := folder.Open(name)
	if err != nil {
		return false, files.Reason(err)
	}
	defer file.Close()
	head := make([]byte, len(text))
	_, err = io.ReadFull(file, head)
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return false, nil
	}
	return bytes.Equal(head, []byte(text)), err
}
