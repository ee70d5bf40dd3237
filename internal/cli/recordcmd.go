package cli

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"github.com/tapetree/tapetree/scenarios"
)

// ownFlags are the flags of record that our own runner goes by.
func ownFlags() []string {
	flags := pflag.NewFlagSet("own", pflag.ContinueOnError)
	(&liveFlags{}).add(flags)
	names := []string{"workspace"}
	flags.VisitAll(func(f *pflag.Flag) { names = append(names, f.Name) })
	return names
}

// recordProgram runs a program with its model calls passing through us, and
// ends with the program's own exit code.
func (a *app) recordProgram(ctx context.Context, o *recordOptions, cmd *cobra.Command, args, command []string) error {
	switch {
	case len(args) != 1:
		return usagef("record takes one name before --, as in: record my-agent -- python agent.py")
	case len(command) == 0 && !o.allowCommand:
		return usagef("after -- stands the command to be recorded")
	}
	if err := onlyWith(cmd, "a scenario of tapetree's own runner, not with -- COMMAND", ownFlags()...); err != nil {
		return err
	}
	if err := checkName(args[0]); err != nil {
		return err
	}
	if _, err := a.openSource(false); err != nil {
		return err
	}
	openAI, anthropic, err := a.upstreams(&o.upstreamFlags)
	if err != nil {
		return err
	}
	if command == nil {
		if _, err := a.commandOfScenario(args[0]); err != nil {
			return err
		}
	}
	outlivePipes()
	recorded, err := scenarios.RecordCommand(ctx, scenarios.DirSource(a.dir), args[0], scenarios.RecordCommandOptions{
		Command:  scenarios.Command{Args: command, Stdin: a.in, Stdout: a.out, Stderr: a.err},
		Upstream: openAI, AnthropicUpstream: anthropic,
		IgnoreSessionHeaders: o.ignoreSessionHeaders, By: "tapetree " + version(),
	})
	if recorded != nil {
		a.sayRecorded(recorded)
	}
	if err != nil {
		return err
	}
	if recorded.Replay != nil {
		if replayed, err := a.sayReplayWith(args[0], " -- COMMAND", recorded.Replay); replayed == exitCannotRun {
			return err
		}
	}
	return silent(recorded.Code)
}

// commandOfScenario is the program in the scenario itself.
func (a *app) commandOfScenario(name string) ([]string, error) {
	found, err := a.openSource(false)
	if err == nil {
		err = found.find(name)
	}
	if err != nil {
		return nil, err
	}
	scenario, err := found.Load(name)
	if err == nil && scenario.Command == nil {
		err = badInput("%s has no line `command: …`: give the command after --", scenario.File)
	}
	if err != nil {
		return nil, err
	}
	return scenario.Command, nil
}

// sayRecorded names the files of a program's recording, and what there is to
// know about them.
func (a *app) sayRecorded(r *scenarios.CommandRecording) {
	if r.Leftover != "" {
		a.say("an earlier recording that broke off is kept as %s", r.Leftover)
	}
	if r.Kept != "" {
		a.say("the command was ended by a signal: what was finished is kept as %s, and no transcript was replaced", r.Kept)
	}
	written := []string{r.Scenario, r.Transcript}
	if r.Replay != nil {
		written = append(written, r.Replay.Wrote)
	}
	for _, path := range written {
		if path != "" {
			a.say("wrote %s", path)
		}
	}
	if r.Replay != nil {
		a.say("%s", recordedSize(r))
	}
	for _, note := range r.Notes {
		a.say("note: %s", oneLine(note))
	}
}

// recordedSize says how much was recorded, and how the command ended.
func recordedSize(r *scenarios.CommandRecording) string {
	text := fmt.Sprintf("%s of %s", plural(r.Replay.Exchanges, "exchange"), plural(r.Replay.Agents, "agent"))
	if r.Code != exitOK {
		text += fmt.Sprintf("; the command exited with %d", r.Code)
	}
	return text
}
