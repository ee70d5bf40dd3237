package cli

import (
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// flagError puts what is wrong with a flag into words of ours.
func flagError(cmd *cobra.Command, err error) error {
	var unknown *pflag.NotExistError
	var value *pflag.InvalidValueError
	switch {
	case errors.As(err, &unknown):
		return unknownFlag(cmd, unknown.GetSpecifiedName())
	case errors.As(err, &value):
		return fmt.Errorf("--%s takes %s, not %q", value.GetFlag().Name, kindOf(value.GetFlag()), value.GetValue())
	default:
		return err
	}
}

func unknownFlag(cmd *cobra.Command, name string) error {
	if len(name) == 1 {
		return fmt.Errorf("unknown flag -%s", name)
	}
	var known []string
	cmd.Flags().VisitAll(func(f *pflag.Flag) { known = append(known, f.Name) })
	return fmt.Errorf("unknown flag --%s%s", name, didYouMean(name, known, "--"))
}

// kindOf says what a flag takes.
func kindOf(f *pflag.Flag) string {
	switch f.Value.Type() {
	case "int", "float64":
		return "a number"
	case "bool":
		return "true or false"
	default:
		return "a " + f.Value.Type()
	}
}

// noArgs refuses every argument of a command that takes none.
func noArgs(cmd *cobra.Command, args []string) error {
	if len(args) > 0 {
		return fmt.Errorf("%s takes no argument, but got %q", cmd.Name(), args[0])
	}
	return nil
}

// helpCommand is cobra's, but for a command that does not exist.
func (a *app) helpCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "help [COMMAND]",
		Short: "Explain a command",
		RunE: a.wrap(func(cmd *cobra.Command, args []string) error {
			found, rest, err := cmd.Root().Find(args)
			if err != nil || len(rest) > 0 {
				return a.unknownCommand(cmd.Root(), strings.Join(args, " "))
			}
			found.InitDefaultHelpFlag()
			return found.Help()
		}),
	}
}

// unknownCommand names the command that was probably meant.
func (a *app) unknownCommand(root *cobra.Command, word string) error {
	var known []string
	for _, c := range root.Commands() {
		known = append(known, c.Name())
	}
	return &usageError{fmt.Errorf("unknown command %q%s", word, didYouMean(word, known, "")), root.CommandPath()}
}
