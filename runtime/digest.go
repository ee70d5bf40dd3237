package runtime

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"
)

// passage is a piece of a history as text: who speaks, and what.
type passage struct{ head, body string }

// passages renders messages for a reader who gets no messages.
func passages(messages []Message) []passage {
	var all []passage
	names := make(map[string]string) // of the calls, by id
	for _, m := range messages {
		switch {
		case m.Role == RoleTool:
			all = append(all, passage{"result of " + names[m.CallID], m.Content})
		case m.Content != "" || len(m.Calls) == 0:
			all = append(all, passage{string(m.Role), m.Content})
		}
		for _, call := range m.Calls {
			names[call.ID] = call.Name
			all = append(all, passage{"call of " + call.Name, call.Arguments})
		}
	}
	return all
}

// digest renders messages as the text of a side conversation. The longest
// passages are shortened, so that the request keeps to the budget that it is
// made for; prompt is how many bytes of that the system text takes. Lengths are
// those of folded text, so that the cuts do not depend on the machine.
func (l *loop) digest(messages []Message, prompt int) string {
	all := passages(messages)
	folded := make([]string, len(all))
	room := l.Budget.Tokens * bytesPerToken
	room = max(room-prompt, room/2)
	sizes := make([]int, len(all))
	for i, p := range all {
		folded[i] = string(l.Budget.Fold.FoldJSON([]byte(p.body)))
		sizes[i] = len(folded[i])
		room -= len(p.head) + len("## \n\n\n")
	}
	most := fairShare(sizes, max(room, 0))
	var text strings.Builder
	for i, p := range all {
		body := p.body
		if sizes[i] > most {
			body = l.Budget.Fold.Expand(shorten(folded[i], most))
		}
		fmt.Fprintf(&text, "## %s\n%s\n\n", p.head, body)
	}
	return strings.TrimSpace(text.String())
}

// fairShare returns the most that each may take so that all together take no
// more than room: who needs less leaves the rest to the others.
func fairShare(sizes []int, room int) int {
	sorted := slices.Sorted(slices.Values(sizes))
	for i, size := range sorted {
		if share := room / (len(sorted) - i); size > share {
			return share
		}
		room -= size
	}
	if len(sorted) == 0 {
		return 0
	}
	return sorted[len(sorted)-1]
}

// shorten keeps the beginning and the end of a text, most bytes of it in all,
// and says in between how much is missing.
func shorten(text string, most int) string {
	head, tail := most-most/2, len(text)-most/2
	for head > 0 && !utf8.RuneStart(text[head]) {
		head--
	}
	for tail < len(text) && !utf8.RuneStart(text[tail]) {
		tail++
	}
	return fmt.Sprintf("%s\n[%d bytes left out]\n%s", text[:head], tail-head, text[tail:])
}
