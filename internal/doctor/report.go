package doctor

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// Write gives the diagnosis to a person: each proposal with its evidence. show
// makes a text safe for a terminal.
func (d *Diagnosis) Write(out *strings.Builder, show func(string) string) {
	if len(d.Rules) > 0 {
		out.WriteString("proposed:\n")
	}
	for _, p := range d.Rules {
		fmt.Fprintf(out, "  %s\n    %s, in %s\n", show(p.Rule), p.Say, counted(p.Places, "place"))
		p.Evidence.write(out, show)
	}
	if len(d.Others) > 0 {
		out.WriteString("no rule mends:\n")
	}
	for _, p := range d.Others {
		fmt.Fprintf(out, "  %s: %s, in %s\n", p.Kind, p.Say, counted(p.Places, "place"))
		p.Evidence.write(out, show)
	}
}

func counted(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}

// write shows the place and its versions, equal ones of the runs once.
func (d *Difference) write(out *strings.Builder, show func(string) string) {
	fmt.Fprintf(out, "      %s turn %d", d.Agent, d.Turn)
	if d.Pointer != "" {
		fmt.Fprintf(out, " %s", show(d.Pointer))
	}
	out.WriteString("\n")
	versions := excerpts(d.texts())
	if same(versions[1:]) {
		fmt.Fprintf(out, "        recorded: %s\n        sent:     %s\n", show(versions[0]), show(versions[1]))
		return
	}
	fmt.Fprintf(out, "        recorded: %s\n", show(versions[0]))
	for i, v := range versions[1:] {
		fmt.Fprintf(out, "        run %d:    %s\n", i+1, show(v))
	}
}

// excerptLength is how many bytes of a text are shown.
const excerptLength = 100

// excerpts cuts texts to what fits a line, around the place where they part.
func excerpts(texts []Text) []string {
	part := -1
	for _, t := range texts[1:] {
		n := 0
		for n < min(len(t.Text), len(texts[0].Text)) && t.Text[n] == texts[0].Text[n] {
			n++
		}
		if t != texts[0] && (part < 0 || n < part) {
			part = n
		}
	}
	from := max(0, part-excerptLength/3)
	out := make([]string, len(texts))
	for i, t := range texts {
		if out[i] = excerpt(t.Text, from); t.Kind == 0 {
			out[i] = "(nothing)"
		}
	}
	return out
}

func excerpt(text string, from int) string {
	from = min(from, len(text))
	for from > 0 && from < len(text) && !utf8.RuneStart(text[from]) {
		from--
	}
	to := min(len(text), from+excerptLength)
	for to > from && to < len(text) && !utf8.RuneStart(text[to]) {
		to--
	}
	cut := text[from:to]
	if from > 0 {
		cut = "…" + cut
	}
	if to < len(text) {
		cut += "…"
	}
	return strings.ReplaceAll(cut, "\n", `\n`)
}
