package main

import (
	"fmt"
	"io"
	"net/http"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/tapetree/tapetree/runtime"
)

// reply is one scripted response of the upstream.
type reply struct {
	status int
	header map[string]string
	body   string // as sent
	stream bool   // body is server-sent events

	// what body is made of when body is empty
	text   string
	calls  []toolCall
	finish string // "": what an honest server would say
	input  int    // tokens to report; 0: a plausible count
	output int
	pieces int // a stream cuts text and arguments into this many pieces
}

// toolCall is one call as the scripted model writes it. Arguments is the raw
// text between the quotes' meaning: what the wire's string decodes to.
type toolCall struct{ id, name, arguments string }

// say answers with a text.
func say(text string) reply { return reply{text: text} }

// use answers with calls.
func use(calls ...toolCall) reply { return reply{calls: calls} }

// call is one call with an id made from its place, unless it is renamed.
func call(name, arguments string) toolCall {
	return toolCall{id: "?", name: name, arguments: arguments}
}

func (c toolCall) withID(id string) toolCall { c.id = id; return c }

func (r reply) saying(text string) reply   { r.text = text; return r }
func (r reply) ending(finish string) reply { r.finish = finish; return r }
func (r reply) streamed(pieces int) reply  { r.stream, r.pieces = true, pieces; return r }

// fail answers with a status and a body that is no completion.
func fail(status int, contentType, body string) reply {
	return reply{status: status, header: map[string]string{"content-type": contentType}, body: body}
}

// frames answers 200 with server-sent events exactly as given.
func frames(events ...string) reply {
	return reply{stream: true, body: strings.Join(events, "")}
}

// response builds what the wire carries for r at a place of the session.
func (r reply) response(place runtime.Place) *http.Response {
	status := r.status
	if status == 0 {
		status = http.StatusOK
	}
	header := http.Header{"Content-Type": {"application/json"}}
	if r.stream {
		header.Set("Content-Type", "text/event-stream")
	}
	for name, value := range r.header {
		header.Set(name, value)
	}
	body := r.body
	if body == "" {
		body = r.completion(place)
	}
	return &http.Response{
		StatusCode: status,
		Status:     fmt.Sprintf("%d %s", status, http.StatusText(status)),
		Proto:      "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		Header: header,
		Body:   io.NopCloser(strings.NewReader(body)),
	}
}

// completion renders text and calls as a completion or as a stream.
func (r reply) completion(place runtime.Place) string {
	calls := make([]toolCall, len(r.calls))
	for i, c := range r.calls {
		if c.id == "?" {
			c.id = fmt.Sprintf("call_%s_%d_%d", strings.NewReplacer("/", "_", ".", "_").Replace(string(place.Agent)), place.Turn, i+1)
		}
		calls[i] = c
	}
	finish := r.finish
	if finish == "" {
		finish = "stop"
		if len(calls) > 0 {
			finish = "tool_calls"
		}
	}
	if r.stream {
		return r.streamBody(place, calls, finish)
	}
	return r.jsonBody(place, calls, finish)
}

func (r reply) jsonBody(place runtime.Place, calls []toolCall, finish string) string {
	message := `{"role":"assistant","content":` + nullable(r.text)
	if len(calls) > 0 {
		var list []string
		for _, c := range calls {
			list = append(list, fmt.Sprintf(`{"id":%s,"type":"function","function":{"name":%s,"arguments":%s}}`, str(c.id), str(c.name), str(c.arguments)))
		}
		message += `,"tool_calls":[` + strings.Join(list, ",") + `]`
	}
	return fmt.Sprintf(`{"id":%s,"object":"chat.completion","created":0,"model":%s,"choices":[{"index":0,"message":%s},"finish_reason":%s}],"usage":%s}`,
		str(completionID(place)), str(modelName), message, str(finish), usage(place, r))
}

func (r reply) streamBody(place runtime.Place, calls []toolCall, finish string) string {
	var b strings.Builder
	chunk := func(choices, extra string) {
		fmt.Fprintf(&b, "data: {\"id\":%s,\"object\":\"chat.completion.chunk\",\"created\":0,\"model\":%s,\"choices\":%s%s}\n\n",
			str(completionID(place)), str(modelName), choices, extra)
	}
	delta := func(delta string) {
		chunk(`[{"index":0,"delta":`+delta+`,"finish_reason":null}]`, "")
	}
	delta(`{"role":"assistant","content":` + nullable("") + `}`)
	for _, piece := range cut(r.text, r.pieces) {
		delta(`{"content":` + str(piece) + `}`)
	}
	for i, c := range calls {
		delta(fmt.Sprintf(`{"tool_calls":[{"index":%d,"id":%s,"type":"function","function":{"name":%s,"arguments":""}}]}`, i, str(c.id), str(c.name)))
		for _, piece := range cut(c.arguments, r.pieces) {
			delta(fmt.Sprintf(`{"tool_calls":[{"index":%d,"function":{"arguments":%s}}]}`, i, str(piece)))
		}
	}
	chunk(`[{"index":0,"delta":{},"finish_reason":`+str(finish)+`}]`, "")
	chunk(`[]`, `,"usage":`+usage(place, r))
	b.WriteString("data: [DONE]\n\n")
	return b.String()
}

// cut splits text into at most n pieces at rune boundaries.
func cut(text string, n int) []string {
	runes := []rune(text)
	size := max(1, (len(runes)+n-1)/max(n, 1))
	var pieces []string
	for len(runes) > 0 {
		k := min(size, len(runes))
		pieces = append(pieces, string(runes[:k]))
		runes = runes[k:]
	}
	return pieces
}

// usage counts a plausible, deterministic number of tokens: the more turns, the
// more input.
func usage(place runtime.Place, r reply) string {
	input, output := 100*place.Turn+20, 5+len(r.text)/4+12*len(r.calls)
	if r.input > 0 {
		input, output = r.input, r.output
	}
	return fmt.Sprintf(`{"prompt_tokens":%d,"completion_tokens":%d,"total_tokens":%d}`, input, output, input+output)
}

func completionID(place runtime.Place) string {
	return fmt.Sprintf("chatcmpl-%s-%d-%d", strings.ReplaceAll(string(place.Agent), "/", "-"), place.Turn, place.Try)
}

func nullable(text string) string {
	if text == "" {
		return "null"
	}
	return str(text)
}

func str(text string) string {
	quoted, err := jsontext.AppendQuote(nil, text)
	if err != nil {
		panic("author: a script holds text that is no UTF-8")
	}
	return string(quoted)
}

// cutArguments breaks the last call's arguments off after n bytes.
func (r reply) cutArguments(n int) reply {
	last := &r.calls[len(r.calls)-1]
	last.arguments = last.arguments[:n]
	return r
}
