package scenarios

import (
	"bytes"
	"fmt"
	"path"
	"regexp"
	"strings"
	"unicode/utf8"

	"golang.org/x/tools/txtar"

	"github.com/tapetree/tapetree/runtime"
	"github.com/tapetree/tapetree/runtime/profiles"
	"github.com/tapetree/tapetree/transcripts"
)

// Parse reads one scenario strictly; defaults may be nil. CRLF line ends and a
// byte order mark at the beginning mean nothing. Every error is a
// *transcripts.SyntaxError with the line it is about.
func Parse(file string, data []byte, defaults *Defaults) (*Scenario, error) {
	p := &parser{file: file, s: &Scenario{File: file, Name: nameOf(file)}, lines: map[string]int{}}
	if !validName.MatchString(p.s.Name) {
		return nil, p.errorf(1, "scenario name %q: must be lower-case letters, digits, dots, - and _, as in [a-z0-9][a-z0-9._-]*", p.s.Name)
	}
	archive, err := p.split(data)
	if err != nil {
		return nil, err
	}
	if err := p.header(archive.Comment, headers); err != nil {
		return nil, err
	}
	for i, f := range archive.Files {
		if err := p.section(f, p.markers[i]); err != nil {
			return nil, err
		}
	}
	if err := p.whole(); err != nil {
		return nil, err
	}
	p.complete(defaults)
	if err := p.profileFits(); err != nil {
		return nil, err
	}
	return p.s, nil
}

// Defaults is a parsed _defaults.txtar: header values and volatile rules that
// hold for every scenario of its folder which does not say otherwise.
type Defaults struct {
	s     *Scenario
	lines map[string]int // which headers were given
}

// ParseDefaults reads a _defaults.txtar as strictly as a scenario. It may hold
// the headers that make sense for many scenarios and the volatile section.
func ParseDefaults(file string, data []byte) (*Defaults, error) {
	p := &parser{file: file, s: &Scenario{File: file}, lines: map[string]int{}}
	archive, err := p.split(data)
	if err != nil {
		return nil, err
	}
	if err := p.header(archive.Comment, headersOfDefaults()); err != nil {
		return nil, err
	}
	for i, f := range archive.Files {
		if f.Name != "volatile" {
			return nil, p.errorf(p.markers[i], "section %q: only volatile can stand in the defaults of all scenarios", f.Name)
		}
		if err := p.section(f, p.markers[i]); err != nil {
			return nil, err
		}
	}
	return &Defaults{s: p.s, lines: p.lines}, nil
}

// parser is one file being read.
type parser struct {
	file    string
	s       *Scenario
	lines   map[string]int // header key, section name or "path in a folder" to the line it stands on
	markers []int          // the line of each section's marker
	tree    treeNames
}

func (p *parser) errorf(line int, format string, args ...any) error {
	return &transcripts.SyntaxError{File: p.file, Line: line, Msg: fmt.Sprintf(format, args...)}
}

var validName = regexp.MustCompile(`^[a-z0-9][a-z0-9._-]*$`)

// nameOf is the base name of a scenario's file, on whatever system it was
// named, without .txtar.
func nameOf(file string) string {
	return strings.TrimSuffix(file[strings.LastIndexAny(file, `/\`)+1:], ".txtar")
}

// split checks what txtar lets pass, the encoding and lines that are almost a
// marker, and cuts the file into its header and sections.
func (p *parser) split(data []byte) (*txtar.Archive, error) {
	data = bytes.TrimPrefix(data, []byte("\ufeff"))
	data = bytes.ReplaceAll(data, []byte("\r\n"), []byte("\n"))
	if cut, torn := bytes.CutSuffix(data, []byte("\r")); torn { // a last line end that was cut in half
		data = append(cut[:len(cut):len(cut)], '\n')
	}
	line := 0
	for text := range bytes.Lines(data) {
		line++
		if !utf8.Valid(text) {
			return nil, p.errorf(line, "not UTF-8; a file of other bytes goes into a work64/PATH section, in base64")
		}
		text = bytes.TrimSuffix(text, []byte("\n"))
		switch name, what := marker(string(text)); what {
		case isMarker:
			p.markers = append(p.markers, line)
		case nearMarker:
			return nil, p.errorf(line, "%q looks like a section marker but is none; write %q (a file that must hold such a line goes into work64/PATH)", text, "-- "+name+" --")
		}
	}
	archive := txtar.Parse(data)
	if len(archive.Files) != len(p.markers) {
		return nil, p.errorf(1, "sections cannot be told apart: %d markers, %d sections", len(p.markers), len(archive.Files))
	}
	return archive, nil
}

// What a line is to the splitter.
const (
	noMarker = iota
	isMarker
	nearMarker
)

var dashedName = regexp.MustCompile(`^\s*--+\s*(.*?[\pL\pN_].*?)\s*--+\s*$`)

// marker tells a section marker `-- NAME --` from any other line, and finds the
// lines that a hurried hand meant as one: other dashes or spaces around a name,
// or a missing end after the name of a section that exists.
func marker(line string) (name string, what int) {
	trimmed := strings.TrimSpace(line)
	if !strings.HasPrefix(trimmed, "--") && !strings.HasSuffix(trimmed, "--") {
		return "", noMarker
	}
	if match := dashedName.FindStringSubmatch(line); match != nil {
		if line == "-- "+match[1]+" --" {
			return match[1], isMarker
		}
		return match[1], nearMarker
	}
	name = strings.Trim(line, "- \t")
	if kind, _ := sectionOf(name); kind != nil {
		return name, nearMarker
	}
	return "", noMarker
}

// whole checks what only the complete file shows.
func (p *parser) whole() error {
	s := p.s
	if line := p.lines["section prompt"] + p.lines["section prompt64"]; line > 0 && strings.TrimSpace(s.Prompt) == "" {
		return p.errorf(line, "the prompt is empty")
	}
	if err := p.commandFits(); err != nil {
		return err
	}
	if line := p.lines["header approve"]; line > 0 {
		switch scripted := len(s.Approvals) > 0; {
		case s.Approve == "script" && !scripted:
			return p.errorf(line, "approve: script needs an approvals section with at least one line")
		case s.Approve != "script" && scripted:
			return p.errorf(p.lines["section approvals"], "approvals are used with approve: script only, and line %d says approve: %s", line, s.Approve)
		}
	}
	return nil
}

// complete fills in what the file leaves out: from defaults, then the fixed
// values. An approvals section means approve: script, whatever the defaults.
func (p *parser) complete(defaults *Defaults) {
	s := p.s
	if len(s.Approvals) > 0 {
		s.Approve, p.lines["header approve"] = "script", -1
	}
	if defaults != nil {
		for i := range headers {
			if h := &headers[i]; h.inherit != nil && p.lines["header "+h.key] == 0 && defaults.lines["header "+h.key] != 0 {
				h.inherit(s, defaults.s)
			}
		}
		s.Volatile = union(defaults.s.Volatile, s.Volatile)
	}
	if s.Profile == "" {
		s.Profile = profiles.P06.Name
	}
	if s.Transcript == "" {
		s.Transcript = s.Name
	}
	if s.Golden == "" {
		s.Golden = s.Name
	}
	if s.Mode == "" {
		s.Mode = runtime.ModeDefault
	}
}

// union returns the words of both lists, each once, in order.
func union(first, second []string) []string {
	var all []string
	seen := map[string]bool{}
	for _, list := range [][]string{first, second} {
		for _, word := range list {
			if !seen[word] {
				seen[word] = true
				all = append(all, word)
			}
		}
	}
	return all
}

// checkPath says what is wrong with a slash-separated path that must stay in
// its folder and mean the same file on every system; "" when nothing is.
func checkPath(p string) string {
	switch {
	case p == "":
		return "the path is empty"
	case strings.ContainsRune(p, '\\'):
		return "the path has a backslash; write / between folders"
	case strings.HasPrefix(p, "/"):
		return "the path is absolute; write it relative to its folder"
	case len(p) > 1 && p[1] == ':' && (p[0]|0x20) >= 'a' && (p[0]|0x20) <= 'z':
		return "the path begins with a drive; write it relative to its folder"
	case strings.ContainsFunc(p, func(r rune) bool { return r < ' ' || r == 0x7f }):
		return "the path has a control character"
	}
	for part := range strings.SplitSeq(p, "/") {
		switch {
		case part == "":
			return "the path has an empty part"
		case part == ".":
			return `the path has a part "."`
		case part == "..":
			return "the path leaves its folder"
		case len(part) > longestPart:
			return fmt.Sprintf("the path has a part of more than %d bytes", longestPart)
		}
	}
	if len(p) > longestPath {
		return fmt.Sprintf("the path has more than %d bytes", longestPath)
	}
	return ""
}

// What every file system takes, the second below a temporary folder on macOS,
// where a whole path may have 1024 bytes.
const (
	longestPart = 255
	longestPath = 800
)

// treeNames knows the names of one or more folders, to refuse what would be one
// file on a case-blind file system and a name that is both file and folder.
type treeNames map[string]treeName

type treeName struct {
	spelled string
	folder  bool
	line    int
}

// add takes the file at p, a path inside the folder called base.
func (t treeNames) add(base, p string, line int) string {
	for i := range len(p) + 1 {
		if i < len(p) && p[i] != '/' {
			continue
		}
		name, folder := p[:i], i < len(p)
		key := base + "/" + strings.ToLower(strings.ToUpper(name))
		before, found := t[key]
		switch {
		case !found:
			t[key] = treeName{spelled: name, folder: folder, line: line}
		case before.spelled != name:
			return fmt.Sprintf("%q and %q (line %d) are one name where letter case does not count", name, before.spelled, before.line)
		case before.folder != folder:
			return fmt.Sprintf("%q is %s and (line %d) %s", name, cmpOr(folder, "a folder", "a file"), before.line, cmpOr(before.folder, "a folder", "a file"))
		case !folder:
			return fmt.Sprintf("%q is there already (line %d)", path.Join(base, name), before.line)
		}
	}
	return ""
}
