package cli

import (
	"net/url"
	"strings"
	"time"
	"unicode"

	"github.com/spf13/pflag"
	"github.com/tapetree/tapetree/runtime"
	"github.com/tapetree/tapetree/scenarios"
)

// defaultBaseURL is where OpenAI serves its API; a key is required only there,
// since many local servers have none.
const defaultBaseURL = "https://api.openai.com/v1"

// approvals lists what --approve takes.
var approvals = []string{"ask", "all", "none"}

// liveFlags are the flags of commands that talk to a real model.
type liveFlags struct {
	baseURL string
	model   string
	approve string
	stream  bool

	answered bool   // the scenario itself says who answers questions
	usual    string // the model where nothing names one
}

func (f *liveFlags) add(flags *pflag.FlagSet) {
	flags.StringVar(&f.baseURL, "base-url", "", "the `URL` of an OpenAI-compatible API; else OPENAI_BASE_URL, else "+defaultBaseURL)
	flags.StringVar(&f.model, "model", "", "the model; else OPENAI_MODEL")
	flags.StringVar(&f.approve, "approve", "ask", "who answers what needs approval: ask (you), all or none")
	flags.BoolVar(&f.stream, "stream", true, "ask for streamed answers")
}

// liveOptions turns flags and environment into options of a live run. The
// watcher sees its events. The key comes from the environment alone, so that
// it stands in no shell history.
func (a *app) liveOptions(f *liveFlags, w *watcher) (scenarios.LiveOptions, error) {
	o := scenarios.LiveOptions{
		BaseURL: firstOf(f.baseURL, a.env("OPENAI_BASE_URL"), defaultBaseURL),
		Key:     strings.TrimSpace(a.env("OPENAI_API_KEY")), // a secret out of a file ends in a newline
		Model:   firstOf(f.model, a.env("OPENAI_MODEL"), f.usual),
		Stream:  f.stream,
		Observe: w.observe,
		Backoff: backoff,
		By:      "tapetree " + version(),
	}
	a.secrets().URL(o.BaseURL) // what secret stands in it is known from now on
	address, err := url.Parse(o.BaseURL)
	switch {
	case err != nil || address.Host == "" || address.Scheme != "http" && address.Scheme != "https":
		return o, usagef("the base URL is no http(s) address, as in http://localhost:11434/v1 (--base-url or OPENAI_BASE_URL)")
	case o.Model == "":
		return o, usagef("no model is named: pass --model or set OPENAI_MODEL")
	case strings.ContainsFunc(o.Key, unicode.IsControl):
		return o, usagef("OPENAI_API_KEY holds a control character, which no request can carry")
	case o.Key == "" && strings.EqualFold(address.Hostname(), "api.openai.com"):
		return o, usagef("no key: set OPENAI_API_KEY, or pass the --base-url of a server that needs none")
	}
	if f.answered && f.approve == "ask" {
		return o, nil // nobody else is asked
	}
	o.Approver, err = a.approver(f.approve, w.screen)
	return o, err
}

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
