package cli

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/spf13/cobra"
	"github.com/tapetree/tapetree/internal/files"
	"github.com/tapetree/tapetree/record"
	"github.com/tapetree/tapetree/record/attribution"
	"github.com/tapetree/tapetree/runtime"
	"github.com/tapetree/tapetree/scenarios"
	"github.com/tapetree/tapetree/transcripts"
)

type importOptions struct {
	to, name        string
	workspace, home string
	together        bool
	replace         bool
	ignoreHeaders   bool
}

func (a *app) importCommand() *cobra.Command {
	o := &importOptions{}
	cmd := &cobra.Command{
		Use:   "import FILE.har",
		Short: "Turn recorded web traffic into transcripts of agents and subagents",
		Long: `Reads a HAR file, as browsers, mitmproxy and Charles write them, finds out which
agent each request for a model answer belongs to, and writes a transcript, a
scenario and a golden history below --to, one set for each upstream. Answers
that came as a stream or that failed are kept as they were; secrets and paths
are replaced; what a transcript cannot hold is named.

NAME is the file's name. The same file gives the same transcript.`,
		Example: "  tapetree import session.har --to .\n  tapetree replay session",
		ValidArgsFunction: func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
			return []string{"har"}, cobra.ShellCompDirectiveFilterFileExt
		},
		RunE: a.wrap(func(cmd *cobra.Command, args []string) error { return a.importHAR(cmd.Context(), o, args) }),
	}
	flags := cmd.Flags()
	flags.StringVar(&o.to, "to", "", "the `folder` that holds, or will hold, scenarios, transcripts and golden; else that of --dir")
	flags.StringVar(&o.name, "name", "", "the `name` of what is written; else that of the file")
	flags.StringVar(&o.workspace, "workspace", ".", "the `folder` that the agents worked in, which need not exist here; it becomes {{workspace}}")
	flags.StringVar(&o.home, "home", "", "the home `folder` there; it becomes {{home}}; else yours")
	flags.BoolVar(&o.together, "together", false, "one transcript although several upstreams were asked, for agents of one session that use several")
	flags.BoolVar(&o.replace, "replace", false, "replace transcripts of these names, and their golden histories")
	flags.BoolVar(&o.ignoreHeaders, "ignore-session-headers", false, "tell agents apart by what they say alone")
	return cmd
}

func (a *app) importHAR(ctx context.Context, o *importOptions, args []string) error {
	if len(args) != 1 {
		return usagef("import takes one HAR file")
	}
	if o.to != "" {
		a.dir = o.to
	}
	if o.name == "" {
		o.name = nameFor(args[0])
	}
	if err := checkName(o.name); err != nil {
		return err
	}
	if err := a.checkFolders(); err != nil {
		return err
	}
	file, size, err := openHAR(args[0])
	if err != nil {
		return err
	}
	defer file.Close()
	h, err := transcripts.OpenHAR(args[0], file, size)
	if err != nil {
		return err
	}
	source := scenarios.DirSource(a.dir)
	names := map[string]string{} // by transcript
	imported, err := record.ImportHAR(ctx, h, record.HAROptions{
		Fold: o.folder(), Redact: a.secrets(), Attribute: attribution.Options{IgnoreSessionHeaders: o.ignoreHeaders},
		By: "tapetree " + version(), Together: o.together,
		Path: func(host string, several bool) (string, error) {
			name := o.name
			if several {
				name += "-" + strings.Trim(notInName.ReplaceAllString(host, "-"), "-.")
			}
			path := source.TranscriptPath(name)
			names[path] = name
			return path, o.free(path)
		},
	})
	a.sayImported(h, imported)
	if err != nil {
		return endedEarly(ctx, err)
	}
	return a.judgeImported(ctx, source, h, imported, names)
}

// free refuses a path that is taken.
func (o *importOptions) free(path string) error {
	if _, err := os.Lstat(path); err == nil && !o.replace {
		return badInput("%s is there already: choose another --name, or --replace it", path)
	}
	return nil
}

// openHAR opens a regular file of any size.
func openHAR(path string) (*os.File, int64, error) {
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, 0, badInput("there is no file %s", path)
	case err != nil:
		return nil, 0, fmt.Errorf("read %s: %w", path, files.Reason(err))
	case !info.Mode().IsRegular():
		return nil, 0, badInput("%s is no regular file: a HAR file is read twice", path)
	}
	file, err := os.Open(path)
	if err != nil {
		return nil, 0, fmt.Errorf("read %s: %w", path, files.Reason(err))
	}
	return file, info.Size(), nil
}

var (
	notInName  = regexp.MustCompile(`[^a-z0-9._-]+`)
	notAtStart = regexp.MustCompile(`^[^a-z0-9]+`)
)

// nameFor makes a scenario's name of a file's.
func nameFor(path string) string {
	name := strings.ToLower(filepath.Base(path))
	for _, ending := range []string{".har", ".json"} {
		name = strings.TrimSuffix(name, ending)
	}
	name = strings.TrimRight(notInName.ReplaceAllString(name, "-"), "-.")
	if name = notAtStart.ReplaceAllString(name, ""); name == "" {
		return "imported"
	}
	return name
}

// folder replaces the paths of the machine that the agents ran on.
func (o *importOptions) folder() *runtime.Folder {
	home := o.home
	if home == "" {
		home, _ = os.UserHomeDir() // "" where there is none, which is left out
	}
	workspace := []string{o.workspace}
	if absolute, err := filepath.Abs(o.workspace); err == nil {
		workspace = []string{absolute}
		if real, err := filepath.EvalSymlinks(absolute); err == nil {
			workspace = append(workspace, real)
		}
	}
	return runtime.NewFolder(workspace, []string{os.TempDir()}, []string{home})
}

// sayImported names what could not be read or kept. Warnings are said also with
// --quiet.
func (a *app) sayImported(h *transcripts.HAR, imported *record.HARImport) {
	for _, warning := range h.Warnings {
		fmt.Fprintf(a.err, "warning: %s\n", oneLine(a.secrets().Mask(warning)))
	}
	for _, warning := range imported.Warnings {
		fmt.Fprintf(a.err, "warning: %s: %s\n", h.Path, oneLine(a.secrets().Mask(warning)))
	}
	if len(imported.LeftOut) > 0 {
		a.say("left out, as no part of a session:")
	}
	for _, left := range imported.LeftOut {
		a.say("  %s", oneLine(a.secrets().Mask(left)))
	}
}

// judgeImported writes scenarios and golden histories, and says how each
// transcript replays.
func (a *app) judgeImported(ctx context.Context, source scenarios.Source, h *transcripts.HAR, imported *record.HARImport, names map[string]string) error {
	code := exitOK
	if imported.Hidden > 0 {
		code = exitFindings
		fmt.Fprintf(a.err, "warning: %s: turns of agents are hidden: of %s for a model answer the file does not hold what was asked\n", h.Path, plural(imported.Hidden, "request"))
	}
	for _, f := range imported.Transcripts {
		name := names[f.Path]
		a.say("wrote %s: %s of %s", f.Path, plural(len(f.Exchanges), "exchange"), plural(countAgents(f), "agent"))
		if err := a.importedScenario(source, name, h.Path); err != nil {
			return err
		}
		result := scenarios.ReplayTape(ctx, source, name, true)
		if result.Wrote != "" {
			a.say("wrote %s", result.Wrote)
		}
		switch result.Status {
		case scenarios.Error:
			return fmt.Errorf("imported, but %s cannot be replayed: %w", f.Path, result.Err)
		case scenarios.Pass:
			a.say("replay it with: tapetree replay %s%s", name, a.dirFlag())
		default:
			code = exitFindings
			fmt.Fprintf(a.err, "imported, but the replay has findings; look at it with `tapetree replay %s%s`:\n", name, a.dirFlag())
			for _, f := range reported(result).Findings {
				fmt.Fprintf(a.err, "  %s\n", oneLine(a.secrets().Mask(f.String())))
			}
		}
	}
	if h.Torn != nil {
		return &exitError{exitFindings, h.Torn}
	}
	return silent(code)
}

// importedScenario writes the scenario of an imported transcript, unless there
// is one.
func (a *app) importedScenario(source scenarios.Source, name, from string) error {
	path := source.ScenarioPath(name)
	if _, err := os.Lstat(path); err == nil {
		return nil
	}
	comment := fmt.Sprintf("# Imported from %s.\n", oneLine(filepath.Base(from)))
	if err := writeFile(path, []byte(comment)); err != nil {
		return err
	}
	a.say("wrote %s", path)
	return nil
}

func countAgents(f *transcripts.File) int {
	agents := map[runtime.Path]bool{}
	for _, e := range f.Exchanges {
		agents[e.Agent] = true
	}
	return len(agents)
}
