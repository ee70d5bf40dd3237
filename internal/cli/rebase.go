package cli

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	goruntime "runtime"
	"strings"

	"github.com/spf13/cobra"
	"github.com/tapetree/tapetree/golden"
	"github.com/tapetree/tapetree/internal/files"
	"github.com/tapetree/tapetree/transcripts"
)

type rebaseOptions struct {
	reseal       bool
	format       bool
	dryRun       bool
	allowShell   bool
	allowCommand bool
	offline      bool
	jobs         int
}

func (a *app) rebaseCommand() *cobra.Command {
	o := &rebaseOptions{}
	cmd := &cobra.Command{
		Use:   "rebase [NAME…] [-- COMMAND…]",
		Short: "Record new requests and keep the responses, without asking a model",
		Long: `After you changed a prompt, a tool or the program, runs the scenarios with the
responses of their transcripts and records the requests that are sent now. A
transcript changes only where they do: a prompt is one line. A golden history
is written anew where the session reads otherwise. What compares as equal stays
as it is, byte for byte.

Without NAME: every scenario of ./scenarios. Responses are never made up: where
one is missing, or one would be left over, nothing of that scenario is written
and you are told to record it again. Results of tools that are other ones now
are named: look whether the responses still make sense.

What was recorded from a program is rebased with it: rebase NAME -- COMMAND.

--reseal and --format work on transcripts alone. Every line of a recorded one
carries a sum of itself, so that an edit does not go unnoticed: --reseal
computes the sums anew and changes nothing else, after an edit you meant.
--format writes a transcript in the form that tapetree itself gives it.

NAME stands for scenarios/NAME.txtar, with --reseal and --format for
transcripts/NAME.jsonl, below --dir; a path is a path.`,
		Example: `  tapetree rebase                    all of ./scenarios
  tapetree rebase my-run --dry-run   say what would change, write nothing
  tapetree rebase my-agent -- python agent.py
  tapetree rebase --reseal my-run`,
		ValidArgsFunction: a.completeNames,
		RunE:              a.wrap(func(cmd *cobra.Command, args []string) error { return a.rebase(cmd, o, args) }),
	}
	flags := cmd.Flags()
	flags.BoolVar(&o.reseal, "reseal", false, "compute the sums of all lines of a transcript anew")
	flags.BoolVar(&o.format, "format", false, "write a transcript in the canonical form of the newest format")
	flags.BoolVar(&o.dryRun, "dry-run", false, "write nothing; exit 1 when something would change")
	flags.BoolVar(&o.allowShell, "allow-shell", false, "let shell=live run commands, unconfined")
	flags.BoolVar(&o.allowCommand, "allow-command", false, "run the program in a scenario's command line, in place of one after --")
	flags.BoolVar(&o.offline, "offline", false, "give the program a network of its own, with us in it and nobody else")
	flags.IntVar(&o.jobs, "jobs", goruntime.NumCPU(), "how many scenarios at once")
	return cmd
}

func (a *app) rebase(cmd *cobra.Command, o *rebaseOptions, args []string) error {
	names, command, given := program(cmd, args)
	alone := o.reseal || o.format
	switch {
	case o.reseal && o.format:
		return usagef("--format computes the sums anew too, once the transcript can be read: give --reseal first, then --format")
	case !alone:
		return a.rebaseScenarios(cmd, o, names, command, given)
	case given:
		return usagef("--reseal and --format run no program: leave out what stands after --")
	case len(names) == 0:
		return usagef("name at least one transcript")
	}
	if err := onlyWith(cmd, "a rebase of requests, not with --reseal or --format", "dry-run", "allow-shell", "allow-command", "offline", "jobs"); err != nil {
		return err
	}
	change := a.reseal
	if o.format {
		change = a.reformat
	}
	for _, name := range names {
		if err := change(name); err != nil {
			return err
		}
	}
	return nil
}

// reformat writes a transcript in canonical form.
func (a *app) reformat(arg string) error {
	path, data, err := a.readTranscript(arg)
	if err != nil {
		return err
	}
	file, err := transcripts.Parse(path, data)
	if err != nil {
		return err
	}
	if file.Torn > 0 {
		return badInput("%s:%d: the last line breaks off and would be lost: take it out, or restore it, first", path, file.Torn)
	}
	formatted := []byte(golden.WithLineEnds(string(file.Encode()), string(data)))
	lines, of := changedLines(data, formatted)
	if bytes.Equal(data, formatted) {
		return a.tell("%s: format %d, in canonical form, nothing to do", path, transcripts.Format)
	}
	if _, err := transcripts.Parse(path, formatted); err != nil {
		return fmt.Errorf("what would be written could not be read again: %w", err)
	}
	if err := a.writeUnlessCI(path, formatted); err != nil {
		return err
	}
	return a.tell("%s: format %d, wrote %d of %s anew", path, transcripts.Format, lines, plural(of, "line"))
}

// writeUnlessCI writes a transcript where a person is there to commit it.
func (a *app) writeUnlessCI(path string, data []byte) error {
	if a.env("CI") != "" {
		return usagef("%s would be written anew, which is refused because CI is set: it is changed by a person, then committed", path)
	}
	return writeFile(path, data)
}

// tell writes a line of the command's own output.
func (a *app) tell(format string, args ...any) error {
	_, err := fmt.Fprintln(a.out, golden.Visible(fmt.Sprintf(format, args...)))
	return err
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
		if err := a.writeUnlessCI(path, sealed); err != nil {
			return err
		}
		return a.tell("%s: resealed %s", path, plural(changed, "line"))
	}
	return a.tell("%s: all sums are right, nothing to do", path)
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
		return path, nil, noTranscript(path, arg)
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
