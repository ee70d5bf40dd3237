package transcripts

import (
	"cmp"
	"errors"
	"slices"
	"strings"
	"unicode"

	"github.com/tapetree/tapetree/runtime"
)

// compactWord names the side conversations in which an agent has the older part
// of its history summed up.
const compactWord = "compact"

// trimBlank is what the runtime takes off a summary.
func trimBlank(text string) string {
	return strings.TrimFunc(text, func(r rune) bool { return unicode.IsSpace(r) || r == '\ufeff' })
}

// bytesPerToken is how the runtime estimates tokens.
const bytesPerToken = 4

// sideTries are the exchanges of one side conversation.
type sideTries struct {
	path   runtime.Path
	number int
	tries  []*Exchange
}

// compactions collects the compactions of every agent in the order of their
// numbers.
func (f *File) compactions() map[runtime.Path][]sideTries {
	sides := map[runtime.Path][]sideTries{}
	for _, x := range f.Exchanges {
		agent, side, _ := strings.Cut(string(x.Agent), "~")
		word, digits, _ := strings.Cut(side, ".")
		n, ok := counted(digits)
		if word != compactWord || !ok {
			continue
		}
		list := sides[runtime.Path(agent)]
		i := slices.IndexFunc(list, func(s sideTries) bool { return s.number == n })
		if i < 0 {
			i = len(list)
			list = append(list, sideTries{path: x.Agent, number: n})
		}
		list[i].tries = append(list[i].tries, x)
		sides[runtime.Path(agent)] = list
	}
	for _, list := range sides {
		slices.SortFunc(list, func(a, b sideTries) int { return cmp.Compare(a.number, b.number) })
		for _, side := range list {
			slices.SortStableFunc(side.tries, func(a, b *Exchange) int { return cmp.Compare(a.Try, b.Try) })
		}
	}
	return sides
}

// summary reads what a side conversation came to: the text, "" when there is
// none, and what it cost.
func (s *sideTries) summary() (string, runtime.Usage, error) {
	text, usage := "", runtime.Usage{}
	for _, x := range s.tries {
		answer, err := runtime.Decode(x.Reply(), runtime.Dialect{})
		var failed *runtime.UpstreamError
		switch {
		case errors.As(err, &failed):
			usage = usage.Add(failed.Usage)
		case err != nil:
			return "", usage, err
		default:
			usage = usage.Add(answer.Usage)
			if !answer.Refused() {
				text = trimBlank(answer.Message.Content)
			}
		}
	}
	return text, usage, nil
}

// compact notes the compaction, if there was one, that stands between the turn
// before and the next request. Its number is that of the side conversation:
// the next one of the agent that is not yet placed.
func (b *runBuilder) compact(next *runtime.Turn) error {
	if len(b.sides) == 0 {
		return nil
	}
	before := history(&b.run.Turns[len(b.run.Turns)-1]).Messages()
	sent := next.Sent.Messages()
	from := 0
	for from < min(len(before), len(sent)) && alike(before[from], sent[from]) {
		from++
	}
	if from == len(before) || from == len(sent) {
		return nil // it goes on from there
	}
	kept := 0 // of the end, and behind it what was added
	for n := len(sent) - from - 1; n > 0 && kept == 0; n-- {
		if tail := sent[from+1 : from+1+n]; endsWith(before[from:], tail) {
			kept = n
		}
	}
	added := sent[from+1+kept:] // a reminder
	side := b.sides[0]
	b.sides = b.sides[1:]
	summary, usage, err := side.summary()
	if err != nil {
		return err
	}
	b.run.Usage = b.run.Usage.Add(usage)
	next.Compact = &runtime.Compaction{
		Side: side.path, Dropped: len(before) - from - kept, Summary: summary, Usage: usage,
		Before: tokensOf(before) + tokensOf(added), After: tokensOf(sent),
	}
	return nil
}

// unplaced counts what side conversations cost that no request came after.
func (b *runBuilder) unplaced() error {
	for _, side := range b.sides {
		_, usage, err := side.summary()
		if err != nil {
			return err
		}
		b.run.Usage = b.run.Usage.Add(usage)
	}
	b.sides = nil
	return nil
}

func endsWith(list, tail []runtime.Message) bool {
	return len(tail) <= len(list) && slices.EqualFunc(list[len(list)-len(tail):], tail, alike)
}

// alike reports whether two messages say the same. Their bytes need not be
// equal: an answer goes back as the provider wants it.
func alike(a, b runtime.Message) bool {
	return same(a, b) || a.Role == b.Role && a.Content == b.Content && a.CallID == b.CallID &&
		slices.EqualFunc(a.Calls, b.Calls, func(x, y runtime.Call) bool {
			return x.ID == y.ID && x.Name == y.Name && x.Arguments == y.Arguments
		})
}

func tokensOf(messages []runtime.Message) int {
	bytes := 0
	for _, m := range messages {
		bytes += len(m.Raw)
	}
	return bytes / bytesPerToken
}
