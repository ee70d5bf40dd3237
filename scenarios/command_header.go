package scenarios

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/expand"
	"mvdan.cc/sh/v3/syntax"

	"github.com/tapetree/tapetree/internal/files"
	"github.com/tapetree/tapetree/record"
	"github.com/tapetree/tapetree/transcripts"
)

// setCommand reads the words of a command as a shell would, quotes and all, but
// nothing in them is expanded: what a shell would put something in place of is
// refused.
func setCommand(s *Scenario, value string) error {
	words, err := splitWords(value)
	s.Command = words
	return err
}

// projectWord stands in a command for the absolute path of the folder that holds
// the scenarios folder: the program may run in a workspace elsewhere.
const projectWord = "{{project}}"

// commandWords are the words of a scenario's command as the program gets them.
func (s Source) commandWords(scenario *Scenario) ([]string, error) {
	if scenario.Command == nil {
		return nil, nil
	}
	project, err := filepath.Abs(s.Dir)
	if err != nil {
		return nil, fmt.Errorf("%w: find the project's folder: %w", ErrCannotRun, files.Reason(err))
	}
	words := slices.Clone(scenario.Command)
	for i := range words {
		words[i] = strings.ReplaceAll(words[i], projectWord, project)
	}
	return words, nil
}

// useShell is the way out for who needs more than words.
const useShell = `; quote it, or let a shell do it: sh -c '…'`

func splitWords(line string) ([]string, error) {
	file, err := syntax.NewParser(syntax.Variant(syntax.LangBash)).Parse(strings.NewReader(line), "")
	if err != nil {
		var wrong syntax.ParseError
		if errors.As(err, &wrong) {
			return nil, fmt.Errorf("%q cannot be read as the words of a command: %s", line, wrong.Text)
		}
		return nil, fmt.Errorf("%q cannot be read as the words of a command", line)
	}
	if len(file.Stmts) != 1 || len(file.Last) > 0 {
		return nil, fmt.Errorf("%q is not one command%s", line, useShell)
	}
	stmt := file.Stmts[0]
	call, simple := stmt.Cmd.(*syntax.CallExpr)
	switch {
	case !simple || len(stmt.Redirs) > 0 || stmt.Negated || stmt.Background || stmt.Coprocess:
		return nil, fmt.Errorf("%q is more than one program and its arguments%s", line, useShell)
	case len(call.Assigns) > 0:
		return nil, fmt.Errorf("%q sets a variable%s", line, useShell)
	}
	for _, word := range call.Args {
		if text := expanded(word, line); text != "" {
			return nil, fmt.Errorf("%q would be expanded by a shell, and is not here%s", text, useShell)
		}
	}
	// Takes the quotes off. Without a configuration of its own the library uses one
	// that all calls share, and parsing runs in several goroutines.
	words, err := expand.Fields(&expand.Config{}, call.Args...)
	if err != nil || len(words) != len(call.Args) {
		return nil, fmt.Errorf("%q cannot be read as the words of a command", line)
	}
	if words[0] == "" {
		return nil, fmt.Errorf("%q names no program", line)
	}
	return words, nil
}

// expanded is the part of a word that a shell would put something else in
// place of; "" when there is none.
func expanded(word *syntax.Word, line string) (text string) {
	span := func(node syntax.Node) string { return line[node.Pos().Offset():node.End().Offset()] }
	for i, part := range word.Parts {
		switch part := part.(type) {
		case *syntax.SglQuoted:
		case *syntax.Lit:
			if i == 0 && strings.HasPrefix(part.Value, "~") || hasGlob(strings.ReplaceAll(part.Value, projectWord, "")) {
				return span(word)
			}
		case *syntax.DblQuoted:
			for _, inner := range part.Parts {
				if _, plain := inner.(*syntax.Lit); !plain {
					return span(inner)
				}
			}
		default:
			return span(part)
		}
	}
	return ""
}

// hasGlob reports whether unquoted text has a pattern or braces in it. A
// backslash quotes the character after it.
func hasGlob(text string) bool {
	for i := 0; i < len(text); i++ {
		switch text[i] {
		case '\\':
			i++
		case '*', '?', '[', '{':
			return true
		}
	}
	return false
}

// formatCommand writes words so that setCommand reads them again.
func formatCommand(s *Scenario) string { return QuoteWords(s.Command) }

// QuoteWords writes words so that a shell reads them again.
func QuoteWords(list []string) string {
	words := make([]string, len(list))
	for i, word := range list {
		quoted, err := syntax.Quote(word, syntax.LangBash)
		if err != nil { // a NUL, which no argument of a program can hold
			quoted = "''"
		}
		words[i] = quoted
	}
	return strings.Join(words, " ")
}

// ownRunner are the headers and sections that only our own runner goes by.
var ownRunner = []string{
	"header profile", "header model", "header sub-model", "header max-turns", "header child-max-turns", "header approve", "header mode",
	"header child-policy", "header context-budget", "header output-tokens", "header tools", "header interrupt", "header fixture",
	"section system", "section system64", "section child-system", "section child-system64", "section approvals", "section hooks",
}

// commandFits refuses what a program of somebody else's does not go by.
func (p *parser) commandFits() error {
	if p.s.Command == nil {
		return nil
	}
	for _, key := range ownRunner {
		if line := p.lines[key]; line > 0 {
			kind, name, _ := strings.Cut(key, " ")
			return p.errorf(line, "%s %q: the command is an agent of its own, which does not go by it (line %d)", kind, name, p.lines["header command"])
		}
	}
	return nil
}

// needsPrompt refuses a scenario that says nothing about what is to be done.
func (s *Scenario) needsPrompt() error {
	if s.Prompt != "" {
		return nil
	}
	return &transcripts.SyntaxError{File: s.File, Line: 1, Msg: fmt.Sprintf("no prompt section; write the prompt below a line %q", "-- prompt --")}
}

// faults reads one fault a line.
func (p *parser) faults(_, body string, line int) error {
	err := p.entries(body, line, func(text string, line int) error {
		fault, err := record.ParseFault(text)
		if err != nil {
			return p.errorf(line, "faults: %s", strings.TrimPrefix(err.Error(), "parse fault "))
		}
		if slices.Contains(p.s.Faults, fault) {
			return p.errorf(line, "faults: %q is there twice", text)
		}
		p.s.Faults = append(p.s.Faults, fault)
		return nil
	})
	if err == nil && len(p.s.Faults) == 0 {
		err = p.errorf(line, "faults: no line; write one fault a line, as in: root#1 status 429 retry-after=2")
	}
	return err
}
