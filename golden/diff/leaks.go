package diff

import (
	"cmp"
	"strings"

	"github.com/tapetree/tapetree/runtime"
	"github.com/tapetree/tapetree/transcripts"
)

// Bounds of what counts as a leak: a whole line that does not come about twice
// by itself.
const (
	leakLine  = 48 // bytes of a line without the white space around it
	leakSigns = 12 // different bytes in it
	mostLeaks = 16 // of one child
)

// resultLine is where a line of a child's results was first had.
type resultLine struct {
	child, turn int
	tool        string
	excused     bool
}

// leaks looks for lines of the results of run's children in what run was sent.
// A line is no leak that the child reported, that stands in a call of the parent
// or in a result of the parent's own tools, or that the parent had before.
func (p *parentChild) leaks(run *runtime.Run) {
	at := map[runtime.Path]int{}
	for i := range p.to.Children {
		at[runtime.Path(p.to.Children[i].Child)] = i
	}
	lines := map[string]*resultLine{}
	delegated := map[string]bool{}
	for i := range run.Turns {
		for _, c := range run.Turns[i].Calls {
			if c.Child == nil {
				continue
			}
			delegated[c.ID] = true
			if n, ok := at[c.Child.Agent]; ok {
				linesOfChild(c.Child, n, lines)
			}
		}
	}
	if len(lines) == 0 {
		return
	}
	excuse := func(text string) {
		eachLine(text, func(l string) {
			if known := lines[l]; known != nil {
				known.excused = true
			}
		})
	}
	for _, child := range run.Children() {
		excuse(child.Final)
		excuse(child.Partial)
	}
	number := 0
	tell(run, func(s said) {
		if s.role == string(runtime.RoleSystem) || s.role == "developer" {
			excuse(s.text)
			return
		}
		number++
		switch {
		case s.role == string(runtime.RoleAssistant):
			excuse(s.text)
			for _, c := range s.calls {
				excuse(p.arguments(c.Arguments))
				if _, brief := transcripts.Brief(c.Arguments); brief != "" {
					excuse(brief)
				}
			}
		case s.role == string(runtime.RoleTool) && !delegated[s.answers]:
			excuse(s.text)
		default:
			eachLine(s.text, func(l string) { p.leak(lines[l], number, l) })
		}
	})
}

func (p *parentChild) leak(known *resultLine, message int, text string) {
	if known == nil || known.excused {
		return
	}
	known.excused = true // told once
	d := &p.to.Children[known.child]
	if len(d.Leaks) < mostLeaks {
		d.Leaks = append(d.Leaks, Leak{Turn: known.turn, Tool: known.tool, Message: message, Text: p.text(text)})
	}
}

func linesOfChild(child *runtime.Run, n int, lines map[string]*resultLine) {
	type asked struct {
		name string
		turn int
	}
	calls := map[string]asked{}
	tell(child, func(s said) {
		switch s.role {
		case string(runtime.RoleAssistant):
			for i, id := range callIDs(&s) {
				calls[id] = asked{s.calls[i].Name, s.turn}
			}
		case string(runtime.RoleTool):
			eachLine(s.text, func(l string) {
				if lines[l] == nil {
					call := calls[s.answers]
					lines[l] = &resultLine{child: n, turn: cmp.Or(call.turn, s.turn), tool: call.name}
				}
			})
		case string(runtime.RoleUser): // what the child was told is the parent's
			eachLine(s.text, func(l string) {
				if lines[l] == nil {
					lines[l] = &resultLine{excused: true}
				}
			})
		}
	})
}

// eachLine visits the lines of a text that can be told from others.
func eachLine(text string, visit func(string)) {
	for l := range strings.Lines(text) {
		l = strings.TrimSpace(l)
		if len(l) < leakLine {
			continue
		}
		var signs [256]bool
		n := 0
		for i := range len(l) {
			if !signs[l[i]] {
				signs[l[i]] = true
				n++
			}
		}
		if n >= leakSigns {
			visit(l)
		}
	}
}
