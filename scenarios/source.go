package scenarios

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sort"
	"strings"

	"github.com/tapetree/tapetree/golden"
	"github.com/tapetree/tapetree/internal/files"
	"github.com/tapetree/tapetree/transcripts"
)

// Source is where scenarios, transcripts and goldens are read from and, with
// Dir set, written to.
type Source struct {
	Scenarios   fs.FS
	Transcripts fs.FS
	Goldens     fs.FS
	Dir         string // "" for the suite inside the binary: nothing is written
}

// The folders of a project and the file name endings in them.
const (
	scenarioFolder, scenarioEnding     = "scenarios", ".txtar"
	transcriptFolder, transcriptEnding = "transcripts", ".jsonl"
	goldenFolder, goldenEnding         = "golden", ".txt"
	defaultsFile                       = "_defaults.txtar"
)

// DirSource reads a project's folders below dir; they need not exist.
func DirSource(dir string) Source {
	below := func(folder string) fs.FS { return os.DirFS(filepath.Join(dir, folder)) }
	return Source{
		Scenarios:   below(scenarioFolder),
		Transcripts: below(transcriptFolder),
		Goldens:     below(goldenFolder),
		Dir:         dir,
	}
}

// BuiltinSource reads the suite inside the binary.
func BuiltinSource() Source {
	return Source{Scenarios: Suite, Transcripts: transcripts.Suite, Goldens: golden.Suite}
}

// Names lists the scenarios, sorted. A source without a scenarios folder has
// none.
func (s Source) Names() ([]string, error) {
	entries, err := fs.ReadDir(s.Scenarios, ".")
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("list %s: %w", s.display(scenarioFolder, ""), err)
	}
	var names []string
	for _, entry := range entries {
		name, isScenario := strings.CutSuffix(entry.Name(), scenarioEnding)
		if isScenario && entry.Name() != defaultsFile && !entry.IsDir() {
			names = append(names, name)
		}
	}
	sort.Strings(names)
	return names, nil
}

// Load reads one scenario with the source's defaults.
func (s Source) Load(name string) (*Scenario, error) {
	defaults, err := s.defaults()
	if err != nil {
		return nil, err
	}
	file := s.display(scenarioFolder, name+scenarioEnding)
	data, err := files.Read(s.Scenarios, name+scenarioEnding, files.Limit)
	if err != nil {
		return nil, fmt.Errorf("read scenario %s: %w", file, err)
	}
	return Parse(file, data, defaults)
}

func (s Source) defaults() (*Defaults, error) {
	data, err := files.Read(s.Scenarios, defaultsFile, files.Limit)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	file := s.display(scenarioFolder, defaultsFile)
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", file, err)
	}
	return ParseDefaults(file, data)
}

// transcript reads the named transcript. It returns fs.ErrNotExist in the
// error's chain when there is none.
func (s Source) transcript(name string) (*transcripts.File, error) {
	file := s.display(transcriptFolder, name+transcriptEnding)
	data, err := files.Read(s.Transcripts, name+transcriptEnding, files.TranscriptLimit)
	if err != nil {
		return nil, fmt.Errorf("read transcript %s: %w", file, err)
	}
	return transcripts.Parse(file, data)
}

// display names a file as messages do: relative to where the user stands.
func (s Source) display(folder, file string) string {
	if s.Dir == "" {
		return "builtin:" + folder + "/" + file
	}
	return filepath.Join(s.Dir, folder, file)
}

// TranscriptPath is where the named transcript is written.
func (s Source) TranscriptPath(name string) string {
	return filepath.Join(s.Dir, transcriptFolder, name+transcriptEnding)
}

// ScenarioPath is where the named scenario is written.
func (s Source) ScenarioPath(name string) string {
	return filepath.Join(s.Dir, scenarioFolder, name+scenarioEnding)
}

// GoldenPath is where the named golden history is written.
func (s Source) GoldenPath(name string) string {
	return filepath.Join(s.Dir, goldenFolder, name+goldenEnding)
}

// GoldenDir is the folder of the golden histories.
func (s Source) GoldenDir() string { return filepath.Join(s.Dir, goldenFolder) }
