package benchdata

import (
	"bytes"
	"fmt"

	"github.com/tapetree/tapetree/runtime"
)

// Sized is the shape of a session whose transcript has about so many bytes: a
// parent and ten children, tool results of 4 KB.
func Sized(size int) Shape {
	const children, result, around = 10, 4096, 900 // around: what a turn takes beside its result
	return Shape{Children: children, Turns: max(children+1, size/((children+1)*(result+around))), Result: result}
}

// ClaudeCode is a session of about so many bytes in the form in which Claude
// Code keeps them: JSONL with the children inline, each turn a call and its
// result of 4 KB.
func ClaudeCode(size int) []byte {
	const children, result = 4, 4096
	c := &claude{result: result}
	c.user(false, "", "Look at all the files and say what is wrong.")
	for n := 1; n <= children; n++ {
		agent := runtime.Root.Child(n, 1)
		call := c.call(false, "Task", fmt.Sprintf(`{"description":"part %d","prompt":"Read the files of src/part%d and name what is wrong in them.","subagent_type":"general-purpose"}`, n, n))
		root := c.last
		c.last = ""
		c.user(true, "", fmt.Sprintf("Read the files of src/part%d and name what is wrong in them.", n))
		for turn := 1; c.out.Len() < size*n/children; turn++ {
			id := c.call(true, "Read", fmt.Sprintf(`{"file_path":"src/part%d/file%d.go"}`, n, turn))
			c.user(true, id, text(result, fmt.Sprintf("%s turn %d", agent, turn)))
		}
		c.say(true, answerText(agent))
		c.last = root
		c.user(false, call, answerText(agent))
	}
	c.say(false, answerText(runtime.Root))
	return c.out.Bytes()
}

type claude struct {
	out    bytes.Buffer
	n      int
	result int
	last   string // the line before, in the agent's own chain
}

// line writes one line with what all lines have.
func (c *claude) line(side bool, kind, message string) {
	c.n++
	parent := "null"
	if c.last != "" {
		parent = quote(c.last)
	}
	c.last = fmt.Sprintf("00000000-0000-4000-8000-%012d", c.n)
	fmt.Fprintf(&c.out, `{"parentUuid":%s,"isSidechain":%t,"userType":"external","cwd":"/src","sessionId":"bench","version":"2.0.0","type":%q,"message":%s,"uuid":%q,"timestamp":"2026-01-01T%02d:%02d:%02d.000Z"}`+"\n",
		parent, side, kind, message, c.last, c.n/3600%24, c.n/60%60, c.n%60)
}

// user writes a message of the user, or, with an id, the result of a call.
func (c *claude) user(side bool, id, text string) {
	if id == "" {
		c.line(side, "user", fmt.Sprintf(`{"role":"user","content":%s}`, quote(text)))
		return
	}
	c.line(side, "user", fmt.Sprintf(`{"role":"user","content":[{"tool_use_id":%q,"type":"tool_result","content":%s}]}`, id, quote(text)))
}

func (c *claude) call(side bool, name, input string) (id string) {
	id = fmt.Sprintf("toolu_%08d", c.n)
	c.answer(side, fmt.Sprintf(`{"type":"tool_use","id":%q,"name":%q,"input":%s}`, id, name, input), "tool_use")
	return id
}

func (c *claude) say(side bool, words string) {
	c.answer(side, fmt.Sprintf(`{"type":"text","text":%s}`, quote(words)), "end_turn")
}

func (c *claude) answer(side bool, block, stop string) {
	c.line(side, "assistant", fmt.Sprintf(`{"id":"msg_%08d","type":"message","role":"assistant","model":%q,"content":[%s],"stop_reason":%q,"stop_sequence":null,"usage":{"input_tokens":1000,"output_tokens":20}}`,
		c.n, model, block, stop))
}
