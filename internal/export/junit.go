package export

import (
	"encoding/xml"
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/tapetree/tapetree/golden"
	"github.com/tapetree/tapetree/record"
	"github.com/tapetree/tapetree/runtime"
	"github.com/tapetree/tapetree/transcripts"
)

// junitWriter writes a report for CI systems: a test suite for each agent, a
// test case for each turn, each call and each code that was found. A finding that
// is an error is a failure, a turn without an answer is an error; a call that
// failed is what happened, not what is wrong, and stands in the output of its
// case, as warnings do.
type junitWriter struct {
	base
	begun bool
}

type junitSuite struct {
	XMLName  xml.Name    `xml:"testsuite"`
	Name     string      `xml:"name,attr"`
	Tests    int         `xml:"tests,attr"`
	Failures int         `xml:"failures,attr"`
	Errors   int         `xml:"errors,attr"`
	Skipped  int         `xml:"skipped,attr"`
	Time     string      `xml:"time,attr"`
	Began    string      `xml:"timestamp,attr,omitempty"`
	Cases    []junitCase `xml:"testcase"`
	Out      string      `xml:"system-out,omitempty"`
	total    time.Duration
}

type junitCase struct {
	Class   string     `xml:"classname,attr"`
	Name    string     `xml:"name,attr"`
	Time    string     `xml:"time,attr"`
	Failure *junitText `xml:"failure"`
	Error   *junitText `xml:"error"`
	Out     string     `xml:"system-out,omitempty"`
}

type junitText struct {
	Message string `xml:"message,attr"`
	Type    string `xml:"type,attr"`
	Text    string `xml:",chardata"`
}

func (w *junitWriter) History(h *transcripts.History) error {
	w.begin()
	w.sides(h)
	var findings []record.Finding
	if w.options.Check != nil {
		findings = w.options.Check(h)
	}
	byAgent := map[runtime.Path][]record.Finding{}
	for _, f := range findings {
		byAgent[f.Agent] = append(byAgent[f.Agent], f)
	}
	timed := h.File == nil || h.File.Timing == nil || h.File.Timing.Clock != transcripts.ClockSequence
	for _, run := range w.wanted(h) {
		suite := &junitSuite{Name: golden.Visible(h.Name() + " " + string(run.Agent))}
		if !h.Began.IsZero() {
			suite.Began = h.Began.UTC().Format("2006-01-02T15:04:05")
		}
		for i := range run.Turns {
			t := &run.Turns[i]
			spot := h.Spots[transcripts.TurnKey{Agent: run.Agent, Turn: t.Number}]
			took := time.Duration(0)
			if spot.Timed && timed {
				took = max(spot.End-spot.Start, 0)
			}
			suite.turn(run, t, took)
		}
		suite.findings(string(run.Agent), byAgent[run.Agent])
		delete(byAgent, run.Agent)
		switch {
		case !known(run):
			suite.Out = "known only by its call"
		case run.Stop != "":
			suite.Out = "stopped: " + string(run.Stop)
		}
		if err := w.suite(suite); err != nil {
			return err
		}
		w.lose(texts(run), "texts of messages, calls and results")
	}
	if rest := rest(findings, byAgent, w.options.Agents == nil); len(rest) > 0 {
		suite := &junitSuite{Name: golden.Visible(h.Name() + " session")}
		suite.findings("session", rest)
		return w.suite(suite)
	}
	return w.failed()
}

// rest are the findings of no agent that was written, in their order.
func rest(findings []record.Finding, left map[runtime.Path][]record.Finding, all bool) []record.Finding {
	var list []record.Finding
	for _, f := range findings {
		if _, ok := left[f.Agent]; ok && (all || f.Agent == "") {
			list = append(list, f)
		}
	}
	return list
}

func (w *junitWriter) begin() {
	if w.begun {
		return
	}
	w.begun = true
	_, _ = io.WriteString(w.out, xml.Header+"<testsuites name=\"tapetree export\">\n")
}

func (w *junitWriter) Close() error {
	w.begin()
	_, _ = w.out.WriteString("</testsuites>\n")
	return w.out.Flush()
}

func (w *junitWriter) suite(s *junitSuite) error {
	s.Tests, s.Time = len(s.Cases), seconds(s.total)
	for _, c := range s.Cases {
		if c.Failure != nil {
			s.Failures++
		}
		if c.Error != nil {
			s.Errors++
		}
	}
	e := xml.NewEncoder(w.out)
	e.Indent("  ", "  ")
	if err := e.Encode(s); err != nil {
		return fmt.Errorf("write JUnit: %w", err)
	}
	return w.out.WriteByte('\n')
}

// turn adds a case for a turn, and one for each of its calls.
func (s *junitSuite) turn(run *runtime.Run, t *runtime.Turn, took time.Duration) {
	class := golden.Visible(string(run.Agent))
	if t.Answer != nil || len(t.Failed) > 0 {
		c := junitCase{Class: class, Name: fmt.Sprintf("turn %d", t.Number), Time: seconds(took)}
		s.total += took
		for i, f := range t.Failed {
			c.Out += golden.Visible(fmt.Sprintf("try %d failed: %s, status %d\n", i+1, f.Kind, f.Status))
		}
		if t.Answer == nil {
			last := t.Failed[len(t.Failed)-1]
			c.Error = &junitText{Message: golden.Visible(fmt.Sprintf("no answer: %s, status %d", last.Kind, last.Status)), Type: golden.Visible(last.Kind)}
		}
		s.Cases = append(s.Cases, c)
	}
	for i := range t.Calls {
		call := &t.Calls[i]
		c := junitCase{Class: class, Name: golden.Visible(fmt.Sprintf("turn %d call %d %s", t.Number, call.Number, call.Name)), Time: seconds(0)}
		if kind := callError(call); kind != "" {
			c.Out = golden.Visible("failed: "+kind) + "\n"
		}
		s.Cases = append(s.Cases, c)
	}
}

// findings adds a case for each code, with all that was found under it.
func (s *junitSuite) findings(class string, list []record.Finding) {
	var codes []string
	byCode := map[string][]record.Finding{}
	for _, f := range list {
		if byCode[f.Code] == nil {
			codes = append(codes, f.Code)
		}
		byCode[f.Code] = append(byCode[f.Code], f)
	}
	for _, code := range codes {
		c := junitCase{Class: golden.Visible(class), Name: code, Time: seconds(0)}
		text := ""
		for _, f := range byCode[code] {
			if f.Turn > 0 {
				text += fmt.Sprintf("turn %d: ", f.Turn)
			}
			text += golden.Visible(f.Message) + "\n"
		}
		if slices.ContainsFunc(byCode[code], func(f record.Finding) bool { return f.Weight() == record.SeverityError }) {
			c.Failure = &junitText{Message: golden.Visible(byCode[code][0].Message), Type: code, Text: text}
		} else {
			c.Out = text
		}
		s.Cases = append(s.Cases, c)
	}
}

// texts counts the texts of an agent, which a report has no place for.
func texts(run *runtime.Run) int {
	n := len(list(run))
	for i := range run.Turns {
		n += len(run.Turns[i].Calls)
	}
	return n
}

func seconds(d time.Duration) string { return fmt.Sprintf("%.3f", d.Seconds()) }
