package cli

import (
	"context"
	"os"
	"strconv"

	"github.com/spf13/cobra"
	"github.com/tapetree/tapetree/scenarios"
	"github.com/tapetree/tapetree/transcripts"
)

type recordOptions struct {
	liveFlags
	upstreamFlags
	workspace    string
	allowCommand bool
	replace      bool
}

func (a *app) recordCommand() *cobra.Command {
	o := &recordOptions{}
	cmd := &cobra.Command{
		Use:   "record NAME [-- COMMAND…]",
		Short: "Run a scenario, or a program of yours, with a real model and record its transcript",
		Long: `Runs scenarios/NAME.txtar below --dir with a real model, in a workspace made
from the scenario, and writes transcripts/NAME.jsonl and, by replaying that,
golden/NAME.txt: look at their differences before you commit them. A scenario
that brings no workspace starts in an empty folder, or in that of --workspace.

The key is read from OPENAI_API_KEY; it reaches no file.

With -- COMMAND the agent is that program, in whatever language it is written:
it runs in this folder (or in the scenario's workspace) with OPENAI_BASE_URL,
ANTHROPIC_BASE_URL and the like pointing at a proxy of ours, which passes its
requests on to --upstream and records them, parent and subagents each under
its own name. The scenario is written too if there is none. Output, input,
signals and the exit code are the program's own; 3 says that it was not
recorded.`,
		Example: `  tapetree record my-run --model gpt-4.1-mini
  tapetree record my-agent -- python agent.py "Fix the typo in README.md"
  tapetree record my-agent --upstream http://localhost:11434/v1 -- node agent.mjs`,
		ValidArgsFunction: a.completeNames,
		RunE: a.wrap(func(cmd *cobra.Command, args []string) error {
			if before, command, given := program(cmd, args); given || o.allowCommand {
				return a.recordProgram(cmd.Context(), o, cmd, before, command)
			}
			if err := onlyWith(cmd, "-- COMMAND or --allow-command", "upstream", "ignore-session-headers", "replace"); err != nil {
				return err
			}
			return a.record(cmd.Context(), o, args)
		}),
	}
	o.liveFlags.add(cmd.Flags())
	o.upstreamFlags.add(cmd.Flags())
	cmd.Flags().BoolVar(&o.allowCommand, "allow-command", false, "record the program in the scenario's command line, in place of one after --")
	cmd.Flags().BoolVar(&o.replace, "replace", false, "let the recording of a program that failed take the place of an older one")
	cmd.Flags().StringVar(&o.workspace, "workspace", "", "the `folder` the agent works in, for a scenario that brings none")
	completeWords(cmd, "approve", approvals)
	return cmd
}

func (a *app) record(ctx context.Context, o *recordOptions, args []string) error {
	if len(args) != 1 {
		return orForgotten(usagef("record takes the name of one scenario"), "record", args)
	}
	if err := checkName(args[0]); err != nil {
		return err
	}
	found, err := a.openSource(false)
	if err != nil {
		return err
	}
	if len(found.names) == 0 {
		return badInput("there are no scenarios in %s: `tapetree init` makes a first one, `tapetree run --record NAME` records a session of yours", found.where)
	}
	if err := found.find(args[0]); err != nil {
		return err
	}
	scenario, err := found.Load(args[0])
	if err != nil {
		return err
	}
	if scenario.Prompt == "" {
		return badInput("%s has no prompt: its agent is a program, so record it with `tapetree record %s -- COMMAND`, or with --allow-command for the one in it", scenario.File, args[0])
	}
	if err := a.goldenStays(args[0]); err != nil {
		return err
	}
	if err := o.check(scenario.Profile); err != nil {
		return err
	}
	if err := o.kept.fit(scenario); err != nil {
		return err
	}
	if err := a.recordWorkspace(scenario, o.workspace); err != nil {
		return err
	}
	if err := a.recordModel(scenario, &o.liveFlags); err != nil {
		return err
	}
	o.answered = scenario.Approve == "all" || scenario.Approve == "none" || scenario.Approve == "script"
	return a.live(ctx, &liveRun{name: args[0], profile: scenario.Profile, flags: &o.liveFlags, workspace: o.workspace, start: func(ctx context.Context, live scenarios.LiveOptions) (*scenarios.Recorded, error) {
		return scenarios.Record(ctx, found.Source, args[0], live)
	}})
}

// recordModel finds the model: the scenario's, else that of --model or
// OPENAI_MODEL, else the one the scenario was recorded with before.
func (a *app) recordModel(scenario *scenarios.Scenario, f *liveFlags) error {
	if scenario.Model != "" {
		if f.model != "" && f.model != scenario.Model {
			return usagef("%s names the model %s: leave out --model, or change the scenario", scenario.File, scenario.Model)
		}
		f.model = scenario.Model
		return nil
	}
	path, data, err := a.readTranscript(scenario.Transcript)
	if err != nil {
		return nil // there is none yet
	}
	if old, err := transcripts.Parse(path, data); err == nil && len(old.Header.Models) > 0 {
		f.usual = old.Header.Models[0]
	}
	return nil
}

// fit refuses a setting that the scenario does not have: a replay of the
// recording goes by the scenario.
func (k keptFlags) fit(scenario *scenarios.Scenario) error {
	for _, setting := range []struct{ key, flag, has string }{
		{"child-policy", k.childPolicy, string(scenario.ChildPolicy)},
		{"context-budget", numberText(k.contextBudget), numberText(scenario.ContextBudget)},
		{"output-tokens", numberText(k.outputTokens), numberText(scenario.OutputTokens)},
	} {
		if setting.flag != "" && setting.flag != setting.has {
			return badInput("--%s %s: a replay goes by %s, so write the line `%s: %s` there", setting.key, setting.flag, scenario.File, setting.key, setting.flag)
		}
	}
	return nil
}

// recordWorkspace checks --workspace, and says so where the agent will find an
// empty folder: a session of run, recorded anew, would be another one there.
func (a *app) recordWorkspace(scenario *scenarios.Scenario, workspace string) error {
	name := scenario.Name
	switch {
	case workspace == "" && !scenario.BringsWorkspace():
		a.say("%s brings no workspace: the agent starts in an empty folder (--workspace DIR gives it one of yours)", name)
	case workspace == "":
	case scenario.BringsWorkspace():
		return usagef("--workspace is for a scenario that brings no workspace, and %s brings one", name)
	default:
		return isWorkspace(workspace)
	}
	return nil
}

// isWorkspace refuses a --workspace that is no folder.
func isWorkspace(path string) error {
	if info, err := os.Stat(path); err != nil || !info.IsDir() {
		return badInput("--workspace %s is no folder", path)
	}
	return nil
}

// numberText is a number that was given, "" for none.
func numberText(n int) string {
	if n == 0 {
		return ""
	}
	return strconv.Itoa(n)
}
