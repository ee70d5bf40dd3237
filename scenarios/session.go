package scenarios

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"sort"
	"strings"
	"sync"
	"time"

	"github.com/tapetree/tapetree/golden"
	"github.com/tapetree/tapetree/record"
	"github.com/tapetree/tapetree/runtime"
	"github.com/tapetree/tapetree/runtime/tools"
	"github.com/tapetree/tapetree/transcripts"
)

// session is one composed run of a scenario, over a transcript or live.
type session struct {
	scenario  *Scenario
	folders   *Folders
	workspace *tools.Workspace
	folder    *runtime.Folder
	redact    *record.Redactor
	volatile  *record.Volatile
	script    *scriptApprover
	runner    *runtime.Runner

	tape     *transcripts.File // of a replay
	replayer *record.Replayer
	writer   *transcripts.Writer // of a recording
	recorder *record.Recorder

	schedule *record.Schedule
	cancel   context.CancelFunc // ends the run

	mu        sync.Mutex
	asked     int
	hookLines []golden.HookLine
	outcome   *runtime.Run
	broken    error // a miss: the session ended there
}

// openSession makes the folders of a run. With o.Workspace not "", that folder
// is used in place.
func openSession(source Source, scenario *Scenario, o LiveOptions) (*session, error) {
	workspace, environ := o.Workspace, o.Environ
	if environ == nil {
		environ = os.Environ()
	}
	volatile, err := record.ParseVolatile(scenario.Volatile)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", scenario.File, err)
	}
	folders, err := Prepare(scenario, source.Scenarios)
	if err != nil {
		return nil, err
	}
	s := &session{scenario: scenario, folders: folders, redact: record.NewRedactor(environ), volatile: volatile}
	root, temp, home := folders.Workspace, []string{folders.Root}, []string(nil)
	if workspace != "" {
		root, temp = workspace, []string{os.TempDir(), folders.Root}
		if dir, err := os.UserHomeDir(); err == nil {
			home = []string{dir}
		}
	}
	s.folder = runtime.NewFolder([]string{root}, temp, home)
	s.workspace, err = tools.Open(root, tools.Options{Fold: s.folder, Run: folders.Run, Hide: o.hide})
	if err != nil {
		s.close()
		return nil, fmt.Errorf("%w: %w", ErrCannotRun, err)
	}
	return s, nil
}

func (s *session) close() {
	if s.workspace != nil {
		s.workspace.Close()
	}
	s.folders.Remove()
}

// newReplaySession composes a run over a transcript.
func newReplaySession(source Source, scenario *Scenario, tape *transcripts.File, o ReplayOptions) (*session, error) {
	s, err := openSession(source, scenario, LiveOptions{Environ: o.Environ})
	if err != nil {
		return nil, err
	}
	s.tape = tape
	dialect := runtime.DialectFor(tape.Header.Upstream)
	s.replayer, err = record.NewReplayer(tape, record.ReplayOptions{
		Fold: s.folder, Redact: s.redact, Volatile: s.volatile, Dialect: dialect, SubDialect: subDialect(tape),
		Live: s.live(o.AllowShell), Name: scenario.Name, Faults: o.faults(scenario), Rebase: o.rebase,
	})
	if err == nil {
		s.schedule = s.newSchedule(o)
		approver := s.approver(s.replayer.Approver())
		err = s.compose(composition{
			model: s.tapedModel(), modelName: firstWord(append([]string{scenario.Model}, tape.Header.Models...)...),
			subModel: s.tapedSubModel(), childJobs: s.childJobs(o.ChildJobs),
			approver: approver, tape: s.tapeOf(), env: tape.Header.Env, stream: streams(tape),
			dialect: dialect, observers: []runtime.Observer{s.replayer.Observe},
		})
	}
	if err != nil {
		s.close()
		return nil, err
	}
	return s, nil
}

// tapedModel answers a replay from its transcript.
func (s *session) tapedModel() runtime.Model {
	model := s.schedule.Model(s.replayer)
	if s.scenario.Interrupt == nil {
		return model
	}
	return interruptedModel{model, s}
}

// tapeOf is where calls that do not run are answered from. It is asked for
// after the approver.
func (s *session) tapeOf() runtime.Tape {
	if s.script == nil {
		return s.replayer
	}
	return scriptedTape{s.replayer, s.script}
}

// subDialect is how the children's answers were read; nil: as their parent's.
func subDialect(tape *transcripts.File) *runtime.Dialect {
	if tape.Header.SubUpstream == "" {
		return nil
	}
	dialect := runtime.DialectFor(tape.Header.SubUpstream)
	return &dialect
}

// newSchedule is the order of what agents of a replay do at once.
func (s *session) newSchedule(o ReplayOptions) *record.Schedule {
	options := record.ScheduleOptions{Tape: s.tape, Live: s.live(o.AllowShell)}
	if o.drawn != nil {
		options.Shuffle, options.Seed = true, *o.drawn
	}
	if s.scenario.Interrupt != nil {
		options.Pending = s.replayer.CutOff
	}
	return record.NewSchedule(options)
}

// tapedSubModel is the children's model in a replay: the scenario's, else the
// second one of the transcript, where the profile has one for children.
func (s *session) tapedSubModel() string {
	if s.scenario.SubModel != "" || !HasOwnSettings(s.scenario.Profile) || len(s.tape.Header.Models) < 2 {
		return s.scenario.SubModel
	}
	return s.tape.Header.Models[1]
}

// streams reports whether the recorded session asked for streams, so that the
// replayed one asks the same way.
func streams(tape *transcripts.File) bool {
	for _, e := range tape.Exchanges {
		for _, p := range e.Params {
			if p.Name == "stream" {
				return string(p.Value) == "true"
			}
		}
	}
	return false
}

// approver is who answers questions: the scenario's own rule where it has one,
// else the given approver.
func (s *session) approver(otherwise runtime.Approver) runtime.Approver {
	switch s.scenario.Approve {
	case "all":
		return approveAll{}
	case "none":
		return nil
	case "script":
		s.script = newScriptApprover(s.scenario)
		return s.script
	default:
		return otherwise
	}
}

// live says which tools run for real in a replay: those the scenario names,
// by default all where it brings a workspace and none where it does not; the
// plan and the delegation are the runner's own state and always run. A shell
// runs only when scenario and caller both say so.
func (s *session) live(allowShell bool) func(tool string) bool {
	sc := s.scenario
	brings := sc.BringsWorkspace()
	return func(tool string) bool {
		rule, named := sc.Tools[tool]
		switch {
		case tool == runtime.TaskToolName || tool == runtime.TodoToolName:
			return true
		case slices.Contains(shellTools, tool):
			return named && rule && allowShell
		case named:
			return rule
		}
		if rule, named = sc.Tools["*"]; named {
			return rule
		}
		return brings
	}
}

// limits are the turn limits that hold in this session.
func (s *session) limits() Limits {
	limits := LimitsOf(s.scenario.Profile)
	if s.scenario.MaxTurns > 0 {
		limits.Parent = s.scenario.MaxTurns
	}
	if s.scenario.ChildMaxTurns > 0 {
		limits.Child = s.scenario.ChildMaxTurns
	}
	return limits
}

// run runs the session to its end. An error means that it could not be run; a
// miss is kept in s.broken, with the session up to there in s.outcome.
func (s *session) run(ctx context.Context) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	s.cancel = cancel
	s.runner.Observe = observeAll(s.runner.Observe, s.scenario.Interrupt.observe(s))
	if s.scenario.Timeout > 0 {
		var stop context.CancelFunc
		ctx, stop = context.WithTimeoutCause(ctx, s.scenario.Timeout, errTimeout)
		defer stop()
	}
	defer s.schedule.Bind(ctx)()
	s.outcome, s.broken = s.runner.Run(ctx, s.scenario.Prompt)
	if errors.Is(context.Cause(ctx), errTimeout) {
		return fmt.Errorf("%w: %s did not end within its timeout of %s", ErrCannotRun, s.scenario.Name, s.scenario.Timeout)
	}
	if s.replayer != nil && s.broken != nil && !errors.Is(s.broken, record.ErrMissing) {
		return fmt.Errorf("%w: %w", ErrCannotRun, s.broken) // a miss is a finding; this is a fault of ours
	}
	return nil
}

// shellTools run only where scenario and caller both say so.
var shellTools = []string{"shell", "run_bash"}

var errTimeout = errors.New("timeout")

// render is the session's golden history; "" when there was no session.
func (s *session) render() string {
	if s.outcome == nil {
		return ""
	}
	return golden.Render(s.outcome, golden.Options{Fold: s.fold, Normalize: s.normalize, Hooks: s.hookLines})
}

// fold puts placeholders for paths and secrets, as a transcript does.
func (s *session) fold(text string) string { return s.redact.Text(s.folder.Fold(text)) }

// normalize applies the scenario's volatile rules.
func (s *session) normalize(text string) string { return s.volatile.Apply(text, nil) }

// verify runs the want/verify command in the workspace.
func (s *session) verify(o ReplayOptions) ([]record.Finding, error) {
	command := s.scenario.Want.Verify
	if command == "" || o.goldenOnly || o.dry {
		return nil, nil
	}
	if !o.AllowShell {
		return nil, fmt.Errorf("%w: %s has a want/verify command, which runs unconfined: read it, then pass --allow-shell", ErrCannotRun, s.scenario.File)
	}
	result, err := tools.RunCommand(context.Background(), s.folders.Workspace, s.folders.Run, command, verifyLimit, verifyBytes)
	if err != nil {
		return nil, fmt.Errorf("%w: run want/verify: %w", ErrCannotRun, err)
	}
	if result.ExitCode == 0 && !result.TimedOut {
		return nil, nil
	}
	ended := fmt.Sprintf("exited with %d", result.ExitCode)
	if result.TimedOut {
		ended = fmt.Sprintf("did not end within %s", verifyLimit)
	}
	if output := s.fold(strings.TrimSpace(result.Output)); output != "" {
		ended += ": " + output
	}
	return []record.Finding{{Code: "want/verify", Message: fmt.Sprintf("`%s` %s", command, ended)}}, nil
}

// A verification gets as long as a shell call may ask for, and as much output
// as a report can use.
const (
	verifyLimit = 10 * time.Minute
	verifyBytes = 2000
)

func sortedKeys(m map[string]int) []string {
	keys := make([]string, 0, len(m))
	for key := range m {
		keys = append(keys, key)
	}
	sort.Strings(keys)
	return keys
}
