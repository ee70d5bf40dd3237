package attribution

import (
	"cmp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/tapetree/tapetree/runtime"
)

// stringsOf returns the texts in arguments, white space squashed, the longest
// first. Arguments that are no JSON are one text.
func stringsOf(arguments string) []string {
	var value any
	err := json.Unmarshal([]byte(arguments), &value, jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))
	if err != nil {
		value = arguments
	}
	texts := leaves(value, nil)
	slices.SortFunc(texts, func(a, b string) int { return cmp.Or(cmp.Compare(len(b), len(a)), cmp.Compare(a, b)) })
	return slices.Compact(texts)
}

func leaves(value any, texts []string) []string {
	switch v := value.(type) {
	case string:
		texts = appendText(texts, v)
	case []any:
		for _, e := range v {
			texts = leaves(e, texts)
		}
	case map[string]any:
		for _, e := range v {
			texts = leaves(e, texts)
		}
	}
	return texts
}

// significant reports a text that says enough to be known again inside another
// one.
func significant(text string) bool {
	if len(text) < 20 {
		return false
	}
	if strings.Count(text, " ") >= 2 {
		return true
	}
	other := 0
	for _, r := range text {
		if r >= utf8.RuneSelf {
			other++
		}
	}
	return other >= 8
}

// shortestBrief is how many bytes of a prompt say in another text that it
// quotes the conversation.
const shortestBrief = 8

// evidence says how well a call explains an opening.
type evidence struct {
	call  *call
	equal bool // one of its texts is a user text
	found bool // or stands in one
	void  bool // but that text quotes the agent's own brief as well: it is about the agent
	bytes int  // of the texts that are found
}

// weigh compares a call's texts with an opening.
func weigh(c *call, o *opening) evidence {
	e := evidence{call: c}
	if !c.speaksIn(o) {
		return e
	}
	var rest []string // of the texts, without what was found
	extra := 0
	own := c.thread().opening
	for _, text := range c.strings {
		known := rest
		if known == nil {
			known = o.texts()
		}
		i := slices.IndexFunc(known, func(t string) bool { return strings.Contains(t, text) })
		switch {
		case slices.Contains(o.user, text):
			e.equal = true
		case i < 0:
			continue
		case significant(text) && (own == nil || !own.holds(text)):
			e.found = true
		default:
			if len(text) >= 3 && slices.ContainsFunc(known, func(t string) bool { return holdsWord(t, text) }) {
				extra += len(text)
			}
			continue
		}
		e.bytes += len(text)
		if rest == nil {
			rest = slices.Clone(known)
		}
		for j := range rest {
			rest[j] = strings.ReplaceAll(rest[j], text, "\x00")
		}
	}
	e.bytes += extra
	if e.found && !e.equal {
		e.void = quotesAgent(rest, o, c.thread())
	}
	return e
}

// speaksIn reports that one of the call's texts is in an opening and says
// enough to look closer.
func (c *call) speaksIn(o *opening) bool {
	return slices.ContainsFunc(c.strings, func(text string) bool {
		return slices.Contains(o.user, text) || significant(text) && o.holds(text)
	})
}

// quotesAgent reports that a text in which something was found also holds what
// the agent itself was asked.
func quotesAgent(rest []string, o *opening, t *thread) bool {
	all := o.texts()
	for i, text := range rest {
		if text == all[i] {
			continue
		}
		for _, brief := range t.briefs() {
			if strings.Contains(text, brief) {
				return true
			}
		}
	}
	return false
}

// briefs returns what an agent was asked: the user texts it began with and
// those it has now, compaction may have replaced them.
func (t *thread) briefs() []string {
	var briefs []string
	keep := func(text string) {
		if len(text) >= shortestBrief {
			briefs = append(briefs, text)
		}
	}
	if t.opening != nil {
		for _, text := range t.opening.user {
			keep(text)
		}
	}
	if u := t.newest(); u != nil && u.n > 1 {
		for n := u.last().asked.tail; n != nil; n = n.prev {
			if n.role == runtime.RoleUser {
				keep(squash(n.text))
			}
		}
	}
	return briefs
}

// holdsWord reports that part stands in text and neither begins nor ends inside
// a word.
func holdsWord(text, part string) bool {
	if part == "" {
		return false
	}
	first, _ := utf8.DecodeRuneInString(part)
	last, _ := utf8.DecodeLastRuneInString(part)
	for from := 0; ; {
		i := strings.Index(text[from:], part)
		if i < 0 {
			return false
		}
		i += from
		before, _ := utf8.DecodeLastRuneInString(text[:i])
		after, _ := utf8.DecodeRuneInString(text[i+len(part):])
		if !(wordRune(before) && wordRune(first)) && !(wordRune(last) && wordRune(after)) {
			return true
		}
		_, size := utf8.DecodeRuneInString(text[i:])
		from = i + size
	}
}

func wordRune(r rune) bool {
	return r != utf8.RuneError && (unicode.IsDigit(r) || r < 0x2e80 && unicode.IsLetter(r))
}
