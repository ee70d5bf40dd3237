package scenarios

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"time"

	"github.com/tapetree/tapetree/internal/files"
	"github.com/tapetree/tapetree/record"
	"github.com/tapetree/tapetree/runtime"
	"github.com/tapetree/tapetree/transcripts"
)

// LiveOptions say which model a scenario is run with, and who watches.
type LiveOptions struct {
	BaseURL string
	Key     string
	Model   string
	// SubModel is the model of children where the scenario names none, and
	// SubBaseURL and SubKey where it is asked; "" is the parent's. They are for
	// profiles with settings of their own for children.
	SubModel   string
	SubBaseURL string
	SubKey     string
	ChildJobs  int // children of one turn at once; 0: runtime.DefaultChildJobs
	Stream     bool
	Transport  http.RoundTripper // nil: the default one
	Approver   runtime.Approver  // nil: nobody to ask
	Observe    runtime.Observer
	Workspace  string // a folder used in place; "": one made from the scenario
	Backoff    func(try int, asked time.Duration) time.Duration
	Now        func() time.Time // nil: time.Now
	Environ    []string         // nil: os.Environ()
	OS         string           // for the prompt's environment block; "": this system
	By         string           // who records, for the header

	hide  func(name string) bool // what glob leaves out of Workspace; nil: nothing
	isNew bool                   // the scenario is written after the run and can say where it was cut off
}

// redactor knows the secrets of the environment and of the request.
func (o LiveOptions) redactor() *record.Redactor {
	environ := o.Environ
	if environ == nil {
		environ = os.Environ()
	}
	redact := record.NewRedactor(environ)
	redact.Learn(http.Header{"Authorization": {o.Key}}, o.BaseURL)
	if o.SubBaseURL != "" {
		redact.Learn(http.Header{"Authorization": {o.SubKey}}, o.SubBaseURL)
	}
	return redact
}

// Recording is what a live run came to. Run is set as far as it got also when
// there is an error.
type Recording struct {
	Run        *runtime.Run
	Transcript string // path written; "" when nothing was recorded
	Kept       string // where an unfinished recording lies, when an older transcript is left as it is
	Leftover   string // an earlier recording that had broken off, kept under this name
	Interrupt  *Interrupt
}

// Live runs a scenario against a real model and, with transcript not "",
// records it there. The transcript is written whatever the run came to, unless
// not one exchange was finished: then nothing is written and the error is
// ErrNothingRecorded.
func Live(ctx context.Context, source Source, scenario *Scenario, transcript string, o LiveOptions) (*Recording, error) {
	s, err := newLiveSession(source, scenario, transcript, o)
	if err != nil {
		return nil, err
	}
	defer s.close()
	result := &Recording{}
	runErr := s.run(ctx)
	if runErr == nil {
		runErr = s.broken
	}
	result.Run = s.outcome
	result.Interrupt = interruptOf(s.outcome)
	if s.recorder == nil {
		return result, runErr
	}
	result.Leftover = s.writer.Leftover()
	kept := s.keep(result, transcript, o.isNew)
	var ours *runtime.OwnError
	if errors.As(runErr, &ours) && kept != nil {
		return result, kept // the failed write again, and what is left
	}
	return result, errors.Join(runErr, kept)
}

// keep puts the finished recording in place. A run that did not come to its end
// is kept beside an older transcript, which stays as it is, and also where the
// scenario could not say that it was cut off.
func (s *session) keep(result *Recording, transcript string, isNew bool) (err error) {
	_, missing := os.Lstat(transcript)
	aside := missing == nil || s.outcome.Stop == runtime.StopCancelled && !isNew
	if aside && !finished(s.outcome, s.scenario) && !s.writer.Empty() {
		result.Kept, err = s.writer.Keep()
	} else if _, err = s.recorder.Close(); err == nil {
		result.Transcript = transcript
	}
	switch {
	case errors.Is(err, transcripts.ErrEmpty):
		return fmt.Errorf("%w: %w", ErrCannotRun, ErrNothingRecorded)
	case err != nil:
		return fmt.Errorf("%w: %w", ErrCannotRun, err)
	}
	return nil
}

// finished reports whether a run came to an end that may take the place of an
// older transcript: whatever the model did, but neither a cancellation that the
// scenario does not ask for nor a broken upstream.
func finished(run *runtime.Run, scenario *Scenario) bool {
	switch run.Stop {
	case runtime.StopCancelled:
		return scenario.Interrupt != nil
	case runtime.StopUpstreamError, "":
		return false
	default:
		return true
	}
}

// ErrNothingRecorded says that a recording ended before one exchange was
// finished, so that no transcript was written.
var ErrNothingRecorded = errors.New("no exchange was recorded, nothing is written")

// newLiveSession composes a run against a real model.
func newLiveSession(source Source, scenario *Scenario, transcript string, o LiveOptions) (*session, error) {
	s, err := openSession(source, scenario, o)
	if err != nil {
		return nil, err
	}
	if err := s.connect(transcript, o); err != nil {
		s.close()
		return nil, err
	}
	return s, nil
}

// connect puts the live model and, when recording, the recorder into s.
func (s *session) connect(transcript string, o LiveOptions) error {
	now := o.Now
	if now == nil {
		now = time.Now
	}
	model := live(o.BaseURL, o.Key, o.Transport)
	observers := []runtime.Observer{o.Observe}
	env := transcripts.Env{OS: systemName(o.OS), Date: now().Format(time.DateOnly)}
	s.schedule = record.NewSchedule(record.ScheduleOptions{})
	if transcript != "" {
		if err := s.startRecorder(transcript, env, now, o); err != nil {
			return err
		}
		next := o.Transport
		if next == nil {
			next = http.DefaultTransport
		}
		model.HTTP = s.recorder.Transport(next)
		observers = append(observers, s.recorder.Observe)
	}
	var sub runtime.Model
	if o.SubBaseURL != "" {
		sub = live(o.SubBaseURL, o.SubKey, model.HTTP)
	}
	return s.compose(composition{
		model: model, modelName: firstWord(s.scenario.Model, o.Model),
		subModel: firstWord(s.scenario.SubModel, o.SubModel), subLive: sub, childJobs: o.ChildJobs,
		approver: s.approver(o.Approver), env: env, stream: o.Stream,
		dialect: model.Dialect, backoff: o.Backoff, observers: observers,
	})
}

func live(baseURL, key string, transport http.RoundTripper) *runtime.Live {
	return &runtime.Live{BaseURL: baseURL, Key: key, HTTP: transport, Dialect: runtime.DialectFor(baseURL)}
}

// subUpstream is where children ask, "" where their parent does.
func (s *session) subUpstream(o LiveOptions) string {
	if o.SubBaseURL == "" {
		return ""
	}
	return s.redact.URL(o.SubBaseURL)
}

// models names the models of a live session, the children's second where they
// have one of their own.
func (s *session) models(o LiveOptions) []string {
	models := []string{s.redact.Text(firstWord(s.scenario.Model, o.Model))}
	if sub := s.redact.Text(firstWord(s.scenario.SubModel, o.SubModel)); sub != "" && sub != models[0] {
		models = append(models, sub)
	}
	return models
}

func (s *session) startRecorder(transcript string, env transcripts.Env, now func() time.Time, o LiveOptions) error {
	if err := os.MkdirAll(filepath.Dir(transcript), 0o755); err != nil {
		return fmt.Errorf("%w: make the transcripts folder %s: %w", ErrCannotRun, filepath.Dir(transcript), files.Reason(err))
	}
	writer, err := transcripts.Create(transcript, transcripts.Header{
		Name: s.scenario.Name, Profile: s.scenario.Profile, Models: s.models(o),
		Upstream: s.redact.URL(o.BaseURL), SubUpstream: s.subUpstream(o), Env: env, Recorded: now().UTC().Format(time.RFC3339), By: o.By,
	})
	if err != nil {
		return fmt.Errorf("%w: %w", ErrCannotRun, err)
	}
	s.writer = writer
	s.recorder = record.NewRecorder(writer, record.RecorderOptions{Fold: s.folder, Redact: s.redact, Now: now})
	return nil
}

func firstWord(words ...string) string {
	for _, w := range words {
		if w != "" {
			return w
		}
	}
	return ""
}
