package scenarios

import (
	"encoding/base64"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"golang.org/x/tools/txtar"

	"github.com/tapetree/tapetree/internal/suggest"
	"github.com/tapetree/tapetree/record"
)

// sectionKind is one kind of section. A name that ends in / takes a PATH after
// it and may stand once for each path.
type sectionKind struct {
	name string
	read func(p *parser, path, body string, line int) error
}

// sections are all kinds of section, in the order in which Format writes them.
// A name ending in 64 is the base64 form of the one without, for bytes that no
// text section can hold: CRLF line ends, a file without a final newline, lines
// that look like a marker.
var sections = []sectionKind{
	{"prompt", text(func(s *Scenario) *string { return &s.Prompt })},
	{"prompt64", text64(func(s *Scenario) *string { return &s.Prompt })},
	{"system", optional(func(s *Scenario) **string { return &s.System })},
	{"system64", optional64(func(s *Scenario) **string { return &s.System })},
	{"child-system", optional(func(s *Scenario) **string { return &s.ChildSystem })},
	{"child-system64", optional64(func(s *Scenario) **string { return &s.ChildSystem })},
	{"work/", file("workspace", func(s *Scenario) *[]File { return &s.Files })},
	{"work64/", file64("workspace", func(s *Scenario) *[]File { return &s.Files })},
	{"link/", (*parser).link},
	{"fifo/", (*parser).fifo},
	{"outside/", file("outside", func(s *Scenario) *[]File { return &s.Outside })},
	{"outside64/", file64("outside", func(s *Scenario) *[]File { return &s.Outside })},
	{"approvals", (*parser).approvals},
	{"volatile", (*parser).volatile},
	{"faults", (*parser).faults},
	{"hooks", (*parser).hooks},
	{"want/answer", (*parser).wantAnswer},
	{"want/answer64", (*parser).wantAnswer64},
	{"want/calls", (*parser).wantCalls},
	{"want/files/", file("wanted", func(s *Scenario) *[]File { return &s.Want.Files })},
	{"want/files64/", file64("wanted", func(s *Scenario) *[]File { return &s.Want.Files })},
	{"want/absent", (*parser).wantAbsent},
	{"want/budget", (*parser).wantBudget},
	{"want/verify", (*parser).wantVerify},
	{"want/findings", (*parser).wantFindings},
}

// sectionOf finds the kind of a section name and the PATH in it; nil when there
// is no such kind.
func sectionOf(name string) (kind *sectionKind, path string) {
	for i := range sections {
		kind := &sections[i]
		if strings.HasSuffix(kind.name, "/") {
			if path, found := strings.CutPrefix(name, kind.name); found {
				return kind, path
			}
		} else if name == kind.name {
			return kind, ""
		}
	}
	return nil, ""
}

// section reads one section, whose marker stands on line.
func (p *parser) section(f txtar.File, line int) error {
	kind, path := sectionOf(f.Name)
	if kind == nil {
		return p.errorf(line, "unknown section %q%s", f.Name, suggestSection(f.Name))
	}
	if strings.HasSuffix(kind.name, "/") {
		if wrong := checkPath(path); wrong != "" {
			return p.errorf(line, "section %q: %s", f.Name, wrong)
		}
	}
	// A section and its base64 form are one thing.
	plain, _ := strings.CutSuffix(kind.name, "64")
	for _, name := range []string{plain, plain + "64"} {
		if first := p.lines["section "+name+path]; first > 0 && !strings.HasSuffix(kind.name, "/") {
			return p.errorf(line, "section %q is there already (line %d)", name, first)
		}
	}
	p.lines["section "+f.Name] = line
	return kind.read(p, path, string(f.Data), line)
}

// suggestSection is the end of a message about an unknown section. Names below
// want/ are compared by what follows it, so that the common beginning does not
// make strangers look alike.
func suggestSection(name string) string {
	head, path := name, ""
	group := cmpOr(strings.HasPrefix(name, "want/"), "want/", "")
	if cut := strings.Index(name[len(group):], "/"); cut >= 0 {
		head, path = name[:len(group)+cut+1], name[len(group)+cut+1:]
	}
	var known []string
	for _, kind := range sections {
		if strings.HasPrefix(kind.name, group) {
			known = append(known, kind.name[len(group):])
		}
	}
	if group != "" {
		if nearest := suggest.Nearest(head[len(group):], known); nearest != "" {
			return ` (did you mean "` + group + withPath(nearest, path) + `"?)`
		}
		return ""
	}
	if nearest := suggest.Nearest(head, known); nearest != "" {
		return ` (did you mean "` + withPath(nearest, path) + `"?)`
	}
	return ""
}

// withPath is a section's name with its path, or the word PATH in its place.
func withPath(name, path string) string {
	switch {
	case !strings.HasSuffix(name, "/"):
		return name
	case path == "":
		return name + "PATH"
	default:
		return name + path
	}
}

type readSection = func(p *parser, path, body string, line int) error

// oneLess drops the one final newline that ends a text value.
func oneLess(body string) string { return strings.TrimSuffix(body, "\n") }

func text(field func(*Scenario) *string) readSection {
	return func(p *parser, _, body string, _ int) error {
		*field(p.s) = oneLess(body)
		return nil
	}
}

func text64(field func(*Scenario) *string) readSection {
	return func(p *parser, _, body string, line int) error {
		value, err := p.text64(body, line)
		*field(p.s) = value
		return err
	}
}

func optional(field func(*Scenario) **string) readSection {
	return func(p *parser, _, body string, _ int) error {
		value := oneLess(body)
		*field(p.s) = &value
		return nil
	}
}

func optional64(field func(*Scenario) **string) readSection {
	return func(p *parser, _, body string, line int) error {
		value, err := p.text64(body, line)
		*field(p.s) = &value
		return err
	}
}

func file(folder string, field func(*Scenario) *[]File) readSection {
	return func(p *parser, path, body string, line int) error {
		*field(p.s) = append(*field(p.s), File{Path: path, Data: []byte(body)})
		return p.name(folder, path, line)
	}
}

func file64(folder string, field func(*Scenario) *[]File) readSection {
	return func(p *parser, path, body string, line int) error {
		data, err := p.base64(body, line)
		if err != nil {
			return err
		}
		*field(p.s) = append(*field(p.s), File{Path: path, Data: data})
		return p.name(folder, path, line)
	}
}

// name takes a path of a folder, and refuses one that is there already.
func (p *parser) name(folder, path string, line int) error {
	if p.tree == nil {
		p.tree = treeNames{}
	}
	if wrong := p.tree.add(folder, path, line); wrong != "" {
		return p.errorf(line, "%s", wrong)
	}
	return nil
}

// base64 decodes a section's body; line ends and spaces in it mean nothing.
func (p *parser) base64(body string, line int) ([]byte, error) {
	for i, text := range strings.Split(body, "\n") {
		text = strings.Join(strings.Fields(text), "")
		if at := strings.IndexFunc(text, notBase64); at >= 0 {
			return nil, p.errorf(line+1+i, "%q is no base64", text)
		}
	}
	data, err := base64.StdEncoding.Strict().DecodeString(strings.Join(strings.Fields(body), ""))
	if err != nil {
		return nil, p.errorf(line, "the section's base64 is not complete; encode the bytes again (base64 < FILE)")
	}
	return data, nil
}

func notBase64(r rune) bool {
	return !('A' <= r && r <= 'Z' || 'a' <= r && r <= 'z' || '0' <= r && r <= '9' || r == '+' || r == '/' || r == '=')
}

func (p *parser) text64(body string, line int) (string, error) {
	data, err := p.base64(body, line)
	if err == nil && !utf8.Valid(data) {
		err = p.errorf(line, "the decoded text is not UTF-8")
	}
	return string(data), err
}

func (p *parser) link(path, body string, line int) error {
	target := oneLess(body)
	switch {
	case strings.TrimSpace(target) == "":
		return p.errorf(line, "link %q needs its target on the next line", path)
	case strings.ContainsAny(target, "\n\x00"):
		return p.errorf(line, "link %q has more than one line; its target is one", path)
	}
	p.s.Links = append(p.s.Links, Link{Path: path, Target: target})
	return p.name("workspace", path, line)
}

func (p *parser) fifo(path, body string, line int) error {
	if strings.TrimSpace(body) != "" {
		return p.errorf(line, "fifo %q holds nothing; leave the section empty", path)
	}
	p.s.FIFOs = append(p.s.FIFOs, path)
	return p.name("workspace", path, line)
}

// entries calls each for the lines of a section that is a list, but for empty
// lines and `# …` comments.
func (p *parser) entries(body string, line int, each func(text string, line int) error) error {
	for text := range strings.Lines(body) {
		line++
		text = strings.TrimSpace(text)
		if text == "" || strings.HasPrefix(text, "#") {
			continue
		}
		if err := each(text, line); err != nil {
			return err
		}
	}
	return nil
}

func (p *parser) volatile(_, body string, line int) error {
	var rules []string
	err := p.entries(body, line, func(text string, line int) error {
		if expression, isPattern := pattern(text); isPattern {
			if _, err := regexp.Compile(expression); err != nil {
				return p.errorf(line, "volatile: %v", err)
			}
		} else if err := oneOf("rule", text, volatileSets...); err != nil {
			return p.errorf(line, "volatile: %v, or a regexp between slashes", err)
		}
		if slices.Contains(rules, text) {
			return p.errorf(line, "volatile: %q is there twice", text)
		}
		rules = append(rules, text)
		return nil
	})
	p.s.Volatile = union(p.s.Volatile, rules)
	return err
}

// pattern takes a regexp out of its slashes.
func pattern(text string) (expression string, ok bool) {
	if len(text) > 2 && strings.HasPrefix(text, "/") && strings.HasSuffix(text, "/") {
		return text[1 : len(text)-1], true
	}
	return "", false
}

func (p *parser) wantAbsent(_, body string, line int) error {
	return p.entries(body, line, func(text string, line int) error {
		if wrong := checkPath(text); wrong != "" {
			return p.errorf(line, "want/absent %q: %s", text, wrong)
		}
		p.s.Want.Absent = append(p.s.Want.Absent, text)
		return p.name("wanted", text, line)
	})
}

func (p *parser) wantVerify(_, body string, line int) error {
	p.s.Want.Verify = oneLess(body)
	if strings.TrimSpace(p.s.Want.Verify) == "" {
		return p.errorf(line, "want/verify needs a command on the next line")
	}
	return nil
}

func (p *parser) wantFindings(_, body string, line int) error {
	return p.entries(body, line, func(text string, line int) error {
		if err := oneOf("finding", text, record.Codes()...); err != nil {
			return p.errorf(line, "want/findings: %v", err)
		}
		if slices.Contains(p.s.Want.Findings, text) {
			return p.errorf(line, "want/findings: %q is there twice", text)
		}
		p.s.Want.Findings = append(p.s.Want.Findings, text)
		return nil
	})
}
