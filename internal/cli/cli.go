// Package cli is the command line: each file holds one command as a struct of
// its options, the command that fills it, and a function that runs it.
package cli

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"sync"

	"github.com/spf13/cobra"
	"github.com/tapetree/tapetree/golden"
	"github.com/tapetree/tapetree/internal/suggest"
	"github.com/tapetree/tapetree/record"
	"golang.org/x/term"
)

// issues is where a fault of the program itself is reported.
const issues = "https://github.com/tapetree/tapetree/issues"

// Main runs one command line and returns the exit code. env looks up a
// variable of the environment. A panic is reported in one line.
func Main(args []string, stdin io.Reader, stdout, stderr io.Writer, env func(string) string) (code int) {
	defer func() {
		if fault := recover(); fault != nil {
			fmt.Fprintf(stderr, "tapetree: a fault of tapetree itself: %s; please report it, with the command, at %s\n", oneLine(fmt.Sprint(fault)), issues)
			code = exitCannotRun
		}
	}()
	a := &app{in: stdin, out: stdout, err: stderr, env: env}
	root := a.rootCommand()
	root.SetArgs(args)
	root.SetIn(stdin)
	root.SetOut(stdout)
	root.SetErr(stderr)
	command, err := root.ExecuteC()
	return a.finish(command, err)
}

// app is what every command needs: the streams, the environment and the flags
// that all commands have.
type app struct {
	in       io.Reader
	out, err io.Writer
	env      func(string) string

	dir   string
	quiet bool
	color string

	ran        bool             // a command's own function was reached
	redact     *record.Redactor // see secrets
	redactOnce sync.Once
	screen     *console // stderr while a session runs; nil at other times
}

// finish says what went wrong, in one line, and returns the exit code.
func (a *app) finish(command *cobra.Command, err error) int {
	if err == nil {
		return exitOK
	}
	if !a.ran { // cobra refused the command line
		err = &usageError{err: err}
	}
	var fixed *exitError
	if errors.As(err, &fixed) && fixed.err == nil {
		return fixed.code
	}
	message := oneLine(a.secrets().Mask(err.Error()))
	var usage *usageError
	if errors.As(err, &usage) {
		message += fmt.Sprintf("; see `%s --help`", firstOf(usage.see, command.CommandPath()))
	}
	fmt.Fprintf(a.err, "tapetree: %s\n", message)
	return exitCode(err)
}

// oneLine makes a message one line in which nothing is hidden.
func oneLine(message string) string {
	message = strings.ReplaceAll(strings.TrimRight(message, "\n"), "\n", "; ")
	return golden.Visible(message)
}

func (a *app) rootCommand() *cobra.Command {
	root := &cobra.Command{
		Use:   "tapetree",
		Short: "Record an agent and its subagents, replay them offline, compare with golden histories",
		Long: `tapetree records what a tool-calling agent and its subagents did with a
model, replays it offline and holds the result against golden histories.

Start here:
  tapetree replay --builtin    replay the suite inside the program: no key, no network
  tapetree init                make the folders and a first scenario of your own
  tapetree replay              replay all scenarios of this folder

Exit codes: 0 all holds, 1 findings, 2 usage or bad input, 3 could not run,
130 interrupted.`,
		SilenceErrors: true,
		SilenceUsage:  true,
		Args:          cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.noCommand(cmd, args)
		},
		DisableSuggestions: true,
	}
	flags := root.PersistentFlags()
	flags.StringVar(&a.dir, "dir", ".", "the `folder` that holds scenarios, transcripts and golden")
	flags.BoolVarP(&a.quiet, "quiet", "q", false, "say only what is wrong")
	flags.StringVar(&a.color, "color", "auto", "color: auto, always or never; NO_COLOR is honoured")
	completeWords(root, "color", []string{"auto", "always", "never"})
	root.SetFlagErrorFunc(flagError)
	root.AddCommand(a.replayCommand(), a.recordCommand(), a.runCommand(), a.proxyCommand(), a.serveCommand(), a.showCommand(), a.viewCommand(),
		a.checkCommand(), a.importCommand(), a.exportCommand(), a.doctorCommand(), a.reviewCommand(), a.rebaseCommand(), a.diffCommand(), a.initCommand(), a.versionCommand(), a.completionCommand())
	root.SetHelpCommand(a.helpCommand())
	root.CompletionOptions.DisableDefaultCmd = true
	return root
}

// noCommand answers a command line without a command that exists.
func (a *app) noCommand(root *cobra.Command, args []string) error {
	if len(args) == 0 {
		root.SetOut(a.err)
		_ = root.Help()
		return silentUsage(a)
	}
	return a.unknownCommand(root, args[0])
}

func silentUsage(a *app) error {
	a.ran = true
	return silent(exitUsage)
}

// wrap makes run the function of a command: it checks what all commands share.
func (a *app) wrap(run func(cmd *cobra.Command, args []string) error) func(*cobra.Command, []string) error {
	return func(cmd *cobra.Command, args []string) error {
		a.ran = true
		if a.color != "auto" && a.color != "always" && a.color != "never" {
			return usagef("--color is auto, always or never, not %q", a.color)
		}
		return run(cmd, args)
	}
}

// didYouMean names the word of known that word was meant to be, with prefix
// in front of it; "" when there is none.
func didYouMean(word string, known []string, prefix string) string {
	if nearest := suggest.Nearest(word, known); nearest != "" {
		return fmt.Sprintf(", did you mean %s%s?", prefix, nearest)
	}
	return ""
}

// isTerminal reports whether a stream is one that a person sits at.
func isTerminal(stream any) bool {
	file, ok := stream.(*os.File)
	return ok && term.IsTerminal(int(file.Fd()))
}

// colored reports whether what goes to stream is colored.
func (a *app) colored(stream io.Writer) bool {
	switch a.color {
	case "always":
		return true
	case "never":
		return false
	default:
		return isTerminal(stream) && a.env("NO_COLOR") == "" && a.env("TERM") != "dumb"
	}
}

// dirFlag is what a command that we name needs to find the project of this one.
func (a *app) dirFlag() string {
	if a.dir == "." {
		return ""
	}
	if strings.ContainsAny(a.dir, " \t'\"$`&;()*?") {
		return fmt.Sprintf(" --dir %q", a.dir)
	}
	return " --dir " + a.dir
}

// say writes a line of news to stderr, unless --quiet. What it names, such as a
// file, does nothing to a terminal.
func (a *app) say(format string, args ...any) {
	text := golden.Visible(fmt.Sprintf(format, args...))
	switch {
	case a.quiet:
	case a.screen != nil:
		a.screen.line(text)
	default:
		fmt.Fprintln(a.err, text)
	}
}
