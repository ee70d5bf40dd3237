package scenarios

import (
	"maps"
	"slices"
	"strings"

	"github.com/tapetree/tapetree/runtime"
	"github.com/tapetree/tapetree/runtime/profiles"
)

func setSubModel(s *Scenario, value string) error {
	s.SubModel = value
	return nil
}

func setChildPolicy(s *Scenario, value string) error {
	s.ChildPolicy = runtime.Mode(value)
	return oneOf("mode", value, modeNames...)
}

func setContextBudget(s *Scenario, value string) (err error) {
	s.ContextBudget, err = positive(value)
	return err
}

func setOutputTokens(s *Scenario, value string) (err error) {
	s.OutputTokens, err = positive(value)
	return err
}

// ownSettings are the headers that only a profile with settings for its
// children has, and how to take their values back.
var ownSettings = []struct {
	key   string
	clear func(*Scenario)
}{
	{"sub-model", func(s *Scenario) { s.SubModel = "" }},
	{"child-policy", func(s *Scenario) { s.ChildPolicy = "" }},
	{"context-budget", func(s *Scenario) { s.ContextBudget = 0 }},
	{"output-tokens", func(s *Scenario) { s.OutputTokens = 0 }},
}

// HasOwnSettings reports whether scenarios of a profile can set a model and a
// policy for children, a context budget and an output limit: p06 has one of
// each for the whole session.
func HasOwnSettings(profile string) bool {
	p, _ := profiles.ByName(profile)
	return p.Task == runtime.TaskBrief
}

// profileFits refuses what the scenario's profile does not have, and drops what
// the defaults of the folder say for scenarios of another profile.
func (p *parser) profileFits() error {
	profile, _ := profiles.ByName(p.s.Profile)
	for _, setting := range ownSettings {
		if HasOwnSettings(p.s.Profile) {
			break
		}
		if line := p.lines["header "+setting.key]; line > 0 {
			return p.errorf(line, "%s: profile %s has no such setting; it needs profile: mini", setting.key, p.s.Profile)
		}
		setting.clear(p.s)
	}
	if line := p.lines["header tools"]; line > 0 {
		for _, tool := range slices.Sorted(maps.Keys(p.s.Tools)) {
			if tool != "*" && !slices.Contains(profile.Tools, tool) {
				return p.errorf(line, "tools: %s: profile %s has no such tool (it has %s)", tool, p.s.Profile, strings.Join(profile.Tools, ", "))
			}
		}
	}
	return nil
}

// knownTools are the tools that a header or a hook can name: those of all
// profiles.
var knownTools = toolsOfAll()

func toolsOfAll() []string {
	var all []string
	for _, name := range profiles.Names() {
		profile, _ := profiles.ByName(name)
		all = union(all, profile.Tools)
	}
	return all
}

// most are the highest limits that any profile has; which profile it is may
// stand further down, or in the defaults.
func most() Limits {
	var highest Limits
	for _, name := range profiles.Names() {
		highest.Parent = max(highest.Parent, LimitsOf(name).Parent)
		highest.Child = max(highest.Child, LimitsOf(name).Child)
	}
	return highest
}
