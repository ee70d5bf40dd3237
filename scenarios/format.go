package scenarios

import (
	"encoding/base64"
	"strconv"
	"strings"
	"unicode/utf8"

	"golang.org/x/tools/txtar"

	"github.com/tapetree/tapetree/runtime"
)

// Format writes a scenario file, as it is done when a session is recorded for
// the first time: headers and sections in a fixed order, nothing that a reader
// fills in anyway. Parse of the result, without defaults and under the same
// file name, gives s back but for line numbers, for every s that Parse can give.
func Format(s *Scenario) []byte {
	w := &writer{}
	for _, h := range headers {
		if value := h.get(s); value != "" {
			w.archive.Comment = append(w.archive.Comment, h.key+": "+value+"\n"...)
		}
	}
	if s.Prompt != "" {
		w.text("prompt", &s.Prompt)
	}
	w.text("system", s.System)
	w.text("child-system", s.ChildSystem)
	w.files("work", s.Files)
	for _, link := range s.Links {
		w.add("link/"+link.Path, link.Target+"\n")
	}
	for _, fifo := range s.FIFOs {
		w.add("fifo/"+fifo, "")
	}
	w.files("outside", s.Outside)
	w.lines("approvals", len(s.Approvals), func(i int) string { return formatApproval(s.Approvals[i]) })
	w.lines("volatile", len(s.Volatile), func(i int) string { return s.Volatile[i] })
	w.lines("faults", len(s.Faults), func(i int) string { return s.Faults[i].String() })
	w.lines("hooks", len(s.Hooks), func(i int) string { return formatHook(s.Hooks[i]) })
	w.want(&s.Want)
	return txtar.Format(&w.archive)
}

// writer collects the sections of a file.
type writer struct{ archive txtar.Archive }

func (w *writer) want(want *Want) {
	w.text("want/answer", want.Answer)
	if want.Calls != nil {
		body := "mode: " + want.Calls.Mode + "\n"
		for _, c := range want.Calls.Calls {
			body += strings.TrimSpace(string(c.Agent)+" "+c.Tool+" "+c.Arguments) + "\n"
		}
		w.add("want/calls", body)
	}
	w.files("want/files", want.Files)
	w.lines("want/absent", len(want.Absent), func(i int) string { return want.Absent[i] })
	if want.Budget != nil {
		body := ""
		for _, limit := range []struct {
			key string
			n   int
		}{{"turns", want.Budget.Turns}, {"calls", want.Budget.Calls}, {"tokens", want.Budget.Tokens}} {
			if limit.n != 0 {
				body += limit.key + ": " + strconv.Itoa(limit.n) + "\n"
			}
		}
		if want.Budget.Cost != 0 {
			body += "cost: " + want.Budget.Cost.Decimal() + "\n"
		}
		w.add("want/budget", body)
	}
	if want.Verify != "" {
		w.add("want/verify", want.Verify+"\n")
	}
	w.lines("want/findings", len(want.Findings), func(i int) string { return want.Findings[i] })
}

func (w *writer) add(name, body string) {
	w.archive.Files = append(w.archive.Files, txtar.File{Name: name, Data: []byte(body)})
}

// text writes a text value, in base64 where no line of text can say it.
func (w *writer) text(name string, value *string) {
	switch {
	case value == nil:
	case sayable(*value + "\n"):
		w.add(name, *value+"\n")
	default:
		w.add(name+"64", encode64([]byte(*value)))
	}
}

func (w *writer) files(folder string, files []File) {
	for _, f := range files {
		if sayable(string(f.Data)) && (len(f.Data) == 0 || f.Data[len(f.Data)-1] == '\n') {
			w.add(folder+"/"+f.Path, string(f.Data))
		} else {
			w.add(folder+"64/"+f.Path, encode64(f.Data))
		}
	}
}

func (w *writer) lines(name string, n int, line func(int) string) {
	body := ""
	for i := range n {
		body += line(i) + "\n"
	}
	if n > 0 {
		w.add(name, body)
	}
}

// sayable reports whether a section can hold the text and give it back.
func sayable(text string) bool {
	if !utf8.ValidString(text) || strings.Contains(text, "\r\n") {
		return false
	}
	for line := range strings.SplitSeq(text, "\n") {
		if _, what := marker(line); what != noMarker {
			return false
		}
	}
	return true
}

// encode64 writes base64 in lines of 76 letters.
func encode64(data []byte) string {
	const width = 76
	encoded := base64.StdEncoding.EncodeToString(data)
	var b strings.Builder
	for len(encoded) > width {
		b.WriteString(encoded[:width] + "\n")
		encoded = encoded[width:]
	}
	if encoded != "" {
		b.WriteString(encoded + "\n")
	}
	return b.String()
}

func formatApproval(a Approval) string {
	line := ""
	if a.Agent != "" {
		line = formatPlace(a.Agent, a.Turn, a.Call) + " "
	}
	return line + formatReply(a.Reply)
}

func formatReply(r runtime.Reply) string {
	switch {
	case r.Always:
		return "always"
	case r.Allow:
		return "allow"
	default:
		return strings.TrimSpace("deny " + r.Reason)
	}
}

func formatHook(h HookRule) string {
	words := []string{h.Event}
	for _, word := range []string{h.Tool, h.Action, h.Text} {
		if word != "" {
			words = append(words, word)
		}
	}
	return strings.Join(words, " ")
}
