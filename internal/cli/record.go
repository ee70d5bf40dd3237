package cli

import (
	"context"

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
	return a.live(ctx, &liveRun{name: args[0], flags: f, start: func(ctx context.Context, o scenarios.LiveOptions) (*scenarios.Recorded, error) {
		return scenarios.Record(ctx, found.Source, args[0], o)
	}})
}
