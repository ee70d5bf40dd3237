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

// completeWords offers the shell the words that a flag takes.
func completeWords(cmd *cobra.Command, flag string, words []string) {
	// It fails for a flag that is not there or has words already.
	if err := cmd.RegisterFlagCompletionFunc(flag, cobra.FixedCompletions(words, cobra.ShellCompDirectiveNoFileComp)); err != nil {
		panic(err)
	}
}

// bashCompletion writes cobra's script, which asks the bash-completion package
// for the words of the line, and then its function that does so once more, for
// a bash without that package.
func bashCompletion(root *cobra.Command, w io.Writer) error {
	if err := root.GenBashCompletionV2(w, true); err != nil {
		return err
	}
	_, err := io.WriteString(w, bashWords)
	return err
}

// bashWords puts together again what bash parts at = and :, as the package
// does. It keeps to what bash 3, which macOS has, can do.
const bashWords = `
__tapetree_init_completion()
{
    COMPREPLY=()
    if declare -F _get_comp_words_by_ref >/dev/null 2>&1; then
        _get_comp_words_by_ref "$@" cur prev words cword
        return
    fi
    local i last=-1
    words=()
    for ((i = 0; i < ${#COMP_WORDS[@]}; i++)); do
        if ((i > 1)) && [[ ${COMP_WORDS[i]} == [=:]* || ${words[last]} == *[=:] ]]; then
            words[last]+=${COMP_WORDS[i]}
        else
            last=$((last + 1))
            words[last]=${COMP_WORDS[i]}
        fi
        if ((i == COMP_CWORD)); then
            cword=$last
        fi
    done
    cur=${words[cword]}
    prev=${words[cword > 0 ? cword - 1 : 0]}
}
`

func (a *app) completion(root *cobra.Command, args []string) error {
	if len(args) != 1 || !slices.Contains(shells, args[0]) {
		return usagef("completion takes the name of a shell: %s", strings.Join(shells, ", "))
	}
	generate := map[string]func(io.Writer) error{
		"bash":       func(w io.Writer) error { return bashCompletion(root, w) },
		"zsh":        root.GenZshCompletion,
		"fish":       func(w io.Writer) error { return root.GenFishCompletion(w, true) },
		"powershell": root.GenPowerShellCompletionWithDesc,
	}
	return generate[args[0]](a.out)
}
