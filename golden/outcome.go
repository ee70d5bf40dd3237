package golden

import (
	"fmt"

	"github.com/tapetree/tapetree/record"
)

// Outcome is how a rendered history stands to the stored one.
type Outcome struct {
	Code  string // "" when it holds, else golden/missing or golden/differs
	Diff  string // of golden/differs
	Path  string // the stored history, as messages name it
	Wrote string // the file that was written: NAME.txt.new, or NAME.txt for an update; "" for none
}

// Finding puts an outcome that does not hold into a finding and, for one that
// differs, the diff as the detail below it. It reports false when all holds.
func (o Outcome) Finding() (finding record.Finding, detail string, differs bool) {
	switch o.Code {
	case "":
		return record.Finding{}, "", false
	case "golden/missing":
		finding.Message = fmt.Sprintf("there is no %s", o.Path)
	default:
		finding.Message = fmt.Sprintf("the session is not the one in %s", o.Path)
	}
	finding.Code = o.Code
	if o.Wrote != "" {
		finding.Message += fmt.Sprintf(": wrote %s; look at it, then accept it with `tapetree review NAME`", o.Wrote)
	}
	return finding, o.Diff, true
}
