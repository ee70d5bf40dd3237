// Package doctor finds out why two runs of an agent program do not ask a model
// the same, and which volatile rules would make them comparable. It is given
// texts and gives proposals; it runs and writes nothing.
package doctor

import (
	"fmt"
	"slices"
	"strings"

	"github.com/tapetree/tapetree/record"
	"github.com/tapetree/tapetree/runtime"
)

// Text is a value at one place of a request. Kind is the JSON kind: " for a
// text; 0 for what is not there.
type Text struct {
	Kind byte
	Text string
}

// Difference is a place where the recording and the runs are not the same.
type Difference struct {
	Agent   runtime.Path
	Turn    int
	Pointer string // JSON pointer into the request; after # into the JSON of a text
	// Recorded is what the transcript holds, Runs what each run sent.
	Recorded Text
	Runs     []Text
	Places   int // how many requests show the same difference
}

// texts lists all versions, the recorded one first.
func (d *Difference) texts() []Text { return append([]Text{d.Recorded}, d.Runs...) }

// Kind says what a difference is.
type Kind string

// The kinds. The first three are mended by a rule, an order if it is one of
// lines or words.
const (
	KindSet     Kind = "set"     // a set of volatile rules covers it
	KindToken   Kind = "token"   // a random word, new in each run
	KindPath    Kind = "path"    // a path of a machine
	KindOrder   Kind = "order"   // the same things in another order
	KindNumber  Kind = "number"  // a JSON number; rules are for texts
	KindUnsure  Kind = "runs"    // the runs differ, and no narrow rule covers it
	KindChanged Kind = "changed" // the program has changed since the recording
)

// Proposal is a rule that mends differences, or a difference that none mends.
type Proposal struct {
	Kind Kind
	Rule string // a line of a volatile section; "" when none helps
	Say  string // what it is, for a person
	// Evidence is the first place; Places counts all.
	Evidence Difference
	Places   int
}

// Diagnosis is what Analyse found.
type Diagnosis struct {
	Rules  []Proposal // in the order in which they belong into a scenario
	Others []Proposal // what no rule mends
}

// Lines are the proposed rules as lines of a volatile section.
func (d *Diagnosis) Lines() []string { return lines(d.Rules) }

// Analyse explains differences that the rules in force do not cover. Every rule
// it proposes is needed, and each difference that the rules together do not
// cover is among Others. An error means that a rule in force is none.
func Analyse(differences []Difference, inForce []string) (*Diagnosis, error) {
	base, err := record.ParseVolatile(inForce)
	if err != nil {
		return nil, err
	}
	a := &analysis{base: base, inForce: inForce}
	for _, d := range differences {
		if !equalTexts(applied(base, d.texts())) {
			a.open = append(a.open, d)
		}
	}
	rules := setRules(inForce)
	a.sets = a.with(lines(rules)...)
	return a.diagnosis(slices.Concat(rules, a.patterns(), a.orders())), nil
}

// analysis is one diagnosis under way.
type analysis struct {
	base    *record.Volatile
	inForce []string
	open    []Difference     // what the rules in force do not cover
	sets    *record.Volatile // the rules in force and every set, and in the end the proposed ones
}

// sets are those that can be switched on, in the order of the manual.
var sets = []Proposal{
	{Kind: KindSet, Rule: "dates", Say: "dates and times of day"},
	{Kind: KindSet, Rule: "uuids", Say: "UUIDs"},
	{Kind: KindSet, Rule: "ports", Say: "ports after a host"},
	{Kind: KindSet, Rule: "durations", Say: "durations"},
}

// setRules are the sets that are not in force.
func setRules(inForce []string) []Proposal {
	return slices.DeleteFunc(slices.Clone(sets), func(p Proposal) bool { return slices.Contains(inForce, p.Rule) })
}

func lines(rules []Proposal) []string {
	var out []string
	for _, p := range rules {
		out = append(out, p.Rule)
	}
	return out
}

// with gives the rules in force and more.
func (a *analysis) with(more ...string) *record.Volatile {
	v, err := record.ParseVolatile(append(slices.Clone(a.inForce), more...))
	if err != nil { // a pattern of ours that is none covers nothing
		return a.base
	}
	return v
}

// diagnosis keeps of the rules those that are needed, and holds all differences
// against them together: what is equal then is mended, the rest is named.
func (a *analysis) diagnosis(rules []Proposal) *Diagnosis {
	rules = a.needed(rules)
	out := &Diagnosis{}
	for i, p := range rules {
		before, _ := a.mended(lines(rules))
		after, _ := a.mended(lines(without(rules, i)))
		for n, d := range a.open {
			if after[n] < before[n] {
				if p.Places == 0 {
					p.Evidence = a.evidence(d, p, rules)
				}
				p.Places += max(1, d.Places)
			}
		}
		out.Rules = append(out.Rules, p)
	}
	all := a.with(lines(rules)...)
	a.sets = a.with(append(lines(sets), lines(rules)...)...)
	for _, d := range a.open {
		if !equalTexts(applied(all, d.texts())) {
			out.name(a.unmended(d, all))
		}
	}
	return out
}

// name adds what no rule mends. Requests that are missing for one reason are
// named once.
func (d *Diagnosis) name(others []Proposal) {
	for _, p := range others {
		i := slices.IndexFunc(d.Others, func(o Proposal) bool {
			return p.Evidence.Pointer == "" && o.Evidence.Pointer == "" && o.Say == p.Say
		})
		if i >= 0 {
			d.Others[i].Places += p.Places
		} else {
			d.Others = append(d.Others, p)
		}
	}
}

// evidence narrows a difference down to the line that a rule mends, one of
// rules.
func (a *analysis) evidence(d Difference, p Proposal, rules []Proposal) Difference {
	if p.Kind == KindOrder {
		return a.orderEvidence(d)
	}
	// A rule for an order makes one of many lines, which then stand no more side by side.
	rules = slices.DeleteFunc(slices.Clone(rules), func(r Proposal) bool { return r.Kind == KindOrder })
	with := lines(rules)
	without := lines(slices.DeleteFunc(rules, func(r Proposal) bool { return r.Rule == p.Rule }))
	columns, ok := lineColumns(d.texts())
	after, ok2 := lineColumns(applied(a.with(with...), d.texts()))
	before, ok3 := lineColumns(applied(a.with(without...), d.texts()))
	if !ok || !ok2 || !ok3 || len(after) != len(columns) || len(before) != len(columns) {
		return d
	}
	for i := range columns {
		if equalTexts(after[i]) && !equalTexts(before[i]) {
			d.Recorded, d.Runs = columns[i][0], columns[i][1:]
			break
		}
	}
	return d
}

// needed drops, from the last to the first, every rule that mends nothing that
// the others do not.
func (a *analysis) needed(rules []Proposal) []Proposal {
	_, most := a.mended(lines(rules))
	for i := len(rules) - 1; i >= 0; i-- {
		if _, n := a.mended(lines(without(rules, i))); n >= most {
			rules, most = without(rules, i), n
		}
	}
	return rules
}

func without(rules []Proposal, i int) []Proposal {
	return slices.Delete(slices.Clone(rules), i, i+1)
}

// mended counts what rules make equal of each difference: the text, and lines
// of it, those included that a rule makes one of.
func (a *analysis) mended(rules []string) (each []int, sum int) {
	v := a.with(rules...)
	for _, d := range a.open {
		n := 0
		texts := applied(v, d.texts())
		if equalTexts(texts) {
			n++
		}
		if columns, ok := lineColumns(texts); ok {
			n += 1 + strings.Count(d.Recorded.Text, "\n")
			for _, column := range columns {
				if !equalTexts(column) {
					n--
				}
			}
		}
		each, sum = append(each, n), sum+n
	}
	return each, sum
}

// unmended names what rules leave of a difference: another order of the same
// things, and what else differs.
func (a *analysis) unmended(d Difference, rules *record.Volatile) []Proposal {
	var out []Proposal
	say := func(kind Kind, format string, args ...any) {
		out = append(out, Proposal{Kind: kind, Say: fmt.Sprintf(format, args...), Evidence: d, Places: max(1, d.Places)})
	}
	things, all := orderOf(d.Pointer, applied(a.sets, d.texts()))
	if things != "" && !all {
		_, all = orderOf(d.Pointer, applied(rules, d.texts()))
	}
	runsDiffer := !equalTexts(applied(rules, d.texts())[1:])
	if things != "" {
		way := "sort them in the program, for no rule can"
		if a.alikeInOrder(d) {
			way = "both runs have the one, the recording another: record again if it is meant"
		}
		out = append(out, Proposal{Kind: KindOrder, Say: fmt.Sprintf("the same %s in another order: %s", things, way),
			Evidence: a.orderEvidence(d), Places: max(1, d.Places)})
	}
	switch {
	case all:
	case d.Pointer == "" && runsDiffer:
		say(KindUnsure, "one run asks this and another one does not")
	case d.Pointer == "" && d.Recorded.Kind == 0:
		say(KindChanged, "asked in both runs, and not in the recording: record again if it is meant")
	case d.Pointer == "":
		say(KindChanged, "asked in the recording, and in neither run: record again if it is meant")
	case runsDiffer && numbers(d.texts()):
		say(KindNumber, "a number that differs between the runs: fix it in the program, rules are for texts")
	case runsDiffer:
		say(KindUnsure, "differs between the runs, and no narrow rule covers it")
	default:
		say(KindChanged, "%s changed since the recording, in both runs alike: record again if it is meant", changedPart(d.Pointer))
	}
	return out
}

// applied gives the texts after the rules. Only what is a text in all versions
// can be covered.
func applied(v *record.Volatile, texts []Text) []Text {
	out := slices.Clone(texts)
	for _, t := range texts {
		if t.Kind != '"' {
			return out
		}
	}
	for i := range out {
		out[i].Text = v.Apply(out[i].Text, nil)
	}
	return out
}

func equalTexts(texts []Text) bool {
	for _, t := range texts[1:] {
		if t != texts[0] {
			return false
		}
	}
	return true
}

func numbers(texts []Text) bool {
	return !slices.ContainsFunc(texts, func(t Text) bool { return t.Kind != '0' })
}
