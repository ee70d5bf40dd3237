package transcripts

import (
	"fmt"
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/tapetree/tapetree/runtime"
	"gotest.tools/v3/assert"
	"gotest.tools/v3/golden"
)

// outline writes all that Session says of a run.
func outline(run *runtime.Run) string {
	var b strings.Builder
	run.Walk(func(r *runtime.Run) {
		fmt.Fprintf(&b, "%s label=%q prompt=%q stop=%s status=%d final=%q partial=%q\n", r.Agent, r.Label, r.Prompt, r.Stop, r.Status, r.Final, r.Partial)
		fmt.Fprintf(&b, "  usage %d/%d tree %d/%d\n", r.Usage.Input, r.Usage.Output, r.Tree.Input, r.Tree.Output)
		for _, turn := range r.Turns {
			fmt.Fprintf(&b, "  turn %d: sent %d messages, failed %v, reminder %q", turn.Number, turn.Sent.Len(), turn.Failed, turn.Reminder)
			if turn.Answer != nil {
				fmt.Fprintf(&b, ", answer %q", turn.Answer.Message.Content)
			}
			b.WriteString("\n")
			for _, c := range turn.Calls {
				fmt.Fprintf(&b, "    call %d %s %s %s [%s] %q", c.Number, c.ID, c.Name, c.Arguments, c.Verdict, c.Result)
				if c.Child != nil {
					fmt.Fprintf(&b, " -> %s", c.Child.Agent)
				}
				b.WriteString("\n")
			}
		}
		b.WriteString("  history")
		for _, m := range r.History.Messages() {
			fmt.Fprintf(&b, " %s", m.Role)
			if m.CallID != "" {
				fmt.Fprintf(&b, "(%s)", m.CallID)
			}
			for _, call := range m.Calls {
				fmt.Fprintf(&b, "[%s]", call.ID)
			}
		}
		b.WriteString("\n")
	})
	return b.String()
}

func sessionOf(t *testing.T, f *File) *runtime.Run {
	t.Helper()
	run, err := f.Session()
	assert.NilError(t, err)
	return run
}

func TestSessionIsTheTreeAsRecorded(t *testing.T) {
	golden.Assert(t, outline(sessionOf(t, mustParse(sampleSession("tapetree v0").Encode()))), "sample.session")
}

// case 4.07: usage of own, side conversations included, and tree.
func TestSessionCountsUsageOfOwnAndTree(t *testing.T) {
	run := sessionOf(t, sampleSession("tapetree v0"))
	assert.DeepEqual(t, run.Usage, runtime.Usage{Input: 30, Output: 6})
	assert.DeepEqual(t, run.Tree, runtime.Usage{Input: 70, Output: 14})
}

func TestSessionOfABrokenRecordingLosesNoAgent(t *testing.T) {
	whole := sampleSession("tapetree v0")
	tests := []struct {
		name   string
		change func(f *File)
	}{
		{"no tool lines", func(f *File) { f.Calls = nil }},
		{"child without its parent's exchange", func(f *File) {
			f.Calls = nil
			f.Exchanges = f.Exchanges[1:3]
		}},
		{"grandchild alone", func(f *File) {
			f.Calls = nil
			f.Exchanges = []*Exchange{asked("root/2.1/1.1", 1, plainList("a"))}
		}},
		{"tool line without exchange", func(f *File) {
			f.Exchanges = f.Exchanges[:1]
			f.Calls = []*Call{{Agent: "root", Turn: 3, Call: 1, ID: "c", Name: "t", Verdict: "allow"}, {Agent: "root", Turn: 2, Call: 1, ID: "b", Name: "t", Verdict: "allow"}}
		}},
		{"second child of one call, child of no call", func(f *File) {
			f.Calls = nil
			f.Exchanges = []*Exchange{
				asked("root", 1, plainList("a")), asked("root/1.1", 1, plainList("b")),
				asked("root/1.1#2", 1, plainList("c")), asked("root/?1", 1, plainList("d")),
			}
		}},
		{"every try failed", func(f *File) {
			text := "no"
			f.Calls = nil
			f.Exchanges = []*Exchange{asked("root", 1, plainList("a")), asked("root", 1, plainList("a"))}
			for i, x := range f.Exchanges {
				x.Try, x.Status, x.Response, x.Text = i+1, 500, nil, &text
			}
		}},
	}
	var b strings.Builder
	for _, test := range tests {
		f := &File{Header: whole.Header, Exchanges: append([]*Exchange(nil), whole.Exchanges...), Calls: whole.Calls}
		test.change(f)
		fmt.Fprintf(&b, "== %s\n%s", test.name, outline(sessionOf(t, f)))
	}
	golden.Assert(t, b.String(), "broken.session")
}

func TestSessionStopsWithoutEndLine(t *testing.T) {
	for body, want := range map[string]runtime.StopReason{
		`{"choices":[{"message":{"content":"x"},"finish_reason":"stop"}]}`:                                                                        runtime.StopAnswer,
		`{"choices":[{"message":{"content":"x"},"finish_reason":"length"}]}`:                                                                      runtime.StopTruncated,
		`{"choices":[{"message":{"content":""},"finish_reason":"stop"}]}`:                                                                         runtime.StopEmpty,
		`{"choices":[{"message":{"content":null,"refusal":"no"},"finish_reason":"stop"}]}`:                                                        runtime.StopRefused,
		`{"choices":[{"message":{"tool_calls":[{"id":"c","type":"function","function":{"name":"t","arguments":"{}"}}]},"finish_reason":"stop"}]}`: runtime.StopCancelled,
		`{"error":"quota"}`: runtime.StopUpstreamError,
	} {
		x := asked("root", 1, plainList("a"))
		x.Response = jsontext.Value(body)
		assert.Equal(t, sessionOf(t, &File{Exchanges: []*Exchange{x}}).Stop, want, body)
	}
}

func TestSessionHistoryHasTheRepairedIds(t *testing.T) {
	s := newSession("n", Authored)
	root := s.agent("root", "S", "P")
	root.answers(`{"role":"assistant","tool_calls":[{"id":"","type":"function","function":{"name":"t","arguments":"{}"}}]}`)
	root.gets(1, "t {}", "r", "").ID = "call-1.1"
	messages := sessionOf(t, s.file).History.Messages()
	assert.Equal(t, messages[2].Calls[0].ID, "call-1.1")
	assert.Equal(t, messages[3].CallID, "call-1.1")
}

func TestSessionsOfSeveralRoots(t *testing.T) {
	f := &File{Exchanges: []*Exchange{asked("root2", 1, plainList("b")), asked("root", 1, plainList("a")), asked("root~title.1", 1, plainList("c"))}}
	runs, err := f.Sessions()
	assert.NilError(t, err)
	var agents []runtime.Path
	for _, run := range runs {
		agents = append(agents, run.Agent)
	}
	assert.DeepEqual(t, agents, []runtime.Path{"root", "root2"})
}

func TestSessionWithoutAnAgentIsAnError(t *testing.T) {
	_, err := (&File{Path: "f"}).Session()
	assert.Error(t, err, "read session of f: no agent's exchange is recorded")
}
