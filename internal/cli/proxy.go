package cli

import (
	"context"
	"sync"

	"github.com/spf13/cobra"
	"github.com/tapetree/tapetree/scenarios"
)

type proxyOptions struct {
	upstreamFlags
	listen string
	strict bool
}

func (a *app) proxyCommand() *cobra.Command {
	o := &proxyOptions{}
	cmd := &cobra.Command{
		Use:   "proxy NAME",
		Short: "Record programs that are started elsewhere, as a proxy, until it is interrupted",
		Long: `Passes what programs ask on to --upstream and records it: what comes to /v1 as
NAME, what comes to /s/OTHER/v1 as OTHER, any number of sessions at once. GET
/healthz says that it runs, DELETE /s/OTHER/ ends a session. A session that has
ended, as all do when the proxy is interrupted, is kept as
transcripts/NAME.jsonl, golden/NAME.txt and, if there is none,
scenarios/NAME.txtar below --dir.

Keys pass through to the upstream and reach no file.`,
		Example: "  tapetree proxy my-agent --listen 127.0.0.1:4711",
		RunE:    a.wrap(func(cmd *cobra.Command, args []string) error { return a.proxy(cmd.Context(), o, args) }),
	}
	flags := cmd.Flags()
	flags.StringVar(&o.listen, "listen", anyPort, "the `address` to listen at; port 0 is any free one")
	flags.BoolVar(&o.strict, "strict", false, "refuse paths that are neither a model's nor one of the small endpoints beside it")
	o.add(flags)
	return cmd
}

func (a *app) proxy(ctx context.Context, o *proxyOptions, args []string) error {
	if len(args) != 1 {
		return usagef("proxy takes one name, which the recording gets, as in: proxy my-agent")
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
	kept := scenarios.NewProxied(scenarios.DirSource(a.dir), args[0], scenarios.RecordCommandOptions{
		Upstream: openAI, AnthropicUpstream: anthropic, IgnoreSessionHeaders: o.ignoreSessionHeaders, By: "tapetree " + version(),
		Keep: a.env("CI") != "",
	})
	told := &keptSessions{app: a}
	sessions, err := kept.Proxy(o.strict, told.ended)
	if err != nil {
		return err
	}
	err = a.runServer(ctx, o.listen, sessions, "")
	sessions.Close()
	if err != nil {
		return err
	}
	if told.count == 0 {
		return &exitError{exitCannotRun, scenarios.ErrNothingRecorded}
	}
	return silent(told.code)
}

// keptSessions says of every recording what became of it.
type keptSessions struct {
	app *app

	mu    sync.Mutex
	count int
	code  int
}

// ended takes a recording that has ended.
func (k *keptSessions) ended(name string, r *scenarios.CommandRecording, err error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.count++
	if r != nil {
		k.app.sayRecorded(r)
	}
	code := exitCode(err)
	if err == nil && r.Replay != nil {
		code, err = k.app.sayReplay(name, r.Replay)
		if code == exitFindings { // what a program did wrong is no fault of its recording
			code = exitOK
		}
	}
	if err != nil {
		k.app.say("session %s: %s", name, oneLine(k.app.secrets().Mask(err.Error())))
	}
	k.code = max(k.code, code)
}
