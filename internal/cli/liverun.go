package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"time"

	"github.com/tapetree/tapetree/internal/prices"
	"github.com/tapetree/tapetree/runtime"
	"github.com/tapetree/tapetree/scenarios"
)

// liveRun is one session with a real model: start runs it, and records it
// where it is to be recorded.
type liveRun struct {
	name      string
	profile   string
	flags     *liveFlags
	workspace string // used in place; "": made from the scenario
	events    bool   // as JSON on stdout, in place of lines on stderr and the answer on stdout
	start     func(ctx context.Context, o scenarios.LiveOptions) (*scenarios.Recorded, error)
}

// live runs the session and says what was kept and how it ended.
func (a *app) live(ctx context.Context, l *liveRun) error {
	if err := l.flags.check(l.profile); err != nil {
		return err
	}
	table, err := a.table(l.flags.prices)
	if err != nil {
		return err
	}
	secrets := a.secrets()
	a.screen = &console{out: a.err, hide: secrets.MaskKnown}
	w := &watcher{screen: a.screen, quiet: a.quiet || l.events, hide: secrets.Mask}
	options, err := a.liveOptions(l.flags, w.screen)
	if err != nil {
		return err
	}
	options.Workspace, options.Observe = l.workspace, w.observe
	stream := &eventStream{out: a.out}
	if l.events {
		options.Observe = func(e runtime.Event) { w.observe(e); stream.observe(e) }
	}
	outlivePipes()
	ctx, stop := a.interruptible(ctx, "interrupted: ending the session (again to quit at once)")
	defer stop()
	recorded, err := a.watched(ctx, w, l, options)
	if recorded != nil && recorded.Recording != nil {
		if !l.events {
			err = errors.Join(err, a.printFinal(recorded.Run))
			a.sayUsage(recorded.Run, table)
		}
		a.sayWritten(recorded)
	}
	if l.events {
		err = errors.Join(err, stream.result(runOf(recorded), err, table))
	}
	if err != nil {
		return endedEarly(ctx, noAnswer(err, w.lastUpstream()))
	}
	code := stopCode(recorded.Run.Stop)
	if recorded.Replay != nil {
		replayed, err := a.sayReplay(l.name, recorded.Replay)
		if err != nil {
			return err
		}
		code = max(code, replayed)
	}
	return a.sayStop(recorded.Run, w.lastUpstream(), code)
}

// watched runs the session with its live lines, where there are any.
func (a *app) watched(ctx context.Context, w *watcher, l *liveRun, options scenarios.LiveOptions) (*scenarios.Recorded, error) {
	if scenarios.HasOwnSettings(l.profile) {
		w.titles = &titles{}
		w.status = &children{now: time.Now}
		if !w.quiet {
			w.screen.live = a.newLiveLines(a.err, w.status.lines)
		}
	}
	if w.screen.live != nil {
		done := make(chan struct{})
		defer close(done)
		go w.tick(done)
	}
	defer w.screen.end()
	return l.start(ctx, options)
}

// tick draws the live lines each second, for the seconds in them.
func (w *watcher) tick(done chan struct{}) {
	ticker := time.NewTicker(time.Second)
	defer ticker.Stop()
	for {
		select {
		case <-ticker.C:
			w.screen.refresh()
		case <-done:
			return
		}
	}
}

// runOf is what a live run came to, as far as it got; nil when it did not begin.
func runOf(recorded *scenarios.Recorded) *runtime.Run {
	if recorded == nil || recorded.Recording == nil {
		return nil
	}
	return recorded.Run
}

// sayUsage tells what the session used.
func (a *app) sayUsage(run *runtime.Run, table *prices.Table) {
	if run == nil || len(run.Turns) == 0 {
		return
	}
	for _, line := range usageTable(run, table) {
		a.say("%s", line)
	}
}

// sayWritten names the files of a recording.
func (a *app) sayWritten(recorded *scenarios.Recorded) {
	a.sayLeftover(recorded.Leftover)
	if recorded.Kept != "" {
		a.say("the session did not come to its end: what was finished is kept as %s, and no transcript was replaced", recorded.Kept)
	}
	a.sayWrote(recorded.Scenario, recorded.Transcript, recorded.Replay)
}

// sayLeftover names the file of an earlier recording that broke off, if there is
// one.
func (a *app) sayLeftover(path string) {
	if path != "" {
		a.say("an earlier recording that broke off is kept as %s", path)
	}
}

// sayWrote names the files that a recording wrote; "" is none.
func (a *app) sayWrote(scenario, transcript string, replay *scenarios.Result) {
	written := []string{scenario, transcript}
	if replay != nil {
		written = append(written, replay.Wrote)
	}
	for _, path := range written {
		if path != "" {
			a.say("wrote %s", path)
		}
	}
}

// noAnswer says why nothing was recorded: the upstream's reason, where it gave
// one.
func noAnswer(err error, upstream *runtime.UpstreamError) error {
	if upstream == nil || !errors.Is(err, scenarios.ErrNothingRecorded) {
		return err
	}
	return &exitError{exitCannotRun, fmt.Errorf("the model gave no answer, and nothing is written: %w%s", upstream, upstreamHint(upstream))}
}

// upstreamHint is what to look at for the failures that a user can mend.
func upstreamHint(e *runtime.UpstreamError) string {
	switch e.Status {
	case 0:
		return "; check --base-url or OPENAI_BASE_URL"
	case http.StatusUnauthorized, http.StatusForbidden:
		return "; check OPENAI_API_KEY"
	case http.StatusNotFound:
		return "; check the base URL, which often ends in /v1, and the model"
	default:
		return ""
	}
}

// endedEarly gives an interrupted session its own exit code.
func endedEarly(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return &exitError{exitInterrupted, fmt.Errorf("interrupted: %w", err)}
	}
	return err
}

// printFinal writes the answer to stdout.
func (a *app) printFinal(run *runtime.Run) error {
	if run == nil || run.Final == "" {
		return nil
	}
	if _, err := io.WriteString(a.out, a.finalText(a.secrets().MaskKnown(run.Final))); err != nil {
		return fmt.Errorf("write the answer to stdout: %w", err)
	}
	return nil
}

// sayStop ends with code, and with a line where there was no answer.
func (a *app) sayStop(run *runtime.Run, upstream *runtime.UpstreamError, code int) error {
	switch run.Stop {
	case runtime.StopAnswer:
		return silent(code)
	case runtime.StopUpstreamError:
		if upstream != nil {
			return &exitError{code, fmt.Errorf("the model gave no answer: %w%s", upstream, upstreamHint(upstream))}
		}
		return &exitError{code, errors.New("the model gave no answer")}
	case runtime.StopCancelled:
		return &exitError{code, errors.New("interrupted")}
	default:
		return &exitError{code, fmt.Errorf("ended without an answer: %s after %s", run.Stop, plural(len(run.Turns), "turn"))}
	}
}

// sayReplay tells how a recording replays and returns the exit code that this
// asks for: a recording that does not replay is a finding.
func (a *app) sayReplay(name string, result *scenarios.Result) (int, error) {
	return a.sayReplayWith(name, "", result)
}

// sayReplayWith does so for a replay whose command line ends in more than the
// name.
func (a *app) sayReplayWith(name, more string, result *scenarios.Result) (int, error) {
	switch result.Status {
	case scenarios.Pass:
		a.say("replay it with: tapetree replay %s%s%s", name, a.dirFlag(), more)
		return exitOK, nil
	case scenarios.Error:
		return exitCannotRun, fmt.Errorf("recorded, but it cannot be replayed: %w", result.Err)
	}
	fmt.Fprintf(a.err, "recorded, but the replay differs; look at it with `tapetree replay %s%s`:\n", name, a.dirFlag())
	for _, f := range reported(*result).Findings {
		fmt.Fprintf(a.err, "  %s\n", oneLine(f.String()))
	}
	return exitFindings, nil
}
