package cli

import (
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"
)

// shells lists what completion writes a script for.
var shells = []string{"bash", "zsh", "fish", "powershell"}

func (a *app) completionCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "completion SHELL",
		Short: "Print a script that completes commands, flags and scenario names",
		Long: `Prints a completion script for bash, zsh, fish or powershell. To load it into
the shell you are in:

  source <(tapetree completion bash)
  source <(tapetree completion zsh)
  tapetree completion fish | source
  tapetree completion powershell | Out-String | Invoke-Expression`,
		ValidArgs: shells,
		RunE:      a.wrap(func(cmd *cobra.Command, args []string) error { return a.completion(cmd.Root(), args) }),
	}
}

func (a *app) completion(root *cobra.Command, args []string) error {
	if len(args) != 1 || !slices.Contains(shells, args[0]) {
		return usagef("completion takes the name of a shell: %s", strings.Join(shells, ", "))
	}
	generate := map[string]func(io.Writer) error{
		"bash":       func(w io.Writer) error { return root.GenBashCompletionV2(w, true) },
		"zsh":        root.GenZshCompletion,
		"fish":       func(w io.Writer) error { return root.GenFishCompletion(w, true) },
		"powershell": root.GenPowerShellCompletionWithDesc,
	}
	return generate[args[0]](a.out)
}
