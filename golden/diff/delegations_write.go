package diff

import (
	"cmp"
	"fmt"
	"io"
	"strconv"
)

// Text writes for a terminal or a log.
func (d *Delegations) Text(to io.Writer, s Style) error { return d.document(s).text(to, s) }

// Stat writes one line a child.
func (d *Delegations) Stat(to io.Writer, s Style) error { return d.document(s).stat(to, s) }

// Markdown writes a comment on a pull request.
func (d *Delegations) Markdown(to io.Writer, s Style) error { return d.document(s).markdown(to, s) }

// HTML writes one page that needs nothing else.
func (d *Delegations) HTML(to io.Writer, s Style) error { return d.document(s).html(to) }

// JSON writes for programs; docs/diff.schema.json describes it.
func (d *Delegations) JSON(to io.Writer) error { return writeJSON(to, d) }

func (d *Delegations) document(s Style) *document {
	doc := &document{title: d.History, head: []string{"child", "brief", "report", "kept from the parent", "leaks"}}
	tokens, results := 0, 0
	for i := range d.Children {
		c := &d.Children[i]
		tokens += c.UnseenTokens
		results += len(c.Unseen)
		doc.table = append(doc.table, c.row())
		doc.sections = append(doc.sections, c.section(s))
	}
	doc.summary = []string{fmt.Sprintf("%s; %s, about %d tokens, stayed with the children", delegations(len(d.Children)), count(results, "tool result"), tokens)}
	return doc
}

func delegations(n int) string { return count(n, "delegation") }

func (c *Delegation) row() []string {
	brief, report := "whole", "whole"
	switch {
	case c.State != Answered:
		brief, report = string(c.State), string(c.State)
	default:
		if !c.BriefKept {
			brief = "differs"
		}
		if !c.ReportKept {
			report = "differs"
		} else if c.Report != c.Result {
			report = "whole, and more"
		}
	}
	return []string{c.Child, brief, report, fmt.Sprintf("%s, %d tokens", count(len(c.Unseen), "result"), c.UnseenTokens), strconv.Itoa(len(c.Leaks))}
}

func (c *Delegation) section(s Style) section {
	title := c.Child
	if c.Label != "" && c.Label != c.Child {
		title += " " + strconv.Quote(c.Label)
	}
	started := fmt.Sprintf("call %d of turn %d of %s", c.Call, c.Turn, c.Parent)
	if c.Tool != "" {
		started += ", " + c.Tool
	}
	out := section{title: title + ": " + started}
	w := &liner{style: s}
	switch c.State {
	case Unanswered:
		w.add(plainLine("-", 0, "the call has no result"))
	case Unknown:
		w.add(plainLine("-", 0, "nothing is told of the child but its call"))
	case Stray:
		w.add(plainLine("~", 0, "no call of its own is known"))
	}
	c.texts(w)
	w.add(plainLine(" ", 0, fmt.Sprintf("the child saw %s that the parent did not: %s, about %d tokens", count(len(c.Unseen), "tool result"), count(c.UnseenBytes, "byte"), c.UnseenTokens)))
	for i, u := range c.Unseen {
		if !s.Full && i == mostUnseen && len(c.Unseen) > mostUnseen+1 {
			w.add(plainLine("=", 1, fmt.Sprintf("%d more", len(c.Unseen)-i)))
			break
		}
		w.add(plainLine(" ", 1, fmt.Sprintf("turn %d %s %s: %s, %d tokens", u.Turn, cmp.Or(u.Tool, "no known call"), u.Arguments, count(u.Bytes, "byte"), u.Tokens)))
	}
	for _, l := range c.Leaks {
		w.add(plainLine("-", 0, fmt.Sprintf("leaked: message %d of %s has a line of turn %d, %s", l.Message, c.Parent, l.Turn, cmp.Or(l.Tool, "no known call"))))
		w.add(plainLine("-", 1, l.Text))
	}
	out.lines = w.lines
	return out
}

// mostUnseen is how many tool results of a child are listed.
const mostUnseen = 20

// texts writes the brief and the report.
func (c *Delegation) texts(w *liner) {
	switch {
	case c.BriefDiff != nil:
		w.add(plainLine("~", 0, "brief of the call → the child's first message"))
		w.changed(1, c.BriefDiff)
	case c.Brief != "":
		w.add(plainLine(" ", 0, "brief, as the child was told it"))
		w.block(" ", c.Brief)
	}
	switch {
	case c.State != Answered:
	case c.ReportDiff != nil:
		w.add(plainLine("~", 0, "the child's report → the result that the parent got"))
		w.changed(1, c.ReportDiff)
	default:
		w.add(plainLine(" ", 0, "report, as the parent got it"))
		w.block(" ", c.Report)
	}
}

// DelegationReport is the delegations of all sessions of a file.
type DelegationReport struct {
	Version   int            `json:"version"`
	Histories []*Delegations `json:"histories"`
}

// Text writes for a terminal or a log.
func (r DelegationReport) Text(to io.Writer, s Style) error { return r.document(s).text(to, s) }

// Stat writes one line a child.
func (r DelegationReport) Stat(to io.Writer, s Style) error { return r.document(s).stat(to, s) }

// Markdown writes a comment on a pull request.
func (r DelegationReport) Markdown(to io.Writer, s Style) error {
	return r.document(s).markdown(to, s)
}

// HTML writes one page that needs nothing else.
func (r DelegationReport) HTML(to io.Writer, s Style) error { return r.document(s).html(to) }

// JSON writes for programs; docs/diff.schema.json describes it.
func (r DelegationReport) JSON(to io.Writer) error { return writeJSON(to, r) }

func (r DelegationReport) document(s Style) *document {
	if len(r.Histories) == 1 {
		return r.Histories[0].document(s)
	}
	all := (&Delegations{}).document(s)
	all.title, all.summary = count(len(r.Histories), "session"), nil
	for _, d := range r.Histories {
		one := d.document(s)
		all.summary = append(all.summary, one.title+": "+one.summary[0])
		for i := range one.sections {
			one.sections[i].title = one.title + ": " + one.sections[i].title
			one.table[i][0] = one.title + ": " + one.table[i][0]
		}
		all.table, all.sections = append(all.table, one.table...), append(all.sections, one.sections...)
	}
	return all
}
