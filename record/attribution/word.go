package attribution

import (
	"regexp"
	"strings"

	"github.com/tapetree/tapetree/runtime"
)

// What a request asks for, told by its instructions.
var (
	asksTitle   = regexp.MustCompile(`(?i)\btitles?\b`)
	ofChat      = regexp.MustCompile(`(?i)\b(conversation|thread|chat|session|dialogue?|topic|title generator|message)s?\b`)
	asksSummary = regexp.MustCompile(`(?i)\b(summar\w*|compact\w*|condens\w*|checkpoint)\b`)
	ofHistory   = regexp.MustCompile(`(?i)\b(conversation|chat|history|session|context|dialogue?|transcript|messages|so far)\b`)
	asksVerdict = regexp.MustCompile(`(?i)\b(judge|grader?|grading|evaluat(e|or|ion)|rubric|score)\b`)
)

// How much of a text is read for what it asks: instructions stand at the
// beginning or the end.
const (
	instructionHead = 800
	instructionTail = 600
)

// wordOf names the purpose of a side conversation by its system texts and its
// user texts from message from on.
func wordOf(q *asked, from int) string {
	if q.tools != "" {
		return "side"
	}
	var text strings.Builder
	for i, m := range q.messages {
		role := roleOf(m)
		if role == runtime.RoleSystem || role == runtime.RoleUser && i >= from {
			text.WriteString(instructions(m.Content))
			text.WriteByte('\n')
		}
	}
	all := text.String()
	switch {
	case asksTitle.MatchString(all) && ofChat.MatchString(all):
		return "title"
	case asksSummary.MatchString(all) && ofHistory.MatchString(all):
		return "compact"
	case asksVerdict.MatchString(all):
		return "judge"
	default:
		return "side"
	}
}

// purpose is the word of a request that begins a conversation.
func (q *asked) purpose() string {
	if q.word == "" {
		q.word = wordOf(q, 0)
	}
	return q.word
}

// instructions returns the beginning and the end of a text.
func instructions(text string) string {
	if len(text) <= instructionHead+instructionTail {
		return text
	}
	return text[:instructionHead] + "\n" + text[len(text)-instructionTail:]
}

// aside reports an opening that asks for the title or the summary of a
// conversation.
func (q *asked) aside() bool {
	if q.tail == nil || q.tail.group != nil {
		return false
	}
	word := q.purpose()
	return word == "title" || word == "compact"
}
