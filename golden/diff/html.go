package diff

import (
	_ "embed"
	"html/template"
	"io"
)

//go:embed page.html
var pageText string

var page = template.Must(template.New("page").Parse(pageText))

// HTML writes a diff as one page that needs nothing else, and no script.
func (d *Diff) HTML(to io.Writer, s Style) error { return d.document(s).html(to) }

type pageSection struct {
	Title string
	Equal bool
	Lines []pageLine
}

type pageLine struct {
	Mark, Class string
	Depth       int
	Parts       []pagePart
}

type pagePart struct{ Class, Text string }

// classes of lines, by mark.
var classes = map[string]string{" ": "same", "-": "removed", "+": "added", "~": "changed", ">": "moved", "#": "head", "=": "left"}

func (doc *document) html(to io.Writer) error {
	data := struct {
		Title    string
		Summary  []string
		Head     []string
		Table    [][]string
		Sections []pageSection
	}{Title: shown(doc.title), Head: doc.head}
	for _, s := range doc.summary {
		data.Summary = append(data.Summary, shown(s))
	}
	for _, row := range doc.table {
		var cells []string
		for _, cell := range row {
			cells = append(cells, shown(cell))
		}
		data.Table = append(data.Table, cells)
	}
	for _, sec := range doc.sections {
		s := pageSection{Title: shown(sec.title), Equal: sec.equal}
		for _, l := range sec.lines {
			p := pageLine{Mark: l.mark, Class: classes[l.mark], Depth: l.depth}
			for _, part := range l.parts {
				class := ""
				if l.mark == "~" && part.Kind != Same {
					class = string(part.Kind)
				}
				p.Parts = append(p.Parts, pagePart{class, shown(part.Text)})
			}
			s.Lines = append(s.Lines, p)
		}
		data.Sections = append(data.Sections, s)
	}
	return page.Execute(to, data)
}
