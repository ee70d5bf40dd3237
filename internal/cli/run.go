package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/spf13/cobra"
	"github.com/tapetree/tapetree/golden"
	"github.com/tapetree/tapetree/internal/files"
	"github.com/tapetree/tapetree/runtime"
	"github.com/tapetree/tapetree/runtime/profiles"
	"github.com/tapetree/tapetree/scenarios"
)

type runOptions struct {
	liveFlags
	profile   string
	prompt    string
	workspace string
	mode      string
	maxTurns  int
	record    string
	snapshot  bool
	format    string
}

// profileNames lists the profiles that run takes.
var profileNames = profiles.Names()

// runFormats lists what run writes to stdout: the answer, or all events.
var runFormats = []string{"text", "json"}

// modes lists what --mode takes.
var modes = []string{string(runtime.ModeDefault), string(runtime.ModeAcceptEdits), string(runtime.ModeYolo), string(runtime.ModeReadOnly)}

func (a *app) runCommand() *cobra.Command {
	o := &runOptions{}
	cmd := &cobra.Command{
		Use:   "run --prompt TEXT",
		Short: "Run an agent in a folder of yours, with a real model",
		Long: `Runs an agent and its subagents in the workspace. What happens goes to stderr,
children indented and named; the final text goes to stdout. Changes and
commands ask you first.

The key is read from OPENAI_API_KEY. With --record NAME the session is kept as
scenarios/NAME.txtar, transcripts/NAME.jsonl and golden/NAME.txt below --dir,
and "tapetree replay NAME" gives it back without a key, your answers included:
its tools are answered from the transcript. With --snapshot too, the workspace
as it was before (without .git, links and older snapshots) is kept beside the
scenario, and file tools run for real on a copy of it.

With --format json every event of parent and children is one JSON object a line
on stdout, as it happens, and the last line is the result with what was used.

At the end stands what the session used, by model, and what its subagents
bought: the context that the parent was spared against all tokens spent.`,
		Example: `  tapetree run --prompt "What does this project test?"
  tapetree run --profile mini --sub-model small --prompt "Which packages are there, and what is each for?"
  tapetree run --prompt "Fix the typo in README.md" --record typo`,
		Args: noArgs,
		RunE: a.wrap(func(cmd *cobra.Command, _ []string) error { return a.run(cmd.Context(), o) }),
	}
	flags := cmd.Flags()
	flags.StringVar(&o.profile, "profile", "p06", "the kind of agent: "+strings.Join(profileNames, ", "))
	flags.StringVar(&o.prompt, "prompt", "", "what to do, as `text`; - reads it from stdin")
	flags.StringVar(&o.workspace, "workspace", ".", "the `folder` the agent works in")
	flags.StringVar(&o.mode, "mode", string(runtime.ModeDefault), strings.Join(modes, ", "))
	flags.IntVar(&o.maxTurns, "max-turns", 0, "answers before the agent is stopped; 0: what the profile says")
	flags.StringVar(&o.record, "record", "", "record the session under this `name`")
	flags.BoolVar(&o.snapshot, "snapshot", false, "with --record: keep a copy of the workspace, so that file tools run for real in a replay")
	flags.StringVar(&o.format, "format", "text", strings.Join(runFormats, " or "))
	o.add(flags)
	completeWords(cmd, "profile", profileNames)
	completeWords(cmd, "mode", modes)
	completeWords(cmd, "approve", approvals)
	return cmd
}

func (a *app) run(ctx context.Context, o *runOptions) error {
	scenario, err := a.runScenario(o)
	if err != nil {
		return err
	}
	source := scenarios.DirSource(a.dir)
	start := func(ctx context.Context, options scenarios.LiveOptions) (*scenarios.Recorded, error) {
		if o.record != "" {
			return scenarios.RecordNew(ctx, source, scenario, o.snapshot, options)
		}
		live, err := scenarios.Live(ctx, source, scenario, "", options)
		return &scenarios.Recorded{Recording: live}, err
	}
	return a.live(ctx, &liveRun{name: scenario.Name, profile: o.profile, flags: &o.liveFlags, workspace: o.workspace, events: o.format == "json", start: start})
}

// runScenario checks the flags and puts them into a scenario.
func (a *app) runScenario(o *runOptions) (*scenarios.Scenario, error) {
	switch {
	case !slices.Contains(profileNames, o.profile):
		return nil, usagef("--profile is %s, not %q", strings.Join(profileNames, " or "), o.profile)
	case !slices.Contains(modes, o.mode):
		return nil, usagef("--mode is one of %s, not %q%s", strings.Join(modes, ", "), o.mode, didYouMean(o.mode, modes, ""))
	case o.snapshot && o.record == "":
		return nil, usagef("--snapshot goes with --record NAME")
	case o.maxTurns < 0 || o.maxTurns > maxTurns(o.profile):
		return nil, usagef("--max-turns is a number from 1 to %d, not %d", maxTurns(o.profile), o.maxTurns)
	case !slices.Contains(runFormats, o.format):
		return nil, usagef("--format is %s, not %q", strings.Join(runFormats, " or "), o.format)
	}
	if err := o.check(o.profile); err != nil {
		return nil, err
	}
	if err := isWorkspace(o.workspace); err != nil {
		return nil, err
	}
	prompt, err := a.promptText(o.prompt)
	if err != nil {
		return nil, err
	}
	name := firstOf(o.record, "run")
	if err := checkName(name); err != nil {
		return nil, err
	}
	source := scenarios.DirSource(a.dir)
	if o.record != "" {
		if err := a.checkFolders(); err != nil {
			return nil, err
		}
		if err := a.mustBeNew(name, source.ScenarioPath(name), source.TranscriptPath(name)); err != nil {
			return nil, err
		}
	}
	return &scenarios.Scenario{
		File: source.ScenarioPath(name), Name: name, Transcript: name, Golden: name,
		Profile: o.profile, Prompt: prompt, Mode: runtime.Mode(o.mode), MaxTurns: o.maxTurns,
		SubModel: o.subModel, ChildPolicy: runtime.Mode(o.kept.childPolicy), ContextBudget: o.kept.contextBudget, OutputTokens: o.kept.outputTokens,
	}, nil
}

// maxTurns is the most turns that a profile's parent can be given.
func maxTurns(profile string) int {
	known, _ := profiles.ByName(profile) // checked before
	return known.MaxTurns
}

// longestPrompt is how many bytes of stdin are read for a prompt: several times
// what the largest context holds.
const longestPrompt = 16 << 20

// promptText is the prompt of --prompt, or of stdin for "-".
func (a *app) promptText(flag string) (string, error) {
	if flag == "-" {
		data, err := io.ReadAll(io.LimitReader(a.in, longestPrompt+1))
		switch {
		case err != nil:
			return "", fmt.Errorf("read prompt from stdin: %w", err)
		case len(data) > longestPrompt:
			return "", badInput("the prompt on stdin is longer than %d MiB, which no model reads", longestPrompt>>20)
		}
		flag = strings.TrimSuffix(string(data), "\n")
	}
	if strings.TrimSpace(flag) == "" {
		return "", usagef("--prompt says what to do, and is empty")
	}
	return flag, nil
}

// mustBeNew refuses to record over files that exist: a scenario that is there
// is recorded anew with `tapetree record`.
func (a *app) mustBeNew(name string, paths ...string) error {
	for _, path := range paths {
		if _, err := os.Lstat(path); err == nil {
			return badInput("%s exists: choose another name, or record that scenario anew with `tapetree record %s%s`", path, name, a.dirFlag())
		} else if !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("look for %s: %w", path, files.Reason(err))
		}
	}
	return nil
}

// finalText is the answer as it goes to stdout: as it is into a pipe or file,
// made harmless on a terminal.
func (a *app) finalText(text string) string {
	if isTerminal(a.out) {
		text = harmless(text)
	}
	return strings.TrimSuffix(text, "\n") + "\n"
}

// harmless shows what could steer a terminal (control characters, those that
// turn the direction of text, bytes that are no UTF-8) and leaves all else, such
// as tabs, spaces and emoji, as it is.
func harmless(text string) string {
	var out strings.Builder
	for rest := text; rest != ""; {
		r, size := utf8.DecodeRuneInString(rest)
		switch {
		case r == '\n' || r == '\t':
			out.WriteString(rest[:size])
		case r == utf8.RuneError && size == 1, unicode.IsControl(r), unicode.Is(unicode.Bidi_Control, r):
			out.WriteString(golden.Visible(rest[:size]))
		default:
			out.WriteString(rest[:size])
		}
		rest = rest[size:]
	}
	return out.String()
}
