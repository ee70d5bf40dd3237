package cli

import (
	"net/url"
	"os/exec"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"github.com/tapetree/tapetree/scenarios"
)

// anthropicBaseURL is where Anthropic serves its API.
const anthropicBaseURL = "https://api.anthropic.com"

// upstreamFlags say which models a program's requests go on to.
type upstreamFlags struct {
	upstream             string
	ignoreSessionHeaders bool
}

func (f *upstreamFlags) add(flags *pflag.FlagSet) {
	flags.StringVar(&f.upstream, "upstream", "", "the `URL` of the API that a program's requests go on to; else OPENAI_BASE_URL and ANTHROPIC_BASE_URL, else "+defaultBaseURL+" and "+anthropicBaseURL)
	f.addAttribution(flags)
}

func (f *upstreamFlags) addAttribution(flags *pflag.FlagSet) {
	flags.BoolVar(&f.ignoreSessionHeaders, "ignore-session-headers", false, "tell agents apart by what they say alone, not by the session headers of their program")
}

// upstreams finds the two APIs. One that is given stands for both.
func (a *app) upstreams(f *upstreamFlags) (openAI, anthropic *url.URL, err error) {
	if f.upstream != "" {
		openAI, err = a.upstreamURL(f.upstream, "--upstream")
		return openAI, nil, err
	}
	if openAI, err = a.upstreamURL(firstOf(a.env("OPENAI_BASE_URL"), defaultBaseURL), "OPENAI_BASE_URL"); err != nil {
		return nil, nil, err
	}
	anthropic, err = a.upstreamURL(firstOf(a.env("ANTHROPIC_BASE_URL"), anthropicBaseURL), "ANTHROPIC_BASE_URL")
	return openAI, anthropic, err
}

// upstreamURL reads one address; what secret stands in it is known from then on.
func (a *app) upstreamURL(text, from string) (*url.URL, error) {
	a.secrets().URL(text)
	if _, ok := hostOf(text); !ok {
		return nil, usagef("%s is no http(s) address, as in http://localhost:11434/v1", from)
	}
	return url.Parse(text)
}

// program parts the arguments of a command line at --: what stands before it,
// and the program with its own arguments. given is false without a --.
func program(cmd *cobra.Command, args []string) (before, command []string, given bool) {
	at := cmd.ArgsLenAtDash()
	if at < 0 {
		return args, nil, false
	}
	return args[:at], args[at:], true
}

// orForgotten adds to an error the line that was meant, where what follows a name
// is a program.
func orForgotten(err error, command string, args []string) error {
	if len(args) < 2 {
		return err
	}
	if _, missing := exec.LookPath(args[1]); missing != nil {
		return err
	}
	return usagef("%w; did you mean: tapetree %s %s -- %s", err, command, args[0], scenarios.QuoteWords(args[1:]))
}

// onlyWith refuses flags that were given and have no meaning without what is
// described.
func onlyWith(cmd *cobra.Command, what string, names ...string) error {
	for _, name := range names {
		if cmd.Flags().Changed(name) {
			return usagef("--%s goes with %s", name, what)
		}
	}
	return nil
}
