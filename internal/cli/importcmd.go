package cli

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"
	"github.com/tapetree/tapetree/internal/files"
	"github.com/tapetree/tapetree/internal/histories"
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

	used map[string]bool // names that this command has given
}

func (a *app) importCommand() *cobra.Command {
	o := &importOptions{used: map[string]bool{}}
	cmd := &cobra.Command{
		Use:   "import FILE…",
		Short: "Turn recorded traffic and other programs' histories into transcripts",
		Long: `Reads files of recorded traffic (HAR, as browsers, mitmproxy and Charles write
it; cassettes of go-vcr, x/vcr and vcrpy; httprr traces), finds out which agent
each request for a model answer belongs to, and writes a transcript, a scenario
and a golden history below --to, one set for each upstream. Answers that came as
a stream or that failed are kept as they were. Histories that other programs keep
become transcripts too: each answer an exchange. Secrets and paths are replaced;
what a transcript cannot hold is named. What a file is, its content says; it may
be packed with gzip. Of a folder, every file below it is read.

NAME is the file's name. The same file gives the same transcript.`,
		Example: "  tapetree import session.har --to .\n  tapetree replay session\n  tapetree import testdata/cassettes --to project",
		RunE:    a.wrap(func(cmd *cobra.Command, args []string) error { return a.importFiles(cmd.Context(), o, args) }),
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

// importFiles imports file after file. One that is refused does not stop the
// others.
func (a *app) importFiles(ctx context.Context, o *importOptions, args []string) error {
	if len(args) == 0 {
		return usagef("import takes a file of recorded traffic or a history, or several")
	}
	if o.to != "" {
		a.dir = o.to
	}
	if o.name != "" {
		if err := checkName(o.name); err != nil {
			return err
		}
	}
	if err := a.checkFolders(); err != nil {
		return err
	}
	var list []string
	for _, arg := range args {
		found, err := histories.Files(arg)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			return badInput("there is no file %s", arg)
		case err != nil:
			return err
		case len(found) == 0:
			return badInput("there is no file below %s", arg)
		}
		list = append(list, found...)
	}
	list = histories.Apart(list)
	if len(list) == 1 {
		return a.importFile(ctx, o, list[0])
	}
	if o.name != "" {
		return usagef("--name is for one file, and these are %d", len(list))
	}
	code := exitOK
	for _, path := range list {
		err := a.importFile(ctx, o, path)
		if ctx.Err() != nil {
			return err
		}
		if silentError, ok := errors.AsType[*exitError](err); err != nil && (!ok || silentError.err != nil) {
			fmt.Fprintf(a.err, "tapetree: %s\n", oneLine(a.secrets().Mask(err.Error())))
		}
		code = worse(code, exitCode(err))
	}
	return silent(code)
}

// worse is the code of the two that a person must see: bad input before what
// could not run, and that before findings.
func worse(a, b int) int {
	rank := map[int]int{exitFindings: 1, exitCannotRun: 2, exitUsage: 3}
	if rank[b] > rank[a] {
		return b
	}
	return a
}

// importFile imports one file of any format.
func (a *app) importFile(ctx context.Context, o *importOptions, path string) error {
	name := o.nameOf(path)
	har, err := histories.IsHAR(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return badInput("there is no file %s", path)
	case err != nil:
		return fmt.Errorf("read %s: %w", path, files.Reason(err))
	case har: // it may be larger than memory
		file, size, err := openHAR(path)
		if err != nil {
			return err
		}
		defer file.Close()
		traffic, err := transcripts.OpenHAR(path, file, size)
		if err != nil {
			return err
		}
		return a.importTraffic(ctx, o, traffic, name)
	}
	data, err := histories.Load(path)
	if err != nil {
		return err
	}
	traffic, err := histories.OpenTraffic(path, data)
	if err != nil {
		return err
	}
	if traffic != nil {
		return a.importTraffic(ctx, o, traffic, name)
	}
	return a.importHistories(ctx, o, path, data, name)
}

// importTraffic imports recorded traffic, which has times and requests.
func (a *app) importTraffic(ctx context.Context, o *importOptions, h *transcripts.Traffic, base string) error {
	source := scenarios.DirSource(a.dir)
	names := map[string]string{} // by transcript
	imported, err := record.ImportTraffic(ctx, h, record.TrafficOptions{
		Fold: o.folder(), Redact: a.secrets(), Attribute: attribution.Options{IgnoreSessionHeaders: o.ignoreHeaders},
		By: "tapetree " + version(), Together: o.together,
		Path: func(host string, several bool) (string, error) {
			name := base
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
	return a.judgeTraffic(ctx, source, h, imported, names)
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
