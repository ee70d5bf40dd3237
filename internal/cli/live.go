package cli

import (
	"errors"
	"net/url"
	"slices"
	"strings"
	"time"
	"unicode"

	"github.com/spf13/pflag"
	"github.com/tapetree/tapetree/internal/files"
	"github.com/tapetree/tapetree/internal/prices"
	"github.com/tapetree/tapetree/runtime"
	"github.com/tapetree/tapetree/scenarios"
	"github.com/tapetree/tapetree/transcripts"
)

// defaultBaseURL is where OpenAI serves its API; a key is required only there,
// since many local servers have none.
const defaultBaseURL = "https://api.openai.com/v1"

// approvals lists what --approve takes.
var approvals = []string{"ask", "all", "none"}

// defaultChildJobs is what --child-jobs is when it is not given.
const defaultChildJobs = runtime.DefaultChildJobs

// liveFlags are the flags of commands that talk to a real model.
type liveFlags struct {
	baseURL string
	model   string
	approve string
	stream  bool
	prices  string

	answered bool   // the scenario itself says who answers questions
	usual    string // the model where nothing names one

	childJobs  int
	subModel   string
	subBaseURL string
	kept       keptFlags
}

// keptFlags are settings that belong to a scenario, because a replay needs
// them: the zero value is a setting that was not given.
type keptFlags struct {
	childPolicy   string
	contextBudget int
	outputTokens  int
}

func (f *liveFlags) add(flags *pflag.FlagSet) {
	flags.StringVar(&f.baseURL, "base-url", "", "the `URL` of an OpenAI-compatible API; else OPENAI_BASE_URL, else "+defaultBaseURL)
	flags.StringVar(&f.model, "model", "", "the model; else OPENAI_MODEL")
	flags.StringVar(&f.approve, "approve", "ask", "who answers what needs approval: ask (you), all or none")
	flags.BoolVar(&f.stream, "stream", true, "ask for streamed answers")
	flags.StringVar(&f.prices, "prices", "", "what tokens cost, as a JSON `file`; else the list prices inside tapetree")
	flags.IntVar(&f.childJobs, "child-jobs", defaultChildJobs, "how many children of one turn at once")
	flags.StringVar(&f.subModel, "sub-model", "", "mini: the model of the children; else the parent's")
	flags.StringVar(&f.subBaseURL, "sub-base-url", "", "mini: the `URL` of the children's API, with the key of SUB_OPENAI_API_KEY, else of OPENAI_API_KEY; else the parent's")
	flags.StringVar(&f.kept.childPolicy, "child-policy", "", "mini: the `mode` of the children, which can only be stricter than the parent's: "+strings.Join(modes, ", "))
	flags.IntVar(&f.kept.contextBudget, "context-budget", 0, "mini: the `tokens` that a request may hold before its older part is summed up; 0: no budget")
	flags.IntVar(&f.kept.outputTokens, "output-tokens", 0, "mini: the most `tokens` of one answer; 0: no limit")
}

// check looks at the flags of settings that not every profile has.
func (f *liveFlags) check(profile string) error {
	switch {
	case f.childJobs < 1:
		return usagef("--child-jobs is a number from 1, not %d", f.childJobs)
	case f.kept.childPolicy != "" && !slices.Contains(modes, f.kept.childPolicy):
		return usagef("--child-policy is one of %s, not %q%s", strings.Join(modes, ", "), f.kept.childPolicy, didYouMean(f.kept.childPolicy, modes, ""))
	case f.kept.contextBudget < 0:
		return usagef("--context-budget is a number from 1, not %d", f.kept.contextBudget)
	case f.kept.outputTokens < 0:
		return usagef("--output-tokens is a number from 1, not %d", f.kept.outputTokens)
	}
	if scenarios.HasOwnSettings(profile) {
		return nil
	}
	for _, setting := range []struct {
		flag  string
		given bool
	}{
		{"sub-model", f.subModel != ""}, {"sub-base-url", f.subBaseURL != ""}, {"child-policy", f.kept.childPolicy != ""},
		{"context-budget", f.kept.contextBudget != 0}, {"output-tokens", f.kept.outputTokens != 0},
	} {
		if setting.given {
			return usagef("--%s: profile %s has no such setting; it needs profile mini", setting.flag, profile)
		}
	}
	return nil
}

// table is the price table that a command uses: the one of --prices, else the
// one inside the program.
func (a *app) table(path string) (*prices.Table, error) {
	if path == "" {
		return prices.List(), nil
	}
	table, err := prices.Read(path)
	var syntax *transcripts.SyntaxError
	if err != nil && !errors.As(err, &syntax) {
		return nil, badInput("--prices %s cannot be read: %v", path, files.Reason(err))
	}
	return table, err
}

// liveOptions turns flags and environment into options of a live run. Its keys
// come from the environment alone, so that they stand in no shell history.
func (a *app) liveOptions(f *liveFlags, screen *console) (scenarios.LiveOptions, error) {
	o := scenarios.LiveOptions{
		BaseURL:   firstOf(f.baseURL, a.env("OPENAI_BASE_URL"), defaultBaseURL),
		Key:       strings.TrimSpace(a.env("OPENAI_API_KEY")), // a secret out of a file ends in a newline
		Model:     firstOf(f.model, a.env("OPENAI_MODEL"), f.usual),
		SubModel:  f.subModel,
		ChildJobs: f.childJobs,
		Stream:    f.stream,
		Backoff:   backoff,
		By:        "tapetree " + version(),
	}
	a.secrets().URL(o.BaseURL) // what secret stands in it is known from now on
	host, ok := hostOf(o.BaseURL)
	switch {
	case !ok:
		return o, usagef("the base URL is no http(s) address, as in http://localhost:11434/v1 (--base-url or OPENAI_BASE_URL)")
	case o.Model == "":
		return o, usagef("no model is named: pass --model or set OPENAI_MODEL")
	case strings.ContainsFunc(o.Key, unicode.IsControl):
		return o, usagef("OPENAI_API_KEY holds a control character, which no request can carry")
	case o.Key == "" && isOpenAI(host):
		return o, usagef("no key: set OPENAI_API_KEY, or pass the --base-url of a server that needs none")
	}
	if f.subBaseURL != "" {
		o.SubBaseURL, o.SubKey = f.subBaseURL, firstOf(strings.TrimSpace(a.env("SUB_OPENAI_API_KEY")), o.Key)
		switch host, ok := hostOf(o.SubBaseURL); {
		case !ok:
			return o, usagef("--sub-base-url is no http(s) address, as in http://localhost:11434/v1")
		case strings.ContainsFunc(o.SubKey, unicode.IsControl):
			return o, usagef("SUB_OPENAI_API_KEY holds a control character, which no request can carry")
		case o.SubKey == "" && isOpenAI(host):
			return o, usagef("no key for --sub-base-url: set SUB_OPENAI_API_KEY or OPENAI_API_KEY")
		}
	}
	if f.answered && f.approve == "ask" {
		return o, nil // nobody else is asked
	}
	var err error
	o.Approver, err = a.approver(f.approve, screen)
	return o, err
}

// hostOf is the host of an http(s) address, and whether text is one.
func hostOf(text string) (string, bool) {
	address, err := url.Parse(text)
	if err != nil || address.Host == "" || address.Scheme != "http" && address.Scheme != "https" {
		return "", false
	}
	return address.Hostname(), true
}

func isOpenAI(host string) bool { return strings.EqualFold(host, "api.openai.com") }

func firstOf(words ...string) string {
	for _, word := range words {
		if word != "" {
			return word
		}
	}
	return ""
}

// The wait before try 2 is a second and before try 3 two, as the vendors' own
// clients do; longer where the upstream asks for it, up to a minute.
func backoff(try int, asked time.Duration) time.Duration {
	wait := time.Second << max(0, try-2)
	return min(max(wait, asked), time.Minute)
}

// stopCode is the exit code of a run that ended with reason.
func stopCode(reason runtime.StopReason) int {
	switch reason {
	case runtime.StopAnswer:
		return exitOK
	case runtime.StopCancelled:
		return exitInterrupted
	case runtime.StopUpstreamError:
		return exitCannotRun
	default:
		return exitFindings
	}
}
