package record

import (
	"fmt"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"gotest.tools/v3/assert"

	"github.com/tapetree/tapetree/runtime"
)

func contentFrame(t *testing.T, text string) string {
	return `data: {"id":"c1","choices":[{"index":0,"delta":{"content":"` + quote(t, text) + `"}}]}` + "\n\n"
}

// argumentsFrame is a piece of the arguments of call index of choice 0; start
// adds id and name.
func argumentsFrame(t *testing.T, index int, start bool, text string) string {
	head := ""
	if start {
		head = fmt.Sprintf(`"id":"call_%d","type":"function",`, index)
	}
	name := ""
	if start {
		name = `"name":"read_file",`
	}
	return fmt.Sprintf(`data: {"choices":[{"index":0,"delta":{"tool_calls":[{"index":%d,%s"function":{%s"arguments":"%s"}}]}}]}`, index, head, name, quote(t, text)) + "\n\n"
}

type streamed struct {
	Choices []struct {
		Index int
		Delta struct {
			Content   string
			ToolCalls []struct {
				Index    int
				Function struct{ Arguments string }
			} `json:"tool_calls"`
		}
	}
}

// joined puts the pieces of the first choice's content and of each call's
// arguments together.
func joined(t *testing.T, blocks []string) (content string, arguments map[int]string) {
	arguments = map[int]string{}
	for _, block := range blocks {
		_, data, ok := runtime.EventData([]byte(block))
		assert.Assert(t, ok, block)
		var s streamed
		assert.NilError(t, json.Unmarshal([]byte(data), &s, jsontext.AllowInvalidUTF8(true), json.MatchCaseInsensitiveNames(true)), data)
		for _, c := range s.Choices {
			content += c.Delta.Content
			for _, call := range c.Delta.ToolCalls {
				arguments[call.Index] += call.Function.Arguments
			}
		}
	}
	return content, arguments
}

func joinedContent(t *testing.T, blocks []string) string {
	content, _ := joined(t, blocks)
	return content
}

func sseFolder() *runtime.Folder {
	return runtime.NewFolder([]string{"/tmp/run/ws"}, []string{"/tmp"}, []string{"/home/me"})
}

func TestFoldSSE(t *testing.T) {
	c := func(text string) string { return contentFrame(t, text) }
	a := func(index int, start bool, text string) string { return argumentsFrame(t, index, start, text) }
	tests := []struct {
		name      string
		in, out   []string
		recut     bool
		noInverse bool
	}{
		{"nothing to do", []string{": ping\n\n", c("a"), "data: [DONE]\n\n"}, []string{": ping\n\n", c("a"), "data: [DONE]\n\n"}, false, false},
		{"in one frame", []string{c("see /tmp/run/ws/a"), c("b")}, []string{c("see {{workspace}}/a"), c("b")}, false, false},
		{"over three frames", []string{c("see /tmp/r"), c("un/"), c("ws/a"), c(" end")}, []string{c("see {{workspace}}"), c(""), c("/a"), c(" end")}, true, true},
		{"the shorter path, seen late", []string{c("/tmp/run/ws"), c("2")}, []string{c("{{tmp}}/run/ws"), c("2")}, false, false},
		{"no path after all", []string{c("x"), c("/home/me")}, []string{c("x"), c("/home/me")}, false, false},
		{"our words", []string{c("{"), c("{tmp}}")}, []string{c("{{{{"), c("tmp}}")}, true, true},
		{"arguments", []string{a(0, true, `{"pa`), a(0, false, `th":"/tmp/r`), a(0, false, `un/ws/\u0061"}`)}, []string{a(0, true, `{"pa`), a(0, false, `th":"{{workspace}}`), a(0, false, `/\u0061"}`)}, true, true},
		{"escapes in arguments", []string{a(0, true, `{"p":"\`), a(0, false, `/tmp\/run\u00`), a(0, false, `2fws"}`)}, []string{a(0, true, `{"p":"{{workspace}}`), a(0, false, ``), a(0, false, `"}`)}, true, true},
		{"two calls in turn", []string{a(0, true, `{"p":"/ho`), a(1, true, `{"p":"/tm`), a(0, false, `me/me"}`), a(1, false, `p"}`)}, []string{a(0, true, `{"p":"{{home}}`), a(1, true, `{"p":"{{tmp}}`), a(0, false, `"}`), a(1, false, `"}`)}, true, true},
		{"a torn tail", []string{c("/tmp/r"), `data: {"choices":[{"index":0,"delta":{"content":"un/ws`}, []string{c("{{workspace}}"), `data: {"choices":[{"index":0,"delta":{"content":"`}, true, true},
		{"a torn tail with a torn escape", []string{c("a "), `data: {"choices":[{"index":0,"delta":{"content":"/tmp\u00`}, []string{c("a "), `data: {"choices":[{"index":0,"delta":{"content":"{{tmp}}\u00`}, false, false},
		{"line ends and other lines stay", []string{"event: x\r\ndata:{\"choices\":[{\"delta\":{\"content\":\"/tmp\"}}]}\r\nid: 1\r\n\r\n"}, []string{"event: x\r\ndata:{\"choices\":[{\"delta\":{\"content\":\"{{tmp}}\"}}]}\r\nid: 1\r\n\r\n"}, false, false},
		{"data on several lines", []string{"data: {\"choices\":\rdata: [{\"delta\":{\"content\":\"/tmp\"}}]}\r\r"}, []string{"data: {\"choices\":\rdata: [{\"delta\":{\"content\":\"{{tmp}}\"}}]}\r\r"}, false, false},
		{"what is no piece of a text", []string{"data: {\"error\":{\"message\":\"no /tmp/a\"}}\n\n", "data: no /tmp/b\n\n"}, []string{"data: {\"error\":{\"message\":\"no {{tmp}}/a\"}}\n\n", "data: no {{tmp}}/b\n\n"}, false, false},
		{"another wire", []string{
			`data: {"type":"content_block_delta","index":1,"delta":{"type":"input_json_delta","partial_json":"{\"p\":\"/tm"}}` + "\n\n",
			`data: {"type":"content_block_delta","index":1,"delta":{"type":"input_json_delta","partial_json":"p/x\"}"}}` + "\n\n"}, []string{
			`data: {"type":"content_block_delta","index":1,"delta":{"type":"input_json_delta","partial_json":"{\"p\":\"{{tmp}}"}}` + "\n\n",
			`data: {"type":"content_block_delta","index":1,"delta":{"type":"input_json_delta","partial_json":"/x\"}"}}` + "\n\n"}, true, true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			out, recut := FoldSSE(sseFolder(), tt.in)
			assert.DeepEqual(t, out, tt.out)
			assert.Equal(t, recut, tt.recut)
			if !tt.noInverse {
				assert.DeepEqual(t, ExpandSSE(sseFolder(), out), tt.in)
			}
		})
	}
}

func TestCallsThatShareASlotAreNotJoined(t *testing.T) {
	frame := func(id, name, arguments string) string {
		return fmt.Sprintf(`data: {"choices":[{"delta":{"tool_calls":[{"id":%q,"function":{"name":%q,"arguments":%q}}]}}]}`, id, name, arguments) + "\n\n"
	}
	in := []string{frame("a", "t", "/tmp"), frame("b", "t", "2")}
	out, _ := FoldSSE(sseFolder(), in)
	assert.DeepEqual(t, out, []string{frame("a", "t", "{{tmp}}"), frame("b", "t", "2")})
	in = []string{frame("a", "t", "/tmp"), frame("a", "t", "2"), frame("b", "", "3")}
	out, _ = FoldSSE(sseFolder(), in)
	assert.DeepEqual(t, out, in)
}

func TestNilFolderLeavesAStream(t *testing.T) {
	in := []string{contentFrame(t, "{{tmp}}")}
	out, recut := FoldSSE(nil, in)
	assert.DeepEqual(t, out, in)
	assert.Equal(t, recut, false)
	assert.DeepEqual(t, ExpandSSE(nil, in), in)
}

func TestExpandSSEEscapesForArguments(t *testing.T) {
	f := runtime.NewFolder([]string{`C:\run\ws`}, nil, nil)
	folded := []string{argumentsFrame(t, 0, true, `{"p`), argumentsFrame(t, 0, false, `":"{{workspace}}`), argumentsFrame(t, 0, false, `\\a"}`)}
	_, arguments := joined(t, ExpandSSE(f, folded))
	assert.Equal(t, arguments[0], `{"p":"C:\\run\\ws\\a"}`)
}

func TestSSE(t *testing.T) {
	pem := secretKinds[27].secret
	var blocks []string
	for _, r := range "the key\n" + pem + "\nis here" {
		blocks = append(blocks, contentFrame(t, string(r)))
	}
	out, recut := testRedactor().SSE(blocks)
	assert.Equal(t, joinedContent(t, out), "the key\n{{secret:pem:1}}\nis here")
	assert.Equal(t, recut, true)
}

func TestAPieceOfASecretIsNotTakenForOne(t *testing.T) {
	r := testRedactor()
	out, _ := r.SSE([]string{contentFrame(t, "token=q7Zp2Lx9Vb4Nw1Kd"), contentFrame(t, "m8Rt5Hy3")})
	assert.Equal(t, joinedContent(t, out), "token={{secret:value:1}}")
	assert.Equal(t, r.Text("q7Zp2Lx9Vb4Nw1Kd"), "q7Zp2Lx9Vb4Nw1Kd")
}

// cutAt cuts text into pieces whose lengths are the bytes of cuts.
func cutAt(text string, cuts []byte) []string {
	var pieces []string
	for _, c := range cuts {
		n := min(int(c)%16, len(text))
		pieces = append(pieces, text[:n])
		text = text[n:]
	}
	return append(pieces, text)
}

// FuzzSSE: however a text is cut, what the frames say after folding and
// redaction is the folded and redacted text.
func FuzzSSE(f *testing.F) {
	f.Add("see /tmp/run/ws/a and {{tmp}} /home/me", []byte{3, 5, 1, 9})
	f.Add(`{"path":"/tmp\/run\/ws","key":"ghp_`+fill+`"}`, []byte{1, 2, 3, 4, 5, 6, 7})
	f.Add("a "+envSecret+" token=q7Zp2Lx9Vb4Nw1Kd", []byte{4, 4, 4, 4})
	f.Fuzz(func(t *testing.T, text string, cuts []byte) {
		if strings.ToValidUTF8(text, "") != text {
			t.Skip("a wire carries UTF-8")
		}
		var blocks []string
		for i, p := range cutAt(text, cuts) {
			if strings.ToValidUTF8(p, "") != p {
				t.Skip("cut inside a character")
			}
			blocks = append(blocks, contentFrame(t, p), argumentsFrame(t, 1, i == 0, p))
		}
		whole, err := jsontext.AppendQuote([]byte("["), text)
		assert.NilError(t, err)
		folded, _ := FoldSSE(sseFolder(), blocks)
		checkJoined(t, folded, sseFolder().FoldJSON(append(whole, ']')))
		redacted, _ := testRedactor().SSE(blocks)
		checkJoined(t, redacted, testRedactor().JSON(append(whole, ']')))
		content, arguments := joined(t, ExpandSSE(sseFolder(), folded))
		again, _ := FoldSSE(sseFolder(), []string{contentFrame(t, content), argumentsFrame(t, 1, true, arguments[1])})
		checkJoined(t, again, sseFolder().FoldJSON(append(whole, ']')))
	})
}

func checkJoined(t *testing.T, blocks []string, want []byte) {
	t.Helper()
	var texts []string
	assert.NilError(t, json.Unmarshal(want, &texts))
	content, arguments := joined(t, blocks)
	assert.Equal(t, content, texts[0])
	assert.Equal(t, arguments[1], texts[0])
}
