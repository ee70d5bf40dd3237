package scenarios

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/tapetree/tapetree/golden"
	"github.com/tapetree/tapetree/internal/prices"
	"github.com/tapetree/tapetree/record"
	"github.com/tapetree/tapetree/runtime"
	"github.com/tapetree/tapetree/transcripts"
)

// Status is the outcome of one scenario.
type Status string

// The statuses: what was demanded held, did not hold, or could not be judged.
const (
	Pass  Status = "pass"
	Fail  Status = "fail"
	Error Status = "error"
)

// Result is what the replay of one scenario came to.
type Result struct {
	Name      string
	Status    Status
	Grade     record.Grade // the worst grade of all requests; "" when none was made
	Findings  []record.Finding
	Exchanges int               // in the transcript
	Agents    int               // in the session tree
	Asked     int               // questions put to the approver
	Details   []string          // reports of at most 12 lines each
	Notes     []string          // what a reader should know though nothing is wrong, in a few words
	Remarks   []string          // the same in whole sentences
	Err       error             // with Status Error: why
	Golden    string            // the rendering
	Wrote     string            // the path of the golden history that an update wrote; "" for none
	Unwritten error             // why a history that differs could not be left beside the stored one; nil: it was
	Run       *runtime.Run      // nil for a foreign transcript
	Session   *transcripts.File // of a foreign transcript: what the client asked, and the answers it was given
	Took      time.Duration

	orders []string // of answers that were tried
}

// ReplayOptions are the caller's wishes for a replay. The zero value judges
// and changes nothing.
type ReplayOptions struct {
	Update     bool          // write goldens instead of comparing
	Strict     bool          // warnings of a replay fail too
	AllowShell bool          // shell=live and want/verify may run, unconfined
	MaxAge     time.Duration // of transcripts; a scenario's own max-age comes first; 0: none
	Now        time.Time     // for ages; the zero time stands for the present
	Environ    []string      // whose secret values are replaced; nil: os.Environ()
	ChildJobs  int           // children of one turn at once; 0: runtime.DefaultChildJobs
	Prices     *prices.Table // of want/budget; nil: the program's own list

	Command *Command // runs instead of the scenario's own command; nil: that one, if AllowCommand is set
	// AllowCommand lets the scenario's own command run.
	AllowCommand         bool
	Output               io.Writer         // takes what that command writes, line by line with the scenario's name before it, from several goroutines; nil: nobody does
	Offline              bool              // the command runs in a network of its own
	Speed                float64           // of a foreign transcript's answers: 0 at once, 1 as recorded
	Faults               []record.Fault    // beside those of the scenario
	IgnoreSessionHeaders bool              // of the command's requests
	Live                 http.RoundTripper // answers what a foreign transcript has no exchange for, which is recorded; nil: that is a miss

	Shuffle int   // this many orders of model answers are tried too; 0: none
	Seed    int64 // of the first of them; the next ones take the next seeds

	goldenOnly bool           // a recording that is replayed for its golden history: want/verify does not run
	rebase     bool           // what is asked is kept, see PlanRebase
	dry        bool           // nothing is written or held against the golden history, and want/verify does not run
	drawn      *int64         // the seed of this one replay's order of answers; nil: as they come
	bend       func(*session) // breaks a shuffled session before it runs, in tests
}

// ErrCannotRun marks an error that is no bad input: something needed is missing.
var ErrCannotRun = errors.New("could not run")

// Replay re-runs one scenario from its transcript, parent and children, and
// judges it. Whatever goes wrong is in the Result.
func Replay(ctx context.Context, source Source, name string, o ReplayOptions) Result {
	start := time.Now()
	result := Result{Name: name, Status: Pass}
	err := result.replay(ctx, source, o)
	if err != nil {
		result.Status, result.Err = Error, err
	} else if failing(result.Findings, o.Strict) {
		result.Status = Fail
	}
	result.Took = time.Since(start)
	return result
}

func (r *Result) replay(ctx context.Context, source Source, o ReplayOptions) error {
	scenario, err := source.loadFor(r.Name, o.Command)
	if err != nil {
		return err
	}
	tape, err := source.transcript(scenario.Transcript)
	if errors.Is(err, fs.ErrNotExist) {
		line := r.Name
		if o.Command != nil || scenario.Prompt == "" {
			line = recordLine(scenario, o)
		}
		return fmt.Errorf("%w: transcript %s is missing: record it with `tapetree record %s`",
			ErrCannotRun, source.display(transcriptFolder, scenario.Transcript+transcriptEnding), line)
	}
	if err != nil {
		return err
	}
	if tape.Foreign() {
		return r.replayForeign(ctx, source, scenario, tape, o)
	}
	if err := ofOwnRunner(scenario, o); err != nil {
		return err
	}
	s, err := newReplaySession(source, scenario, tape, o)
	if err != nil {
		return err
	}
	defer s.close()
	if err := s.run(ctx); err != nil {
		return err
	}
	r.Run, r.Asked, r.Exchanges = s.outcome, s.asked, len(tape.Exchanges)
	if err := r.judge(s, o); err != nil {
		return err
	}
	r.expect(scenario.Want.Findings)
	if s.outcome != nil {
		r.Golden = s.render()
	}
	if s.outcome != nil && s.broken == nil && !r.otherSession(o) { // a golden of half a session would only repeat the miss
		if err := r.hold(source, scenario, o); err != nil {
			return err
		}
	}
	return r.shuffle(ctx, source, scenario, tape, o)
}

// judge collects every finding of a finished session but the golden's.
func (r *Result) judge(s *session, o ReplayOptions) error {
	report := s.replayer.Report()
	r.Grade, r.Details = report.Grade, report.Details
	if o.Strict {
		r.Details = append(r.Details, report.Warnings...)
	}
	r.Notes, r.Remarks = notes(report), s.replayer.FaultNotes()
	if skipped := s.folders.Skipped; len(skipped) > 0 {
		r.Notes = append(r.Notes, "links and special files of the workspace folder are not copied: "+strings.Join(skipped, ", "))
	}
	r.Findings = append(r.Findings, report.Findings...)
	limits := s.limits()
	if s.outcome != nil {
		s.outcome.Walk(func(*runtime.Run) { r.Agents++ })
		r.Findings = append(r.Findings, CheckRun(s.outcome, limits)...)
		r.Findings = append(r.Findings, JudgeWant(s.scenario, s.outcome, s.folders, s.fold, o.Prices)...)
	}
	r.Findings = append(r.Findings, CheckTape(s.tape, limits)...)
	r.Findings = append(r.Findings, s.folders.Escaped()...)
	r.Findings = append(r.Findings, stale(s.scenario, s.tape, o)...)
	verify, err := s.verify(o)
	if err != nil {
		return err
	}
	r.Findings = unique(append(append(r.Findings, s.script.judge()...), verify...))
	return nil
}

// hold compares the session with its golden history, or writes it.
func (r *Result) hold(source Source, scenario *Scenario, o ReplayOptions) error {
	if o.dry {
		return nil
	}
	store := golden.Store{FS: source.Goldens}
	if source.Dir != "" {
		store = golden.Store{Dir: source.display(goldenFolder, "")}
	}
	return r.holdIn(store, scenario, o)
}

// holdIn is hold with the golden histories of a store.
func (r *Result) holdIn(store golden.Store, scenario *Scenario, o ReplayOptions) error {
	outcome, err := store.Check(scenario.Golden, r.Golden, o.Update)
	if err != nil && (o.Update || outcome.Code == "") {
		return fmt.Errorf("%w: %w", ErrCannotRun, err)
	}
	if finding, detail, differs := outcome.Finding(); differs {
		if r.Unwritten = err; err != nil { // that the new one cannot be written hides no difference
			finding.Message += ": " + err.Error()
		}
		if standing(r.Findings) != "" { // it would be accepted in vain
			finding.Message, _, _ = strings.Cut(finding.Message, "; look at it")
		}
		finding.Message = strings.Replace(finding.Message, "review NAME", "review "+r.Name, 1)
		r.Findings = append(r.Findings, finding)
		if detail != "" {
			r.Details = append(r.Details, detail)
		}
	} else if outcome.Wrote != "" {
		r.Wrote = outcome.Wrote
		r.Notes = append(r.Notes, "wrote "+outcome.Wrote)
	}
	return nil
}

// expect takes out the findings that the scenario demands, and reports those
// that did not come.
func (r *Result) expect(codes []string) {
	var rest []record.Finding
	seen := map[string]bool{}
	for _, f := range r.Findings {
		seen[f.Code] = true
		if !contains(codes, f.Code) {
			rest = append(rest, f)
		}
	}
	for _, code := range codes {
		if !seen[code] {
			rest = append(rest, record.Finding{Code: "want/findings", Message: "expected the finding " + code + ", which did not come"})
		}
	}
	r.Findings = rest
}

func contains(list []string, word string) bool {
	for _, w := range list {
		if w == word {
			return true
		}
	}
	return false
}

// unique drops findings that say the same thing twice: a fault of the tape
// that the live run repeats is one finding.
func unique(findings []record.Finding) []record.Finding {
	seen := map[record.Finding]bool{}
	var kept []record.Finding
	for _, f := range findings {
		if !seen[f] {
			seen[f] = true
			kept = append(kept, f)
		}
	}
	return kept
}

func failing(findings []record.Finding, strict bool) bool {
	for _, f := range findings {
		severity := record.Severity(f.Code)
		if severity == "error" || strict && severity == "warning" {
			return true
		}
	}
	return false
}

// stale reports a transcript older than the scenario or the caller allows.
func stale(scenario *Scenario, tape *transcripts.File, o ReplayOptions) []record.Finding {
	limit := scenario.MaxAge
	if limit == 0 {
		limit = o.MaxAge
	}
	recorded, err := time.Parse(time.RFC3339, tape.Header.Recorded)
	if limit == 0 || tape.Header.By == "authored" {
		return nil
	}
	now := o.Now
	if now.IsZero() {
		now = time.Now()
	}
	line := scenario.Name
	if tape.Foreign() {
		line = recordLine(scenario, o)
	}
	message := fmt.Sprintf("recorded %s, which is more than %s ago: record it again with `tapetree record %s`", tape.Header.Recorded, days(limit), line)
	if err != nil {
		message = fmt.Sprintf("the header's recorded time %q is no RFC 3339 time, so its age is unknown", tape.Header.Recorded)
	} else if now.Sub(recorded) <= limit {
		return nil
	}
	return []record.Finding{{Code: "replay/stale", Message: message}}
}

func days(d time.Duration) string {
	if d%(24*time.Hour) == 0 {
		return fmt.Sprintf("%d days", d/(24*time.Hour))
	}
	return d.String()
}

// notes says what a reader of a report should know though nothing is wrong.
func notes(report *record.Report) []string {
	var list []string
	if report.VerdictsTotal > 0 {
		list = append(list, fmt.Sprintf("%d of %d verdicts live", report.VerdictsLive, report.VerdictsTotal))
	}
	if report.SecretTaped > 0 {
		list = append(list, fmt.Sprintf("%d live calls answered from tape: their arguments held a secret", report.SecretTaped))
	}
	if uses := volatileUses(report.VolatileUses); uses != "" {
		list = append(list, "volatile: "+uses)
	}
	return list
}

func volatileUses(uses map[string]int) string {
	var parts []string
	rules := sortedKeys(uses)
	slices.SortStableFunc(rules, func(a, b string) int { // rule 2 before rule 10
		if strings.HasPrefix(a, "rule ") && strings.HasPrefix(b, "rule ") {
			return len(a) - len(b)
		}
		return strings.Compare(a, b)
	})
	for _, rule := range rules {
		parts = append(parts, fmt.Sprintf("%s %d", rule, uses[rule]))
	}
	return strings.Join(parts, ", ")
}
