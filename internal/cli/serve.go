package cli

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/spf13/cobra"
	"github.com/tapetree/tapetree/internal/agentcmd"
	"github.com/tapetree/tapetree/internal/report"
	"github.com/tapetree/tapetree/record"
	"github.com/tapetree/tapetree/record/proxy"
	"github.com/tapetree/tapetree/scenarios"
)

type serveOptions struct {
	replayOptions
	listen string
}

// anyPort is what --listen is when it is not given.
const anyPort = "127.0.0.1:0"

func (a *app) serveCommand() *cobra.Command {
	o := &serveOptions{}
	cmd := &cobra.Command{
		Use:   "serve [NAME…]",
		Short: "Answer programs from transcripts, as a server, until it is interrupted",
		Long: `Answers programs of yours from what was recorded with "record NAME -- COMMAND"
or "proxy": no key, no network, any number of sessions at once. The base URL of
the transcript NAME is /s/NAME/v1, that of a session of its own /s/NAME@ID/v1;
/v1 plays the only transcript, or the one that begins with the first request.
GET /healthz says that it runs.

Every session is judged like a replay when the server is interrupted: the report
goes to stdout or --out. Without NAME: every scenario of ./scenarios whose
transcript was recorded by a program.`,
		Example:           "  tapetree serve my-agent --listen 127.0.0.1:4711",
		ValidArgsFunction: a.completeNames,
		RunE:              a.wrap(func(cmd *cobra.Command, args []string) error { return a.serve(cmd.Context(), o, args) }),
	}
	flags := cmd.Flags()
	flags.StringVar(&o.listen, "listen", anyPort, "the `address` to listen at; port 0 is any free one")
	flags.BoolVar(&o.strict, "strict", false, "let warnings fail too, and paths that were not recorded")
	flags.StringVar(&o.maxAge, "max-age", "", "warn of transcripts older than this `time`, as in 90d or 12h")
	flags.StringVar(&o.format, "format", "text", "text, json or junit")
	flags.StringVar(&o.out, "out", "", "write the report to this `file`")
	flags.StringVar(&o.prices, "prices", "", "what tokens cost, for want/budget, as a JSON `file`; else the list prices inside tapetree")
	flags.Float64Var(&o.speed, "speed", 0, "how fast answers come, as a `FACTOR`: a number, 0 at once, 1 as recorded, 2 twice as fast")
	flags.StringArrayVar(&o.faults, "fault", nil, "an answer goes wrong, `'AGENT#TURN KIND'`, as in 'root#2 status 429 retry-after=1' (docs/agents.md); once for each")
	o.addAttribution(flags)
	completeWords(cmd, "format", report.Formats)
	return cmd
}

func (a *app) serve(ctx context.Context, o *serveOptions, args []string) error {
	o.jobs, o.childJobs, o.seed, o.onMiss = 1, 1, firstSeed, "refuse"
	wishes, err := a.replayWishes(&o.replayOptions)
	if err != nil {
		return err
	}
	if err := a.programWishes(&o.replayOptions, &wishes); err != nil {
		return err
	}
	source, served, err := a.openServed(args, wishes)
	if err != nil {
		return err
	}
	defer func() {
		for _, s := range served {
			s.Close()
		}
	}()
	ended := &endedSessions{app: a, source: source, served: served}
	sessions, err := ended.replay()
	if err != nil {
		return badInput("%v", err)
	}
	err = a.runServer(ctx, o.listen, sessions, agentcmd.OfflineKey)
	sessions.Close()
	ended.unknown(sessions.Unknown())
	if reportErr := a.report(&o.replayOptions, a.out, ended.inOrder()); reportErr != nil {
		return reportErr
	}
	if err != nil {
		return err
	}
	return silent(ended.code())
}

// openServed opens what the arguments name, or all that programs have recorded.
func (a *app) openServed(args []string, wishes scenarios.ReplayOptions) (scenarios.Source, map[string]*scenarios.Served, error) {
	found, err := a.openSource(false)
	if err != nil {
		return scenarios.Source{}, nil, err
	}
	names := args
	if len(args) == 0 {
		names = slices.DeleteFunc(slices.Clone(found.names), func(name string) bool { return !found.Foreign(name) })
		if len(names) == 0 {
			return scenarios.Source{}, nil, badInput("there is no transcript of a program in %s: `tapetree record NAME -- COMMAND` records one", a.folder("transcripts"))
		}
	}
	served := map[string]*scenarios.Served{}
	for _, name := range names {
		err := checkName(name)
		if err == nil && served[name] == nil {
			served[name], err = scenarios.OpenServed(found.Source, name, wishes)
		}
		if err != nil {
			delete(served, name)
			for _, s := range served {
				s.Close()
			}
			return scenarios.Source{}, nil, err
		}
	}
	return found.Source, served, nil
}

// endedSessions are the sessions of a server that have ended, judged.
type endedSessions struct {
	app    *app
	source scenarios.Source
	served map[string]*scenarios.Served

	mu      sync.Mutex
	results []scenarios.Result
}

// replay is the server's answers.
func (e *endedSessions) replay() (*proxy.Replay, error) {
	o := proxy.ReplayOptions{
		Playback: func(name string) record.PlaybackOptions { return e.served[name].Playback() },
		Ended:    e.judge,
	}
	for _, s := range e.served {
		o.Tapes = append(o.Tapes, s.Tape())
	}
	slices.SortFunc(o.Tapes, func(x, y proxy.Tape) int { return strings.Compare(x.Name, y.Name) })
	return proxy.NewReplay(o)
}

// judge takes a session that has ended.
func (e *endedSessions) judge(r proxy.SessionReport) {
	name := firstOf(r.Session, r.Tape)
	if r.Run > 1 {
		name += fmt.Sprintf(" (run %d)", r.Run)
	}
	result := e.served[r.Tape].Judge(e.source, name, r.PlaybackReport)
	e.mu.Lock()
	defer e.mu.Unlock()
	e.results = append(e.results, result)
	e.app.say("session %s ended: %s", name, result.Status)
}

// unknown takes the sessions that were asked for and that there are not, each a
// failure. It says so when nobody asked for anything.
func (e *endedSessions) unknown(sessions []proxy.UnknownSession) {
	for _, s := range sessions {
		name := firstOf(s.Session, "(default session)")
		e.results = append(e.results, scenarios.Result{
			Name: name, Status: scenarios.Fail, Findings: []record.Finding{{Code: "replay/missing", Message: s.Why}},
		})
	}
	if len(e.results) == 0 {
		e.app.say("nobody asked: no request for a model answer came, and nothing was judged")
	}
}

// inOrder returns the results by the names of their sessions.
func (e *endedSessions) inOrder() []scenarios.Result {
	slices.SortStableFunc(e.results, func(x, y scenarios.Result) int { return strings.Compare(x.Name, y.Name) })
	return e.results
}

// code is the exit code that the results ask for.
func (e *endedSessions) code() int {
	code := exitOK
	for _, r := range e.results {
		code = max(code, resultCode(r))
	}
	return code
}

// runServer serves until it is interrupted, and says where. key is what clients
// are to take for a key; "" leaves them theirs.
func (a *app) runServer(ctx context.Context, address string, sessions proxy.Sessions, key string) error {
	server, err := listen("--listen", address, sessions, proxy.ServerOptions{})
	if err != nil {
		return err
	}
	ctx, stop := a.interruptible(ctx, "ending: requests under way are finished (again to quit at once)")
	defer stop()
	fmt.Fprintf(a.err, "listening at %s\n", server.URL())
	lines := []string{"OPENAI_BASE_URL=" + server.URL() + "/v1", "ANTHROPIC_BASE_URL=" + server.URL()}
	if key != "" {
		lines = append(lines, "OPENAI_API_KEY="+key, "ANTHROPIC_API_KEY="+key)
	}
	for _, line := range lines {
		a.say("  export %s", line)
	}
	return untilEnded(ctx, server)
}
