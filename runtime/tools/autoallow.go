package tools

import (
	"regexp"
	"slices"
	"strings"

	"github.com/tapetree/tapetree/runtime"
)

// AutoAllowed reports that a call of run_bash with these arguments, as the model
// wrote them, needs no question: it is one plain command that only reads, from a
// short list, with literal words that name nothing outside the workspace. What
// cannot be read for certain is not allowed. On Windows nothing is: PowerShell
// reads commands in another way.
//
// It goes by the text alone. [Workspace.AutoAllowed] also looks at the
// workspace.
func AutoAllowed(arguments string) bool {
	_, ok := autoAllowed(arguments)
	return ok
}

// AutoAllowed is the function [AutoAllowed] that also wants every word to stay
// inside the workspace when taken for a path, links followed, and git to find
// no settings that run programs in the workspace.
func (w *Workspace) AutoAllowed(arguments string) bool {
	words, ok := autoAllowed(arguments)
	if !ok || slices.ContainsFunc(words, func(word string) bool { return !w.Inside(word) }) {
		return false
	}
	return words[0] != "git" || w.gitIsPlain()
}

func autoAllowed(arguments string) ([]string, bool) {
	args, err := runtime.DecodeArguments[shellArguments](arguments)
	if err != nil || !knownShell {
		return nil, false
	}
	return allowedWords(args.Command)
}

// allowedCommand reports that command, as typed into a POSIX shell or bash, is
// one that only reads.
func allowedCommand(command string) bool {
	_, ok := allowedWords(command)
	return ok
}

// allowedWords returns the words of an allowed command.
func allowedWords(command string) ([]string, bool) {
	words, ok := plainWords(command)
	if !ok {
		return nil, false
	}
	rule, listed := listedCommands[words[0]]
	args := words[1:]
	if listed && rule.sub != nil {
		if len(args) == 0 {
			return nil, false
		}
		rule, listed = rule.sub[args[0]]
		args = args[1:]
	}
	return words, listed && rule.allows(args)
}

// allows reports that the rule lets these arguments through. A word that begins
// with a dash is always judged as an option, also behind "--" and where a value
// is due: commands do not agree on what ends or takes what, and so it does not
// matter.
func (r commandRule) allows(args []string) bool {
	for i := 0; i < len(args); i++ {
		word := args[i]
		switch {
		case word == "--", slices.Contains(r.whole, word):
		case strings.HasPrefix(word, "-") && word != "-":
			takesNext, ok := r.option(word)
			if !ok {
				return false
			}
			if takesNext {
				if i++; i == len(args) || !isValue(args[i]) {
					return false
				}
			}
		case !r.operand(word):
			return false
		}
	}
	return true
}

// option judges a word that begins with a dash, and says whether its value is
// the next word.
func (r commandRule) option(word string) (takesNext, ok bool) {
	if r.number && digits.MatchString(word[1:]) {
		return false, true
	}
	if name, value, attached := strings.Cut(word, "="); slices.Contains(r.named, name) {
		return !attached, !attached || strings.HasPrefix(name, "--") && harmless(value)
	}
	if strings.HasPrefix(word, "--") {
		return false, false
	}
	for i, letter := range word[1:] {
		value := word[1+i+1:] // letters that are allowed have one byte
		switch {
		case strings.ContainsRune(r.valued, letter):
			return value == "", harmless(value)
		case !strings.ContainsRune(r.letters, letter):
			return false, false
		}
	}
	return false, true
}

func (r commandRule) operand(word string) bool {
	switch r.rest {
	case anyOperand:
		return harmless(word)
	case formatOperand:
		return strings.HasPrefix(word, "+")
	default:
		return false
	}
}

var (
	digits = regexp.MustCompile(`^[0-9]+$`)
	// A count below zero, as in -mtime -7 and -size -10k.
	negative = regexp.MustCompile(`^-[0-9]+[a-zA-Z]?$`)
)

// isValue judges the word behind an option that takes one.
func isValue(word string) bool {
	return negative.MatchString(word) || !strings.HasPrefix(word, "-") && harmless(word)
}

// harmless reports that a word, taken for a path, names nothing outside the
// workspace, and taken for a format of git checks no signature: %G and %+G run
// a program.
func harmless(word string) bool {
	return !absolute(word) && !strings.HasPrefix(word, "~") &&
		!slices.Contains(strings.FieldsFunc(word, isSeparator), "..") &&
		!(strings.Contains(word, "%") && strings.Contains(word, "G"))
}

// isSeparator parts the components of a path, also of one behind a colon or an
// equals sign.
func isSeparator(r rune) bool { return strings.ContainsRune(`/\:=`, r) }
