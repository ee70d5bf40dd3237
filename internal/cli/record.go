package cli

import (
	"context"
	"strconv"

	"github.com/spf13/cobra"
	"github.com/tapetree/tapetree/scenarios"
)

func (a *app) recordCommand() *cobra.Command {
	f := &liveFlags{}
	cmd := &cobra.Command{
		Use:   "record NAME",
		Short: "Run a scenario with a real model and record its transcript",
		Long: `Runs scenarios/NAME.txtar below --dir with a real model, in a workspace made
from the scenario, and writes transcripts/NAME.jsonl and, by replaying that,
golden/NAME.txt: look at their differences before you commit them.

The key is read from OPENAI_API_KEY; it reaches no file.`,
		Example:           "  tapetree record my-run --model gpt-4.1-mini",
		ValidArgsFunction: a.completeNames,
		RunE:              a.wrap(func(cmd *cobra.Command, args []string) error { return a.record(cmd.Context(), f, args) }),
	}
	f.add(cmd.Flags())
	return cmd
}

func (a *app) record(ctx context.Context, f *liveFlags, args []string) error {
	if len(args) != 1 {
		return usagef("record takes the name of one scenario")
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
	if err := f.check(scenario.Profile); err != nil {
		return err
	}
	if err := f.kept.fit(scenario); err != nil {
		return err
	}
	return a.live(ctx, &liveRun{name: args[0], profile: scenario.Profile, flags: f, start: func(ctx context.Context, o scenarios.LiveOptions) (*scenarios.Recorded, error) {
		return scenarios.Record(ctx, found.Source, args[0], o)
	}})
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

// numberText is a number that was given, "" for none.
func numberText(n int) string {
	if n == 0 {
		return ""
	}
	return strconv.Itoa(n)
}
