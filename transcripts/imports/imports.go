// Package imports reads the histories that other programs keep of their
// sessions. Each format is an Importer; what a file is, its content says.
package imports

import (
	"io/fs"
	"iter"
	"os"
	"path/filepath"

	"github.com/tapetree/tapetree/transcripts"
)

// Importer reads one format.
type Importer struct {
	Name  string // as History.Format has it
	Title string // as a person would call it
	// Detect reports whether data is in the format. It looks at no more than it
	// needs, and may be wrong about a file that is broken at its beginning.
	Detect func(data []byte) bool
	// Read gives the sessions of a file. A line that cannot be read is a warning
	// of the history and the rest is read; only a file of which nothing can be
	// read is an error, a *transcripts.SyntaxError.
	Read func(path string, data []byte) iter.Seq2[*transcripts.History, error]
	// Beside, of a format that keeps the subagents of a session in files of their
	// own, does the same with the folder in which the file is. nil: none does.
	Beside func(path string, data []byte, folder fs.FS) iter.Seq2[*transcripts.History, error]
}

// ReadFile gives the sessions of a file on disk, whose bytes are data, with what
// the format keeps beside it. Nothing outside the file's folder is read.
func (i *Importer) ReadFile(path string, data []byte) iter.Seq2[*transcripts.History, error] {
	return func(yield func(*transcripts.History, error) bool) {
		read := func() iter.Seq2[*transcripts.History, error] { return i.Read(path, data) }
		if i.Beside != nil {
			if folder, err := os.OpenRoot(filepath.Dir(path)); err == nil {
				defer folder.Close()
				read = func() iter.Seq2[*transcripts.History, error] { return i.Beside(path, data, folder.FS()) }
			}
		}
		for h, err := range read() {
			if !yield(h, err) || err != nil {
				return
			}
		}
	}
}

// All lists the formats in the order in which they are tried: those with the
// most telling marks first.
func All() []Importer { return importers }

var importers = []Importer{
	claudeCode,
	pi,
	codex,
	miniSWEAgent,
	sweAgent,
	tauBench,
	copilotSDK,
	openAILines,
	openAI,
}

// Detect returns the importer of a file's format, nil when none knows it.
func Detect(data []byte) *Importer {
	for i := range importers {
		if importers[i].Detect(data) {
			return &importers[i]
		}
	}
	return nil
}
