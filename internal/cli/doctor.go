package cli

import (
	"context"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/tapetree/tapetree/golden"
	"github.com/tapetree/tapetree/internal/doctor"
	"github.com/tapetree/tapetree/internal/files"
	"github.com/tapetree/tapetree/record"
	"github.com/tapetree/tapetree/scenarios"
	"github.com/tapetree/tapetree/transcripts"
)

type doctorOptions struct {
	apply         bool
	offline       bool
	allowCommand  bool
	ignoreHeaders bool
}

func (a *app) doctorCommand() *cobra.Command {
	o := &doctorOptions{}
	cmd := &cobra.Command{
		Use:   "doctor NAME -- COMMAND [ARGUMENT…]",
		Short: "Find out what makes an agent program ask something else in every run",
		Long: `Runs the program twice against transcripts/NAME.jsonl, without a model, compares
what it asks with what is recorded and with itself, and proposes the volatile
rules that make it repeatable: the sets dates, uuids, ports and durations where
they explain a difference, a regexp with the shortest text that tells a random
word from others, any order of the same lines or words. What no rule can mend is
named with its place: a number, another prompt, other tools. The proposed rules are tried on what was asked
before they are shown.

The program's output goes to stderr. Exit code 0: the runs are as recorded, or
would be with the proposed rules. 1: something differs that no rule explains.`,
		Example: `  tapetree doctor my-agent -- node agent.js
  tapetree doctor my-agent --apply -- node agent.js`,
		ValidArgsFunction: a.completeNames,
		RunE:              a.wrap(func(cmd *cobra.Command, args []string) error { return a.doctor(cmd, o, args) }),
	}
	flags := cmd.Flags()
	flags.BoolVar(&o.apply, "apply", false, "write the proposed rules into the scenario's volatile section")
	flags.BoolVar(&o.offline, "offline", false, "give the program a network of its own, in which there is nothing but the transcript")
	flags.BoolVar(&o.allowCommand, "allow-command", false, "without -- COMMAND: run the scenario's own")
	flags.BoolVar(&o.ignoreHeaders, "ignore-session-headers", false, "tell agents apart by what they say alone")
	return cmd
}

// doctorRuns is how often the program is run: what differs between two runs is
// new in each.
const doctorRuns = 2

func (a *app) doctor(cmd *cobra.Command, o *doctorOptions, args []string) error {
	dash := cmd.ArgsLenAtDash()
	if dash < 0 {
		dash = len(args)
	}
	command := args[dash:]
	if o.apply && a.env("CI") != "" {
		return usagef("--apply is refused when CI is set: what is accepted is for a person to decide")
	}
	if dash != 1 || len(command) == 0 && !o.allowCommand {
		return usagef("doctor takes the name of one scenario and, after --, the program to run, as in: tapetree doctor my-agent -- node agent.js")
	}
	name := args[0]
	found, err := a.openSource(false)
	if err != nil {
		return err
	}
	if err := found.find(name); err != nil {
		return err
	}
	scenario, err := found.Load(name)
	if err != nil {
		return err
	}
	path, data, err := a.readTranscript(scenario.Transcript)
	if err != nil {
		return err
	}
	recorded, err := transcripts.Parse(path, data)
	if err != nil {
		return err
	}
	if len(command) == 0 {
		if command = scenario.Command; command == nil {
			return badInput("%s has no command: write the program after --", scenario.File)
		}
	}
	runs, err := a.doctorRuns(cmd.Context(), o, found.Source, name, command)
	if err != nil {
		return err
	}
	v := &visit{app: a, source: found.Source, scenario: scenario, recorded: recorded, runs: runs}
	if err := v.examine(cmd.Context()); err != nil {
		return err
	}
	return v.report(cmd.Context(), o.apply)
}

// doctorRuns runs the program. Nothing is written below the project: the
// source has no folder to write to.
func (a *app) doctorRuns(ctx context.Context, o *doctorOptions, source scenarios.Source, name string, command []string) ([]*scenarios.Result, error) {
	source.Dir = ""
	var runs []*scenarios.Result
	for range doctorRuns {
		result := scenarios.Replay(ctx, source, name, scenarios.ReplayOptions{
			Offline: o.offline, IgnoreSessionHeaders: o.ignoreHeaders,
			Command: &scenarios.Command{Args: command, Stdin: strings.NewReader(""), Stdout: a.doctorOutput(), Stderr: a.doctorOutput()},
		})
		switch {
		case result.Status == scenarios.Error:
			return nil, result.Err
		case result.Session == nil:
			return nil, badInput("%s was recorded by tapetree's own runner, which asks the same in every run: doctor is for programs of others", name)
		}
		runs = append(runs, &result)
	}
	if !slices.ContainsFunc(runs, askedAnything) {
		return nil, fmt.Errorf("%w: %s asked nothing in %d runs: does its client read OPENAI_BASE_URL, ANTHROPIC_BASE_URL or TAPETREE_URL?", scenarios.ErrCannotRun, command[0], len(runs))
	}
	return runs, nil
}

// askedAnything reports whether a run sent any request, one that was refused too.
func askedAnything(run *scenarios.Result) bool {
	return len(run.Session.Exchanges) > 0 || slices.ContainsFunc(run.Findings, func(f record.Finding) bool { return f.Code == "replay/missing" })
}

// doctorOutput is where the program writes.
func (a *app) doctorOutput() io.Writer {
	if a.quiet {
		return io.Discard
	}
	return a.err
}

// visit is one program under examination.
type visit struct {
	*app
	source    scenarios.Source
	scenario  *scenarios.Scenario
	recorded  *transcripts.File
	runs      []*scenarios.Result
	diagnosis *doctor.Diagnosis
	left      []record.Finding // what no rule explains, beside the diagnosis
	grade     record.Grade     // with the rules
}

// examine finds the rules, then judges the runs again under them.
func (v *visit) examine(ctx context.Context) error {
	var sessions []*transcripts.File
	for _, run := range v.runs {
		sessions = append(sessions, run.Session)
	}
	var err error
	v.diagnosis, err = doctor.Analyse(doctor.Collect(v.recorded, sessions...), v.scenario.Volatile)
	if err != nil {
		return fmt.Errorf("%s: %w", v.scenario.File, err)
	}
	rules := slices.Concat(v.scenario.Volatile, v.diagnosis.Lines())
	seen := map[record.Finding]bool{}
	for _, run := range v.runs {
		again, err := doctor.Rejudge(ctx, v.recorded, run.Session, rules)
		if err != nil {
			return err
		}
		v.grade = v.grade.Worse(again.Grade)
		for _, f := range slices.Concat(ofTheRun(run.Findings), again.Findings) {
			if !seen[f] {
				seen[f] = true
				v.left = append(v.left, f)
			}
		}
	}
	return nil
}

// ofTheRun are the findings that only the run itself can show: what was asked
// too much or too little, and how the program ended.
func ofTheRun(findings []record.Finding) []record.Finding {
	var out []record.Finding
	for _, f := range findings {
		switch f.Code {
		case "replay/missing", "replay/extra", "replay/order", "replay/command-exit", "replay/partial":
			out = append(out, f)
		}
	}
	return out
}

// named reports whether the diagnosis says already what a finding says.
func (v *visit) named(code string) bool {
	return slices.ContainsFunc(v.diagnosis.Others, func(p doctor.Proposal) bool {
		if p.Evidence.Pointer == "" {
			return code == "replay/extra" || code == "replay/missing"
		}
		return code == "replay/history"
	})
}

// report prints what was found, applies it if told to, and decides the exit
// code.
func (v *visit) report(ctx context.Context, apply bool) error {
	var out strings.Builder
	show := func(text string) string { return golden.Visible(v.secrets().Mask(text)) }
	rules := v.diagnosis.Lines()
	fmt.Fprintf(&out, "%s: %d runs, held against %s\n", v.scenario.Name, len(v.runs), v.recorded.Path)
	v.diagnosis.Write(&out, show)
	failed := len(v.diagnosis.Others) > 0
	for _, f := range reported(scenarios.Result{Findings: v.left}).Findings {
		if record.Severity(f.Code) == record.SeverityError && !v.named(f.Code) {
			failed = true
			fmt.Fprintf(&out, "  %s\n", oneLine(v.secrets().Mask(f.String())))
		}
	}
	switch {
	case failed && len(rules) > 0:
		fmt.Fprintf(&out, "with %s the rest is as recorded\n", plural(len(rules), "proposed rule"))
	case failed:
	case len(rules) > 0:
		fmt.Fprintf(&out, "with %s both runs are as recorded (%s)\n", plural(len(rules), "proposed rule"), v.grade)
	default:
		fmt.Fprintf(&out, "repeatable: both runs asked what is recorded (%s)\n", v.grade)
	}
	if _, err := io.WriteString(v.out, out.String()); err != nil {
		return fmt.Errorf("write the report to stdout: %w", err)
	}
	if len(rules) > 0 {
		if err := v.offer(ctx, apply, rules); err != nil {
			return err
		}
	}
	if failed {
		return silent(exitFindings)
	}
	return nil
}

// offer writes rules into the scenario, or says how to have them written.
func (v *visit) offer(ctx context.Context, apply bool, rules []string) error {
	path := filepath.Join(v.dir, "scenarios", v.scenario.Name+".txtar")
	if !apply {
		v.say("to write the rules into %s, run this again with --apply", path)
		return nil
	}
	data, err := files.ReadPath(path, files.Limit)
	if err != nil {
		return fmt.Errorf("read %s: %w", path, err)
	}
	mended := doctor.Apply(data, rules)
	parsed, err := scenarios.Parse(path, mended, nil)
	if err != nil {
		return fmt.Errorf("%s would not be read with these rules, so it stays as it is: %w", path, err)
	}
	for _, rule := range rules {
		if !slices.Contains(parsed.Volatile, rule) {
			return fmt.Errorf("write %s: the rule %s does not survive the file format: write it there yourself", path, rule)
		}
	}
	unread := v.source
	unread.Dir = "" // so that nothing is written
	before := scenarios.ReplayTape(ctx, unread, v.scenario.Name, false)
	if err := writeFile(path, mended); err != nil {
		return err
	}
	v.say("wrote %s into %s", plural(len(rules), "rule"), path)
	return v.renewGolden(ctx, before)
}

// renewGolden writes the golden history as it reads under the new rules, unless
// it is not this scenario's alone, or was not accepted as it was before.
func (v *visit) renewGolden(ctx context.Context, before scenarios.Result) error {
	accepted := v.scenario.Golden == v.scenario.Name && !slices.ContainsFunc(before.Findings, func(f record.Finding) bool {
		return strings.HasPrefix(f.Code, "golden/")
	})
	if before.Status == scenarios.Error || !accepted {
		v.say("the golden history is left as it is: see what the rules make of it with `tapetree replay %s%s`", v.scenario.Name, v.dirFlag())
		return nil
	}
	after := scenarios.ReplayTape(ctx, v.source, v.scenario.Name, true)
	if after.Status == scenarios.Error {
		return after.Err
	}
	if after.Wrote != "" {
		v.say("wrote %s", after.Wrote)
	}
	return nil
}
