package cli

import (
	"context"
	"fmt"
	"net/url"
	"os"

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
	if err := a.goldenStays(args[0]); err != nil {
		return err
	}
	a.sayUpstreams(openAI, anthropic)
	outlivePipes()
	recorded, err := scenarios.RecordCommand(ctx, scenarios.DirSource(a.dir), args[0], scenarios.RecordCommandOptions{
		Command:  scenarios.Command{Args: command, Stdin: a.in, Stdout: a.out, Stderr: a.err},
		Upstream: openAI, AnthropicUpstream: anthropic,
		IgnoreSessionHeaders: o.ignoreSessionHeaders, By: "tapetree " + version(), Replace: o.replace,
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

// goldenStays refuses to write a golden history anew where nobody looks at it.
func (a *app) goldenStays(name string) error {
	if a.env("CI") == "" {
		return nil
	}
	golden := name
	if found, err := a.openSource(false); err == nil {
		if scenario, err := found.Load(name); err == nil {
			golden = scenario.Golden
		}
	}
	path := scenarios.DirSource(a.dir).GoldenPath(golden)
	if _, err := os.Lstat(path); err != nil {
		return nil // a first recording accepts nothing
	}
	return usagef("record would write %s anew, and is refused because CI is set: golden histories are accepted by a person, then committed (unset CI to record it here)", path)
}

// sayUpstreams says where requests go on to.
func (a *app) sayUpstreams(openAI, anthropic *url.URL) {
	text := "upstream: " + a.plainURL(openAI)
	if anthropic != nil {
		text += ", for Anthropic's wire " + a.plainURL(anthropic)
	}
	a.say("%s", text)
}

// plainURL is an address without what may be secret in it.
func (a *app) plainURL(u *url.URL) string {
	plain := *u
	plain.User, plain.RawQuery, plain.ForceQuery, plain.Fragment, plain.RawFragment = nil, "", false, "", ""
	return a.secrets().Mask(plain.String())
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
	a.sayLeftover(r.Leftover)
	if r.Kept != "" {
		a.say("%s: what was finished is kept as %s, and no transcript was replaced (record it with --replace to take it all the same)", firstOf(r.Because, "the command did not come to its end"), r.Kept)
	}
	if r.Other != "" {
		a.say("%s", r.Other)
	}
	a.sayWrote(r.Scenario, r.Transcript, r.Replay)
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
