package cli

import (
	"bufio"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/tapetree/tapetree/golden"
	"github.com/tapetree/tapetree/internal/requests"
	"github.com/tapetree/tapetree/runtime"
	"github.com/tapetree/tapetree/transcripts"
)

// showTurns writes one turn: for every try the request, what it changed against
// the one before, and the answer.
type showTurns struct {
	out   io.Writer
	place string
	full  bool
	shown int
}

// turnPlace reads AGENT#TURN.
func turnPlace(place string) (agent runtime.Path, turn int, err error) {
	cut := strings.LastIndexByte(place, '#') // a path may hold one too
	path, digits := place[:max(cut, 0)], place[cut+1:]
	turn, err = strconv.Atoi(digits)
	if cut < 0 || err != nil || turn < 1 {
		return "", 0, usagef("--turn is an agent path and a turn, as in root/2.1#3, not %q", place)
	}
	return runtime.Path(path), turn, nil
}

// hasTurn is an error when a history has no such turn.
func hasTurn(h *transcripts.History, place string) error {
	agent, turn, err := turnPlace(place)
	if err != nil {
		return err
	}
	last := 0
	for _, r := range requests.Of(h, agent) {
		if r.Turn == turn {
			return nil
		}
		last = max(last, r.Turn)
	}
	switch run := h.Agent(agent); {
	case last > 0:
		return badInput("no exchange of %s turn %d in this session: its last turn is %d", agent, turn, last)
	case run != nil && callOnly(run):
		return badInput("%s is known only by its call: its turns are not in this file", agent)
	case run != nil:
		return badInput("%s has no turns in this file", agent)
	default:
		return badInput("no exchange of %s turn %d in this session; `tapetree show %s` lists the turns", agent, turn, h.Path)
	}
}

func (s *showTurns) history(h *transcripts.History, _ []*runtime.Run) error {
	agent, turn, err := turnPlace(s.place)
	if err != nil {
		return err
	}
	w := &turnWriter{out: bufio.NewWriter(s.out), full: s.full, lists: &toolLists{}}
	for _, r := range requests.Of(h, agent) {
		if h.File == nil {
			w.lists = nil
		}
		if r.Turn != turn {
			continue
		}
		if s.shown++; s.shown > 1 {
			w.line("")
		}
		if s.shown == 1 && w.lists != nil {
			w.lists.read(h.File)
		}
		if h.Part != "" {
			w.line("# %s", golden.VisibleLine(h.Name()))
		}
		w.request(r)
	}
	return w.out.Flush()
}

func (s *showTurns) end() error { return nil }

// toolLists numbers the lists of tools of a transcript as its lines do.
type toolLists struct{ ids map[[sha256.Size]byte]int }

func (l *toolLists) read(f *transcripts.File) {
	l.ids = map[[sha256.Size]byte]int{}
	for _, x := range f.Exchanges {
		if sum := sha256.Sum256(x.Tools); x.Tools != nil && l.ids[sum] == 0 {
			l.ids[sum] = len(l.ids) + 1
		}
	}
}

// turnWriter writes requests.
type turnWriter struct {
	out   *bufio.Writer
	full  bool
	lists *toolLists
}

func (w *turnWriter) line(format string, args ...any) {
	_, _ = fmt.Fprintf(w.out, format+"\n", args...) // the writer keeps its error
}

func (w *turnWriter) request(r *requests.Request) {
	list := r.Sent.Messages()
	head := fmt.Sprintf("# %s turn %d try %d: model %s, %s", r.Agent, r.Turn, r.Try, firstOf(golden.VisibleLine(r.Model), "not known"), plural(len(list), "message"))
	if r.Exchange != nil {
		head += fmt.Sprintf(", status %d", r.Exchange.Status)
	}
	w.line("%s", head)
	if r.Inferred {
		w.line("# the file holds messages and no requests: what stands before the answer is taken for what was sent")
	}
	changes := r.Changes()
	w.changes(r, changes)
	w.fresh(r, changes)
	w.rest(r, changes)
	w.settings(r)
	w.answer(r)
}

// changes says in a line each what is other than in the request before.
func (w *turnWriter) changes(r *requests.Request, c *requests.Changes) {
	if c.First {
		w.line("# the first request of %s: all of it is new", r.Agent)
		return
	}
	var words []string
	for _, kind := range []requests.Kind{requests.Added, requests.Cut, requests.Compacted, requests.Edited, requests.Dropped} {
		if n := c.Count(kind); n > 0 {
			words = append(words, plural(n, "message")+" "+string(kind))
		}
	}
	if len(words) == 0 {
		words = []string{"the same messages"}
	}
	before := fmt.Sprintf("turn %d", r.Before.Turn)
	if r.Before.Turn == r.Turn || r.Before.Try > 1 {
		before += fmt.Sprintf(" try %d", r.Before.Try)
	}
	w.line("# since %s: %s; %d as before", before, strings.Join(words, ", "), c.Kept)
	if c.System {
		w.line("# the system text is another")
	}
	if c.Model {
		w.line("# the model is another: %s, before %s", golden.VisibleLine(r.Model), golden.VisibleLine(r.Before.Model))
	}
	for _, t := range []struct {
		what  string
		names []string
	}{{"added", c.Tools.Added}, {"dropped", c.Tools.Dropped}, {"defined otherwise", c.Tools.Schema}} {
		if len(t.names) > 0 {
			w.line("# %s %s: %s", plural(len(t.names), "tool"), t.what, golden.VisibleLine(strings.Join(t.names, ", ")))
		}
	}
	if c.Tools.Order {
		w.line("# the tools stand in another order")
	}
	for _, p := range c.Params {
		w.line("# parameter %s: %s, before %s", golden.VisibleLine(p.Name), clip(firstOf(p.New, "absent"), 60), clip(firstOf(p.Old, "absent"), 60))
	}
}

// fresh writes what is new, in full.
func (w *turnWriter) fresh(r *requests.Request, c *requests.Changes) {
	if c.First {
		return // everything follows
	}
	list := r.Sent.Messages()
	if c.System {
		old := r.Before.Sent.Messages()[0].Content
		w.line("new system text, %s; before: %s", measure(list[0].Content), measure(old))
		w.text(list[0].Content, true)
	}
	for _, change := range c.Messages {
		switch change.Kind {
		case requests.Dropped:
			w.dropped(r, change)
			continue
		case requests.Compacted:
			w.line("%s", at("compacted", change.New[0], list)+fmt.Sprintf(": in place of %s", plural(len(change.Old), "message")))
		case requests.Cut, requests.Edited:
			old := r.Before.Sent.Messages()[change.Old[0]]
			w.line("%s; before: %s", at(string(change.Kind), change.New[0], list), measure(old.Content))
		default:
			note := ""
			if change.Answer {
				note = " (the answer before)"
			}
			w.line("%s%s", at("added", change.New[0], list), note)
		}
		w.message(list[change.New[0]], true)
	}
}

// dropped names messages that are gone.
func (w *turnWriter) dropped(r *requests.Request, change requests.Change) {
	old := r.Before.Sent.Messages()
	for _, i := range change.Old {
		w.line("dropped %d %s, %s: %s", i+1, head(old[i]), measure(old[i].Content), summary(old[i]))
	}
}

// at names a message by what became of it and where it stands, from 1.
func at(word string, index int, list []runtime.Message) string {
	return fmt.Sprintf("%s %d %s", word, index+1, head(list[index]))
}

func head(m runtime.Message) string {
	text := golden.VisibleLine(firstOf(string(m.Role), "no role"))
	if m.CallID != "" {
		text += " " + golden.VisibleLine(m.CallID)
	}
	return text
}

// rest writes the whole request: what was there before folded, unless all is to
// be shown.
func (w *turnWriter) rest(r *requests.Request, c *requests.Changes) {
	known := map[int]bool{}
	for _, change := range c.Messages {
		for _, i := range change.New {
			known[i] = !c.First
		}
	}
	if c.System {
		known[0] = true
	}
	hint := " (whole texts with --full)"
	if w.full {
		hint = ""
	}
	w.line("sent, %s%s", plural(r.Sent.Len(), "message"), hint)
	for i, m := range r.Sent.Messages() {
		switch {
		case known[i] && !w.full:
			w.line("  %d %s: see above", i+1, head(m))
		case w.full || c.First:
			w.line("  %d %s", i+1, head(m))
			w.message(m, w.full)
		default:
			w.line("  %d %s, %s: %s", i+1, head(m), measure(m.Content), summary(m))
		}
	}
}

// settings writes what goes beside the messages.
func (w *turnWriter) settings(r *requests.Request) {
	if r.Inferred {
		return
	}
	names := requests.ToolNames(r.Tools)
	if len(names) == 0 {
		w.line("no tools")
	} else {
		sum := sha256.Sum256(r.Tools)
		w.line("tools t%d, %s, hash %s: %s", w.lists.ids[sum], plural(len(names), "tool"), hex.EncodeToString(sum[:4]), golden.VisibleLine(strings.Join(names, ", ")))
	}
	for _, p := range r.Params {
		w.line("parameter %s: %s", golden.VisibleLine(p.Name), clip(string(p.Value), 200))
	}
}

func (w *turnWriter) answer(r *requests.Request) {
	if r.Answer == nil {
		if r.Err == nil {
			w.line("no answer")
			return
		}
		w.line("no answer")
		w.text(r.Err.Error(), true)
		return
	}
	w.line("answered by %s", firstOf(golden.VisibleLine(r.Answer.Model), golden.VisibleLine(r.Model), "a model that is not named"))
	w.message(r.Answer.Message, true)
	if r.Answer.Refusal != "" {
		w.line("refuses")
		w.text(r.Answer.Refusal, true)
	}
	used := tokens(r.Answer.Usage)
	if r.Answer.Usage == (runtime.Usage{}) {
		used = "tokens not reported"
	}
	w.line("finish %s, %s", firstOf(golden.VisibleLine(r.Answer.Finish), "not said"), used)
}

// message writes the text and the calls of a message.
func (w *turnWriter) message(m runtime.Message, full bool) {
	w.text(m.Content, full)
	for _, c := range m.Calls {
		w.line("  calls %s %s", golden.VisibleLine(c.ID), golden.VisibleLine(c.Name))
		w.text(c.Arguments, full)
	}
	if m.Content == "" && len(m.Calls) == 0 && len(m.Raw) > 0 {
		w.line("  | no text, %d bytes of JSON", len(m.Raw))
	}
}

// How many lines of a text stand at its beginning and its end where it is folded.
const (
	foldedOver = 12
	foldedHead = 6
	foldedTail = 3
)

func (w *turnWriter) text(text string, full bool) {
	if text == "" {
		return
	}
	lines := strings.Split(text, "\n")
	left := len(lines) - foldedHead - foldedTail
	for i, line := range lines {
		if !full && len(lines) > foldedOver && i >= foldedHead && i < len(lines)-foldedTail {
			if i == foldedHead {
				w.line("  ⋮ %s", plural(left, "line"))
			}
			continue
		}
		w.line("%s", strings.TrimRight("  | "+golden.VisibleLine(line), " "))
	}
}

// measure says how long a text is.
func measure(text string) string {
	if text == "" {
		return "no text"
	}
	return fmt.Sprintf("%s, %s", plural(strings.Count(strings.TrimRight(text, "\n"), "\n")+1, "line"), plural(utf8.RuneCountInString(text), "character"))
}

// summary is the beginning of what a message says, in one line.
func summary(m runtime.Message) string {
	text, _, more := strings.Cut(strings.TrimLeft(m.Content, "\n "), "\n")
	if text == "" && len(m.Calls) > 0 {
		var names []string
		for _, c := range m.Calls {
			names = append(names, c.Name)
		}
		return "calls " + golden.VisibleLine(strings.Join(names, ", "))
	}
	runes := []rune(text)
	if len(runes) > foldedWidth {
		text, more = string(runes[:foldedWidth]), true
	}
	if text = golden.VisibleLine(text); more {
		text += " …"
	}
	return text
}

// foldedWidth is how many characters of a folded message are shown.
const foldedWidth = 60
