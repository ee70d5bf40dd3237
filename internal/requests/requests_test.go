package requests

import (
	"fmt"
	"io/fs"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"
	"gotest.tools/v3/assert"

	"github.com/tapetree/tapetree/runtime"
	"github.com/tapetree/tapetree/transcripts"
)

// messages reads a list as the cases write it: a message a line, "role text" or
// "tool ID text"; a call is "call ID name".
func messages(lines ...string) []runtime.Message {
	var list []runtime.Message
	for _, line := range lines {
		role, text, _ := strings.Cut(line, " ")
		switch role {
		case "tool":
			id, result, _ := strings.Cut(text, " ")
			list = append(list, runtime.ToolMessage(id, result))
		case "call":
			id, name, _ := strings.Cut(text, " ")
			list = append(list, runtime.Message{Role: runtime.RoleAssistant, Calls: []runtime.Call{{ID: id, Name: name, Arguments: "{}"}}})
		case "system":
			list = append(list, runtime.SystemMessage(text))
		case "assistant":
			list = append(list, runtime.Message{Role: runtime.RoleAssistant, Content: text})
		default:
			list = append(list, runtime.UserMessage(text))
		}
	}
	return list
}

func view(list []runtime.Message) runtime.View {
	var h runtime.History
	h.Append(list...)
	return h.View()
}

// told is changes as a person would note them.
func told(c *Changes) string {
	var words []string
	for _, m := range c.Messages {
		word := fmt.Sprintf("%s %v->%v", m.Kind, m.Old, m.New)
		if m.Answer {
			word += " answer"
		}
		words = append(words, word)
	}
	if c.System {
		words = append(words, "system")
	}
	return fmt.Sprintf("kept %d; %s", c.Kept, strings.Join(words, ", "))
}

func TestEveryChangeHasItsName(t *testing.T) {
	long := strings.Repeat("a long result ", 20)
	tests := []struct {
		name      string
		old, list []string
		want      string
	}{
		{"goes on", []string{"system s", "user u"}, []string{"system s", "user u", "call c1 read", "tool c1 x"}, "kept 2; added []->[2] answer, added []->[3]"},
		{"nothing", []string{"user u"}, []string{"user u"}, "kept 1; "},
		{"cut result", []string{"user u", "call c1 read", "tool c1 " + long}, []string{"user u", "call c1 read", "tool c1 [cleared]", "user go"}, "kept 2; cut [2]->[2], added []->[3]"},
		{"cut text", []string{"user " + long, "assistant a"}, []string{"user " + long[:100] + "…", "assistant a"}, "kept 1; cut [0]->[0]"},
		{"edited", []string{"user u", "assistant a", "user v"}, []string{"user u", "assistant other", "user v"}, "kept 2; edited [1]->[1]"},
		{"dropped", []string{"user u", "assistant a", "user v"}, []string{"user u", "user v"}, "kept 2; dropped [1]->[]"},
		{"dropped at the front", []string{"user 1", "assistant 2", "user 3"}, []string{"user 3", "assistant 4"}, "kept 1; dropped [0 1]->[], added []->[1]"},
		{"compacted", []string{"system s", "user u", "assistant a", "user v", "assistant b"}, []string{"system s", "user in short", "assistant b", "user w"}, "kept 2; compacted [1 2 3]->[1], added []->[3]"},
		{"compacted to the end", []string{"user u", "assistant a", "user v"}, []string{"user in short", "user w"}, "kept 0; compacted [0 1 2]->[0], added []->[1]"},
		{"system", []string{"system s", "user u"}, []string{"system t", "user u"}, "kept 1; system"},
		{"moved", []string{"user 1", "user 2", "user 3"}, []string{"user 2", "user 3", "user 1"}, "kept 2; dropped [0]->[], added []->[2]"},
		{"twice the same", []string{"user x", "user x"}, []string{"user x", "user x", "user x"}, "kept 2; added []->[2]"},
	}
	for _, test := range tests {
		before := &Request{Sent: view(messages(test.old...)), Answer: &runtime.Answer{Message: messages("call other read")[0]}}
		r := &Request{Sent: view(messages(test.list...)), Before: before}
		assert.Equal(t, told(r.Changes()), test.want, test.name)
	}
	first := (&Request{Sent: view(messages("user u"))}).Changes()
	assert.Assert(t, first.First && first.Any())
	assert.Equal(t, first.Count(Added), 1)
}

func TestSettingsThatChange(t *testing.T) {
	before := &Request{
		Model: "a", Tools: jsontext.Value(`[{"type":"function","function":{"name":"x","description":"1"}},{"name":"y"},{"type":"z"}]`),
		Params: []runtime.Param{{Name: "temperature", Value: jsontext.Value("0")}, {Name: "stop", Value: jsontext.Value(`["a"]`)}},
	}
	r := &Request{
		Before: before, Model: "b", Tools: jsontext.Value(`[{"type":"z"},{"type":"function","function":{"name":"x","description":"2"}},{"name":"w"}]`),
		Params: []runtime.Param{{Name: "top_p", Value: jsontext.Value("1")}, {Name: "temperature", Value: jsontext.Value("0")}},
	}
	assert.DeepEqual(t, r.Changes(), &Changes{
		Model: true, Tools: ToolChange{Added: []string{"w"}, Dropped: []string{"y"}, Schema: []string{"x"}, Order: true},
		Params: []ParamChange{{"stop", `["a"]`, ""}, {"top_p", "", "1"}},
	})
	same := &Request{Before: before, Model: "a", Tools: jsontext.Value(`[ {"function":{"description":"1","name":"x"},"type":"function"},{"name":"y"},{"type":"z"}]`), Params: before.Params}
	assert.Assert(t, !same.Changes().Any())
}

// TestEveryMessageIsToldOnce holds for lists of any kind: each message of either
// list is kept or stands in one change.
func TestEveryMessageIsToldOnce(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for range 2000 {
		line := func() string {
			return []string{"user a", "user b", "assistant c", "tool 1 r", "tool 1 longer r", "tool 2 r", "call 1 x", "user a longer", "system s"}[random.IntN(9)]
		}
		lines := func() (list []string) {
			for range random.IntN(9) {
				list = append(list, line())
			}
			return list
		}
		old, list := messages(lines()...), messages(lines()...)
		c := (&Request{Sent: view(list), Before: &Request{Sent: view(old)}}).Changes()
		var olds, news []int
		for _, m := range c.Messages {
			olds, news = append(olds, m.Old...), append(news, m.New...)
		}
		system := 0
		if c.System {
			system = 1
		}
		assert.Equal(t, len(olds)+c.Kept+system, len(old), told(c))
		assert.Equal(t, len(news)+c.Kept+system, len(list), told(c))
		assert.Assert(t, slices.IsSorted(olds) && slices.IsSorted(news), told(c))
		assert.Equal(t, len(slices.Compact(slices.Clone(olds))), len(olds))
	}
}

func load(t *testing.T, name string) *transcripts.History {
	t.Helper()
	data, err := fs.ReadFile(transcripts.Suite, name+".jsonl")
	assert.NilError(t, err)
	f, err := transcripts.Parse(name, data)
	assert.NilError(t, err)
	h, err := f.History()
	assert.NilError(t, err)
	return h
}

func TestTriesAndSideConversationsAreRequests(t *testing.T) {
	h := load(t, "upstream-429-then-200")
	list := Of(h, "root")
	assert.Equal(t, len(list), 2)
	assert.Assert(t, list[0].Answer == nil && list[0].Err != nil && list[1].Answer != nil && list[1].Before == list[0])
	assert.Equal(t, told(list[1].Changes()), "kept 2; ")
	h = load(t, "mini-compaction-twice")
	paths, counts := Sides(h)
	assert.DeepEqual(t, paths, []runtime.Path{"root~compact.1", "root~compact.2"})
	assert.Equal(t, counts["root~compact.1"], 1)
	assert.Equal(t, len(Of(h, "root~compact.1")), 1)
	compacted := 0
	for _, r := range Of(h, "root") {
		compacted += r.Changes().Count(Compacted)
	}
	dropped := 0
	for _, turn := range h.Agent("root").Turns {
		if turn.Compact != nil {
			dropped += turn.Compact.Dropped
		}
	}
	assert.Equal(t, compacted, dropped)
	assert.Equal(t, len(Of(h, "root/9.9")), 0)
}

// TestMessagesAreInferredRequests holds for a history without exchanges.
func TestMessagesAreInferredRequests(t *testing.T) {
	b := transcripts.NewHistory("x.json", "", "openai")
	root := b.Root()
	root.Add(runtime.UserMessage("u"))
	root.Answer(&runtime.Answer{Message: messages("assistant a")[0]}, transcripts.Spot{Line: 7})
	root.Add(runtime.UserMessage("v"))
	root.Answer(&runtime.Answer{Message: messages("assistant b")[0], Model: "m"}, transcripts.Spot{})
	h := b.History()
	list := Of(h, "root")
	assert.Equal(t, len(list), 2)
	assert.Assert(t, list[0].Inferred)
	assert.Equal(t, list[0].Line, 7)
	assert.Equal(t, told(list[1].Changes()), "kept 1; added []->[1] answer, added []->[2]")
	assert.Equal(t, len(Of(h, "root/1.1")), 0)
}

// FuzzTools: a list of tools may be any bytes.
func FuzzTools(f *testing.F) {
	f.Add([]byte(`[{"function":{"name":"x"}},{"name":"y"},{}]`), []byte(`[1,`))
	f.Fuzz(func(_ *testing.T, a, b []byte) {
		r := &Request{Tools: a, Before: &Request{Tools: b}, Params: []runtime.Param{{Name: "p", Value: a}}}
		r.Changes()
	})
}
