package scenarios

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/tapetree/tapetree/record"
)

// guessed are the kinds of secrets that only their neighbourhood tells. A
// workspace is full of texts that look like these and are none.
var guessed = []string{"value", "bearer", "url"}

// noSecrets refuses to keep what holds a secret: a transcript has placeholders
// for them, a scenario and a snapshot hold the very text. With workspace not "",
// that folder is to be kept, but for what hide names.
func noSecrets(scenario *Scenario, workspace string, hide func(name string) bool, redact *record.Redactor) error {
	if kinds := redact.Find(scenario.Prompt); len(kinds) > 0 {
		return fmt.Errorf("%w: a secret (%s) stands in the prompt, and would in %s: leave it out, or run without --record", ErrBadInput, strings.Join(kinds, ", "), scenario.File)
	}
	if workspace == "" {
		return nil
	}
	return walkKept(workspace, hide, func(path, name string) error {
		data, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		kinds := slices.DeleteFunc(redact.Find(string(data)), func(kind string) bool { return slices.Contains(guessed, kind) })
		if len(kinds) == 0 {
			return nil
		}
		return fmt.Errorf("%w: a secret (%s) stands in %s, and would in the snapshot: move that file out of the workspace, or record without --snapshot", ErrBadInput, strings.Join(kinds, ", "), name)
	})
}

// walkKept calls visit for every file of a workspace that a snapshot keeps, with
// its path and its name below the workspace.
func walkKept(workspace string, hide func(name string) bool, visit func(path, name string) error) error {
	return filepath.WalkDir(workspace, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name, err := filepath.Rel(workspace, path)
		if err != nil {
			return err
		}
		name = filepath.ToSlash(name)
		hidden := hide(name)
		if entry.IsDir() && (entry.Name() == ".git" || hidden) {
			return filepath.SkipDir
		}
		if !entry.Type().IsRegular() || hidden {
			return nil
		}
		return visit(path, name)
	})
}
