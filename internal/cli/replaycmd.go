package cli

import (
	"context"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"github.com/tapetree/tapetree/record"
	"github.com/tapetree/tapetree/record/proxy"
	"github.com/tapetree/tapetree/scenarios"
)

// programFlags are the flags of replay for programs that are not ours.
type programFlags struct {
	upstreamFlags
	offline      bool
	speed        float64
	onMiss       string
	faults       []string
	allowCommand bool
}

// onMiss lists what --on-miss takes.
var onMiss = []string{"refuse", "live"}

// needProgram are the flags that nothing goes by unless a program runs.
var needProgram = []string{"offline", "speed", "on-miss", "ignore-session-headers", "upstream"}

func (f *programFlags) add(flags *pflag.FlagSet) {
	flags.BoolVar(&f.allowCommand, "allow-command", false, "let scenarios run the program in their command line, unconfined unless --offline is given")
	flags.BoolVar(&f.offline, "offline", false, "give the program a network of its own, with us in it and nobody else")
	flags.Float64Var(&f.speed, "speed", 0, "how fast answers come, as a `FACTOR`: a number, 0 at once, 1 as recorded, 2 twice as fast")
	flags.StringVar(&f.onMiss, "on-miss", "refuse", "what becomes of a request that is not in the transcript: refuse, or live, which asks --upstream and records the answer; refused when CI is set")
	flags.StringArrayVar(&f.faults, "fault", nil, "an answer goes wrong, `'AGENT#TURN KIND'`, to see how the agent copes, as in 'root#2 status 429 retry-after=1' (docs/agents.md); once for each")
	f.upstreamFlags.add(flags)
}

// programWishes checks the flags and puts them into wishes.
func (a *app) programWishes(o *replayOptions, wishes *scenarios.ReplayOptions) error {
	switch {
	case !slices.Contains(onMiss, o.onMiss):
		return usagef("--on-miss is %s, not %q%s", strings.Join(onMiss, " or "), o.onMiss, didYouMean(o.onMiss, onMiss, ""))
	case o.speed < 0:
		return usagef("--speed is a number from 0, not %g", o.speed)
	case o.onMiss == "live" && a.env("CI") != "":
		return usagef("--on-miss live is refused because CI is set: new exchanges are recorded by a person, then committed")
	case len(o.faults) > 0 && o.update:
		return usagef("--update would accept what --fault breaks: write the faults into the scenario, or leave one out")
	case o.onMiss != "live" && o.upstream != "":
		return usagef("--upstream goes with --on-miss live")
	case o.onMiss == "live" && o.builtin:
		return usagef("--on-miss live cannot change the suite inside tapetree: leave out --builtin")
	}
	for _, text := range o.faults {
		fault, err := record.ParseFault(text)
		if err != nil {
			return usagef("--fault: %s", strings.TrimPrefix(err.Error(), "parse fault "))
		}
		wishes.Faults = append(wishes.Faults, fault)
	}
	wishes.AllowCommand, wishes.Offline, wishes.Speed = o.allowCommand, o.offline, o.speed
	wishes.IgnoreSessionHeaders = o.ignoreSessionHeaders
	if o.onMiss == "live" {
		openAI, anthropic, err := a.upstreams(&o.upstreamFlags)
		if err != nil {
			return err
		}
		wishes.Live = proxy.Onward(proxy.Options{Upstream: openAI, AnthropicUpstream: anthropic})
	}
	return nil
}

// replayProgram replays one transcript to a program, whose stdout is its own.
func (a *app) replayProgram(ctx context.Context, o *replayOptions, cmd *cobra.Command, names, command []string) error {
	switch {
	case len(names) != 1:
		return usagef("replay takes one name before --, as in: replay my-agent -- python agent.py")
	case len(command) == 0:
		return usagef("after -- stands the command that is to be answered from the transcript")
	case o.format != "text" && o.out == "":
		return usagef("--format %s needs --out FILE: stdout is the command's own", o.format)
	}
	if err := onlyWith(cmd, "a whole suite, not with -- COMMAND", "tag", "jobs", "child-jobs", "shuffle", "seed"); err != nil {
		return err
	}
	wishes, err := a.replayWishes(o)
	if err != nil {
		return err
	}
	if err := a.programWishes(o, &wishes); err != nil {
		return err
	}
	t, err := a.programTarget(o, names[0])
	if err != nil {
		return err
	}
	wishes.Command = &scenarios.Command{Args: command, Stdin: a.in, Stdout: a.out, Stderr: a.err}
	outlivePipes()
	interrupted := interruptions()
	result := scenarios.Replay(ctx, t.source, t.name, wishes)
	ended := interrupted() && slices.ContainsFunc(result.Findings, func(f record.Finding) bool { return f.Code == "replay/command-exit" })
	if err := a.report(o, a.err, []scenarios.Result{result}); err != nil {
		return err
	}
	if ended {
		return silent(exitInterrupted)
	}
	return silent(resultCode(result))
}

// programTarget finds the scenario, or a transcript that has none.
func (a *app) programTarget(o *replayOptions, name string) (target, error) {
	list, err := a.targets(o, []string{name})
	if err == nil {
		return list[0], nil
	}
	source := scenarios.DirSource(a.dir)
	if _, missing := os.Stat(source.TranscriptPath(name)); scenarioName.MatchString(name) && missing == nil && !o.builtin {
		return target{source, name}, nil
	}
	return target{}, err
}
