package tools

import (
	"strings"
	"unicode"

	"mvdan.cc/sh/v3/syntax"
)

// plainWords returns the words of command if it is one simple command of
// literal words and nothing else, as bash and any POSIX shell read it: no
// second command in whatever way, no redirection, no assignment, nothing that
// the shell would expand or unquote in part. Each word is written bare, or as a
// whole in single or in double quotes; the first is bare.
func plainWords(command string) ([]string, bool) {
	command = strings.TrimRight(command, "\n")
	if len(command) > maxCommand || strings.ContainsFunc(command, unicode.IsControl) {
		return nil, false // also a second line, whatever it stands in
	}
	file, err := syntax.NewParser(syntax.Variant(syntax.LangBash)).Parse(strings.NewReader(command), "")
	if err != nil || len(file.Stmts) != 1 {
		return nil, false
	}
	statement := file.Stmts[0]
	call, simple := statement.Cmd.(*syntax.CallExpr)
	if !simple || len(call.Assigns) > 0 || len(call.Args) == 0 || len(statement.Redirs) > 0 ||
		statement.Negated || statement.Background || statement.Coprocess || statement.Disown || statement.Semicolon.IsValid() {
		return nil, false
	}
	var words []string
	for i, word := range call.Args {
		text, ok := plainWord(word, i == 0)
		if !ok {
			return nil, false
		}
		words = append(words, text)
	}
	return words, true
}

// plainWord returns what a literal word stands for.
func plainWord(word *syntax.Word, bareOnly bool) (string, bool) {
	if len(word.Parts) != 1 {
		return "", false
	}
	switch part := word.Parts[0].(type) {
	case *syntax.Lit:
		return part.Value, bare(part.Value)
	case *syntax.SglQuoted:
		return part.Value, !part.Dollar && !bareOnly
	case *syntax.DblQuoted:
		text, ok := doubleQuoted(part)
		return text, ok && !bareOnly
	default:
		return "", false
	}
}

// bareSigns are the characters besides letters and digits of which a word
// without quotes may consist. None of them means anything to a shell, but for
// the tilde, which is a home folder at the beginning of a word, and behind a
// colon or an equals sign in some shells.
const bareSigns = "-_./:,+%=@^~"

func bare(text string) bool {
	for _, r := range text {
		switch {
		case 'a' <= r && r <= 'z', 'A' <= r && r <= 'Z', '0' <= r && r <= '9':
		case !strings.ContainsRune(bareSigns, r):
			return false
		}
	}
	tilde := strings.IndexByte(text, '~')
	return tilde < 0 || tilde > 0 && !strings.ContainsAny(text[:tilde], ":=")
}

// doubleQuoted returns the text of "…", which may hold escaped signs and no
// expansion.
func doubleQuoted(quoted *syntax.DblQuoted) (string, bool) {
	if quoted.Dollar || len(quoted.Parts) > 1 {
		return "", false
	}
	if len(quoted.Parts) == 0 {
		return "", true
	}
	lit, ok := quoted.Parts[0].(*syntax.Lit)
	if !ok || strings.ContainsAny(unescaped.Replace(lit.Value), "$`") {
		return "", false
	}
	return escapes.Replace(lit.Value), true
}

// What a backslash takes the meaning of in double quotes, and what it leaves.
var (
	escapes   = strings.NewReplacer(`\\`, `\`, `\"`, `"`, `\$`, `$`, "\\`", "`")
	unescaped = strings.NewReplacer(`\\`, ``, `\"`, ``, `\$`, ``, "\\`", ``)
)
