package record

import (
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strings"
	"time"

	"github.com/tapetree/tapetree/record/attribution"
	"github.com/tapetree/tapetree/runtime"
	"github.com/tapetree/tapetree/transcripts"
)

// TapeOptions sets up a Tape. The zero value is useful: all fields are for
// needs that not every test has.
type TapeOptions struct {
	// Transport carries the requests that Create records; nil:
	// http.DefaultTransport. Open never uses it.
	Transport http.RoundTripper
	// Workspace is the folder that the agents work in: its path stands in the
	// transcript as {{workspace}}. "" for none. Those of the temporary folder and
	// of the home folder are replaced always.
	Workspace string
	// Environ is where secrets are looked for; nil: os.Environ().
	Environ []string
	// Volatile are the rules of ParseVolatile, for what differs in every run.
	Volatile []string
	// IgnoreSessionHeaders tells agents apart by what they say alone.
	IgnoreSessionHeaders bool
	// Strict makes warnings (another prompt, other tools, another model) fail
	// Close too, and requests for paths that were not recorded.
	Strict bool
	// Speed is 0 to answer at once, 1 as fast as recorded.
	Speed float64
	// Faults go wrong on purpose in a replay.
	Faults []Fault
}

// Tape is an http.RoundTripper for the tests of an agent program: one made by
// Create records what the program and its subagents ask a model, one made by
// Open answers the same requests from the transcript, without network and key.
// Which it does is fixed when it is made. It is safe for concurrent use.
type Tape struct {
	path     string
	strict   bool
	recorder *Recorder // nil: replays
	playback *Playback
	next     http.RoundTripper
	report   *PlaybackReport
}

// Create begins a recording at path, which Close puts in place: until then, and
// if nothing is asked, the transcript that is there stays.
func Create(path string, o TapeOptions) (*Tape, error) {
	writer, err := transcripts.Create(path, transcripts.Header{
		Name: tapeName(path), Recorded: time.Now().UTC().Format(time.RFC3339), By: "tapetree " + moduleVersion(),
	})
	if err != nil {
		return nil, fmt.Errorf("record %s: %w", path, err)
	}
	t := &Tape{path: path, next: o.Transport, recorder: NewRecorder(writer, RecorderOptions{
		Fold: o.folder(), Redact: o.redactor(), Attribute: o.attribute(),
	})}
	if t.next == nil {
		t.next = http.DefaultTransport
	}
	t.next = t.recorder.Transport(t.next)
	return t, nil
}

// Open begins a replay of the transcript at path. Without one the error is that
// of the file, fs.ErrNotExist.
func Open(path string, o TapeOptions) (*Tape, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("replay %s: %w; record.Create records one", path, err)
	}
	f, err := transcripts.Parse(path, data)
	if err != nil {
		return nil, err
	}
	rules, err := ParseVolatile(o.Volatile)
	if err != nil {
		return nil, fmt.Errorf("replay %s: %w", path, err)
	}
	replay := ReplayOptions{
		Fold: o.folder(), Redact: o.redactor(), Volatile: rules, Name: tapeName(path), Faults: o.Faults,
		Dialect: runtime.DialectFor(f.Header.Upstream),
	}
	if f.Header.SubUpstream != "" {
		sub := runtime.DialectFor(f.Header.SubUpstream)
		replay.SubDialect = &sub
	}
	playback, err := NewPlayback(f, PlaybackOptions{ReplayOptions: replay, Attribute: *o.attribute(), Speed: o.Speed, Strict: o.Strict})
	if err != nil {
		return nil, err
	}
	return &Tape{path: path, strict: o.Strict, playback: playback, next: playback}, nil
}

// RoundTrip implements http.RoundTripper.
func (t *Tape) RoundTrip(req *http.Request) (*http.Response, error) { return t.next.RoundTrip(req) }

// Recording reports whether the tape records.
func (t *Tape) Recording() bool { return t.recorder != nil }

// Close ends the session; call it when the program is done. Of a recording it
// puts the transcript in place. Of a replay it says whether all was asked as
// recorded: a *FindingsError names what was not.
func (t *Tape) Close() error {
	if t.recorder != nil {
		if _, err := t.recorder.Close(); err != nil {
			return fmt.Errorf("record %s: %w", t.path, err)
		}
		return nil
	}
	report, err := t.playback.Close()
	if err != nil {
		return fmt.Errorf("replay %s: %w", t.path, err)
	}
	t.report = report
	return findingsError(t.path, report, t.strict)
}

// Report is what a replay found, with its grade and its warnings; nil before
// Close, and of a recording.
func (t *Tape) Report() *PlaybackReport { return t.report }

// FindingsError is a replay in which something was not as recorded.
type FindingsError struct {
	Path     string
	Findings []Finding // those that fail the test
	Details  []string  // reports of at most 12 lines each
}

// Error gives each finding a line, then the reports.
func (e *FindingsError) Error() string {
	var out strings.Builder
	fmt.Fprintf(&out, "replay %s:", e.Path)
	for _, f := range e.Findings {
		fmt.Fprintf(&out, "\n%s", f.Code)
		if f.Agent != "" {
			fmt.Fprintf(&out, " %s", f.Agent)
		}
		if f.Turn > 0 {
			fmt.Fprintf(&out, "#%d", f.Turn)
		}
		fmt.Fprintf(&out, ": %s", f.Message)
	}
	for _, detail := range e.Details {
		out.WriteString("\n\n" + detail)
	}
	return out.String()
}

// recordAgain is what to do where a test cannot go by its transcript any more.
const recordAgain = "record it again, with record.Create, or with " + recordVariable + "=1 where the test uses record.ForTest"

// findingsError is nil when nothing that counts was found.
func findingsError(path string, report *PlaybackReport, strict bool) error {
	e := &FindingsError{Path: path, Details: slices.Clone(report.Details)}
	for _, f := range report.Findings {
		if severity := Severity(f.Code); severity == SeverityError || strict && severity == SeverityWarning {
			e.Findings = append(e.Findings, f)
		}
	}
	if strict {
		e.Details = append(e.Details, report.Warnings...)
	}
	// There is no command to name here.
	for i := range e.Details {
		for _, command := range []string{"record ", "rebase "} {
			e.Details[i] = strings.ReplaceAll(e.Details[i], "tapetree "+command+tapeName(path), recordAgain)
		}
	}
	if len(e.Findings) == 0 {
		return nil
	}
	return e
}

// TestingT is what ForTest needs of a *testing.T.
type TestingT interface {
	Helper()
	Errorf(format string, args ...any)
	Fatalf(format string, args ...any)
	Cleanup(func())
}

// recordVariable is the variable of the environment that makes ForTest record.
const recordVariable = "TAPETREE_RECORD"

// ForTest gives a test its Tape: a replay, or, with TAPETREE_RECORD=1 in the
// environment and never where CI is set, a recording. When the test ends the
// tape is closed, and what Close says fails the test.
func ForTest(t TestingT, path string, o TapeOptions) *Tape {
	t.Helper()
	open := Open
	if os.Getenv(recordVariable) == "1" {
		if os.Getenv("CI") != "" {
			t.Fatalf("%s=1 is refused where CI is set: record on your own machine and commit %s", recordVariable, path)
			return nil
		}
		open = Create
	}
	tape, err := open(path, o)
	if err != nil {
		hint := ""
		if errors.Is(err, os.ErrNotExist) {
			hint = fmt.Sprintf(" (%s=1 go test does)", recordVariable)
		}
		t.Fatalf("%v%s", err, hint)
		return nil
	}
	t.Cleanup(func() {
		t.Helper()
		if err := tape.Close(); err != nil {
			t.Errorf("%v", err)
		}
	})
	return tape
}

func tapeName(path string) string {
	return strings.TrimSuffix(filepath.Base(path), ".jsonl")
}

func (o *TapeOptions) folder() *runtime.Folder {
	home, _ := os.UserHomeDir() // "" where there is none, which is left out
	return runtime.NewFolder(folderNames(o.Workspace), folderNames(os.TempDir()), folderNames(home))
}

// folderNames are a folder's absolute path, as given and with links followed.
func folderNames(folder string) []string {
	if folder == "" {
		return nil
	}
	all := []string{folder}
	if absolute, err := filepath.Abs(folder); err == nil {
		all = []string{absolute}
	}
	if real, err := filepath.EvalSymlinks(all[0]); err == nil {
		all = append(all, real)
	}
	return all
}

func (o *TapeOptions) redactor() *Redactor {
	if o.Environ == nil {
		return NewRedactor(os.Environ())
	}
	return NewRedactor(o.Environ)
}

func (o *TapeOptions) attribute() *attribution.Options {
	return &attribution.Options{IgnoreSessionHeaders: o.IgnoreSessionHeaders}
}

// moduleVersion is this module's version in the program that uses it.
func moduleVersion() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "devel"
	}
	for _, module := range append(info.Deps, &info.Main) {
		if module.Path == "github.com/tapetree/tapetree" && strings.HasPrefix(module.Version, "v") {
			return module.Version
		}
	}
	return "devel"
}
