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
	"github.com/tapetree/tapetree/transcripts"
)

type rebaseOptions struct {
	reseal bool
}

func (a *app) rebaseCommand() *cobra.Command {
	o := &rebaseOptions{}
	cmd := &cobra.Command{
		Use:   "rebase --reseal NAME…",
		Short: "Recompute the sums of a transcript that was edited by hand",
		Long: `Every line of a recorded transcript carries a sum of itself, so that an edit
does not go unnoticed. --reseal computes the sums anew and changes nothing else:
do it after an edit you meant, then look at what the edit does to the replay.

NAME stands for transcripts/NAME.jsonl below --dir; a path is a path.`,
		Example:           "  tapetree rebase --reseal my-run",
		ValidArgsFunction: a.completeNames,
		RunE:              a.wrap(func(_ *cobra.Command, args []string) error { return a.rebase(o, args) }),
	}
	cmd.Flags().BoolVar(&o.reseal, "reseal", false, "compute the sums of all lines anew")
	return cmd
}

func (a *app) rebase(o *rebaseOptions, args []string) error {
	switch {
	case !o.reseal:
		return usagef("say what to do: --reseal")
	case len(args) == 0:
		return usagef("name at least one transcript")
	}
	for _, arg := range args {
		if err := a.reseal(arg); err != nil {
			return err
		}
	}
	return nil
}

func (a *app) reseal(arg string) error {
	path, data, err := a.readTranscript(arg)
	if err != nil {
		return err
	}
	sealed, changed, err := transcripts.Reseal(path, data)
	if err != nil {
		return err
	}
	if changed > 0 {
		if err := writeFile(path, sealed); err != nil {
			return err
		}
	}
	switch changed {
	case 0:
		_, err = fmt.Fprintf(a.out, "%s: all sums are right, nothing to do\n", path)
	case 1:
		_, err = fmt.Fprintf(a.out, "%s: resealed 1 line\n", path)
	default:
		_, err = fmt.Fprintf(a.out, "%s: resealed %d lines\n", path, changed)
	}
	return err
}

// readTranscript reads the transcript that an argument names: a path, or a
// name in the transcripts folder.
func (a *app) readTranscript(arg string) (path string, data []byte, err error) {
	path = arg
	if !isPath(arg) && !strings.Contains(arg, ".jsonl") {
		path = filepath.Join(a.dir, "transcripts", arg+".jsonl")
	}
	data, err = files.ReadPath(path, files.TranscriptLimit)
	switch {
	case err == nil:
		return path, data, nil
	case errors.Is(err, fs.ErrNotExist):
		return path, nil, &exitError{exitCannotRun, fmt.Errorf("there is no transcript %s%s", path, firstOf(didYouMean(filepath.Base(arg), transcriptNames(filepath.Dir(path)), ""), ": `tapetree run --prompt TEXT --record NAME` records one"))}
	default:
		return path, nil, fmt.Errorf("read transcript %s: %w", path, err)
	}
}

// transcriptNames lists the transcripts of a folder.
func transcriptNames(dir string) []string {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil
	}
	var names []string
	for _, entry := range entries {
		if name, ok := strings.CutSuffix(entry.Name(), ".jsonl"); ok {
			names = append(names, name)
		}
	}
	return names
}
