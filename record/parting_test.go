package record

import (
	"fmt"
	"strings"
	"testing"

	"github.com/tapetree/tapetree/runtime"
	"gotest.tools/v3/assert"
)

// The excerpts of a report stand around what makes the texts different, not
// around what a rule covers.
func TestReportShowsWhatNoRuleCovers(t *testing.T) {
	rules, err := ParseVolatile([]string{"uuids", "dates"})
	assert.NilError(t, err)
	fill := strings.Repeat("é\n", 100)
	const ids = "0f8fad5b-d9cb-469f-a165-70867728950e and 7c9e6679-7425-40de-944b-e07fc1f90ae7"
	text := func(day, id, last string) string { return day + fill + id + fill + last + fill }
	recorded := text("2026-01-02 and {{secret:openai:1}} ", ids, "the old end")
	for _, c := range []struct{ sent, want string }{
		{text("2027-11-12 and {{secret:openai:2}} ", ids, "the new end"), "the new end"},
		{text("2026-01-02 and {{secret:openai:1}} ", "0f8fad5b-d9cb-469f-a165-70867728950e and 0f8fad5b-d9cb-469f-a165-70867728950e", "the old end"), "0e and 0f8fad5b"},
		{text("2026-01-02 and {{secret:anthropic:1}} ", ids, "the old end"), "{{secret:anthropic:1}}"},
	} {
		d := &diff{rules: rules, ids: &pairs{}, secrets: &pairs{}, uses: map[string]int{}}
		d.values("/messages/0/content", valueNode(quoted(recorded)), valueNode(quoted(c.sent)))
		assert.Equal(t, len(d.found), 1)
		for _, limit := range []int{60, 160} {
			_, sent := d.found[0].shorten(limit)
			assert.Assert(t, strings.Contains(sent, c.want), "%s", sent)
		}
	}
}

// The excerpt of arguments stands around the value that differs, wherever it is
// written.
func TestReportShowsTheArgumentThatDiffers(t *testing.T) {
	fill := strings.Repeat("x", 300)
	d := &diff{ids: &pairs{}, secrets: &pairs{}, uses: map[string]int{}}
	value := func(arguments string) *node { return valueNode(quoted(arguments)) }
	d.values("/messages/2/tool_calls/0/function/arguments",
		value(fmt.Sprintf(`{"a":"%s","path":"%s old"}`, fill, fill)), value(fmt.Sprintf(`{"path":"%s new","a":"%s"}`, fill, fill)))
	recorded, sent := d.found[0].shorten(60)
	assert.Assert(t, strings.Contains(recorded, "x old") && strings.Contains(sent, "x new"), "%s\n%s", recorded, sent)
}

// What a changed prompt is warned of in one line is what no rule covers.
func TestWarningShowsWhatNoRuleCovers(t *testing.T) {
	rules, err := ParseVolatile([]string{"dates"})
	assert.NilError(t, err)
	s := newStory(runtime.WireChat)
	fill := strings.Repeat("Be good. ", 30)
	x := s.turn(t, "root", talk("Yes."), said("system", "Today is 2026-01-02. "+fill+"Say little."), said("user", "Is it?"))
	server := serve(t, s.file, PlaybackOptions{ReplayOptions: ReplayOptions{Volatile: rules}})
	server.send(t, bodyFrom(x, "2026-01-02", "2027-03-04", "Say little.", "Say much."))
	assert.DeepEqual(t, findings(server.end(t).Report), []string{
		`replay/prompt root#1 /messages/0/content: recorded …. Be good. Say little.", sent …. Be good. Say much."`,
	})
}
