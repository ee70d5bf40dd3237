package transcripts

import (
	"fmt"
	"strings"
	"testing"

	"github.com/tapetree/tapetree/runtime"
	"gotest.tools/v3/assert"
	"gotest.tools/v3/golden"
)

// foreignFiles are sessions of programs that are not ours, on the two wires
// that are not chat completions.
var foreignFiles = []string{"responses", "messages"}

func foreignFile(t *testing.T, name string) *File {
	t.Helper()
	f, err := Parse(name+".jsonl", []byte(readText(t, "testdata/"+name+".jsonl")))
	assert.NilError(t, err)
	return f
}

func TestEveryWireIsWrittenAsItWasRead(t *testing.T) {
	for _, name := range foreignFiles {
		f := foreignFile(t, name)
		assert.Equal(t, string(f.Encode()), readText(t, "testdata/"+name+".jsonl"))
		assert.Assert(t, f.Foreign())
		assert.Equal(t, *f.End.Code, 0)
	}
	assert.Assert(t, !sampleSession(Authored).Foreign())
}

func TestBodiesOfEveryWireAreRebuilt(t *testing.T) {
	for _, name := range foreignFiles {
		var b strings.Builder
		for _, x := range foreignFile(t, name).Exchanges {
			fmt.Fprintf(&b, "%s try %d %s\n", place(x.Agent, x.Turn), x.Try, x.Body())
		}
		golden.Assert(t, b.String(), name+".bodies")
	}
}

func TestSessionsOfEveryWireAreInChatForm(t *testing.T) {
	for _, name := range foreignFiles {
		golden.Assert(t, outline(sessionOf(t, foreignFile(t, name))), name+".session")
	}
}

// One lineage: what reads a session looks at each message once.
func TestChatFormKeepsOneLineage(t *testing.T) {
	for _, name := range foreignFiles {
		f := foreignFile(t, name)
		sent := f.ChatForm()
		last := map[runtime.Path]runtime.View{}
		for _, x := range f.Exchanges {
			view := sent(x)
			assert.Assert(t, last[x.Agent].Len() == 0 || view.Extends(last[x.Agent]), place(x.Agent, x.Turn))
			last[x.Agent] = view
		}
	}
}

// responsesList is an exchange of the wire Responses with the given answer.
func responsesList(turn int, params []runtime.Param, answer string, items ...string) *Exchange {
	var h runtime.History
	for _, item := range items {
		m, err := runtime.WireResponses.ParseItem([]byte(item))
		if err != nil {
			panic(err)
		}
		h.Append(m)
	}
	body := fmt.Sprintf(`{"id":"r%d","status":"completed","output":[%s]}`, turn, answer)
	return &Exchange{Agent: "root", Turn: turn, Try: 1, Wire: "responses", Model: "m", Messages: h.View(),
		Params: params, Status: 200, Response: []byte(body)}
}

func userItem(text string) string { return fmt.Sprintf(`{"role":"user","content":%q}`, text) }

func saidItem(text string) string {
	return fmt.Sprintf(`{"type":"message","role":"assistant","content":[{"type":"output_text","text":%q}]}`, text)
}

func param1(name, value string) []runtime.Param {
	return []runtime.Param{{Name: name, Value: []byte(value)}}
}

// chatOutline is what each request says in chat form, and whether it goes on
// from the one before.
func chatOutline(f *File) string {
	var b strings.Builder
	var last runtime.View
	sent := f.ChatForm()
	for i, x := range f.Exchanges {
		view := sent(x)
		var texts []string
		for _, m := range view.Messages() {
			texts = append(texts, fmt.Sprintf("%s:%s", m.Role, m.Content))
		}
		fmt.Fprintf(&b, "%v %s\n", i > 0 && view.Extends(last), strings.Join(texts, " "))
		last = view
	}
	return b.String()
}

func TestChatFormOfRequestsThatGoOnFromAnAnswer(t *testing.T) {
	f := &File{Exchanges: []*Exchange{
		responsesList(1, nil, saidItem("one"), userItem("a")),
		responsesList(2, param1(previousResponse, `"r1"`), saidItem("two"), userItem("b")),
		responsesList(3, param1(previousResponse, `"r2"`), saidItem("three"), userItem("c")),
		responsesList(4, param1(previousResponse, `"r1"`), saidItem("four"), userItem("d")), // a fork
		responsesList(5, param1(previousResponse, `"lost"`), saidItem("five"), userItem("e")),
	}}
	assert.Equal(t, chatOutline(f), `false user:a
true user:a assistant:one user:b
true user:a assistant:one user:b assistant:two user:c
false user:a assistant:one user:d
false user:e
`)
}

func TestChatFormTakesTheInstructionsOfTheRequestItself(t *testing.T) {
	system := runtime.Param{Name: "instructions", Value: SystemReference}
	with := func(x *Exchange, text string) *Exchange {
		var h runtime.History
		h.Append(runtime.SystemMessage(text))
		h.Append(x.Messages.Messages()...)
		x.Messages, x.Params = h.View(), append(x.Params, system)
		return x
	}
	f := &File{Exchanges: []*Exchange{
		with(responsesList(1, nil, saidItem("one"), userItem("a")), "s"),
		with(responsesList(2, param1(previousResponse, `"r1"`), saidItem("two"), userItem("b")), "s"),
		with(responsesList(3, param1(previousResponse, `"r2"`), saidItem("three"), userItem("c")), "t"),
		responsesList(4, param1(previousResponse, `"r3"`), saidItem("four"), userItem("d")),
	}}
	assert.Equal(t, chatOutline(f), `false system:s user:a
true system:s user:a assistant:one user:b
false system:t user:a assistant:one user:b assistant:two user:c
false user:a assistant:one user:b assistant:two user:c assistant:three user:d
`)
}

// The elements of one answer are one message; two answers without anything
// between them stay two, also when the list is read again from its beginning.
func TestChatFormJoinsTheElementsOfOneAnswer(t *testing.T) {
	reasoning := `{"type":"reasoning","id":"rs","summary":[]}`
	f := &File{Exchanges: []*Exchange{
		responsesList(1, nil, saidItem("x"), userItem("a")),
		responsesList(2, nil, saidItem("x"), userItem("a"), reasoning, saidItem("1"), reasoning, saidItem("2")),
		responsesList(3, nil, saidItem("x"), userItem("a"), reasoning, saidItem("1"), reasoning, saidItem("2"), saidItem("3"), userItem("b")),
		responsesList(4, nil, saidItem("x"), userItem("A"), reasoning, saidItem("1"), reasoning, saidItem("2"), saidItem("3"), userItem("b")),
		responsesList(5, nil, saidItem("x"), userItem("A"), reasoning, saidItem("1")),
		responsesList(6, nil, saidItem("x"), userItem("A"), reasoning, saidItem("1"), reasoning, saidItem("2"), saidItem("3")),
	}}
	assert.Equal(t, chatOutline(f), `false user:a
true user:a assistant:12
true user:a assistant:12 assistant:3 user:b
false user:A assistant:12 assistant:3 user:b
false user:A assistant:1
true user:A assistant:1 assistant:23
`)
}

// A request that goes back to an earlier list, as another try does, breaks no
// lineage.
func TestChatFormOfAShorterRequest(t *testing.T) {
	f := &File{Exchanges: []*Exchange{
		responsesList(1, nil, saidItem("x"), userItem("a")),
		responsesList(2, nil, saidItem("x"), userItem("a"), saidItem("1"), userItem("b")),
		responsesList(3, nil, saidItem("x"), userItem("a"), saidItem("1")),
		responsesList(4, nil, saidItem("x"), userItem("a"), saidItem("1"), userItem("b"), saidItem("2")),
	}}
	sent := f.ChatForm()
	first := sent(f.Exchanges[0])
	for _, x := range f.Exchanges {
		assert.Assert(t, sent(x).Extends(first), x.Turn)
	}
	assert.Assert(t, sent(f.Exchanges[3]).Extends(sent(f.Exchanges[1])))
}

// An element that changes without saying anything else breaks no lineage:
// Anthropic's clients move their cache marks from message to message.
func TestChatFormDoesNotSeeCacheMarks(t *testing.T) {
	list := func(turn int, raws ...string) *Exchange {
		var h runtime.History
		for _, raw := range raws {
			m, err := runtime.WireMessages.ParseItem([]byte(raw))
			assert.NilError(t, err)
			h.Append(m)
		}
		return &Exchange{Agent: "root", Turn: turn, Try: 1, Wire: "messages", Messages: h.View(), Status: 200, Response: []byte(`{}`)}
	}
	marked := func(text string) string {
		return fmt.Sprintf(`{"role":"user","content":[{"type":"text","text":%q,"cache_control":{"type":"ephemeral"}}]}`, text)
	}
	said := `{"role":"assistant","content":[{"type":"text","text":"ok"}]}`
	f := &File{Exchanges: []*Exchange{
		list(1, marked("a")),
		list(2, userItem("a"), said, marked("b")),
		list(3, userItem("a"), said, userItem("b"), said, marked("c")),
	}}
	assert.Equal(t, chatOutline(f), `false user:a
true user:a assistant:ok user:b
true user:a assistant:ok user:b assistant:ok user:c
`)
}

// What is no element of the wire stands on its line as text.
func TestOddElementsOfTheWireResponses(t *testing.T) {
	x := responsesList(1, nil, saidItem("x"), `"hi"`)
	var h runtime.History
	h.Append(x.Messages.Messages()...)
	for _, raw := range []string{`{"type":"compaction_trigger"}`, `{"type":"item_reference","id":"m"}`, `{"id":"m"}`, `{"echo":1}`, "{\"type\":\n\"x\"}"} {
		h.Append(looseMessage(runtime.WireResponses, raw))
	}
	x.Messages = h.View()
	f := &File{Header: Header{Name: "odd", By: Authored}, Exchanges: []*Exchange{x}}
	text := string(f.Encode())
	assert.Equal(t, text, `{"kind":"header","format":1,"name":"odd","by":"authored"}
{"kind":"exchange","agent":"root","turn":1,"wire":"responses","model":"m","add":["hi",{"type":"compaction_trigger"},{"type":"item_reference","id":"m"},{"raw":"{\"id\":\"m\"}"},{"raw":"{\"echo\":1}"},{"raw":"{\"type\":\n\"x\"}"}],"status":200,"response":{"id":"r1","status":"completed","output":[{"type":"message","role":"assistant","content":[{"type":"output_text","text":"x"}]}]}}
`)
	again := mustParse([]byte(text))
	assert.Equal(t, string(again.Encode()), text)
	assert.Equal(t, string(again.Exchanges[0].Body()), string(x.Body()))
}

func TestBareInputIsRebuiltAsOneText(t *testing.T) {
	x := responsesList(1, nil, saidItem("x"), `"hi"`)
	assert.Equal(t, string(x.Body()), `{"model":"m","input":"hi"}`)
}
