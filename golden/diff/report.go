package diff

import (
	"fmt"
	"io"
)

// Report is how two files differ: the sessions of one against those of the
// other.
type Report struct {
	Version   int      `json:"version"`
	Equal     bool     `json:"equal"`
	Pairs     []*Diff  `json:"pairs"`
	LeftOnly  []string `json:"leftOnly,omitempty"` // sessions without a partner
	RightOnly []string `json:"rightOnly,omitempty"`
}

// NewReport settles whether all is equal.
func NewReport(pairs []*Diff, leftOnly, rightOnly []string) *Report {
	r := &Report{Version: Version, Equal: len(leftOnly)+len(rightOnly) == 0, Pairs: pairs, LeftOnly: leftOnly, RightOnly: rightOnly}
	for _, d := range pairs {
		r.Equal = r.Equal && d.Equal
	}
	return r
}

// Text writes for a terminal or a log.
func (r *Report) Text(to io.Writer, s Style) error { return r.document(s).text(to, s) }

// Stat writes one line an agent.
func (r *Report) Stat(to io.Writer, s Style) error { return r.document(s).stat(to, s) }

// Markdown writes a comment on a pull request.
func (r *Report) Markdown(to io.Writer, s Style) error { return r.document(s).markdown(to, s) }

// HTML writes one page that needs nothing else.
func (r *Report) HTML(to io.Writer, s Style) error { return r.document(s).html(to) }

// JSON writes for programs; docs/diff.schema.json describes it.
func (r *Report) JSON(to io.Writer) error { return writeJSON(to, r) }

func (r *Report) document(s Style) *document {
	var doc *document
	equal := 0
	for _, d := range r.Pairs {
		one := d.document(s)
		if doc == nil && len(r.Pairs)+len(r.LeftOnly)+len(r.RightOnly) == 1 {
			return one
		}
		if doc == nil {
			doc = &document{head: one.head}
		}
		if d.Equal {
			equal++
			continue
		}
		for i := range one.sections {
			one.sections[i].title = d.Left + " → " + d.Right + ": " + one.sections[i].title
			one.table[i][0] = d.Left + ": " + one.table[i][0]
		}
		doc.table = append(doc.table, one.table...)
		doc.sections = append(doc.sections, one.sections...)
	}
	if doc == nil {
		doc = &document{head: (&Diff{}).document(s).head}
	}
	doc.title = fmt.Sprintf("%s compared, %d equal", count(len(r.Pairs), "session"), equal)
	for _, name := range r.LeftOnly {
		doc.summary = append(doc.summary, "without a partner on the right: "+name)
	}
	for _, name := range r.RightOnly {
		doc.summary = append(doc.summary, "without a partner on the left: "+name)
	}
	return doc
}
