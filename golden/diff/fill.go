package diff

import (
	"strings"

	"github.com/tapetree/tapetree/runtime"
	"github.com/tapetree/tapetree/transcripts"
)

// Bounds of the texts that a diff keeps, unless Options.Full is set. Beyond them
// it keeps how a text begins.
const (
	mostText  = 1 << 20  // bytes of a message
	mostTexts = 32 << 20 // bytes of a side
)

// Fill adds the texts that differ. Either history may be nil; each must be what
// its outline was made of, read anew or not. It keeps no part of them.
func (u *Unfinished) Fill(a, b *transcripts.History) {
	if a != nil {
		u.left.fill(a, u.options)
	}
	if b != nil {
		u.right.fill(b, u.options)
	}
}

type filler struct {
	*cleaner
	*wants
	kept int
}

func (w *wants) fill(h *transcripts.History, o Options) {
	f := &filler{cleaner: newCleaner(o), wants: w}
	for i, root := range h.Roots {
		if i < len(w.outline.roots) {
			f.agent(root, w.outline.roots[i])
		}
	}
}

// agent goes along an agent as outliner does, so that the same ids are known at
// every message.
func (f *filler) agent(run *runtime.Run, a *agentOutline) {
	index := 0
	tell(run, func(s said) {
		if s.role == string(runtime.RoleSystem) || s.role == "developer" {
			return
		}
		for _, id := range callIDs(&s) {
			f.ids.add(run.Agent, id)
		}
		if m := f.messages[a][index]; m != nil {
			f.message(m, a, &s)
		}
		index++
	})
	at := map[runtime.Path]*runtime.Run{}
	for _, child := range run.Children() {
		at[child.Agent] = child
	}
	for _, c := range a.children {
		if child := at[c.agent.path]; child != nil {
			f.agent(child, c.agent)
		}
	}
}

func (f *filler) message(m *Message, a *agentOutline, s *said) {
	m.Text, m.Cut = f.take(s.text, a, false)
	for i := range m.Calls {
		if i < len(s.calls) {
			m.Calls[i].Arguments, _ = f.take(s.calls[i].Arguments, a, true)
		}
	}
}

// take returns a text as a diff shows it: cleaned, with ids under their names.
func (f *filler) take(text string, a *agentOutline, arguments bool) (string, bool) {
	if arguments {
		text = f.arguments(text)
	} else {
		text = f.clean(text)
	}
	text = f.rename(text, a)
	if !f.options.Full && (len(text) > mostText || f.kept+len(text) > mostTexts) {
		short := begin(text)
		return strings.ToValidUTF8(short, "\uFFFD"), len(short) < len(text)
	}
	f.kept += len(text)
	return strings.ToValidUTF8(strings.Clone(text), "\uFFFD"), false
}

func (f *filler) rename(text string, a *agentOutline) string {
	var out strings.Builder
	at := 0
	for _, s := range f.ids.spans(text) {
		id := text[s[0]:s[1]]
		known, ok := f.names[a][id]
		if !ok {
			known, ok = f.any[id]
		}
		if ok {
			out.WriteString(text[at:s[0]])
			out.WriteString(known.name)
			at = s[1]
		}
	}
	if at == 0 {
		return text
	}
	out.WriteString(text[at:])
	return out.String()
}

// Finish compares the filled texts by words, and settles whether the two are
// equal.
func (u *Unfinished) Finish() {
	u.Diff.Equal = true
	for _, a := range u.Diff.Agents {
		u.Diff.Equal = u.Diff.Equal && a.Kind == Same
		for i := range a.Rows {
			u.words(&a.Rows[i])
		}
	}
}

func (u *Unfinished) words(r *Row) {
	if r.Kind != Changed || r.Left == nil || r.Right == nil || len(r.Calls) == 0 && r.Pairing && r.Left.Text == r.Right.Text {
		return
	}
	if !r.Left.Cut && !r.Right.Cut {
		r.Parts = Words(r.Left.Text, r.Right.Text, u.options.Steps)
	}
	for i := range r.Calls {
		if c := &r.Calls[i]; c.Kind == Changed {
			c.Parts = Words(r.Left.Calls[c.Left].Arguments, r.Right.Calls[c.Right].Arguments, u.options.Steps)
		}
	}
}

// Wants reports that the left side, or the right one, has to be filled.
func (u *Unfinished) Wants(left bool) bool {
	w := u.right
	if left {
		w = u.left
	}
	for _, list := range w.messages {
		if len(list) > 0 {
			return true
		}
	}
	return false
}
