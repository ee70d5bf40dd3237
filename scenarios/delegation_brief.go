package scenarios

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"unicode"

	"github.com/tapetree/tapetree/runtime"

	"github.com/go-json-experiment/json/jsontext"
)

// unresolved are words that only somebody understands who has read what was
// said before. The child has not.
var unresolved = regexp.MustCompile(`(?i)\b(` + strings.Join([]string{
	`as (we )?(discussed|mentioned|described|agreed|explained|said) (above|before|earlier|previously)`,
	`as (we )?(discussed|agreed)\b`,
	`(mentioned|discussed|described|shown|given|listed|pasted) (above|earlier in (this|our) (conversation|chat|session))`,
	`the (files?|errors?|code|functions?|output|list|test|tests|issue|problem|bug|message|stack ?trace|plan|steps) above`,
	`the above(-| )?(mentioned)? ?(files?|errors?|code|functions?|output|list|issue|problem|plan|steps)`,
	`(earlier|previously) in (this|our) (conversation|chat|session)`,
	`(what|like) (i|we|you) (said|discussed|talked about) (before|earlier)`,
	`our (previous|earlier) (conversation|discussion)`,
}, "|") + `)`)

// vague says what is wrong with a brief; "" when nothing is.
func vague(brief string, least int) string {
	brief = strings.TrimSpace(brief)
	if brief == "" {
		return ""
	}
	// A brief may refer to what stands in itself; only its beginning has nothing
	// above it.
	if at := unresolved.FindStringIndex(brief); at != nil && !strings.Contains(brief[:at[0]], "\n") {
		return "speaks of a conversation that the child does not see: " + fmt.Sprintf("%q", brief[at[0]:at[1]])
	}
	words, signs := length(brief)
	if words+signs/2 < least && !namesSomething(brief) {
		return "names nothing: " + short(brief)
	}
	return ""
}

// namesSomething reports whether a text has a path, an identifier, a number, a
// quotation or a name in the middle of a sentence.
func namesSomething(text string) bool {
	if strings.ContainsAny(text, "/\\_`\"'#@:0123456789") {
		return true
	}
	for i, word := range strings.Fields(text) {
		word = strings.TrimRight(word, ".,;!?")
		for j, r := range word {
			if r == '.' || unicode.IsUpper(r) && (j > 0 || i > 0) {
				return true
			}
		}
	}
	return false
}

// length counts the words of a text, and its Chinese, Japanese and Korean
// characters, which are no part of words.
func length(text string) (words, signs int) {
	inWord := false
	for _, r := range text {
		switch {
		case unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Hangul):
			signs++
			inWord = false
		case unicode.IsSpace(r):
			inWord = false
		case !inWord:
			words++
			inWord = true
		}
	}
	return words, signs
}

// readerKinds are the kinds of agents that only read, as foldName writes them:
// Claude Code, opencode and others have them under these names.
var readerKinds = []string{"explore", "explorer", "plan", "planner", "reader", "researcher", "codereviewer", "reviewer"}

// Words of a brief, in lower case. A brief that begins with one of readVerbs and
// has none of writeWords only asks to read.
var (
	readVerbs  = []string{"read", "find", "search", "look", "list", "explore", "analyze", "analyse", "investigate", "review", "summarize", "summarise", "explain", "check", "report", "count", "locate", "identify", "inspect", "examine", "research", "understand", "describe", "determine", "grep"}
	writeWords = regexp.MustCompile(`(?i)\b(writ(e|es|ing|ten)|creat(e|es|ing)|edit(s|ing)?|fix(es|ing)?|implement(s|ing)?|add(s|ing)?|updat(e|es|ing)|chang(e|es|ing)|modif(y|ies|ying)|refactor\w*|delet(e|es|ing)|remov(e|es|ing)|renam(e|es|ing)|install\w*|sav(e|es|ing)|generat(e|es|ing)|mov(e|es|ing)|appl(y|ies|ying)|replac(e|es|ing)|build(s|ing)?|commit\w*|copy|copies|clean(s|ing)?|run(s|ning)?|execut(e|es|ing)|clone|download|patch\w*|put|store|append|insert|migrat\w*|convert|format)\b`)
	noWriting  = regexp.MustCompile(`(?i)\b(do not|don't|dont|never|must not|without|no) (\w+ ){0,2}?(writ(e|ing)|edit(ing|s)?|modify(ing)?|chang(e|es|ing)|creat(e|ing)|delet(e|ing)|touch(ing)?|make any changes)\b|\bread[- ]only\b`)
)

// onlyReads says why a child is one that should write nothing; "" when it may.
func onlyReads(arguments, brief string) string {
	for _, key := range []string{"subagent_type", "agent_type", "agent", "agentName", "agent_name"} {
		if kind := textOf(argumentsOf(arguments)[key]); kind != "" && slices.Contains(readerKinds, foldName(kind)) {
			return fmt.Sprintf("its kind, %s, only reads", short(kind))
		}
	}
	if noWriting.MatchString(brief) {
		return "the brief forbids it"
	}
	first, _, _ := strings.Cut(strings.TrimSpace(brief), " ")
	first = strings.ToLower(strings.Trim(first, ".,:;"))
	if slices.Contains(readVerbs, first) && !writeWords.MatchString(brief) {
		return "the brief only asks to read: " + short(brief)
	}
	return ""
}

// readerWrites finds the first write of a child that should not.
func (d *delegation) readerWrites(call *runtime.CallRecord, brief string) {
	why := onlyReads(call.Arguments, brief)
	if why == "" {
		return
	}
	for i := range call.Child.Turns {
		turn := &call.Child.Turns[i]
		for j := range turn.Calls {
			c := &turn.Calls[j]
			if path := d.written(c); path != "" {
				d.report("reader-writes", call.Child.Agent, turn.Number, "call %d (%s) writes %s, and %s", c.Number, c.Name, visible(path), why)
				return
			}
		}
	}
}

// written is a file that a call wrote, "" when it wrote none.
func (d *delegation) written(call *runtime.CallRecord) string {
	if !d.worked(call) {
		return ""
	}
	for _, f := range filesOf(call) {
		if f.use != reads {
			return realFile(f.path)
		}
	}
	return shellWrites(commandOf(call))
}

// visible is a path as one word of a message.
func visible(path string) string {
	if len(path) > 80 || strings.ContainsFunc(path, func(r rune) bool { return !unicode.IsPrint(r) }) {
		quoted, _ := jsontext.AppendQuote(nil, path[:min(len(path), 80)])
		return string(quoted)
	}
	return path
}
