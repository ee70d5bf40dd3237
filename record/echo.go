package record

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/tapetree/tapetree/record/attribution"
	"github.com/tapetree/tapetree/runtime"
)

// echoes counts what a client changes in the answers that it sends back, by
// thread and kind. It is no fault of anybody's, but a server that depends on
// what was changed answers otherwise.
type echoes struct {
	counts map[attribution.Thread]map[string]int
}

func newEchoes() *echoes {
	return &echoes{counts: map[attribution.Thread]map[string]int{}}
}

// compare holds the last answer of a thread against its echo in the thread's
// next request. sent is how many messages the request of that answer had, same
// how many of them the next one, chat, has unchanged.
func (e *echoes) compare(thread attribution.Thread, wire runtime.Wire, answer *runtime.Message, sent, same int, chat []runtime.Message) {
	if answer == nil {
		return
	}
	from := same
	if same < sent { // the history before the answer was changed as well: the last turn counts
		from = lastAssistantRun(chat)
	}
	run := assistantRun(chat[min(from, len(chat)):])
	if len(run) == 0 && same < sent {
		return // a compaction
	}
	given := *answer
	if wire != runtime.WireChat { // whose other members are not those of chat messages
		given = core(given)
		for i := range run {
			run[i] = core(run[i])
		}
	}
	if wire == runtime.WireResponses && len(run) > 1 { // where a text and each call are items of their own
		run = []runtime.Message{core(mergedRun(run))}
	}
	for _, kind := range runChanges(given, run) {
		if e.counts[thread] == nil {
			e.counts[thread] = map[string]int{}
		}
		e.counts[thread][kind]++
	}
}

// notes is the line about it: what is changed, sorted, each with the agent that
// does so, or how many do. Nothing where nothing is changed.
func (e *echoes) notes(labels []attribution.Label) []string {
	times, agents := map[string]int{}, map[string][]string{}
	for thread, kinds := range e.counts {
		for kind, n := range kinds {
			times[kind] += n
			if path := string(labels[thread].Path); !slices.Contains(agents[kind], path) {
				agents[kind] = append(agents[kind], path)
			}
		}
	}
	if len(times) == 0 {
		return nil
	}
	var parts []string
	for _, kind := range slices.Sorted(maps.Keys(times)) {
		who := agents[kind][0]
		if n := len(agents[kind]); n > 1 {
			who = counted(n, "agent")
		}
		parts = append(parts, fmt.Sprintf("%s (%s, %s)", kind, who, counted(times[kind], "time")))
	}
	return []string{"the client sends answers back changed: " + strings.Join(parts, ", ")}
}

// lastAssistantRun is where the last run of assistant messages in chat begins.
func lastAssistantRun(chat []runtime.Message) int {
	at := len(chat)
	for at > 0 && chat[at-1].Role != runtime.RoleAssistant {
		at--
	}
	for at > 0 && chat[at-1].Role == runtime.RoleAssistant {
		at--
	}
	return at
}

// assistantRun is a copy of the assistant messages that chat begins with.
func assistantRun(chat []runtime.Message) []runtime.Message {
	n := 0
	for n < len(chat) && chat[n].Role == runtime.RoleAssistant {
		n++
	}
	return slices.Clone(chat[:n])
}

// runChanges compares an answer with the messages that a client made of it.
func runChanges(answer runtime.Message, run []runtime.Message) []string {
	switch len(run) {
	case 0:
		return []string{"left out"}
	case 1:
		return echoChanges(answer, run[0])
	}
	kinds := append(echoChanges(core(answer), core(mergedRun(run))), fmt.Sprintf("one message → %d messages", len(run)))
	slices.Sort(kinds)
	return kinds
}

// mergedRun is one message with all texts and calls of a run.
func mergedRun(run []runtime.Message) runtime.Message {
	merged := runtime.Message{Role: runtime.RoleAssistant}
	for _, m := range run {
		merged.Content += m.Content
		merged.Calls = append(merged.Calls, m.Calls...)
	}
	return merged
}

// core is a message with only its text and its calls.
func core(m runtime.Message) runtime.Message {
	line := &httpLine{}
	line.member("role", quoted(string(m.Role)))
	content := quoted(m.Content)
	if m.Content == "" && len(m.Calls) > 0 {
		content = jsontext.Value("null")
	}
	line.member("content", content)
	m.Raw = line.end()
	calls := slices.Clone(m.Calls)
	for i, c := range calls {
		call := &httpLine{}
		call.member("id", quoted(c.ID))
		calls[i].Raw = call.end()
	}
	m.Calls = calls
	return m
}

// echoChanges names what differs between an answer, in the canonical form of the
// decoder, and the message that a client sent back for it: sorted, each kind
// once, none for a faithful echo.
func echoChanges(answer, echo runtime.Message) []string {
	before, err := parseNode(answer.Raw)
	after, err2 := parseNode(echo.Raw)
	if err != nil || err2 != nil {
		return []string{"no strict JSON"}
	}
	var kinds []string
	if kind := contentChange(before, after, answer.Content, echo.Content); kind != "" {
		kinds = append(kinds, kind)
	}
	kinds = append(kinds, memberChanges("", before, after, "role", "content", "tool_calls")...)
	if a, b := len(answer.Calls), len(echo.Calls); a != b {
		kinds = append(kinds, fmt.Sprintf("%s → %s", counted(a, "call"), counted(b, "call")))
	}
	for i := range min(len(answer.Calls), len(echo.Calls)) {
		kinds = append(kinds, callChanges(answer.Calls[i], echo.Calls[i])...)
	}
	slices.Sort(kinds)
	return slices.Compact(kinds)
}

// contentChange says how the content became another one, "" if it did not.
func contentChange(before, after *node, was, is string) string {
	a, b := contentForm(before.member("content"), was), contentForm(after.member("content"), is)
	switch {
	case was == is && a == b:
		return ""
	case was == is, was == "" || is == "":
		return fmt.Sprintf("content %s → %s", a, b)
	case strings.TrimSpace(was) == strings.TrimSpace(is):
		return "white space around the text"
	case strings.Contains(is, "<think>") != strings.Contains(was, "<think>"):
		return "thinking in the text"
	default:
		return "another text"
	}
}

// contentForm names the form of a content.
func contentForm(content *node, text string) string {
	switch {
	case content == nil:
		return "absent"
	case content.kind == jsontext.KindNull:
		return "null"
	case content.kind == jsontext.KindBeginArray && len(content.elems) == 0:
		return "[]"
	case content.kind == jsontext.KindBeginArray:
		return "parts"
	case text == "":
		return `""`
	default:
		return "text"
	}
}

// memberChanges names the members that were added, left out or changed, but for
// those that are compared by what they mean.
func memberChanges(of string, before, after *node, but ...string) []string {
	var kinds []string
	for _, m := range before.members {
		switch other := after.member(m.name); {
		case slices.Contains(but, m.name):
		case other == nil:
			kinds = append(kinds, of+m.name+" left out")
		case other.show() != m.value.show():
			kinds = append(kinds, of+m.name+" changed")
		}
	}
	for _, m := range after.members {
		if before.member(m.name) == nil && !slices.Contains(but, m.name) {
			kinds = append(kinds, of+m.name+" added")
		}
	}
	return kinds
}

func callChanges(answer, echo runtime.Call) []string {
	var kinds []string
	if answer.ID != echo.ID {
		kinds = append(kinds, "call id rewritten")
	}
	if answer.Name != echo.Name {
		kinds = append(kinds, "another name of the call")
	}
	if kind := argumentsChange(answer.Arguments, echo.Arguments); kind != "" {
		kinds = append(kinds, kind)
	}
	before, err := parseNode(answer.Raw)
	after, err2 := parseNode(echo.Raw)
	if err != nil || err2 != nil {
		return kinds
	}
	return append(kinds, memberChanges("call's ", before, after, "id", "function")...)
}

func argumentsChange(was, is string) string {
	if was == is {
		return ""
	}
	a, err := parseNode([]byte(was))
	b, err2 := parseNode([]byte(is))
	switch {
	case strings.TrimSpace(was) == "" && strings.TrimSpace(is) == "{}":
		return `arguments "" → {}`
	case strings.TrimSpace(was) == "{}" && strings.TrimSpace(is) == "":
		return `arguments {} → ""`
	case err == nil && err2 != nil:
		return "arguments → no JSON"
	case err == nil && err2 == nil && sameValue(a, b):
		return "arguments written anew"
	default:
		return "other arguments"
	}
}

// sameValue reports whether two values are equal, whatever the order of members.
func sameValue(a, b *node) bool {
	if a.kind != b.kind || len(a.elems) != len(b.elems) || len(a.members) != len(b.members) {
		return false
	}
	for i := range a.elems {
		if !sameValue(a.elems[i], b.elems[i]) {
			return false
		}
	}
	for _, m := range a.members {
		if other := b.member(m.name); other == nil || !sameValue(m.value, other) {
			return false
		}
	}
	return a.isScalarEqual(b)
}
