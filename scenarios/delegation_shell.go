package scenarios

import (
	"path"
	"regexp"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// writingCommands change files: the command, and where only some of its first
// arguments do, these. `sed -i` and the like are in inPlace.
var writingCommands = map[string][]string{
	"rm": nil, "mv": nil, "cp": nil, "tee": nil, "touch": nil, "mkdir": nil, "rmdir": nil, "ln": nil, "chmod": nil, "chown": nil, "truncate": nil,
	"dd": nil, "install": nil, "patch": nil, "unlink": nil, "shred": nil,
	"git": {"add", "commit", "checkout", "reset", "restore", "stash", "rm", "mv", "apply", "am", "push", "merge", "rebase", "clean", "cherry-pick", "revert", "switch", "pull"},
}

// inPlace are the commands that change their files when they have this option.
var inPlace = map[string]*regexp.Regexp{
	"sed": regexp.MustCompile(`^(-[nErsuz]*i|--in-place)`), "perl": regexp.MustCompile(`^-[pnlaw0]*i`), "ruby": regexp.MustCompile(`^-[pnlaw0]*i`),
	"gofmt": regexp.MustCompile(`^-w$`),
}

// maxShell is the longest command line in bytes that is parsed.
const maxShell = 1 << 16

// shellWrites returns what a command line writes: a path, or the command where
// the path is not literal; "" when it writes nothing. Files below /tmp and
// devices do not count. A line that cannot be parsed writes nothing that is
// known.
func shellWrites(command string) string {
	if len(command) > maxShell {
		return ""
	}
	file, err := syntax.NewParser(syntax.Variant(syntax.LangBash)).Parse(strings.NewReader(command), "")
	if err != nil {
		return ""
	}
	written := ""
	syntax.Walk(file, func(node syntax.Node) bool {
		if written != "" {
			return false
		}
		switch n := node.(type) {
		case *syntax.Redirect:
			switch n.Op {
			case syntax.RdrOut, syntax.AppOut, syntax.RdrClob, syntax.RdrAll, syntax.AppAll:
				written = realFile(n.Word.Lit())
			}
		case *syntax.CallExpr:
			var words []string
			for _, word := range n.Args {
				words = append(words, literal(word))
			}
			written = commandWrites(words)
		}
		return true
	})
	return written
}

// commandWrites looks at one simple command. Words that are not literal are "".
func commandWrites(words []string) string {
	if len(words) == 0 {
		return ""
	}
	name := path.Base(words[0])
	rest := words[1:]
	if option, known := inPlace[name]; known {
		if slices.ContainsFunc(rest, option.MatchString) {
			return realFile(lastWord(rest))
		}
		return ""
	}
	which, known := writingCommands[name]
	switch {
	case !known:
		return ""
	case which == nil:
		operands := slices.DeleteFunc(slices.Clone(rest), func(w string) bool { return strings.HasPrefix(w, "-") })
		if len(operands) > 0 && (name == "cp" || name == "mv" || name == "ln") {
			operands = operands[len(operands)-1:]
		}
		for _, operand := range operands {
			if file := realFile(operand); file != "" {
				return file
			}
		}
		return ""
	default:
		for len(rest) > 1 && strings.HasPrefix(rest[0], "-") {
			if rest[0] == "-C" || rest[0] == "-c" { // options of git with a value
				rest = rest[1:]
			}
			rest = rest[1:]
		}
		if len(rest) > 0 && slices.Contains(which, rest[0]) && !(len(rest) > 1 && (rest[1] == "list" || rest[1] == "show")) {
			return name + " " + rest[0]
		}
		return ""
	}
}

func lastWord(words []string) string {
	if len(words) == 0 {
		return ""
	}
	return words[len(words)-1]
}

// literal is what a word stands for where the shell expands nothing in it.
func literal(word *syntax.Word) string {
	var text strings.Builder
	for _, part := range word.Parts {
		switch p := part.(type) {
		case *syntax.Lit:
			text.WriteString(p.Value)
		case *syntax.SglQuoted:
			text.WriteString(p.Value)
		case *syntax.DblQuoted:
			for _, inner := range p.Parts {
				lit, ok := inner.(*syntax.Lit)
				if !ok {
					return ""
				}
				text.WriteString(lit.Value)
			}
		default:
			return ""
		}
	}
	return text.String()
}

// realFile is a path that counts as written; "" for devices, temporary files and
// what is not literal.
func realFile(name string) string {
	for _, apart := range []string{"/dev/", "/tmp/", "/var/tmp/", "/proc/"} {
		if strings.HasPrefix(name, apart) {
			return ""
		}
	}
	if name == "/tmp" || strings.HasPrefix(name, "$") {
		return ""
	}
	return name
}
