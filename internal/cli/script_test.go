package cli

import (
	"os"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
)

// TestMain lets the scripts call tapetree as a program of its own.
func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){
		"agent":    func() { os.Exit(agentMain()) },
		"moody":    func() { os.Exit(moodyMain()) },
		"tapetree": func() { os.Exit(Main(os.Args[1:], os.Stdin, os.Stdout, os.Stderr, os.Getenv)) },
	})
}

// TestScripts runs testdata/script: each file is one story of a user.
func TestScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir:                 "testdata/script",
		RequireExplicitExec: true,
		Setup: func(e *testscript.Env) error {
			for _, name := range []string{"CI", "NO_COLOR", "OPENAI_API_KEY", "SUB_OPENAI_API_KEY", "OPENAI_BASE_URL", "OPENAI_MODEL", "ANTHROPIC_API_KEY", "ANTHROPIC_BASE_URL"} {
				e.Setenv(name, "")
			}
			e.Setenv("MODEL", newModel(e.Defer))
			return nil
		},
	})
}
