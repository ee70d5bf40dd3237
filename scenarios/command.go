package scenarios

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"time"

	"github.com/tapetree/tapetree/internal/agentcmd"
	"github.com/tapetree/tapetree/internal/files"
	"github.com/tapetree/tapetree/record"
	"github.com/tapetree/tapetree/record/proxy"
	"github.com/tapetree/tapetree/transcripts"
)

// Command is a program of somebody else's that is the agent of a session.
type Command struct {
	Args    []string
	Dir     string   // where it runs if the scenario brings no workspace; "": the current folder
	Environ []string // nil: os.Environ()
	Stdin   io.Reader
	Stdout  io.Writer
	Stderr  io.Writer
	ended   func() // called when the program has ended; nil: nothing
}

// dir is where the command runs if the scenario brings no workspace.
func (c *Command) dir() (string, error) {
	if c.Dir != "" {
		return c.Dir, nil
	}
	dir, err := os.Getwd()
	if err != nil {
		return "", fmt.Errorf("%w: find the current folder: %w", ErrCannotRun, files.Reason(err))
	}
	return dir, nil
}

func (c *Command) environ() []string {
	if c.Environ == nil {
		return os.Environ()
	}
	return c.Environ
}

// execute runs a command in the world of s, its model calls answered by
// sessions, and returns its exit code when it and its connections have ended.
func (s *session) execute(ctx context.Context, c *Command, sessions proxy.Sessions, offline, replay bool) (code int, err error) {
	dir := s.folders.Workspace
	if !s.scenario.BringsWorkspace() {
		if dir, err = c.dir(); err != nil {
			return 0, err
		}
	}
	agent, err := agentcmd.Prepare(agentcmd.Command{
		Args: c.Args, Dir: dir, Stdin: c.Stdin, Stdout: c.Stdout, Stderr: c.Stderr, Offline: offline,
	})
	if err != nil {
		return 0, fmt.Errorf("%w: %w", ErrCannotRun, err)
	}
	if s.scenario.Timeout > 0 {
		var stop context.CancelFunc
		ctx, stop = context.WithTimeoutCause(ctx, s.scenario.Timeout, errTimeout)
		defer stop()
	}
	if c.ended != nil {
		defer c.ended()
	}
	server := proxy.Serve(agent.Listener(), sessions, proxy.ServerOptions{})
	code, err = agent.Run(ctx, agentcmd.Environ(c.environ(), server.URL(), replay))
	// What the command left behind outside its process group is cut off.
	over, cut := context.WithTimeout(context.Background(), drain)
	defer cut()
	_ = server.Shutdown(over)
	switch {
	case err != nil:
		agent.Close()
		return 0, fmt.Errorf("%w: %w", ErrCannotRun, err)
	case replay && agent.Interrupted():
		return code, &interruptedError{}
	case errors.Is(context.Cause(ctx), errTimeout):
		return 0, fmt.Errorf("%w: %s did not end within its timeout of %s", ErrCannotRun, s.scenario.Name, s.scenario.Timeout)
	}
	return code, nil
}

// interruptedError says that somebody ended a replay, which so says nothing
// about the program. It is context.Canceled.
type interruptedError struct{}

func (*interruptedError) Error() string {
	return "interrupted: half a session is not judged, and nothing is written"
}

// Is makes it context.Canceled.
func (*interruptedError) Is(target error) bool { return target == context.Canceled }

// ofSIGINT is the exit code of a program that SIGINT ended.
const ofSIGINT = interruptedCode + 2

// drain is how long requests may be under way when their program has ended.
const drain = time.Second

// oneSession answers every session by one handler.
type oneSession struct{ http.Handler }

// ServeSession implements proxy.Sessions.
func (o oneSession) ServeSession(_ string, w http.ResponseWriter, r *http.Request) { o.ServeHTTP(w, r) }

// SessionCount implements proxy.Sessions.
func (o oneSession) SessionCount() int { return 1 }

// runCommand plays a foreign transcript to a command.
func (r *Result) runCommand(ctx context.Context, s *session, c *Command, o ReplayOptions) (*record.PlaybackReport, error) {
	playback, err := record.NewPlayback(s.tape, s.playbackOptions(o))
	if err != nil {
		return nil, err
	}
	code, err := s.execute(ctx, c, oneSession{playback}, o.Offline, true)
	played, closed := playback.Close()
	if err := errors.Join(err, closed); err != nil {
		return nil, err
	}
	exit := s.tape.End
	if recorded := exit != nil && exit.Code != nil && *exit.Code == code; code == ofSIGINT && !recorded {
		return nil, &interruptedError{} // by a terminal, which gives the signal to the program alone
	}
	if !o.Offline {
		r.Notes = append(r.Notes, "CMD not confined")
	}
	r.Findings = append(r.Findings, r.commandExit(s.tape, code)...)
	return played, nil
}

// commandExit compares how a command ended with how the recorded one did.
func (r *Result) commandExit(tape *transcripts.File, code int) []record.Finding {
	if tape.End == nil || tape.End.Code == nil {
		if code != 0 {
			r.Remarks = append(r.Remarks, fmt.Sprintf("the command exited with %d; how the recorded one did is not known", code))
		}
		return nil
	}
	if want := *tape.End.Code; code != want {
		return []record.Finding{{Code: "replay/command-exit", Message: fmt.Sprintf("expected the command to exit with %d, as recorded, got %d", want, code)}}
	}
	return nil
}

// keepNew adds the exchanges that a live upstream answered to the transcript.
func (r *Result) keepNew(source Source, scenario *Scenario, tape *transcripts.File, played *record.PlaybackReport) error {
	if len(played.New) == 0 {
		return nil
	}
	path := source.TranscriptPath(scenario.Transcript)
	merged := *tape
	merged.Exchanges = append(append([]*transcripts.Exchange(nil), tape.Exchanges...), played.New...)
	fresh := path + ".new" // a full disk leaves the old one
	err := os.WriteFile(fresh, merged.Encode(), 0o644)
	if err == nil {
		err = os.Rename(fresh, path)
	}
	if err != nil {
		_ = os.Remove(fresh)
		return fmt.Errorf("%w: write transcript %s: %w", ErrCannotRun, path, files.Reason(err))
	}
	exchanges := "1 new exchange"
	if n := len(played.New); n > 1 {
		exchanges = fmt.Sprintf("%d new exchanges", n)
	}
	r.Remarks = append(r.Remarks, fmt.Sprintf("recorded %s into %s", exchanges, path))
	return nil
}
