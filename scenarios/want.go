package scenarios

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"
	"unicode/utf8"

	"github.com/tapetree/tapetree/internal/prices"
	"github.com/tapetree/tapetree/record"
	"github.com/tapetree/tapetree/runtime"
)

// JudgeWant holds a finished run against the want sections, except Verify and
// Findings. Texts of the run are passed through fold before they are compared,
// so that a scenario can say {{workspace}}; nil changes nothing. A budget of
// money is judged by the prices of table; nil stands for the program's own.
func JudgeWant(s *Scenario, run *runtime.Run, f *Folders, fold func(string) string, table *prices.Table) []record.Finding {
	return judgeWants(s, trees{run}, f, fold, table)
}

// trees are a session: one run of our own runner with all below it, or several of
// a program that is not ours, the main one first.
type trees []*runtime.Run

// walk calls visit for every agent, in tree order.
func (t trees) walk(visit func(*runtime.Run)) {
	for _, root := range t {
		root.Walk(visit)
	}
}

// judgeWants does what JudgeWant does for a session of several trees.
func judgeWants(s *Scenario, session trees, f *Folders, fold func(string) string, table *prices.Table) []record.Finding {
	if fold == nil {
		fold = func(text string) string { return text }
	}
	var findings []record.Finding
	findings = append(findings, judgeAnswer(s.Want.Answer, session[0], fold)...)
	findings = append(findings, judgeCalls(s.Want.Calls, session, fold)...)
	findings = append(findings, judgeFiles(&s.Want, f)...)
	findings = append(findings, judgeBudget(s.Want.Budget, session)...)
	return append(findings, judgeCost(s.Want.Budget, session, table)...)
}

// judgeFiles looks at the workspace as the run left it, without following a
// link out of it.
func judgeFiles(want *Want, f *Folders) []record.Finding {
	if len(want.Files) == 0 && len(want.Absent) == 0 {
		return nil
	}
	root, err := os.OpenRoot(f.Workspace)
	if err != nil {
		return []record.Finding{{Code: "want/files", Message: "the workspace is gone"}}
	}
	defer root.Close()
	var findings []record.Finding
	for _, file := range want.Files {
		if wrong := judgeFile(root, file); wrong != "" {
			findings = append(findings, record.Finding{Code: "want/files", Message: file.Path + ": " + wrong})
		}
	}
	for _, path := range want.Absent {
		switch info, err := root.Lstat(path); {
		case err == nil:
			findings = append(findings, record.Finding{Code: "want/absent", Message: path + ": expected nothing there, got " + kindOf(info.Mode())})
		case !isMissing(err):
			findings = append(findings, record.Finding{Code: "want/absent", Message: path + ": expected nothing there, got something that cannot be looked at"})
		}
	}
	return findings
}

// isMissing reports that nothing can be at a path: there is no such name, or
// what stands above it is no folder.
func isMissing(err error) bool {
	return errors.Is(err, fs.ErrNotExist) || isNotDir(err)
}

func judgeFile(root *os.Root, file File) string {
	info, err := root.Stat(file.Path)
	switch {
	case err != nil && isMissing(err):
		return fmt.Sprintf("expected %s, got no file", size(file.Data))
	case err != nil:
		return fmt.Sprintf("expected %s, got a path that leaves the workspace or cannot be read", size(file.Data))
	case !info.Mode().IsRegular():
		return fmt.Sprintf("expected %s, got %s", size(file.Data), kindOf(info.Mode()))
	}
	got, err := root.ReadFile(file.Path)
	if err != nil {
		return fmt.Sprintf("expected %s, got a file that cannot be read", size(file.Data))
	}
	return differ(file.Data, got)
}

func size(data []byte) string {
	if len(data) == 1 {
		return "1 byte"
	}
	return fmt.Sprintf("%d bytes", len(data))
}

// differ says in one line where got first parts from want, "" when nowhere.
func differ(want, got []byte) string {
	if bytes.Equal(want, got) {
		return ""
	}
	wantLines, gotLines := bytes.SplitAfter(want, []byte("\n")), bytes.SplitAfter(got, []byte("\n"))
	for i := 0; ; i++ {
		var a, b []byte
		if i < len(wantLines) {
			a = wantLines[i]
		}
		if i < len(gotLines) {
			b = gotLines[i]
		}
		if !bytes.Equal(a, b) {
			return fmt.Sprintf("line %d: expected %s, got %s", i+1, lineOrEnd(a), lineOrEnd(b))
		}
	}
}

func lineOrEnd(line []byte) string {
	if len(line) == 0 {
		return "the end"
	}
	return short(string(line))
}

// short quotes a text for a message of one line; of a long one, the beginning.
func short(text string) string {
	const most = 80
	if len(text) <= most {
		return fmt.Sprintf("%q", text)
	}
	cut := most
	for cut > most-utf8.UTFMax && !utf8.RuneStart(text[cut]) {
		cut--
	}
	return fmt.Sprintf("%q... (%d bytes)", text[:cut], len(text))
}

// judgeBudget counts over the whole session trees.
func judgeBudget(want *Budget, session trees) []record.Finding {
	if want == nil {
		return nil
	}
	turns, calls, tokens := 0, 0, 0
	session.walk(func(r *runtime.Run) {
		for _, turn := range r.Turns {
			if turn.Answer != nil {
				turns++
			}
			calls += len(turn.Calls)
		}
	})
	for _, root := range session {
		tokens += root.Tree.Input + root.Tree.Output
	}
	var findings []record.Finding
	for _, limit := range []struct {
		what       string
		most, used int
	}{
		{"turns", want.Turns, turns},
		{"calls", want.Calls, calls},
		{"tokens", want.Tokens, tokens},
	} {
		if limit.most > 0 && limit.used > limit.most {
			findings = append(findings, record.Finding{Code: "want/budget", Message: fmt.Sprintf("%s: expected at most %d, got %d", limit.what, limit.most, limit.used)})
		}
	}
	return findings
}

// judgeCost holds what the whole session cost against the budget. A model
// whose price is not known leaves it open, which is not passed over.
func judgeCost(want *Budget, session trees, table *prices.Table) []record.Finding {
	if want == nil || want.Cost == 0 {
		return nil
	}
	if table == nil {
		table = prices.List()
	}
	wrong := ""
	var cost prices.Amount
	var unknown []string
	for _, root := range session {
		more, missing := table.TreeCost(root)
		cost += more
		unknown = union(unknown, missing)
	}
	switch {
	case cost > want.Cost:
		wrong = fmt.Sprintf("expected at most %s, got %s", want.Cost, cost)
	case len(unknown) > 0:
		wrong = fmt.Sprintf("expected at most %s, but no price is known for the model %s: name a table that has it with --prices FILE", want.Cost, strings.Join(unknown, ", "))
	default:
		return nil
	}
	return []record.Finding{{Code: "want/budget", Message: "cost: " + wrong}}
}
