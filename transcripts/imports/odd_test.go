package imports_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/tapetree/tapetree/transcripts/imports"
	"gotest.tools/v3/assert"
)

// told is what is read of a text, in few words: the sessions with their messages,
// and what was left out.
func toldOf(t *testing.T, text string) string {
	t.Helper()
	importer := imports.Detect([]byte(text))
	assert.Assert(t, importer != nil, text)
	var out strings.Builder
	for h, err := range importer.Read("f", []byte(text)) {
		if err != nil {
			fmt.Fprintln(&out, "error", err)
			continue
		}
		fmt.Fprintf(&out, "%s:", h.Name())
		for _, root := range h.Roots {
			for _, m := range root.History.Messages() {
				fmt.Fprintf(&out, " %s %q", m.Role, m.Content)
				for _, c := range m.Calls {
					fmt.Fprintf(&out, " calls %q", c.ID)
				}
				if m.CallID != "" {
					fmt.Fprintf(&out, " of %q", m.CallID)
				}
			}
			for _, turn := range root.Turns {
				fmt.Fprintf(&out, ", turn %d of %d", turn.Number, turn.Sent.Len())
			}
		}
		out.WriteString("\n")
		for _, w := range h.Warnings {
			fmt.Fprintf(&out, "%d: %s\n", w.Line, w.Msg)
		}
		for _, l := range h.Lost {
			fmt.Fprintf(&out, "lost %s\n", l)
		}
	}
	return out.String()
}

const (
	oneChat = `{"messages":[{"role":"user","content":"one"},{"role":"assistant","content":"a"}]}`
	twoChat = `{"messages":[{"role":"user","content":"two"},{"role":"assistant","content":"b"}]}`
)

// claudeRow is a line of a session of Claude Code.
func claudeRow(kind, uuid, parent, text string) string {
	content := fmt.Sprintf("%q", text)
	if kind == "assistant" {
		content = `[{"type":"text","text":` + content + `}]`
	}
	return fmt.Sprintf(`{"type":%q,"sessionId":"s","uuid":%q,"parentUuid":%s,"isSidechain":false,"message":{"role":%q,"id":%q,"content":%s}}`, kind, uuid, parent, kind, "m"+text, content) + "\n"
}

// What a file holds is read, or it is said where it stands.
func TestOddFilesAreToldWhole(t *testing.T) {
	oneTold, twoTold := `user "one" assistant "a", turn 1 of 1`, `user "two" assistant "b", turn 1 of 1`
	for _, c := range []struct{ name, text, want string }{
		{"values without a line end", oneChat + twoChat, "f (value 1): " + oneTold + "\nf (value 2): " + twoTold + "\n"},
		{"CR as line end", oneChat + "\r" + twoChat + "\r", "f (value 1): " + oneTold + "\nf (value 2): " + twoTold + "\n"},
		{"NUL bytes behind", oneChat + "\x00\x00", "f: " + oneTold + "\n1: what stands behind the JSON value, from here on, was left out\n"},
		{"a value that breaks off behind", oneChat + `{"messages":[{"role":"user","content":"two"},{"ro`, "f (value 1): " + oneTold + "\nf (value 2): user \"two\"\n1: the text breaks off here; what stands before was read\n"},
		{"a value without messages behind", oneChat + `{"x":1}`, "f (value 1): " + oneTold + "\n1: left out, the value holds no message\n"},
		{"text behind a list of sessions", "[" + oneChat + "] more", "f (element 1): " + oneTold + "\n1: what stands behind the JSON value, from here on, was left out\n"},
		{"text behind runs", `[{"task_id":1,"traj":[{"role":"user","content":"one"}]}] more`, "f (task 1): user \"one\"\n1: what stands behind the JSON value, from here on, was left out\n"},
		{"text behind a trajectory", `{"history":[{"role":"user","content":"one"}]} more`, "f: user \"one\"\n1: what stands behind the JSON value, from here on, was left out\n"},
		{"numbers as ids", `[{"role":"assistant","tool_calls":[{"id":5,"function":{"name":"f","arguments":"{}"}}]},{"role":"tool","tool_call_id":5,"content":"r"}]`,
			"f: assistant \"\" calls \"5\" tool \"r\" of \"5\", turn 1 of 0\n"},
		{"lines of other formats", claudeRow("user", "a", "null", "hi") + oneChat + "\n" + twoChat + "\n" + `{"kind":"header"}` + "\n{\"x\":1}\n",
			"f: user \"hi\"\n2: left out, 2 such: a line of OpenAI messages\n4: left out, a line of a tapetree transcript\n5: left out, a line without a type\n"},
		{"a circle", claudeRow("user", "a", `"c"`, "hi") + claudeRow("assistant", "b", `"a"`, "yo") + claudeRow("user", "c", `"b"`, "more") + claudeRow("assistant", "a", `"a"`, "self"),
			"f: user \"hi\" assistant \"yo\" user \"more\" assistant \"self\", turn 1 of 1, turn 2 of 3\n" +
				"4: the uuid \"a\" is that of line 1 too; what follows it is taken to follow that line\n" +
				"1: this line and those after it follow each other in a circle; it is taken for the first\n"},
		{"the same answer in two branches", "conversations:\n" +
			"- messages: [{role: user, content: q}, {role: assistant, content: a}, {role: user, content: left}, {role: assistant, content: done}]\n" +
			"- messages: [{role: user, content: q}, {role: assistant, content: a}, {role: user, content: right}, {role: assistant, content: done}]\n",
			"f: user \"q\" assistant \"a\" user \"right\" assistant \"done\", turn 1 of 1, turn 2 of 3, turn 3 of 3\n"},
	} {
		t.Run(c.name, func(t *testing.T) { assert.Equal(t, toldOf(t, c.text), c.want) })
	}
}

// Each look into a value reads it to its end: of a value in each other they are
// few, however deep it is.
func TestNestedValuesAreRefused(t *testing.T) {
	for _, depth := range []int{5_000, 100_000} {
		for _, text := range []string{
			strings.Repeat("[", depth) + strings.Repeat("]", depth),
			strings.Repeat(`{"request":`, depth) + "1" + strings.Repeat("}", depth),
		} {
			assert.Assert(t, imports.Detect([]byte(text)) == nil)
		}
	}
}

func TestATrajectoryThatBreaksOffEarlyIsNamed(t *testing.T) {
	want := `it is a SWE-agent trajectory that breaks off before its "history", in which the messages stand; get the file whole`
	assert.Equal(t, imports.Half([]byte(`{"environment":"e","trajectory":[{"action":"ls"},{"act`)), want)
	assert.Equal(t, imports.Half([]byte(`{"trajectory":[{"action":"ls"}]}`)), "")
	assert.Equal(t, imports.Half([]byte(`{"trajectory":5,"x":`)), "")
	assert.Equal(t, imports.Half([]byte(`{"trajectory":[1],]`)), "")
}
