package cli

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/tapetree/tapetree/scenarios"
)

// scenarioName is the form of a name that is a file's name in three folders.
var scenarioName = regexp.MustCompile(`^[a-z0-9][a-z0-9._-]*$`)

// checkName refuses what cannot be the name of a scenario.
func checkName(name string) error {
	if !scenarioName.MatchString(name) {
		return usagef("%q is no scenario name: use lower-case letters, digits, dots, - and _, as in my-first-run", name)
	}
	return nil
}

// isPath reports whether an argument is a path rather than a name.
func isPath(arg string) bool {
	return strings.ContainsAny(arg, `/\`)
}

// splitScenarioPath turns the path DIR/scenarios/NAME.txtar into DIR and NAME.
func splitScenarioPath(path string) (dir, name string, err error) {
	clean := filepath.Clean(filepath.FromSlash(path))
	name, ok := strings.CutSuffix(filepath.Base(clean), ".txtar")
	folder := filepath.Dir(clean)
	if absolute, err := filepath.Abs(folder); err == nil {
		if !ok || filepath.Base(absolute) != "scenarios" {
			return "", "", usagef("%s is no scenario: a path looks like scenarios/NAME.txtar", path)
		}
	}
	return filepath.Dir(folder), name, nil
}

// source is where the scenarios come from, and which of them there are.
type source struct {
	scenarios.Source
	names []string
	where string // as messages name it
}

// openSource lists the scenarios of the project in --dir, or of the program.
func (a *app) openSource(builtin bool) (*source, error) {
	if builtin {
		names, err := scenarios.BuiltinSource().Names()
		return &source{scenarios.BuiltinSource(), names, "the suite inside tapetree"}, err
	}
	if info, err := os.Stat(a.dir); err != nil || !info.IsDir() {
		return nil, badInput("--dir %s is no folder", a.dir)
	}
	if err := a.checkFolders(); err != nil {
		return nil, err
	}
	where := a.folder("scenarios")
	found := scenarios.DirSource(a.dir)
	names, err := found.Names()
	return &source{found, names, where}, err
}

// folder names a folder of the project as messages do.
func (a *app) folder(name string) string {
	where := filepath.Join(a.dir, name)
	if !filepath.IsAbs(where) && !strings.HasPrefix(where, "..") {
		where = "." + string(filepath.Separator) + where
	}
	return where
}

// checkFolders refuses a project in which a file stands where a folder belongs,
// before anything is asked of a model or written.
func (a *app) checkFolders() error {
	for _, name := range []string{"scenarios", "transcripts", "golden"} {
		if info, err := os.Stat(a.folder(name)); err == nil && !info.IsDir() {
			return badInput("%s is a file; a folder of %s belongs there", a.folder(name), strings.Replace(name, "golden", "golden histories", 1))
		}
	}
	return nil
}

// find checks that a scenario with this name exists.
func (s *source) find(name string) error {
	if slices.Contains(s.names, name) {
		return nil
	}
	return badInput("there is no scenario %q in %s%s", name, s.where, didYouMean(name, s.names, ""))
}

// completeNames offers the scenarios of --dir to the shell.
func (a *app) completeNames(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
	found, err := a.openSource(false)
	if err != nil {
		return nil, cobra.ShellCompDirectiveDefault
	}
	return found.names, cobra.ShellCompDirectiveNoFileComp
}
