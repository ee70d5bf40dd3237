package cli

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"
	"github.com/tapetree/tapetree/internal/files"
	"github.com/tapetree/tapetree/scenarios"
)

// firstScenario is the scenario of the suite that a new project begins with.
const firstScenario = "isolation-file-outlives-child"

// attributes keeps line ends as they are compared, and shows transcripts
// readably in differences.
const attributes = `scenarios/*.txtar text eol=lf
transcripts/*.jsonl text eol=lf
golden/*.txt text eol=lf
*.jsonl diff=tapetree
`

// ignored are the files of a project that are for no commit: recordings that
// broke off, histories that wait to be accepted, and files of a program that was
// killed while it wrote them.
const ignored = `transcripts/*.partial
transcripts/.*.tmp
golden/*.new
golden/.*.tmp
`

func (a *app) initCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "init",
		Short: "Make the folders and a first scenario",
		Long: `Makes scenarios, transcripts and golden below --dir with a first scenario that
replays right away, a .gitattributes and a .gitignore. What exists is left as it is.`,
		Args: noArgs,
		RunE: a.wrap(func(*cobra.Command, []string) error { return a.initialize() }),
	}
}

func (a *app) initialize() error {
	if info, err := os.Stat(a.dir); err == nil && !info.IsDir() {
		return badInput("--dir %s is no folder", a.dir)
	}
	if err := a.checkFolders(); err != nil {
		return err
	}
	files, err := firstFiles()
	if err != nil {
		return err
	}
	for _, f := range files {
		if err := a.makeFile(f); err != nil {
			return err
		}
	}
	_, err = fmt.Fprintf(a.out, `
Replay it:
  tapetree replay%[1]s
Record a session of your own:
  tapetree run --prompt TEXT --record NAME%[1]s
Read transcripts in git diff:
  git config diff.tapetree.textconv "tapetree show --textconv"
`, a.dirFlag())
	return err
}

// newFile is one file that init makes.
type newFile struct {
	path string // below --dir, with slashes
	data []byte
	hint string // what to do where the file exists already
}

// firstFiles takes the first scenario out of the suite.
func firstFiles() ([]newFile, error) {
	suite := scenarios.BuiltinSource()
	made := []newFile{
		{path: ".gitattributes", data: []byte(attributes), hint: "; it should have these lines:\n" + attributes},
		{path: ".gitignore", data: []byte(ignored), hint: "; it should have these lines:\n" + ignored},
	}
	for _, part := range []struct {
		folder, file string
		from         fs.FS
	}{
		{"scenarios", firstScenario + ".txtar", suite.Scenarios},
		{"transcripts", firstScenario + ".jsonl", suite.Transcripts},
		{"golden", firstScenario + ".txt", suite.Goldens},
	} {
		data, err := fs.ReadFile(part.from, part.file)
		if err != nil {
			return nil, fmt.Errorf("take %s out of the suite inside tapetree: %w", part.file, files.Reason(err))
		}
		made = append(made, newFile{path: part.folder + "/" + part.file, data: data})
	}
	return made, nil
}

// makeFile writes a file that is not there and says so.
func (a *app) makeFile(f newFile) error {
	path := filepath.Join(a.dir, filepath.FromSlash(f.path))
	_, err := os.Lstat(path)
	switch {
	case err == nil:
		hint := f.hint
		if there, err := os.ReadFile(path); err == nil && strings.Contains(string(there), string(f.data)) {
			hint = ""
		}
		_, err = fmt.Fprintf(a.out, "kept %s, which exists%s\n", path, hint)
		return err
	case !errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("look for %s: %w", path, files.Reason(err))
	}
	if err := writeFile(path, f.data); err != nil {
		return err
	}
	_, err = fmt.Fprintf(a.out, "made %s\n", path)
	return err
}
