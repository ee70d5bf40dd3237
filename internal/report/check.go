package report

import (
	"fmt"
	"io"
	"slices"
	"strings"
)

// Check is what a check of histories came to, without the files, which are
// written one after another. Its JSON is described by docs/check.schema.json.
type Check struct {
	Histories  int
	Errors     int // findings of each weight that are not known
	Warnings   int
	Notices    int
	Known      int      // findings that the baseline, or a scenario, expects
	Unreadable int      // files that could not be read
	Passed     int      // files of folders that are no history
	Stale      []string // entries of the baseline that nothing matched
}

// CheckFile is one history.
type CheckFile struct {
	File     string         `json:"file"`
	Part     string         `json:"part,omitzero"` // which session of the file
	Format   string         `json:"format"`
	Agents   int            `json:"agents"`
	Messages int            `json:"messages"`
	Calls    int            `json:"calls"`
	Findings []CheckFinding `json:"findings"`
	Unread   []CheckPlace   `json:"unread,omitempty"` // places of the file that could not be read
	Error    string         `json:"error,omitzero"`   // why the file could not be read
}

// CheckFinding is one broken rule of a history.
type CheckFinding struct {
	Code        string `json:"code"`
	Severity    string `json:"severity"`
	Agent       string `json:"agent,omitzero"` // "": the whole session
	Turn        int    `json:"turn,omitzero"`  // 0: no turn in particular
	Line        int    `json:"line,omitzero"`  // of the file; 0: not known
	Message     string `json:"message"`
	Fingerprint string `json:"fingerprint"`
	Known       string `json:"known,omitzero"` // what expects it: the baseline or a scenario
}

// CheckPlace is a place of a file, and what is wrong there.
type CheckPlace struct {
	Line    int    `json:"line,omitzero"` // from 1; 0: the file as a whole
	Message string `json:"message"`
}

// Name is the history as people name it.
func (f *CheckFile) Name() string {
	if f.Part == "" {
		return f.File
	}
	return f.File + " (" + f.Part + ")"
}

// Add counts a history.
func (c *Check) Add(f *CheckFile) {
	if f.Error != "" {
		c.Unreadable++
		return
	}
	c.Histories++
	for _, finding := range f.Findings {
		switch {
		case finding.Known != "":
			c.Known++
		case finding.Severity == "error":
			c.Errors++
		case finding.Severity == "warning":
			c.Warnings++
		default:
			c.Notices++
		}
	}
}

// CheckOptions of a report.
type CheckOptions struct {
	Quiet   bool
	Color   bool
	Version string                             // of the program, for SARIF
	Rule    func(code string) (string, string) // meaning and remedy of a finding
}

// CheckWriter writes a check while it goes on: each history as it comes, then
// the sum.
type CheckWriter interface {
	File(f *CheckFile) error
	Close(c *Check) error
}

// CheckFormats lists the formats of NewCheckWriter.
var CheckFormats = []string{"text", "json", "junit", "github", "markdown", "tap", "sarif"}

// NewCheckWriter writes to w in one of CheckFormats.
func NewCheckWriter(w io.Writer, format string, o CheckOptions) (CheckWriter, error) {
	switch format {
	case "text":
		return &checkText{w: w, o: o, advised: map[string]bool{}}, nil
	case "json":
		return &checkJSON{w: w}, nil
	case "junit":
		return &checkJUnit{w: w}, nil
	case "github":
		return &checkGitHub{w: w}, nil
	case "markdown":
		return &checkMarkdown{w: w, o: o}, nil
	case "tap":
		return &checkTAP{w: w}, nil
	case "sarif":
		return &checkSARIF{w: w, o: o}, nil
	default:
		return nil, fmt.Errorf("write check: unknown format %q", format)
	}
}

// place is where a finding stands: the line where it is known, and the agent
// and turn.
func (f *CheckFile) place(finding *CheckFinding) string {
	text := f.File
	if finding.Line > 0 {
		text += fmt.Sprintf(":%d", finding.Line)
	}
	text += ":"
	if f.Part != "" {
		text += " " + f.Part + ":"
	}
	if at := finding.At(); at != "" {
		text += " " + at + ":"
	}
	return text
}

// At is the agent and the turn, as in root/2.1#3.
func (f *CheckFinding) At() string {
	if f.Turn > 0 {
		return fmt.Sprintf("%s#%d", f.Agent, f.Turn)
	}
	return f.Agent
}

// sum says in one line what a check came to.
func (c *Check) sum() string {
	list := []string{counted(c.Errors, "error"), counted(c.Warnings, "warning")}
	if c.Notices > 0 {
		list = append(list, counted(c.Notices, "notice"))
	}
	if c.Known > 0 {
		list = append(list, fmt.Sprintf("%d known", c.Known))
	}
	if c.Unreadable > 0 {
		list = append(list, fmt.Sprintf("%d not read", c.Unreadable))
	}
	histories := fmt.Sprintf("%d histories", c.Histories)
	if c.Histories == 1 {
		histories = "1 history"
	}
	return histories + ": " + strings.Join(list, ", ")
}

// fresh are the findings that nothing expects.
func (f *CheckFile) fresh() []CheckFinding {
	return slices.DeleteFunc(slices.Clone(f.Findings), func(f CheckFinding) bool { return f.Known != "" })
}
